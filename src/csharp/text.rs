//! Where a string or character literal ends: ordinary, verbatim, interpolated and raw, in any nesting.
//!
//! An interpolated literal holds code in its holes, and that code holds literals again. The nesting is kept on a
//! stack of our own, so that no input, however deep, can exhaust the thread's.

use super::lines::{line_end, line_end_len};

/// The end of the string literal that starts at `at`; `Err` with the end of the run when the `$` and `@` there (or
/// nothing at all) are not followed by a quote.
pub(super) fn string_end(bytes: &[u8], at: usize) -> Result<usize, usize> {
    let mut scan = Scan {
        bytes,
        at,
        open: Vec::new(),
    };
    scan.opener()?;
    while let Some(literal) = scan.open.last().copied() {
        if scan.at >= bytes.len() {
            return Ok(bytes.len());
        }
        match literal.place {
            Place::Text => scan.text(literal),
            Place::Hole { depth } => scan.hole(depth),
            Place::Format => scan.format(literal),
        }
    }
    Ok(scan.at)
}

/// The end of the character literal whose opening `'` stands at `at`. It ends with its line at the latest.
pub(super) fn character_end(bytes: &[u8], at: usize) -> usize {
    let mut at = at + 1;
    while at < bytes.len() && line_end_len(bytes, at) == 0 {
        match bytes[at] {
            b'\'' => return at + 1,
            b'\\' => at = after_escape(bytes, at),
            _ => at += 1,
        }
    }
    at
}

/// The end of the comment that starts at `at`, or `None` when no comment does.
pub(super) fn comment_end(bytes: &[u8], at: usize) -> Option<usize> {
    match bytes.get(at..at + 2)? {
        b"//" => Some(line_end(bytes, at)),
        b"/*" => Some(
            memchr::memmem::find(&bytes[at + 2..], b"*/").map_or(bytes.len(), |i| at + 2 + i + 2),
        ),
        _ => None,
    }
}

#[derive(Clone, Copy)]
struct Literal {
    style: Style,
    /// Braces that open a hole; 0 when the literal is not interpolated.
    dollars: usize,
    place: Place,
}

#[derive(Clone, Copy, PartialEq)]
enum Style {
    Ordinary,
    Verbatim,
    Raw { quotes: usize, one_line: bool },
}

#[derive(Clone, Copy)]
enum Place {
    Text,
    /// In a hole's expression, `depth` brackets of any kind deep.
    Hole {
        depth: usize,
    },
    /// Behind a hole's colon.
    Format,
}

struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
    open: Vec<Literal>,
}

impl Scan<'_> {
    /// Steps over a literal's prefix and opening quotes and opens it.
    fn opener(&mut self) -> Result<(), usize> {
        let prefix = run(self.bytes, self.at, |b| b == b'$' || b == b'@');
        let quote = self.at + prefix;
        let quotes = run(self.bytes, quote, |b| b == b'"');
        if quotes == 0 {
            return Err(quote);
        }
        let dollars = self.bytes[self.at..quote]
            .iter()
            .filter(|&&b| b == b'$')
            .count();
        let style = match quotes {
            _ if dollars < prefix => Style::Verbatim,
            1 | 2 => Style::Ordinary,
            _ => {
                let text = quote + quotes;
                let blank = run(self.bytes, text, |b| b == b' ' || b == b'\t');
                Style::Raw {
                    quotes,
                    one_line: line_end_len(self.bytes, text + blank) == 0,
                }
            }
        };
        self.at = quote
            + if matches!(style, Style::Raw { .. }) {
                quotes
            } else {
                1
            };
        self.open.push(Literal {
            style,
            dollars,
            place: Place::Text,
        });
        Ok(())
    }

    fn enter(&mut self, place: Place) {
        if let Some(literal) = self.open.last_mut() {
            literal.place = place;
        }
    }

    /// Ends the innermost literal where the scan stands.
    fn close(&mut self) {
        self.open.pop();
    }

    /// Takes a quote, an escape or a line ending that means something inside the literal (in its text or in a
    /// format). `false` when the byte is none of these.
    fn quote_or_escape(&mut self, style: Style) -> bool {
        match (style, self.bytes[self.at]) {
            (Style::Raw { quotes, .. }, b'"') => {
                let found = run(self.bytes, self.at, |b| b == b'"');
                self.at += found;
                if found >= quotes {
                    self.close();
                }
            }
            (Style::Verbatim, b'"') if self.bytes.get(self.at + 1) == Some(&b'"') => self.at += 2,
            (_, b'"') => {
                self.at += 1;
                self.close();
            }
            (Style::Ordinary, b'\\') => self.at = after_escape(self.bytes, self.at),
            // Broken code: the compiler, too, gives the literal up at the end of its line.
            (Style::Ordinary | Style::Raw { one_line: true, .. }, _)
                if line_end_len(self.bytes, self.at) > 0 =>
            {
                self.close();
            }
            _ => return false,
        }
        true
    }

    fn text(&mut self, literal: Literal) {
        if self.quote_or_escape(literal.style) {
            return;
        }
        if self.bytes[self.at] != b'{' || literal.dollars == 0 {
            self.at += 1;
            return;
        }
        let braces = run(self.bytes, self.at, |b| b == b'{');
        self.at += braces;
        let opens = match literal.style {
            Style::Raw { .. } => braces >= literal.dollars,
            // Doubled braces are text.
            _ => braces % 2 == 1,
        };
        if opens {
            self.enter(Place::Hole { depth: 0 });
        }
    }

    fn hole(&mut self, depth: usize) {
        if let Some(end) = comment_end(self.bytes, self.at) {
            self.at = end;
            return;
        }
        match self.bytes[self.at] {
            b'"' | b'$' | b'@' => {
                if let Err(end) = self.opener() {
                    self.at = end;
                }
            }
            b'\'' => self.at = character_end(self.bytes, self.at),
            b'(' | b'[' | b'{' => {
                self.at += 1;
                self.enter(Place::Hole { depth: depth + 1 });
            }
            b'}' if depth == 0 => self.leave_hole(),
            b')' | b']' | b'}' => {
                self.at += 1;
                self.enter(Place::Hole {
                    depth: depth.saturating_sub(1),
                });
            }
            // `global::X` is no format; `a ? b : c` stands in parentheses, or its colon is one.
            b':' if self.bytes.get(self.at + 1) == Some(&b':') => self.at += 2,
            b':' if depth == 0 => {
                self.at += 1;
                self.enter(Place::Format);
            }
            _ => self.at += 1,
        }
    }

    fn format(&mut self, literal: Literal) {
        if self.quote_or_escape(literal.style) {
            return;
        }
        match self.bytes[self.at] {
            b'}' => self.leave_hole(),
            _ => self.at += 1,
        }
    }

    /// Steps over the brace that ends a hole. Where a raw literal takes several, the others pass as text.
    fn leave_hole(&mut self) {
        self.at += 1;
        self.enter(Place::Text);
    }
}

/// How many bytes from `at` on satisfy `is`.
fn run(bytes: &[u8], at: usize, is: impl Fn(u8) -> bool) -> usize {
    bytes
        .get(at..)
        .unwrap_or_default()
        .iter()
        .take_while(|&&b| is(b))
        .count()
}

/// Steps over a backslash and what it escapes; a line ending is never escaped.
fn after_escape(bytes: &[u8], at: usize) -> usize {
    let escaped = bytes.get(at + 1).is_some_and(u8::is_ascii_graphic);
    at + 1 + usize::from(escaped)
}
