//! Finds a using *directive* in a snippet.
//!
//! A snippet lands in a method body, where only using statements and declarations can stand. Told apart on tokens:
//! a directive goes on with `static` or `unsafe`, or with a dotted name and `;` or `=`. In no using statement or
//! declaration does one of these follow, whatever stands before it, so nothing that compiles is ever taken for one.
//!
//! Lines in an `#if` section count only when they are compiled whatever symbols the Editor defines. A directive in
//! others may never reach the compiler, and a snippet that runs as it is must not be refused; where the symbol is
//! defined after all, the compiler's own error is what the caller reads.

use super::lexer::{Token, TokenKind, tokens};
use super::lines::{line_end, line_of};

/// A using directive found in a snippet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsingDirective {
    /// The directive as it is written, on one line; cut off with `...` when it is long.
    pub text: String,
    /// The 1-based line of the snippet that it starts on.
    pub line: usize,
}

/// The first using directive of `code`, or `None`.
pub fn using_directive(code: &str) -> Option<UsingDirective> {
    // The keyword has one spelling, and most snippets do not hold it.
    memchr::memmem::find(code.as_bytes(), b"using")?;
    let mut search = Search {
        code,
        before: Before::Other,
        place: Place::Elsewhere,
        start: 0,
    };
    let mut tokens =
        tokens(code).filter(|t| !matches!(t.kind, TokenKind::Comment | TokenKind::Directive));
    let last = tokens.find(|token| search.is_directive_at(token))?;
    // Only for the message: up to the closing semicolon, but not past the line that proved it.
    let line_end = line_end(code.as_bytes(), last.range.end);
    let end = std::iter::once(last)
        .chain(tokens)
        .take_while(|t| t.range.end <= line_end)
        .find(|t| code.get(t.range.clone()) == Some(";"))
        .map_or(line_end, |t| t.range.end);
    Some(UsingDirective {
        text: excerpt(code.get(search.start..end)?),
        line: line_of(code, search.start),
    })
}

/// What stands right before a token.
#[derive(Clone, Copy, PartialEq)]
enum Before {
    /// `.`, `::` or `->`: what follows is a member.
    Access,
    /// `await`: what follows is a statement.
    Await,
    /// `global`, which starts at this offset.
    Global(usize),
    Other,
}

/// How far a directive has come.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Elsewhere,
    /// Behind `using`.
    Using,
    /// Behind a name, dotted or not.
    Name,
    /// Behind a dot or `::` in a name.
    Separator,
}

struct Search<'a> {
    code: &'a str,
    before: Before,
    place: Place,
    /// Where the directive at hand starts.
    start: usize,
}

impl Search<'_> {
    /// Takes in the next token; `true` when it makes what came before it a directive beyond doubt.
    fn is_directive_at(&mut self, token: &Token) -> bool {
        let text = match token.kind {
            // Whether something stands here at all is not known: nothing that spans it can be told.
            TokenKind::Uncompiled => "",
            _ => self.code.get(token.range.clone()).unwrap_or_default(),
        };
        let plain = token.kind == TokenKind::Word;
        let word = plain || token.kind == TokenKind::EscapedWord;
        self.place = match (self.place, text) {
            (Place::Using, "static" | "unsafe") if plain => return true,
            (Place::Name, ";" | "=") => return true,
            (Place::Name, "." | "::") => Place::Separator,
            (Place::Using, _) if word && text != "using" => Place::Name,
            (Place::Separator, _) if word => Place::Name,
            (_, "using") if plain && !matches!(self.before, Before::Access | Before::Await) => {
                self.start = match self.before {
                    Before::Global(start) => start,
                    _ => token.range.start,
                };
                Place::Using
            }
            _ => Place::Elsewhere,
        };
        self.before = match text {
            "." | "::" | "->" => Before::Access,
            "await" => Before::Await,
            "global" => Before::Global(token.range.start),
            _ => Before::Other,
        };
        false
    }
}

/// Longest excerpt in characters.
const EXCERPT: usize = 120;

fn excerpt(text: &str) -> String {
    let mut words = text.split_whitespace();
    let mut line = words.next().unwrap_or_default().to_owned();
    for word in words.take(EXCERPT) {
        line.push(' ');
        line.push_str(word);
    }
    match line.char_indices().nth(EXCERPT) {
        Some((end, _)) => format!("{}...", line.get(..end).unwrap_or_default()),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::{UsingDirective, using_directive};

    fn found(code: &str) -> Option<(String, usize)> {
        using_directive(code).map(|UsingDirective { text, line }| (text, line))
    }

    #[test]
    fn directives_in_every_spelling() {
        for directive in [
            "using System;",
            "using System.IO;",
            "using static System.Math;",
            "using static System.Collections.Generic.List<int>;",
            "using F = System.IO.File;",
            "using L = System.Collections.Generic.List<int>;",
            "using A = int[];",
            "using T = (int a, string b);",
            "using N = int?;",
            "using unsafe P = int*;",
            "using @class = System.IO.File;",
            "using var = System.Int32;",
            "using G = global::System.IO.File;",
            "global using System.IO;",
            "global using static System.Math;",
            "global using F = System.IO.File;",
            "using global::System.IO;",
            "using X::Y;",
            "using X::Y.Z;",
            "using @System.@IO;",
            r"using \u0053ystem;",
            "using Größe.日本;",
        ] {
            for (before, line) in [
                ("", 1),
                ("\u{feff}", 1),
                ("var a = 1;\n\t", 2),
                ("var a = 1; ", 1),
                ("{ ", 1),
                ("if (a) { } ", 1),
                ("if (a)\r\n", 2),
                ("label: ", 1),
                ("else ", 1),
                ("// x\u{2028}", 2),
                ("var s = @\"\n\"\n;", 3),
                ("#region using\n", 2),
                ("#if true\n", 2),
                ("#if false\n#else\n", 3),
                ("#if X\n'\n#endif\n", 4),
                ("using (a) { }\n", 2),
                ("using var b = c;\n", 2),
                ("return x\nusing\n", 3),
                ("'\\'' + \"\" + $\"{\"}\"}\"\n", 2),
            ] {
                let code = format!("{before}{directive}\nreturn 1;");
                assert_eq!(found(&code), Some((directive.to_owned(), line)), "{code}");
            }
        }
    }

    #[test]
    fn statements_and_declarations_are_none() {
        for code in [
            "using (var s = new M()) { }",
            "using (s);",
            "using (a, b) x = f();",
            "using var s = new M();",
            "using var s = a == b;",
            "using M s = new M();",
            "using System.IO.MemoryStream s = new System.IO.MemoryStream();",
            "using global::System.IO.MemoryStream s = f();",
            "using A::B s = f();",
            "using L<int> s = f();",
            "using System.Collections.Generic.List<int>.Enumerator s = f();",
            "using M[] s = f();",
            "using M? s = f();",
            "using M* s = f();",
            "using int s = 1;",
            "using ref M s = ref f();",
            "using scoped M s = f();",
            "using M a = f(), b = g();",
            "await using var s = f();",
            "await using (var s = f()) { }",
            "await using M s = f();",
            "using M\n#region x\ns = f();",
        ] {
            for code in [
                code.to_owned(),
                format!("if (a) {{ {code} }}"),
                format!("x: {code}\n"),
            ] {
                assert_eq!(found(&code), None, "{code}");
            }
        }
    }

    #[test]
    fn text_and_names_are_none() {
        for code in [
            "",
            "using",
            "using;",
            "using System.IO",
            "usingSystem;",
            "Using System;",
            "// using System.IO;",
            "/*\nusing System.IO;\n*/",
            "var s = @\"\nusing System.IO;\n\";",
            "var s = \"using System.IO;\";",
            "var s = \"\\\"using System.IO;\";",
            "var s = $\"\\\\{a}using System.IO;\";",
            "var s = $@\"{{\nusing System.IO; {d[\"k\"]}\nusing System.IO;\";",
            "var s = \"\"\"\n\"\"using System.IO;\n\"\"\";",
            "var s = $$\"\"\"\n{using System.IO;}\n{{a}}using X;\"\"\";",
            "#region x\n#pragma using System.IO;\n# error using System.IO;",
            "var @using = 1; @using = 2;",
            "@using System;",
            r"\u0075sing System;",
            "x.using = 1;",
            "x?.using = 1;",
            "x->using = 1;",
            "x.using y = 1;",
            "x::using y = 1;",
            "x->using y;",
            "await using y;",
        ] {
            assert_eq!(found(code), None, "{code}");
        }
    }

    #[test]
    fn lines_that_a_symbol_decides_are_left_to_the_compiler() {
        for code in [
            "#if false\nusing System.IO;\n#endif\nreturn 1;",
            "#if true\nreturn 1;\n#else\nusing System.IO;\n#endif",
            "#if UNITY_EDITOR\nusing System.IO;\n#endif\nreturn 1;",
            "#if UNITY_EDITOR\nreturn 1;\n#else\nusing System.IO;\n#endif\nreturn 2;",
            "using\n#if X\nSystem\n#endif\n(a) { }",
            "using M\n#if X\na\n#else\nb\n#endif\n= f();",
            "using M a = f()\n#if X\n;using System;\n#endif\n;",
            "using M\n#if X\n;\n#endif\na = f();",
        ] {
            assert_eq!(found(code), None, "{code}");
        }
    }

    #[test]
    fn the_text_is_one_short_line() {
        let text = |code: &str| found(code).unwrap().0;
        assert_eq!(
            text("using /* of */ System\n\t. IO ;x"),
            "using /* of */ System . IO ;"
        );
        assert_eq!(text("  using A = (int a,\n int b);"), "using A = (int a,");
        assert_eq!(text("using static X"), "using static X");
        let long = text(&format!("using A{}; b", ".Bé".repeat(1000)));
        assert_eq!((long.chars().count(), long.ends_with("...")), (123, true));
        assert!(text(&format!("using A = {};", "b ".repeat(1_000_000))).len() < 130);
        // The first one counts.
        assert_eq!(
            found("a;\nusing A;\nusing B;"),
            Some(("using A;".to_owned(), 2))
        );
    }
}
