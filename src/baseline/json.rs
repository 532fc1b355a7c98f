//! A JSON value that can be compared: keys sorted, equal numbers spelled alike, depth limited.
//!
//! `serde_json::Value` would do but for two things: it has no order to sort by, and `1` is not `1.0` to it.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::Unreadable;

/// Arrays and objects may nest this deep; anything deeper is not compared.
pub(super) const MAX_DEPTH: usize = 64;

/// A JSON value with a total order. The order of object keys is gone, the order of arrays is kept.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Json {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number in its one normal spelling: `1`, `1.0` and `1e0` are all `1`.
    Number(String),
    /// A string, unescaped.
    String(String),
    /// An array, in its own order.
    Array(Vec<Json>),
    /// An object; of equal keys the last counts, as it does for upstream.
    Object(BTreeMap<String, Json>),
}

impl Json {
    /// Reads one JSON text.
    ///
    /// # Errors
    /// When the text is not JSON or nests deeper than [`MAX_DEPTH`].
    pub(super) fn read(text: &str) -> Result<Self, Unreadable> {
        Self::read_nested(text, MAX_DEPTH)
    }

    /// Like [`Json::read`], with another limit on the depth.
    pub(super) fn read_nested(text: &str, max_depth: usize) -> Result<Self, Unreadable> {
        if nests_deeper_than(max_depth, text) {
            return Err(Unreadable::TooDeep);
        }
        Ok(serde_json::from_str(text)?)
    }

    /// How deep arrays and objects nest.
    pub(super) fn depth(&self) -> usize {
        match self {
            Self::Array(entries) => 1 + entries.iter().map(Self::depth).max().unwrap_or(0),
            Self::Object(members) => 1 + members.values().map(Self::depth).max().unwrap_or(0),
            _ => 0,
        }
    }

    /// What the value costs to copy, in units of roughly one small value.
    pub(super) fn weight(&self) -> usize {
        match self {
            Self::Null | Self::Bool(_) => 1,
            Self::Number(text) | Self::String(text) => 1 + text.len() / 16,
            Self::Array(entries) => 1 + entries.iter().map(Self::weight).sum::<usize>(),
            Self::Object(members) => {
                1 + members
                    .iter()
                    .map(|(key, value)| key.len() / 16 + value.weight())
                    .sum::<usize>()
            }
        }
    }

    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::String(text.into())
    }

    /// The object's members, when this is an object.
    pub fn as_object(&self) -> Option<&BTreeMap<String, Self>> {
        match self {
            Self::Object(members) => Some(members),
            _ => None,
        }
    }

    /// The array's entries, when this is an array.
    pub fn as_array(&self) -> Option<&[Self]> {
        match self {
            Self::Array(entries) => Some(entries),
            _ => None,
        }
    }

    /// The text, when this is a string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// The value that a JSON pointer names (RFC 6901, unescaped tokens already split off).
    pub(super) fn step(&self, token: &str) -> Option<&Self> {
        match self {
            Self::Object(members) => members.get(token),
            Self::Array(entries) => entries.get(token.parse::<usize>().ok()?),
            _ => None,
        }
    }
}

/// One line, no white space but what stands between members.
impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Number(text) => f.write_str(text),
            Self::String(text) => f.write_str(&quoted(text)),
            Self::Array(entries) => {
                f.write_str("[")?;
                for (index, entry) in entries.iter().enumerate() {
                    let comma = if index == 0 { "" } else { ", " };
                    write!(f, "{comma}{entry}")?;
                }
                f.write_str("]")
            }
            Self::Object(members) => {
                f.write_str("{")?;
                for (index, (key, value)) in members.iter().enumerate() {
                    let comma = if index == 0 { "" } else { ", " };
                    write!(f, "{comma}{}: {value}", quoted(key))?;
                }
                f.write_str("}")
            }
        }
    }
}

/// A JSON string literal of printable characters only: such a text may end up in a log line, so
/// nothing in it may break the line or turn its direction.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if is_unprintable(c) => push_escape(&mut out, c),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// `\uXXXX` for a character that [`is_unprintable`]; all of those lie below U+10000.
pub(super) fn push_escape(out: &mut String, c: char) {
    out.push_str(&format!("\\u{:04x}", u32::from(c)));
}

/// Control characters, line separators and the marks that turn the direction of a text.
pub(super) fn is_unprintable(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// Whether arrays and objects nest deeper than `limit`. Right for every JSON text; any other text fails later.
fn nests_deeper_than(limit: usize, text: &str) -> bool {
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'[' | b'{' if depth == limit => return true,
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}

/// The one spelling of a number that is no 64-bit integer. JSON knows no integer type and JSON Schema calls
/// `1.0` an integer, so equal values are equal numbers.
fn float(value: f64) -> String {
    if value == 0.0 {
        "0".to_owned()
    } else if value.fract() == 0.0 {
        format!("{value:.0}")
    } else {
        format!("{value:?}")
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Number(value.to_string()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Json, E> {
        Ok(Json::Number(value.to_string()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Json, E> {
        Ok(Json::Number(float(value)))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Json, E> {
        Ok(Json::text(value))
    }

    fn visit_string<E: Error>(self, value: String) -> Result<Json, E> {
        Ok(Json::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<Json, A::Error> {
        let mut all = Vec::new();
        while let Some(entry) = entries.next_element()? {
            all.push(entry);
        }
        Ok(Json::Array(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Json, A::Error> {
        let mut all = BTreeMap::new();
        while let Some((key, value)) = members.next_entry()? {
            all.insert(key, value);
        }
        Ok(Json::Object(all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Json {
        Json::read(text).unwrap()
    }

    #[test]
    fn equal_numbers_have_one_spelling() {
        for (a, b) in [
            ("1", "1.0"),
            ("100", "1e2"),
            ("100", "1.00E+2"),
            ("0", "-0"),
            ("0", "-0.0"),
            ("0.5", "5e-1"),
            ("100000000000000000000", "1e20"),
            ("-3", "-3.000"),
        ] {
            assert_eq!(read(a), read(b), "{a} and {b}");
        }
    }

    #[test]
    fn different_numbers_stay_different() {
        for (a, b) in [
            ("1", "1.5"),
            ("9007199254740992", "9007199254740993"),
            ("18446744073709551614", "18446744073709551615"),
            ("1", "-1"),
        ] {
            assert_ne!(read(a), read(b), "{a} and {b}");
        }
        assert_ne!(read("1"), read("\"1\""));
    }

    #[test]
    fn a_printed_number_reads_back() {
        for text in ["1e-7", "123.456e300", "1e300", "5e-324", "-0.1"] {
            let value = read(text);
            assert_eq!(read(&value.to_string()), value, "{text}");
        }
    }

    #[test]
    fn the_last_of_equal_keys_counts() {
        assert_eq!(read(r#"{"a":1,"\u0061":2}"#), read(r#"{"a":2}"#));
    }

    #[test]
    fn nesting_beyond_the_limit_is_an_error_and_not_a_crash() {
        let nested = |depth| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(Json::read(&nested(MAX_DEPTH)).is_ok());
        assert!(matches!(
            Json::read(&nested(MAX_DEPTH + 1)),
            Err(Unreadable::TooDeep)
        ));
        assert!(matches!(
            Json::read(&nested(1_000_000)),
            Err(Unreadable::TooDeep)
        ));
        assert!(matches!(
            Json::read(&"[".repeat(1_000_000)),
            Err(Unreadable::TooDeep)
        ));
        // Brackets in a text are no nesting, brackets side by side neither.
        let flat = format!(
            r#"["{}\"{}", {}[]]"#,
            "[".repeat(200),
            "{".repeat(200),
            "[],".repeat(200)
        );
        assert!(Json::read(&flat).is_ok());
    }

    #[test]
    fn what_is_not_json_is_an_error() {
        for text in [
            "",
            "{",
            "NaN",
            "[1,]",
            "{\"a\":Infinity}",
            "\"\\ud800\"",
            "1 2",
        ] {
            assert!(Json::read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_printed_text_is_one_line_and_reads_back() {
        let value = read("{\"a\\n\\u2028\": \"\\u202eb\\u0007\\\"\\\\\\t\"}");
        let printed = value.to_string();
        assert!(printed.chars().all(|c| !is_unprintable(c)), "{printed}");
        assert_eq!(read(&printed), value);
    }
}
