//! Whether two JSON values are one value, whatever their spelling.

use super::object::{Object, Raw};
use super::unescape;
use std::collections::BTreeMap;

/// Whether `a` and `b` are the same value: key order, white space and escapes do not count, of equal keys the last
/// does. Strict on types, `0` being neither `false` nor `0.0`, and on integers of any length, which a float cannot
/// hold. As deep as the shallower of the two nests it calls itself: one of them must have passed a parser with a
/// limit.
pub fn same(a: Raw<'_>, b: Raw<'_>) -> bool {
    match (a.text.as_bytes().first(), b.text.as_bytes().first()) {
        (Some(b'{'), Some(b'{')) => match (a.as_object(), b.as_object()) {
            (Some(a), Some(b)) => same_objects(&a, &b),
            _ => false,
        },
        (Some(b'['), Some(b'[')) => match (a.as_array(), b.as_array()) {
            (Some(a), Some(b)) => a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| same(*a, *b)),
            _ => false,
        },
        (Some(b'"'), Some(b'"')) => {
            a.text == b.text || unescape(a.text).is_some_and(|a| Some(a) == unescape(b.text))
        }
        _ => a.text == b.text || same_numbers(a.text, b.text),
    }
}

fn same_objects(a: &Object<'_>, b: &Object<'_>) -> bool {
    let (Some(a), Some(b)) = (values(a), values(b)) else {
        return false;
    };
    a.len() == b.len()
        && a.iter()
            .zip(&b)
            .all(|((a_key, a), (b_key, b))| a_key == b_key && same(*a, *b))
}

/// An object's values by key; `None` when a key holds half a surrogate pair.
fn values<'a>(object: &Object<'a>) -> Option<BTreeMap<String, Raw<'a>>> {
    let entries = object.entries();
    entries
        .map(|(key, value)| Some((key.as_str()?.into_owned(), value)))
        .collect()
}

fn same_numbers(a: &str, b: &str) -> bool {
    let float = |text: &str| {
        let text = Some(text).filter(|text| text.contains(['.', 'e', 'E']))?;
        text.parse::<f64>().ok()
    };
    let is_zero = |text| matches!(text, "0" | "-0");
    float(a).is_some_and(|a| Some(a) == float(b)) || (is_zero(a) && is_zero(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_same(a: &str, b: &str) -> bool {
        let [ab, ba] = [(a, b), (b, a)].map(|(a, b)| same(Raw::whole(a), Raw::whole(b)));
        assert_eq!(ab, ba, "{a} {b}");
        ab
    }

    #[test]
    fn spelling_does_not_count() {
        for (a, b) in [
            (
                r#"{"a":1,"b":[true]}"#,
                r#"{ "b" : [ true ], "\u0061" : 1 }"#,
            ),
            (r#"{"a":1,"a":2}"#, r#"{"a":2}"#),
            (r#""\u00e9\/""#, "\"é/\""),
            ("1.50", "15e-1"),
            ("-0", "0"),
            (
                "[123456789012345678901234567890]",
                "[123456789012345678901234567890]",
            ),
            ("{}", "{ }"),
            ("null", "null"),
        ] {
            assert!(is_same(a, b), "{a} {b}");
        }
    }

    #[test]
    fn types_and_values_do() {
        for (a, b) in [
            ("0", "false"),
            ("1", "1.0"),
            ("1", "\"1\""),
            ("[]", "{}"),
            ("[1]", "[1,1]"),
            (r#"{"a":1}"#, r#"{"a":1,"b":null}"#),
            (r#"{"a":1}"#, r#"{"b":1}"#),
            (
                "123456789012345678901234567890",
                "123456789012345678901234567891",
            ),
            ("9007199254740993", "9007199254740992"),
            ("true", "false"),
            (r#""\ud83d""#, r#""\ud83e""#),
        ] {
            assert!(!is_same(a, b), "{a} {b}");
        }
    }
}
