//! "Not found" beside a heartbeat: what the Editor's own file says.
//!
//! Upstream looks for Editors by a probe of 0.3 s and keeps one that does not answer only while it
//! reloads and for 60 s (10.1.0). Its error reads the same for an Editor that is busy, reloading or
//! gone.

use super::{Behavior, Cx, Hook, Note};
use crate::call::{Target, TargetSource};
use crate::instances::{Editor, Selector};
use crate::relay::inflight::InFlight;
use crate::reply::{Phrase, Reply};
use serde_json::Value;

/// The behaviour's entry.
pub(super) const BEHAVIOR: Behavior = Behavior {
    name: "instance_not_found_note",
    summary: "Says what an Editor's heartbeat tells when the server does not find that Editor.",
    tool: None,
    hooks: &[Hook::Note(note)],
    codes: &[
        ("editor_reloading", "the Editor's heartbeat says reloading"),
        (
            "editor_silent",
            "the Editor's heartbeat is too old to tell blocked from closed",
        ),
        (
            "probe_missed",
            "the Editor's heartbeat is fresh, so the server's probe very likely missed it",
        ),
    ],
};

/// How upstream says that it does not find an Editor (measured against 10.1.0). "Could not connect to
/// Unity" is none of them: an earlier attempt of that call may have run.
static PHRASES: [Phrase; 8] = [
    Phrase::new("No Unity instances are currently connected"),
    Phrase::new("not found. Use mcpforunity://instances"),
    Phrase::new("does not match any running Unity editors"),
    Phrase::new("No Unity instance found on port"),
    Phrase::new("not found. Available"),
    Phrase::new("No running Unity instance matches"),
    Phrase::new("No Unity Editor instances found"),
    Phrase::new("Failed to connect to Unity instance"),
];

/// One of these is part of each of them: two searches tell of most answers that none of the eight is needed.
static HINTS: [Phrase; 2] = [Phrase::new("Unity "), Phrase::new("not found. ")];

/// How long, in seconds, a reload may take before it is read as a crash.
const RELOAD_S: f64 = 300.0;
/// How long, in seconds, upstream keeps an Editor that only its file speaks for.
const KEPT_S: f64 = 60.0;

fn note(call: &InFlight, reply: &Reply<'_>, cx: &Cx<'_>) -> Vec<Note> {
    let Some((selector, way)) = wanted(call) else {
        return Vec::new();
    };
    let may_hold = |phrases: &[Phrase]| phrases.iter().any(|phrase| reply.may_hold(phrase));
    if !may_hold(&HINTS) || !may_hold(&PHRASES) || !says_not_found(reply) {
        return Vec::new();
    }
    let Some(editor) = the_one(&selector, cx) else {
        return Vec::new();
    };
    let age_s = editor.age(cx.now_ms).map(|age| age.as_secs_f64());
    let within = |limit| age_s.is_some_and(|age| age <= limit);
    let pin = match way {
        // The environment's default may be written as only that variable can be.
        Way::Defaulted => editor.upstream_identifier(),
        _ => selector.text().to_owned(),
    };
    let advice = Advice {
        seen: seen(editor, age_s),
        pin: format!("set_active_instance with `{pin}`"),
        way,
    };
    let (code, text) = if editor.reloading && within(RELOAD_S) {
        ("editor_reloading", advice.reloading())
    } else if within(KEPT_S) {
        let listens = matches!(editor.reason.as_deref(), None | Some("ready"));
        ("probe_missed", advice.missed(listens))
    } else {
        ("editor_silent", advice.silent(editor.reloading))
    };
    vec![Note { code, text }]
}

fn says_not_found(reply: &Reply<'_>) -> bool {
    let holds = |text: &str| PHRASES.iter().any(|phrase| phrase.is_in(text.as_bytes()));
    match reply.payload() {
        Some(payload) if reply.is_failure_payload() => {
            let text = |key| payload.get(key).and_then(Value::as_str);
            let error = text("error").filter(|text| !text.is_empty());
            error.or_else(|| text("message")).is_some_and(holds)
        }
        Some(_) => false,
        None => reply.is_error() && reply.texts().next().is_some_and(|text| holds(&text)),
    }
}

/// How the call came to name the Editor, which decides what to do next.
#[derive(Clone, Copy)]
enum Way {
    /// It is the pin itself that failed.
    Pinning,
    /// The call went to the session's pin.
    Pinned,
    /// The call went to the environment's default.
    Defaulted,
    /// The call named the Editor itself.
    PerCall,
    /// The session is bound to the Editor's project.
    Bound,
}

/// The Editor that was not found, as it was named.
fn wanted(call: &InFlight) -> Option<(Selector, Way)> {
    if call.tool == "set_active_instance" {
        let pinning = call.call()?.argument("instance").and_then(Selector::read)?;
        return Some((pinning, Way::Pinning));
    }
    let Target { selector, source } = call.target.clone()?;
    let way = match source {
        TargetSource::PerCall => Way::PerCall,
        TargetSource::Binding => Way::Bound,
        TargetSource::Pin => Way::Pinned,
        TargetSource::Default => Way::Defaulted,
    };
    Some((selector, way))
}

/// The one Editor whose heartbeat fits. A port counts as a port alone, and two files that share it are
/// two: which of them was meant cannot be told.
fn the_one<'c>(selector: &Selector, cx: &'c Cx<'_>) -> Option<&'c Editor> {
    if !selector.is_port() {
        return selector.resolve_live_first(cx.editors(), cx.now_ms).one();
    }
    let mut on_port = cx.editors().iter().filter(|e| selector.is_port_of(e));
    on_port.next().filter(|_| on_port.next().is_none())
}

fn seen(editor: &Editor, age_s: Option<f64>) -> String {
    let age = match age_s {
        None => "shows no readable time".to_owned(),
        Some(age) if age < 0.0 => "is dated in the future".to_owned(),
        Some(age) => format!("is {age:.0} s old"),
    };
    let reloading = if editor.reloading {
        ", says reloading"
    } else {
        ""
    };
    let reason = match &editor.reason {
        Some(reason) => format!("the reason `{reason}`"),
        None => "no reason".to_owned(),
    };
    let name = editor.identifier();
    format!("The heartbeat file of {name} {age}{reloading} and gives {reason}.")
}

/// What the note's texts are made of.
struct Advice {
    seen: String,
    pin: String,
    way: Way,
}

impl Advice {
    fn reloading(&self) -> String {
        let next = match self.way {
            Way::Pinning => "wait, then pin again",
            Way::Pinned | Way::Defaulted => "wait, then pin again and retry this call",
            Way::PerCall | Way::Bound => "wait, then retry this call",
        };
        format!(
            "{} The server keeps a silent Editor only while it reloads and for 60 s, so \
             re-pinning in a loop will not help: {next}.",
            self.seen
        )
    }

    fn missed(&self, listens: bool) -> String {
        let unless = if listens {
            "The"
        } else {
            "If its bridge listens at all, the"
        };
        let next = match self.way {
            Way::Pinning => format!("issue {} again", self.pin),
            Way::Pinned | Way::Defaulted => format!("issue {}, then retry this call", self.pin),
            Way::PerCall => format!("retry this call as it is; {NO_PIN}"),
            Way::Bound => format!("retry this call as it is; {BOUND}"),
        };
        format!(
            "{} {unless} server's probe of 0.3 s very likely missed it: {next}.{}",
            self.seen,
            self.verify()
        )
    }

    fn silent(&self, reloading: bool) -> String {
        let next = match self.way {
            Way::Pinning => format!("Try {} once more first", self.pin),
            Way::Pinned | Way::Defaulted => {
                format!("Try {} once first, then retry this call", self.pin)
            }
            Way::PerCall => format!("Retry this call once first; {NO_PIN}"),
            Way::Bound => format!("Retry this call once first; {BOUND}"),
        };
        let crash = if reloading {
            " When it still says `reloading` after 300 s, read that as a crash in the middle of a reload."
        } else {
            ""
        };
        format!(
            "{} That counts as stale: from here a blocked Editor looks the same as a closed one. {next}.{crash}{}",
            self.seen,
            self.verify()
        )
    }

    fn verify(&self) -> &'static str {
        match self.way {
            Way::Pinning => "",
            Way::Pinned | Way::Defaulted | Way::PerCall | Way::Bound => {
                " If this call may have started heavy work, verify on disk before you retry it."
            }
        }
    }
}

const BOUND: &str =
    "a pin changes nothing, this session's calls are bound to that Editor's project";
const NO_PIN: &str = "a pin would change the session's default";

#[cfg(test)]
mod tests {
    use super::{HINTS, PHRASES};

    #[test]
    fn each_wording_holds_a_hint() {
        for phrase in &PHRASES {
            let text = phrase.text().as_bytes();
            assert!(HINTS.iter().any(|hint| hint.is_in(text)), "{phrase:?}");
        }
    }
}
