//! The record of a run that failed is no success.
//!
//! A snippet that upstream delivers again answers with the record of its first run, and upstream reports that answer as
//! a success whatever the record says (measured against 10.1.0).

use super::{Behavior, Cx, Hook, Refusal, execute_code_idempotency_guard};
use crate::csharp::prelude::DUPLICATE_MARKER;
use crate::relay::inflight::InFlight;
use crate::reply::{Phrase, Reply};

/// The behaviour's entry.
pub(super) const BEHAVIOR: Behavior = Behavior {
    name: "execute_code_suppressed_verdict",
    summary: "Makes an error of the record of a snippet's run that failed or has not ended.",
    tool: Some("execute_code"),
    hooks: &[Hook::Verdict(verdict)],
    codes: &[
        ("earlier_run_failed", "the snippet's one run threw"),
        (
            "earlier_run_unfinished",
            "the snippet's one run has recorded no end; its outcome is unknown",
        ),
    ],
};

static MARKER: Phrase = Phrase::new(DUPLICATE_MARKER);

fn verdict(call: &InFlight, reply: &Reply<'_>, _: &Cx<'_>) -> Option<Refusal> {
    let wrapped = call.injected_by(execute_code_idempotency_guard::BEHAVIOR.name);
    if !wrapped || !reply.may_hold(&MARKER) {
        return None;
    }
    let text = reply.data_str("result")?;
    let record = text.strip_prefix(DUPLICATE_MARKER)?;
    let code = if record.starts_with(" failed:") {
        "earlier_run_failed"
    } else if record.starts_with(" running:") {
        "earlier_run_unfinished"
    } else {
        return None;
    };
    Some(Refusal {
        code,
        text: text.to_owned(),
    })
}
