//! The C# that travels with a snippet into the Editor.
//!
//! Layout of a snippet with everything around it; [`idempotency`] adds the six lines and the trailer, [`venue`] the five:
//!
//! ```text
//!  1..5   the venue check: return a misroute text in any Editor but the expected one
//!  6..11  the record: answer a known key from SessionState, else mark it running and open the body
//! 12..    the caller's snippet, verbatim
//!         the trailer: close the body, run it, store how it ended
//! ```
//!
//! What holds for all of it: printable ASCII; C# 6, as mcs takes it, and current Roslyn; `global::` ahead of every
//! type, since the snippet's locals may have any name; no names of its own but a few locals made from the key.

use super::literal::string_literal;
use crate::wire::push_escaped;
use memchr::memmem;
use std::borrow::Cow;
use std::sync::OnceLock;

/// Starts the text that a snippet returns when it reached another Editor than the expected one.
pub const VENUE_MARKER: &str = "[proxy-venue-misroute]";

/// Starts the text that a later delivery returns instead of running the snippet again.
pub const DUPLICATE_MARKER: &str = "[proxy-duplicate-suppressed]";

/// Lines that [`venue`] puts ahead of a snippet.
pub const VENUE_LINES: usize = 5;

/// Lines that [`idempotency`] puts ahead of a snippet.
pub const IDEMPOTENCY_LINES: usize = 6;

/// The longest `code` that the Editor takes, in UTF-16 units (read from the bridge's source, 10.1.0).
pub const EDITOR_CODE_LIMIT_UTF16: usize = 50_000;

/// Starts the comment at the very start of all injected code; the key follows it.
pub const KEY_COMMENT: &str = "/* vrc-mcp-proxy key ";

/// A snippet with the proxy's lines around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrapped {
    /// The whole code to send.
    pub code: String,
    /// Lines put ahead of what was given; it starts on the line after them.
    pub prelude_lines: usize,
    /// Bytes put ahead of what was given.
    ahead: usize,
    /// What stands around it, as in a JSON string; where that is not known it is to be escaped.
    json: Option<[String; 2]>,
}

impl Wrapped {
    fn new(mut head: String, code: &str, tail: &str, prelude_lines: usize) -> Self {
        let ahead = head.len();
        head.reserve_exact(code.len() + tail.len());
        head.push_str(code);
        head.push_str(tail);
        Self {
            code: head,
            prelude_lines,
            ahead,
            json: None,
        }
    }

    /// What stands ahead of and behind `code`, which was given, as in a JSON string.
    pub fn around(&self, code: &str) -> [Cow<'_, str>; 2] {
        if let Some(json) = &self.json {
            return json.each_ref().map(|part| Cow::Borrowed(part.as_str()));
        }
        let (head, rest) = self.code.split_at(self.ahead);
        let tail = rest.strip_prefix(code).unwrap_or_default();
        [head, tail].map(|part| {
            let mut json = String::with_capacity(part.len() + part.len() / 8);
            push_escaped(&mut json, part);
            json.into()
        })
    }
}

/// A snippet that the Editor would take as it is, and refuse with the lines around it. Lengths in UTF-16 units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OverLimit {
    /// Length of the caller's own snippet.
    pub own: usize,
    /// Length that the wrapping adds.
    pub added: usize,
}

impl std::fmt::Display for OverLimit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let OverLimit { own, added } = self;
        let over = own + added - EDITOR_CODE_LIMIT_UTF16;
        write!(
            f,
            "This snippet was not forwarded: it has {own} characters, this proxy's lines add {added}, and the Editor \
             takes {EDITOR_CODE_LIMIT_UTF16} at most (UTF-16 units). Shorten it by {over} or more, for example by \
             reading long data from a file."
        )
    }
}

/// Length of `text` in UTF-16 units, as the Editor counts it.
pub fn utf16_len(text: &str) -> usize {
    // One unit for each character's first byte, and one more for those of four bytes.
    let units = |byte: u8| usize::from(byte & 0xC0 != 0x80) + usize::from(byte >= 0xF0);
    text.bytes().map(units).sum()
}

/// Whether `wrapped` is past [`EDITOR_CODE_LIMIT_UTF16`] while `own`, the caller's snippet, is not.
pub fn over_limit(own: &str, wrapped: &str) -> Option<OverLimit> {
    // No text has more units than bytes.
    if wrapped.len() <= EDITOR_CODE_LIMIT_UTF16 {
        return None;
    }
    let (own, wrapped) = (utf16_len(own), utf16_len(wrapped));
    (own <= EDITOR_CODE_LIMIT_UTF16 && wrapped > EDITOR_CODE_LIMIT_UTF16).then(|| OverLimit {
        own,
        added: wrapped - own,
    })
}

/// An Assets path as the venue check compares it: forward slashes, no slash at the end.
pub fn normalize_assets_path(path: &str) -> String {
    path.replace('\\', "/").trim_end_matches('/').to_owned()
}

/// The key in the comment that starts all injected code, read back from (the head of) a wrapped snippet.
pub fn key_of(code: &str) -> Option<&str> {
    code.strip_prefix(KEY_COMMENT)?
        .split_once(" */")
        .map(|(key, _)| key)
}

/// Puts five lines ahead of `code` that return a text starting with [`VENUE_MARKER`] unless the Editor's
/// `Application.dataPath` is `expected_assets_path` (ordinal, case ignored, slashes normalized on both sides).
///
/// They bring in no names. `key` is the key that `code` was wrapped under, if it was: its comment then stands at the
/// very start here too.
pub fn venue(code: &str, expected_assets_path: &str, key: Option<&str>) -> Wrapped {
    let path = string_literal(&normalize_assets_path(expected_assets_path));
    let mark = key.map(|key| key_comment(&clean(key))).unwrap_or_default();
    // The block keeps an `else` at the start of the snippet from finding this `if`.
    let head = format!(
        r#"{mark}{{ if (!string.Equals(global::UnityEngine.Application.dataPath.Replace('\\', '/').TrimEnd('/'),
{path}, global::System.StringComparison.OrdinalIgnoreCase))
return "{VENUE_MARKER} expected the project at " + {path} + ", reached the one at " + global::UnityEngine.Application.dataPath
+ ". Nothing ran in this Editor. An earlier delivery may have run in the pinned one: verify on disk there, then"
+ " re-pin with set_active_instance or route the call with unity_instance."; }}
"#
    );
    Wrapped::new(head, code, "", VENUE_LINES)
}

/// Puts six lines ahead of `code`, and a trailer behind it, that let it run once per `key` however often it is
/// delivered, as long as the Editor's process lives.
///
/// The snippet becomes the body of a `Func<object>`. The first delivery marks the key in `SessionState`, runs the
/// body, stores `completed: ` and the value's `ToString()` (or that it was null, or `failed: ` and the exception's
/// message), and returns the body's own value or rethrows. A later one returns a text
/// `<DUPLICATE_MARKER> <running|failed|succeeded>: …` without running the body. The key is never cleared.
///
/// The snippet must be a method body by itself. One that closes the Editor's method to declare members beside it
/// compiles bare but not in here; the errors then lie past its last line.
///
/// `key` is letters, digits and `-`; anything else in it is dropped. It must be fresh for every call.
pub fn idempotency(code: &str, key: &str) -> Wrapped {
    let key = clean(key);
    let names = Names::absent_from(code, &key);
    let [head, trailer] = [&HEAD, &TRAILER].map(|template| template.fill(&key, &names));
    Wrapped {
        json: Some([head.json, trailer.json]),
        ..Wrapped::new(head.text, code, &trailer.text, IDEMPOTENCY_LINES)
    }
}

/// In here and in the trailer `$k` is the key, and the other letters are the names.
static HEAD: Template = Template::new(
    r#"/* vrc-mcp-proxy key $k */ string $r = global::UnityEditor.SessionState.GetString("vrc-mcp-proxy.$k", ""), $t = ": this snippet already ran exactly once under its key and was not run again. ";
if ($r == "running") return "[proxy-duplicate-suppressed] running" + $t + "That run has recorded no end: it may still go on, and its outcome is unknown. Re-issue the snippet if it only reads; if it changes anything, verify on disk first.";
if ($r.StartsWith("failed: ", global::System.StringComparison.Ordinal)) return "[proxy-duplicate-suppressed] failed" + $t + "That run threw, so the work did not land, though steps ahead of the throw may have. Its failure: " + $r.Substring(8);
if ($r.Length != 0) return "[proxy-duplicate-suppressed] succeeded" + $t + ($r == "completed-null" ? "It returned null." : "The record of that run is the value's ToString() and not the value itself: " + $r.Substring(11));
global::UnityEditor.SessionState.SetString("vrc-mcp-proxy.$k", "running");
global::System.Func<object> $b = () => { {
"#,
);

// The inner block makes a snippet that breaks off (`if (x)`, a label) the error that it is by itself.
// ToString() and Message are the caller's code as well: what they throw must not pass for the body's failure.
static TRAILER: Template = Template::new(
    r#"
} return null; }; object $v;
try { $v = $b(); } catch (global::System.Exception $e) {
try { $r = $e.Message; } catch (global::System.Exception) { $r = $e.GetType().FullName; }
global::UnityEditor.SessionState.SetString("vrc-mcp-proxy.$k", "failed: " + $r); throw; }
try { $r = $v == null ? "completed-null" : "completed: " + $v; }
catch (global::System.Exception $e) { $r = "completed: (its ToString() threw " + $e.GetType().FullName + ")"; }
global::UnityEditor.SessionState.SetString("vrc-mcp-proxy.$k", $r); return $v;"#,
);

/// A text with places to fill, each a `$` and a letter.
struct Template {
    text: &'static str,
    /// Taken apart at the first use, as text and as it stands inside a JSON string: what is filled in needs no escapes.
    parts: OnceLock<[Parts; 2]>,
}

/// What stands ahead of the first place, and the places with what follows on each.
struct Parts {
    first: String,
    rest: Vec<(u8, String)>,
}

/// A template that was filled, as text and as it stands inside a JSON string.
struct Filled {
    text: String,
    json: String,
}

impl Template {
    const fn new(text: &'static str) -> Self {
        Template {
            text,
            parts: OnceLock::new(),
        }
    }

    fn fill(&self, key: &str, names: &Names) -> Filled {
        let parts = || {
            let mut json = String::new();
            push_escaped(&mut json, self.text);
            [Parts::of(self.text), Parts::of(&json)]
        };
        let parts = self.parts.get_or_init(parts).each_ref();
        let [text, json] = parts.map(|parts| parts.fill(key, names));
        Filled { text, json }
    }
}

impl Parts {
    fn of(template: &str) -> Self {
        let mut parts = template.split('$');
        let first = parts.next().unwrap_or_default().to_owned();
        let place = |part: &str| Some((*part.as_bytes().first()?, part.get(1..)?.to_owned()));
        Parts {
            first,
            rest: parts.filter_map(place).collect(),
        }
    }

    fn fill(&self, key: &str, names: &Names) -> String {
        let value = |place| match place {
            b'k' => key,
            b'r' => &names.record,
            b't' => &names.told,
            b'b' => &names.body,
            b'v' => &names.value,
            _ => &names.error,
        };
        let pieces = self.rest.iter();
        let pieces = pieces.flat_map(|(place, text)| [value(*place), text]);
        let pieces = std::iter::once(self.first.as_str()).chain(pieces);
        let mut filled = String::with_capacity(pieces.clone().map(str::len).sum());
        pieces.for_each(|piece| filled.push_str(piece));
        filled
    }
}

/// The locals of the wrapper. They enclose the snippet's, and C# before 8 lets no lambda shadow a local.
struct Names {
    record: String,
    told: String,
    body: String,
    value: String,
    error: String,
}

impl Names {
    /// Names from the key, which is younger than the snippet; should the snippet hold them all the same, longer ones.
    fn absent_from(code: &str, key: &str) -> Self {
        let mut tail = String::with_capacity(16);
        tail.push('_');
        tail.extend(key.chars().filter(|&c| c != '-').take(12));
        while memmem::find(code.as_bytes(), tail.as_bytes()).is_some() {
            tail.push('_');
        }
        let [record, told, body, value, error] =
            ["r", "t", "b", "v", "e"].map(|role| [role, &tail].concat());
        Self {
            record,
            told,
            body,
            value,
            error,
        }
    }
}

fn clean(key: &str) -> Cow<'_, str> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    if key.bytes().all(fits) {
        return key.into();
    }
    let kept = key.chars().filter(|&c| u8::try_from(c).is_ok_and(fits));
    kept.collect::<String>().into()
}

fn key_comment(key: &str) -> String {
    [KEY_COMMENT, key, " */ "].concat()
}

#[cfg(test)]
#[path = "prelude_tests.rs"]
mod tests;
