//! Text in columns.

/// `text` in lines of at most `width` characters, broken at blanks where there are any. A line that
/// continues another is indented like it.
pub(super) fn wrap(text: &str, width: usize) -> Vec<String> {
    text.lines()
        .flat_map(|line| wrap_line(line, width))
        .collect()
}

fn wrap_line(line: &str, width: usize) -> Vec<String> {
    let blanks = line.chars().take_while(|c| *c == ' ').count();
    let indent = " ".repeat(blanks.min(width / 2));
    let mut lines = Vec::new();
    let mut current = indent.clone();
    let mut empty = true;
    for word in line.split(' ').filter(|word| !word.is_empty()) {
        let gap = usize::from(!empty);
        if !empty && current.chars().count() + gap + word.chars().count() > width {
            lines.push(std::mem::replace(&mut current, indent.clone()));
            empty = true;
        }
        if !empty {
            current.push(' ');
        }
        for letter in word.chars() {
            if current.chars().count() == width {
                lines.push(std::mem::replace(&mut current, indent.clone()));
            }
            current.push(letter);
        }
        empty = false;
    }
    lines.push(current);
    lines
}

/// `line`, cut to `width` characters with an ellipsis where something is missing.
pub(super) fn clip(line: &str, width: usize) -> String {
    if line.chars().count() <= width {
        return line.to_owned();
    }
    let kept: String = line.chars().take(width.saturating_sub(1)).collect();
    kept + "…"
}

/// Two texts beside each other, each in `width` columns.
pub(super) fn columns(left: &[String], right: &[String], width: usize) -> String {
    let mut out = String::new();
    for at in 0..left.len().max(right.len()) {
        let cell = |side: &[String]| side.get(at).cloned().unwrap_or_default();
        let (left, right) = (cell(left), cell(right));
        let pad = " ".repeat(width.saturating_sub(left.chars().count()));
        let line = format!("{left}{pad} | {right}");
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_at_blanks_and_long_words_anywhere() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("abcdefghij", 4), ["abcd", "efgh", "ij"]);
        assert_eq!(wrap("  deep in here", 8), ["  deep", "  in", "  here"]);
        assert_eq!(wrap("a\n\nb", 5), ["a", "", "b"]);
        assert_eq!(wrap("äöü äöü", 3), ["äöü", "äöü"]);
        let long = "word ".repeat(50) + &"x".repeat(100);
        for width in [1, 2, 7, 45] {
            let lines = wrap(&long, width);
            assert!(lines.iter().all(|l| l.chars().count() <= width), "{width}");
            let letters = |text: &str| text.chars().filter(|c| *c != ' ').collect::<String>();
            assert_eq!(letters(&lines.concat()), letters(&long), "{width}");
        }
    }

    #[test]
    fn a_line_that_is_cut_says_so() {
        assert_eq!(clip("abcdef", 5), "abcd…");
        assert_eq!(clip("abcde", 5), "abcde");
    }

    #[test]
    fn columns_are_as_long_as_the_longer_side() {
        let left = ["ab".to_owned(), "c".to_owned()];
        let right = ["d".to_owned()];
        assert_eq!(columns(&left, &right, 3), "ab  | d\nc   |\n");
        assert_eq!(columns(&right, &left, 3), "d   | ab\n    | c\n");
    }
}
