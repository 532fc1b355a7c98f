//! Answers to tool calls: reading their two surfaces, and the only place that edits them.
//!
//! A result carries its payload twice, as the text of the first `content` block and as
//! `structuredContent`. Models read the second, so what is said on one surface is said on both or on
//! neither.

use crate::behaviors::PayloadKey;
use crate::wire::id::Id;
use crate::wire::object::{Object, Raw};
use crate::wire::splice::{BadEdits, Edits};
use crate::wire::{quote, unescape};
use bytes::Bytes;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::sync::OnceLock;

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

/// An answer to a tool call.
pub struct Reply<'a> {
    text: &'a str,
    result: Option<Object<'a>>,
    error: Option<Object<'a>>,
    rpc_error: bool,
    content: Option<(Raw<'a>, Vec<Object<'a>>)>,
    structured: Structured<'a>,
    payload: OnceLock<Option<Value>>,
    escapes: OnceLock<bool>,
}

impl<'a> Reply<'a> {
    /// Reads the envelope of an answer.
    pub fn new(text: &'a str, envelope: &Object<'a>) -> Self {
        let result = envelope.get("result").and_then(|raw| raw.as_object());
        let error = envelope.get("error").filter(|raw| !raw.is_null());
        let rpc_error = error.is_some();
        let error = error.and_then(|raw| raw.as_object());
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
        Reply {
            text,
            result,
            error,
            rpc_error,
            content,
            structured,
            payload: OnceLock::new(),
            escapes: OnceLock::new(),
        }
    }

    /// Whether `result.isError` is `true`.
    pub fn is_error(&self) -> bool {
        let flag = self.result.as_ref().and_then(|r| r.get("isError"));
        flag.is_some_and(|raw| raw.text == "true")
    }

    /// Whether the answer is a JSON-RPC error.
    pub fn is_rpc_error(&self) -> bool {
        self.rpc_error
    }

    /// Whether the answer says on its own surface that the call failed: a JSON-RPC error, `isError`,
    /// or a failure payload.
    pub fn is_failure(&self) -> bool {
        self.is_rpc_error() || self.is_error() || self.is_failure_payload()
    }

    /// The message of a JSON-RPC error.
    pub fn error_message(&self) -> Option<Cow<'a, str>> {
        self.error.as_ref()?.get_str("message")
    }

    /// The texts of the content blocks.
    pub fn texts(&self) -> impl Iterator<Item = Cow<'a, str>> + '_ {
        let blocks = self.content.iter().flat_map(|(_, blocks)| blocks);
        blocks
            .filter(|block| block.get_str("type").as_deref() == Some("text"))
            .filter_map(|block| block.get_str("text"))
    }

    /// The payload: the JSON in the first text block. `None` when there is none or it does not parse.
    pub fn payload(&self) -> Option<&Value> {
        let parse = || serde_json::from_str(&self.texts().next()?).ok();
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

    /// Whether a text block or the error message holds `phrase`, which must be ASCII.
    ///
    /// A search of the raw line answers for nearly all answers. ASCII letters can hide from it only
    /// as `\u00…` escapes, and only then are the texts unescaped.
    pub fn mentions(&self, phrase: &str) -> bool {
        self.may_hold(phrase)
            && (self.texts().any(|text| text.contains(phrase))
                || self.error_message().is_some_and(|m| m.contains(phrase)))
    }

    /// Whether the line can hold `phrase` (ASCII) at all, escaped or not: a cheap first look.
    pub fn may_hold(&self, phrase: &str) -> bool {
        let holds = |what: &str| memchr::memmem::find(self.text.as_bytes(), what.as_bytes());
        let escapes = || holds("u00").is_some() || holds("\\/").is_some();
        holds(phrase).is_some() || *self.escapes.get_or_init(escapes)
    }
}

/// What is to be added to an answer.
#[derive(Debug, Default)]
pub struct Additions {
    /// A key for the payload.
    pub key: Option<PayloadKey>,
    /// Notes, in order.
    pub notes: Vec<String>,
    /// The facts that go with them.
    pub facts: Vec<Fact>,
}

/// An answer with additions, and what could not be said on both surfaces.
#[derive(Debug)]
pub struct Edited {
    /// The line for the client; `None` when nothing could be added and upstream's bytes are to go out.
    pub line: Option<Bytes>,
    /// The facts of what was added.
    pub facts: Vec<Fact>,
    /// Lines for stderr.
    pub log: Vec<String>,
}

impl Reply<'_> {
    /// The answer with `additions` made on both surfaces.
    ///
    /// # Errors
    /// [`BadEdits`] when the edits do not fit the line; upstream's bytes are to be used then.
    pub fn with(&self, mut additions: Additions) -> Result<Edited, BadEdits> {
        let mut edits = Edits::default();
        let mut log = Vec::new();
        let mut structured = Vec::new();
        if let Some(key) = additions.key.take() {
            match self.payload_key_edits(&key) {
                Some((text_edit, structured_edit)) => {
                    edits.replace(text_edit.0, text_edit.1);
                    structured.extend(structured_edit);
                }
                None => {
                    // The key's own fact: those of the notes come behind it.
                    let own = additions.facts.iter().position(|f| f.code == key.code);
                    own.map(|at| additions.facts.remove(at));
                    log.push(format!(
                        "{}: the key was not added: the answer's surfaces are not provably one and the \
                         same object payload",
                        key.key
                    ));
                }
            }
        }
        if !additions.notes.is_empty()
            && let Err(why) =
                self.note_edits(&additions.notes, &mut edits, &mut structured, &mut log)
        {
            log.push(why.to_owned());
            return Ok(Edited {
                line: None,
                facts: Vec::new(),
                log,
            });
        }
        // A key and a note for one empty object: neither knows of the other.
        if let [(first, _), (second, text)] = &mut structured[..]
            && first == second
            && !text.starts_with(',')
        {
            text.insert(0, ',');
        }
        for (range, text) in structured {
            edits.replace(range, text);
        }
        if edits.is_empty() {
            return Ok(Edited {
                line: None,
                facts: Vec::new(),
                log,
            });
        }
        self.meta_edits(&additions.facts, &mut edits);
        let line = edits.apply(self.text)?;
        Ok(Edited {
            line: Some(line),
            facts: additions.facts,
            log,
        })
    }

    fn note_edits(
        &self,
        notes: &[String],
        edits: &mut Edits,
        structured: &mut Vec<(std::ops::Range<usize>, String)>,
        log: &mut Vec<String>,
    ) -> Result<(), &'static str> {
        if let Some(error) = &self.error {
            let message = error
                .get("message")
                .filter(|message| message.text.starts_with('"'))
                .ok_or("a note was dropped: the error has no message text")?;
            let end = message.range().end - 1;
            let text = quote(&format!("\n{}", notes.join("\n")));
            edits.replace(end..end, &text[1..text.len() - 1]);
            return Ok(());
        }
        let (content, _) = self
            .content
            .as_ref()
            .ok_or("a note was dropped: the answer has no content list")?;
        let end = content.range().end - 1;
        let mut blocks = String::new();
        for note in notes {
            let comma = if blocks.is_empty() && content.text[1..].trim_start() == "]" {
                ""
            } else {
                ","
            };
            let text = quote(note);
            blocks.push_str(&format!(r#"{comma}{{"type":"text","text":{text}}}"#));
        }
        edits.replace(end..end, blocks);
        match &self.structured {
            Structured::Object(object) => {
                structured.push(object.set(NOTE_KEY, &quote(&notes.join("\n"))));
            }
            Structured::Other => log.push(
                "structuredContent is no object: the note stands in content alone".to_owned(),
            ),
            Structured::Absent => {}
        }
        Ok(())
    }

    fn meta_edits(&self, facts: &[Fact], edits: &mut Edits) {
        let Some(result) = self.result.as_ref().filter(|_| !facts.is_empty()) else {
            return;
        };
        let list = facts.iter().map(|fact| fact.to_json()).collect();
        let facts = Value::Array(list).to_string();
        let (range, text) = match result.get("_meta") {
            Some(raw) if !raw.is_null() => match raw.as_object() {
                Some(meta) => meta.set(META_KEY, &facts),
                None => return,
            },
            _ => result.set("_meta", &format!(r#"{{"{META_KEY}":{facts}}}"#)),
        };
        edits.replace(range, text);
    }

    /// The edits that put a key into the payload: in the text, and in `structuredContent` where that
    /// provably is the same payload. `None` when it is not.
    #[allow(clippy::type_complexity)]
    fn payload_key_edits(
        &self,
        key: &PayloadKey,
    ) -> Option<(
        (std::ops::Range<usize>, String),
        Option<(std::ops::Range<usize>, String)>,
    )> {
        let payload = self.payload().filter(|p| p.is_object())?;
        let (_, blocks) = self.content.as_ref()?;
        let is_text = |b: &&Object<'_>| b.get_str("type").as_deref() == Some("text");
        let literal = blocks.iter().find(is_text)?.get("text")?;
        let structured = match &self.structured {
            Structured::Absent => None,
            Structured::Other => return None,
            Structured::Object(object) => {
                let value: Value = serde_json::from_str(object.raw().text).ok()?;
                if value == *payload {
                    Some(object.set(key.key, &key.value))
                } else if value == json!({ "result": payload }) {
                    let inner = object.get("result")?.as_object()?;
                    Some(inner.set(key.key, &key.value))
                } else {
                    return None;
                }
            }
        };
        let text = literal.as_str()?;
        let object = Raw::whole(&text).as_object_trimmed()?;
        let (range, value) = object.set(key.key, &key.value);
        let edit = inside_literal(literal, &text, &range, &value);
        Some((edit, structured))
    }
}

/// The edit of a string literal that changes its unescaped `text` at `range`. Where the text around
/// the range is found again as it stands, only the range is touched; otherwise the literal is
/// written anew.
fn inside_literal(
    literal: Raw<'_>,
    text: &str,
    range: &std::ops::Range<usize>,
    value: &str,
) -> (std::ops::Range<usize>, String) {
    let escaped = quote(value);
    let escaped = &escaped[1..escaped.len() - 1];
    // An insertion stands before the payload's closing brace, which is the literal's last one.
    if range.is_empty()
        && let Some(at) = literal.text.rfind('}')
        && unescape(&format!("\"{}", &literal.text[at..])).as_deref() == text.get(range.start..)
    {
        let at = literal.at + at;
        return (at..at, escaped.to_owned());
    }
    let (head, tail) = (&text[..range.start], &text[range.end..]);
    (literal.range(), quote(&format!("{head}{value}{tail}")))
}

#[cfg(test)]
mod tests;
