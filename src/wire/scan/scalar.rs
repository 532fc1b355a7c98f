//! The scanner's strings, numbers and words.

use super::Scanner;

impl Scanner<'_> {
    pub(super) fn string(&mut self) -> Option<()> {
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

    pub(super) fn number(&mut self) -> Option<()> {
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

    pub(super) fn word(&mut self, word: &[u8]) -> Option<()> {
        self.bytes.get(self.at..)?.starts_with(word).then_some(())?;
        self.at += word.len();
        Some(())
    }
}

/// How many bytes at the start of `rest` stand for themselves inside a string: no quote, backslash or control.
pub(in crate::wire) fn plain(rest: &[u8]) -> usize {
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

/// Checks the number or word at `at`, behind which a container ends: the digits of an integer, 0 for anything else.
pub(super) fn scalar(line: &[u8], at: usize) -> Option<usize> {
    let mut scanner = Scanner::new(line);
    scanner.at = at;
    match scanner.peek()? {
        b't' => scanner.word(b"true")?,
        b'f' => scanner.word(b"false")?,
        b'n' => scanner.word(b"null")?,
        _ => scanner.number()?,
    }
    (!is_scalar(scanner.peek()?)).then_some(scanner.integer_digits)
}

/// The length of the word that `rest` begins with, 0 when it begins with none.
pub(super) fn word(rest: &[u8]) -> u32 {
    const FOUR: u64 = 0xFFFF_FFFF;
    const FIVE: u64 = 0xFF_FFFF_FFFF;
    // The shortest thing that can follow a word in a container is a bracket: shorter rests are left to others.
    let Some(first) = rest.first_chunk() else {
        return 0;
    };
    let text = u64::from_le_bytes(*first);
    let is = |word: &[u8; 8], bits: u64| text & bits == u64::from_le_bytes(*word);
    let four = is(b"true\0\0\0\0", FOUR) | is(b"null\0\0\0\0", FOUR);
    let length = 4 * u32::from(four) + 5 * u32::from(is(b"false\0\0\0", FIVE));
    let behind = first.get(length as usize);
    let ends = behind.is_some_and(|&byte| !is_scalar(byte));
    if ends { length } else { 0 }
}

/// Whether a byte outside of strings is part of a number or word, or has no place there.
pub(super) fn is_scalar(byte: u8) -> bool {
    !matches!(
        byte,
        b' ' | b'\t' | b'\r' | b'\n' | b',' | b':' | b'"' | b'{' | b'}' | b'[' | b']'
    )
}
