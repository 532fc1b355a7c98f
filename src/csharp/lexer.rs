//! A small C# tokenizer: good enough to tell code from text.
//!
//! It follows C# 13 (raw strings, newlines in holes), a superset of what the Editor's compilers take; where broken code
//! leaves a choice it gives up a literal at the end of its line, as compilers do. It never fails and reads each byte a
//! bounded number of times. Where mcs (6.8, measured) departs from the language, it goes with the language: mcs takes
//! U+0085 for no line ending, and an escaped keyword such as `\u0075sing` for the keyword.

use super::conditional::Conditionals;
use super::lines::{line_end, line_end_len};
use super::text::{character_end, comment_end, string_end};
use std::ops::Range;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    /// An identifier or keyword, written plainly.
    Word,
    /// An identifier that is written with `@` or a `\u` escape, and so is never a keyword.
    EscapedWord,
    /// A number literal.
    Number,
    /// A whole string literal of any form, with the holes of an interpolated one.
    Text,
    /// A character literal.
    Character,
    /// A line or block comment.
    Comment,
    /// A preprocessor line, from its `#` to the end of the line.
    Directive,
    /// Lines in an `#if` section that are not sure to be compiled: skipped, or decided by a symbol unknown here.
    Uncompiled,
    /// Anything else: one character, or one of `::`, `==`, `=>`, `->`.
    Punctuator,
}

/// A token and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// The bytes it takes up; always whole characters, never empty.
    pub range: Range<usize>,
}

/// The tokens of `code`, in order. What lies between two of them is white space.
pub fn tokens(code: &str) -> Tokens<'_> {
    Tokens {
        code,
        at: 0,
        line_start: true,
        conditionals: Conditionals::default(),
    }
}

/// Iterator over the tokens of a snippet, see [`tokens`].
#[derive(Debug)]
pub struct Tokens<'a> {
    code: &'a str,
    at: usize,
    /// Whether only white space stands before `at` on its line: a `#` elsewhere starts no directive.
    line_start: bool,
    conditionals: Conditionals,
}

impl Iterator for Tokens<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        if !self.conditionals.active()
            && let Some(token) = self.uncompiled()
        {
            return Some(token);
        }
        self.skip_white_space();
        let start = self.at;
        let first = self.char_at(start)?;
        let (kind, end) = if first == '#' && self.line_start {
            let end = line_end(self.code.as_bytes(), start);
            self.conditionals.see(self.code.get(start..end)?);
            (TokenKind::Directive, end)
        } else {
            self.token(start, first)
        };
        self.line_start = false;
        self.at = end;
        Some(Token {
            kind,
            range: start..end,
        })
    }
}

impl Tokens<'_> {
    fn char_at(&self, at: usize) -> Option<char> {
        self.code.get(at..)?.chars().next()
    }

    fn skip_white_space(&mut self) {
        while let Some(c) = self.char_at(self.at) {
            match line_end_len(self.code.as_bytes(), self.at) {
                0 if is_white_space(c) => self.at += c.len_utf8(),
                0 => return,
                n => {
                    self.at += n;
                    self.line_start = true;
                }
            }
        }
    }

    /// The lines up to the next directive that could change whether lines are compiled: nothing in them need even be
    /// well-formed C#.
    fn uncompiled(&mut self) -> Option<Token> {
        self.skip_white_space();
        let start = self.at;
        let mut end = start;
        while let Some(c) = self.char_at(self.at)
            && !(c == '#' && self.line_start)
        {
            end = line_end(self.code.as_bytes(), self.at);
            self.at = end;
            self.line_start = false;
            self.skip_white_space();
        }
        (end > start).then_some(Token {
            kind: TokenKind::Uncompiled,
            range: start..end,
        })
    }

    fn token(&self, start: usize, first: char) -> (TokenKind, usize) {
        let bytes = self.code.as_bytes();
        if let Some(end) = comment_end(bytes, start) {
            return (TokenKind::Comment, end);
        }
        match first {
            '"' | '$' | '@' => match string_end(bytes, start) {
                Ok(end) => (TokenKind::Text, end),
                Err(end) if first == '@' && end == start + 1 && self.word_end(end) > end => {
                    (TokenKind::EscapedWord, self.word_end(end))
                }
                Err(end) => (TokenKind::Punctuator, end),
            },
            '\'' => (TokenKind::Character, character_end(bytes, start)),
            '0'..='9' => (TokenKind::Number, number_end(bytes, start)),
            '.' if bytes.get(start + 1).is_some_and(u8::is_ascii_digit) => {
                (TokenKind::Number, number_end(bytes, start))
            }
            _ => match self.word_end(start) {
                end if end == start => (TokenKind::Punctuator, self.punctuator_end(start, first)),
                end if bytes[start..end].contains(&b'\\') => (TokenKind::EscapedWord, end),
                end => (TokenKind::Word, end),
            },
        }
    }

    fn punctuator_end(&self, start: usize, first: char) -> usize {
        match self.code.as_bytes().get(start..start + 2) {
            Some(b"::" | b"==" | b"=>" | b"->") => start + 2,
            _ => start + first.len_utf8(),
        }
    }

    /// The end of the identifier at `start`, or `start` itself when none starts there.
    fn word_end(&self, start: usize) -> usize {
        let mut at = start;
        while let Some(c) = self.char_at(at) {
            at += match c {
                '_' | 'a'..='z' | 'A'..='Z' => 1,
                '0'..='9' if at > start => 1,
                '\\' => match escape_len(self.code.as_bytes(), at) {
                    0 => break,
                    n => n,
                },
                // Beyond ASCII only letters and marks can stand in code at all: no need to tell them apart.
                _ if !c.is_ascii() && !is_white_space(c) => c.len_utf8(),
                _ => break,
            };
        }
        at
    }
}

/// White space and line endings. Like Roslyn this takes U+FEFF and U+001A for white space: a snippet may start with a
/// byte order mark.
fn is_white_space(c: char) -> bool {
    c.is_whitespace() || c == '\u{feff}' || c == '\u{1a}'
}

/// Length of a `\uXXXX` or `\UXXXXXXXX` at `at`, else 0.
fn escape_len(bytes: &[u8], at: usize) -> usize {
    let digits = match bytes.get(at + 1) {
        Some(b'u') => 4,
        Some(b'U') => 8,
        _ => return 0,
    };
    let hex = bytes.get(at + 2..at + 2 + digits);
    hex.filter(|hex| hex.iter().all(u8::is_ascii_hexdigit))
        .map_or(0, |hex| hex.len() + 2)
}

fn number_end(bytes: &[u8], start: usize) -> usize {
    let based = matches!(
        bytes.get(start..start + 2),
        Some([b'0', b'x' | b'X' | b'b' | b'B'])
    );
    let digit_at = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let mut at = start + 1;
    while let Some(&b) = bytes.get(at) {
        let goes_on = match b {
            b'_' => true,
            b'.' => digit_at(at + 1) && bytes[at - 1] != b'.',
            b'+' | b'-' => !based && matches!(bytes[at - 1], b'e' | b'E') && digit_at(at + 1),
            _ => b.is_ascii_alphanumeric(),
        };
        if !goes_on {
            break;
        }
        at += 1;
    }
    at
}

#[cfg(test)]
#[path = "lexer_tests.rs"]
mod tests;
