//! Every kind of thing that a standard stream can be.

use crate::harness::{Builder, LONG, Lines, Session, ask, relay};
use rustix::fs::{OFlags, fcntl_getfl};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};

fn pair() -> (UnixStream, OwnedFd) {
    let (ours, theirs) = UnixStream::pair().expect("a pair");
    ours.set_read_timeout(Some(LONG)).expect("a limit");
    (ours, theirs.into())
}

fn file(text: &str) -> File {
    let mut file = tempfile::tempfile().expect("a file");
    file.write_all(text.as_bytes()).expect("room");
    file.rewind().expect("a file");
    file
}

fn ends_with_0(mut session: Session) {
    assert_eq!(session.code(), 0);
    session.gone("server");
}

#[test]
fn stdin_may_be_a_socket() {
    let (mut ours, theirs) = pair();
    let session = relay().stdin(theirs).start_up();
    writeln!(ours, "{}", ask(1, &json!([["answer"]]))).expect("an open socket");
    assert_eq!(session.message()["id"], 1);
    ours.shutdown(Shutdown::Write).expect("an open socket");
    ends_with_0(session);
}

#[test]
fn stdin_may_be_a_file() {
    let lines = format!(
        "{}\n{}",
        ask(1, &json!([["answer"]])),
        ask(2, &json!([["answer"]]))
    );
    let session = relay().stdin(file(&lines)).start_up();
    assert_eq!(session.message()["id"], 1);
    assert_eq!(session.message()["id"], 2);
    ends_with_0(session);
}

#[test]
fn stdin_may_be_the_null_device() {
    let session = relay().stdin(Stdio::null()).start();
    assert_eq!(session.rest(), Vec::<Value>::new());
    let mut session = session;
    assert_eq!(session.code(), 0);
}

#[test]
fn stdout_may_be_a_socket() {
    let (ours, theirs) = pair();
    let mut session = relay().stdout(theirs).start_up();
    let lines = Lines::of(ours);
    session.ask(1, &json!([["big", 1_000_000]]));
    assert!(lines.next().is_some_and(|line| line.len() > 1_000_000));
    session.close();
    ends_with_0(session);
}

#[test]
fn stdout_may_be_a_file() {
    let mut out = file("");
    let mut session = relay().stdout(out.try_clone().expect("a file")).start_up();
    session.ask(1, &json!([["big", 1_000_000]]));
    session.ask(2, &json!([["answer"]]));
    session.close();
    ends_with_0(session);
    let mut text = String::new();
    out.rewind().expect("a file");
    out.read_to_string(&mut text).expect("text");
    let ids: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON")["id"].clone())
        .collect();
    assert_eq!(ids, [1, 2]);
}

#[test]
fn a_stdout_that_takes_nothing_ends_the_relay() {
    if let Ok(full) = File::options().write(true).open("/dev/full") {
        let mut session = relay().stdout(full).start_up();
        session.ask(1, &json!([["answer"]]));
        assert_eq!(session.code(), 0);
        assert!(session.log().contains("pipe is broken"));
    }
}

/// One socket as stdin, stdout and stderr, as some clients and `socat` have it.
#[test]
fn the_three_may_be_one_description() {
    let (mut ours, theirs) = pair();
    let same = || Stdio::from(theirs.try_clone().expect("a copy"));
    let mut session = relay().stdin(same()).stdout(same()).stderr(same()).start();
    let lines = Lines::of(ours.try_clone().expect("a copy"));
    // More than the socket takes at once, on both of the streams that write to it.
    let steps = json!([["stderr_flood", 3_000_000], ["big", 3_000_000]]);
    writeln!(ours, "{}", ask(1, &steps)).expect("an open socket");
    writeln!(ours, "{}", ask(2, &json!([["answer"]]))).expect("an open socket");
    let mut seen = Vec::new();
    while seen.len() < 2 {
        let line = lines.next().expect("an open socket");
        if let Some(at) = line.windows(10).position(|w| w == br#"{"jsonrpc""#) {
            let message: Value = serde_json::from_slice(&line[at..]).unwrap_or_default();
            seen.push(message["id"].clone());
        }
    }
    ours.shutdown(Shutdown::Write).expect("an open socket");
    assert_eq!(session.code(), 0);
}

fn blocks(fd: &OwnedFd) -> bool {
    !fcntl_getfl(fd).expect("flags").contains(OFlags::NONBLOCK)
}

#[test]
fn what_others_share_with_the_relay_blocks_again_when_it_is_gone() {
    let (mut ours, theirs) = pair();
    let shared = || theirs.try_clone().expect("a copy");
    let session = relay().stdin(shared()).stdout(shared()).start_up();
    let lines = Lines::of(ours.try_clone().expect("a copy"));
    writeln!(ours, "{}", ask(1, &json!([["answer"]]))).expect("an open socket");
    assert!(lines.next().is_some());
    assert!(!blocks(&theirs), "the relay has not made it pollable");
    ours.shutdown(Shutdown::Write).expect("an open socket");
    ends_with_0(session);
    assert!(blocks(&theirs));
}

/// The relay behind a shell that closes a stream of its own.
fn without(stream: &str) -> Builder {
    let relay = env!("CARGO_BIN_EXE_vrc-mcp-proxy");
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", &format!("exec \"$0\" {stream}"), relay]);
    Builder::new(shell)
}

#[test]
fn a_closed_stderr_costs_the_log_alone() {
    let mut session = without("2>&-").start();
    session.ask(1, &json!([["answer"]]));
    session.send("no JSON");
    assert_eq!(session.message()["error"]["code"], -32700);
    assert_eq!(session.message()["id"], 1);
    session.close();
    assert_eq!(session.code(), 0);
}

#[test]
fn a_closed_stdin_is_a_client_that_has_left() {
    let mut session = without("<&-").start();
    assert_eq!(session.rest(), Vec::<Value>::new());
    assert_eq!(session.code(), 0);
}

#[test]
fn a_closed_stdout_is_never_somebody_elses_file() {
    let mut session = without(">&-").start_up();
    session.ask(1, &json!([["stderr", "it came"], ["answer"]]));
    session.says("it came");
    session.close();
    assert_eq!(session.code(), 0);
    session.gone("server");
}
