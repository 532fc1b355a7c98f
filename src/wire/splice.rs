//! Replacing byte ranges of a line and nothing else.

use bytes::Bytes;
use std::borrow::Cow;
use std::ops::Range;

/// Replacements to make in one line.
#[derive(Clone, Debug, Default)]
pub struct Edits<'t> {
    list: Vec<(Range<usize>, Cow<'t, str>)>,
}

/// Edits that overlap or lie outside the line: nothing was changed.
#[derive(Debug, thiserror::Error)]
#[error("edits of a message overlap or lie outside it")]
pub struct BadEdits;

impl<'t> Edits<'t> {
    /// None yet, and room for so many.
    pub fn with_capacity(edits: usize) -> Self {
        Edits {
            list: Vec::with_capacity(edits),
        }
    }

    /// Replaces `range` by `text`. Insertions at one place keep their order.
    pub fn replace(&mut self, range: Range<usize>, text: impl Into<Cow<'t, str>>) {
        self.list.push((range, text.into()));
    }

    /// Deletes `range`.
    pub fn delete(&mut self, range: Range<usize>) {
        self.replace(range, "");
    }

    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The line with all replacements made.
    ///
    /// # Errors
    /// [`BadEdits`] when two ranges overlap or one is not inside `line`.
    pub fn apply(mut self, line: &str) -> Result<Bytes, BadEdits> {
        // Stable: what was asked for first at a place stands first there.
        self.list.sort_by_key(|(range, _)| (range.start, range.end));
        let added: usize = self.list.iter().map(|(_, text)| text.len()).sum();
        let mut out = String::with_capacity(line.len() + added);
        let mut from = 0;
        for (range, text) in self.list {
            out.push_str(line.get(from..range.start).ok_or(BadEdits)?);
            out.push_str(&text);
            from = range.end;
        }
        out.push_str(line.get(from..).ok_or(BadEdits)?);
        Ok(Bytes::from(out))
    }
}
