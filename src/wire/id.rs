//! Request ids, compared as upstream compares them.

use super::object::Raw;
use std::collections::HashMap;
use std::sync::Arc;

/// A request id. `1` and `"1"` are two ids.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Id {
    /// An integer that has the usual size.
    Number(u64),
    /// Any other integer, by its canonical digits.
    Integer(Arc<str>),
    /// A string, unescaped.
    String(Arc<str>),
}

/// Something for each of many ids. A call asks some six of these maps, so they hash fast.
pub type IdMap<T> = HashMap<Id, T, foldhash::fast::RandomState>;

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
            return Some(Id::String((&*value.as_str()?).into()));
        }
        // In JSON an integer has one spelling, but for zero: upstream keeps integers and answers `-0` as `0`.
        let digits = value.text.strip_prefix('-').unwrap_or(value.text);
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let number = match digits {
            "0" => Some(0),
            _ => value.text.parse().ok(),
        };
        Some(number.map_or_else(|| Id::Integer(value.text.into()), Id::Number))
    }

    /// The id as JSON text.
    pub fn to_json(&self) -> String {
        match self {
            Id::Number(number) => number.to_string(),
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
