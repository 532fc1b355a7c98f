use super::super::skip::tests::ITEMS;
use super::super::{Broken, Clues, look_long, scan_bytewise};
use super::*;
use proptest::prelude::*;
use proptest::sample::select;

/// What the scanners say of a line, which the one for short lines may leave to the others. Whether it did not.
fn agree(line: &str) -> bool {
    let bytewise: Result<Scanned, Broken> = scan_bytewise(line);
    let looked: Result<Seen, Broken> = look_long(line.as_bytes(), None);
    let value = serde_json::from_str::<serde_json::Value>(line).ok();
    let mut taken = false;
    for level in levels() {
        let answer = answer_by(level, line.as_bytes());
        assert!(
            answer.is_some() || call_by(level, line.as_bytes()).is_none(),
            "{line}"
        );
        let Some(answer) = answer else {
            continue;
        };
        let seen = looked.as_ref().expect(line);
        assert_eq!(answer.entries, seen.entries, "{line}");
        assert_clues(line, answer.clues, seen.clues, value.as_ref());
        let Some(mut call) = call_by(level, line.as_bytes()) else {
            assert!(line.contains("\\u"), "{line}");
            continue;
        };
        taken = true;
        let wanted = bytewise.as_ref().expect(line);
        assert_eq!(call.entries, wanted.entries, "{line}");
        assert_eq!(call.depth, wanted.depth, "{line}");
        assert_eq!(call.integer_digits, wanted.integer_digits, "{line}");
        assert_eq!(call.lone_surrogate, wanted.lone_surrogate, "{line}");
        let mut inner = wanted.inner.clone();
        for at in 0..line.len() {
            assert_eq!(call.inner.take(at), inner.take(at), "{line} at {at}");
        }
    }
    taken
}

fn assert_clues(line: &str, ours: Clues, theirs: Clues, value: Option<&serde_json::Value>) {
    if let (Some(ours), Some(theirs)) = (ours.words.places(), theirs.words.places()) {
        let ours: Vec<usize> = ours.collect();
        let mut theirs = theirs.into_iter();
        assert!(theirs.all(|place| ours.contains(&place)), "{line}");
    }
    assert_eq!(ours.non_ascii, !line.is_ascii(), "{line}");
    assert!(ours.non_ascii || !theirs.non_ascii || theirs == Clues::UNKNOWN);
    // Two backslashes may be the first of a `\u` or `\/` in JSON that a string holds.
    let is_odd = ["\\u", "\\/"].iter().any(|odd| line.contains(odd));
    assert_eq!(ours.odd_escapes, is_odd, "{line}");
    // It takes no number that is out of a float's range.
    if let Some(value) = value {
        assert!(ours.spaces || !holds(value, ' '), "{line}");
    }
}

fn levels() -> Vec<Level> {
    let simplest = Level::baseline();
    vec![Level::new(), simplest]
}

/// Whether a string or a key holds a character.
fn holds(value: &serde_json::Value, c: char) -> bool {
    use serde_json::Value::{Array, Object, String};
    match value {
        String(text) => text.contains(c),
        Array(items) => items.iter().any(|item| holds(item, c)),
        Object(members) => members
            .iter()
            .any(|(key, item)| key.contains(c) || holds(item, c)),
        _ => false,
    }
}

#[test]
fn the_usual_lines_are_taken() {
    for line in [
        r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"x","arguments":{"a":[1,-2.5e3,{}],"b":{"c":null}}}}"#,
        r#"{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"{\"success\":true,\n\"a\":\"b\\c\"}"}],"isError":false}}"#,
        "{ \"a\" : [ ] , \"b\" : { } ,\t\"é\":\"ü x\" }",
        "{}",
        r#"{"params":{"arguments":{"params":{"arguments":{}}},"arguments":{"x":1}},"params":{"a":1}}"#,
        r#"{"params":{"arguments":[{"arguments":1}]},"arguments":{"params":{}}}"#,
    ] {
        assert!(agree(line), "{line}");
        let long = format!(r#"{{"pad":"{}",{}"#, "x".repeat(150), &line[1..]);
        agree(&long);
    }
}

/// What is no JSON object.
const FAULTY: &[&str] = &[
    "",
    "1",
    "[]",
    "{",
    "}",
    "{}{}",
    "{} x",
    "{}1",
    "{\"a\"}",
    "{\"a\":}",
    "{\"a\":1,}",
    "{,\"a\":1}",
    "{\"a\":1 2}",
    "{\"a\" 1}",
    "{\"a\"::1}",
    "{\"a\":[1,]}",
    "{\"a\":[,1]}",
    "{\"a\":[1}",
    "{\"a\":{]}",
    "{\"a\":[}]}",
    "{\"a\":\"}",
    "{\"a\":\"\t\"}",
    "{\"a\":\"\\x\"}",
    "{\"a\":\"\\\"}",
    "{\"a\":01}",
    "{\"a\":1.}",
    "{\"a\":-}",
    "{\"a\":tru}",
    "{\"a\":truee}",
    "{\"a\":1\"b\"}",
    "{\"a\":\"b\"\"c\"}",
    "{\"a\":\"b\"1}",
    "{\"a\":1\\}",
    "{\\\"a\":1}",
    "{a:1}",
    "{\"a\":1}\\",
    "{\"a\":\u{1}1}",
    "{\"a\":1\u{0}}",
    "{\"a\":é}",
    "{\"a\":\u{a0}1}",
    "{1:2}",
    "{\"a\":1:2}",
    "{\"a\":[1:2]}",
    "{[]:1}",
    "{{}:1}",
    "{\"a\":1,\"b\"}",
    "{\"a\":nullnull}",
    "{\"a\":1]",
];

#[test]
fn what_is_no_json_object_is_not_taken() {
    for line in FAULTY {
        assert!(!agree(line), "{line}");
        // The same across the border of a block.
        for pad in [55, 60, 61, 62, 63, 64, 120] {
            assert!(!agree(&format!("{}{line}", " ".repeat(pad))), "{line}");
            if let Some(rest) = line.strip_prefix('{') {
                assert!(!agree(&format!("{{{}{rest}", " ".repeat(pad))), "{line}");
            }
        }
        // The same with whole blocks of a string between its tokens.
        for pad in [55, 60, 61, 62, 63, 64, 127, 128, 129, 200] {
            let long = line.replace('a', &"a".repeat(pad));
            assert!(!agree(&long), "{long}");
            let long = line.replace('b', &"b".repeat(pad));
            assert!(!agree(&long), "{long}");
            if let Some(rest) = line.strip_prefix("{\"a\"") {
                let before = format!("{{\"{}\":[{{}},\"\"],\"a\"", "x".repeat(pad));
                assert!(!agree(&format!("{before}{rest}")), "{before}{rest}");
            }
        }
    }
}

#[test]
fn every_value_is_told_at_every_place_of_a_block() {
    for item in ITEMS {
        // An empty one is none.
        let is_json = serde_json::from_str::<serde::de::IgnoredAny>(item).is_ok();
        let is_taken = is_json && !item.contains("\\u");
        for pad in 0..130 {
            let pad = "x".repeat(pad);
            for line in [
                format!("{{\"{pad}\":{item}}}"),
                format!("{{\"a\":[\"{pad}\",{item}],\"params\":{{\"b\" : {item} , \"c\":0}}}}"),
                format!("{{{}\"params\" : {item} }}", " ".repeat(pad.len())),
            ] {
                assert_eq!(agree(&line), is_taken, "{line}");
            }
        }
    }
}

#[test]
fn what_is_too_long_or_too_deep_is_left_to_the_other() {
    let nested = |levels: usize| format!("{}1{}", "{\"a\":".repeat(levels), "}".repeat(levels));
    assert!(agree(&nested(61)));
    assert!(!agree(&nested(62)));
    let long = |bytes: usize| format!("{{\"a\":\"{}\"}}", "x".repeat(bytes - 8));
    let usual = USUAL_BLOCKS * BLOCK;
    for length in usual - 66..usual + 66 {
        assert!(agree(&long(length)), "{length}");
    }
    for length in [
        LONGEST - 65,
        LONGEST - 64,
        LONGEST - 63,
        LONGEST - 1,
        LONGEST,
    ] {
        assert!(agree(&long(length)), "{length}");
    }
    assert!(!agree(&long(LONGEST + 1)));
}

/// A string that fills whole blocks.
const LONG: &str = "\"{ [,:\\\"                                                                                                                             \"";
/// White space that does.
const SPACES: &str = "                                                                                                                                    ";

#[test]
fn a_comma_wants_a_key_in_an_object_alone() {
    for pad in 0..200 {
        let x = "x".repeat(pad);
        let space = " ".repeat(pad);
        for (line, is_right) in [
            (format!(r#"{{"a":{{"b":1,"{x}":2}}}}"#), true),
            (format!(r#"{{"a":{{"b":1,"{x}"}}}}"#), false),
            (format!(r#"{{"a":{{"b":1,{space}2}}}}"#), false),
            (format!(r#"{{"a":{{"{x}"}}}}"#), false),
            (format!(r#"{{"a":{{{space}1}}}}"#), false),
            (format!(r#"{{"a":{{"b":1,[{space}]}}}}"#), false),
            (format!(r#"{{"a":{{"b":[1,"{x}"],"c":{{"d":[]}}}}}}"#), true),
            (format!(r#"{{"a":{{"b":[1,"{x}":2]}}}}"#), false),
            (format!(r#"{{"a":["{x}":2]}}"#), false),
            (format!(r#"{{"a":["{x}",{{"b":2}},"{x}"]}}"#), true),
            (format!(r#"{{"a":["{x}",{{"b":2}},"c":2]}}"#), false),
            (format!(r#"{{"a":[{{"b":2}},{{"b":"{x}","c"}}]}}"#), false),
            (format!(r#"{{"a":[{{"b":"{x}":"c"}}]}}"#), false),
            (format!(r#"{{"a":[{{"b":[]{space}:"c"}}]}}"#), false),
            (format!(r#"{{"a":[{{"b":1{space}:"c"}}]}}"#), false),
            (format!(r#"{{"a":[{{1{space}:"c"}}]}}"#), false),
            (
                format!(r#"{{"a":[{{{space}}},[{space}],"{x}"{space},1]}}"#),
                true,
            ),
            (format!(r#"{{"a":[{{}},{space}]}}"#), false),
            (format!(r#"{{"a":{{"b":1,{space}}}}}"#), false),
        ] {
            assert_eq!(agree(&line), is_right, "{line}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.max(4000), ..ProptestConfig::default() })]

    #[test]
    fn tokens_in_any_order_are_judged_alike(
        tokens in prop::collection::vec(select(vec![
            "{", "}", "[", "]", ",", ":", "\"a\"", "\"params\"", "\"arguments\"", "\"\\\\\"", "\"\\\"\"", "\"b\\n c\"", "\"\\u0061\"",
            "\"\\/\"", "\"", "\\", " ", "\n", "1", "-0.5", "12e3", "true", "null", "x", "é", "\"{\"", "\"}:,\"", "{}", "[]", LONG, SPACES, "\"success\"", "\"isError\"",
        ]), 0..30),
        pad in 0usize..70,
    ) {
        let line = format!("{{{}{}", " ".repeat(pad), tokens.concat());
        agree(&line);
        agree(&format!("{line}}}"));
    }

    #[test]
    fn json_with_a_fault_anywhere_is_judged_alike(
        members in prop::collection::vec((select(vec!["a", "params", "arguments", "é \\n", "x\\\\"]), json()), 0..4),
        at: prop::sample::Index,
        with in select(vec!["", "\"", "\\", ",", "}", "]", "{", "[", ":", "1", " ", "\u{1}", "e", "é", "\\u0041"]),
    ) {
        let members: Vec<String> = members.iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
        let line = format!("{{{}}}", members.join(","));
        agree(&line);
        let cuts: Vec<usize> = line.char_indices().map(|(at, _)| at).collect();
        let cut = *at.get(&cuts);
        let rest = &line[cut..];
        let next = rest.chars().next().map_or(0, char::len_utf8);
        agree(&format!("{}{with}{rest}", &line[..cut]));
        agree(&format!("{}{with}{}", &line[..cut], &rest[next..]));
    }
}

fn json() -> impl Strategy<Value = String> {
    let leaf = select(vec![
        "1",
        "-2.5",
        "0",
        "true",
        "false",
        "null",
        "\"\"",
        "\"a b\"",
        "\"\\\"\"",
        "\"\\\\\\\"\"",
        "\"ü\"",
        "123456789012345",
    ]);
    leaf.prop_map(str::to_owned)
        .prop_recursive(4, 24, 4, |inner| {
            let member = (select(vec!["a", "params", "arguments"]), inner.clone());
            prop_oneof![
                prop::collection::vec(inner, 0..4)
                    .prop_map(|items| format!("[{}]", items.join(" ,"))),
                prop::collection::vec(member, 0..4).prop_map(|members| {
                    let members = members
                        .iter()
                        .map(|(key, value)| format!("\"{key}\": {value}"));
                    format!("{{{}}}", members.collect::<Vec<_>>().join(","))
                }),
            ]
        })
}
