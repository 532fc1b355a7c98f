//! Request ids, compared as upstream compares them.

use super::object::Raw;

/// A request id. `1` and `"1"` are two ids.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Id {
    /// An integer of any size, by its canonical digits.
    Integer(Box<str>),
    /// A string, unescaped.
    String(Box<str>),
}

/// The `id` of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IdField {
    /// There is no such key.
    Absent,
    /// `null`, a boolean, a number with a fraction or an exponent, or a structure: upstream treats
    /// such a request as a notification (measured against 10.1.0).
    Unusable,
    /// A usable id.
    Usable(Id),
}

impl Id {
    /// Reads an id; `None` when it is neither a string nor an integer.
    pub fn read(value: Raw<'_>) -> Option<Id> {
        if value.text.starts_with('"') {
            return Some(Id::String(value.as_str()?.into()));
        }
        let digits = value.text.strip_prefix('-').unwrap_or(value.text);
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        // Upstream keeps integers, not spellings: it answers `-0` as `0`.
        Some(Id::Integer(
            if digits == "0" { "0" } else { value.text }.into(),
        ))
    }

    /// The id as JSON text.
    pub fn to_json(&self) -> String {
        match self {
            Id::Integer(digits) => digits.to_string(),
            Id::String(text) => super::quote(text),
        }
    }
}

impl std::fmt::Display for Id {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.to_json())
    }
}
