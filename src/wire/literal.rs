//! JSON string literals: reading and writing them.

use super::scan::plain;
use std::borrow::Cow;

/// The text of a JSON string literal (quotes included) after unescaping.
///
/// `None` when the literal is no string, or when it holds a lone surrogate escape, which no Rust
/// string can represent.
pub fn unescape(literal: &str) -> Option<Cow<'_, str>> {
    let inner = literal.strip_prefix('"')?.strip_suffix('"')?;
    if !has_backslash(inner.as_bytes()) {
        return Some(Cow::Borrowed(inner));
    }
    let text = unescape_short(inner).or_else(|| serde_json::from_str(literal).ok());
    text.map(Cow::Owned)
}

/// Whether a backslash is among the bytes. Most literals are shorter than what a vectorized search needs to begin.
#[inline]
fn has_backslash(bytes: &[u8]) -> bool {
    const LONG: usize = 48;
    const ONES: u64 = u64::MAX / 0xFF;
    let is_in = |word: &[u8; 8]| {
        let word = u64::from_le_bytes(*word) ^ (ONES * b'\\' as u64);
        word.wrapping_sub(ONES) & !word & (ONES << 7) != 0
    };
    if bytes.len() > LONG {
        return memchr::memchr(b'\\', bytes).is_some();
    }
    let (words, rest) = bytes.as_chunks();
    words.iter().any(is_in)
        || match bytes.last_chunk() {
            // The last eight bytes, some of them for the second time.
            Some(last) => is_in(last),
            None => rest.contains(&b'\\'),
        }
}

/// Unescapes what holds no escapes but the short ones; `None` for anything else, be it right or wrong.
fn unescape_short(inner: &str) -> Option<String> {
    let mut text = String::with_capacity(inner.len());
    let mut rest = inner;
    loop {
        let (head, tail) = rest.split_at_checked(plain(rest.as_bytes()))?;
        text.push_str(head);
        let byte = match tail.as_bytes() {
            [] => return Some(text),
            [b'\\', byte, ..] => *byte,
            _ => return None,
        };
        text.push(match byte {
            b'"' | b'\\' | b'/' => char::from(byte),
            b'n' => '\n',
            b't' => '\t',
            b'r' => '\r',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            _ => return None,
        });
        rest = tail.get(2..)?;
    }
}

/// A JSON string literal for `text`, quotes included. Only what must be escaped is.
pub fn quote(text: &str) -> String {
    let mut literal = String::with_capacity(text.len() + text.len() / 16 + 2);
    literal.push('"');
    push_escaped(&mut literal, text);
    literal.push('"');
    literal
}

/// Appends `text` as it stands inside a JSON string literal.
pub fn push_escaped(literal: &mut String, text: &str) {
    let mut rest = text;
    loop {
        // What must be escaped is ASCII, so both sides of it are text.
        let (head, tail) = rest.split_at(plain(rest.as_bytes()));
        literal.push_str(head);
        let Some(&byte) = tail.as_bytes().first() else {
            return;
        };
        match byte {
            b'"' => literal.push_str("\\\""),
            b'\\' => literal.push_str("\\\\"),
            b'\n' => literal.push_str("\\n"),
            b'\t' => literal.push_str("\\t"),
            b'\r' => literal.push_str("\\r"),
            0x08 => literal.push_str("\\b"),
            0x0C => literal.push_str("\\f"),
            _ => {
                literal.push_str(if byte < 0x10 { "\\u000" } else { "\\u001" });
                literal.extend(char::from_digit(u32::from(byte & 0xF), 16));
            }
        }
        rest = &tail[1..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn both_ways_are_those_of_serde_json(
            text in any::<String>(),
            odd in "[\\x00-\\x1f\"\\\\a-c\u{7f}é\u{2028}😀]{0,40}",
        ) {
            for text in [text, odd] {
                let literal = quote(&text);
                prop_assert_eq!(&literal, &serde_json::to_string(&text).unwrap());
                let read = unescape(&literal);
                prop_assert_eq!(read.as_deref(), Some(&*text));
            }
        }

        #[test]
        fn a_backslash_is_found_anywhere(length in 0usize..100, at: prop::sample::Index, near in 0x5Bu8..=0x5D) {
            let mut bytes = vec![near; length];
            prop_assert_eq!(has_backslash(&bytes), length > 0 && near == b'\\');
            bytes.fill(near | 0x80);
            prop_assert!(!has_backslash(&bytes));
            if length > 0 {
                bytes[at.index(length)] = b'\\';
                prop_assert!(has_backslash(&bytes));
            }
        }

        #[test]
        fn a_literal_is_read_as_by_serde_json(inner in r#"(\\["\\/bfnrtux]|\\u00[0-9a-fA-F]{2}|\\ud83d\\ude00|\\udc00|[ -~é\t"]){0,12}"#) {
            let literal = format!("\"{inner}\"");
            let wanted = serde_json::from_str::<String>(&literal).ok();
            let read = unescape(&literal);
            // Without a backslash nothing is checked: such a literal comes from a message that was scanned.
            if inner.contains('\\') {
                prop_assert_eq!(read.as_deref(), wanted.as_deref());
            }
        }
    }
}
