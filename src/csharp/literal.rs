//! C# string literals.

use std::fmt::Write;

/// Writes `text` as an ordinary C# string literal, quotes included, in printable ASCII alone.
///
/// What stands outside 0x20–0x7E becomes `\uXXXX`, or `\UXXXXXXXX` beyond the basic plane. Both escapes have a fixed
/// length, unlike `\x`, so a following digit is never drawn in.
pub fn string_literal(text: &str) -> String {
    let mut literal = String::with_capacity(text.len() + 2);
    literal.push('"');
    for c in text.chars() {
        let code = u32::from(c);
        match c {
            '"' | '\\' => literal.extend(['\\', c]),
            ' '..='~' => literal.push(c),
            // Writing to a String cannot fail.
            _ if code <= 0xffff => drop(write!(literal, "\\u{code:04x}")),
            _ => drop(write!(literal, "\\U{code:08x}")),
        }
    }
    literal.push('"');
    literal
}

#[cfg(test)]
mod tests {
    use super::string_literal;
    use proptest::prelude::*;

    #[test]
    fn escapes_what_would_end_or_bend_the_literal() {
        assert_eq!(string_literal(""), r#""""#);
        assert_eq!(string_literal(r#"it's "x"\"#), r#""it's \"x\"\\""#);
        assert_eq!(
            string_literal("a\r\n\t\0"),
            r#""a\u000d\u000a\u0009\u0000""#
        );
        assert_eq!(string_literal(" ~\u{7f}"), r#"" ~\u007f""#);
    }

    #[test]
    fn spells_everything_else_in_lower_case_hex() {
        assert_eq!(
            string_literal("D:/Ünity/日本"),
            r#""D:/\u00dcnity/\u65e5\u672c""#
        );
        assert_eq!(
            string_literal("\u{2028}\u{feff}\u{ffff}"),
            r#""\u2028\ufeff\uffff""#
        );
        assert_eq!(
            string_literal("\u{10000}😀\u{10ffff}"),
            r#""\U00010000\U0001f600\U0010ffff""#
        );
    }

    /// Reads a literal back the way a C# compiler does.
    fn read(literal: &str) -> String {
        let mut chars = literal[1..literal.len() - 1].chars();
        let mut text = String::new();
        while let Some(c) = chars.next() {
            assert_ne!(c, '"', "a bare quote ends the literal early");
            let digits = match (c, if c == '\\' { chars.next() } else { None }) {
                (_, Some('u')) => 4,
                (_, Some('U')) => 8,
                (_, escaped) => {
                    text.push(escaped.unwrap_or(c));
                    continue;
                }
            };
            let hex: String = chars.by_ref().take(digits).collect();
            text.extend(char::from_u32(u32::from_str_radix(&hex, 16).unwrap()));
        }
        text
    }

    proptest! {
        #[test]
        fn is_printable_ascii_and_reads_back(text in any::<String>()) {
            let literal = string_literal(&text);
            prop_assert!(literal.bytes().all(|b| (0x20..=0x7e).contains(&b)));
            prop_assert_eq!(read(&literal), text);
        }
    }
}
