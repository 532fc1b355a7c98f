//! What the pass over a line notes for those who would search the line.

/// What the strings inside of a line's top-level arrays and objects hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clues {
    /// Perhaps a `\u` or `\/` escape, in the string or in JSON that it holds as its text: other escapes hide no
    /// printable ASCII but `"` and `\`.
    pub odd_escapes: bool,
    /// Perhaps a space.
    pub spaces: bool,
    /// Perhaps a byte beyond ASCII; said of the line's other strings too.
    pub non_ascii: bool,
    /// Where the words stand by which a call's answer says that it failed, or that it did not.
    pub words: Words,
}

impl Clues {
    /// Strings that were not looked at.
    pub const UNKNOWN: Clues = Clues {
        odd_escapes: true,
        spaces: true,
        non_ascii: true,
        words: Words::UNKNOWN,
    };

    pub(super) fn add(&mut self, more: Clues) {
        self.odd_escapes |= more.odd_escapes;
        self.spaces |= more.spaces;
        self.non_ascii |= more.non_ascii;
        self.words.add(more.words);
    }
}

/// The words that are noted, each with the bytes from its first one to the first of its pair of equal letters.
const SUCCESS: (&[u8; 7], usize) = (b"success", 2);
const IS_ERROR: (&[u8; 7], usize) = (b"isError", 3);
/// An answer says each on both of its surfaces. One that says them of each of many items is searched instead.
const ROOM: u8 = 6;

/// Where `success` and `isError` stand, whatever stands around them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Words {
    places: [u32; ROOM as usize],
    /// More than there is room for: not all are noted.
    count: u8,
}

impl Words {
    const UNKNOWN: Words = Words {
        places: [0; ROOM as usize],
        count: ROOM + 1,
    };

    /// The offset of each in the line; `None` when they were not all noted.
    pub fn places(&self) -> Option<impl Iterator<Item = usize> + '_> {
        let places = self.places.get(..usize::from(self.count))?;
        Some(places.iter().map(|&place| place as usize))
    }

    /// Notes those of which a pair's first letter is in `pairs`, a mask of the bytes from `at` on.
    #[inline(never)]
    pub(super) fn note(&mut self, line: &[u8], at: usize, mut pairs: u64) {
        while pairs != 0 {
            let first = at + pairs.trailing_zeros() as usize;
            pairs &= pairs - 1;
            let is = |(word, pair): (&[u8; 7], usize)| {
                let start = first.checked_sub(pair)?;
                let rest = line.get(start..)?;
                (rest.first_chunk() == Some(word)).then_some(start)
            };
            let word = match line.get(first) {
                Some(b'c') => is(SUCCESS),
                _ => is(IS_ERROR),
            };
            if let Some(start) = word {
                self.push(start);
            }
        }
    }

    #[inline(always)]
    fn push(&mut self, place: usize) {
        match (
            self.places.get_mut(usize::from(self.count)),
            u32::try_from(place),
        ) {
            (Some(free), Ok(place)) => {
                *free = place;
                self.count += 1;
            }
            _ => *self = Words::UNKNOWN,
        }
    }

    fn add(&mut self, more: Words) {
        match more.places() {
            Some(places) => places.for_each(|place| self.push(place)),
            None => *self = Words::UNKNOWN,
        }
    }
}
