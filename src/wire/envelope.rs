//! What a line is: a request, a notification, an answer, or something to turn away.

use super::id::{Id, IdField};
use super::object::{Object, Raw};
use super::scan::{self, Clues, HeadStart, Scanned, Top};
use bytes::Bytes;
use std::borrow::Cow;
use std::ops::Range;

/// JSON-RPC: the line is not JSON.
pub const PARSE_ERROR: i32 = -32700;
/// JSON-RPC: JSON, but no request.
pub const INVALID_REQUEST: i32 = -32600;
/// JSON-RPC: the parameters do not fit the method.
pub const INVALID_PARAMS: i32 = -32602;
/// JSON-RPC: the receiver failed.
pub const INTERNAL_ERROR: i32 = -32603;

/// Upstream's parser gives up, without an answer, on a message with containers that hold something
/// below this level (measured against 10.1.0; the envelope counts as 1, empty containers do not).
pub const MAX_DEPTH: usize = 200;

/// Upstream's parser gives up, without an answer, on an integer of more digits (measured against
/// 10.1.0: Python's own limit).
pub const MAX_INTEGER_DIGITS: usize = 4300;

/// The three kinds of JSON-RPC message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Has a method and an id: wants exactly one answer.
    Request(Id),
    /// Has a method and no id: wants none.
    Notification,
    /// Has no method: answers a request of the other side. The id is absent when it cannot be read.
    Answer(Option<Id>),
}

/// A line that is one JSON object, with the parts of the envelope read.
#[derive(Clone, Debug)]
pub struct Message<'a> {
    /// The line, without a BOM and white space around it: UTF-8.
    pub bytes: &'a [u8],
    /// The top-level entries.
    pub object: Object<'a>,
    /// What it is.
    pub kind: Kind,
    /// The method; empty for an answer.
    pub method: Cow<'a, str>,
    /// What its strings hold, as far as that was looked at.
    pub clues: Clues,
}

/// A client line that is not forwarded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// The JSON-RPC error code.
    pub code: i32,
    /// The id to answer, `None` for `null`.
    pub id: Option<Id>,
    /// Whether an answer is due at all: a notification or an answer gets none, only a log line.
    pub answered: bool,
    /// What is wrong with it.
    pub reason: &'static str,
}

/// A client's line, sorted.
#[derive(Clone, Debug)]
pub enum ClientLine<'a> {
    /// Nothing but white space.
    Blank,
    /// A message that upstream would read as one.
    Message(Message<'a>),
    /// Anything else.
    Rejected(Rejection),
}

/// An upstream's line, sorted.
#[derive(Clone, Debug)]
pub enum UpstreamLine<'a> {
    /// Nothing but white space.
    Blank,
    /// A JSON object.
    Message(Message<'a>),
    /// An object that cannot be read to its end, but shows whose answer it was to be.
    Damaged(Id),
    /// Not a message: a banner, a stack trace.
    Text,
}

/// Sorts a client's line (without its newline).
pub fn read_client(line: &[u8]) -> ClientLine<'_> {
    let line = trim(line);
    if line.is_empty() {
        return ClientLine::Blank;
    }
    match client_message(line) {
        Ok(message) => ClientLine::Message(message),
        Err(rejection) => ClientLine::Rejected(rejection),
    }
}

/// Sorts a line of the upstream's stdout (without its newline).
pub fn read_upstream(line: &[u8]) -> UpstreamLine<'_> {
    read_upstream_ahead(line, None)
}

/// As [`read_upstream`], with what was seen of the line while it came in.
pub fn read_upstream_ahead<'a>(line: &'a [u8], head: Option<&HeadStart>) -> UpstreamLine<'a> {
    let head = head.filter(|_| message_range(line).start == 0);
    let line = trim(line);
    if line.is_empty() {
        return UpstreamLine::Blank;
    }
    let message = match scan::look_ahead(line, head) {
        Ok(seen) if seen.top == Top::Object => {
            let object = if seen.clues.non_ascii {
                let text = std::str::from_utf8(line).ok();
                text.map(|text| Object::scanned(text, seen.entries))
            } else {
                Some(Object::seen(line, seen.entries))
            };
            object.map(|object| Message::new(line, object, seen.clues))
        }
        _ => None,
    };
    match message {
        Some(message) => UpstreamLine::Message(message),
        None => match damaged_id(&String::from_utf8_lossy(line)) {
            Some(id) => UpstreamLine::Damaged(id),
            None => UpstreamLine::Text,
        },
    }
}

impl<'a> Message<'a> {
    fn new(bytes: &'a [u8], object: Object<'a>, clues: Clues) -> Self {
        let id = match object.get("id") {
            None => IdField::Absent,
            Some(raw) => Id::read(raw).map_or(IdField::Unusable, IdField::Usable),
        };
        let method = object.get("method");
        let kind = match (id, method.is_some()) {
            (IdField::Usable(id), true) => Kind::Request(id),
            (IdField::Usable(id), false) => Kind::Answer(Some(id)),
            (_, true) => Kind::Notification,
            (_, false) => Kind::Answer(None),
        };
        let method = method.and_then(|raw| raw.as_str()).unwrap_or_default();
        Message {
            bytes,
            object,
            kind,
            method,
            clues,
        }
    }

    /// The line's text.
    pub fn text(&self) -> &'a str {
        std::str::from_utf8(self.bytes).unwrap_or_default()
    }

    /// The value of `params`.
    pub fn params(&self) -> Option<Raw<'a>> {
        self.object.get("params")
    }
}

fn client_message(line: &[u8]) -> Result<Message<'_>, Rejection> {
    let reject = |code, reason| Rejection {
        code,
        id: None,
        answered: true,
        reason,
    };
    let text = std::str::from_utf8(line)
        .map_err(|_| reject(PARSE_ERROR, "the line is not valid UTF-8"))?;
    let scanned =
        scan::scan(text).map_err(|_| reject(PARSE_ERROR, "the line is not one JSON value"))?;
    match scanned.top {
        Top::Object => {}
        Top::Array => {
            return Err(reject(
                INVALID_REQUEST,
                "batches are not taken: send one message a line",
            ));
        }
        Top::Scalar => return Err(reject(INVALID_REQUEST, "a message is a JSON object")),
    }
    let limits = limit_fault(&scanned);
    let object = Object::scanned(text, scanned.entries);
    let message = Message::new(line, object, Clues::UNKNOWN);
    match limits.or_else(|| envelope_fault(&message)) {
        None => Ok(message),
        Some((code, reason)) => Err(turn_away(&message, code, reason)),
    }
}

/// Why upstream's parser would give up on the text, if it would.
fn limit_fault(scanned: &Scanned) -> Option<(i32, &'static str)> {
    if scanned.depth > MAX_DEPTH {
        Some((INVALID_REQUEST, "the message nests deeper than 200"))
    } else if scanned.integer_digits > MAX_INTEGER_DIGITS {
        Some((INVALID_REQUEST, "an integer has more than 4300 digits"))
    } else if scanned.lone_surrogate {
        Some((INVALID_REQUEST, "a string holds a lone surrogate escape"))
    } else {
        None
    }
}

/// Why upstream would drop the message without an answer, if it would.
fn envelope_fault(message: &Message<'_>) -> Option<(i32, &'static str)> {
    let object = &message.object;
    let has = |key| object.has(key);
    let params = message.params();
    if object.get_str("jsonrpc").as_deref() != Some("2.0") {
        Some((INVALID_REQUEST, "`jsonrpc` must be \"2.0\""))
    } else if object.get("method").is_some_and(|m| m.as_str().is_none()) {
        Some((INVALID_REQUEST, "`method` must be a string"))
    } else if object.get("id").is_some_and(|id| Id::read(id).is_none()) {
        Some((INVALID_REQUEST, "`id` must be a string or an integer"))
    } else if has("method") && has("error") {
        Some((
            INVALID_REQUEST,
            "a message has a method or an error, not both",
        ))
    } else if has("method") && params.is_some_and(|p| !p.text.starts_with('{') && !p.is_null()) {
        let code = match &*message.method {
            "tools/call" => INVALID_PARAMS,
            // Upstream drops it without an answer.
            _ => INVALID_REQUEST,
        };
        Some((code, "`params` must be an object"))
    } else if !has("method") && !(has("id") && (has("result") || has("error"))) {
        Some((
            INVALID_REQUEST,
            "the message is neither a request nor an answer",
        ))
    } else {
        None
    }
}

fn turn_away(message: &Message<'_>, code: i32, reason: &'static str) -> Rejection {
    let object = &message.object;
    let (id, answered) = match &message.kind {
        Kind::Request(id) => (Some(id.clone()), true),
        // A notification wants no answer. One with an unusable id was meant as a request.
        Kind::Notification => (None, object.get("id").is_some()),
        // An answer to the upstream must not be answered; an object that is none of the three is.
        Kind::Answer(id) => {
            let answers = object.get("result").is_some() || object.get("error").is_some();
            (id.clone(), !answers)
        }
    };
    Rejection {
        code,
        id,
        answered,
        reason,
    }
}

/// The request id that a damaged answer shows, if it shows one and no method.
fn damaged_id(text: &str) -> Option<Id> {
    let is_damage = |c: char| c.is_control() || matches!(c, ' ' | '\u{feff}' | '\u{fffd}');
    let text = text.trim_start_matches(is_damage);
    let entries = match scan::look(text.as_bytes()) {
        Ok(seen) => seen.entries,
        Err(broken) => broken.entries,
    };
    let object = Object::scanned(text, entries);
    if !text.starts_with('{') || object.get("method").is_some() {
        return None;
    }
    match object.get("id") {
        Some(raw) => Id::read(raw),
        None => trailing_id(text),
    }
}

/// The id of `…,"id":7}`: it may stand behind the part that is damaged. Only an id that entries of the
/// message itself follow, up to its end, is the message's: a result may hold ids of its own.
fn trailing_id(text: &str) -> Option<Id> {
    let at = text.rfind("\"id\"")?;
    let tail = format!("{{{}", text.get(at..)?);
    let scanned = scan::scan(&tail).ok()?;
    Id::read(Object::scanned(&tail, scanned.entries).get("id")?)
}

/// A message that was made from the one in `line`, with the white space that stands around that one.
pub fn in_place_of(line: &[u8], message: Bytes) -> Bytes {
    let old = message_range(line);
    let head = &line[after_bom(line)..old.start];
    let tail = &line[old.end..];
    if head.is_empty() && tail.is_empty() {
        return message;
    }
    [head, &message, tail].concat().into()
}

/// Without a byte order mark and JSON white space around it.
fn trim(line: &[u8]) -> &[u8] {
    &line[message_range(line)]
}

fn message_range(line: &[u8]) -> Range<usize> {
    let is_space = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
    let from = after_bom(line);
    let start = line[from..].iter().position(|b| !is_space(b));
    let start = start.map_or(line.len(), |at| from + at);
    let end = line[start..].iter().rposition(|b| !is_space(b));
    start..end.map_or(start, |at| start + at + 1)
}

fn after_bom(line: &[u8]) -> usize {
    if line.starts_with(b"\xEF\xBB\xBF") {
        3
    } else {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn damaged(line: &[u8]) -> Option<String> {
        match read_upstream(line) {
            UpstreamLine::Damaged(id) => Some(id.to_json()),
            _ => None,
        }
    }

    #[test]
    fn a_damaged_answer_shows_its_id_before_or_behind_the_damage() {
        let lines: [&[u8]; 9] = [
            b"{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"x\":\"\xff\"}}",
            b"{\"jsonrpc\":\"2.0\",\"result\":{\"x\":\"\xff\"},\"id\":7}",
            br#"{"result":{"x":NaN},"id" : 7 , "jsonrpc":"2.0"}"#,
            br#"{"id":7,"result":{"x":NaN,"id":8}}"#,
            br#"{"id":7,"result":{"content":["#,
            br#"{"id":7,"#,
            b"\xff{\"id\":7,\"result\":{}}",
            b"\x00\x1b {\"result\":{},\"id\":7}",
            b" \xEF\xBB\xBF{\"id\":7,\"result\":{}}",
        ];
        for line in lines {
            let text = String::from_utf8_lossy(line);
            assert_eq!(damaged(line).as_deref(), Some("7"), "{text}");
        }
    }

    #[test]
    fn an_id_that_is_damaged_itself_is_none() {
        assert_eq!(damaged(br#"{"id":"a""#).as_deref(), Some("\"a\""));
        let lines: [&[u8]; 4] = [
            br#"{"id":7"#,
            br#"{"id":7 "#,
            b"{\"id\":7\xff1,\"result\":{}}",
            b"{\"result\":{},\"id\":7\xff1}",
        ];
        for line in lines {
            assert_eq!(damaged(line), None, "{}", String::from_utf8_lossy(line));
        }
    }

    #[test]
    fn an_id_inside_a_damaged_answer_is_not_its_own() {
        let lines = [
            r#"{"jsonrpc":"2.0","result":{"x":NaN,"id":7}}"#,
            r#"{"jsonrpc":"2.0","result":{"x":NaN,"items":[{"id":7}]}}"#,
            r#"{"jsonrpc":"2.0","result":{"x":NaN,"items":[{"id":7"#,
            r#"{"jsonrpc":"2.0","result":{"x":"\"id\":7}"#,
            r#"{"id":7,"method":"roots/list","params":{"x":NaN}}"#,
            r#"[{"id":7}"#,
        ];
        for line in lines {
            assert_eq!(damaged(line.as_bytes()), None, "{line}");
        }
    }
}
