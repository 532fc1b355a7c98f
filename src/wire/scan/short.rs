//! A short line in two steps: its tokens, in blocks of 64 bytes; then from bracket to comma to colon.
//!
//! Most lines are calls of a few hundred bytes and their answers, and what the bytewise scanner takes for one of them is
//! spent on bytes of which nothing depends: the insides of strings. The first step checks what can be told of a token
//! from the one before it, for all tokens of a block side by side. What is left to the second is which container a
//! token stands in, and only brackets, commas and colons tell of that. JSON's grammar is checked in full. Whatever is
//! faulty or rare (deep nesting, no object at the top) is left to the bytewise scanner, which also knows
//! where a fault stands.

use super::block::BLOCK;
use super::{ARGUMENTS, Clues, Entry, Inner, PARAMS, USUAL};
use fearless_simd::{Level, Simd, dispatch};
use mark::{Marked, Marks, mark};
use std::ops::Range;

mod mark;

/// The longest line that is looked at here, in bytes.
pub(super) const LONGEST: usize = 4096;

/// A short line that is one JSON object.
#[derive(Debug)]
pub(super) struct Short {
    pub(super) entries: Vec<Entry>,
    pub(super) inner: Inner,
    pub(super) depth: usize,
    pub(super) integer_digits: usize,
    pub(super) clues: Clues,
}

/// The objects of a client's message whose entries are found with its own, each by its key in the one before.
const PATH: [&[u8]; 2] = [PARAMS, ARGUMENTS];

/// Looks at a client's line. `None` when that cannot be done here, for whatever reason. There are no clues, and
/// no lone surrogates.
pub(super) fn call(line: &[u8]) -> Option<Short> {
    call_by(Level::new(), line)
}

fn call_by(level: Level, line: &[u8]) -> Option<Short> {
    fits(line).then_some(())?;
    dispatch!(level, simd => object::<_, false>(simd, line))
}

/// Looks at an upstream's line: its entries and clues. `None` when that cannot be done here, for whatever reason.
pub(super) fn answer(line: &[u8]) -> Option<Short> {
    answer_by(Level::new(), line)
}

fn answer_by(level: Level, line: &[u8]) -> Option<Short> {
    fits(line).then_some(())?;
    dispatch!(level, simd => object::<_, true>(simd, line))
}

fn fits(line: &[u8]) -> bool {
    line.len() <= LONGEST && line.first() == Some(&b'{')
}

#[inline(always)]
fn object<S: Simd, const ANSWER: bool>(simd: S, line: &[u8]) -> Option<Short> {
    let mut marks: Marks = [0; _];
    let marked = mark::<S, ANSWER>(simd, line, &mut marks)?;
    let path: &[&[u8]] = if ANSWER { &[] } else { &PATH };
    walk(line, marks.get(..=line.len() / BLOCK)?, path, &marked)
}

/// The marked tokens of a line, one after the other.
struct Tokens<'a> {
    line: &'a [u8],
    marks: &'a [u64],
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
            self.left = *self.marks.get(self.block)?;
        }
        let at = self.block * BLOCK + self.left.trailing_zeros() as usize;
        self.left &= self.left - 1;
        Some((at, *self.line.get(at)?))
    }

    /// Passes over what is left of a container that begins at `opened` with `byte`: the most of the containers that
    /// are open at once in it, itself counted, with the innermost one holding something.
    #[inline(never)]
    fn pass(&mut self, mut opened: usize, byte: u8) -> Option<usize> {
        const NONE_OPEN: u64 = 1;
        let is_object = |byte: u8| u64::from(byte >> 5 & 1);
        // The kinds of the open containers, the innermost in bit 0; 1 is an object. A mark lies ahead of them, so of two
        // the greater one is the deeper one.
        let mut kinds = NONE_OPEN << 1 | is_object(byte);
        let mut deepest = 0;
        // 1 where a key must come, and with it a colon.
        let mut wants_key = is_object(byte);
        let Tokens { line, marks, .. } = *self;
        let (mut block, mut left) = (self.block, self.left);
        loop {
            while left == 0 {
                block += 1;
                left = *marks.get(block)?;
            }
            let at = block * BLOCK + left.trailing_zeros() as usize;
            left &= left - 1;
            let byte = *line.get(at)?;
            if byte <= b':' {
                // A colon where one must come, or a comma where none must: they take turns, so one branch for both is
                // easier to foretell than two.
                let is_comma = u64::from(byte == b',');
                if wants_key == is_comma {
                    return None;
                }
                wants_key = is_comma & kinds;
            } else if byte & 2 != 0 {
                if wants_key != 0 {
                    return None;
                }
                wants_key = is_object(byte);
                kinds = kinds << 1 | wants_key;
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
                if at != opened + 1 && !is_blank(line, opened + 1, at) {
                    if wants_key != 0 {
                        return None;
                    }
                    deepest = deepest.max(kinds);
                }
                wants_key = 0;
                kinds >>= 1;
                if kinds == NONE_OPEN {
                    (self.block, self.left) = (block, left);
                    return Some(deepest.checked_ilog2().unwrap_or(0) as usize);
                }
            }
        }
    }
}

/// Whether nothing but white space stands there; between tokens everything up to a space is some.
#[inline(always)]
fn is_blank(line: &[u8], start: usize, end: usize) -> bool {
    let between = line.get(start..end).unwrap_or_default();
    between.iter().all(|&byte| byte <= b' ')
}

/// An object around the one whose members are gone through.
#[derive(Default)]
struct Outer {
    /// Where it begins.
    start: usize,
    entries: Vec<Entry>,
    /// The key of the one inside.
    key: Range<usize>,
}

/// Goes through the members of the line's object, and of those that `path` leads to. `None` for a token that stands
/// where it cannot, and for anything behind the object.
#[inline(never)]
fn walk(line: &[u8], marks: &[u64], path: &[&[u8]], marked: &Marked) -> Option<Short> {
    let mut tokens = Tokens {
        line,
        marks,
        block: 0,
        left: *marks.first()?,
    };
    let trim = |start, end| match marked.is_spaced {
        true => trimmed(line, start, end),
        false => start..end,
    };
    let mut outer: [Outer; PATH.len()] = Default::default();
    let mut inner = Inner::default();
    let mut level = 0;
    let mut deepest = 0;
    let mut entries = Vec::with_capacity(USUAL);
    // Where the object begins, and the last of its tokens.
    let (mut start, _) = tokens.next()?;
    let mut last = start;
    let (mut at, mut byte) = tokens.next()?;
    let is_empty = byte == b'}' && is_blank(line, last + 1, at);
    while !is_empty {
        // Here a member's colon must stand.
        if byte != b':' {
            return None;
        }
        let mut key = trim(last + 1, at);
        let mut value = at + 1;
        (at, byte) = tokens.next()?;
        if byte == b'{' && path.get(level).copied() == line.get(key.clone()) {
            let opened = at;
            (at, byte) = tokens.next()?;
            if byte != b'}' || !is_blank(line, opened + 1, at) {
                let entries = std::mem::replace(&mut entries, Vec::with_capacity(USUAL));
                *outer.get_mut(level)? = Outer {
                    start,
                    entries,
                    key,
                };
                (start, last) = (opened, opened);
                level += 1;
                continue;
            }
            inner.put(level, (opened, Vec::new()));
            (at, byte) = tokens.next()?;
        } else if byte == b'{' || byte == b'[' {
            let inside = tokens.pass(at, byte)?;
            deepest = deepest.max(level + 1 + inside);
            (at, byte) = tokens.next()?;
        }
        // And here the member has ended, and perhaps the objects around it.
        loop {
            entries.push(Entry {
                key,
                value: trim(value, at),
            });
            if byte != b'}' {
                break;
            }
            deepest = deepest.max(level + 1);
            if level == 0 {
                break;
            }
            level -= 1;
            let around = std::mem::take(outer.get_mut(level)?);
            let found = std::mem::replace(&mut entries, around.entries);
            inner.put(level, (start, found));
            (key, value, start) = (around.key, start, around.start);
            (at, byte) = tokens.next()?;
        }
        match byte {
            b',' => last = at,
            b'}' => break,
            _ => return None,
        }
        (at, byte) = tokens.next()?;
    }
    // Behind the object only white space is left, which is not marked.
    tokens.next().is_none().then_some(Short {
        entries,
        inner,
        depth: deepest,
        integer_digits: marked.integer_digits,
        clues: marked.clues,
    })
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
