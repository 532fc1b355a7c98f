//! A snippet runs in the project it was meant for, or not at all.
//!
//! With the pinned Editor closed and another open, upstream runs a command in the other one and reports
//! success (measured against 10.1.0). So the snippet itself compares the project's path first.

use super::shared::snippet;
use super::{Behavior, Check, Cx, Hook, Refusal, Rewriting};
use crate::call::{Call, TargetSource};
use crate::csharp::prelude::{self, VENUE_MARKER};
use crate::instances::{Editor, Resolution, single_live};
use crate::relay::inflight::InFlight;
use crate::reply::{Phrase, Reply};

/// The behaviour's entry.
pub(super) const BEHAVIOR: Behavior = Behavior {
    name: "execute_code_venue_guard",
    summary: "Makes a snippet check that it reached the pinned project before it runs.",
    hooks: &[
        Hook::DepartureGuard(resolvable),
        Hook::Rewrite(check_first),
        Hook::Verdict(misrouted),
    ],
    codes: &[
        (
            "target_not_resolved",
            "no Editor, or several, fit the selector",
        ),
        snippet::TOO_LONG,
        (
            "misrouted",
            "the snippet reached another project and did not run there",
        ),
    ],
};

/// Whether a call is this behaviour's to judge: it checks for itself which project it reached, or is not forwarded.
pub(super) fn takes(call: &Call<'_>, cx: &Cx<'_>) -> bool {
    call.has_snippet() && cx.is_at_work(&BEHAVIOR)
}

/// Where a snippet is meant to run.
enum Venue<'e> {
    /// This Editor.
    Known(&'e Editor),
    /// Nothing visible says where: forwarded without the check.
    Open,
    /// A selector that fits no visible Editor.
    Nowhere(&'e str),
    /// A selector that fits several.
    Ambiguous(&'e str, Vec<&'e Editor>),
}

fn venue<'e>(call: &'e Call<'_>, cx: &'e Cx<'_>) -> Venue<'e> {
    let Some(target) = &call.target else {
        return single_live(cx.editors(), cx.now_ms).map_or(Venue::Open, Venue::Known);
    };
    let selector = &target.selector;
    match selector.resolve(cx.editors(), cx.now_ms) {
        Resolution::One(editor) => Venue::Known(editor),
        _ if cx.editors().is_empty() => Venue::Open,
        Resolution::None => Venue::Nowhere(selector.text()),
        Resolution::Several(editors) => Venue::Ambiguous(selector.text(), editors),
    }
}

fn resolvable(call: &Call<'_>, cx: &Cx<'_>) -> Check {
    if !call.has_snippet() {
        return Check::Pass;
    }
    let seen = match venue(call, cx) {
        Venue::Known(_) | Venue::Open => return Check::Pass,
        Venue::Nowhere(selector) => format!(
            "`{selector}` fits none of the Editors whose heartbeats are visible: {}.",
            names(cx.editors().iter())
        ),
        Venue::Ambiguous(selector, editors) => {
            format!("`{selector}` fits several Editors: {}.", names(editors))
        }
    };
    let source = call
        .target
        .as_ref()
        .map_or(TargetSource::PerCall, |target| target.source);
    Check::Refuse(Refusal {
        code: "target_not_resolved",
        text: format!(
            "This snippet was not forwarded and did not run: its target ({source}) {seen} Name the Editor by \
             its full Name@hash, with set_active_instance for the session or with `unity_instance` for this \
             call."
        ),
    })
}

fn names<'e>(editors: impl IntoIterator<Item = &'e Editor>) -> String {
    let names: Vec<String> = editors.into_iter().map(Editor::identifier).collect();
    names.join(", ")
}

fn check_first(call: &Call<'_>, cx: &Cx<'_>) -> Rewriting {
    if !call.has_snippet() {
        return Rewriting::Keep;
    }
    let Venue::Known(editor) = venue(call, cx) else {
        return Rewriting::Keep;
    };
    let key = call.is_wrapped().then_some(&*call.key);
    snippet::surround(prelude::venue(&editor.project_path, key))
}

static MARKER: Phrase = Phrase::new(VENUE_MARKER);

fn misrouted(call: &InFlight, reply: &Reply<'_>, _: &Cx<'_>) -> Option<Refusal> {
    if !call.injected_by(BEHAVIOR.name) || !reply.may_hold(&MARKER) {
        return None;
    }
    let data = reply.payload()?.get("data")?;
    let result = data.get("result").unwrap_or(data);
    let text = result.as_str().filter(|t| t.starts_with(VENUE_MARKER))?;
    Some(Refusal {
        code: "misrouted",
        text: text.to_owned(),
    })
}
