//! A replay of a guarded snippet does not run it.
//!
//! The Editor's history keeps the code as it was sent, with the key of the call that sent it. A replay sends the same
//! key again (read from the bridge's source, 10.1.0), and the key is known.

use super::{Behavior, Cx, Hook, Note};
use crate::csharp::prelude::DUPLICATE_MARKER;
use crate::relay::inflight::InFlight;
use crate::reply::{Phrase, Reply};

/// The behaviour's entry.
pub(super) const BEHAVIOR: Behavior = Behavior {
    name: "execute_code_replay_note",
    summary: "Says that a replay gave back the record of the first run and ran nothing.",
    tool: Some("execute_code"),
    hooks: &[Hook::Note(note)],
    codes: &[(
        "replay_did_not_run",
        "the stored snippet carries a key that is known, so it did not run again",
    )],
};

static MARKER: Phrase = Phrase::new(DUPLICATE_MARKER);

fn note(call: &InFlight, reply: &Reply<'_>, _: &Cx<'_>) -> Vec<Note> {
    let replays = call.action.as_deref() == Some("replay") && reply.may_hold(&MARKER);
    let result = replays.then(|| reply.data_str("result")).flatten();
    if !result.is_some_and(|text| text.starts_with(DUPLICATE_MARKER)) {
        return Vec::new();
    }
    vec![Note {
        code: "replay_did_not_run",
        text: "The stored snippet carries the key of the call that first sent it, and that key has been used, so \
               the replay did not run again: what you see is the record of the first run. To run the snippet again, \
               send its code with the action `execute`."
            .to_owned(),
    }]
}
