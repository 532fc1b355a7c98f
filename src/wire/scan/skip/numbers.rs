//! Numbers and words of a block.

use super::super::block::Block;
use super::super::scalar::{is_scalar, scalar, word};
use super::{Skip, Tokens};
use fearless_simd::Simd;

/// What a number that goes on was at its last byte.
#[derive(Clone, Debug, Default)]
pub(super) struct Number {
    digit: u64,
    minus: u64,
    dot: u64,
    fraction: u64,
    lone_zero: u64,
}

impl Skip {
    /// The bytes of numbers and words that do not prove themselves to be right: all of a word, and whatever
    /// is not of the form `-0.0` with digits in place of the zeros.
    #[inline(always)]
    pub(super) fn scalars<S: Simd>(
        &mut self,
        block: Block<S>,
        outside: u64,
        tokens: &Tokens,
    ) -> u64 {
        let digit = block.digits() & outside;
        let minus = block.eq(b'-') & outside;
        let dot = block.eq(b'.') & outside;
        let zero = block.eq(b'0') & outside;
        let was = &self.number;
        let start = tokens.scalar_start;
        let behind_digit = digit << 1 | was.digit;
        let behind_minus = minus << 1 | was.minus;
        let behind_dot = dot << 1 | was.dot;
        let fraction = behind_dot | was.fraction;
        let (sum, goes_on) = digit.overflowing_add(fraction & digit);
        let fraction_end = (sum | fraction) & !digit;
        let lone_zero = zero & (start | behind_minus);
        let behind_zero = lone_zero << 1 | was.lone_zero;
        self.number = Number {
            digit: digit >> 63,
            minus: minus >> 63,
            dot: dot >> 63,
            fraction: u64::from(goes_on),
            lone_zero: lone_zero >> 63,
        };
        minus & !start
            | behind_minus & !digit
            | dot & !behind_digit
            | behind_dot & !digit
            | dot & fraction_end
            | digit & behind_zero
            | tokens.scalar & !(digit | minus | dot)
    }

    /// Checks what [`Skip::scalars`] is not sure of.
    #[inline(always)]
    pub(super) fn words(
        &mut self,
        line: &[u8],
        starts: u64,
        unsure: u64,
        ours: u64,
        in_scalar: bool,
    ) -> Option<()> {
        let mut words = std::mem::take(&mut self.word);
        let mut left = starts & unsure;
        while left != 0 {
            let place = left.trailing_zeros();
            left &= left - 1;
            let rest = line.get(self.at + place as usize..)?;
            let length = word(rest);
            if length == 0 {
                continue;
            }
            let bits = (1 << length) - 1_u64;
            words |= bits << place;
            self.word |= bits.checked_shr(64 - place).unwrap_or(0);
        }
        if unsure & !words == 0 {
            return Some(());
        }
        self.odd_scalars(line, starts & ours, in_scalar)
    }

    /// Checks the block's numbers and words one by one.
    #[cold]
    #[inline(never)]
    fn odd_scalars(&self, line: &[u8], mut starts: u64, in_scalar: bool) -> Option<()> {
        if in_scalar {
            let before = line.get(..self.at)?;
            let length = before
                .iter()
                .rev()
                .take_while(|&&byte| is_scalar(byte))
                .count();
            scalar(line, self.at - length)?;
        }
        while starts != 0 {
            scalar(line, self.at + starts.trailing_zeros() as usize)?;
            starts &= starts - 1;
        }
        Some(())
    }
}
