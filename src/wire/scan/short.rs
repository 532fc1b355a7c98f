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

/// Goes through the line's object from mark to mark. `None` for a token that stands where it cannot, and for anything
/// behind the object.
#[inline(always)]
fn walk(line: &[u8], marks: &[u64], path: &[&[u8]], marked: &Marked) -> Option<Short> {
    const NONE_OPEN: u64 = 1;
    // The kinds of the open containers, the innermost in bit 0; 1 is an object. A mark lies ahead of them.
    let mut kinds = NONE_OPEN;
    let (mut depth, mut deepest) = (0, 0);
    // The last token, and the last opening bracket.
    let (mut last, mut opened) = (0, 0);
    // Whether a key must come, and with it a colon.
    let mut wants_key = false;
    let mut trail = Trail {
        line,
        path,
        is_spaced: marked.is_spaced,
        following: 0,
        followed: Default::default(),
        inner: Inner::default(),
    };
    for (index, &mark) in marks.iter().enumerate() {
        let mut left = mark;
        while left != 0 {
            let at = index * BLOCK + left.trailing_zeros() as usize;
            left &= left - 1;
            let byte = *line.get(at)?;
            match byte {
                b':' => {
                    wants_key.then_some(())?;
                    wants_key = false;
                    if depth == trail.following {
                        trail.key(last + 1, at);
                    }
                }
                b',' => {
                    if wants_key {
                        return None;
                    }
                    wants_key = is_object(kinds);
                    if depth == trail.following {
                        trail.end(at);
                    }
                }
                b'{' | b'[' => {
                    if wants_key {
                        return None;
                    }
                    wants_key = byte == b'{';
                    if depth == trail.following {
                        trail.begin(at, wants_key);
                    }
                    kinds = kinds << 1 | u64::from(wants_key);
                    // The mark must not be lost.
                    if kinds >> 62 != 0 {
                        return None;
                    }
                    depth += 1;
                    opened = at;
                }
                _ => {
                    if byte != closing(kinds) {
                        return None;
                    }
                    let is_empty = opened == last && is_blank(line, last + 1, at);
                    if !is_empty {
                        if wants_key {
                            return None;
                        }
                        deepest = deepest.max(depth);
                    }
                    wants_key = false;
                    if depth == trail.following {
                        trail.close(at, is_empty);
                    }
                    kinds >>= 1;
                    depth -= 1;
                    if kinds == NONE_OPEN {
                        let rest = marks.get(index + 1..)?;
                        let is_last = left == 0 && rest.iter().all(|&mark| mark == 0);
                        let [message, ..] = trail.followed;
                        return is_last.then_some(Short {
                            entries: message.entries,
                            inner: trail.inner,
                            depth: deepest,
                            integer_digits: marked.integer_digits,
                            clues: marked.clues,
                        });
                    }
                }
            }
            last = at;
        }
    }
    None
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

/// Whether nothing but white space stands there; between tokens everything up to a space is some.
#[inline(always)]
fn is_blank(line: &[u8], start: usize, end: usize) -> bool {
    let between = line.get(start..end).unwrap_or_default();
    between.iter().all(|&byte| byte <= b' ')
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
    is_spaced: bool,
    /// How many of the outermost containers are followed; all of them are objects.
    following: usize,
    followed: [Followed; FOLLOWED],
    inner: Inner,
}

impl Trail<'_> {
    /// A key of the innermost one stands there, and its colon at the end.
    #[inline(always)]
    fn key(&mut self, start: usize, colon: usize) {
        let key = self.trimmed(start, colon);
        let followed = &mut self.followed[self.following - 1];
        followed.key = key;
        followed.value = colon + 1;
    }

    /// A value of the innermost one ends before `at`.
    #[inline(always)]
    fn end(&mut self, at: usize) {
        let Followed { key, value, .. } = &self.followed[self.following - 1];
        let entry = Entry {
            key: key.clone(),
            value: self.trimmed(*value, at),
        };
        self.followed[self.following - 1].entries.push(entry);
    }

    /// A container begins that is the outermost one or a value of the innermost one that is followed.
    #[inline(always)]
    fn begin(&mut self, at: usize, is_object: bool) {
        let on_path = match self.following.checked_sub(1) {
            None => true,
            Some(level) => {
                let wanted = self.path.get(level);
                let key = || self.line.get(self.followed[level].key.clone());
                is_object && wanted.is_some_and(|wanted| key() == Some(*wanted))
            }
        };
        if on_path {
            let followed = &mut self.followed[self.following];
            followed.start = at;
            followed.entries = Vec::with_capacity(USUAL);
            self.following += 1;
        }
    }

    /// The innermost one ends at `at`.
    #[inline(always)]
    fn close(&mut self, at: usize, is_empty: bool) {
        if !is_empty {
            self.end(at);
        }
        self.following -= 1;
        if let Some(level) = self.following.checked_sub(1) {
            let Followed { start, entries, .. } = &mut self.followed[level + 1];
            self.inner.put(level, (*start, std::mem::take(entries)));
        }
    }

    /// What stands between two tokens, without the white space around it.
    #[inline(always)]
    fn trimmed(&self, start: usize, end: usize) -> Range<usize> {
        if self.is_spaced {
            trimmed(self.line, start, end)
        } else {
            start..end
        }
    }
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
