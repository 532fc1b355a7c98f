//! A time-out does not say that nothing happened.

use super::{Behavior, Cx, Hook, Note};
use crate::relay::inflight::InFlight;
use crate::reply::{Phrase, Reply};

/// The behaviour's entry.
pub(super) const BEHAVIOR: Behavior = Behavior {
    name: "timeout_notes",
    summary: "Says beside a time-out that the work may have run, perhaps several times.",
    tool: None,
    hooks: &[Hook::Note(note)],
    codes: &[("outcome_unknown", "a time-out leaves open what ran")],
};

/// The wordings of upstream's two time-outs (measured against 10.1.0).
static PHRASES: [Phrase; 2] = [
    Phrase::new("Timeout receiving Unity response"),
    Phrase::new("exceeded total deadline"),
];

fn note(_: &InFlight, reply: &Reply<'_>, _: &Cx<'_>) -> Vec<Note> {
    if !PHRASES.iter().any(|phrase| reply.mentions(phrase)) || reply.is_success_payload() {
        return Vec::new();
    }
    vec![Note {
        code: "outcome_unknown",
        text: "This error does not mean that the work did not run: the server gave up waiting, and \
               until then it may have delivered the command to the Editor several times. Before you \
               retry, verify on disk what it did."
            .to_owned(),
    }]
}
