//! JSON string literals, character by character: what is read of one without unescaping all of it.

/// The characters of a literal (quotes included), each with its offset in the literal. Ends where the literal does, and
/// at anything that no Rust string can hold.
pub fn chars(literal: &str) -> impl Iterator<Item = (usize, char)> + '_ {
    let mut at = 1;
    std::iter::from_fn(move || {
        let start = at;
        let (c, bytes) = next(literal.get(start..)?)?;
        at += bytes;
        Some((start, c))
    })
}

/// The first character of what is left of a literal, and how many bytes it takes there.
fn next(rest: &str) -> Option<(char, usize)> {
    let c = rest.chars().next().filter(|c| *c != '"')?;
    if c != '\\' {
        return Some((c, c.len_utf8()));
    }
    let plain = |c| Some((c, 2));
    match rest.as_bytes().get(1)? {
        b'n' => plain('\n'),
        b'r' => plain('\r'),
        b't' => plain('\t'),
        b'b' => plain('\u{8}'),
        b'f' => plain('\u{c}'),
        b'u' => {
            let first = unit(rest)?;
            let second = rest.get(6..).and_then(unit).unwrap_or_default();
            let decoded = char::decode_utf16([first, second]).next()?.ok()?;
            Some((decoded, 6 * decoded.len_utf16()))
        }
        same => plain(char::from(*same)),
    }
}

/// The UTF-16 unit of the `\uXXXX` that `text` begins with.
fn unit(text: &str) -> Option<u16> {
    u16::from_str_radix(text.strip_prefix("\\u")?.get(..4)?, 16).ok()
}

/// Where the bytes at `offsets` (ascending) of a literal's unescaped text stand in the literal; the text's end is the
/// closing quote. `None` when one of them is no character's.
pub fn places(literal: &str, offsets: &[usize]) -> Option<Vec<usize>> {
    let mut places = Vec::with_capacity(offsets.len());
    let mut wanted = offsets.iter().peekable();
    let mut text = 0;
    let end = literal.len().checked_sub(1)?;
    let behind = std::iter::once((end, '"'));
    for (at, c) in chars(literal).chain(behind) {
        while wanted.next_if(|offset| **offset == text).is_some() {
            places.push(at);
        }
        text += c.len_utf8();
    }
    wanted.next().is_none().then_some(places)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{quote, unescape};
    use proptest::prelude::*;

    #[test]
    fn every_escape_is_read() {
        let literal = r#""a\n\r\t\b\f\"\\\/\u0041\u00e9\ud83d\ude00é😀""#;
        let read: String = chars(literal).map(|(_, c)| c).collect();
        assert_eq!(Some(&*read), unescape(literal).as_deref());
        assert_eq!(read, "a\n\r\t\u{8}\u{c}\"\\/Aé😀é😀");
    }

    #[test]
    fn reading_ends_where_nothing_can_be_read() {
        for (literal, read) in [
            (r#""a\ud83dx""#, "a"),
            (r#""a\ud83d\u0041""#, "a"),
            (r#""ab\u00"#, "ab"),
            (r#""ab\"#, "ab"),
            (r#""a"b""#, "a"),
            ("\"", ""),
            ("", ""),
        ] {
            let found: String = chars(literal).map(|(_, c)| c).collect();
            assert_eq!(found, read, "{literal}");
        }
        assert_eq!(places("", &[]), None);
        assert_eq!(places(r#""\u00e9""#, &[1]), None, "inside of a character");
        assert_eq!(places(r#""ab""#, &[3]), None, "behind the end");
    }

    proptest! {
        #[test]
        fn a_place_is_where_the_rest_begins(text: String, cut: prop::sample::Index, ascii: bool) {
            let mut literal = quote(&text);
            if ascii {
                let escaped = literal.chars().flat_map(|c| {
                    let mut units = [0; 2];
                    let units = c.encode_utf16(&mut units).iter();
                    let escape = |unit: &u16| format!("\\u{unit:04x}");
                    if c.is_ascii() { vec![c.to_string()] } else { units.map(escape).collect() }
                });
                literal = escaped.collect();
            }
            let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
            let offset = *cut.get(&ends);
            let found = places(&literal, &[0, offset, offset, text.len()]);
            let [start, at, again, end] = found.as_deref().unwrap_or_default() else {
                panic!("{found:?}");
            };
            prop_assert_eq!((*start, *end, at), (1, literal.len() - 1, again));
            let tail = format!("\"{}", &literal[*at..]);
            let tail = unescape(&tail);
            prop_assert_eq!(tail.as_deref(), Some(&text[offset..]));
        }
    }
}
