use super::*;
use crate::behaviors::PayloadKey;
use crate::wire::object::Raw;
use crate::wire::quote;

fn with(line: &str, additions: Additions) -> Edited {
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

fn key() -> Additions {
    Additions {
        key: Some(PayloadKey {
            key: "k",
            value: "1".into(),
            code: "key",
        }),
        facts: vec![fact("key")],
        notes: Vec::new(),
    }
}

fn note() -> Additions {
    Additions {
        key: None,
        facts: vec![fact("note")],
        notes: vec!["N".into()],
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
        let edited = with(&answer(r#"{"a":1}"#, structured), key());
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
        let edited = with(&line, key());
        assert_eq!((edited.line, edited.facts), (None, vec![]), "{line}");
        assert_eq!(edited.log.len(), 1, "{line}");
    }
}

#[test]
fn a_note_that_finds_no_place_leaves_the_answer_alone() {
    for line in [
        r#"{"id":1,"error":{"code":1,"message":5}}"#,
        r#"{"id":1,"error":"text"}"#,
        r#"{"id":1,"result":{"content":"text"}}"#,
    ] {
        let edited = with(line, note());
        assert_eq!((edited.line, edited.facts), (None, vec![]), "{line}");
        assert_eq!(edited.log.len(), 1, "{line}");
    }
    let edited = with(r#"{"id":1,"error":{"message":"a\u0062"}}"#, note());
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
