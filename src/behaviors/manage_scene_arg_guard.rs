//! A scene action that reads another argument than the one it was given.
//!
//! Three actions of `manage_scene` take an object under three different names, and upstream drops the
//! wrong one without a word (measured against 10.1.0).

use super::{Behavior, Check, Cx, Hook, Refusal};
use crate::call::Call;
use crate::wire::quote;

/// The behaviour's entry.
pub(super) const BEHAVIOR: Behavior = Behavior {
    name: "manage_scene_arg_guard",
    summary: "Refuses a scene action whose object stands under an argument that it does not read.",
    tool: Some("manage_scene"),
    hooks: &[Hook::Guard(check)],
    codes: &[(
        "argument_not_read",
        "the action reads the object from another argument",
    )],
};

/// Where an action looks for its object.
struct Reading {
    action: &'static str,
    /// Names that callers use instead.
    mistaken: &'static [&'static str],
    /// The name that is read.
    read: &'static str,
    /// What the server does without it.
    outcome: &'static str,
}

const READINGS: [Reading; 3] = [
    Reading {
        action: "get_hierarchy",
        mistaken: &["target", "scene_view_target"],
        read: "parent",
        outcome: "return the full root list, which looks like that object's children",
    },
    Reading {
        action: "move_to_scene",
        mistaken: &["parent"],
        read: "target",
        outcome: "fail on a missing target",
    },
    Reading {
        action: "scene_view_frame",
        mistaken: &["target", "parent"],
        read: "scene_view_target",
        outcome: "frame the whole scene, reporting success",
    },
];

fn check(call: &Call<'_>, _: &Cx<'_>) -> Check {
    let action = call.normalized_action();
    let Some(reading) = READINGS.iter().find(|reading| reading.action == action) else {
        return Check::Pass;
    };
    let Reading { read, outcome, .. } = reading;
    let supplied = |name: &&&str| call.supplied(name);
    let Some(mistaken) = reading.mistaken.iter().find(supplied) else {
        return Check::Pass;
    };
    if call.supplied(read) {
        return Check::Pass;
    }
    Check::Refuse(Refusal {
        code: "argument_not_read",
        text: format!(
            "manage_scene {action} does not read `{mistaken}`, it reads `{read}`: the server would ignore \
             `{mistaken}` and {outcome}. Nothing was forwarded. Send the call again with {read}={} in place \
             of `{mistaken}`.",
            as_json(call, mistaken)
        ),
    })
}

/// An argument as JSON. Strings are written anew: an escaped spelling is harder to read.
fn as_json(call: &Call<'_>, name: &str) -> String {
    let raw = call.argument(name).unwrap_or_default();
    call.string(name)
        .map_or_else(|| raw.to_owned(), |text| quote(&text))
}
