//! Pipes that are full, in every direction.

use crate::harness::{Session, ask, call, relay};
use serde_json::{Value, json};
use std::io::Write;
use std::process::ChildStdin;
use std::sync::mpsc::{Receiver, channel};
use std::thread;

const MB: usize = 1_000_000;

/// Writes calls that nobody answers, about `megabytes` of them, and reports each megabyte that the relay
/// took. The stream comes back with the last report.
fn pour(
    mut stdin: ChildStdin,
    megabytes: usize,
) -> (Receiver<usize>, thread::JoinHandle<ChildStdin>) {
    let (report, progress) = channel();
    let writer = thread::spawn(move || {
        let padding = "p".repeat(10_000);
        for number in 0..megabytes * 100 {
            let line = ask(
                1_000_000 + u64::try_from(number).expect("small"),
                &json!([["hang", padding]]),
            );
            stdin
                .write_all(format!("{line}\n").as_bytes())
                .expect("the relay reads");
            if number % 100 == 99 {
                let _nobody_looks = report.send(number / 100 + 1);
            }
        }
        stdin
    });
    (progress, writer)
}

fn stdin(session: &mut Session) -> ChildStdin {
    session.stdin.take().expect("an open stdin")
}

/// The largest resident size that the relay has had, in KiB.
#[cfg(target_os = "linux")]
fn peak(session: &Session) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{}/status", session.process.id()));
    let status = status.expect("a status");
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let size = line.and_then(|line| line.split_whitespace().nth(1));
    size.and_then(|size| size.parse().ok()).expect("a size")
}

#[cfg(not(target_os = "linux"))]
fn peak(_: &Session) -> usize {
    0
}

/// Generous: two windows of a megabyte, a debug build, an allocator's slack.
const BOUND_KIB: usize = 40 << 10;

/// Lets the upstream speak so many times: time for the relay to take more than it should, if it would.
fn rounds(session: &mut Session, count: usize) {
    for round in 0..count {
        session.ask(2, &json!([["stderr", format!("round {round}")]]));
        session.says(&format!("round {round}"));
    }
}

/// A flood for a client that begins to read when so many rounds are over.
fn reads_late(flood: &str, size: usize, count: usize) {
    let mut session = relay().stdout_unread().start_up();
    session.ask(1, &json!([[flood, size]]));
    rounds(&mut session, count);
    let before = peak(&session);
    session.read_stdout();
    while session.message()["method"] != "flooded" {}
    assert!(before < BOUND_KIB, "{before} KiB before anything was read");
    assert!(peak(&session) < BOUND_KIB, "{} KiB", peak(&session));
}

#[test]
fn a_client_that_does_not_read_can_still_send() {
    let mut session = relay().stdout_unread().start_up();
    session.ask(1, &json!([["flood_aside", 20 * MB]]));
    let (progress, writer) = pour(stdin(&mut session), 8);
    assert_eq!(progress.iter().last(), Some(8));
    let mut stdin = writer.join().expect("all is written");
    // The server has read it all while it could not write.
    writeln!(stdin, "{}", ask(2, &json!([["stderr", "read so far"]]))).expect("the relay reads");
    session.says("read so far");
    session.read_stdout();
    while session.message()["method"] != "flooded" {}
    assert!(peak(&session) < BOUND_KIB, "{} KiB", peak(&session));
}

#[test]
fn a_flood_for_a_client_that_reads_late_stays_in_the_servers_pipe() {
    reads_late("flood_aside", 200 * MB, 50);
}

#[test]
fn a_gigabyte_for_a_client_that_never_reads_stays_with_the_server() {
    let mut session = relay().stdout_unread().start_up();
    session.ask(1, &json!([["flood_aside", 1000 * MB]]));
    // As long as the relay takes what flows the other way, it could take more of this too.
    rounds(&mut session, 50);
    assert!(peak(&session) < BOUND_KIB, "{} KiB", peak(&session));
    session.close();
    assert_eq!(session.code(), 0);
}

/// The credit of lines that were handed on does not come back with lines of the same read that cause nothing.
#[test]
fn blank_lines_behind_a_flood_do_not_open_the_way_for_more() {
    reads_late("flood_with_gaps", 100 * MB, 1000);
}

#[test]
fn a_server_that_does_not_read_stops_what_flows_to_it_and_no_answer() {
    let mut session = relay().gate("read").gate("answer").start_up();
    session.call(
        1,
        &json!([["hold"], ["release_at", "answer"], ["gate", "read"]]),
    );
    let (progress, writer) = pour(stdin(&mut session), 200);
    assert_eq!(progress.recv(), Ok(1));
    session.open("answer");
    assert_eq!(session.message()["id"], 1);
    assert!(peak(&session) < BOUND_KIB, "{} KiB", peak(&session));
    assert!(!writer.is_finished(), "200 MB went into nobody");
    session.open("read");
    assert_eq!(progress.iter().last(), Some(200));
    let mut stdin = writer.join().expect("all is written");
    writeln!(stdin, "{}", ask(2, &json!([["answer"]]))).expect("the relay reads");
    assert_eq!(session.message()["id"], 2);
}

#[test]
fn both_directions_full_at_once_is_no_deadlock() {
    let mut session = relay().stdout_unread().start_up();
    // The server reads on only when it has written all, and so does the client.
    session.ask(1, &json!([["flood", 20 * MB]]));
    let (progress, writer) = pour(stdin(&mut session), 20);
    assert_eq!(progress.recv(), Ok(1));
    session.read_stdout();
    while session.message()["method"] != "flooded" {}
    assert_eq!(progress.iter().last(), Some(20));
    let mut stdin = writer.join().expect("all is written");
    writeln!(stdin, "{}", ask(2, &json!([["answer"]]))).expect("the relay reads");
    assert_eq!(session.message()["id"], 2);
}

#[test]
fn refusals_that_nobody_reads_stop_the_client_and_not_its_calls() {
    let mut session = relay().stdout_unread().start_up();
    // Far less than the window each, far more than it together with what is forwarded.
    for id in 0..300 {
        session.send("no JSON");
        session.send(call(id, &json!([["hang", "h".repeat(20_000)]])));
    }
    session.ask(300, &json!([["stderr", "all came through"]]));
    session.says("all came through");
    session.read_stdout();
    for _ in 0..300 {
        assert_eq!(session.message()["error"]["code"], -32700);
    }
}

#[test]
fn garbage_without_end_from_a_client_that_reads_nothing_is_bounded() {
    let mut session = relay().stdout_unread().stderr_unread().start();
    let mut stdin = stdin(&mut session);
    let (report, progress) = channel();
    let writer = thread::spawn(move || {
        let garbage = "x\n".repeat(5_000);
        while stdin.write_all(garbage.as_bytes()).is_ok() {
            let _nobody_looks = report.send(());
        }
    });
    assert!(progress.recv().is_ok());
    // What the relay makes of it is longer than the garbage: reading it all lets it go on.
    session.read_stdout();
    for _ in 0..100_000 {
        assert_eq!(session.message()["error"]["code"], -32700);
    }
    assert!(peak(&session) < BOUND_KIB, "{} KiB", peak(&session));
    drop(session);
    writer.join().expect("the pipe breaks");
}

#[test]
fn a_stderr_that_nobody_reads_costs_log_lines_and_nothing_else() {
    let mut session = relay().stderr_unread().start();
    session.ask(1, &json!([["stderr_flood", 4 * MB], ["answer"]]));
    assert_eq!(session.message()["id"], 1);
    // The relay's own lines too.
    for _ in 0..5_000 {
        session.send("no JSON");
        assert_eq!(session.message()["error"]["code"], -32700);
    }
    session.call(2, &json!([["answer"]]));
    assert_eq!(session.message()["id"], 2);
    session.read_stderr();
    let line = session.says("were dropped");
    let count = line
        .split_whitespace()
        .find_map(|word| word.parse::<u64>().ok());
    assert!(count.is_some_and(|count| count > 100), "{line}");
    session.close();
    assert_eq!(session.rest(), Vec::<Value>::new());
    assert_eq!(session.code(), 0);
}

#[test]
fn a_stderr_that_nobody_reads_does_not_hold_the_end_up() {
    let mut session = relay().stderr_unread().start();
    session.ask(1, &json!([["stderr_flood", 4 * MB], ["answer"]]));
    assert_eq!(session.message()["id"], 1);
    session.close();
    let (status, took) = session.end();
    assert_eq!(status.code(), Some(0));
    assert!(took.as_secs() < 3, "{took:?}");
}
