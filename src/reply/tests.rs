use super::*;
use crate::behaviors::{PayloadEdit, Step};
use crate::wire::envelope::{UpstreamLine, read_upstream};
use crate::wire::object::Raw;
use crate::wire::quote;
use proptest::prelude::*;

fn with(line: &str, additions: &Additions) -> Edited {
    let envelope = Raw::whole(line).as_object().expect("an object");
    let reply = Reply::new(line.as_bytes(), &envelope);
    reply.with(additions).expect("edits that fit")
}

fn fact(code: &'static str) -> Fact {
    Fact {
        behavior: "b",
        code,
        forwarded: true,
    }
}

fn edit(set: Vec<(Vec<Step>, String)>) -> PayloadEdit {
    PayloadEdit { set, code: "key" }
}

fn key() -> Additions {
    Additions {
        edits: vec![(fact("key"), edit(vec![(vec![Step::Key("k")], "1".into())]))],
        ..Additions::default()
    }
}

fn note() -> Additions {
    Additions {
        facts: vec![fact("note")],
        notes: vec!["N".into()],
        ..Additions::default()
    }
}

/// An answer with this payload as text, and this after its content.
fn answer(payload: &str, rest: &str) -> String {
    let text = quote(payload);
    format!(r#"{{"id":1,"result":{{"content":[{{"type":"text","text":{text}}}]{rest}}}}}"#)
}

#[test]
fn a_key_goes_to_both_surfaces_where_they_are_one_payload() {
    for (structured, expected) in [
        ("", ""),
        (r#","structuredContent":{"a":1}"#, r#"{"a":1,"k":1}"#),
        (
            r#","structuredContent":{"result":{"a":1}}"#,
            r#"{"result":{"a":1,"k":1}}"#,
        ),
    ] {
        let edited = with(&answer(r#"{"a":1}"#, structured), &key());
        let line: Value = serde_json::from_slice(&edited.line.expect("an edit")).expect("JSON");
        let result = &line["result"];
        assert_eq!(result["content"][0]["text"], r#"{"a":1,"k":1}"#);
        let structured = result.get("structuredContent").map(Value::to_string);
        assert_eq!(structured.unwrap_or_default(), expected);
        assert_eq!(result["_meta"][META_KEY][0]["code"], "key");
        assert_eq!(edited.facts, [fact("key")]);
    }
}

#[test]
fn a_key_that_is_not_proven_leaves_the_answer_alone() {
    for (payload, structured) in [
        (r#"{"a":0}"#, r#"{"a":false}"#),
        (r#"{"a":1}"#, r#"{"a":1.0}"#),
        (r#"{"a":1}"#, r#"{"a":1,"b":2}"#),
        (r#"{"a":1}"#, r#"{"result":{"a":1},"b":2}"#),
        (r#"{"a":1}"#, "null"),
        ("[1]", r#"{"result":[1]}"#),
        ("no JSON", r#"{"result":"no JSON"}"#),
    ] {
        let line = answer(payload, &format!(r#","structuredContent":{structured}"#));
        let edited = with(&line, &key());
        assert_eq!((edited.line, edited.facts), (None, vec![]), "{line}");
        assert_eq!(edited.log.len(), 1, "{line}");
    }
}

/// Two values inside the payload, which goes out on both surfaces.
fn inner() -> Additions {
    let at = |item| vec![Step::Key("l"), Step::Item(item), Step::Key("k")];
    let set = vec![(at(1), r#""n\"w\n""#.into()), (at(0), "[2]".into())];
    Additions {
        edits: vec![(fact("key"), edit(set))],
        ..Additions::default()
    }
}

#[test]
fn values_inside_are_set_and_all_other_bytes_stay() {
    let meta = r#","_meta":{"vrc-mcp-proxy":[{"behavior":"b","code":"key","forwarded":true}]}}}"#;
    let line = |first: &str, second: &str, literal: [&str; 2]| {
        format!(
            r#"{{"id":1,"result":{{"content":[{{"type":"image"}},{{"text":" {{ \"l\" :[{{\"\u006b\":{}, \"\u00e9\/\" : \"\\u00e9\"}},{{\"k\":{}}}] }} ","type":"text"}}],"structuredContent":{{"result":{{"l":[{{"k":{first},"é\/":"\u00e9"}},{{"k":{second}}}]}}}}"#,
            literal[0], literal[1]
        )
    };
    let edited = with(
        &(line("1", "\"old\"", ["1", r#"\"\u006fld\""#]) + "}}"),
        &inner(),
    );
    let edited = String::from_utf8(edited.line.expect("an edit").to_vec()).expect("UTF-8");
    let set = line("[2]", r#""n\"w\n""#, ["[2]", r#"\"n\\\"w\\n\""#]);
    assert_eq!(edited, set + meta);
}

#[test]
fn values_that_have_no_place_leave_the_answer_alone() {
    for payload in [
        r#"{"l":[{"k":1}]}"#,
        r#"{"l":[{"k":1},[]]}"#,
        r#"{"l":{"0":{},"1":{}}}"#,
        r#"{"a":[{"k":1},{"k":1}]}"#,
    ] {
        let edited = with(&answer(payload, ""), &inner());
        assert_eq!((edited.line, edited.facts), (None, vec![]), "{payload}");
        assert!(edited.log[0].starts_with("b: the payload was left as it is"));
    }
}

#[test]
fn what_cannot_be_a_failure_is_seen_at_once() {
    let may_fail = |line: &str| {
        let envelope = Raw::whole(line).as_object().expect("an object");
        Reply::new(line.as_bytes(), &envelope).may_fail()
    };
    for line in [
        answer(r#"{"success":false}"#, ""),
        answer("{\n\t\"success\"\r\n :\t\tfalse}", ""),
        answer(r#"{"succ\u0065ss":false}"#, ""),
        answer(r#"{"success":true,"success":false}"#, ""),
        answer("x", r#","isError":true"#),
        answer("x", ",\"isError\"\t:\n true"),
        answer("x", r#","isError":false,"isError":true"#),
        answer("x", r#","is\u0045rror":true"#),
    ] {
        assert!(may_fail(&line), "{line}");
    }
    for line in [
        answer(r#"{"success":true,"other":false}"#, r#","isError":false"#),
        answer("false success isError", r#","x":true"#),
    ] {
        assert!(!may_fail(&line), "{line}");
    }
}

/// Whether an answer can be a failure, read the plain way: from each `false` back and from each `isError` on.
fn may_fail_plainly(line: &[u8]) -> bool {
    static FALSE: Phrase = Phrase::new("false");
    static IS_ERROR: Phrase = Phrase::new("isError");
    let is_space = |byte: &u8| b"\":\\ \t\r\n".contains(byte);
    let is_escaped_space = |byte: &u8| is_space(byte) || b"nrt".contains(byte);
    let says_false = |at: usize| {
        let before = &line[..at];
        let end = before.iter().rposition(|byte| !is_escaped_space(byte));
        end.is_some_and(|end| before[..=end].ends_with(b"success"))
    };
    let says_true = |at: usize| {
        let behind = &line[at + "isError".len()..];
        let start = behind.iter().position(|byte| !is_space(byte));
        start.is_some_and(|start| behind[start..].starts_with(b"true"))
    };
    FALSE.places_in(line).any(says_false) || IS_ERROR.places_in(line).any(says_true)
}

/// Texts of the words that tell a failure, whole and in parts, and of what stands between them.
fn wordy() -> impl Strategy<Value = String> {
    let parts = vec![
        "success",
        "uccess",
        "succ",
        "s",
        "isError",
        "rror",
        "false",
        "true",
        "fal",
        "\"",
        ":",
        " ",
        "\\",
        "\n",
        "\t",
        "n",
        "r",
        "t",
        ",",
        "x",
        "cc",
        "rr",
        "é",
        "\",\"success\":",
        "\"isError\" : ",
    ];
    let part = prop_oneof![
        6 => prop::sample::select(parts).prop_map(str::to_owned),
        1 => (50..70usize).prop_map(|length| "p".repeat(length)),
    ];
    prop::collection::vec(part, 0..40).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn what_may_be_a_failure_is_told_as_by_a_search_of_all(texts in prop::collection::vec(wordy(), 1..4)) {
        let texts: Vec<String> = texts.iter().map(|text| quote(text)).collect();
        let pad = " ".repeat(256);
        let line = format!(r#"{{"id":1,"result":{{"content":[{}]}}{pad}}}"#, texts.join(","));
        let wanted = may_fail_plainly(line.as_bytes());
        let UpstreamLine::Message(message) = read_upstream(line.as_bytes()) else {
            panic!("{line}");
        };
        prop_assert!(!Reply::of(&message).may_hide_letters(), "{}", line);
        prop_assert_eq!(Reply::of(&message).may_fail(), wanted, "by clues: {}", line);
        let searched = Reply { clues: Clues { words: Clues::UNKNOWN.words, ..message.clues }, ..Reply::of(&message) };
        prop_assert_eq!(searched.may_fail(), wanted, "by search: {}", line);
    }
}

#[test]
fn a_note_that_finds_no_place_leaves_the_answer_alone() {
    for line in [
        r#"{"id":1,"error":{"code":1,"message":5}}"#,
        r#"{"id":1,"error":"text"}"#,
        r#"{"id":1,"result":{"content":"text"}}"#,
    ] {
        let edited = with(line, &note());
        assert_eq!((edited.line, edited.facts), (None, vec![]), "{line}");
        assert_eq!(edited.log.len(), 1, "{line}");
    }
    let edited = with(r#"{"id":1,"error":{"message":"a\u0062"}}"#, &note());
    let line = edited.line.expect("an edit");
    assert_eq!(&line[..], br#"{"id":1,"error":{"message":"a\u0062\nN"}}"#);
}

#[test]
fn a_failure_is_any_of_three() {
    let failure = |line: &str| {
        let envelope = Raw::whole(line).as_object().expect("an object");
        Reply::new(line.as_bytes(), &envelope).is_failure()
    };
    assert!(failure(r#"{"error":{"code":1}}"#));
    assert!(failure(r#"{"error":"x"}"#));
    assert!(failure(&answer("{}", r#","isError":true"#)));
    assert!(failure(&answer(r#"{"success":false}"#, "")));
    assert!(!failure(&answer(r#"{"success":0}"#, r#","isError":1"#)));
    let passed = answer("no JSON", "").replacen('{', r#"{"error":null,"#, 1);
    assert!(!failure(&passed));
}

#[test]
fn a_phrase_is_found_through_escapes() {
    let mentions = |line: &str| {
        let envelope = Raw::whole(line).as_object().expect("an object");
        Reply::new(line.as_bytes(), &envelope).mentions(&Phrase::new("not found at a/b"))
    };
    let answer = |text: &str| {
        format!(
            r#"{{"result":{{"content":[{{"type":"image"}},{{"type":"text","text":"{text}"}}]}}}}"#
        )
    };
    assert!(mentions(&answer("not found at a/b")));
    assert!(mentions(&answer(r"n\u006ft found at a\/b")));
    assert!(mentions(r#"{"error":{"message":"\u006eot found at a/b"}}"#));
    assert!(!mentions(&answer("found")));
    assert!(!mentions(&answer(r"caf\u00e9")));
    assert!(!mentions(r#"{"result":{"note":"not found at a/b"}}"#));
}
