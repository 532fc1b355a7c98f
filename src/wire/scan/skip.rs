//! Passing over an array or object in blocks of 64 bytes, each looked at as bit masks.
//!
//! JSON's grammar is checked in full, but locally: what may follow a token depends on that token and on the kind of
//! the container it stands in. So the tokens of a block are checked side by side, and only brackets one by one.
//! What is rare (escapes other than `\"` and `\\`, words, numbers with an exponent) is looked at bytewise where it
//! stands. A value that is found faulty, or that nests deeper than 61, is left to the bytewise scanner.

use super::Clues;
use super::block::{BLOCK, Block, escaped, follow, prefix_xor};
use fearless_simd::{Level, Simd, dispatch};
use numbers::Number;

mod numbers;

/// A container that was passed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Skipped {
    /// The offset behind it.
    pub(super) end: usize,
    /// What its strings hold.
    pub(super) clues: Clues,
}

/// Passes over the container that begins at `at`; `None` when that cannot be done here. `ahead` is how far somebody
/// has come with a container of this line already.
pub(super) fn container(bytes: &[u8], at: usize, ahead: Option<&Skip>) -> Option<Skipped> {
    container_by(Level::new(), bytes, at, ahead)
}

fn container_by(level: Level, line: &[u8], at: usize, ahead: Option<&Skip>) -> Option<Skipped> {
    let ahead = ahead.filter(|ahead| ahead.start == at);
    let mut skip = ahead.cloned().unwrap_or_else(|| Skip::new(at));
    skip.feed_by(level, line, true)?;
    Some(Skipped {
        end: skip.end?,
        clues: skip.clues,
    })
}

/// How far a container was passed over: what one block leaves for the next, a bit 0 or 1 for its first byte, unless
/// said otherwise.
#[derive(Clone, Debug)]
pub(super) struct Skip {
    /// Where the container begins.
    start: usize,
    /// Where the block begins.
    at: usize,
    /// The offset behind the container, once it was reached.
    end: Option<usize>,
    clues: Clues,
    escaped: u64,
    /// All ones inside a string.
    in_string: u64,
    /// Inside a key.
    in_key: u64,
    after: After,
    number: Number,
    /// As many low bits as bytes belong to a word that was checked.
    word: u64,
    /// The kinds of the open containers, the innermost in bit 0; 1 is an object. A mark lies ahead of them.
    kinds: u64,
}

/// What the first token that comes follows on.
#[derive(Clone, Debug)]
struct After {
    open: u64,
    comma: u64,
    colon: u64,
    key: u64,
    value: u64,
    scalar: u64,
}

/// The tokens of a block.
struct Tokens {
    open: u64,
    close: u64,
    comma: u64,
    colon: u64,
    string: u64,
    string_end: u64,
    /// Bytes of numbers and words, and whatever has no place outside of a string.
    scalar: u64,
    /// Where those begin.
    scalar_start: u64,
    space: u64,
}

impl Skip {
    /// At the container that begins at `start`.
    pub(super) fn new(start: usize) -> Self {
        Skip {
            start,
            at: start,
            end: None,
            clues: Clues::default(),
            escaped: 0,
            in_string: 0,
            in_key: 0,
            // Any value may begin here.
            after: After {
                open: 0,
                comma: 0,
                colon: 1,
                key: 0,
                value: 0,
                scalar: 0,
            },
            number: Number::default(),
            word: 0,
            kinds: 1,
        }
    }

    /// Goes on as far as `part` of the line allows. `None` for a fault, or for what may be one in a part.
    pub(super) fn feed(&mut self, part: &[u8]) -> Option<()> {
        self.feed_by(Level::new(), part, false)
    }

    fn feed_by(&mut self, level: Level, line: &[u8], is_whole: bool) -> Option<()> {
        dispatch!(level, simd => self.blocks(simd, line, is_whole))
    }

    #[inline(always)]
    fn blocks<S: Simd>(&mut self, simd: S, line: &[u8], is_whole: bool) -> Option<()> {
        if self.end.is_some() {
            return Some(());
        }
        // A copy of its own can be kept in registers.
        let mut skip = self.clone();
        let (mut blocks, rest) = line.get(self.at..)?.as_chunks::<BLOCK>();
        let mut last = [b' '; BLOCK];
        last.get_mut(..rest.len())?.copy_from_slice(rest);
        if !is_whole {
            // What belongs to a block's last byte is looked for behind the block.
            blocks = blocks.split_last().map_or(blocks, |(_, ahead)| ahead);
        }
        let mut all = Block::new(simd, &[0; BLOCK]);
        for block in blocks.iter().chain(is_whole.then_some(&last)) {
            all = all | Block::new(simd, block);
            skip.end = skip.block(simd, line, block)?;
            if skip.end.is_some() {
                break;
            }
            skip.at += BLOCK;
        }
        skip.clues.non_ascii |= all.upto(0x7F) != u64::MAX;
        *self = skip;
        Some(())
    }

    /// Checks one block. `Some(Some(end))` when the container ends in it, `None` for a fault.
    #[inline(always)]
    fn block<S: Simd>(
        &mut self,
        simd: S,
        line: &[u8],
        bytes: &[u8; BLOCK],
    ) -> Option<Option<usize>> {
        let block = Block::new(simd, bytes);
        let pairs = block.pairs();
        if pairs != 0 {
            self.clues.words.note(line, self.at, pairs);
        }
        let backslash = block.eq(b'\\');
        let quotes = block.eq(b'"');
        // Spaces too: which bytes are bad or white is looked at where there are any.
        let low = block.upto(b' ');
        let escaped = escaped(backslash, &mut self.escaped);
        let quote = quotes & !escaped;
        let was_in_string = self.in_string;
        let in_string = prefix_xor(quote) ^ was_in_string;
        self.in_string = (in_string >> 63).wrapping_neg();
        let odd = escaped & !(quotes | backslash) & in_string;
        let doubled = escaped & backslash & in_string;
        if doubled != 0 {
            self.doubled(line, doubled, block.eq(b'u') | block.eq(b'/'));
        }
        if in_string & was_in_string == u64::MAX {
            // The inside of a long string.
            self.clues.spaces |= low != 0;
            if odd != 0 {
                self.escapes(line, odd, block.eq(b'n'))?;
            }
            return (low == 0 || block.upto(0x1F) == 0).then_some(None);
        }
        let outside = !(in_string | quote);
        let tokens = self.tokens(block, outside, low, quote, in_string);
        let (objects, end) = self.brackets(bytes, tokens.open, tokens.close)?;
        // What is behind the end is not ours.
        let ours = end.map_or(u64::MAX, |end| u64::MAX >> (63 - end));
        let control = if low & in_string == 0 {
            0
        } else {
            self.clues.spaces = true;
            block.upto(0x1F) & in_string
        };
        let fault = control | self.order(&tokens, in_string, objects);
        let unsure = self.scalars(block, outside, &tokens) & ours;
        let in_scalar = std::mem::replace(&mut self.after.scalar, tokens.scalar >> 63) != 0;
        if fault & ours != 0 {
            return None;
        }
        if odd & ours != 0 {
            self.escapes(line, odd & ours, block.eq(b'n'))?;
        }
        if unsure != 0 {
            self.words(line, tokens.scalar_start, unsure, ours, in_scalar)?;
        }
        Some(end.map(|end| self.at + end as usize + 1))
    }

    /// Notes what may be an escape in the JSON that a string holds: `\\\\` with one of the bytes `odd` behind it.
    #[inline(always)]
    fn doubled(&mut self, line: &[u8], doubled: u64, odd: u64) {
        let ends = doubled >> 63 != 0;
        let next = || matches!(line.get(self.at + BLOCK), Some(b'u' | b'/'));
        self.clues.odd_escapes |= doubled << 1 & odd != 0 || (ends && next());
    }

    /// Checks escapes other than those of a quote and a backslash, each given by its second byte.
    #[inline(never)]
    fn escapes(&mut self, line: &[u8], odd: u64, newline: u64) -> Option<()> {
        let mut left = odd & !newline;
        while left != 0 {
            let at = self.at + left.trailing_zeros() as usize;
            left &= left - 1;
            match line.get(at)? {
                b'b' | b'f' | b'r' | b't' => {}
                b'/' => self.clues.odd_escapes = true,
                b'u' => {
                    self.clues.odd_escapes = true;
                    let digits = line.get(at + 1..at + 5)?;
                    digits.iter().all(u8::is_ascii_hexdigit).then_some(())?;
                }
                _ => return None,
            }
        }
        Some(())
    }

    #[inline(always)]
    fn tokens<S: Simd>(
        &self,
        block: Block<S>,
        outside: u64,
        low: u64,
        quote: u64,
        in_string: u64,
    ) -> Tokens {
        let space = if low & outside == 0 {
            0
        } else {
            block.space() & outside
        };
        let open = block.eq_either(b'{') & outside;
        let close = block.eq_either(b'}') & outside;
        let comma = block.eq(b',') & outside;
        let colon = block.eq(b':') & outside;
        let scalar = outside & !(space | open | close | comma | colon);
        Tokens {
            open,
            close,
            comma,
            colon,
            string: quote & in_string,
            string_end: quote & !in_string,
            scalar,
            scalar_start: scalar & !(scalar << 1 | self.after.scalar),
            space,
        }
    }

    /// Which bytes stand directly in an object, brackets where they are seen from outside; and the bracket that ends
    /// the whole.
    #[inline(always)]
    fn brackets(
        &mut self,
        bytes: &[u8; BLOCK],
        open: u64,
        close: u64,
    ) -> Option<(u64, Option<u32>)> {
        let mut objects = 0;
        let mut faults = 0;
        let mut rest = u64::MAX;
        let mut left = open | close;
        while left != 0 {
            let place = left.trailing_zeros();
            let upto = left ^ (left - 1);
            left &= !upto;
            objects |= (self.kinds & 1).wrapping_neg() & rest & upto;
            rest = !upto;
            // The two kinds differ in this bit.
            let is_object = u64::from(bytes[place as usize % BLOCK] >> 5 & 1);
            // Without a branch: brackets come in no order that a processor could learn.
            let opens = open >> place & 1;
            faults |= !opens & (self.kinds ^ is_object);
            self.kinds = if opens != 0 {
                self.kinds << 1 | is_object
            } else {
                self.kinds >> 1
            };
            // Nothing but the mark is left, or the mark is near the top.
            if (self.kinds.wrapping_sub(2) | self.kinds << 1).cast_signed() < 0 {
                return (self.kinds == 1 && faults & 1 == 0).then_some((objects, Some(place)));
            }
        }
        (faults & 1 == 0).then_some((objects | (self.kinds & 1).wrapping_neg() & rest, None))
    }

    /// The tokens that stand where they cannot.
    #[inline(always)]
    fn order(&mut self, tokens: &Tokens, in_string: u64, objects: u64) -> u64 {
        let &Tokens {
            open,
            close,
            comma,
            colon,
            string,
            string_end,
            scalar,
            space,
            ..
        } = tokens;
        let after = &mut self.after;
        let behind_open = follow(open << 1, &mut after.open, open, space);
        let behind_comma = follow(comma << 1, &mut after.comma, comma, space);
        let behind_colon = follow(colon << 1, &mut after.colon, colon, space);
        let keys = (behind_open | behind_comma) & objects & string;
        // A string's run of ones and its first bit add up to the bit behind the run, which is the closing quote.
        let (sum, first) = in_string.overflowing_add(keys);
        let (sum, second) = sum.overflowing_add(self.in_key);
        self.in_key = u64::from(first | second);
        let key_end = sum & string_end & !in_string;
        let behind_key = follow(key_end << 1, &mut after.key, key_end, space);
        let value_end = string_end & !key_end | close;
        let scalar_end = (scalar << 1 | after.scalar) & !scalar;
        let behind_value = follow(
            value_end << 1 | scalar_end,
            &mut after.value,
            value_end,
            space,
        );
        let other = open | scalar;
        let item = string | other & !objects;
        behind_open & !(item | close)
            | behind_comma & !item
            | behind_colon & !(string | other)
            | behind_value & !(comma | close)
            | behind_key ^ colon
    }
}

#[cfg(test)]
pub(super) mod tests;
