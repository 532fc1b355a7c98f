//! What a line is: a request, a notification, an answer, or something to turn away.

use super::id::{Id, IdField};
use super::object::{Object, Raw};
use super::scan::{self, Clues, Entries, HeadStart, Inner, Top};
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
    #[inline]
    fn of(key: &[u8]) -> Option<Member> {
        Member::plain(key).or_else(|| Member::spelled(key))
    }

    #[inline]
    fn plain(key: &[u8]) -> Option<Member> {
        let is = |literal: &[u8]| key == literal;
        // By their lengths: to compare with what may be it takes a word.
        match key.len() {
            4 if is(b"\"id\"") => Some(Member::Id),
            7 if is(b"\"error\"") => Some(Member::Error),
            8 if is(b"\"method\"") => Some(Member::Method),
            8 if is(b"\"params\"") => Some(Member::Params),
            8 if is(b"\"result\"") => Some(Member::Result),
            9 if is(b"\"jsonrpc\"") => Some(Member::Version),
            _ => None,
        }
    }

    #[cold]
    fn spelled(key: &[u8]) -> Option<Member> {
        memchr::memchr(b'\\', key)?;
        let text = unescape(std::str::from_utf8(key).ok()?)?;
        Member::plain(["\"", &text, "\""].concat().as_bytes())
    }
}

/// A line that is one JSON object, with the parts of the envelope read.
#[derive(Clone, Debug)]
pub struct Message<'a> {
    /// What it is.
    pub kind: Kind,
    /// The method; empty for an answer.
    pub method: Cow<'a, str>,
    /// What its strings hold, as far as that was looked at.
    pub clues: Clues,
    object: Object<'a>,
    places: Places,
    inner: Inner,
}

/// The places of the known members among an object's entries; of equal keys the last counts.
#[derive(Clone, Debug)]
struct Places([u32; Member::COUNT]);

impl Places {
    const NONE: u32 = u32::MAX;

    fn of(object: &Object<'_>) -> Self {
        let mut places = [Places::NONE; Member::COUNT];
        for (key, place) in object.keys().zip(0..Places::NONE) {
            if let Some(member) = Member::of(key) {
                places[member as usize] = place;
            }
        }
        Places(places)
    }

    #[inline]
    fn get(&self, member: Member) -> Option<usize> {
        let place = self.0[member as usize];
        (place != Places::NONE).then_some(place as usize)
    }
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
#[expect(
    clippy::large_enum_variant,
    reason = "nearly all lines are messages, and to box one is an allocation a line"
)]
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
#[inline]
pub fn read_client(line: &[u8]) -> ClientLine<'_> {
    let line = trim(line);
    if line.is_empty() {
        return ClientLine::Blank;
    }
    client_message(line)
}

/// Sorts a line of the upstream's stdout (without its newline).
pub fn read_upstream(line: &[u8]) -> UpstreamLine<'_> {
    read_upstream_ahead(line, None)
}

/// As [`read_upstream`], with what was seen of the line while it came in.
#[inline]
pub fn read_upstream_ahead<'a>(line: &'a [u8], head: Option<&HeadStart>) -> UpstreamLine<'a> {
    let head = head.filter(|_| message_range(line).start == 0);
    let line = trim(line);
    if line.is_empty() {
        return UpstreamLine::Blank;
    }
    if let Ok(seen) = scan::look_ahead(line, head)
        && seen.top == Top::Object
        && let Some(object) = seen_object(line, seen.entries, seen.clues)
    {
        return UpstreamLine::Message(Message::new(object, seen.clues, Inner::default()));
    }
    match damaged_id(&String::from_utf8_lossy(line)) {
        Some(id) => UpstreamLine::Damaged(id),
        None => UpstreamLine::Text,
    }
}

fn seen_object(line: &[u8], entries: Entries, clues: Clues) -> Option<Object<'_>> {
    if !clues.non_ascii {
        return Some(Object::seen(line, entries));
    }
    let text = std::str::from_utf8(line).ok()?;
    Some(Object::scanned(text, entries))
}

impl<'a> Message<'a> {
    #[inline(always)]
    fn new(object: Object<'a>, clues: Clues, inner: Inner) -> Self {
        let places = Places::of(&object);
        let value = |member| object.bytes_at(places.get(member)?);
        let id = match value(Member::Id) {
            None => IdField::Absent,
            Some((id, _)) => Id::of(id).map_or(IdField::Unusable, IdField::Usable),
        };
        let method = places.get(Member::Method);
        let kind = match (id, method.is_some()) {
            (IdField::Usable(id), true) => Kind::Request(id),
            (IdField::Usable(id), false) => Kind::Answer(Some(id)),
            (_, true) => Kind::Notification,
            (_, false) => Kind::Answer(None),
        };
        let method = method.and_then(|place| object.value_at(place)?.as_str());
        Message {
            kind,
            method: method.unwrap_or_default(),
            clues,
            object,
            places,
            inner,
        }
    }

    /// The line, without a BOM and white space around it: UTF-8.
    pub fn bytes(&self) -> &'a [u8] {
        self.object.bytes()
    }

    /// The line's text.
    pub fn text(&self) -> &'a str {
        self.object.raw().text
    }

    /// The value of a member.
    pub fn get(&self, member: Member) -> Option<Raw<'a>> {
        self.object.value_at(self.places.get(member)?)
    }

    /// The same as bytes, for a value that nobody may want to read: text costs a look at all of it.
    #[inline]
    pub fn get_bytes(&self, member: Member) -> Option<(&'a [u8], usize)> {
        self.object.bytes_at(self.places.get(member)?)
    }

    #[inline]
    fn has(&self, member: Member) -> bool {
        self.places.get(member).is_some()
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

#[inline(always)]
fn client_message(line: &[u8]) -> ClientLine<'_> {
    let reject = |code, reason| {
        ClientLine::Rejected(Rejection {
            code,
            id: None,
            answered: true,
            reason,
        })
    };
    let Ok(text) = std::str::from_utf8(line) else {
        return reject(PARSE_ERROR, "the line is not valid UTF-8");
    };
    let Ok(scanned) = scan::scan(text) else {
        return reject(PARSE_ERROR, "the line is not one JSON value");
    };
    match scanned.top {
        Top::Object => {}
        Top::Array => {
            let reason = "batches are not taken: send one message a line";
            return reject(INVALID_REQUEST, reason);
        }
        Top::Scalar => return reject(INVALID_REQUEST, "a message is a JSON object"),
    }
    let limits = limit_fault(&scanned);
    let object = Object::scanned(text, scanned.entries);
    // Made where it stays: to move one is a copy of some 200 bytes.
    let line = ClientLine::Message(Message::new(object, Clues::UNKNOWN, scanned.inner));
    if let ClientLine::Message(message) = &line
        && let Some((code, reason)) = limits.or_else(|| envelope_fault(message))
    {
        return ClientLine::Rejected(turn_away(message, code, reason));
    }
    line
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
