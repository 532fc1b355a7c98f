//! Wordings to look for.

use memchr::memmem::Finder;
use std::sync::OnceLock;

/// An ASCII text to look for in answers, prepared at its first use.
#[derive(Debug)]
pub struct Phrase {
    text: &'static str,
    has_space: bool,
    finder: OnceLock<Finder<'static>>,
}

impl Phrase {
    /// A phrase with this text.
    pub const fn new(text: &'static str) -> Self {
        let mut has_space = false;
        let mut at = 0;
        while at < text.len() {
            has_space |= text.as_bytes()[at] == b' ';
            at += 1;
        }
        Phrase {
            text,
            has_space,
            finder: OnceLock::new(),
        }
    }

    /// The text.
    #[cfg(test)]
    pub(crate) fn text(&self) -> &'static str {
        self.text
    }

    /// Whether a space is part of it.
    pub(super) fn has_space(&self) -> bool {
        self.has_space
    }

    /// Whether it stands in `text`.
    pub fn is_in(&self, text: &[u8]) -> bool {
        self.finder().find(text).is_some()
    }

    /// Where it stands in `text`: the offset of each of its first letters.
    pub fn places_in<'t>(&'t self, text: &'t [u8]) -> impl Iterator<Item = usize> + 't {
        self.finder().find_iter(text)
    }

    fn finder(&self) -> &Finder<'static> {
        self.finder.get_or_init(|| Finder::new(self.text))
    }
}
