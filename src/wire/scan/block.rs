//! Sixty-four bytes at a time: which of them are what, as bit masks.

use fearless_simd::{Simd, SimdBase, SimdMask, u8x64};

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

    /// White space.
    #[inline(always)]
    pub(super) fn space(self) -> u64 {
        self.eq(b' ') | self.eq(b'\t') | self.eq(b'\r') | self.eq(b'\n')
    }
}
