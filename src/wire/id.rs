//! Request ids, compared as upstream compares them.

use super::object::Raw;
use super::unescape;
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

/// The digits of the largest [`Id::Number`].
const MAX_DIGITS: usize = 20;

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
        Id::of(value.text.as_bytes())
    }

    /// The same of a value's bytes.
    pub(super) fn of(value: &[u8]) -> Option<Id> {
        let text = || std::str::from_utf8(value).ok();
        let (digits, is_negative) = match value {
            [b'"', ..] => return Some(Id::String((&*unescape(text()?)?).into())),
            [b'-', digits @ ..] => (digits, true),
            digits => (digits, false),
        };
        let (mut number, mut is_integer) = (0u64, !digits.is_empty());
        for byte in digits {
            let digit = byte.wrapping_sub(b'0');
            is_integer &= digit <= 9;
            number = number.wrapping_mul(10).wrapping_add(u64::from(digit));
        }
        if !is_integer {
            return None;
        }
        // In JSON an integer has one spelling, but for zero: upstream keeps integers and answers `-0` as `0`.
        if digits.len() < MAX_DIGITS && !is_negative || digits == b"0" {
            return Some(Id::Number(number));
        }
        let text = text()?;
        let number = text.parse().ok();
        Some(number.map_or_else(|| Id::Integer(text.into()), Id::Number))
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Option<Id> {
        Id::read(Raw::whole(text))
    }

    #[test]
    fn integers_of_any_size_are_ids() {
        for (text, number) in [
            ("0", 0),
            ("-0", 0),
            ("7", 7),
            ("9999999999999999999", 9_999_999_999_999_999_999),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(read(text), Some(Id::Number(number)), "{text}");
        }
        for text in [
            "-1",
            "18446744073709551616",
            "99999999999999999999",
            "123456789012345678901",
            "-9223372036854775808",
        ] {
            assert_eq!(read(text), Some(Id::Integer(text.into())), "{text}");
        }
    }

    #[test]
    fn what_is_no_integer_and_no_string_is_no_id() {
        for text in [
            "",
            "-",
            "1.0",
            "1e2",
            "-1.5",
            "null",
            "true",
            "{}",
            "[1]",
            "\"\\ud800\"",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
        assert_eq!(read("\"\\u0061\""), Some(Id::String("a".into())));
    }

    proptest! {
        #[test]
        fn an_integer_is_kept(number: u128, digits in 1u32..=39) {
            let number = number % 10u128.pow(digits.min(38));
            let id = read(&number.to_string()).unwrap();
            prop_assert_eq!(matches!(id, Id::Number(_)), number <= u128::from(u64::MAX));
            prop_assert_eq!(id.to_json(), number.to_string());
        }
    }
}
