//! The Editor's history shows the caller's own code.
//!
//! It shows the first 500 characters of each stored snippet (read from the bridge's source, 10.1.0), and with the
//! proxy's lines ahead those are the same for all of them. The key in the comment at their start tells which is which.

use super::{Behavior, Cx, Hook, Note, PayloadEdit, Step};
use crate::call::Call;
use crate::csharp::prelude::{KEY_COMMENT, key_of};
use crate::relay::inflight::InFlight;
use crate::relay::witness::Seen;
use crate::reply::{Phrase, Reply};
use crate::wire::{chars, quote};
use serde_json::Value;

/// The behaviour's entry.
pub(super) const BEHAVIOR: Behavior = Behavior {
    name: "execute_code_history_preview",
    summary: "Shows the caller's own code in the Editor's history in place of the proxy's lines.",
    tool: Some("execute_code"),
    hooks: &[Hook::Witness(head), Hook::Edit(previews), Hook::Note(note)],
    codes: &[
        ("preview_restored", "previews show the caller's own code"),
        (
            "preview_unknown",
            "previews show the proxy's lines, since the caller's code is not known here",
        ),
    ],
};

/// What the Editor shows of a snippet, in UTF-16 units.
const SHOWN_UTF16: usize = 500;

static MARK: Phrase = Phrase::new(KEY_COMMENT);

/// What is kept of a snippet's JSON string. A unit takes six bytes of it at the most, a pair of them twelve, so there
/// is more in it than the Editor shows, or all of the snippet.
const KEPT: usize = 1 + 6 * SHOWN_UTF16 + 12;

/// Takes down how a snippet begins that goes out in the proxy's wrapping.
fn head(call: &Call<'_>, _: &Cx<'_>) -> Option<Seen> {
    if !call.is_wrapped() {
        return None;
    }
    let code = call.original("code")?.text;
    let kept = code.get(..code.floor_char_boundary(KEPT))?;
    Some(Seen::Snippet {
        key: call.key.clone(),
        head: kept.to_owned(),
    })
}

/// What the Editor would show of a snippet that begins so, cut as the Editor cuts it.
fn shown(head: &str) -> String {
    let mut text = String::new();
    let mut units = 0;
    for (_, c) in chars::chars(head) {
        units += c.len_utf16();
        if units > SHOWN_UTF16 {
            text.push_str("...");
            break;
        }
        text.push(c);
    }
    text
}

/// The history's entries that begin with the proxy's comment: their places, and the keys.
fn wrapped<'r>(call: &InFlight, reply: &'r Reply<'_>) -> Vec<(usize, &'r str)> {
    if call.action.as_deref() != Some("get_history") || !reply.may_hold(&MARK) {
        return Vec::new();
    }
    let data = reply.payload().and_then(|payload| payload.get("data"));
    let entries = data.and_then(|data| data.get("entries")?.as_array());
    let entries = entries.into_iter().flatten().enumerate();
    let keyed = |(at, entry): (usize, &'r Value)| {
        let preview = entry.get("codePreview")?.as_str()?;
        Some((at, key_of(preview)?))
    };
    entries.filter_map(keyed).collect()
}

fn previews(call: &InFlight, reply: &Reply<'_>, cx: &Cx<'_>) -> Option<PayloadEdit> {
    let known = |(at, key): (usize, &str)| {
        let entry = [Step::Key("data"), Step::Key("entries"), Step::Item(at)];
        let path = [&entry[..], &[Step::Key("codePreview")]].concat();
        Some((path, quote(&shown(cx.snippets.head(key)?))))
    };
    let wrapped = wrapped(call, reply).into_iter();
    let set: Vec<_> = wrapped.filter_map(known).collect();
    (!set.is_empty()).then_some(PayloadEdit {
        set,
        code: "preview_restored",
    })
}

fn note(call: &InFlight, reply: &Reply<'_>, cx: &Cx<'_>) -> Vec<Note> {
    let wrapped = wrapped(call, reply).into_iter();
    let unknown = wrapped.filter(|(_, key)| cx.snippets.head(key).is_none());
    let count = unknown.count();
    if count == 0 {
        return Vec::new();
    }
    let (entries, begin) = match count {
        1 => ("1 entry".to_owned(), "begins"),
        many => (format!("{many} entries"), "begin"),
    };
    vec![Note {
        code: "preview_unknown",
        text: format!(
            "The codePreview of {entries} here {begin} with this proxy's own lines (its prelude), not with the \
             caller's code: this process does not know those keys, which are an earlier process's or further back \
             than its last 50 snippets."
        ),
    }]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_kept_shows_the_same_as_all(units in prop::collection::vec(prop::sample::select(vec!["a", "é", "日", "😀", "\\n", "\\u0061", "\\ud83d\\ude00"]), 0..1500), last in 480..520_usize) {
            for units in [&units[..], &units[..last.min(units.len())]] {
                let literal = format!("\"{}\"", units.concat());
                let kept = &literal[..literal.floor_char_boundary(KEPT)];
                prop_assert_eq!(shown(kept), shown(&literal));
            }
        }
    }

    #[test]
    fn the_longest_spelling_of_what_is_shown_is_kept() {
        let pair = "\\ud83d\\ude00";
        let letter = "\\u0061";
        for (code, wanted) in [
            (pair.repeat(250), "😀".repeat(250)),
            (pair.repeat(251), "😀".repeat(250) + "..."),
            (letter.repeat(499) + pair, "a".repeat(499) + "..."),
            (letter.repeat(500) + pair, "a".repeat(500) + "..."),
        ] {
            let literal = format!("\"{code}\"");
            assert_eq!(shown(&literal[..KEPT.min(literal.len())]), wanted);
        }
    }
}
