//! A short line in two steps: its tokens, in blocks of 64 bytes; then from bracket to comma to colon.
//!
//! Most lines are calls of a few hundred bytes and their answers, and what the bytewise scanner takes for one of them is
//! spent on bytes of which nothing depends: the insides of strings. The first step checks what can be told of a token
//! from the one before it, for all tokens of a block side by side. What is left to the second is which container a
//! token stands in, and only brackets, commas and colons tell of that. JSON's grammar is checked in full. Whatever is
//! faulty or rare (deep nesting, no object at the top) is left to the bytewise scanner, which also knows
//! where a fault stands.

use super::block::BLOCK;
use super::{ARGUMENTS, Entries, Entry, Inner, PARAMS, Scanned, Seen, Top};
use fearless_simd::{Level, dispatch};
use mark::{Marked, Marks, mark};
use std::ops::Range;

mod mark;

/// The longest line that is looked at here, in bytes.
pub(super) const LONGEST: usize = 4096;

/// The blocks of the usual line.
const USUAL_BLOCKS: usize = 8;

/// Looks at a client's line as [`super::scan`] does. `None` when that cannot be done here, for whatever reason.
#[inline]
pub(super) fn call(line: &[u8]) -> Option<Scanned> {
    call_by(Level::new(), line)
}

fn call_by(level: Level, line: &[u8]) -> Option<Scanned> {
    let (mut entries, mut inner) = (Entries::with_room(), Inner::default());
    let mut marked = Marked::default();
    let depth = object::<false>(level, line, &mut marked, &mut entries, Some(&mut inner))?;
    Some(Scanned {
        top: Top::Object,
        entries,
        inner,
        depth,
        integer_digits: marked.integer_digits,
        // It has no escape that could be one.
        lone_surrogate: false,
    })
}

/// Looks at an upstream's line as [`super::look`] does. `None` when that cannot be done here, for whatever reason.
#[inline]
pub(super) fn answer(line: &[u8]) -> Option<Seen> {
    answer_by(Level::new(), line)
}

fn answer_by(level: Level, line: &[u8]) -> Option<Seen> {
    let mut entries = Entries::with_room();
    let mut marked = Marked::default();
    object::<true>(level, line, &mut marked, &mut entries, None)?;
    Some(Seen {
        top: Top::Object,
        entries,
        clues: marked.clues,
    })
}

/// Goes through a line that is one object: how deep it nests. What its marks tell goes to `marked`. `ANSWER`: whether it
/// is the upstream's.
#[inline(always)]
fn object<const ANSWER: bool>(
    level: Level,
    line: &[u8],
    marked: &mut Marked,
    entries: &mut Vec<Entry>,
    inner: Option<&mut Inner>,
) -> Option<usize> {
    if line.len() > LONGEST || line.first() != Some(&b'{') {
        return None;
    }
    let (mut few, mut many);
    // To clear them costs more than to fill those that are needed.
    let marks: &mut [Marks] = if line.len() < USUAL_BLOCKS * BLOCK {
        few = [Marks::NONE; USUAL_BLOCKS];
        &mut few
    } else {
        many = [Marks::NONE; LONGEST / BLOCK + 1];
        &mut many
    };
    dispatch!(level, simd => mark::<_, ANSWER>(simd, line, marks, marked))?;
    let marks = marks.get(..=line.len() / BLOCK)?;
    walk::<ANSWER>(line, marks, marked.is_spaced, entries, inner)
}

/// The marked tokens of a line, one after the other.
struct Tokens<'a> {
    line: &'a [u8],
    marks: &'a [Marks],
    /// The current block, and its tokens that are left.
    block: usize,
    left: u64,
}

impl<'a> Tokens<'a> {
    /// The place and the byte of the next one.
    #[inline(always)]
    fn next(&mut self) -> Option<(usize, u8)> {
        while self.left == 0 {
            self.block += 1;
            self.left = self.marks.get(self.block)?.all();
        }
        let at = self.block * BLOCK + self.left.trailing_zeros() as usize;
        self.left &= self.left - 1;
        Some((at, *self.line.get(at)?))
    }

    /// Passes over what is left of a container that begins at `opened` with `byte`: the most of the containers that
    /// are open at once in it, itself counted, with the innermost one holding something. That is asked for with `DEPTH`
    /// only.
    #[inline(never)]
    fn pass<const DEPTH: bool>(&mut self, mut opened: usize, byte: u8) -> Option<usize> {
        const NONE_OPEN: u64 = 1;
        let is_object = |byte: u8| u64::from(byte >> 5 & 1);
        // The kinds of the open containers, the innermost in bit 0; 1 is an object. A mark lies ahead of them, so of two
        // the greater one is the deeper one.
        let mut kinds = NONE_OPEN << 1 | is_object(byte);
        let mut deepest = 0;
        let all_if_object = |kinds: u64| (kinds & 1).wrapping_neg();
        let behind = |place: usize| !1 << (place % BLOCK);
        let Tokens { line, marks, .. } = *self;
        let mut block = self.block;
        // What belongs to this container and those in it, and which of that belongs to objects.
        let mut inside: u64 = behind(opened);
        let mut objects = all_if_object(kinds);
        loop {
            let marks = marks.get(block)?;
            let mut left = marks.brackets() & inside;
            while left != 0 {
                let at = block * BLOCK + left.trailing_zeros() as usize;
                left &= left - 1;
                let byte = *line.get(at)?;
                let rest = behind(at);
                if byte & 2 != 0 {
                    kinds = kinds << 1 | is_object(byte);
                    // The mark must not be lost.
                    if kinds >> 61 != 0 {
                        return None;
                    }
                    opened = at;
                } else {
                    if is_object(byte) != kinds & 1 {
                        return None;
                    }
                    // What was closed since it was opened is no white space.
                    if DEPTH && at != opened + 1 && !is_blank(line, opened + 1, at) {
                        deepest = deepest.max(kinds);
                    }
                    kinds >>= 1;
                    if kinds == NONE_OPEN {
                        (self.block, self.left) = (block, marks.all() & rest);
                        let is_right = !marks.has_fault(inside & !rest, objects);
                        return is_right.then(|| deepest.checked_ilog2().unwrap_or(0) as usize);
                    }
                }
                objects = objects & !rest | all_if_object(kinds) & rest;
            }
            if marks.has_fault(inside, objects) {
                return None;
            }
            block += 1;
            inside = u64::MAX;
            objects = all_if_object(kinds);
        }
    }
}

/// Whether nothing but white space stands there; between tokens everything up to a space is some.
#[inline(always)]
fn is_blank(line: &[u8], start: usize, end: usize) -> bool {
    let between = line.get(start..end).unwrap_or_default();
    between.iter().all(|&byte| byte <= b' ')
}

/// The way through the objects that are followed: the line's own, and of a client's line those that its `params` and
/// their `arguments` are.
struct Walk<'a, 'i, const ANSWER: bool> {
    tokens: Tokens<'a>,
    is_spaced: bool,
    /// Where the entries of those in the line's own go.
    inner: Option<&'i mut Inner>,
}

impl<const ANSWER: bool> Walk<'_, '_, ANSWER> {
    /// Goes through the members of the object that begins at `opened`, so many others around it: how deep they nest, if
    /// that is of interest. `None` for a token that stands where it cannot. It calls itself for the next object that
    /// is followed.
    #[inline(never)]
    fn members(&mut self, opened: usize, level: usize, entries: &mut Vec<Entry>) -> Option<usize> {
        let mut deepest = level + 1;
        let mut last = opened;
        loop {
            let (colon, byte) = self.tokens.next()?;
            if byte != b':' {
                let is_empty = last == opened && byte == b'}';
                return (is_empty && is_blank(self.tokens.line, opened + 1, colon)).then_some(0);
            }
            let (mut key, mut value) = (last + 1..colon, colon + 1..0);
            let mut byte;
            (value.end, byte) = self.tokens.next()?;
            if is_opening(byte) {
                let depth = match self.inner(value.end, byte, level, &key)? {
                    Some(depth) => depth,
                    None if ANSWER => self.tokens.pass::<false>(value.end, byte)?,
                    None => level + 1 + self.tokens.pass::<true>(value.end, byte)?,
                };
                deepest = deepest.max(depth);
                (value.end, byte) = self.tokens.next()?;
            }
            last = value.end;
            if self.is_spaced {
                key = trimmed(self.tokens.line, key.start, key.end);
                value = trimmed(self.tokens.line, value.start, value.end);
            }
            entries.push(Entry { key, value });
            match byte {
                b',' => {}
                b'}' => return Some(deepest),
                _ => return None,
            }
        }
    }

    /// Goes through the container under a key if it is followed: how deep it nests, counted from the outermost.
    #[inline(always)]
    fn inner(
        &mut self,
        at: usize,
        byte: u8,
        level: usize,
        key: &Range<usize>,
    ) -> Option<Option<usize>> {
        if ANSWER || byte != b'{' {
            return Some(None);
        }
        let line = self.tokens.line;
        let key = match self.is_spaced {
            true => trimmed(line, key.start, key.end),
            false => key.clone(),
        };
        let key = line.get(key)?;
        let is_followed = match level {
            0 => key == PARAMS,
            1 => key == ARGUMENTS,
            _ => false,
        };
        if !is_followed {
            return Some(None);
        }
        let mut entries = Entries::with_room();
        let depth = self.members(at, level + 1, &mut entries)?;
        if let Some(inner) = &mut self.inner {
            inner.put(level, (at, entries));
        }
        Some(Some(depth))
    }
}

/// Whether a token is an opening bracket.
#[inline(always)]
fn is_opening(byte: u8) -> bool {
    byte & 0x46 == 0x42
}

/// Goes through the line's object from mark to mark: how deep it nests. `None` for a token that stands where it cannot,
/// and for anything behind the object.
#[inline(always)]
fn walk<const ANSWER: bool>(
    line: &[u8],
    marks: &[Marks],
    is_spaced: bool,
    entries: &mut Vec<Entry>,
    inner: Option<&mut Inner>,
) -> Option<usize> {
    let mut walk = Walk::<ANSWER> {
        tokens: Tokens {
            line,
            marks,
            block: 0,
            // Without the object's own bracket, which is the first byte.
            left: marks.first()?.all() & !1,
        },
        is_spaced,
        inner,
    };
    let depth = walk.members(0, 0, entries)?;
    // Behind it only white space is left, which is not marked.
    walk.tokens.next().is_none().then_some(depth)
}

#[cold]
#[inline(never)]
fn trimmed(line: &[u8], start: usize, end: usize) -> Range<usize> {
    let text = line.get(start..end).unwrap_or_default();
    let is_blank = |byte: &&u8| **byte <= b' ';
    let before = text.iter().take_while(is_blank).count();
    let behind = text[before..].iter().rev().take_while(is_blank).count();
    start + before..end - behind
}

#[cfg(test)]
mod tests;
