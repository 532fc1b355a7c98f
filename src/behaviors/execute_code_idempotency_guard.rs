//! A snippet runs once, however often upstream delivers it.
//!
//! Upstream re-sends a command below the MCP layer, up to six times and in one case forty (measured against
//! 10.1.0). No proxy sees that, so the guard travels with the snippet.

use super::shared::snippet;
use super::{Behavior, Cx, Hook, Rewriting};
use crate::call::Call;
use crate::csharp::prelude;

/// The behaviour's entry.
pub(super) const BEHAVIOR: Behavior = Behavior {
    name: "execute_code_idempotency_guard",
    summary: "Wraps a snippet so that it runs once per call, however often it is delivered.",
    hooks: &[Hook::Rewrite(wrap)],
    codes: &[snippet::TOO_LONG],
};

fn wrap(call: &Call<'_>, _: &Cx<'_>) -> Rewriting {
    if !call.has_snippet() {
        return Rewriting::Keep;
    }
    snippet::surround(prelude::idempotency(&call.key))
}
