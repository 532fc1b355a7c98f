//! Lines pass, both ways.

use crate::harness::{ask, call, relay};
use serde_json::{Value, json};

/// What the server says it got.
fn got(answer: &Value) -> &str {
    answer["result"]["got"].as_str().expect("an answered line")
}

#[test]
fn a_line_that_nothing_changes_passes_byte_for_byte() {
    let mut session = relay().start_up();
    let odd = r#"{ "id" : 1e2,"id":7 , "method":"te\u0073t","params":{"n":1.50,"big":123456789012345678901234567890},"jsonrpc":"2.0","x":[ ] }"#;
    session.send(odd);
    assert_eq!(got(&session.message()), odd);

    let odd = r#"{"jsonrpc":"2.0",  "id":8,"result":{"n":1.50,"caf\u00e9":"é","z":-0.0,"big":98765432109876543210}}"#;
    session.ask(8, &json!([["raw", format!("{odd}\n")]]));
    assert_eq!(session.line(), odd.as_bytes());
}

#[test]
fn crlf_endings_are_taken_and_none_are_sent() {
    let mut session = relay().start_up();
    let line = ask(1, &json!([["answer"]]));
    session.send_raw(format!("{line}\r\n\r\n").as_bytes());
    assert_eq!(got(&session.message()), line);
    let answer = r#"{"jsonrpc":"2.0","id":2,"result":{}}"#;
    session.ask(2, &json!([["raw", format!("\r\n{answer}\r\n")]]));
    assert_eq!(session.line(), answer.as_bytes());
}

#[test]
fn the_servers_own_requests_reach_the_client_and_its_answers_come_back() {
    let mut session = relay().start_up();
    let request = r#"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#;
    let notification = r#"{"method":"notifications/message","params":{},"jsonrpc":"2.0"}"#;
    session.ask(1, &json!([["raw", format!("{request}\n{notification}\n")]]));
    assert_eq!(session.line(), request.as_bytes());
    assert_eq!(session.line(), notification.as_bytes());
    let answer = r#"{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}"#;
    session.send(answer);
    let line = session.says("got ");
    assert!(line.contains("roots"), "{line}");
}

#[test]
fn text_on_the_servers_stdout_goes_to_stderr_with_a_prefix() {
    let mut session = relay().start_up();
    session.ask(1, &json!([["raw", "a banner, no message\n"], ["answer"]]));
    assert_eq!(session.message()["id"], 1);
    let line = session.says("a banner");
    assert_eq!(line, "[upstream stdout] a banner, no message");
}

#[test]
fn the_servers_stderr_passes_as_it_comes() {
    let mut session = relay().start_up();
    session.ask(
        1,
        &json!([["stderr_raw", "  two\n\tlines\nand a half"], ["answer"]]),
    );
    session.message();
    assert_eq!(session.says("two"), "  two");
    assert_eq!(session.says("lines"), "\tlines");
    // The relay's own lines do not continue somebody else's.
    session.send("no JSON");
    assert_eq!(session.message()["error"]["code"], -32700);
    session.ask(2, &json!([["stderr_raw", "more\n"], ["answer"]]));
    session.message();
    session.close();
    let log = session.log();
    assert!(log.contains("and a half\n[vrc-mcp-proxy] "), "{log}");
    assert!(log.contains("\nmore\n"), "{log}");
}

#[test]
fn the_server_inherits_the_environment() {
    let mut session = relay().env("PROCESS_TEST_EXTRA", "ä b").start_up();
    session.ask(1, &json!([["env", "PROCESS_TEST_EXTRA"]]));
    assert_eq!(session.message()["result"]["env"], "ä b");
}

#[test]
fn a_hundred_requests_in_flight_are_each_answered_once() {
    let mut session = relay().start_up();
    for id in 0..100 {
        let line = if id % 2 == 0 { call } else { ask };
        session.send(line(id, &json!([["hold"]])));
    }
    session.ask(100, &json!([["release"], ["answer"]]));
    for id in (0..=99).rev() {
        let answer = session.message();
        assert_eq!(answer["id"], id);
        assert!(got(&answer).contains(&format!(r#""id":{id},"#)));
    }
    assert_eq!(session.message()["id"], 100);
    session.close();
    assert_eq!(session.rest(), Vec::<Value>::new());
    assert_eq!(session.code(), 0);
}

#[test]
fn a_line_of_twenty_megabytes_passes_both_ways() {
    let mut session = relay().start_up();
    let length = 20_000_000;
    session.ask(1, &json!([["big", length]]));
    let answer = session.message();
    assert_eq!(answer["result"]["big"].as_str().map(str::len), Some(length));

    let padding = "p".repeat(length);
    let line = format!(
        r#"{{"jsonrpc":"2.0","id":2,"method":"test","params":{{"do":[["length"]],"p":"{padding}"}}}}"#
    );
    session.send(&line);
    assert_eq!(session.message()["result"]["length"], line.len());
    session.call(3, &json!([["answer"]]));
    assert_eq!(session.message()["id"], 3);
}

#[test]
fn a_cancelled_request_gets_no_answer_and_the_next_one_does() {
    let cancelled = |id| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
        )
    };
    let mut session = relay().start_up();
    // The server would answer a cancelled call at once and go on with it unseen.
    session.call(1, &json!([["hold"]]));
    session.send(cancelled(1));
    session.ask(2, &json!([["hold"]]));
    session.send(cancelled(2));
    let got = session.says("got ");
    assert!(got.contains(r#""requestId":2"#), "{got}");
    session.ask(3, &json!([["release"], ["answer"]]));
    assert_eq!(session.message()["id"], 3);
}
