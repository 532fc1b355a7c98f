//! What a line is: a request, a notification, an answer, or something to turn away.

use super::id::{Id, IdField};
use super::object::{Object, Raw};
use super::scan::{self, Clues, HeadStart, Inner, Top};
use super::unescape;
use bytes::Bytes;
use damaged::damaged_id;
use faults::{envelope_fault, limit_fault, turn_away};
use std::borrow::Cow;
use std::ops::Range;

mod damaged;
mod faults;

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

/// The members of a message that JSON-RPC knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Member {
    /// `jsonrpc`
    Version,
    /// `id`
    Id,
    /// `method`
    Method,
    /// `params`
    Params,
    /// `result`
    Result,
    /// `error`
    Error,
}

impl Member {
    const COUNT: usize = Member::Error as usize + 1;

    /// The member under this key, a literal in any spelling.
    fn of(key: &[u8]) -> Option<Member> {
        Member::plain(key).or_else(|| {
            memchr::memchr(b'\\', key)?;
            let text = unescape(std::str::from_utf8(key).ok()?)?;
            Member::plain(["\"", &text, "\""].concat().as_bytes())
        })
    }

    fn plain(key: &[u8]) -> Option<Member> {
        Some(match key {
            b"\"jsonrpc\"" => Member::Version,
            b"\"id\"" => Member::Id,
            b"\"method\"" => Member::Method,
            b"\"params\"" => Member::Params,
            b"\"result\"" => Member::Result,
            b"\"error\"" => Member::Error,
            _ => return None,
        })
    }
}

/// A line that is one JSON object, with the parts of the envelope read.
#[derive(Clone, Debug)]
pub struct Message<'a> {
    /// The line, without a BOM and white space around it: UTF-8.
    pub bytes: &'a [u8],
    /// What it is.
    pub kind: Kind,
    /// The method; empty for an answer.
    pub method: Cow<'a, str>,
    /// What its strings hold, as far as that was looked at.
    pub clues: Clues,
    object: Object<'a>,
    /// The places of the known members among the entries; of equal keys the last counts.
    places: [Option<u32>; Member::COUNT],
    inner: Inner,
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
            object.map(|object| Message::new(line, object, seen.clues, Inner::default()))
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
    fn new(bytes: &'a [u8], object: Object<'a>, clues: Clues, inner: Inner) -> Self {
        let mut places = [None; Member::COUNT];
        for (place, key) in object.keys().enumerate() {
            if let Some(member) = Member::of(key) {
                places[member as usize] = u32::try_from(place).ok();
            }
        }
        let value = |member| value_at(&object, &places, member);
        let id = match value(Member::Id) {
            None => IdField::Absent,
            Some(raw) => Id::read(raw).map_or(IdField::Unusable, IdField::Usable),
        };
        let method = value(Member::Method);
        let kind = match (id, method.is_some()) {
            (IdField::Usable(id), true) => Kind::Request(id),
            (IdField::Usable(id), false) => Kind::Answer(Some(id)),
            (_, true) => Kind::Notification,
            (_, false) => Kind::Answer(None),
        };
        let method = method.and_then(|raw| raw.as_str()).unwrap_or_default();
        Message {
            bytes,
            kind,
            method,
            clues,
            object,
            places,
            inner,
        }
    }

    /// The line's text.
    pub fn text(&self) -> &'a str {
        self.object.raw().text
    }

    /// The value of a member.
    pub fn get(&self, member: Member) -> Option<Raw<'a>> {
        value_at(&self.object, &self.places, member)
    }

    /// The same as bytes, for a value that nobody may want to read: text costs a look at all of it.
    pub fn get_bytes(&self, member: Member) -> Option<(&'a [u8], usize)> {
        self.object.bytes_at(self.places[member as usize]? as usize)
    }

    fn has(&self, member: Member) -> bool {
        self.places[member as usize].is_some()
    }

    /// The value of `params`.
    pub fn params(&self) -> Option<Raw<'a>> {
        self.get(Member::Params)
    }

    /// A value of this message as an object; `None` for any other value. The entries of `params` and of its
    /// `arguments` were found with those of a client's message: the first to ask gets them for nothing.
    pub fn object(&mut self, value: Raw<'a>) -> Option<Object<'a>> {
        match self.inner.take(value.at) {
            Some(entries) => Some(value.with_entries(entries)),
            None => value.as_object(),
        }
    }
}

fn value_at<'a>(
    object: &Object<'a>,
    places: &[Option<u32>; Member::COUNT],
    member: Member,
) -> Option<Raw<'a>> {
    object.value_at(places[member as usize]? as usize)
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
    let message = Message::new(line, object, Clues::UNKNOWN, scanned.inner);
    match limits.or_else(|| envelope_fault(&message)) {
        None => Ok(message),
        Some((code, reason)) => Err(turn_away(&message, code, reason)),
    }
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
mod tests;
