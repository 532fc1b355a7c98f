//! A strict JSON scanner: one pass, no recursion, no tree.
//!
//! It accepts what RFC 8259 calls JSON and nothing else, and reports on the way what decides
//! whether upstream would read the same line: how deep it nests and whether a string holds a
//! surrogate escape without its other half. A line that breaks off still yields the top-level
//! entries that came before the break, so that a damaged answer can be matched to its request.

use std::ops::Range;

/// One `"key": value` of an object, as byte ranges of the scanned text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The key literal, quotes included.
    pub key: Range<usize>,
    /// The value, without white space around it.
    pub value: Range<usize>,
}

/// What a line turned out to be at its top level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Top {
    /// A JSON object.
    Object,
    /// A JSON array: a JSON-RPC batch.
    Array,
    /// A string, a number, `true`, `false` or `null`.
    Scalar,
}

/// The result of scanning one line.
#[derive(Clone, Debug)]
pub struct Scanned {
    /// The kind of the value.
    pub top: Top,
    /// The entries of the top-level object; empty for any other value.
    pub entries: Vec<Entry>,
    /// The deepest nesting of arrays and objects that hold something, the outermost one counted as 1.
    pub depth: usize,
    /// The digits of the longest integer (a number without fraction and exponent).
    pub integer_digits: usize,
    /// Whether a string or key holds a surrogate escape that is not half of a pair.
    pub lone_surrogate: bool,
}

/// A line that is not JSON, with the top-level entries that were complete before the fault.
#[derive(Clone, Debug)]
pub struct Broken {
    /// Where the fault stands, as a byte offset.
    pub at: usize,
    /// The complete top-level entries before it.
    pub entries: Vec<Entry>,
}

/// Scans `text` as one JSON value with nothing but white space around it.
///
/// # Errors
/// [`Broken`] when `text` is not exactly one JSON value.
pub fn scan(text: &str) -> Result<Scanned, Broken> {
    let mut scanner = Scanner::new(text.as_bytes());
    let mut entries = Vec::new();
    match scanner.document(&mut entries) {
        Some(top) => Ok(Scanned {
            top,
            entries,
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

/// The entries of an object whose text is known to be JSON; `None` when it is no object.
pub(super) fn entries(text: &str) -> Option<Vec<Entry>> {
    let mut scanner = Scanner::new(text.as_bytes());
    let mut entries = Vec::new();
    scanner.space();
    scanner.object(&mut entries)?;
    Some(entries)
}

/// The items of an array whose text is known to be JSON; `None` when it is no array.
pub(super) fn items(text: &str) -> Option<Vec<Range<usize>>> {
    let mut scanner = Scanner::new(text.as_bytes());
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
        scanner.value()?;
        items.push(start..scanner.at);
        scanner.space();
        match scanner.next()? {
            b',' => {}
            b']' => return Some(items),
            _ => return None,
        }
    }
}

struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
    /// The open containers, each by its closing byte.
    open: Vec<u8>,
    deepest: usize,
    integer_digits: usize,
    lone_surrogate: bool,
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
            Top::Object => self.object(entries)?,
            Top::Array | Top::Scalar => self.value()?,
        }
        self.space();
        (self.at == self.bytes.len()).then_some(top)
    }

    /// One object whose entries are wanted; the values inside are passed over.
    fn object(&mut self, entries: &mut Vec<Entry>) -> Option<()> {
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
            self.space();
            self.take(b':')?;
            self.space();
            let value = self.at;
            self.value()?;
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

    /// Whether a value that was just passed ends where it seems to: one with a fault behind it, or a
    /// number at the end of the text, may be the beginning of another.
    fn is_whole(&self, value: &Range<usize>) -> bool {
        match self.peek() {
            Some(b',' | b'}') => true,
            Some(_) => false,
            None => !matches!(self.bytes.get(value.end - 1), Some(b'0'..=b'9')),
        }
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

    fn string(&mut self) -> Option<()> {
        self.take(b'"')?;
        loop {
            let rest = self.bytes.get(self.at..)?;
            let stop = plain(rest);
            self.at += stop;
            match self.next()? {
                b'"' => return Some(()),
                b'\\' => self.escape()?,
                _ => {
                    self.at -= 1;
                    return None;
                }
            }
        }
    }

    fn escape(&mut self) -> Option<()> {
        match self.next()? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(()),
            b'u' => {
                let unit = self.hex4()?;
                match unit {
                    0xD800..=0xDBFF => {
                        let low = self.bytes.get(self.at..self.at + 6).and_then(low_surrogate);
                        if low.is_some() {
                            self.at += 6;
                        } else {
                            self.lone_surrogate = true;
                        }
                    }
                    0xDC00..=0xDFFF => self.lone_surrogate = true,
                    _ => {}
                }
                Some(())
            }
            _ => None,
        }
    }

    fn hex4(&mut self) -> Option<u16> {
        let unit = hex4(self.bytes.get(self.at..self.at + 4)?)?;
        self.at += 4;
        Some(unit)
    }

    fn number(&mut self) -> Option<()> {
        let _sign = self.take(b'-');
        let start = self.at;
        match self.next()? {
            b'0' => {}
            b'1'..=b'9' => self.digits(),
            _ => return None,
        }
        if !matches!(self.peek(), Some(b'.' | b'e' | b'E')) {
            self.integer_digits = self.integer_digits.max(self.at - start);
        }
        if self.take(b'.').is_some() {
            self.some_digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.some_digits()?;
        }
        Some(())
    }

    fn some_digits(&mut self) -> Option<()> {
        let start = self.at;
        self.digits();
        (self.at > start).then_some(())
    }

    fn digits(&mut self) {
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
    }

    fn word(&mut self, word: &[u8]) -> Option<()> {
        self.bytes.get(self.at..)?.starts_with(word).then_some(())?;
        self.at += word.len();
        Some(())
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

/// How many bytes at the start of `rest` stand for themselves inside a string.
fn plain(rest: &[u8]) -> usize {
    // Most strings of a message are short; a vectorized search pays only behind this many bytes.
    const SHORT: usize = 64;
    let mut at = 0;
    while at < SHORT
        && let Some(word) = rest[at..].first_chunk()
    {
        let special = special_bytes(u64::from_le_bytes(*word));
        if special != 0 {
            return at + (special.trailing_zeros() / 8) as usize;
        }
        at += size_of::<u64>();
    }
    let is_special = |&byte: &u8| byte == b'"' || byte == b'\\' || byte < 0x20;
    if at < SHORT {
        let tail = &rest[at..];
        return at + tail.iter().position(is_special).unwrap_or(tail.len());
    }
    let end = memchr::memchr2(b'"', b'\\', &rest[at..]).map_or(rest.len(), |found| at + found);
    let body = &rest[at..end];
    // A fold without an early exit is vectorized; the exact place is looked for only when needed.
    if body
        .iter()
        .fold(false, |found, &byte| found | (byte < 0x20))
    {
        return at + body.iter().position(is_special).unwrap_or(body.len());
    }
    end
}

/// The top bit of each byte of `word` that is a quote, a backslash or below 0x20. Bytes above the first
/// such one may be marked wrongly: the subtractions borrow.
fn special_bytes(word: u64) -> u64 {
    const ONES: u64 = u64::MAX / 0xFF;
    const TOPS: u64 = ONES << 7;
    let below = |word: u64, limit: u64| word.wrapping_sub(ONES * limit) & !word;
    let quote = below(word ^ (ONES * b'"' as u64), 1);
    let backslash = below(word ^ (ONES * b'\\' as u64), 1);
    (quote | backslash | below(word, 0x20)) & TOPS
}

fn hex4(digits: &[u8]) -> Option<u16> {
    digits.iter().try_fold(0u16, |unit, &digit| {
        let value = char::from(digit).to_digit(16)?;
        Some(unit << 4 | u16::try_from(value).ok()?)
    })
}

fn low_surrogate(escape: &[u8]) -> Option<()> {
    let unit = hex4(escape.strip_prefix(b"\\u")?)?;
    (0xDC00..=0xDFFF).contains(&unit).then_some(())
}
