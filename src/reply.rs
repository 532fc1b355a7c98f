//! Answers to tool calls: reading their two surfaces, and the only place that edits them.
//!
//! A result carries its payload twice, as the text of the first `content` block and as
//! `structuredContent`. Models read the second, so what is said on one surface is said on both or on
//! neither.

use crate::wire::envelope::{Member, Message};
use crate::wire::id::Id;
use crate::wire::object::{Object, Raw};
use crate::wire::scan::Clues;
use crate::wire::surrogates::{mended, unescape_lossy};
use bytes::Bytes;
use once_cell::unsync::OnceCell;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::sync::atomic::{AtomicU8, Ordering};

mod additions;
mod phrase;

pub use additions::{Additions, Edited};
pub use phrase::Phrase;

/// The key of `structuredContent` that holds the notes of an answer.
pub const NOTE_KEY: &str = "proxy_transport_note";
/// The key of `_meta` that holds the machine-readable facts.
pub const META_KEY: &str = "vrc-mcp-proxy";

/// A machine-readable fact beside a refusal, a note or a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fact {
    /// The behaviour's name, or `relay`.
    pub behavior: &'static str,
    /// A stable code.
    pub code: &'static str,
    /// Whether upstream has seen the call.
    pub forwarded: bool,
}

impl Fact {
    fn to_json(self) -> Value {
        json!({ "behavior": self.behavior, "code": self.code, "forwarded": self.forwarded })
    }
}

/// A refusal-shaped answer to a tool call.
pub fn refusal(id: &Id, fact: Fact, text: &str) -> Bytes {
    let result = json!({
        "content": [{ "type": "text", "text": text }],
        "isError": true,
        "_meta": { META_KEY: [fact.to_json()] },
    });
    Bytes::from(format!(
        r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#,
        id.to_json()
    ))
}

/// A JSON-RPC error; without an id it is `null`.
pub fn rpc_error(id: Option<&Id>, code: i32, message: &str) -> Bytes {
    let error = json!({ "code": code, "message": message });
    let id = id.map_or_else(|| "null".to_owned(), Id::to_json);
    Bytes::from(format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#))
}

/// `structuredContent` as it stands in an answer.
#[derive(Clone, Debug)]
enum Structured<'a> {
    Absent,
    Object(Object<'a>),
    Other,
}

/// An answer to a tool call. Its two surfaces are read when somebody first asks: most answers are
/// passed on without that.
pub struct Reply<'a> {
    bytes: &'a [u8],
    /// `result`: UTF-8, and where it stands.
    result: Option<(&'a [u8], usize)>,
    error: Option<Raw<'a>>,
    surfaces: OnceCell<Surfaces<'a>>,
    payload: OnceCell<Option<Value>>,
    clues: Clues,
    escapes: Known,
    may_fail: Known,
}

/// A yes or no that is worked out when somebody first asks.
#[derive(Default)]
struct Known(AtomicU8);

impl Known {
    /// What is known, or what is found out now. To find it out twice would do no harm.
    fn or(&self, find_out: impl FnOnce() -> bool) -> bool {
        const NO: u8 = 1;
        const YES: u8 = 2;
        match self.0.load(Ordering::Relaxed) {
            NO => false,
            YES => true,
            _ => {
                let found = find_out();
                self.0
                    .store(if found { YES } else { NO }, Ordering::Relaxed);
                found
            }
        }
    }
}

/// The parts of an answer that say something.
struct Surfaces<'a> {
    result: Option<Object<'a>>,
    error: Option<Object<'a>>,
    content: Option<(Raw<'a>, Vec<Object<'a>>)>,
    structured: Structured<'a>,
}

impl<'a> Surfaces<'a> {
    fn read(result: Option<Raw<'a>>, error: Option<Raw<'a>>) -> Self {
        let result = result.and_then(|raw| raw.as_object());
        let content = result.as_ref().and_then(|result| {
            let raw = result.get("content")?;
            let blocks = raw.as_array()?;
            Some((raw, blocks.iter().filter_map(Raw::as_object).collect()))
        });
        let structured = match result.as_ref().and_then(|r| r.get("structuredContent")) {
            None => Structured::Absent,
            Some(raw) => raw
                .as_object()
                .map_or(Structured::Other, Structured::Object),
        };
        Surfaces {
            result,
            error: error.and_then(|raw| raw.as_object()),
            content,
            structured,
        }
    }
}

impl<'a> Reply<'a> {
    /// The answer that a message of the upstream is.
    pub fn of(message: &Message<'a>) -> Self {
        let (result, error) = (
            message.get_bytes(Member::Result),
            message.get(Member::Error),
        );
        Reply::with_parts(message.bytes(), message.clues, result, error)
    }

    /// An answer of these bytes, UTF-8, with this envelope, of which nothing was noted on the way.
    #[cfg(test)]
    pub(crate) fn new(bytes: &'a [u8], envelope: &Object<'a>) -> Self {
        let result = envelope.get("result");
        let result = result.map(|raw| (raw.text.as_bytes(), raw.at));
        Reply::with_parts(bytes, Clues::UNKNOWN, result, envelope.get("error"))
    }

    fn with_parts(
        bytes: &'a [u8],
        clues: Clues,
        result: Option<(&'a [u8], usize)>,
        error: Option<Raw<'a>>,
    ) -> Self {
        Reply {
            bytes,
            clues,
            result,
            error: error.filter(|raw| !raw.is_null()),
            surfaces: OnceCell::new(),
            payload: OnceCell::new(),
            escapes: Known::default(),
            may_fail: Known::default(),
        }
    }

    fn surfaces(&self) -> &Surfaces<'a> {
        self.surfaces.get_or_init(|| {
            let text = |bytes| std::str::from_utf8(bytes).unwrap_or_default();
            let result = self.result.map(|(bytes, at)| Raw {
                text: text(bytes),
                at,
            });
            Surfaces::read(result, self.error)
        })
    }

    /// Whether `result.isError` is `true`.
    pub fn is_error(&self) -> bool {
        let flag = self
            .surfaces()
            .result
            .as_ref()
            .and_then(|r| r.get("isError"));
        flag.is_some_and(|raw| raw.text == "true")
    }

    /// Whether the answer is a JSON-RPC error.
    pub fn is_rpc_error(&self) -> bool {
        self.error.is_some()
    }

    /// Whether the answer says on its own surface that the call failed: a JSON-RPC error, `isError`,
    /// or a failure payload.
    pub fn is_failure(&self) -> bool {
        self.is_rpc_error() || self.is_error() || self.is_failure_payload()
    }

    /// The message of a JSON-RPC error.
    pub fn error_message(&self) -> Option<Cow<'a, str>> {
        let message = self.surfaces().error.as_ref()?.get("message")?;
        unescape_lossy(message.text)
    }

    /// The texts of the content blocks.
    pub fn texts(&self) -> impl Iterator<Item = Cow<'a, str>> + '_ {
        let blocks = self
            .surfaces()
            .content
            .iter()
            .flat_map(|(_, blocks)| blocks);
        blocks
            .filter(|block| block.get_str("type").as_deref() == Some("text"))
            .filter_map(|block| unescape_lossy(block.get("text")?.text))
    }

    /// The payload: the JSON in the first text block. `None` when there is none or it does not parse.
    pub fn payload(&self) -> Option<&Value> {
        let parse = || {
            let text = self.texts().next()?;
            let whole = serde_json::from_str(&text).ok();
            whole.or_else(|| serde_json::from_str(&mended(&text)?).ok())
        };
        self.payload.get_or_init(parse).as_ref()
    }

    /// Whether the payload is an object whose `success` is exactly `false`.
    pub fn is_failure_payload(&self) -> bool {
        self.payload().and_then(|p| p.get("success")) == Some(&Value::Bool(false))
    }

    /// Whether the payload is an object whose `success` is exactly `true`.
    pub fn is_success_payload(&self) -> bool {
        self.payload().and_then(|p| p.get("success")) == Some(&Value::Bool(true))
    }

    /// A string of the payload's `data` object.
    pub fn data_str(&self, key: &str) -> Option<&str> {
        self.payload()?.get("data")?.get(key)?.as_str()
    }

    /// Whether a text block or the error message holds `phrase`.
    ///
    /// What the scan of the line noted, or a search of the raw line, answers for nearly all answers. ASCII letters
    /// can hide from it only as `\u00…` escapes, and only then are the texts unescaped.
    pub fn mentions(&self, phrase: &Phrase) -> bool {
        self.may_hold(phrase)
            && (self.texts().any(|text| phrase.is_in(text.as_bytes()))
                || self
                    .error_message()
                    .is_some_and(|text| phrase.is_in(text.as_bytes())))
    }

    /// Whether a text of the answer can hold `phrase` at all, escaped or not: a cheap first look.
    pub fn may_hold(&self, phrase: &Phrase) -> bool {
        if self.may_hide_letters() {
            return true;
        }
        let spaces = self.clues.spaces || self.clues.odd_escapes;
        (spaces || !phrase.has_space()) && phrase.is_in(self.bytes)
    }

    /// Whether ASCII letters or slashes may stand in the line as escapes.
    fn may_hide_letters(&self) -> bool {
        static ESCAPES: [Phrase; 2] = [Phrase::new("u00"), Phrase::new("\\/")];
        let escapes = || ESCAPES.iter().any(|escape| escape.is_in(self.bytes));
        self.clues.odd_escapes && self.escapes.or(escapes)
    }

    /// Whether the line can hold a failure payload or an `isError` at all: a cheap first look, which
    /// spares a success the search for every wording of a failure.
    pub fn may_fail(&self) -> bool {
        let fails = |place| self.fails_at(place);
        let search = || {
            // The word's second half: unlike the whole it cannot overlap the next one.
            static SUCCESS: Phrase = Phrase::new("uccess");
            static IS_ERROR: Phrase = Phrase::new("isError");
            let successes = SUCCESS.places_in(self.bytes);
            let mut errors = IS_ERROR.places_in(self.bytes);
            successes.filter_map(|at| at.checked_sub(1)).any(fails) || errors.any(fails)
        };
        self.may_fail.or(|| {
            let noted = self.clues.words.places();
            noted.map_or_else(search, |mut places| places.any(fails)) || self.may_hide_letters()
        })
    }

    /// Whether `success` stands at `at`, and behind it `false`, or `isError`, and behind it `true`: in the line's own JSON
    /// or in that of a text.
    fn fails_at(&self, at: usize) -> bool {
        let rest = self.bytes.get(at..).unwrap_or_default();
        let Some((word, behind)) = rest.split_first_chunk() else {
            return false;
        };
        match word {
            // So it stands in nearly all answers.
            b"success" if behind.starts_with(b"\":true") => false,
            b"success" if behind.starts_with(b"\\\":true") => false,
            b"isError" if behind.starts_with(b"\":false") => false,
            // In the payload's text a line break or a tab is an escape.
            b"success" => {
                let is_letter = |byte: &u8| matches!(byte, b'n' | b'r' | b't');
                leads(behind, |byte| is_between(byte) || is_letter(byte), b"false")
            }
            b"isError" => leads(behind, is_between, b"true"),
            _ => false,
        }
    }
}

/// Whether `value` stands behind what may stand between it and its key.
#[inline]
fn leads(behind: &[u8], between: impl Fn(&u8) -> bool, value: &[u8]) -> bool {
    let start = behind.iter().position(|byte| !between(byte));
    start.is_some_and(|start| behind[start..].starts_with(value))
}

/// Whether a byte may stand between a key and its value.
fn is_between(byte: &u8) -> bool {
    matches!(byte, b'"' | b':' | b'\\' | b' ' | b'\t' | b'\r' | b'\n')
}

#[cfg(test)]
mod tests;
