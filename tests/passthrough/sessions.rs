//! Whole sessions: however calls, answers, cancellations, time-outs and the end of the upstream fall
//! together, the client gets exactly one answer to each request that it still waits for. Here nothing waits for its
//! turn: `turns.rs` is about that.

use crate::json::config;
use crate::support::driver::Driver;
use crate::support::surroundings::NoEditors;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};
use std::time::Duration;
use vrc_mcp_proxy::behaviors::REGISTRY;
use vrc_mcp_proxy::config::Config;
use vrc_mcp_proxy::relay::Relay;

/// Something that happens.
#[derive(Clone, Debug)]
enum Event {
    /// The client sends a request of this kind; the index picks one of a few ids.
    Ask(Asked, Index),
    /// The client cancels one of its ids.
    Cancel(Index),
    /// The upstream answers one of the requests that it got, maybe for the second time.
    Answer(Answered, Index),
    /// The server asks something, with one of the client's ids; the client answers.
    ServerAsks(Index),
    /// Seconds pass.
    Wait(u32),
}

#[derive(Clone, Copy, Debug)]
enum Asked {
    Call,
    Snippet,
    Refused,
    Listing,
    Other,
    TurnedAway,
}

#[derive(Clone, Copy, Debug)]
enum Answered {
    Result,
    TimedOut,
    Error,
    Damaged,
    CutOff,
}

fn event() -> impl Strategy<Value = Event> {
    let asked = select(vec![
        Asked::Call,
        Asked::Snippet,
        Asked::Snippet,
        Asked::Refused,
        Asked::Listing,
        Asked::Other,
        Asked::TurnedAway,
    ]);
    let answered = select(vec![
        Answered::Result,
        Answered::Result,
        Answered::TimedOut,
        Answered::Error,
        Answered::Damaged,
        Answered::CutOff,
    ]);
    prop_oneof![
        5 => (asked, any::<Index>()).prop_map(|(asked, id)| Event::Ask(asked, id)),
        4 => (answered, any::<Index>()).prop_map(|(answered, at)| Event::Answer(answered, at)),
        1 => any::<Index>().prop_map(Event::Cancel),
        1 => any::<Index>().prop_map(Event::ServerAsks),
        1 => (0..150_u32).prop_map(Event::Wait),
    ]
}

/// The client, the upstream and the relay between them.
struct Session {
    driver: Driver,
    ids: Vec<Value>,
    /// The ids whose newest request the client still waits for.
    due: Vec<Value>,
    /// The ids of the requests that the upstream got.
    received: Vec<Value>,
    ended: bool,
}

impl Session {
    fn new(ids: usize) -> Self {
        let surroundings = Box::new(NoEditors::default());
        let config = Config {
            disabled: ["eviction_hold"].into(),
            ..Config::default()
        };
        let ids = (0..ids).map(|n| {
            if n % 2 == 0 {
                json!(n / 2)
            } else {
                json!((n / 2).to_string())
            }
        });
        Session {
            driver: Driver::new(Relay::new(config, REGISTRY, surroundings)),
            ids: ids.collect(),
            due: Vec::new(),
            received: Vec::new(),
            ended: false,
        }
    }

    fn happens(&mut self, event: &Event) -> Result<(), String> {
        match event {
            Event::Ask(asked, id) => {
                let id = id.get(&self.ids).clone();
                // An id that is used again belongs to the newest request.
                self.due.retain(|due| *due != id);
                self.due.push(id.clone());
                self.driver.client_sends(request(*asked, &id));
                let at_once = self.ended || matches!(asked, Asked::Refused | Asked::TurnedAway);
                self.look()?;
                self.is_due(&id, !at_once)?;
            }
            Event::Cancel(id) => {
                let id = id.get(&self.ids).clone();
                self.due.retain(|due| *due != id);
                self.driver.client_sends(format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#));
            }
            Event::Answer(..) if self.received.is_empty() || self.ended => {}
            Event::Answer(answered, at) => {
                let id = at.get(&self.received).clone();
                self.driver.child_sends(answer(*answered, &id));
                self.look()?;
                self.is_due(&id, false)?;
            }
            Event::ServerAsks(id) => {
                let id = id.get(&self.ids).clone();
                let question = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"roots/list"}}"#);
                self.driver.child_sends(question.clone());
                let got = self.driver.client.pop_back();
                if got.as_deref() != Some(question.as_bytes()) {
                    return Err(format!("the server's request came as {got:?}"));
                }
                self.driver.client_sends(format!(
                    r#"{{"jsonrpc":"2.0","id":{id},"result":{{"roots":[]}}}}"#
                ));
            }
            Event::Wait(seconds) => self
                .driver
                .advance(Duration::from_secs(u64::from(*seconds))),
        }
        self.look()
    }

    /// Takes what came: each answer must be due, and is so no more.
    fn look(&mut self) -> Result<(), String> {
        for line in std::mem::take(&mut self.driver.child) {
            let message: Value =
                serde_json::from_slice(&line).map_err(|error| error.to_string())?;
            if message.get("method").is_some() && message.get("id").is_some() {
                self.received.push(message["id"].clone());
            }
        }
        for line in std::mem::take(&mut self.driver.client) {
            let message: Value =
                serde_json::from_slice(&line).map_err(|error| error.to_string())?;
            let id = &message["id"];
            let at = self.due.iter().position(|due| due == id);
            let at = at.ok_or_else(|| format!("nobody waits for {message}"))?;
            self.due.remove(at);
        }
        let (told, due) = (self.driver.relay.waiting(), self.due.len());
        if told == due {
            Ok(())
        } else {
            Err(format!("the relay counts {told} that wait, not {due}"))
        }
    }

    fn is_due(&self, id: &Value, wanted: bool) -> Result<(), String> {
        let due = self.due.contains(id);
        if due == wanted {
            Ok(())
        } else {
            Err(format!("{id} is due: {due}, wanted {wanted}"))
        }
    }
}

fn request(asked: Asked, id: &Value) -> String {
    let (method, params) = match asked {
        Asked::Call => (
            "tools/call",
            r#"{"name":"manage_editor","arguments":{"action":"play"}}"#,
        ),
        Asked::Snippet => (
            "tools/call",
            r#"{"name":"execute_code","arguments":{"action":"execute","code":"return 1;"}}"#,
        ),
        Asked::Refused => ("tools/call", r#"{"name":"run_tests","arguments":{}}"#),
        Asked::Listing => ("tools/list", "{}"),
        Asked::Other => ("resources/list", "{}"),
        Asked::TurnedAway => ("tools/call", "[]"),
    };
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#)
}

fn answer(answered: Answered, id: &Value) -> String {
    let head = format!(r#"{{"jsonrpc":"2.0","id":{id},"#);
    match answered {
        Answered::Result => format!(r#"{head}"result":{{"content":[],"tools":[]}}}}"#),
        Answered::TimedOut => {
            format!(
                r#"{head}"result":{{"content":[{{"type":"text","text":"Timeout receiving Unity response"}}]}}}}"#
            )
        }
        Answered::Error => format!(r#"{head}"error":{{"code":1,"message":"x"}}}}"#),
        Answered::Damaged => format!(r#"{head}"result":{{"x":NaN}}}}"#),
        Answered::CutOff => format!(r#"{head}"result":{{"x":"#),
    }
}

proptest! {
    #![proptest_config(config(1))]

    #[test]
    fn every_request_gets_exactly_one_answer(
        ids in 2..12_usize, events in vec(event(), 1..60), late in vec(event(), 0..6),
    ) {
        let mut session = Session::new(ids);
        let outcome = events.iter().try_for_each(|event| session.happens(event));
        prop_assert_eq!(outcome, Ok(()));
        session.driver.end_child("ended with status 1");
        session.ended = true;
        prop_assert_eq!(session.look(), Ok(()));
        prop_assert_eq!(&session.due, &Vec::<Value>::new());
        prop_assert_eq!(session.driver.relay.next_deadline(), None);
        let outcome = late.iter().try_for_each(|event| session.happens(event));
        prop_assert_eq!(outcome, Ok(()));
        session.driver.advance(Duration::from_secs(100_000));
        prop_assert_eq!(session.look(), Ok(()));
        prop_assert_eq!(&session.due, &Vec::<Value>::new());
    }

    #[test]
    fn a_snippet_that_nobody_answers_is_answered_in_time(gaps in vec(0..100_u32, 1..8)) {
        let mut session = Session::new(2 * gaps.len());
        for (at, gap) in gaps.iter().enumerate() {
            let id = session.ids[at].clone();
            session.driver.client_sends(request(Asked::Snippet, &id));
            session.due.push(id);
            session.driver.advance(Duration::from_secs(u64::from(*gap)));
            prop_assert_eq!(session.look(), Ok(()));
        }
        session.driver.advance(Duration::from_secs(120));
        prop_assert_eq!(session.look(), Ok(()));
        prop_assert_eq!(&session.due, &Vec::<Value>::new());
    }
}
