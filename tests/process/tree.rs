//! Nothing of the upstream's tree outlives the relay.

use crate::harness::relay;
use serde_json::json;

#[test]
fn a_killed_relay_takes_its_server_along() {
    let mut session = relay().upstream_is("server stubborn").start_up();
    session.ask(1, &json!([["answer"]]));
    session.message();
    session.process.kill().expect("it runs");
    session.end();
    session.gone("server");
}

/// As uvx and its Python are. Elsewhere than on Linux and Windows a server whose input has ended must
/// leave by itself.
#[test]
fn a_killed_relay_takes_launcher_and_server_along() {
    let words = if cfg!(any(target_os = "linux", windows)) {
        "launcher stubborn"
    } else {
        "launcher"
    };
    let mut session = relay().upstream_is(words).start_up();
    session.ask(1, &json!([["answer"]]));
    session.message();
    session.process.kill().expect("it runs");
    session.end();
    session.gone("server");
    session.gone("launcher");
}

#[test]
fn a_dead_launcher_leaves_no_server_behind() {
    let mut session = relay()
        .upstream_is("leaving noterm stubborn")
        .gate("leave")
        .start_up();
    session.ask(1, &json!([["answer"]]));
    session.message();
    session.open("leave");
    assert_eq!(session.code(), crate::child::LEFT);
    session.gone("server");
}

#[test]
fn a_grandchild_that_holds_the_pipes_open_does_not_hold_the_relay_up() {
    let mut session = relay().start_up();
    session.ask(1, &json!([["orphan_with_pipes"], ["answer"]]));
    session.message();
    session.says("orphan up");
    session.ask(2, &json!([["exit", 4]]));
    assert_eq!(session.message()["error"]["code"], -32603);
    assert_eq!(session.code(), 4);
    session.gone("orphan");
}

#[test]
fn a_grandchild_without_pipes_is_ended_too() {
    let mut session = relay().start_up();
    session.ask(1, &json!([["orphan"], ["answer"]]));
    session.message();
    session.says("orphan up");
    session.close();
    assert_eq!(session.code(), 0);
    session.gone("orphan");
}

#[cfg(unix)]
mod signals {
    use crate::harness::{Session, relay};
    use rustix::process::{Pid, Signal, kill_process};
    use serde_json::json;
    use std::time::Duration;

    const ALL: [Signal; 3] = [Signal::TERM, Signal::INT, Signal::HUP];
    /// Clients kill two seconds after they have asked.
    const SOON: Duration = Duration::from_millis(1900);

    fn send(session: &Session, signal: Signal) {
        let pid = i32::try_from(session.process.id()).expect("a pid");
        kill_process(Pid::from_raw(pid).expect("a pid"), signal).expect("it runs");
    }

    #[test]
    fn a_signal_ends_the_tree_without_grace() {
        for signal in ALL {
            let mut session = relay().upstream_is("launcher stubborn").start_up();
            session.call(1, &json!([["stderr", "got it"], ["hang"]]));
            session.says("got it");
            send(&session, signal);
            let (status, took) = session.end();
            assert_eq!(status.code(), Some(128 + signal.as_raw()));
            assert!(took < SOON, "{took:?}");
            session.gone("server");
            session.gone("launcher");
            let answers = session.rest();
            assert_eq!(answers.len(), 1, "{answers:?}");
            assert_eq!(answers[0]["id"], 1);
        }
    }

    #[test]
    fn a_server_that_ignores_sigterm_is_killed_in_time() {
        let mut session = relay().upstream_is("launcher stubborn noterm").start_up();
        session.ask(1, &json!([["answer"]]));
        session.message();
        send(&session, Signal::TERM);
        let (_, took) = session.end();
        assert!(took < SOON, "{took:?}");
        session.gone("server");
        session.gone("launcher");
    }

    #[test]
    fn a_signal_in_the_grace_ends_it() {
        let mut session = relay().upstream_is("server stubborn noterm").start_up();
        session.call(1, &json!([["hang"]]));
        session.close();
        session.says("end of input");
        send(&session, Signal::TERM);
        let (_, took) = session.end();
        assert!(took < SOON, "{took:?}");
        session.gone("server");
    }

    #[test]
    fn a_client_that_reads_nothing_does_not_hold_a_signal_up() {
        let mut session = relay()
            .upstream_is("server stubborn")
            .stdout_unread()
            .start_up();
        session.ask(1, &json!([["stderr", "go"], ["flood", 10_000_000]]));
        session.says("go");
        send(&session, Signal::TERM);
        let (_, took) = session.end();
        assert!(took < SOON, "{took:?}");
        session.gone("server");
    }
}
