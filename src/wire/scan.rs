//! A strict JSON scanner: one pass, no recursion, no tree.
//!
//! It accepts what RFC 8259 calls JSON and nothing else, and reports on the way what decides
//! whether upstream would read the same line: how deep it nests and whether a string holds a
//! surrogate escape without its other half. Where none of that matters, [`look`] does the same in blocks of
//! bytes and several times as fast. A line that breaks off still yields the top-level
//! entries that came before the break, so that a damaged answer can be matched to its request.

mod block;
mod clues;
mod found;
mod head;
mod scalar;
mod short;
mod skip;

pub use clues::Clues;
pub use found::{Broken, Entries, Entry, Inner, Scanned, Seen, Top};
pub use head::HeadStart;
pub(super) use scalar::plain;
use std::ops::Range;

/// Scans `text` as one JSON value with nothing but white space around it.
///
/// # Errors
/// [`Broken`] when `text` is not exactly one JSON value.
pub fn scan(text: &str) -> Result<Scanned, Broken> {
    match short::call(text.as_bytes()) {
        Some(scanned) => Ok(scanned),
        None => scan_bytewise(text),
    }
}

#[inline(never)]
fn scan_bytewise(text: &str) -> Result<Scanned, Broken> {
    let mut scanner = Scanner::new(text.as_bytes());
    let mut entries = Entries::with_room();
    match scanner.document(&mut entries) {
        Some(top) => Ok(Scanned {
            top,
            entries,
            inner: scanner.inner,
            depth: scanner.deepest,
            integer_digits: scanner.integer_digits,
            lone_surrogate: scanner.lone_surrogate,
        }),
        None => Err(Broken {
            at: scanner.at,
            entries,
        }),
    }
}

/// As [`scan`], and no less strict, for a line whose depth, digits and surrogates do not matter. Bytes beyond ASCII
/// are told of and taken as they are, inside of strings: whether they are UTF-8 is not looked at.
///
/// # Errors
/// [`Broken`] when `line` is not exactly one JSON value.
pub fn look(line: &[u8]) -> Result<Seen, Broken> {
    look_ahead(line, None)
}

/// As [`look`], with what was seen of this very line while it came in. That changes nothing but the time it takes.
///
/// # Errors
/// [`Broken`] when `line` is not exactly one JSON value.
pub fn look_ahead(line: &[u8], head: Option<&HeadStart>) -> Result<Seen, Broken> {
    match short::answer(line) {
        Some(seen) => Ok(seen),
        None => look_long(line, head),
    }
}

#[inline(never)]
fn look_long(line: &[u8], head: Option<&HeadStart>) -> Result<Seen, Broken> {
    let mut scanner = Scanner {
        ahead: head.and_then(HeadStart::ahead),
        ..Scanner::quick(line)
    };
    let mut entries = Entries::with_room();
    match scanner.document(&mut entries) {
        Some(top) => Ok(Seen {
            top,
            entries,
            clues: scanner.clues,
        }),
        None => Err(Broken {
            at: scanner.at,
            entries,
        }),
    }
}

/// The entries of an object whose text is known to be JSON; `None` when it is no object.
pub(super) fn entries(text: &str) -> Option<Entries> {
    let mut scanner = Scanner::quick(text.as_bytes());
    let mut entries = Entries::with_room();
    scanner.space();
    scanner.object(&mut entries, Level::Other)?;
    Some(entries)
}

/// The items of an array whose text is known to be JSON; `None` when it is no array.
pub(super) fn items(text: &str) -> Option<Vec<Range<usize>>> {
    let mut scanner = Scanner::quick(text.as_bytes());
    let mut items = Vec::new();
    scanner.space();
    scanner.take(b'[')?;
    scanner.space();
    if scanner.take(b']').is_some() {
        return Some(items);
    }
    loop {
        scanner.space();
        let start = scanner.at;
        scanner.pass()?;
        items.push(start..scanner.at);
        scanner.space();
        match scanner.next()? {
            b',' => {}
            b']' => return Some(items),
            _ => return None,
        }
    }
}

const PARAMS: &[u8] = b"\"params\"";
const ARGUMENTS: &[u8] = b"\"arguments\"";

/// Which object it is whose entries are taken.
#[derive(Clone, Copy)]
enum Level {
    /// A client's message.
    Message,
    /// Its `params`.
    Params,
    /// Any other.
    Other,
}

/// Within so many bytes of the end blocks gain nothing.
const SHORT: usize = 256;

struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
    /// The open containers, each by its closing byte.
    open: Vec<u8>,
    deepest: usize,
    integer_digits: usize,
    lone_surrogate: bool,
    inner: Inner,
    /// Whether arrays and objects whose insides are not wanted may be passed in blocks.
    quick: bool,
    clues: Clues,
    /// How far one of those was passed already.
    ahead: Option<&'a skip::Skip>,
}

impl<'a> Scanner<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Scanner {
            bytes,
            at: 0,
            open: Vec::new(),
            deepest: 0,
            integer_digits: 0,
            lone_surrogate: false,
            inner: Inner::default(),
            quick: false,
            clues: Clues::default(),
            ahead: None,
        }
    }

    fn quick(bytes: &'a [u8]) -> Self {
        Scanner {
            quick: true,
            ..Scanner::new(bytes)
        }
    }

    fn document(&mut self, entries: &mut Vec<Entry>) -> Option<Top> {
        self.space();
        let top = match self.peek()? {
            b'{' => Top::Object,
            b'[' => Top::Array,
            _ => Top::Scalar,
        };
        match top {
            Top::Object if self.quick => self.object(entries, Level::Other)?,
            Top::Object => self.object(entries, Level::Message)?,
            Top::Array | Top::Scalar => self.pass()?,
        }
        self.space();
        (self.at == self.bytes.len()).then_some(top)
    }

    /// One object whose entries are wanted; the values inside are passed over.
    fn object(&mut self, entries: &mut Vec<Entry>, level: Level) -> Option<()> {
        self.take(b'{')?;
        self.open.push(b'}');
        self.space();
        if self.take(b'}').is_some() {
            self.open.pop();
            return Some(());
        }
        self.deepest = self.deepest.max(self.open.len());
        loop {
            self.space();
            let key = self.at;
            self.string()?;
            let key = key..self.at;
            self.clues.non_ascii |= self.quick && !self.bytes[key.clone()].is_ascii();
            self.space();
            self.take(b':')?;
            self.space();
            let value = self.at;
            self.member(&key, level)?;
            let value = value..self.at;
            self.space();
            if self.is_whole(&value) {
                entries.push(Entry { key, value });
            }
            match self.next()? {
                b',' => {}
                b'}' => {
                    self.open.pop();
                    return Some(());
                }
                _ => return None,
            }
        }
    }

    /// The value of `key` in an object of this level.
    fn member(&mut self, key: &Range<usize>, level: Level) -> Option<()> {
        let key = match level {
            Level::Other => return self.pass(),
            Level::Message | Level::Params => &self.bytes[key.clone()],
        };
        let at = self.at;
        match level {
            Level::Message if key == PARAMS && self.peek() == Some(b'{') => {
                let mut entries = Entries::with_room();
                self.object(&mut entries, Level::Params)?;
                self.inner.put(0, (at, entries));
            }
            Level::Params if key == ARGUMENTS && self.peek() == Some(b'{') => {
                let mut entries = Entries::with_room();
                self.object(&mut entries, Level::Other)?;
                self.inner.put(1, (at, entries));
            }
            _ => return self.pass(),
        }
        Some(())
    }

    /// Whether a value that was just passed ends where it seems to: one with a fault behind it, or a
    /// number at the end of the text, may be the beginning of another.
    fn is_whole(&self, value: &Range<usize>) -> bool {
        match self.peek() {
            Some(b',' | b'}') => true,
            Some(_) => false,
            None => !matches!(self.bytes.get(value.end - 1), Some(b'0'..=b'9')),
        }
    }

    /// Passes over one value, in blocks where that can be done.
    fn pass(&mut self) -> Option<()> {
        if !self.quick {
            return self.value();
        }
        if matches!(self.peek(), Some(b'{' | b'[')) {
            let is_long = self.bytes.len() - self.at >= SHORT;
            let skip = || skip::container(self.bytes, self.at, self.ahead);
            if is_long && let Some(skipped) = skip() {
                self.at = skipped.end;
                self.clues.add(skipped.clues);
                return Some(());
            }
            self.clues = Clues::UNKNOWN;
        }
        let start = self.at;
        self.value()?;
        self.clues.non_ascii |= !self.bytes[start..self.at].is_ascii();
        Some(())
    }

    /// Passes over one value of any kind without recursion.
    fn value(&mut self) -> Option<()> {
        let base = self.open.len();
        loop {
            self.space();
            match self.peek()? {
                open @ (b'{' | b'[') => {
                    self.at += 1;
                    let close = open + 2;
                    self.open.push(close);
                    self.space();
                    if self.take(close).is_some() {
                        self.open.pop();
                    } else {
                        self.deepest = self.deepest.max(self.open.len());
                        if open == b'{' {
                            self.key()?;
                        }
                        continue;
                    }
                }
                b'"' => self.string()?,
                b'-' | b'0'..=b'9' => self.number()?,
                b't' => self.word(b"true")?,
                b'f' => self.word(b"false")?,
                b'n' => self.word(b"null")?,
                _ => return None,
            }
            if self.close(base)? {
                return Some(());
            }
        }
    }

    /// Behind a value: leaves the containers that end here. `true` when the value that began at
    /// `base` open containers is complete, `false` when its next element follows.
    fn close(&mut self, base: usize) -> Option<bool> {
        loop {
            if self.open.len() == base {
                return Some(true);
            }
            self.space();
            let close = *self.open.last()?;
            match self.next()? {
                b',' => {
                    if close == b'}' {
                        self.space();
                        self.key()?;
                    }
                    return Some(false);
                }
                byte if byte == close => {
                    self.open.pop();
                }
                _ => return None,
            }
        }
    }

    fn key(&mut self) -> Option<()> {
        self.string()?;
        self.space();
        self.take(b':')
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    fn take(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }
}
