//! What a scan finds.

use super::Clues;
use std::ops::Range;

/// One `"key": value` of an object, as byte ranges of the scanned text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The key literal, quotes included.
    pub key: Range<usize>,
    /// The value, without white space around it.
    pub value: Range<usize>,
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
pub struct Inner([Option<(usize, Vec<Entry>)>; 2]);

impl Inner {
    /// Takes the entries of the object at this offset, if they were found.
    pub(in crate::wire) fn take(&mut self, at: usize) -> Option<Vec<Entry>> {
        let is = |found: &&mut Option<(usize, Vec<Entry>)>| matches!(found, Some((its, _)) if *its == at);
        let found = self.0.iter_mut().find(is)?;
        found.take().map(|(_, entries)| entries)
    }

    /// Keeps the entries of the object that a path's key at `level` leads to.
    pub(super) fn put(&mut self, level: usize, found: (usize, Vec<Entry>)) {
        self.0[level] = Some(found);
    }
}

/// The result of scanning one line.
#[derive(Clone, Debug)]
pub struct Scanned {
    /// The kind of the value.
    pub top: Top,
    /// The entries of the top-level object; empty for any other value.
    pub entries: Vec<Entry>,
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
    pub entries: Vec<Entry>,
    /// What its strings hold.
    pub clues: Clues,
}

/// A line that is not JSON, with the top-level entries that were complete before the fault.
#[derive(Clone, Debug)]
pub struct Broken {
    /// Where the fault stands, as a byte offset.
    pub at: usize,
    /// The complete top-level entries before it.
    pub entries: Vec<Entry>,
}
