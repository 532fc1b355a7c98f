use super::*;
use crate::csharp::lexer::{TokenKind, tokens};
use crate::csharp::line_count;
use proptest::prelude::*;
use std::collections::BTreeSet;

const KEY: &str = "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0";
const PATH: &str = "C:/Unity/Alpha/Assets";

/// What `lines` puts ahead and behind, as C#.
fn parts(lines: &Lines) -> [String; 2] {
    // All lines are ASCII.
    let all = lines.around("é");
    let (head, tail) = all.split_once('é').expect("the snippet");
    assert_eq!(lines.added, utf16_len(head) + utf16_len(tail));
    [head, tail].map(str::to_owned)
}

#[test]
fn six_lines_ahead_and_the_key_first_of_all() {
    let lines = idempotency(KEY);
    let [head, trailer] = parts(&lines);
    assert_eq!((lines.ahead, line_count(&head)), (6, 7));
    assert!(head.starts_with(&format!("/* vrc-mcp-proxy key {KEY} */ ")));
    assert_eq!(head.matches(&format!("\"{}\"", record_key(KEY))).count(), 1);
    let told = "return\"[proxy-duplicate-suppressed] \"";
    assert_eq!(head.matches(told).count(), 1);
    assert_eq!(trailer, "\n}return null;}));");
}

#[test]
fn five_lines_ahead_of_the_six() {
    let outer = venue(PATH, Some(KEY));
    let [head, trailer] = parts(&outer);
    assert_eq!((outer.ahead, line_count(&head), &*trailer), (5, 6, ""));
    assert_eq!(head.matches("\"C:/Unity/Alpha/Assets\"").count(), 2);
    assert_eq!(head.matches("\"[proxy-venue-misroute] ").count(), 1);
    assert!(!head.contains("SessionState"));
    for lines in [idempotency(KEY), outer] {
        let code = lines.around("return 1;");
        assert_eq!(key_of(&code), Some(KEY));
        assert_eq!(lines.key(), Some(KEY));
        assert_eq!(
            key_of(&code[..500]),
            Some(KEY),
            "the Editor's history shows 500 characters"
        );
    }
}

#[test]
fn a_venue_check_alone_takes_no_names_and_no_key() {
    let code = venue(PATH, None).around("else { }");
    assert_eq!(key_of(&code), None);
    assert!(code.starts_with("{ if ("));
    assert!(code.ends_with("; }\nelse { }"));
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
        assert!(venue(path, None).around("").contains(&literal));
    }
}

#[test]
fn a_key_cannot_leave_its_comment() {
    let odd = "*/ a\n\"b\\é-1";
    assert_eq!(key_of(&idempotency(odd).around("")), Some("ab-1"));
    assert_eq!(key_of(&venue(PATH, Some(odd)).around("")), Some("ab-1"));
    assert_eq!(idempotency(odd), idempotency("ab-1"));
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
    assert_eq!(over_limit(&own, 0), None);
    let over = |own, added| Some(OverLimit { own, added });
    assert_eq!(over_limit(&own, 2), over(limit, 2));
    // The Editor's own refusal is right then.
    assert_eq!(over_limit(&format!("{own}a"), 1), None);
    assert_eq!(over_limit("a", limit - 1), None);
    assert_eq!(over_limit("a", limit), over(1, limit));
}

#[test]
fn the_wrapping_stays_small() {
    let [inner, outer] = [idempotency(KEY), venue(PATH, Some(KEY))];
    // What the line to the upstream grows by.
    let json = inner.head().map(str::len).sum::<usize>() + inner.tail().len();
    assert!(json < 1_000, "{json}");
    let both = inner.added + outer.added;
    assert!(both < 1_800, "{both}");
}

#[test]
fn nothing_that_the_editor_or_upstream_trips_over_is_injected() {
    // What 10.1.0 blocks; a caller may ask for that with safety_checks.
    let injected = venue(PATH, Some(KEY)).around(&idempotency(KEY).around(""));
    let injected = injected.to_lowercase();
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
    let [head, trailer] = parts(&idempotency(KEY));
    let (opening, rest) = head.split_once("(f=>{").expect("a lambda");
    let (own, closing) = rest.split_once("\n}))(").expect("its end");
    let [check, _] = parts(&venue(PATH, Some(KEY)));
    let outside = [&check, opening, "))(", closing, &trailer].concat();
    assert!(
        free_words(&outside)
            .iter()
            .all(|word| KEYWORDS.contains(&&**word))
    );
    // The names are all declared in that lambda, and nothing else is leaned on but two namespaces, which no local of the
    // caller's can hide in there.
    let names = free_words(own).into_iter();
    let names: Vec<_> = names.filter(|word| !KEYWORDS.contains(&&**word)).collect();
    let all = [
        "System",
        "UnityEditor",
        "e",
        "f",
        "k",
        "r",
        "s",
        "t",
        "v",
        "x",
    ];
    assert_eq!(names, all);
    assert_eq!(
        own.matches(['{', '(']).count(),
        own.matches(['}', ')']).count()
    );
}

proptest! {
    #[test]
    fn whatever_it_holds_the_snippet_stands_verbatim_amid_ascii(code in any::<String>(), path in any::<String>()) {
        let (inner, outer) = (idempotency(KEY), venue(&path, Some(KEY)));
        let [head, trailer] = parts(&inner);
        let [check, _] = parts(&outer);
        prop_assert_eq!(inner.around(&code), [&head, &*code, &trailer].concat());
        for (part, lines) in [(&head, 7), (&check, 6)] {
            prop_assert_eq!(line_count(part), lines);
        }
        prop_assert!(trailer.starts_with('\n'));
        for part in [head, trailer, check] {
            prop_assert!(part.bytes().all(|b| b == b'\n' || (0x20..=0x7e).contains(&b)));
        }
    }
}
