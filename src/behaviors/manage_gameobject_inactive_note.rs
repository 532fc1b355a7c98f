//! An object that is not found may be an inactive one.
//!
//! The look-up of these actions skips inactive objects, while `find_gameobjects` can list them: the
//! two answers look like a contradiction (10.1.0).

use super::{Behavior, Cx, Hook, Note};
use crate::relay::inflight::InFlight;
use crate::reply::{Phrase, Reply};

/// The behaviour's entry.
pub(super) const BEHAVIOR: Behavior = Behavior {
    name: "manage_gameobject_inactive_note",
    summary: "Says beside a missed look-up that it skips inactive objects.",
    tool: Some("manage_gameobject"),
    hooks: &[Hook::Note(note)],
    codes: &[(
        "lookup_skips_inactive",
        "the object looked for may be inactive",
    )],
};

static NOT_FOUND: Phrase = Phrase::new("not found using method");

fn note(call: &InFlight, reply: &Reply<'_>, _: &Cx<'_>) -> Vec<Note> {
    let looks_up = matches!(
        call.action.as_deref(),
        Some("delete" | "modify" | "duplicate" | "move_relative" | "look_at")
    );
    if !looks_up || !reply.mentions(&NOT_FOUND) {
        return Vec::new();
    }
    vec![Note {
        code: "lookup_skips_inactive",
        text: "This look-up skips inactive objects, by path, name and instanceId alike; only `modify` with \
               set_active:true finds them. A hit of find_gameobjects with include_inactive:true is \
               therefore the diagnosis, not a contradiction. Activate the object first (`modify` with \
               set_active:true), or reach it in execute_code with transform.Find from an active parent: \
               GameObject.Find never returns an inactive object."
            .to_owned(),
    }]
}
