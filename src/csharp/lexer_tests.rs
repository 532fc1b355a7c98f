use super::{TokenKind, tokens};
use TokenKind::{
    Character, Comment, Directive, EscapedWord, Number, Punctuator, Text, Uncompiled, Word,
};
use proptest::prelude::*;

fn lex(code: &str) -> Vec<(TokenKind, &str)> {
    tokens(code).map(|t| (t.kind, &code[t.range])).collect()
}

/// Every one of `literals` is one token of `kind`, alone and amid code.
fn assert_whole(kind: TokenKind, literals: &[&str]) {
    for literal in literals {
        assert_eq!(lex(literal), [(kind, *literal)], "{literal}");
        let code = format!("a({literal}\n,b)");
        let amid = lex(&code);
        let wanted = [
            (Word, "a"),
            (Punctuator, "("),
            (kind, *literal),
            (Punctuator, ","),
            (Word, "b"),
            (Punctuator, ")"),
        ];
        assert_eq!(amid, wanted, "{code}");
    }
}

#[test]
fn plain_code() {
    assert_eq!(
        lex("var x=1_0.5e-3f+.5;"),
        [
            (Word, "var"),
            (Word, "x"),
            (Punctuator, "="),
            (Number, "1_0.5e-3f"),
            (Punctuator, "+"),
            (Number, ".5"),
            (Punctuator, ";"),
        ]
    );
    assert_eq!(
        lex("a::b==c=>d->e\t0xE+1"),
        [
            (Word, "a"),
            (Punctuator, "::"),
            (Word, "b"),
            (Punctuator, "=="),
            (Word, "c"),
            (Punctuator, "=>"),
            (Word, "d"),
            (Punctuator, "->"),
            (Word, "e"),
            (Number, "0xE"),
            (Punctuator, "+"),
            (Number, "1"),
        ]
    );
    assert_eq!(lex("1.X"), [(Number, "1"), (Punctuator, "."), (Word, "X")]);
    assert_eq!(lex("1..2")[..2], [(Number, "1"), (Punctuator, ".")]);
}

#[test]
fn words_and_escaped_words() {
    assert_whole(
        Word,
        &["using", "_1", "été", "日本", "a\u{301}", "us\u{200d}ing"],
    );
    assert_whole(
        EscapedWord,
        &["@using", "@_", r"\u0075sing", r"us\U00000069ng", "@été"],
    );
    assert_eq!(lex(r"a\x"), [(Word, "a"), (Punctuator, r"\"), (Word, "x")]);
    assert_eq!(lex("@ a")[0], (Punctuator, "@"));
    assert_eq!(
        lex("\u{feff}using\u{3000}A\u{a0}B"),
        [(Word, "using"), (Word, "A"), (Word, "B")]
    );
}

#[test]
fn ordinary_and_verbatim_strings() {
    assert_whole(
        Text,
        &[
            r#""""#,
            r#""a \" b""#,
            r#""\\""#,
            r#""//""#,
            r#""/*""#,
            r#""é{""#,
            r#""'""#,
            r##""#if""##,
        ],
    );
    assert_whole(
        Text,
        &[
            r#"@"""#,
            r#"@"a ""b"" c""#,
            r#"@"\""#,
            r#"@"""""#,
            "@\"\n#if false\nusing X;\n\"",
            r#"@"{""#,
        ],
    );
    // An ordinary string ends with its line.
    assert_eq!(lex("\"a\nb"), [(Text, "\"a"), (Word, "b")]);
    assert_eq!(lex("\"a\\\nb"), [(Text, "\"a\\"), (Word, "b")]);
    assert_eq!(lex("\"a\\\u{2028}b"), [(Text, "\"a\\"), (Word, "b")]);
    assert_eq!(lex("@\"a\nb"), [(Text, "@\"a\nb")]);
}

#[test]
fn interpolated_strings_with_their_holes() {
    assert_whole(
        Text,
        &[
            r#"$"""#,
            r#"$"{a}""#,
            r#"$"{{ using X; }}""#,
            r#"$"{{{a}}}""#,
            r#"$"{a:yyyy-MM-dd}""#,
            r#"$"{a,5:0.00} {b}""#,
            r#"$"{(a ? "x" : "y")}""#,
            r#"$"{d["k"]}""#,
            r#"$"{global::A.B}""#,
            r#"$"{f('"')}{f('}')}{f('\'')}""#,
            r#"$"{$"{$"{a}"}"}""#,
            r#"$"{new[] { "}" }.Length}""#,
            r#"$"{@"a""}b"}""#,
            r#"$"{/* " } */ a}""#,
            r#"$"{a:\"}""#,
            r#"$"{"//"}""#,
            r#"$"\{a}""#,
            r#"$"{f(() => { return "}"; })}""#,
            "$\"{\n a // \"}\n }\"",
        ],
    );
    assert_whole(
        Text,
        &[
            r#"$@"{a} ""q"" \""#,
            r#"@$"{a} ""q"" \""#,
            r#"$@"{d["k"]}""#,
            "$@\"\n{a}\n{{\n\"",
            r#"$@"{a:""0""}""#,
        ],
    );
    assert_eq!(lex("$\"{a} b\nc"), [(Text, "$\"{a} b"), (Word, "c")]);
}

#[test]
fn raw_strings() {
    assert_whole(
        Text,
        &[
            r#""""a""""#,
            r#""""a "b" ""c"" \""""#,
            r#"""""a """ b""""""#,
            "\"\"\"\n using X;\n \"\"\"",
            "\"\"\"  \r\n \"\" \r\n \"\"\"",
            "\"\"\"\"\n \"\"\"\n \"\"\"\"",
            r#"$"""{a} "x" """"#,
            r#"$"""{d["k"]}{$"{b}"}""""#,
            r#"$$"""{a} {{b}} {{{c}}}""""#,
            r#"$$"""{{f(new { x = "}}" })}}""""#,
            r#"$"""{a:0"0}""""#,
            r#"$"""{f("""a""")}""""#,
            r#"$$"""{f(} {{f("""a""")}} {""""#,
            "$$\"\"\"\n {\n {{a}}\n }\n \"\"\"",
        ],
    );
    // One that starts with text ends with its line.
    assert_eq!(lex("\"\"\"a\nb"), [(Text, "\"\"\"a"), (Word, "b")]);
    assert_eq!(lex("\"\"\"\na\n"), [(Text, "\"\"\"\na\n")]);
}

#[test]
fn characters_and_comments() {
    assert_whole(
        Character,
        &["'a'", r"'\''", r"'\\'", "'\"'", r"'\u0022'", "'/'", "'#'"],
    );
    assert_eq!(lex("'a\nb"), [(Character, "'a"), (Word, "b")]);
    assert_whole(
        Comment,
        &[
            "// using X; \" /* '",
            "/**/",
            "/* \n \" // ' **/",
            "/*/ using */",
        ],
    );
    assert_eq!(
        lex("//a\u{2028}b\u{85}c//\rd")
            .iter()
            .filter(|t| t.0 == Word)
            .count(),
        3
    );
    assert_eq!(lex("/* a\nb"), [(Comment, "/* a\nb")]);
    assert_eq!(lex("a/b")[1], (Punctuator, "/"));
}

#[test]
fn directives_stand_at_the_start_of_a_line() {
    assert_eq!(
        lex("#region Don't \"\na"),
        [(Directive, "#region Don't \""), (Word, "a")]
    );
    assert_eq!(
        lex(" \t# pragma x // y /*\na"),
        [(Directive, "# pragma x // y /*"), (Word, "a")]
    );
    assert_eq!(lex("a #if false\nb")[1], (Punctuator, "#"));
    assert_eq!(lex("/**/ #if false\nb").last(), Some(&(Word, "b")));
    assert_eq!(
        lex("a\r#line 1\u{2028}b"),
        [(Word, "a"), (Directive, "#line 1"), (Word, "b")]
    );
}

#[test]
fn lines_that_are_not_sure_to_be_compiled() {
    let code = "#if false\ndon't /* \"\n#if X\n@\"\n#endif\n#else\nb\n#endif\nc";
    assert_eq!(
        lex(code),
        [
            (Directive, "#if false"),
            (Uncompiled, "don't /* \""),
            (Directive, "#if X"),
            (Uncompiled, "@\""),
            (Directive, "#endif"),
            (Directive, "#else"),
            (Word, "b"),
            (Directive, "#endif"),
            (Word, "c"),
        ]
    );
    assert_eq!(
        lex("#if UNITY_EDITOR\r\n a\r\n b\r\n#endif")[1],
        (Uncompiled, "a\r\n b")
    );
    assert_eq!(lex("#if X\n a #endif\n\n")[1], (Uncompiled, "a #endif"));
    assert_eq!(lex("#if true\na\n#endif")[1], (Word, "a"));
}

#[test]
fn reads_in_linear_time_whatever_is_left_open() {
    let (n, began) = (300_000, std::time::Instant::now());
    for piece in [
        "$", "@", "\"", "'", "{", "\\", "\"\"\" ", "$\"{", "$@\"{", "$\"\"\"{", "/", "/*",
        "#if X\n", "$$", "(", "@a", "#if (\n", "\u{2028}", "$\"{}", "}", "\"\"\"\n", "using ",
        "1.", "\\u0041", "$\"{a:",
    ] {
        let code = piece.repeat(n / piece.len());
        assert!(tokens(&code).count() <= code.len(), "{piece}");
        // All of it takes well under a second; one piece in quadratic time takes minutes.
        assert!(began.elapsed().as_secs() < 30, "{piece}");
    }
}

/// Code in pieces that mean something to a tokenizer, so that they meet in every order.
fn fragments() -> impl Strategy<Value = String> {
    const PIECES: &[&str] = &[
        "\"",
        "\"\"\"",
        "$",
        "@",
        "{",
        "}",
        "{{",
        "}}",
        "\\",
        "'",
        "/*",
        "*/",
        "//",
        "\n",
        "\r",
        "#if X",
        "#if false",
        "#endif",
        "#else",
        " ",
        "using",
        "a",
        "1",
        ".",
        ":",
        "::",
        "é",
        "\u{2028}",
        "\u{85}",
        "\u{feff}",
        "\\u00",
        "(",
        ")",
        "=",
        ";",
        "😀",
    ];
    let piece = prop_oneof![
        9 => proptest::sample::select(PIECES).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
    ];
    proptest::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

fn longest_run(text: &str, of: char) -> usize {
    text.split(|c| c != of)
        .map(|run| run.chars().count())
        .max()
        .unwrap_or(0)
}

fn line_ends(c: char) -> bool {
    "\r\n\u{85}\u{2028}\u{2029}".contains(c)
}

proptest! {
    #[test]
    fn tokens_are_in_order_within_bounds_and_leave_only_white_space(code in fragments()) {
        let mut at = 0;
        for token in tokens(&code) {
            prop_assert!(at <= token.range.start && token.range.start < token.range.end);
            prop_assert!(code[at..token.range.start].chars().all(super::is_white_space));
            at = token.range.end;
            prop_assert!(code.is_char_boundary(at));
        }
        prop_assert!(code[at..].chars().all(super::is_white_space));
    }

    #[test]
    fn any_text_at_all_is_read_to_its_end(code in any::<String>()) {
        let read: usize = tokens(&code).map(|t| code[t.range].chars().filter(|&c| !super::is_white_space(c)).count()).sum();
        prop_assert!(read <= code.chars().count());
        let last = tokens(&code).last().map_or(0, |t| t.range.end);
        prop_assert!(code[last..].chars().all(super::is_white_space));
    }

    /// Whatever a literal or a comment holds, it is one token, and the code behind it is code again.
    #[test]
    fn text_in_a_literal_or_a_comment_is_never_code(text in fragments()) {
        let one_line = text.replace(line_ends, " ");
        let escaped = one_line.replace('\\', "\\\\").replace('"', "\\\"");
        let doubled = text.replace('"', "\"\"");
        let quotes = "\"".repeat(3.max(longest_run(&text, '"') + 1));
        let dollars = "$".repeat(1.max(longest_run(&text, '{').max(longest_run(&text, '}')) + 1));
        let braces = |text: &str| text.replace('{', "{{").replace('}', "}}");
        for (kind, literal) in [
            (Text, format!("\"{escaped}\"")),
            (Text, super::super::literal::string_literal(&text)),
            (Text, format!("@\"{doubled}\"")),
            (Text, format!("$\"{}\"", braces(&escaped))),
            (Text, format!("$\"{{f(\"{escaped}\")}}\"")),
            (Text, format!("$@\"{}\"", braces(&doubled))),
            (Text, format!("@$\"{{@\"{doubled}\"}}\"")),
            (Text, format!("{quotes}\n{text}\n{quotes}")),
            (Text, format!("{dollars}{quotes}\n{text}\n{quotes}")),
            (Text, format!("{quotes} {one_line} {quotes}")),
            (Comment, format!("//{one_line}")),
            (Comment, format!("/* {} */", text.replace("*/", "* /"))),
            (Directive, format!("#region {one_line}")),
        ] {
            let code = format!("\n{literal}\nsentinel");
            prop_assert_eq!(lex(&code), [(kind, literal.as_str()), (Word, "sentinel")]);
        }
        for c in text.chars().filter(|&c| !line_ends(c)) {
            let literal = format!("'{}{c}'", if c == '\'' || c == '\\' { "\\" } else { "" });
            prop_assert_eq!(lex(&literal), [(Character, literal.as_str())]);
        }
    }
}
