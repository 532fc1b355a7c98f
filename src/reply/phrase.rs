//! Wordings to look for.

use memchr::memmem::Finder;
use std::sync::OnceLock;

/// An ASCII text to look for in answers, prepared at its first use.
#[derive(Debug)]
pub struct Phrase {
    text: &'static str,
    finder: OnceLock<Finder<'static>>,
}

impl Phrase {
    /// A phrase with this text.
    pub const fn new(text: &'static str) -> Self {
        Phrase {
            text,
            finder: OnceLock::new(),
        }
    }

    /// Whether it stands in `text`.
    pub fn is_in(&self, text: &str) -> bool {
        self.finder().find(text.as_bytes()).is_some()
    }

    /// Where it stands in `text`: the offset of each of its first letters.
    pub fn places_in<'t>(&'t self, text: &'t str) -> impl Iterator<Item = usize> + 't {
        self.finder().find_iter(text.as_bytes())
    }

    fn finder(&self) -> &Finder<'static> {
        self.finder.get_or_init(|| Finder::new(self.text))
    }
}
