//! The C# that travels with a snippet into the Editor.
//!
//! Layout of a snippet with everything around it; [`idempotency`] adds the six lines and the trailer, [`venue`] the five:
//!
//! ```text
//!  1..5   the venue check: return a misroute text in any Editor but the expected one
//!  6..11  the record: answer a known key from SessionState, else mark it running, run the body, and store how that
//!         ended; open the body
//! 12..    the caller's snippet, verbatim
//!         the trailer: close the body
//! ```
//!
//! What holds for all of it: printable ASCII; C# 6, as mcs takes it, and current Roslyn; where the snippet's locals are
//! in scope, which may have any name, `global::` ahead of every type and no names of its own.

use super::literal::string_literal;
use crate::wire::{push_escaped, unescape};
use std::borrow::Cow;
use std::sync::LazyLock;

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

/// Lines to put around a snippet. They are ASCII.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lines {
    kind: Kind,
    /// The key in the comment that they start with.
    key: Option<String>,
    /// How many lines are put ahead.
    pub ahead: usize,
    /// How much is put ahead and behind, in characters of the code.
    pub added: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    /// This text ahead, as inside a JSON string.
    Venue(String),
    /// [`GUARD`], with the key.
    Idempotency,
}

impl Lines {
    /// The key that they start with, if they do.
    pub fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    /// What stands ahead of the snippet, as inside a JSON string, in parts.
    pub fn head(&self) -> impl Iterator<Item = &str> {
        let key = self.key.as_deref().unwrap_or_default();
        let (parts, count) = match &self.kind {
            Kind::Venue(head) => ([head.as_str(), "", "", "", ""], 1),
            Kind::Idempotency => {
                let [mark, literal, rest] = &GUARD.head;
                ([mark.as_str(), key, literal, record_key(key), rest], 5)
            }
        };
        parts.into_iter().take(count)
    }

    /// What stands behind it, as inside a JSON string.
    pub fn tail(&self) -> &str {
        match self.kind {
            Kind::Venue(_) => "",
            Kind::Idempotency => &GUARD.tail,
        }
    }

    /// `code` with the lines around it, as C#.
    pub fn around(&self, code: &str) -> String {
        // Escaped in here, so this reads them.
        let text = |part: &str| unescape(&["\"", part, "\""].concat()).map(Cow::into_owned);
        let head = text(&self.head().collect::<String>());
        let tail = text(self.tail());
        [&head.unwrap_or_default(), code, &tail.unwrap_or_default()].concat()
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

/// Whether `own`, the caller's snippet, is past [`EDITOR_CODE_LIMIT_UTF16`] with `added` units more, and not without.
pub fn over_limit(own: &str, added: usize) -> Option<OverLimit> {
    let own = utf16_len(own);
    (own <= EDITOR_CODE_LIMIT_UTF16 && own + added > EDITOR_CODE_LIMIT_UTF16)
        .then_some(OverLimit { own, added })
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

/// Five lines to put ahead of a snippet, which return a text starting with [`VENUE_MARKER`] unless the Editor's
/// `Application.dataPath` is `expected_assets_path` (ordinal, case ignored, slashes normalized on both sides).
///
/// They bring in no names. `key` is the key that the snippet was wrapped under, if it was: its comment then stands at
/// the very start here too.
pub fn venue(expected_assets_path: &str, key: Option<&str>) -> Lines {
    let path = string_literal(&normalize_assets_path(expected_assets_path));
    let key = key.map(clean);
    let mark = key.as_deref().map(key_comment).unwrap_or_default();
    // The block keeps an `else` at the start of the snippet from finding this `if`.
    let text = format!(
        r#"{mark}{{ if (!string.Equals(global::UnityEngine.Application.dataPath.Replace('\\', '/').TrimEnd('/'),
{path}, global::System.StringComparison.OrdinalIgnoreCase))
return "{VENUE_MARKER} expected the project at " + {path} + ", reached the one at " + global::UnityEngine.Application.dataPath
+ ". Nothing ran in this Editor. An earlier delivery may have run in the pinned one: verify on disk there, then"
+ " re-pin with set_active_instance or route the call with unity_instance."; }}
"#
    );
    let mut head = String::with_capacity(text.len() + text.len() / 8);
    push_escaped(&mut head, &text);
    Lines {
        kind: Kind::Venue(head),
        key,
        ahead: VENUE_LINES,
        added: text.len(),
    }
}

/// Six lines to put ahead of a snippet, and a trailer behind it, that let it run once per `key` however often it is
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
pub fn idempotency(key: &str) -> Lines {
    let key = clean(key);
    Lines {
        kind: Kind::Idempotency,
        added: GUARD.added + key.len() + record_key(&key).len(),
        key: Some(key),
        ahead: IDEMPOTENCY_LINES,
    }
}

// It travels with every call, so it is as short as it can be.
//
// The snippet is the argument `f` of a lambda that holds all the rest: nothing in there is in the snippet's scope, so
// its names are free to the snippet, in C# before 8 as well, and types need no `global::`. The cast is for mcs, which
// copies a lambda that it finds a type for, and cannot copy labels.
// ToString() and Message are the caller's code as well: what they throw must not pass for the body's failure. While the
// body runs `r` is empty.
/// In here `$` is the key, and then [`record_key`].
const HEAD: &str = r#"/* vrc-mcp-proxy key $ */ return((global::System.Func<global::System.Func<object>,object>)(f=>{object v=null;string k="$",r=UnityEditor.SessionState.GetString(k,""),t=": this snippet already ran exactly once under its key. ";
if(r!="")return"[proxy-duplicate-suppressed] "+(r[0]=='r'?r+t+"The outcome is unknown: re-issue if it only reads, verify on disk if it mutates":r[0]=='f'?"failed"+t+"The work did not land, earlier steps may have":"succeeded"+t+"The record is the value's ToString(), not the value")+". Record: "+r;
System.Action<string>s=x=>UnityEditor.SessionState.SetString(k,x);s("running");
try{v=f();r="completed: ";s(v==null?"completed with null":r+v);}
catch(System.Exception e){if(r!=""){s(r+"ToString() threw "+e.GetType());return v;}try{r=e.Message;}catch{r=""+e.GetType();}s("failed: "+r);throw;}return v;
}))((global::System.Func<object>)(()=>{{
"#;

// The inner block makes a snippet that breaks off (`if (x)`, a label) the error that it is by itself.
const TRAILER: &str = "\n}return null;}));";

/// [`HEAD`] and [`TRAILER`] as they stand inside a JSON string; the key needs no escapes.
struct Guard {
    /// What stands ahead of the key, between its two places, and behind.
    head: [String; 3],
    tail: String,
    /// Their length as C#, without the key.
    added: usize,
}

static GUARD: LazyLock<Guard> = LazyLock::new(|| {
    let escaped = |text: &str| {
        let mut json = String::new();
        push_escaped(&mut json, text);
        json
    };
    let mut parts = HEAD.splitn(3, '$').map(escaped);
    Guard {
        head: std::array::from_fn(|_| parts.next().unwrap_or_default()),
        tail: escaped(TRAILER),
        added: HEAD.len() - 2 + TRAILER.len(),
    }
});

/// The part of a key under which `SessionState` has the record: 64 random bits are no less its own than 128.
fn record_key(key: &str) -> &str {
    key.get(..16).unwrap_or(key)
}

fn clean(key: &str) -> String {
    let fits = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-';
    // Without a way out of the loop it takes all bytes at a time.
    if key
        .as_bytes()
        .iter()
        .fold(true, |all, byte| all & fits(byte))
    {
        return key.to_owned();
    }
    let kept = key.bytes().filter(fits).map(char::from);
    kept.collect()
}

fn key_comment(key: &str) -> String {
    [KEY_COMMENT, key, " */ "].concat()
}

#[cfg(test)]
#[path = "prelude_tests.rs"]
mod tests;
