//! Calls that wait for their turn, where pipes and ends come in.

use crate::harness::{Session, ask, call, named, relay};
use serde_json::{Value, json};
use std::time::Duration;

/// Says that a call waited and was answered without having gone out.
fn never_forwarded(answer: &Value, id: u64) {
    assert_eq!(answer["id"], id, "{answer}");
    let result = &answer["result"];
    assert_eq!(result["isError"], true, "{answer}");
    assert_eq!(result["_meta"]["vrc-mcp-proxy"][0]["forwarded"], false);
    let text = result["content"][0]["text"].as_str().expect("a text");
    assert!(
        text.contains("never forwarded") && text.contains("nothing ran"),
        "{text}"
    );
}

fn with_one_waiting(session: &mut Session) {
    session.call(
        1,
        &json!([["hold"], ["release_at", "late"], ["stderr", "in flight"]]),
    );
    session.says("in flight");
    session.send(named(2, &json!([["stderr", "it came"], ["answer"]])));
    // What is sent behind it has come, so it has come as well.
    session.ask(3, &json!([["answer"]]));
    assert_eq!(session.message()["id"], 3);
}

#[test]
fn a_call_waits_for_the_answer_and_then_goes_out() {
    let mut session = relay().gate("late").start_up();
    with_one_waiting(&mut session);
    session.open("late");
    assert_eq!(session.message()["id"], 1);
    assert_eq!(session.message()["id"], 2);
    session.says("it came");
}

#[test]
fn a_call_that_the_watchdog_answered_is_still_waited_for() {
    let mut session = relay()
        .env("VRC_MCP_PROXY_EXECUTE_TIMEOUT_S", "0.3")
        .start_up();
    let snippet = call(1, &json!([["hang"]]))
        .replace("manage_editor", "execute_code")
        .replace(
            r#""action":"x""#,
            r#""action":"execute","code":"return 1;""#,
        );
    session.send(snippet);
    session.send(named(2, &json!([["answer"]])));
    let answer = session.message();
    assert_eq!(answer["id"], 1);
    assert_eq!(answer["result"]["isError"], true);
    session.close();
    never_forwarded(&session.message(), 2);
}

#[test]
fn a_client_that_leaves_is_not_kept_by_a_call_that_waits() {
    let mut session = relay()
        .upstream_is("server stubborn")
        .gate("late")
        .start_up();
    with_one_waiting(&mut session);
    session.close();
    session.says("end of input");
    session.open("late");
    let (status, took) = session.end();
    assert_eq!(status.code(), Some(0));
    // No grace for it: that would be two seconds.
    assert!(took < Duration::from_secs(2), "{took:?}");
    let answers = session.rest();
    assert_eq!(answers.len(), 2, "{answers:?}");
    // What it waits for itself comes first.
    assert!(answers[0]["result"]["got"].is_string(), "{answers:?}");
    never_forwarded(&answers[1], 2);
    assert!(!session.log().contains("it came"));
}

#[test]
fn a_server_that_ends_has_not_got_what_waits() {
    let mut session = relay().start_up();
    session.call(1, &json!([["hang"]]));
    session.send(named(2, &json!([["stderr", "it came"]])));
    session.send(r#"{"jsonrpc":"2.0","id":3,"method":"resources/read","params":{"uri":"x"}}"#);
    session.ask(4, &json!([["exit", 9]]));
    let answers = session.rest();
    assert_eq!(session.code(), 9);
    assert_eq!(answers.len(), 4, "{answers:?}");
    never_forwarded(&answers[0], 2);
    assert_eq!(
        (&answers[1]["id"], &answers[1]["error"]["code"]),
        (&json!(3), &json!(-32603))
    );
    assert_eq!(
        (&answers[2]["id"], &answers[3]["id"]),
        (&json!(1), &json!(4))
    );
    assert!(!session.log().contains("it came"));
}

/// An answer that comes while the tree is being ended must not send the next call after it.
#[cfg(unix)]
#[test]
fn a_signal_ends_what_waits_as_well() {
    use rustix::process::{Pid, Signal, kill_process};
    let mut session = relay()
        .upstream_is("server stubborn noterm")
        .gate("late")
        .start_up();
    with_one_waiting(&mut session);
    let pid = i32::try_from(session.process.id()).expect("a pid");
    kill_process(Pid::from_raw(pid).expect("a pid"), Signal::TERM).expect("it runs");
    session.says("end of input");
    session.open("late");
    session.end();
    let answers = session.rest();
    assert_eq!(answers.len(), 2, "{answers:?}");
    never_forwarded(&answers[0], 2);
    assert_eq!(answers[1]["id"], 1);
    assert!(!session.log().contains("it came"));
}

#[test]
fn a_flood_that_waits_is_bounded_and_keeps_nothing_else_back() {
    let mut session = relay().gate("late").start_up();
    session.call(1, &json!([["hold"], ["release_at", "late"]]));
    let padding = "p".repeat(10_000);
    let all = 860;
    let mut refused = 0;
    for id in 0..all {
        session.send(named(100 + id, &json!([["answer", padding]])));
    }
    // Its answer to the server, a cancellation, and other requests pass.
    session.send(r#"{"jsonrpc":"2.0","id":"s","result":{}}"#);
    session
        .send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":100}}"#);
    session.ask(2, &json!([["answer"]]));
    loop {
        let answer = session.message();
        if answer["id"] == 2 {
            break;
        }
        let fact = &answer["result"]["_meta"]["vrc-mcp-proxy"][0];
        assert_eq!(fact["code"], "too_many_wait", "{answer}");
        refused += 1;
    }
    // Eight megabytes of lines of about ten kilobytes.
    assert!((20..80).contains(&refused), "{refused}");
    session.open("late");
    assert_eq!(session.message()["id"], 1);
    for id in 1..all - refused {
        assert_eq!(session.message()["id"], 100 + id);
    }
    session.send(ask(3, &json!([["answer"]])));
    assert_eq!(session.message()["id"], 3);
}
