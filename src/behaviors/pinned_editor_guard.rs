//! A call for an Editor that is closed reaches no other one.
//!
//! With the pinned Editor closed and another open, upstream runs the call in the other one and reports success (measured
//! against 10.1.0). A snippet carries a check of its own; no other tool can.

use super::{Behavior, Check, Cx, Hook, Refusal, execute_code_venue_guard};
use crate::call::{Call, TargetSource};
use crate::instances::{Editor, Resolution};

/// The behaviour's entry.
pub(super) const BEHAVIOR: Behavior = Behavior {
    name: "pinned_editor_guard",
    summary: "Refuses a call whose Editor is closed, which the server could run in another one.",
    tool: None,
    hooks: &[Hook::DepartureGuard(check)],
    codes: &[
        (
            "target_not_found",
            "heartbeats are visible, and none fits the target",
        ),
        (
            "target_silent",
            "the target's heartbeat is stale, and another Editor is live",
        ),
    ],
};

fn check(call: &Call<'_>, cx: &Cx<'_>) -> Check {
    if call.tool == "set_active_instance" || execute_code_venue_guard::takes(call, cx) {
        return Check::Pass;
    }
    // The environment's default is a preference of upstream's, which it drops by itself.
    let Some(target) = call
        .target
        .as_ref()
        .filter(|t| t.source != TargetSource::Default)
    else {
        return Check::Pass;
    };
    let selector = &target.selector;
    if !selector.is_identifier() && !selector.is_hash_prefix() || cx.editors().is_empty() {
        return Check::Pass;
    }
    let live = cx.live_editors();
    let (code, seen) = match selector.resolve(cx.editors(), cx.now_ms) {
        Resolution::None => (
            "target_not_found",
            "fits none of the Editors whose heartbeats are visible".to_owned(),
        ),
        Resolution::One(editor) if !editor.is_live(cx.now_ms) && !live.is_empty() => {
            ("target_silent", silence(editor, cx.now_ms))
        }
        Resolution::One(_) | Resolution::Several(_) => return Check::Pass,
    };
    // A bound session has no other Editor to name.
    let or_name = match target.source {
        TargetSource::Binding => ": set_active_instance cannot lead a bound session elsewhere.",
        _ => {
            ", or name the Editor that is meant by its full Name@hash: with set_active_instance for the session, or with \
             `unity_instance` for this call."
        }
    };
    let text = format!(
        "This call was not forwarded and nothing ran: its target `{}` ({}) {seen}.{} Open that project and try \
         again{or_name}",
        selector.text(),
        target.source,
        instead(&live)
    );
    Check::Refuse(Refusal { code, text })
}

/// What is known of an Editor that is not live.
fn silence(editor: &Editor, now_ms: i64) -> String {
    let name = editor.identifier();
    match editor.age(now_ms) {
        Some(age) => format!(
            "is {name}, whose heartbeat is {} s old: the Editor is closed, or it has been blocked for that long",
            age.as_secs()
        ),
        None => format!("is {name}, whose heartbeat file tells no time"),
    }
}

/// Where the call could have ended up.
fn instead(live: &[&Editor]) -> String {
    if live.is_empty() {
        return String::new();
    }
    let names = live
        .iter()
        .map(|editor| format!("{} ({})", editor.identifier(), editor.project_path));
    format!(
        " For a while after an Editor has closed, the server runs its calls in another one that is open and reports \
         success; this one would have gone to: {}.",
        names.collect::<Vec<_>>().join(", ")
    )
}
