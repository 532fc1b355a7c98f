use super::*;
use crate::csharp::lexer::{TokenKind, tokens};
use crate::csharp::line_count;
use proptest::prelude::*;
use std::collections::BTreeSet;

const KEY: &str = "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0";
const PATH: &str = "C:/Unity/Alpha/Assets";

/// What stands ahead of and behind `code` in `wrapped`.
fn around<'a>(wrapped: &'a Wrapped, code: &str) -> (&'a str, &'a str) {
    let split = wrapped
        .code
        .split_inclusive('\n')
        .take(wrapped.prelude_lines)
        .map(str::len)
        .sum();
    let (head, rest) = wrapped.code.split_at(split);
    (
        head,
        rest.strip_prefix(code)
            .expect("the snippet starts on the line after the prelude"),
    )
}

#[test]
fn six_lines_ahead_and_the_key_first_of_all() {
    let wrapped = idempotency("return 1;", KEY);
    let (head, trailer) = around(&wrapped, "return 1;");
    assert_eq!((wrapped.prelude_lines, line_count(head)), (6, 7));
    assert!(head.starts_with(&format!("/* vrc-mcp-proxy key {KEY} */ ")));
    assert_eq!(head.matches(&format!("\"{KEY}\"")).count(), 1);
    let told = "return\"[proxy-duplicate-suppressed] \"";
    assert_eq!(head.matches(told).count(), 1);
    assert_eq!(trailer, "\n}return null;}));");
}

#[test]
fn five_lines_ahead_of_the_six() {
    let inner = idempotency("return 1;", KEY);
    let outer = venue(&inner.code, PATH, Some(KEY));
    let (head, rest) = around(&outer, &inner.code);
    assert_eq!((outer.prelude_lines, line_count(head), rest), (5, 6, ""));
    assert_eq!(head.matches("\"C:/Unity/Alpha/Assets\"").count(), 2);
    assert_eq!(head.matches("\"[proxy-venue-misroute] ").count(), 1);
    assert!(!head.contains("SessionState"));
    for code in [&inner.code, &outer.code] {
        assert_eq!(key_of(code), Some(KEY));
        assert_eq!(
            key_of(&code[..500]),
            Some(KEY),
            "the Editor's history shows 500 characters"
        );
    }
}

#[test]
fn a_venue_check_alone_takes_no_names_and_no_key() {
    let wrapped = venue("else { }", PATH, None);
    assert_eq!(key_of(&wrapped.code), None);
    assert!(wrapped.code.starts_with("{ if ("));
    assert!(wrapped.code.ends_with("; }\nelse { }"));
}

#[test]
fn the_expected_path_is_normalized() {
    for (path, normalized) in [
        ("C:\\Unity\\Alpha\\Assets\\", PATH),
        ("C:/Unity/Alpha/Assets//", PATH),
        ("/home/a b/Assets", "/home/a b/Assets"),
        ("//server/share\\Assets/\\", "//server/share/Assets"),
        ("/", ""),
    ] {
        assert_eq!(normalize_assets_path(path), normalized);
        let literal =
            format!("\n\"{normalized}\", global::System.StringComparison.OrdinalIgnoreCase))\n");
        assert!(venue("", path, None).code.contains(&literal));
    }
}

#[test]
fn a_key_cannot_leave_its_comment() {
    let odd = "*/ a\n\"b\\é-1";
    assert_eq!(key_of(&idempotency("", odd).code), Some("ab-1"));
    assert_eq!(key_of(&venue("", PATH, Some(odd)).code), Some("ab-1"));
    assert_eq!(idempotency("", odd), idempotency("", "ab-1"));
    for code in [
        "",
        "return 1;",
        "/* vrc-mcp-proxy key ",
        " /* vrc-mcp-proxy key a */",
    ] {
        assert_eq!(key_of(code), None);
    }
}

#[test]
fn lengths_are_utf16_and_only_the_wrapping_is_to_blame() {
    assert_eq!((utf16_len("aé日"), utf16_len("😀")), (3, 2));
    let limit = EDITOR_CODE_LIMIT_UTF16;
    let own = "😀".repeat(limit / 2);
    assert_eq!(over_limit(&own, &own), None);
    assert_eq!(
        over_limit(&own, &format!("{own}ab")),
        Some(OverLimit {
            own: limit,
            added: 2
        })
    );
    // The Editor's own refusal is right then.
    assert_eq!(over_limit(&format!("{own}a"), &format!("{own}ab")), None);
    assert_eq!(over_limit("a", &own), None);
}

#[test]
fn the_wrapping_stays_small() {
    let inner = idempotency("", KEY);
    let both = venue(&inner.code, PATH, Some(KEY));
    // What the line to the upstream grows by.
    assert!(
        crate::wire::quote(&inner.code).len() < 1_150,
        "{}",
        inner.code.len()
    );
    assert!(utf16_len(&both.code) < 1_800, "{}", both.code.len());
}

#[test]
fn nothing_that_the_editor_or_upstream_trips_over_is_injected() {
    // What 10.1.0 blocks; a caller may ask for that with safety_checks.
    let injected = venue(&idempotency("", KEY).code, PATH, Some(KEY))
        .code
        .to_lowercase();
    for pattern in [
        "system.io.file.delete",
        "system.io.directory.delete",
        "fileutil.deletefileordirectory",
        "assetdatabase.deleteasset",
        "assetdatabase.moveassettotrash",
        "editorapplication.exit",
        "process.start",
        "process.kill",
        "while(true)",
        "while (true)",
        "for(;;)",
        "for (;;)",
        // Upstream sends a call again, up to 40 times, when these letters are in an answer's message.
        "reload",
    ] {
        assert!(!injected.contains(pattern), "{pattern}");
    }
}

/// The words in injected code that stand free, so that a local of the caller's could capture them.
fn free_words(code: &str) -> BTreeSet<String> {
    let mut before = "";
    let mut words = BTreeSet::new();
    for token in tokens(code).filter(|t| t.kind != TokenKind::Comment) {
        let text = &code[token.range];
        if token.kind == TokenKind::Word && !matches!(before, "." | "::") {
            words.insert(text.to_owned());
        }
        before = text;
    }
    words
}

const KEYWORDS: [&str; 9] = [
    "catch", "global", "if", "null", "object", "return", "string", "throw", "try",
];

#[test]
fn nothing_injected_can_be_captured_by_a_name_of_the_callers() {
    // What stands around the lambda that holds the wrapper's own names.
    let inner = idempotency("", KEY);
    let (head, trailer) = around(&inner, "");
    let (opening, rest) = head.split_once("(f=>{").expect("a lambda");
    let (own, closing) = rest.split_once("\n}))(").expect("its end");
    let check = venue("", PATH, Some(KEY)).code;
    let outside = [check.as_str(), opening, "))(", closing, trailer].concat();
    assert!(
        free_words(&outside)
            .iter()
            .all(|word| KEYWORDS.contains(&&**word))
    );
    // The names are all declared in that lambda, and nothing else is leaned on.
    let names = free_words(own).into_iter();
    let names: Vec<_> = names.filter(|word| !KEYWORDS.contains(&&**word)).collect();
    assert_eq!(names, ["e", "f", "k", "r", "s", "t", "v", "x"]);
    assert_eq!(
        own.matches(['{', '(']).count(),
        own.matches(['}', ')']).count()
    );
}

proptest! {
    #[test]
    fn whatever_it_holds_the_snippet_stands_verbatim_amid_ascii(code in any::<String>(), path in any::<String>()) {
        let inner = idempotency(&code, KEY);
        let (head, trailer) = around(&inner, &code);
        let outer = venue(&inner.code, &path, Some(KEY));
        let (check, _) = around(&outer, &inner.code);
        for (part, lines) in [(head, 7), (check, 6)] {
            prop_assert_eq!(line_count(part), lines);
        }
        prop_assert!(trailer.starts_with('\n'));
        for part in [head, trailer, check] {
            prop_assert!(part.bytes().all(|b| b == b'\n' || (0x20..=0x7e).contains(&b)));
        }
    }
}
