//! The first step: strings, numbers, words, and what stands beside what.

use super::super::Clues;
use super::super::block::{BLOCK, Block, escaped, follow, follow_far, prefix_xor};
use super::super::scalar::scalar;
use fearless_simd::Simd;

/// The tokens of a block of which containers are made: three masks for four, since no two of a kind overlap.
#[derive(Clone, Copy)]
pub(super) struct Marks {
    /// Brackets and commas.
    no_colons: u64,
    /// Brackets and colons.
    no_commas: u64,
    /// What stands where the key behind a comma or an opening bracket would have its colon: nothing of an object may.
    keyless: u64,
}

impl Marks {
    /// A block that holds none.
    pub(super) const NONE: Marks = Marks {
        no_colons: 0,
        no_commas: 0,
        keyless: 0,
    };

    /// Brackets, commas and colons.
    #[inline(always)]
    pub(super) fn all(&self) -> u64 {
        self.no_colons | self.no_commas
    }

    #[inline(always)]
    pub(super) fn brackets(&self) -> u64 {
        self.no_colons & self.no_commas
    }

    /// Whether a colon is missing or too many among the bytes `which`, of which those in `objects` belong to objects and
    /// the others to arrays. A bracket belongs to the container around the one that it opens, and to the one
    /// that it closes.
    #[inline(always)]
    pub(super) fn has_fault(&self, which: u64, objects: u64) -> bool {
        let colons = self.no_commas & !self.no_colons;
        (self.keyless & objects | colons & !objects) & which != 0
    }
}

/// What a line shows besides.
#[derive(Default)]
pub(super) struct Marked {
    pub(super) clues: Clues,
    /// The digits of the longest integer; only without clues.
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
    /// Behind a string or a container.
    value: u64,
    scalar: u64,
    /// Behind a scalar and white space.
    scalar_end: u64,
    /// Behind a comma or an opening bracket, whatever but brackets, commas and colons stands between.
    separator: u64,
}

/// The tokens of a block.
struct Tokens {
    open: u64,
    close: u64,
    colon: u64,
    comma: u64,
    string_end: u64,
    /// Bytes of numbers and words, and whatever has no place outside of a string.
    scalar: u64,
    space: u64,
    /// The bytes that are the line's.
    line: u64,
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

    /// Checks that each token may stand behind the one before it: where numbers and words begin, and
    /// [`Marks::keyless`]. `None` for a fault.
    #[inline(always)]
    fn order(&mut self, tokens: &Tokens) -> Option<(u64, u64)> {
        let &Tokens {
            open,
            close,
            colon,
            comma,
            string_end,
            scalar,
            space,
            line,
        } = tokens;
        let behind_scalar = scalar << 1 | self.scalar;
        self.scalar = scalar >> 63;
        let scalar_end = behind_scalar & !scalar;
        let value = string_end | close;
        let behind_open = follow(open << 1, &mut self.open, open, space);
        let behind_scalars = follow(scalar_end, &mut self.scalar_end, 0, space);
        let behind_value = behind_scalars | follow(value << 1, &mut self.value, value, space);
        let punctuation = close | colon | comma;
        let separator = open | comma;
        let others = !(open | punctuation);
        let next = follow_far(separator << 1, &mut self.separator, separator, others);
        let is_empty = close & behind_open;
        // Behind a value stands punctuation and nothing else; it stands nowhere else, unless a container is empty.
        let wrong = (behind_value ^ punctuation) & line & !is_empty;
        // Between a colon and the comma or bracket before it stands a key.
        let fault = wrong | colon & (behind_scalars | !next);
        (fault == 0).then_some((scalar & !behind_scalar, next & !(colon | is_empty)))
    }
}

/// Marks the tokens of which containers are made, and checks all others: strings, numbers and words, and that each of
/// them and of the marked ones may stand behind the one before it. Which container a token stands in is not known
/// here. `None` for a fault, and for what is left to others. Only with `CLUES` they are looked for, and `\u`
/// escapes are taken: whether one is half of a pair is not looked at. `marks` are those of so many blocks and hold none yet.
#[inline(always)]
pub(super) fn mark<S: Simd, const CLUES: bool>(
    simd: S,
    line: &[u8],
    marks: &mut [Marks],
    marked: &mut Marked,
) -> Option<()> {
    let mut before = Before::default();
    let mut all = Block::new(simd, &[0; BLOCK]);
    let marks = marks.get_mut(..=line.len() / BLOCK)?;
    for (index, marks) in marks.iter_mut().enumerate() {
        let at = index * BLOCK;
        let rest = line.get(at..)?;
        let (block, theirs) = match rest.first_chunk() {
            Some(bytes) => (Block::new(simd, bytes), u64::MAX),
            None => {
                let mut last = [b' '; BLOCK];
                last.get_mut(..rest.len())?.copy_from_slice(rest);
                (Block::new(simd, &last), !(u64::MAX << rest.len()))
            }
        };
        if CLUES {
            all = all | block;
        }
        let strings = before.strings::<S, CLUES>(line, at, block, &mut marked.clues)?;
        let quote = strings.quote;
        // In the midst of a string.
        if quote | !strings.in_string == 0 {
            continue;
        }
        let tokens = Tokens::of(block, &strings, theirs, &mut marked.is_spaced);
        let (starts, keyless) = before.order(&tokens)?;
        let brackets = tokens.open | tokens.close;
        *marks = Marks {
            no_colons: brackets | tokens.comma,
            no_commas: brackets | tokens.colon,
            keyless,
        };
        if starts != 0 {
            let digits = scalars(line, at, block.digits(), tokens.scalar, starts)?;
            if !CLUES {
                marked.integer_digits = marked.integer_digits.max(digits);
            }
        }
    }
    if CLUES {
        marked.clues.non_ascii = all.upto(0x7F) != u64::MAX;
    }
    (before.in_string == 0).then_some(())
}

impl Tokens {
    /// `is_spaced` becomes true when there is white space between them, or a fault.
    #[inline(always)]
    fn of<S: Simd>(block: Block<S>, strings: &Strings, line: u64, is_spaced: &mut bool) -> Self {
        let outside = !(strings.in_string | strings.quote) & line;
        let mut space = 0;
        if strings.low & outside != 0 {
            space = block.space() & outside;
            *is_spaced = true;
        }
        let open = block.eq_either(b'{') & outside;
        let close = block.eq_either(b'}') & outside;
        let colon = block.eq(b':') & outside;
        let comma = block.eq(b',') & outside;
        Tokens {
            open,
            close,
            colon,
            comma,
            string_end: strings.quote & !strings.in_string,
            scalar: outside & !(space | open | close | colon | comma),
            space,
            line,
        }
    }
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
#[inline(always)]
fn scalars(line: &[u8], at: usize, digits: u64, scalar: u64, mut starts: u64) -> Option<usize> {
    let mut longest = 0;
    while starts != 0 {
        let place = starts.trailing_zeros();
        starts &= starts - 1;
        let start = at + place as usize;
        let run = (scalar >> place).trailing_ones();
        let rest = line.get(start..)?;
        let count = if place + run == u64::BITS {
            // What goes on in the next block cannot be told from this one's masks.
            self::scalar(line, start)?
        } else if *rest.first()? > b'9' {
            is_word(rest, run).then_some(0)?
        } else {
            match number(rest, run, digits >> place) {
                Some(count) => count,
                None => self::scalar(line, start)?,
            }
        };
        longest = longest.max(count);
    }
    Some(longest)
}

/// Whether the first `run` bytes are a word.
#[inline(always)]
fn is_word(rest: &[u8], run: u32) -> bool {
    match run {
        4 => matches!(rest.first_chunk(), Some(b"true" | b"null")),
        5 => rest.first_chunk() == Some(b"false"),
        _ => false,
    }
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
