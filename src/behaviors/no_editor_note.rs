//! No Editor at all: where it was looked for, and why it may not be there.

use super::shared::failure::Failure;
use super::{Behavior, Cx, Hook, Note};
use crate::relay::inflight::InFlight;
use crate::reply::{Phrase, Reply};

/// The behaviour's entry.
pub(super) const BEHAVIOR: Behavior = Behavior {
    name: "no_editor_note",
    summary: "Says where Editors are looked for and what the usual causes are when there is none.",
    tool: None,
    hooks: &[Hook::Note(note)],
    codes: &[("no_heartbeat", "the heartbeat folder has no usable file")],
};

/// How upstream says that there is no Editor (measured against 10.1.0).
static PHRASES: [Phrase; 2] = [
    Phrase::new("No Unity Editor instances found"),
    Phrase::new("No Unity instances are currently connected"),
];

fn note(_: &InFlight, reply: &Reply<'_>, cx: &Cx<'_>) -> Vec<Note> {
    let may_say_so = reply.may_fail() && PHRASES.iter().any(|phrase| reply.may_hold(phrase));
    let failure = may_say_so.then(|| Failure::of(reply)).flatten();
    let says_so = |failure: &Failure<'_>| PHRASES.iter().any(|phrase| failure.says(phrase));
    if !failure.as_ref().is_some_and(says_so) || !cx.editors().is_empty() {
        return Vec::new();
    }
    let folder = match cx.config.status_folder() {
        Some(folder) => format!(
            "The folder `{}` holds no usable heartbeat file, and every Editor with a running bridge writes one there.",
            folder.display()
        ),
        None => "There is no folder to look for heartbeats in: neither a home folder nor UNITY_MCP_STATUS_DIR."
            .to_owned(),
    };
    vec![Note {
        code: "no_heartbeat",
        text: format!(
            "{folder} The usual causes, the most common first: the Editor is closed; its bridge is not started \
             (Window > MCP for Unity); its transport is set to HTTP instead of stdio; it writes to another folder \
             (another UNITY_MCP_STATUS_DIR than this server's)."
        ),
    }]
}
