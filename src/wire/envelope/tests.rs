use super::*;

fn damaged(line: &[u8]) -> Option<String> {
    match read_upstream(line) {
        UpstreamLine::Damaged(id) => Some(id.to_json()),
        _ => None,
    }
}

#[test]
fn a_damaged_answer_shows_its_id_before_or_behind_the_damage() {
    let lines: [&[u8]; 9] = [
        b"{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"x\":\"\xff\"}}",
        b"{\"jsonrpc\":\"2.0\",\"result\":{\"x\":\"\xff\"},\"id\":7}",
        br#"{"result":{"x":NaN},"id" : 7 , "jsonrpc":"2.0"}"#,
        br#"{"id":7,"result":{"x":NaN,"id":8}}"#,
        br#"{"id":7,"result":{"content":["#,
        br#"{"id":7,"#,
        b"\xff{\"id\":7,\"result\":{}}",
        b"\x00\x1b {\"result\":{},\"id\":7}",
        b" \xEF\xBB\xBF{\"id\":7,\"result\":{}}",
    ];
    for line in lines {
        let text = String::from_utf8_lossy(line);
        assert_eq!(damaged(line).as_deref(), Some("7"), "{text}");
    }
}

#[test]
fn an_id_that_is_damaged_itself_is_none() {
    assert_eq!(damaged(br#"{"id":"a""#).as_deref(), Some("\"a\""));
    let lines: [&[u8]; 4] = [
        br#"{"id":7"#,
        br#"{"id":7 "#,
        b"{\"id\":7\xff1,\"result\":{}}",
        b"{\"result\":{},\"id\":7\xff1}",
    ];
    for line in lines {
        assert_eq!(damaged(line), None, "{}", String::from_utf8_lossy(line));
    }
}

#[test]
fn an_id_inside_a_damaged_answer_is_not_its_own() {
    let lines = [
        r#"{"jsonrpc":"2.0","result":{"x":NaN,"id":7}}"#,
        r#"{"jsonrpc":"2.0","result":{"x":NaN,"items":[{"id":7}]}}"#,
        r#"{"jsonrpc":"2.0","result":{"x":NaN,"items":[{"id":7"#,
        r#"{"jsonrpc":"2.0","result":{"x":"\"id\":7}"#,
        r#"{"id":7,"method":"roots/list","params":{"x":NaN}}"#,
        r#"[{"id":7}"#,
    ];
    for line in lines {
        assert_eq!(damaged(line.as_bytes()), None, "{line}");
    }
}
