//! Lone surrogate escapes: JSON that no Rust string can hold, but that its reader may well show.

use std::borrow::Cow;

/// The text of a JSON string literal (quotes included), with U+FFFD for each lone surrogate escape; `None` when
/// the literal is no string. For looking only: the text cannot be written back.
pub fn unescape_lossy(literal: &str) -> Option<Cow<'_, str>> {
    super::unescape(literal).or_else(|| {
        let mended = mended(literal)?;
        super::unescape(&mended).map(|text| text.into_owned().into())
    })
}

/// JSON text with `\ufffd` for each lone surrogate escape; `None` when it holds none.
pub fn mended(json: &str) -> Option<String> {
    let mut out = String::new();
    let mut from = 0;
    let mut at = 0;
    while let Some(next) = json.get(at..).and_then(|rest| rest.find('\\')) {
        at += next;
        match (unit(json, at), unit(json, at + 6)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => at += 12,
            (Some(0xD800..=0xDFFF), _) => {
                out.push_str(json.get(from..at)?);
                out.push_str("\\ufffd");
                at += 6;
                from = at;
            }
            // The escaped byte may itself be a backslash.
            _ => at += 2,
        }
    }
    if from == 0 {
        return None;
    }
    out.push_str(json.get(from..)?);
    Some(out)
}

/// The UTF-16 unit of the `\uXXXX` at `at`.
fn unit(json: &str, at: usize) -> Option<u16> {
    let digits = json.get(at..at + 6)?.strip_prefix("\\u")?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lone_halves_are_replaced() {
        for (json, expected) in [
            (r#""a\ud83d""#, r#""a\ufffd""#),
            (r#""\uDC00b\\""#, r#""\ufffdb\\""#),
            (r#""\ud83d\ud83d\ude00""#, r#""\ufffd\ud83d\ude00""#),
            (r#""\\\ud83dé\n""#, r#""\\\ufffdé\n""#),
            (r#""\ud83d\u0041""#, r#""\ufffd\u0041""#),
        ] {
            assert_eq!(mended(json).as_deref(), Some(expected), "{json}");
        }
        for whole in [
            r#""\ud83d\ude00""#,
            r#""\\ud83d""#,
            r#""\u0041é""#,
            r#""é\"#,
            r#""\u12"#,
            "",
        ] {
            assert_eq!(mended(whole), None, "{whole}");
        }
        assert_eq!(
            unescape_lossy(r#""a\ud83d\n""#).as_deref(),
            Some("a\u{fffd}\n")
        );
        assert_eq!(unescape_lossy("5"), None);
    }
}
