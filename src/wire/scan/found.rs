//! What a scan finds.

use super::Clues;
use std::cell::RefCell;
use std::ops::{Deref, DerefMut, Range};

/// One `"key": value` of an object, as byte ranges of the scanned text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The key literal, quotes included.
    pub key: Range<usize>,
    /// The value, without white space around it.
    pub value: Range<usize>,
}

/// The entries of one object, in order.
///
/// A call and its answer have four such objects, and to get memory for one and to give it back takes as long as to fill
/// it: that of the usual object is kept for the next one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entries(Vec<Entry>);

/// Room for the entries of the usual object.
const USUAL: usize = 8;

/// For so many objects memory is kept.
const KEPT: usize = 4;

thread_local! {
    static SPARE: RefCell<Vec<Vec<Entry>>> = const { RefCell::new(Vec::new()) };
}

impl Entries {
    /// None yet, with room for those of the usual object.
    #[inline]
    pub(super) fn with_room() -> Self {
        let spare = SPARE.try_with(|spare| spare.try_borrow_mut().ok()?.pop());
        let spare = spare.ok().flatten();
        Entries(spare.unwrap_or_else(|| Vec::with_capacity(USUAL)))
    }
}

impl Drop for Entries {
    #[inline]
    fn drop(&mut self) {
        let mut entries = std::mem::take(&mut self.0);
        if entries.capacity() != USUAL {
            return;
        }
        entries.clear();
        let _ = SPARE.try_with(|spare| match spare.try_borrow_mut() {
            Ok(mut spare) if spare.len() < KEPT => spare.push(entries),
            _ => {}
        });
    }
}

impl Deref for Entries {
    type Target = Vec<Entry>;

    #[inline]
    fn deref(&self) -> &Vec<Entry> {
        &self.0
    }
}

impl DerefMut for Entries {
    #[inline]
    fn deref_mut(&mut self) -> &mut Vec<Entry> {
        &mut self.0
    }
}

/// What a line turned out to be at its top level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Top {
    /// A JSON object.
    Object,
    /// A JSON array: a JSON-RPC batch.
    Array,
    /// A string, a number, `true`, `false` or `null`.
    Scalar,
}

/// The entries of objects inside of a line that were found with its own, each with the offset of its object.
///
/// Nearly every reader of a call wants `params` and its `arguments`: to find their entries later is another scan.
#[derive(Clone, Debug, Default)]
pub struct Inner([Option<(usize, Entries)>; 2]);

impl Inner {
    /// Takes the entries of the object at this offset, if they were found.
    pub(in crate::wire) fn take(&mut self, at: usize) -> Option<Entries> {
        let is =
            |found: &&mut Option<(usize, Entries)>| matches!(found, Some((its, _)) if *its == at);
        let found = self.0.iter_mut().find(is)?;
        found.take().map(|(_, entries)| entries)
    }

    /// Keeps the entries of the object that a path's key at `level` leads to.
    pub(super) fn put(&mut self, level: usize, found: (usize, Entries)) {
        self.0[level] = Some(found);
    }
}

/// The result of scanning one line.
#[derive(Clone, Debug)]
pub struct Scanned {
    /// The kind of the value.
    pub top: Top,
    /// The entries of the top-level object; empty for any other value.
    pub entries: Entries,
    /// Those of its `params` and of their `arguments`.
    pub inner: Inner,
    /// The deepest nesting of arrays and objects that hold something, the outermost one counted as 1.
    pub depth: usize,
    /// The digits of the longest integer (a number without fraction and exponent).
    pub integer_digits: usize,
    /// Whether a string or key holds a surrogate escape that is not half of a pair.
    pub lone_surrogate: bool,
}

/// The result of a quick look at one line.
#[derive(Clone, Debug)]
pub struct Seen {
    /// The kind of the value.
    pub top: Top,
    /// The entries of the top-level object; empty for any other value.
    pub entries: Entries,
    /// What its strings hold.
    pub clues: Clues,
}

/// A line that is not JSON, with the top-level entries that were complete before the fault.
#[derive(Clone, Debug)]
pub struct Broken {
    /// Where the fault stands, as a byte offset.
    pub at: usize,
    /// The complete top-level entries before it.
    pub entries: Entries,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_kept_for_as_many_as_are_usual_and_comes_back_empty() {
        let entry = || Entry {
            key: 0..1,
            value: 2..3,
        };
        let places = |all: &[Entries]| -> Vec<_> { all.iter().map(|one| one.as_ptr()).collect() };
        let many = || -> Vec<Entries> { (0..KEPT + 2).map(|_| Entries::with_room()).collect() };
        let mut first = many();
        first.iter_mut().for_each(|entries| entries.push(entry()));
        let before = places(&first);
        drop(first);
        SPARE.with(|spare| assert_eq!(spare.borrow().len(), KEPT));
        let second = many();
        let after = places(&second);
        let again = before.iter().filter(|place| after.contains(place));
        assert!(again.count() >= KEPT);
        assert!(second.iter().all(|entries| entries.is_empty()));
    }

    #[test]
    fn memory_of_another_size_goes_back() {
        let mut large = Entries::with_room();
        for at in 0..=USUAL {
            large.push(Entry {
                key: at..at,
                value: at..at,
            });
        }
        let copy = large.clone();
        assert_eq!(copy, large);
        SPARE.with(|spare| spare.borrow_mut().clear());
        drop((large, copy));
        SPARE.with(|spare| assert!(spare.borrow().is_empty()));
    }
}
