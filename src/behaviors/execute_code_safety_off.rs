//! The Editor's pattern list is off unless the call asks for it.
//!
//! The list is a substring match that knows no paths: it blocks scratch clean-up, misses what really destroys
//! work, and its text names its own bypass (read from the bridge's source, 10.1.0).

use super::{Behavior, Cx, Hook, Rewriting};
use crate::call::{Call, Rewrite};

/// The behaviour's entry.
pub(super) const BEHAVIOR: Behavior = Behavior {
    name: "execute_code_safety_off",
    summary: "Sends safety_checks=false when the call does not say otherwise.",
    hooks: &[Hook::Rewrite(switch)],
    codes: &[],
};

fn switch(call: &Call<'_>, _: &Cx<'_>) -> Rewriting {
    let declared = || !matches!(call.argument("safety_checks"), None | Some("null"));
    if !call.executes() || declared() {
        return Rewriting::Keep;
    }
    Rewriting::Change(Rewrite {
        set: vec![("safety_checks", "false".to_owned())],
        ..Rewrite::default()
    })
}
