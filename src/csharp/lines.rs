//! Lines as C# counts them.

/// Length in bytes of the line ending at `at`, 0 when there is none.
///
/// C# ends a line at `\n`, `\r\n`, a lone `\r`, U+0085, U+2028 and U+2029 alike.
pub(super) fn line_end_len(bytes: &[u8], at: usize) -> usize {
    match bytes.get(at..).unwrap_or_default() {
        [b'\r', b'\n', ..] => 2,
        [b'\r' | b'\n', ..] => 1,
        [0xc2, 0x85, ..] => 2,
        [0xe2, 0x80, 0xa8 | 0xa9, ..] => 3,
        _ => 0,
    }
}

/// The end of the line that holds `at`: the offset of its line ending, or the text's length.
pub(super) fn line_end(bytes: &[u8], at: usize) -> usize {
    (at..bytes.len())
        .find(|&i| line_end_len(bytes, i) > 0)
        .unwrap_or(bytes.len())
}

/// The 1-based line that byte `offset` of `code` lies in; an offset past the end counts as the end.
pub fn line_of(code: &str, offset: usize) -> usize {
    let bytes = code.as_bytes();
    let (mut at, mut line) = (0, 1);
    while at < offset.min(bytes.len()) {
        match line_end_len(bytes, at) {
            0 => at += 1,
            n => {
                at += n;
                // An offset between `\r` and `\n` still belongs to the line that they end.
                line += usize::from(at <= offset);
            }
        }
    }
    line
}

/// How many lines `code` takes up. Text behind the last line ending is a line, be it empty: what is put after
/// `code` and one `\n` begins on line `line_count(code) + 1`.
pub fn line_count(code: &str) -> usize {
    line_of(code, code.len())
}

#[cfg(test)]
mod tests {
    use super::{line_count, line_of};

    #[test]
    fn every_line_ending_of_the_language_counts_once() {
        assert_eq!(line_count(""), 1);
        assert_eq!(line_count("a"), 1);
        assert_eq!(line_count("a\n"), 2);
        assert_eq!(line_count("a\r\nb\rc\nd"), 4);
        assert_eq!(line_count("a\u{85}b\u{2028}c\u{2029}d"), 4);
        assert_eq!(line_count("a\u{c5}b\u{2027}c\u{b}d\u{c}"), 1);
    }

    #[test]
    fn an_offset_belongs_to_the_line_it_lies_in() {
        let code = "ab\r\nc\n\nd";
        let lines: Vec<_> = (0..=code.len() + 1).map(|i| line_of(code, i)).collect();
        assert_eq!(lines, [1, 1, 1, 1, 2, 2, 3, 4, 4, 4]);
    }
}
