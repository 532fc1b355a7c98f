//! With several Editors open, a call says which one it means.
//!
//! Upstream picks an Editor by itself when none is named, and tells nobody which (measured against
//! 10.1.0). The window for a live Editor is long on purpose: a false refusal costs one pin, a false
//! pass writes into the wrong project.

use super::{Behavior, Check, Cx, Hook, Refusal};
use crate::call::Call;

/// The behaviour's entry.
pub(super) const BEHAVIOR: Behavior = Behavior {
    name: "instance_guard",
    summary: "Refuses a call that names no Editor while two or more are live.",
    tool: None,
    hooks: &[Hook::DepartureGuard(check)],
    codes: &[(
        "editor_not_chosen",
        "several Editors are live and the call names none",
    )],
};

fn check(call: &Call<'_>, cx: &Cx<'_>) -> Check {
    if call.tool == "set_active_instance" || call.target.is_some() {
        return Check::Pass;
    }
    let live = cx.live_editors();
    if live.len() < 2 {
        return Check::Pass;
    }
    let mut text = format!(
        "{} Unity Editors are live and this call names none, so it was not forwarded: it could land in \
         the wrong project.",
        live.len()
    );
    if let Some(failed) = &cx.pins.failed {
        text.push_str(&format!(
            " The last attempt to pin, `{failed}`, failed: use one of the names below instead."
        ));
    }
    text.push_str(" Pin one for the session with set_active_instance, or name it in this call with `unity_instance`:");
    for editor in live {
        text.push_str(&format!(
            "\n- {} ({})",
            editor.identifier(),
            editor.project_path
        ));
    }
    Check::Refuse(Refusal {
        code: "editor_not_chosen",
        text,
    })
}
