//! The client closes its stream, or lets go of the other one.

use crate::harness::{LONG, call, relay};
use serde_json::{Value, json};
use std::time::Duration;

#[test]
fn an_idle_server_is_gone_soon_and_the_relay_ends_with_0() {
    let mut session = relay().start_up();
    session.ask(1, &json!([["answer"]]));
    session.message();
    session.close();
    let (status, took) = session.end();
    assert_eq!(status.code(), Some(0));
    assert!(took < Duration::from_secs(2), "{took:?}");
    session.gone("server");
    let log = session.log();
    assert!(log.contains("end of input"), "{log}");
    assert!(!log.contains("killed"), "{log}");
}

#[test]
fn answers_in_flight_are_delivered() {
    let mut session = relay()
        .upstream_is("server stubborn")
        .gate("late")
        .start_up();
    session.call(1, &json!([["hold"], ["release_at", "late"]]));
    session.close();
    session.says("end of input");
    session.open("late");
    let answers = session.rest();
    assert_eq!(answers.len(), 1, "{answers:?}");
    assert!(answers[0]["result"]["got"].is_string(), "{answers:?}");
    assert_eq!(session.code(), 0);
    session.gone("server");
}

#[test]
fn a_call_that_hangs_is_answered_and_holds_the_end_up_for_two_seconds() {
    let mut session = relay().upstream_is("server stubborn").start_up();
    session.call(1, &json!([["hang"]]));
    session.ask(2, &json!([["answer"]]));
    session.message();
    session.close();
    let (status, took) = session.end();
    assert_eq!(status.code(), Some(0));
    assert!(took >= Duration::from_secs(2), "{took:?}");
    assert!(took < Duration::from_secs(6), "{took:?}");
    let answers = session.rest();
    assert_eq!(answers.len(), 1, "{answers:?}");
    assert_eq!(answers[0]["id"], 1);
    assert_eq!(answers[0]["result"]["isError"], true);
    session.gone("server");
}

#[test]
fn a_server_that_only_talks_does_not_prolong_the_grace() {
    let mut session = relay().upstream_is("server stubborn").start_up();
    session.call(1, &json!([["chatter"], ["hang"]]));
    assert_eq!(session.message()["method"], "flood");
    session.discard();
    session.close();
    let (status, took) = session.end();
    assert_eq!(status.code(), Some(0));
    // Five seconds for a client that is behind in reading, and on Windows one more: nothing there asks a
    // server to end.
    let limit = if cfg!(windows) { 9 } else { 6 };
    assert!(took < Duration::from_secs(limit), "{took:?}");
    session.gone("server");
}

#[test]
fn a_server_that_ignores_the_end_of_its_input_and_sigterm_is_killed() {
    let mut session = relay().upstream_is("server stubborn noterm").start_up();
    session.ask(1, &json!([["answer"]]));
    session.message();
    session.close();
    let (status, took) = session.end();
    assert_eq!(status.code(), Some(0));
    assert!(took < Duration::from_secs(6), "{took:?}");
    session.gone("server");
    assert!(session.log().contains("killed"));
}

#[test]
fn a_last_line_without_a_newline_counts() {
    let mut session = relay().start_up();
    session.send_raw(call(1, &json!([["answer"]])).as_bytes());
    session.close();
    let answers = session.rest();
    assert_eq!(answers.len(), 1, "{answers:?}");
    assert_eq!(answers[0]["id"], 1);
    assert_eq!(session.code(), 0);
}

#[test]
fn a_server_that_dies_in_the_grace_leaves_nothing_unanswered() {
    let mut session = relay().start_up();
    session.call(1, &json!([["hang"]]));
    session.ask(2, &json!([["hang"]]));
    // It ends with its input, and both are open.
    session.close();
    let (status, took) = session.end();
    assert_eq!(status.code(), Some(0));
    assert!(took < Duration::from_secs(2), "{took:?}");
    let ids: Vec<Value> = session.rest().iter().map(|a| a["id"].clone()).collect();
    assert_eq!(ids, [1, 2]);
}

#[test]
fn a_broken_stdout_ends_the_relay_at_once_and_without_a_panic() {
    let mut session = relay()
        .upstream_is("server stubborn noterm")
        .stdout_unread()
        .start_up();
    drop(session.process.stdout.take());
    session.ask(1, &json!([["answer"]]));
    let (status, took) = session.end();
    assert_eq!(status.code(), Some(0));
    assert!(took < Duration::from_secs(3), "{took:?}");
    session.gone("server");
    let log = session.log();
    assert!(log.contains("pipe is broken"), "{log}");
    assert!(!log.contains("panic"), "{log}");
}

#[test]
fn a_client_that_is_gone_altogether_ends_the_relay() {
    let mut session = relay()
        .upstream_is("server stubborn noterm")
        .stdout_unread()
        .stderr_unread()
        .start();
    session.call(1, &json!([["chatter"]]));
    drop(session.process.stdout.take());
    drop(session.process.stderr.take());
    session.close();
    let (status, took) = session.end();
    assert_eq!(status.code(), Some(0));
    assert!(took < LONG / 4, "{took:?}");
}
