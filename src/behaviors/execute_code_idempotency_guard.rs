//! A snippet runs once, however often upstream delivers it.
//!
//! Upstream re-sends a command below the MCP layer, up to six times and in one case forty (measured against
//! 10.1.0). No proxy sees that, so the guard travels with the snippet.

use super::{Behavior, Cx, Hook, Refusal, Rewriting};
use crate::call::{Call, Rewrite};
use crate::csharp::prelude;
use crate::wire::quote;

/// The behaviour's entry.
pub(super) const BEHAVIOR: Behavior = Behavior {
    name: "execute_code_idempotency_guard",
    summary: "Wraps a snippet so that it runs once per call, however often it is delivered.",
    hooks: &[Hook::Rewrite(wrap)],
    codes: &[(
        "code_too_long_wrapped",
        "the added lines push the code over the Editor's limit",
    )],
};

fn wrap(call: &Call<'_>, _: &Cx<'_>) -> Rewriting {
    let (Some(code), Some(own)) = (call.snippet(), call.original_snippet()) else {
        return Rewriting::Keep;
    };
    let wrapped = prelude::idempotency(&code, call.key);
    if let Some(over) = prelude::over_limit(&own, &wrapped.code) {
        return Rewriting::Refuse(Refusal {
            code: "code_too_long_wrapped",
            text: over.to_string(),
        });
    }
    Rewriting::Change(Rewrite {
        set: vec![("code", quote(&wrapped.code))],
        prelude_lines: wrapped.prelude_lines,
        ..Rewrite::default()
    })
}
