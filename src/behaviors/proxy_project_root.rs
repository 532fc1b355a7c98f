//! A pin says which project it leads to.
//!
//! A `Name@hash` does not show which of two copies of a project is meant; the folder does.

use super::{Behavior, Cx, Hook, PayloadEdit, Step};
use crate::instances::{Editor, Selector};
use crate::relay::inflight::InFlight;
use crate::reply::Reply;
use crate::wire::quote;

/// The behaviour's entry.
pub(super) const BEHAVIOR: Behavior = Behavior {
    name: "proxy_project_root",
    summary: "Adds the pinned project's folder to the answer of set_active_instance.",
    tool: Some("set_active_instance"),
    hooks: &[Hook::Edit(root)],
    codes: &[
        ("project_root_added", "the pinned project's folder"),
        (
            "project_root_unresolved",
            "no single heartbeat fits the pin, so its project's folder is not known",
        ),
    ],
};

fn root(_: &InFlight, reply: &Reply<'_>, cx: &Cx<'_>) -> Option<PayloadEdit> {
    if reply.is_failure() {
        return None;
    }
    // The core has taken the pin over before it asks for edits.
    let pin = cx.pins.pin.as_deref().and_then(Selector::from_text);
    let pinned = pin.and_then(|pin| pin.resolve_live_first(cx.editors(), cx.now_ms).one());
    let root = pinned.and_then(Editor::project_root);
    let code = match root {
        Some(_) => "project_root_added",
        None => "project_root_unresolved",
    };
    let value = quote(root.as_deref().unwrap_or("unresolved"));
    Some(PayloadEdit {
        set: vec![(vec![Step::Key("proxy_project_root")], value)],
        code,
    })
}
