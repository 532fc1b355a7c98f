//! A short line in two steps: where its tokens stand, in blocks of 64 bytes; then from token to token.
//!
//! Most lines are calls of a few hundred bytes and their answers, and what the bytewise scanner takes for one of them is
//! spent on bytes of which nothing depends: the insides of strings. Here only tokens are looked at: brackets, commas,
//! colons, quotes, and the first bytes of numbers and words. JSON's grammar is checked in full. Whatever is faulty or
//! rare (`\u` and `\/` escapes, deep nesting, no object at the top) is left to the bytewise scanner, which also
//! knows where a fault stands.

use super::block::{BLOCK, Block};
use super::{Clues, Entry, Inner, Scanner, USUAL};
use fearless_simd::{Level, Simd, dispatch};
use std::ops::Range;

/// The longest line that is looked at here, in bytes.
pub(super) const LONGEST: usize = 4096;

/// Where a line's tokens stand, with room for the bytes that are left behind whole blocks.
type Marks = [u64; LONGEST / BLOCK + 1];

/// A short line that is one JSON object.
#[derive(Debug)]
pub(super) struct Short {
    pub(super) entries: Vec<Entry>,
    pub(super) inner: Inner,
    pub(super) depth: usize,
    pub(super) integer_digits: usize,
    pub(super) clues: Clues,
}

/// Looks at a line; the entries of the objects that `path` leads to are found as well (key literals; two at the
/// most). `None` when that cannot be done here, for whatever reason.
pub(super) fn object(line: &[u8], path: &[&[u8]]) -> Option<Short> {
    object_by(Level::new(), line, path)
}

fn object_by(level: Level, line: &[u8], path: &[&[u8]]) -> Option<Short> {
    if line.len() > LONGEST || line.first() != Some(&b'{') {
        return None;
    }
    let mut marks: Marks = [0; _];
    let clues = dispatch!(level, simd => mark(simd, line, &mut marks))?;
    let mut trail = Trail {
        line,
        path,
        following: 0,
        followed: Default::default(),
        inner: Inner::default(),
    };
    let seen = walk(Tokens::new(line, &marks[..=line.len() / BLOCK]), &mut trail)?;
    let [message, ..] = trail.followed;
    Some(Short {
        entries: message.entries,
        inner: trail.inner,
        depth: seen.deepest,
        integer_digits: seen.integer_digits,
        clues,
    })
}

/// Marks the tokens of a line. `None` when a string is left open or holds what is not looked at here.
#[inline(always)]
fn mark<S: Simd>(simd: S, line: &[u8], marks: &mut Marks) -> Option<Clues> {
    let mut clues = Clues::default();
    let (mut escaped_before, mut in_string_before, mut scalar_before) = (0, 0, 0);
    let mut all = Block::new(simd, &[0; BLOCK]);
    let (blocks, rest) = line.as_chunks::<BLOCK>();
    let mut last = [b' '; BLOCK];
    last.get_mut(..rest.len())?.copy_from_slice(rest);
    for (index, (bytes, marks)) in blocks.iter().chain([&last]).zip(marks).enumerate() {
        let block = Block::new(simd, bytes);
        all = all | block;
        let pairs = block.pairs();
        if pairs != 0 {
            clues.words.note(line, index * BLOCK, pairs);
        }
        let backslash = block.eq(b'\\');
        let quotes = block.eq(b'"');
        let low = block.upto(b' ');
        let escaped = super::block::escaped(backslash, &mut escaped_before);
        let quote = quotes & !escaped;
        let in_string = super::block::prefix_xor(quote) ^ in_string_before;
        in_string_before = (in_string >> 63).wrapping_neg();
        if low & in_string != 0 {
            clues.spaces = true;
            if block.upto(0x1F) & in_string != 0 {
                return None;
            }
        }
        if escaped != 0 {
            clues.odd_escapes |= escaped & backslash != 0;
            let plain = quotes | backslash | block.short_escapes();
            if escaped & in_string & !plain != 0 {
                return None;
            }
        }
        let outside = !(in_string | quote);
        let space = block.space() & outside;
        let op = outside
            & (block.eq_either(b'{') | block.eq_either(b'}') | block.eq(b',') | block.eq(b':'));
        let scalar = outside & !(space | op);
        *marks = op | quote | scalar & !(scalar << 1 | scalar_before);
        scalar_before = scalar >> 63;
    }
    clues.non_ascii = all.upto(0x7F) != u64::MAX;
    (in_string_before == 0).then_some(clues)
}

/// The tokens of a line, one after the other.
struct Tokens<'a> {
    line: &'a [u8],
    /// The blocks that follow, where the current one stands, and its tokens that are left.
    blocks: std::slice::Iter<'a, u64>,
    base: usize,
    left: u64,
}

impl<'a> Tokens<'a> {
    fn new(line: &'a [u8], marks: &'a [u64]) -> Self {
        let mut blocks = marks.iter();
        let left = blocks.next().copied().unwrap_or_default();
        Tokens {
            line,
            blocks,
            base: 0,
            left,
        }
    }

    /// The place of the next one.
    #[inline(always)]
    fn place(&mut self) -> Option<usize> {
        while self.left == 0 {
            self.left = *self.blocks.next()?;
            self.base += BLOCK;
        }
        let at = self.base + self.left.trailing_zeros() as usize;
        self.left &= self.left - 1;
        Some(at)
    }

    /// The place of the next one and its first byte.
    #[inline(always)]
    fn next(&mut self) -> Option<(usize, u8)> {
        let at = self.place()?;
        Some((at, *self.line.get(at)?))
    }

    /// Where a string ends whose opening quote was the last token: no other stands inside.
    #[inline(always)]
    fn string_end(&mut self) -> Option<usize> {
        Some(self.place()? + 1)
    }
}

/// What the way through a line showed.
struct Walked {
    deepest: usize,
    integer_digits: usize,
}

/// Goes through the line's object from token to token. `None` for one that stands where it cannot, and for anything
/// behind the object.
fn walk(mut tokens: Tokens<'_>, trail: &mut Trail<'_>) -> Option<Walked> {
    const NONE_OPEN: u64 = 1;
    // The kinds of the open containers, the innermost in bit 0; 1 is an object. A mark lies ahead of them.
    let mut kinds = NONE_OPEN;
    let (mut depth, mut deepest, mut integer_digits) = (0, 0, 0);
    let (mut at, mut byte) = tokens.next()?;
    loop {
        // Here a value begins.
        if matches!(byte, b'{' | b'[') {
            if depth == trail.following {
                trail.begin(at, byte == b'{');
            }
            kinds = kinds << 1 | u64::from(byte == b'{');
            // The mark must not be lost.
            if kinds >> 62 != 0 {
                return None;
            }
            depth += 1;
            (at, byte) = tokens.next()?;
            if byte != closing(kinds) {
                deepest = deepest.max(depth);
                if is_object(kinds) {
                    (at, byte) = key(&mut tokens, trail, depth, at, byte)?;
                }
                continue;
            }
        } else {
            let end = if byte == b'"' {
                tokens.string_end()?
            } else {
                let (end, digits) = scalar(tokens.line, at, byte)?;
                integer_digits = integer_digits.max(digits);
                end
            };
            if depth == trail.following {
                trail.end(at, end);
            }
            (at, byte) = tokens.next()?;
        }
        // And here it has ended, or a container is empty.
        while byte == closing(kinds) {
            kinds >>= 1;
            depth -= 1;
            trail.close(depth, at + 1);
            if kinds == NONE_OPEN {
                // Behind the object only white space is left, which is no token.
                return tokens.place().is_none().then_some(Walked {
                    deepest,
                    integer_digits,
                });
            }
            (at, byte) = tokens.next()?;
        }
        if byte != b',' {
            return None;
        }
        (at, byte) = tokens.next()?;
        if is_object(kinds) {
            (at, byte) = key(&mut tokens, trail, depth, at, byte)?;
        }
    }
}

#[inline(always)]
fn is_object(kinds: u64) -> bool {
    kinds & 1 == 1
}

/// The byte that ends what is open.
#[inline(always)]
fn closing(kinds: u64) -> u8 {
    if is_object(kinds) { b'}' } else { b']' }
}

/// Takes a key and the colon behind it: where the value begins, and with which byte.
#[inline(always)]
fn key(
    tokens: &mut Tokens<'_>,
    trail: &mut Trail<'_>,
    depth: usize,
    at: usize,
    byte: u8,
) -> Option<(usize, u8)> {
    if byte != b'"' {
        return None;
    }
    let end = tokens.string_end()?;
    if depth == trail.following {
        trail.key(at..end);
    }
    match tokens.next()? {
        (_, b':') => tokens.next(),
        _ => None,
    }
}

/// Where a number or a word ends, and how many digits an integer has; `None` when it is neither, or when more than a
/// token follows on it.
fn scalar(line: &[u8], at: usize, byte: u8) -> Option<(usize, usize)> {
    let mut scanner = Scanner::new(line);
    scanner.at = at;
    match byte {
        b'-' | b'0'..=b'9' => scanner.number()?,
        b't' => scanner.word(b"true")?,
        b'f' => scanner.word(b"false")?,
        b'n' => scanner.word(b"null")?,
        _ => return None,
    }
    let ends = match scanner.peek() {
        None => true,
        Some(byte) => b" \t\r\n,:]}[{\"".contains(&byte),
    };
    ends.then_some((scanner.at, scanner.integer_digits))
}

/// The objects whose entries can be followed: the line's own, and those of a path.
const FOLLOWED: usize = 3;

/// An object that is followed.
#[derive(Default)]
struct Followed {
    /// Where it begins.
    start: usize,
    /// Its last key, and where the value of that begins.
    key: Range<usize>,
    value: usize,
    entries: Vec<Entry>,
}

/// The entries that are wanted.
struct Trail<'a> {
    line: &'a [u8],
    path: &'a [&'a [u8]],
    /// How many of the outermost containers are followed; all of them are objects.
    following: usize,
    followed: [Followed; FOLLOWED],
    inner: Inner,
}

impl Trail<'_> {
    /// A key of the innermost one.
    fn key(&mut self, key: Range<usize>) {
        self.followed[self.following - 1].key = key;
    }

    /// A value of the innermost one.
    fn end(&mut self, start: usize, end: usize) {
        let followed = &mut self.followed[self.following - 1];
        followed.entries.push(Entry {
            key: followed.key.clone(),
            value: start..end,
        });
    }

    /// A container begins that is the outermost one or a value of the innermost one that is followed.
    fn begin(&mut self, at: usize, is_object: bool) {
        let on_path = match self.following.checked_sub(1) {
            None => true,
            Some(level) => {
                let followed = &mut self.followed[level];
                followed.value = at;
                let key = self.line.get(followed.key.clone());
                is_object && key.is_some() && key == self.path.get(level).copied()
            }
        };
        if on_path {
            let followed = &mut self.followed[self.following];
            followed.start = at;
            followed.entries = Vec::with_capacity(USUAL);
            self.following += 1;
        }
    }

    /// A container has ended, and so many are still open.
    #[inline(always)]
    fn close(&mut self, depth: usize, end: usize) {
        if depth > self.following {
            return;
        }
        if depth < self.following {
            self.following = depth;
            if let Some(level) = depth.checked_sub(1) {
                let Followed { start, entries, .. } = &mut self.followed[depth];
                self.inner.put(level, (*start, std::mem::take(entries)));
            }
        }
        if let Some(level) = depth.checked_sub(1) {
            self.end(self.followed[level].value, end);
        }
    }
}

#[cfg(test)]
mod tests;
