//! The first step: strings, numbers, words, and what stands beside what.

use super::super::Clues;
use super::super::block::{BLOCK, Block, escaped, follow, prefix_xor};
use super::super::scalar::{scalar, word};
use super::LONGEST;
use fearless_simd::Simd;

/// Where a line's brackets, commas and colons stand, with room for the bytes that are left behind whole blocks.
pub(super) type Marks = [u64; LONGEST / BLOCK + 1];

/// What a line showed besides.
pub(super) struct Marked {
    pub(super) clues: Clues,
    /// The digits of the longest integer.
    pub(super) integer_digits: usize,
    /// Whether there is white space between tokens.
    pub(super) is_spaced: bool,
}

/// What one block leaves for the next: a bit 0 or 1 for its first byte, unless said otherwise.
#[derive(Default)]
struct Before {
    escaped: u64,
    /// All ones inside a string.
    in_string: u64,
    open: u64,
    string: u64,
    value: u64,
    scalar: u64,
}

/// The tokens of a block.
struct Tokens {
    open: u64,
    close: u64,
    colon: u64,
    /// The last two, and commas.
    punctuation: u64,
    string_end: u64,
    /// Bytes of numbers and words, and whatever has no place outside of a string.
    scalar: u64,
    space: u64,
}

/// The strings of a block.
struct Strings {
    quote: u64,
    /// With the quote that opens one, without the one that ends it.
    in_string: u64,
    /// Spaces and control bytes, wherever they stand.
    low: u64,
}

impl Before {
    /// Finds a block's strings, and checks what is in them. `None` for a fault.
    #[inline(always)]
    fn strings<S: Simd, const CLUES: bool>(
        &mut self,
        line: &[u8],
        at: usize,
        block: Block<S>,
        clues: &mut Clues,
    ) -> Option<Strings> {
        let backslash = block.eq(b'\\');
        let quotes = block.eq(b'"');
        let low = block.upto(b' ');
        let escaped = escaped(backslash, &mut self.escaped);
        let quote = quotes & !escaped;
        let in_string = prefix_xor(quote) ^ self.in_string;
        self.in_string = (in_string >> 63).wrapping_neg();
        if CLUES {
            let pairs = block.pairs();
            if pairs != 0 {
                clues.words.note(line, at, pairs);
            }
            let doubled = escaped & backslash & in_string;
            if doubled != 0 {
                clues.odd_escapes |= hides(line, at, doubled, block);
            }
        }
        if low & in_string != 0 {
            clues.spaces = true;
            if block.upto(0x1F) & in_string != 0 {
                return None;
            }
        }
        let odd = escaped & in_string & !(quotes | backslash);
        if odd != 0 {
            let rare = odd & !block.eq(b'n');
            if rare != 0 {
                clues.odd_escapes |= escapes(line, at, rare, CLUES)?;
            }
        }
        Some(Strings {
            quote,
            in_string,
            low,
        })
    }

    /// Checks that each token may stand behind the one before it: where numbers and words begin, `None` for a fault.
    #[inline(always)]
    fn order(&mut self, tokens: &Tokens) -> Option<u64> {
        let &Tokens {
            open,
            close,
            colon,
            punctuation,
            string_end,
            scalar,
            space,
        } = tokens;
        let behind_scalar = scalar << 1 | self.scalar;
        self.scalar = scalar >> 63;
        let value_end = close << 1 | behind_scalar & !scalar;
        let behind_open = follow(open << 1, &mut self.open, open, space);
        let behind_string = follow(string_end << 1, &mut self.string, string_end, space);
        let behind_value = follow(value_end, &mut self.value, close, space);
        // Behind a value stands punctuation and nothing else; it stands nowhere else, unless a container is empty.
        let wrong = (behind_string | behind_value) ^ punctuation;
        let fault = wrong & !(close & behind_open) | colon & !behind_string;
        (fault == 0).then_some(scalar & !behind_scalar)
    }
}

/// Marks the tokens of which containers are made, and checks all others: strings, numbers and words, and that each of
/// them and of the marked ones may stand behind the one before it. Which container a token stands in is not known
/// here. `None` for a fault, and for what is left to others. Only with `CLUES` they are looked for, and `\u`
/// escapes are taken: whether one is half of a pair is not looked at.
#[inline(always)]
pub(super) fn mark<S: Simd, const CLUES: bool>(
    simd: S,
    line: &[u8],
    marks: &mut Marks,
) -> Option<Marked> {
    let mut before = Before::default();
    let mut marked = Marked {
        clues: Clues::default(),
        integer_digits: 0,
        is_spaced: false,
    };
    let mut all = Block::new(simd, &[0; BLOCK]);
    let (blocks, rest) = line.as_chunks::<BLOCK>();
    let mut last = [b' '; BLOCK];
    last.get_mut(..rest.len())?.copy_from_slice(rest);
    for (index, marks) in marks.iter_mut().enumerate().take(blocks.len() + 1) {
        let bytes = blocks.get(index).unwrap_or(&last);
        let at = index * BLOCK;
        let block = Block::new(simd, bytes);
        if CLUES {
            all = all | block;
        }
        let strings = before.strings::<S, CLUES>(line, at, block, &mut marked.clues)?;
        let Strings {
            quote,
            in_string,
            low,
        } = strings;
        let outside = !(in_string | quote);
        let mut space = 0;
        if low & outside != 0 {
            space = block.space() & outside;
            // What was put behind the line does not count.
            marked.is_spaced |=
                index < blocks.len() || !(space >> rest.len() << rest.len()) & space != 0;
        }
        let open = block.eq_either(b'{') & outside;
        let close = block.eq_either(b'}') & outside;
        let colon = block.eq(b':') & outside;
        let punctuation = close | colon | block.eq(b',') & outside;
        *marks = open | punctuation;
        let scalar = outside & !(space | open | punctuation);
        let tokens = Tokens {
            open,
            close,
            colon,
            punctuation,
            string_end: quote & !in_string,
            scalar,
            space,
        };
        let starts = before.order(&tokens)?;
        if starts != 0 {
            let digits = scalars(line, at, block.digits(), scalar, starts)?;
            marked.integer_digits = marked.integer_digits.max(digits);
        }
    }
    if CLUES {
        marked.clues.non_ascii = all.upto(0x7F) != u64::MAX;
    }
    (before.in_string == 0).then_some(marked)
}

/// Whether two backslashes, of which `doubled` is the second, may be the first of a `\u` or `\/` in JSON that a string
/// holds.
#[inline(always)]
fn hides<S: Simd>(line: &[u8], at: usize, doubled: u64, block: Block<S>) -> bool {
    let odd = block.eq(b'u') | block.eq(b'/');
    let next = || matches!(line.get(at + BLOCK), Some(b'u' | b'/'));
    doubled << 1 & odd != 0 || (doubled >> 63 != 0 && next())
}

/// Checks a block's escapes other than the usual ones, each given by its second byte: whether one of them is odd.
#[cold]
#[inline(never)]
fn escapes(line: &[u8], at: usize, mut left: u64, takes_units: bool) -> Option<bool> {
    let mut are_odd = false;
    while left != 0 {
        let at = at + left.trailing_zeros() as usize;
        left &= left - 1;
        match line.get(at)? {
            b'b' | b'f' | b'r' | b't' => {}
            b'/' => are_odd = true,
            b'u' if takes_units => {
                are_odd = true;
                let digits = line.get(at + 1..at + 5)?;
                digits.iter().all(u8::is_ascii_hexdigit).then_some(())?;
            }
            _ => return None,
        }
    }
    Some(are_odd)
}

/// Checks the numbers and words that begin in a block: the digits of the longest integer.
#[inline(never)]
fn scalars(line: &[u8], at: usize, digits: u64, scalar: u64, mut starts: u64) -> Option<usize> {
    let mut longest = 0;
    while starts != 0 {
        let place = starts.trailing_zeros();
        starts &= starts - 1;
        let start = at + place as usize;
        let run = (!(scalar >> place)).trailing_zeros();
        // What goes on in the next block cannot be told from this one's masks.
        let ends = place + run < u64::BITS;
        let count = match line.get(start..)? {
            rest @ [b't' | b'f' | b'n', ..] if word(rest) == run => 0,
            rest => match number(rest, run, digits >> place) {
                Some(count) if ends => count,
                _ => self::scalar(line, start)?,
            },
        };
        longest = longest.max(count);
    }
    Some(longest)
}

/// The digits of an integer of `run` bytes, and 0 for a number with a fraction; `None` for whatever else it is.
#[inline(always)]
fn number(text: &[u8], run: u32, digits: u64) -> Option<usize> {
    let minus = u32::from(text.first() == Some(&b'-'));
    let whole = (digits >> minus).trailing_ones();
    let has_zero = text.get(minus as usize) == Some(&b'0');
    if whole == 0 || has_zero && whole > 1 {
        return None;
    }
    let end = minus + whole;
    if end == run {
        return Some(whole as usize);
    }
    let fraction = digits.checked_shr(end + 1)?.trailing_ones();
    let has_dot = text.get(end as usize) == Some(&b'.');
    (has_dot && fraction > 0 && end + 1 + fraction == run).then_some(0)
}
