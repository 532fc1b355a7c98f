//! Sixty-four bytes at a time: which of them are what, as bit masks.

use fearless_simd::{Simd, SimdBase, SimdMask, u8x64};
use std::ops::BitOr;

/// The bytes in a block.
pub(super) const BLOCK: usize = 64;

/// Bytes of a line; bit *i* of a mask is byte *i*.
#[derive(Clone, Copy)]
pub(super) struct Block<S: Simd>(u8x64<S>);

impl<S: Simd> Block<S> {
    #[inline(always)]
    pub(super) fn new(simd: S, bytes: &[u8; BLOCK]) -> Self {
        Block(u8x64::from_slice(simd, bytes))
    }

    /// The bytes that are `byte`.
    #[inline(always)]
    pub(super) fn eq(self, byte: u8) -> u64 {
        self.0.simd_eq(byte).to_bitmask()
    }

    /// The bytes that are `byte` or differ from it in the bit of letter case alone.
    #[inline(always)]
    pub(super) fn eq_either(self, byte: u8) -> u64 {
        (self.0 | 0x20).simd_eq(byte).to_bitmask()
    }

    /// The bytes up to `last`.
    #[inline(always)]
    pub(super) fn upto(self, last: u8) -> u64 {
        self.0.simd_le(last).to_bitmask()
    }

    /// The digits.
    #[inline(always)]
    pub(super) fn digits(self) -> u64 {
        (self.0 - b'0').simd_le(9).to_bitmask()
    }

    /// The first letters of `cc` and `rr`, one of which is in each of the words that clues tell of, and what may be one
    /// at the block's end.
    #[inline(always)]
    pub(super) fn pairs(self) -> u64 {
        const LAST: u64 = 1 << 63;
        let (c, r) = (self.eq(b'c'), self.eq(b'r'));
        c & (c >> 1 | LAST) | r & (r >> 1 | LAST)
    }

    /// White space.
    #[inline(always)]
    pub(super) fn space(self) -> u64 {
        self.eq(b' ') | self.eq(b'\t') | self.eq(b'\r') | self.eq(b'\n')
    }
}

impl<S: Simd> BitOr for Block<S> {
    type Output = Self;

    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        Block(self.0 | other.0)
    }
}

/// The bytes that a backslash stands before. `before` is what one block leaves for the next.
#[inline(always)]
pub(super) fn escaped(backslash: u64, before: &mut u64) -> u64 {
    const ODD: u64 = 0xAAAA_AAAA_AAAA_AAAA;
    if backslash == 0 {
        return std::mem::take(before);
    }
    let starts = backslash & !*before;
    // Of a run of backslashes every other one is escaped: the subtraction carries from its start to its end.
    let codes = ((starts << 1) | ODD).wrapping_sub(starts) ^ ODD;
    let escaped = codes ^ (backslash | *before);
    *before = (codes & backslash) >> 63;
    escaped
}

/// Bit *i* of the result is the parity of the bits up to *i*.
#[inline(always)]
pub(super) fn prefix_xor(mut bits: u64) -> u64 {
    for shift in [1, 2, 4, 8, 16, 32] {
        bits ^= bits << shift;
    }
    bits
}

/// The first bytes behind tokens that are no white space: `next` holds the ones directly behind them (`tokens`, of
/// which the last byte is the next block's affair), `before` what the block before left.
#[inline(always)]
pub(super) fn follow(next: u64, before: &mut u64, tokens: u64, space: u64) -> u64 {
    if space == 0 {
        let next = next | *before;
        *before = tokens >> 63;
        return next;
    }
    follow_far(next, before, tokens, space)
}

/// As [`follow`], for where there mostly is something between.
#[inline(always)]
pub(super) fn follow_far(next: u64, before: &mut u64, tokens: u64, space: u64) -> u64 {
    let next = next | *before;
    *before = tokens >> 63;
    // Adding a run's first bit to the run carries to the bit behind it.
    let (sum, goes_on) = space.overflowing_add(next & space);
    *before |= u64::from(goes_on);
    (next | sum) & !space
}
