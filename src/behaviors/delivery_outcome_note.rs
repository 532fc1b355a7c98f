//! How often a failed call reached the Editor: what is known of it.
//!
//! The server re-sends a command below the MCP layer: up to six times after an error on the way, and up to forty when
//! an answer holds the letters "reload", which it takes for a domain reload (measured against 10.1.0). Its own error
//! reads the same whether the Editor got the call not at all or forty times.

use super::shared::failure::Failure;
use super::{
    Behavior, Cx, Hook, Note, execute_code_idempotency_guard, instance_not_found_note,
    timeout_notes,
};
use crate::call::{Call, Target};
use crate::instances::{Editor, single_live};
use crate::relay::inflight::InFlight;
use crate::relay::witness::Seen;
use crate::reply::{Phrase, Reply};
use serde_json::Value;

/// The behaviour's entry.
pub(super) const BEHAVIOR: Behavior = Behavior {
    name: "delivery_outcome_note",
    summary: "Says whether a failed call reached the Editor not at all, perhaps six times or perhaps forty.",
    tool: None,
    hooks: &[Hook::Witness(reloading), Hook::Note(note)],
    codes: &[
        (
            "not_delivered",
            "the call never reached the Editor and is safe to repeat",
        ),
        (
            "delivered_up_to_6_times",
            "the way to the Editor failed; the outcome is unknown",
        ),
        (
            "delivered_up_to_40_times",
            "the server took an answer for a reload that the heartbeat does not show",
        ),
        (
            "reload_unclear",
            "the Editor may have got the call before it began to reload",
        ),
    ],
};

static RELOADING: Phrase = Phrase::new("Unity is reloading; please retry");
static BUSY: Phrase = Phrase::new("busy");

/// What upstream says when the way to the Editor failed under a command (10.1.0).
static LOST: [Phrase; 7] = [
    Phrase::new("Command processing timed out"),
    Phrase::new("Could not connect to Unity"),
    Phrase::new("Connection closed before reading"),
    Phrase::new("Connection reset"),
    Phrase::new("Broken pipe"),
    Phrase::new("[Errno 104]"),
    Phrase::new("[Errno 32]"),
];

/// Windows' numbers for a connection that was aborted and one that was reset. The texts beside them are in the user's
/// language.
static NUMBERS: [Phrase; 2] = [Phrase::new("10053"), Phrase::new("10054")];

/// How many letters ahead of a number are looked at.
const NEAR: usize = 24;

/// How old, in seconds, a heartbeat may be for upstream to wait for the reload that it announces.
const KEPT_S: f64 = 60.0;

/// Takes down that the Editor was reloading when a call went out. A guarded snippet says by itself how often it ran.
fn reloading(call: &Call<'_>, cx: &Cx<'_>) -> Option<Seen> {
    if call.tool == "set_active_instance" || call.is_wrapped() {
        return None;
    }
    let editor = meant(call.target.as_ref(), cx).filter(|editor| says_reloading(editor))?;
    let fresh = |age_s: f64| age_s < KEPT_S;
    editor.age(cx.now_ms).filter(|a| fresh(a.as_secs_f64()))?;
    Some(Seen::Reloading {
        hash: editor.hash.clone(),
        written_ms: editor.last_heartbeat_ms?,
    })
}

/// The Editor that a call is meant for.
fn meant<'e>(target: Option<&Target>, cx: &'e Cx<'_>) -> Option<&'e Editor> {
    match target {
        Some(target) => target.selector.resolve(cx.editors(), cx.now_ms).one(),
        None => single_live(cx.editors(), cx.now_ms),
    }
}

/// Whether the heartbeat announces a reload, as upstream reads it.
fn says_reloading(editor: &Editor) -> bool {
    editor.reloading || editor.reason.as_deref() == Some("reloading")
}

fn note(call: &InFlight, reply: &Reply<'_>, cx: &Cx<'_>) -> Vec<Note> {
    let others = [timeout_notes::BEHAVIOR, instance_not_found_note::BEHAVIOR];
    let guarded = call.injected_by(execute_code_idempotency_guard::BEHAVIOR.name);
    let spoken = || others.iter().any(|other| cx.said.contains(&other.name));
    if guarded || call.tool == "set_active_instance" || spoken() || !may_say_so(reply) {
        return Vec::new();
    }
    let Some(failure) = Failure::of(reply) else {
        return Vec::new();
    };
    let (code, text) = if is_lost(&failure) {
        ("delivered_up_to_6_times", LOST_TEXT.to_owned())
    } else if failure.says(&RELOADING) {
        reload(call, cx)
    } else if let Some(what) = busy(&failure) {
        ("not_delivered", busy_text(what))
    } else {
        return Vec::new();
    };
    vec![Note { code, text }]
}

fn may_say_so(reply: &Reply<'_>) -> bool {
    let mut phrases = LOST.iter().chain(&NUMBERS).chain([&RELOADING, &BUSY]);
    reply.may_fail() && phrases.any(|phrase| reply.may_hold(phrase))
}

fn is_lost(failure: &Failure<'_>) -> bool {
    LOST.iter().any(|phrase| failure.says(phrase)) || failure.any(names_a_lost_connection)
}

/// What stands ahead of the number of an error.
const NAMED: [&str; 8] = [
    "error",
    "errno",
    "error code",
    "errorcode",
    "socketexception",
    "winsock",
    "wsaeconnaborted",
    "wsaeconnreset",
];

/// Whether one of [`NUMBERS`] stands in a text as the number of an error, and not as any number: behind a word for
/// that, or ahead of all the rest.
fn names_a_lost_connection(text: &str) -> bool {
    let named = |at: usize| {
        let (before, behind) = (&text[..at], &text[at + 5..]);
        if behind.starts_with(|c: char| c.is_ascii_digit()) {
            return false;
        }
        // The few letters that a word has, whatever stands ahead of them.
        let near = before
            .char_indices()
            .rev()
            .nth(NEAR)
            .map_or(0, |(at, _)| at);
        let near = before[near..].to_ascii_lowercase();
        let word = near.trim_end_matches([' ', ':', '=', '(']);
        let leads = matches!(before, "" | "(" | "[") && behind.starts_with([':', ')', ']']);
        leads || NAMED.iter().any(|known| word.ends_with(known))
    };
    NUMBERS
        .iter()
        .any(|number| number.places_in(text.as_bytes()).any(named))
}

/// What Unity is busy with, when the server's look before it sends anything found that (`services/tools/preflight.py`,
/// 10.1.0).
fn busy(failure: &Failure<'_>) -> Option<&'static str> {
    let reasons = ["compiling", "tests_running"];
    let said = |key: &str| failure.payload?.get(key).and_then(Value::as_str);
    let printed = |reason: &str| {
        let start = format!("success=False message='{reason}' error='busy'");
        failure.any(|text| text.starts_with(&start))
    };
    let keyed = |reason: &str| said("error") == Some("busy") && said("message") == Some(reason);
    let mut reasons = reasons.into_iter();
    reasons.find(|reason| keyed(reason) || printed(reason))
}

fn busy_text(what: &str) -> String {
    format!(
        "Not delivered: the server looks at the Editor's state before it sends this call, found it busy (`{what}`) and \
         did not send it. The call did not run and is safe to repeat when that is over."
    )
}

const LOST_TEXT: &str = "The outcome is unknown: after such an error on the way to the Editor the server sends the \
same command again, so this call may have been delivered, and run, up to 6 times. Verify what it did before you \
repeat it.";

const WORD: &str = "The server takes any answer with the letters \"reload\" in its message (a scene named Preload, an \
exception's text) for a reload and sends the call again, up to 40 times, so the call may have run as often. Verify \
what it did before anything else; if that word is in your call, leave it out or take another way.";

/// What the reloading answer means beside the heartbeat.
fn reload(call: &InFlight, cx: &Cx<'_>) -> (&'static str, String) {
    let seen = call.seen.iter().find_map(|seen| match seen {
        Seen::Reloading { hash, written_ms } => Some((hash.as_str(), *written_ms)),
        Seen::Snippet { .. } => None,
    });
    let Some(editor) = meant(call.target.as_ref(), cx) else {
        let start = "The server says that the Editor is reloading, and no single heartbeat shows whether it is.";
        return ("reload_unclear", format!("{start} If it is not: {WORD}"));
    };
    let name = editor.identifier();
    let now = editor
        .last_heartbeat_ms
        .map(|at| (editor.hash.as_str(), at));
    match (says_reloading(editor), seen) {
        // An Editor that is up writes twice a second. The same announcement stood there all the while, so it was down.
        (true, Some(_)) if seen == now => (
            "not_delivered",
            format!(
                "Not delivered: the heartbeat of {name} said reloading when this call was forwarded and still says so, \
                 and the server sends no call to an Editor that reloads. It did not run and is safe to repeat \
                 when the reload is over."
            ),
        ),
        (true, _) => (
            "reload_unclear",
            format!(
                "The outcome is unknown: the heartbeat of {name} says reloading, but this announcement did not stand \
                 there, under 60 s old, when the call was forwarded. The call may have been delivered, and the reload may \
                 be its own doing. Verify what it did before you repeat it."
            ),
        ),
        (false, None) => (
            "delivered_up_to_40_times",
            format!(
                "The server says that the Editor is reloading, but the heartbeat of {name} does not. {WORD}"
            ),
        ),
        (false, Some(_)) => (
            "delivered_up_to_40_times",
            format!(
                "The heartbeat of {name} said reloading when this call was forwarded and no longer does: either the \
                 server gave up before the reload was over and sent nothing, or it has sent the call since. {WORD}"
            ),
        ),
    }
}
