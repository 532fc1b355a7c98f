//! What can be said of a long line while it still comes in.

use super::Scanner;
use super::skip::Skip;

/// As much of a line shows which of its values is the long one.
const ENOUGH: usize = 1 << 10;

/// A head start with a line that is not whole yet: its long value is checked as it comes, while it is still at hand for
/// the processor and the one who writes it writes on.
///
/// It decides nothing. A line that [`super::look`] finds whole and right with it is found so without it, and
/// where a fault shows here already, the look at the whole line says which one.
#[derive(Clone, Debug, Default)]
pub struct HeadStart {
    begun: bool,
    skip: Option<Skip>,
}

impl HeadStart {
    /// Looks at what is new in `part`, which is all that came of the line so far.
    pub fn feed(&mut self, part: &[u8]) {
        if !self.begun {
            let Some(beginning) = part.get(..ENOUGH) else {
                return;
            };
            self.begun = true;
            self.skip = open_value(beginning).map(Skip::new);
        }
        if let Some(skip) = &mut self.skip
            && skip.feed(part).is_none()
        {
            self.skip = None;
        }
    }

    /// How far it has come.
    pub(super) fn ahead(&self) -> Option<&Skip> {
        self.skip.as_ref()
    }
}

/// Where the array or object begins that the beginning of an object breaks off in.
fn open_value(beginning: &[u8]) -> Option<usize> {
    let mut scanner = Scanner::quick(beginning);
    scanner.take(b'{')?;
    loop {
        scanner.space();
        scanner.key()?;
        scanner.space();
        let at = scanner.at;
        if scanner.pass().is_none() {
            return matches!(beginning.get(at), Some(b'{' | b'[')).then_some(at);
        }
        scanner.space();
        scanner.take(b',')?;
    }
}

#[cfg(test)]
mod tests {
    use super::super::{look, look_ahead};
    use super::*;

    /// A line of which most is `item`, again and again.
    fn line(before: &str, item: &str) -> String {
        let items = vec![item; 9_000 / item.len()].join(",");
        format!(r#"{{"jsonrpc":"2.0",{before}"result":{{"items":[{items}]}}, "id":7}}"#)
    }

    /// What is known of a line of which so much came by and by.
    fn head(part: &str) -> HeadStart {
        let mut head = HeadStart::default();
        for end in (0..part.len()).step_by(1_000).chain([part.len()]) {
            head.feed(&part.as_bytes()[..end]);
        }
        head
    }

    #[test]
    fn what_was_seen_is_not_looked_at_again() {
        for before in ["", r#""id":7,"#, r#""_meta" : {"a":[1]} ,"#] {
            let right = line(before, r#"{"a":-1.5,"b":[true,"x\"y"]}"#);
            let wrong = right.replacen("true", "trux", 1);
            let head = head(&right[..5_000]);
            assert!(look(wrong.as_bytes()).is_err());
            let seen = look_ahead(wrong.as_bytes(), Some(&head)).expect("seen as right");
            assert_eq!(seen.entries, look(right.as_bytes()).expect("JSON").entries);
        }
    }

    #[test]
    fn what_breaks_off_in_another_value_is_looked_at_again() {
        let right = line("", "1");
        for part in [
            &right[..900],
            &right.replacen('1', "x", 1)[..5_000],
            &line(&format!("\"text\":\"{}\",", "x".repeat(2_000)), "1")[..5_000],
            &format!("[{right}")[..5_000],
        ] {
            assert!(head(part).ahead().is_none(), "{}", &part[..40]);
        }
    }

    #[test]
    fn a_line_that_ends_early_is_told_by_itself() {
        let right = line("", r#"{"a":1}"#);
        let head = head(&right[..5_000]);
        for end in [0, 1, 20, 40, 1_000, 4_900, 4_960, 5_000] {
            assert!(look_ahead(&right.as_bytes()[..end], Some(&head)).is_err());
        }
    }
}
