use super::*;
use serde::de::IgnoredAny;

/// What may stand as an item of an array, and what may not.
pub(in super::super) const ITEMS: [&str; 66] = [
    "true",
    "false",
    "null",
    "tru",
    "truee",
    "falsey",
    "nulll",
    "True",
    "NaN",
    "t",
    "-true",
    "true1",
    "1true",
    "0",
    "-0",
    "00",
    "01",
    "-01",
    "10",
    "-",
    "--1",
    "+1",
    "1-",
    "1.",
    ".5",
    "-.5",
    "0.5",
    "1.5.2",
    "1..2",
    "1.e1",
    "1e5",
    "1E+5",
    "1e-05",
    "1e",
    "1e+",
    "1e5.2",
    "1e5e5",
    "0e0",
    "123456789012345678901234567890.125",
    r#""""#,
    r#""\"""#,
    r#""\\""#,
    r#""\\\"x""#,
    r#""\n\t\b\f\r\/""#,
    r#""\u00e9\uD800""#,
    r#""\u00g9""#,
    r#""\x""#,
    "\"\t\"",
    "\"\u{1f}\"",
    "\"é\"",
    "é",
    "\u{7f}",
    "\u{a0}",
    "\\",
    "\\\"",
    "",
    r#"{"a":1}"#,
    r#"{"a":{}, "b" : [ ] }"#,
    r#"{"a"}"#,
    r#"{"a":1,}"#,
    r#"{,}"#,
    r#"{"a":1 "b":2}"#,
    r#"{1:2}"#,
    r#"{"a":"b":"c"}"#,
    r#"["a":1]"#,
    r#"[1,[2,[3,{"k":[]}]],"x"]"#,
];

fn check(text: &str) {
    let right = serde_json::from_str::<IgnoredAny>(text).is_ok();
    let by_best = container(text.as_bytes(), 0, None);
    let by_least = container_by(Level::baseline(), text.as_bytes(), 0, None);
    assert_eq!(by_best, by_least, "{text}");
    assert_eq!(
        by_best.is_some_and(|skipped| skipped.end == text.len()),
        right,
        "{text}"
    );
}

#[test]
fn every_item_is_told_at_every_place_of_a_block() {
    for item in ITEMS {
        for pad in 0..130 {
            let pad = "x".repeat(pad);
            check(&format!(r#"["{pad}",{item}]"#));
            check(&format!(r#"{{"{pad}":{item},"k":0}}"#));
            check(&format!("[{}{item} , {item}]", " ".repeat(pad.len())));
            check(&format!("[1{},{item}]", pad.replace('x', "1")));
        }
    }
}

#[test]
fn every_second_token_is_told_from_a_wrong_one() {
    const TOKENS: [&str; 12] = [
        "{", "}", "[", "]", ",", ":", "\"k\"", "1", "-2.5", "true", " ", "\"\"",
    ];
    for pad in [0, 55, 59, 61, 120] {
        let pad = "x".repeat(pad);
        for (a, b, c) in triples(&TOKENS) {
            check(&format!(r#"["{pad}",{a}{b}{c}]"#));
            check(&format!(r#"{{"{pad}":{a}{b}{c}}}"#));
        }
    }
}

fn triples<'t>(tokens: &'t [&'t str]) -> impl Iterator<Item = (&'t str, &'t str, &'t str)> {
    let pairs = tokens
        .iter()
        .flat_map(move |a| tokens.iter().map(move |b| (a, b)));
    pairs.flat_map(move |(a, b)| tokens.iter().map(move |c| (*a, *b, *c)))
}

#[test]
fn what_is_behind_the_end_does_not_count() {
    for behind in [
        "",
        "}",
        "]",
        "\"",
        "\\",
        "\\\"",
        "tru",
        "\u{1}",
        "é",
        ",,",
        "{{{{",
        &"]".repeat(200),
    ] {
        let text = format!("[1,\"a\"]{behind}");
        assert_eq!(
            container(text.as_bytes(), 0, None).map(|s| s.end),
            Some(7),
            "{text}"
        );
    }
}

#[test]
fn what_is_cut_off_is_none() {
    let text = format!(
        r#"{{"a":[1,{{"b":"{}"}},true],"c":-1.5}}"#,
        "é\\n".repeat(50)
    );
    for end in 0..text.len() {
        assert_eq!(container(&text.as_bytes()[..end], 0, None), None);
    }
}

#[test]
fn a_word_holds_so_many_levels() {
    let nested = |depth| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    check(&nested(61));
    assert_eq!(container(nested(62).as_bytes(), 0, None), None);
}

#[test]
fn clues_say_what_strings_hold() {
    let clues = |text: &str| {
        let skipped = container(text.as_bytes(), 0, None).expect("JSON");
        (skipped.clues.odd_escapes, skipped.clues.spaces)
    };
    for pad in 0..130 {
        let pad = "x".repeat(pad);
        let clues = |string: &str| clues(&format!(r#"[ 1 , "{pad}{string}{pad}" ]"#));
        assert_eq!(clues(r#"a\"\\\n\t\\n\\\"u0041/"#), (false, false));
        assert_eq!(clues(r"\\u0041"), (true, false));
        assert_eq!(clues(r"\\/"), (true, false));
        assert_eq!(clues(r"\u0041"), (true, false));
        assert_eq!(clues(r"\/"), (true, false));
        assert_eq!(clues(r"\\ b"), (false, true));
        let text = format!("[\"{pad}é{pad}\"]");
        let skipped = container(text.as_bytes(), 0, None).expect("JSON");
        assert!(skipped.clues.non_ascii, "{text}");
    }
}
