//! The credit on which lines are handed in, which keeps memory bounded.

use crate::run::shell::{WINDOW, cost};
use bytes::Bytes;
use std::cell::Cell;
use std::rc::Rc;

/// What the lines of one side cost that are on their way.
#[derive(Clone, Default)]
pub(super) struct Credit(Rc<Cell<usize>>);

/// Credit in use; it comes back when it is dropped.
pub(in crate::run) type Permit = Option<Share>;

/// A part of a side's credit.
pub(in crate::run) struct Share {
    credit: Credit,
    amount: usize,
}

impl Credit {
    /// Whether the side may send more. A line that is longer than what is left goes over it.
    pub(super) fn is_there(&self) -> bool {
        self.0.get() < WINDOW
    }

    /// Takes what `lines` cost.
    pub(super) fn take(&self, lines: &[Bytes]) -> Permit {
        let amount = lines.iter().map(cost).sum();
        self.0.set(self.0.get() + amount);
        Some(Share {
            credit: self.clone(),
            amount,
        })
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let Credit(used) = &self.credit;
        used.set(used.get() - self.amount);
    }
}

/// Moves the credit that a line of this cost came on. Both are one side's.
pub(in crate::run) fn transfer(from: &mut Permit, to: &mut Permit, cost: usize) {
    let Some(from) = from else { return };
    let amount = cost.min(from.amount);
    from.amount -= amount;
    to.get_or_insert_with(|| Share {
        credit: from.credit.clone(),
        amount: 0,
    })
    .amount += amount;
}
