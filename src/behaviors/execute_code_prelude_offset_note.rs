//! Reported line numbers count the lines that this proxy put ahead of the snippet.

use super::{Behavior, Cx, Hook, Note, execute_code_idempotency_guard};
use crate::csharp::diagnostics::diagnostics;
use crate::csharp::line_count;
use crate::relay::inflight::InFlight;
use crate::reply::{Phrase, Reply};
use std::collections::BTreeSet;
use std::fmt::Write;

/// The behaviour's entry.
pub(super) const BEHAVIOR: Behavior = Behavior {
    name: "execute_code_prelude_offset_note",
    summary: "Translates the line numbers of a compile failure to the caller's own lines.",
    tool: Some("execute_code"),
    hooks: &[Hook::Note(note)],
    codes: &[(
        "lines_offset",
        "the reported lines count the proxy's own lines",
    )],
};

/// Lines that are translated at the most.
const MOST: usize = 20;

static LINE: Phrase = Phrase::new("Line ");

fn note(call: &InFlight, reply: &Reply<'_>, _: &Cx<'_>) -> Vec<Note> {
    let ahead = call.prelude_lines();
    if ahead == 0 || !reply.may_hold(&LINE) {
        return Vec::new();
    }
    let reported = reply.payload().map(diagnostics).unwrap_or_default();
    let lines: BTreeSet<u64> = reported.iter().map(|error| error.line).collect();
    if lines.is_empty() {
        return Vec::new();
    }
    let own = call
        .call()
        .and_then(|sent| sent.snippet().map(|code| line_count(&code)))
        .unwrap_or_default();
    let wrapped = call.injected_by(execute_code_idempotency_guard::BEHAVIOR.name);
    vec![Note {
        code: "lines_offset",
        text: text(ahead, own, wrapped, &lines),
    }]
}

fn text(ahead: usize, own: usize, wrapped: bool, lines: &BTreeSet<u64>) -> String {
    let last = ahead + own;
    let mut text = format!(
        "This proxy put {ahead} lines ahead of your code and the reported numbers count them: subtract {ahead}. \
         Line {} is your line 1; a line at or below {ahead} is not yours.",
        ahead + 1
    );
    if wrapped {
        let _infallible = write!(
            text,
            " A line past {last} lies in the closing trailer and means unbalanced braces, parentheses or \
             comments in your code."
        );
    }
    text.push_str(" Here:");
    for (at, &line) in lines.iter().take(MOST).enumerate() {
        let comma = if at == 0 { "" } else { "," };
        let place = usize::try_from(line).unwrap_or(usize::MAX);
        let _infallible = match place {
            _ if place <= ahead => write!(text, "{comma} {line} → the proxy's own lines"),
            _ if place <= last => write!(text, "{comma} {line} → your line {}", place - ahead),
            _ if wrapped => write!(text, "{comma} {line} → the trailer"),
            _ => write!(text, "{comma} {line} → past your last line"),
        };
    }
    let more = lines.len().saturating_sub(MOST);
    if more > 0 {
        let _infallible = write!(text, ", and {more} more");
    }
    text.push('.');
    text
}
