use super::super::{Broken, Scanned, Seen, look_long, scan_bytewise};
use super::*;
use proptest::prelude::*;
use proptest::sample::select;

const PATH: [&[u8]; 2] = [b"\"params\"", b"\"arguments\""];

/// What both scanners say of a line, which one of them may leave to the other. Whether it did not.
fn agree(line: &str) -> bool {
    let bytewise: Result<Scanned, Broken> = scan_bytewise(line);
    let looked: Result<Seen, Broken> = look_long(line.as_bytes(), None);
    let mut taken = false;
    for level in levels() {
        let Some(mut short) = object_by(level, line.as_bytes(), &PATH) else {
            continue;
        };
        taken = true;
        let wanted = bytewise.as_ref().expect(line);
        assert_eq!(short.entries, wanted.entries, "{line}");
        assert_eq!(short.depth, wanted.depth, "{line}");
        assert_eq!(short.integer_digits, wanted.integer_digits, "{line}");
        assert!(!wanted.lone_surrogate, "{line}");
        let mut inner = wanted.inner.clone();
        for at in 0..line.len() {
            assert_eq!(short.inner.take(at), inner.take(at), "{line} at {at}");
        }
        let theirs = looked.as_ref().expect(line).clues;
        if let (Some(ours), Some(theirs)) = (short.clues.words.places(), theirs.words.places()) {
            let ours: Vec<usize> = ours.collect();
            assert!(
                theirs.into_iter().all(|place| ours.contains(&place)),
                "{line}"
            );
        }
        assert_eq!(short.clues.non_ascii, !line.is_ascii(), "{line}");
        assert!(short.clues.non_ascii || !theirs.non_ascii || theirs == Clues::UNKNOWN);
        // It takes no number that is out of a float's range.
        if let Ok(value) = serde_json::from_str::<serde_json::Value>(line) {
            assert!(short.clues.spaces || !holds(&value, ' '), "{line}");
        }
    }
    taken
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

#[test]
fn what_is_no_json_object_is_not_taken() {
    for line in [
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
    ] {
        assert!(!agree(line), "{line}");
        // The same across the border of a block.
        for pad in [55, 60, 61, 62, 63, 64, 120] {
            assert!(!agree(&format!("{}{line}", " ".repeat(pad))), "{line}");
            if let Some(rest) = line.strip_prefix('{') {
                assert!(!agree(&format!("{{{}{rest}", " ".repeat(pad))), "{line}");
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn tokens_in_any_order_are_judged_alike(
        tokens in prop::collection::vec(select(vec![
            "{", "}", "[", "]", ",", ":", "\"a\"", "\"params\"", "\"arguments\"", "\"\\\\\"", "\"\\\"\"", "\"b\\n c\"", "\"\\u0061\"",
            "\"\\/\"", "\"", "\\", " ", "\n", "1", "-0.5", "12e3", "true", "null", "x", "é", "\"{\"", "\"}:,\"", "{}", "[]", "\"success\"", "\"isError\"",
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
