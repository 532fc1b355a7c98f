//! Whose turn it is: however requests, answers, cancellations, ids used again, limits and ends fall together, no
//! Unity-bound request goes out beside one that it may not go beside, those that wait keep their order, and none is
//! lost, answered twice or left waiting.
//!
//! The books here are kept apart from the core's: every request has a number of its own, by which the upstream of this
//! test knows it whatever id it has.

use crate::json::config;
use crate::support::driver::{Driver, START_UNIX_MS, Sent};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::path::Path;
use std::time::Duration;
use vrc_mcp_proxy::behaviors::{REGISTRY, Surroundings};
use vrc_mcp_proxy::config::Config;
use vrc_mcp_proxy::instances::Editor;
use vrc_mcp_proxy::relay::Relay;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Plain,
    Named,
    Pin,
    Snippet,
    NamedSnippet,
    Read,
    Refused,
    Listing,
    Ping,
    TurnedAway,
}

const KINDS: [Kind; 10] = [
    Kind::Plain,
    Kind::Named,
    Kind::Pin,
    Kind::Snippet,
    Kind::NamedSnippet,
    Kind::Read,
    Kind::Refused,
    Kind::Listing,
    Kind::Ping,
    Kind::TurnedAway,
];

impl Kind {
    fn is_unity_bound(self) -> bool {
        self.scans() || matches!(self, Kind::Plain | Kind::Snippet | Kind::Read)
    }

    fn scans(self) -> bool {
        matches!(self, Kind::Named | Kind::Pin | Kind::NamedSnippet)
    }

    fn counts_for(self) -> Duration {
        match self {
            Kind::Snippet | Kind::NamedSnippet | Kind::Read => seconds(40),
            _ => seconds(185),
        }
    }

    fn line(self, id: &Value, number: usize) -> String {
        let call = |tool: &str, more: &str| {
            (
                "tools/call",
                format!(r#"{{"name":"{tool}","arguments":{{{more}"n":{number}}}}}"#),
            )
        };
        let named = r#""unity_instance":"6400","#;
        let code = r#""action":"execute","code":"return 1;","#;
        let (method, params) = match self {
            Kind::Plain => call("find_gameobjects", ""),
            Kind::Named => call("find_gameobjects", named),
            Kind::Pin => call("set_active_instance", r#""instance":"6400","#),
            Kind::Snippet => call("execute_code", code),
            Kind::NamedSnippet => call("execute_code", &format!("{named}{code}")),
            Kind::Refused => call("run_tests", ""),
            Kind::Read => ("resources/read", format!(r#"{{"n":{number}}}"#)),
            Kind::Listing => ("tools/list", format!(r#"{{"n":{number}}}"#)),
            Kind::Ping => ("ping", format!(r#"{{"n":{number}}}"#)),
            Kind::TurnedAway => ("tools/call", "[]".to_owned()),
        };
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#)
    }
}

/// Something that happens.
#[derive(Clone, Debug)]
enum Event {
    Ask(Kind, Index),
    Cancel(Index),
    /// The upstream answers one of the requests that it has: the first one, or any.
    Answer(bool, Index),
    /// It answers with bytes that cannot be read.
    Damage(Index),
    ServerAsks(Index),
    Wait(u64),
    SetClock(i64),
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        8 => (select(&KINDS[..]), any::<Index>()).prop_map(|(kind, id)| Event::Ask(kind, id)),
        5 => (any::<bool>(), any::<Index>()).prop_map(|(any, at)| Event::Answer(any, at)),
        1 => any::<Index>().prop_map(Event::Damage),
        2 => any::<Index>().prop_map(Event::Cancel),
        1 => any::<Index>().prop_map(Event::ServerAsks),
        2 => (0..7_000_u64).prop_map(Event::Wait),
        1 => (0..200_000_u64).prop_map(Event::Wait),
        1 => (-400_000..400_000_i64).prop_map(Event::SetClock),
    ]
}

/// As many live Editors.
struct Editors(u8);

impl Surroundings for Editors {
    fn editors(&self) -> Vec<Editor> {
        let editor = |n| {
            let body = format!(r#"{{"project_path":"/p{n}/Assets","unity_port":640{n}}}"#);
            let mut editor = Editor::parse(&format!("{n:08x}"), Path::new("f"), body.as_bytes())?;
            // Of a time to come: live whatever the clock says.
            editor.last_heartbeat_ms = Some(START_UNIX_MS * 2);
            Some(editor)
        };
        (0..self.0).filter_map(editor).collect()
    }

    fn holds_folder(&self, _: &Path, _: &str) -> Option<bool> {
        None
    }

    fn fresh_key(&self) -> String {
        "0".repeat(32)
    }
}

#[derive(Clone, Debug)]
struct Request {
    number: usize,
    id: Value,
    kind: Kind,
}

struct Session {
    driver: Driver,
    /// How much of the history was looked at.
    looked: usize,
    /// Whether every request has an id of its own. Only then can it be told whose answer an answer is, and the rule
    /// holds to the letter in both directions; else it may be kept too strictly.
    exact: bool,
    ids: Vec<Value>,
    asked: Vec<Request>,
    /// The requests that the client waits for.
    due: Vec<Request>,
    /// Those of them that wait for their turn.
    waiting: VecDeque<Request>,
    /// What the upstream got and has not answered, and until when it counts.
    received: Vec<(Request, Duration)>,
    last_scan: Option<Duration>,
}

impl Session {
    fn new(ids: Option<usize>, editors: u8) -> Self {
        let id = |n: usize| {
            if n.is_multiple_of(2) {
                json!(n)
            } else {
                json!(n.to_string())
            }
        };
        let surroundings = Box::new(Editors(editors));
        Session {
            driver: Driver::new(Relay::new(Config::default(), REGISTRY, surroundings)),
            looked: 0,
            exact: ids.is_none(),
            ids: (0..ids.unwrap_or(1000)).map(id).collect(),
            asked: Vec::new(),
            due: Vec::new(),
            waiting: VecDeque::new(),
            received: Vec::new(),
            last_scan: None,
        }
    }

    fn now(&self) -> Duration {
        self.driver.now().since_start
    }

    fn in_flight(&self) -> impl Iterator<Item = &Request> {
        let unanswered = self.received.iter();
        let counts = |(request, until): &&(Request, Duration)| {
            request.kind.is_unity_bound() && *until > self.now()
        };
        unanswered.filter(counts).map(|(request, _)| request)
    }

    fn older_than(&self, age: Duration) -> bool {
        self.last_scan.is_none_or(|at| self.now() - at >= age)
    }

    /// The rule for a request that arrives.
    fn must_wait(&self, kind: Kind) -> bool {
        self.in_flight().next().is_some()
            && (kind.scans()
                || self.in_flight().any(|other| other.kind.scans())
                || !self.waiting.is_empty()
                || self.older_than(seconds(4)))
    }

    fn happens(&mut self, event: &Event) -> Result<(), String> {
        match event {
            Event::Ask(kind, id) => self.ask(*kind, id)?,
            Event::Cancel(at) if !self.asked.is_empty() => {
                let id = at.get(&self.asked).id.clone();
                self.due.retain(|due| due.id != id);
                self.waiting.retain(|waiting| waiting.id != id);
                self.driver.client_sends(format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#));
            }
            Event::Answer(any, at) if !self.received.is_empty() => {
                let at = if *any {
                    at.index(self.received.len())
                } else {
                    0
                };
                let (request, _) = self.received.remove(at);
                let result =
                    r#"{"content":[{"type":"text","text":"{\"success\":true}"}],"tools":[]}"#;
                self.driver.child_sends(format!(
                    r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#,
                    request.id
                ));
            }
            Event::Damage(at) if !self.received.is_empty() => {
                let (request, _) = self.received.remove(at.index(self.received.len()));
                self.driver.child_sends(format!(
                    r#"{{"jsonrpc":"2.0","id":{},"result":{{"x":NaN}}}}"#,
                    request.id
                ));
            }
            Event::ServerAsks(at) => {
                let id = at.get(&self.ids).clone();
                self.driver.child_sends(format!(
                    r#"{{"jsonrpc":"2.0","id":{id},"method":"roots/list"}}"#
                ));
                self.driver
                    .client_sends(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#));
            }
            Event::Wait(milliseconds) => self.wait(Duration::from_millis(*milliseconds))?,
            Event::SetClock(milliseconds) => self.driver.skew_ms += milliseconds,
            Event::Cancel(_) | Event::Answer(..) | Event::Damage(_) => {}
        }
        self.look(None)?;
        if self.exact && self.in_flight().next().is_none() && !self.waiting.is_empty() {
            return Err(format!(
                "nothing is in flight, and these wait: {:?}",
                self.waiting
            ));
        }
        Ok(())
    }

    fn wait(&mut self, time: Duration) -> Result<(), String> {
        let end = self.now() + time;
        while self.driver.fire_next(end) {
            self.look(None)?;
        }
        self.driver.advance(end - self.now());
        Ok(())
    }

    fn ask(&mut self, kind: Kind, id: &Index) -> Result<(), String> {
        let number = self.asked.len();
        let id = if self.exact {
            &self.ids[number]
        } else {
            id.get(&self.ids)
        };
        let request = Request {
            number,
            id: id.clone(),
            kind,
        };
        self.asked.push(request.clone());
        // An id that is used again belongs to the newest request.
        self.due.retain(|due| due.id != request.id);
        self.waiting.retain(|waiting| waiting.id != request.id);
        self.due.push(request.clone());
        let must_wait = kind.is_unity_bound() && self.must_wait(kind);
        let before = self.looked;
        self.driver.client_sends(kind.line(&request.id, number));
        self.look(Some(&request))?;
        let is_due = self.due.iter().any(|due| due.number == number);
        let went = self
            .received
            .iter()
            .any(|(other, _)| other.number == number);
        if is_due && !went {
            if !kind.is_unity_bound() {
                return Err(format!("{request:?} was kept back"));
            }
            self.waiting.push_back(request.clone());
        }
        let waits = is_due && !went;
        if self.exact && waits != must_wait && kind.is_unity_bound() {
            return Err(format!(
                "{request:?} waits: {waits}, by the rule: {must_wait}"
            ));
        }
        // An answer to nothing else came of it.
        if !is_due && !went && self.looked == before {
            return Err(format!("{request:?} is lost"));
        }
        Ok(())
    }

    /// Looks at what was sent, in order.
    fn look(&mut self, asked: Option<&Request>) -> Result<(), String> {
        while let Some(sent) = self.driver.history.get(self.looked).cloned() {
            self.looked += 1;
            let (Sent::Client(line) | Sent::Child(line)) = &sent;
            let message: Value = serde_json::from_slice(line).map_err(|e| e.to_string())?;
            match (sent, message["method"].is_string()) {
                (Sent::Client(_), false) => self.answered(&message, asked)?,
                (Sent::Child(_), true) => self.sent(&message, asked)?,
                // The server's own request, and the client's answer to it.
                _ => {}
            }
        }
        let (told, due) = (self.driver.relay.waiting(), self.due.len());
        if told == due {
            Ok(())
        } else {
            Err(format!("the relay counts {told} that are due, not {due}"))
        }
    }

    fn answered(&mut self, message: &Value, asked: Option<&Request>) -> Result<(), String> {
        let at = self.due.iter().position(|due| due.id == message["id"]);
        let at = at.ok_or_else(|| format!("nobody waits for {message}"))?;
        let request = self.due.remove(at);
        if let Some(at) = self
            .waiting
            .iter()
            .position(|other| other.number == request.number)
        {
            // A guard stopped it when its turn came.
            self.is_its_turn(at, &request)?;
            self.waiting.remove(at);
        } else if request.kind == Kind::Refused
            && asked.is_none_or(|asked| asked.number != request.number)
        {
            return Err(format!("{request:?} was refused late"));
        }
        Ok(())
    }

    fn is_its_turn(&self, at: usize, request: &Request) -> Result<(), String> {
        if at != 0 {
            return Err(format!("{request:?} went ahead of {:?}", self.waiting));
        }
        match self.in_flight().next() {
            None => Ok(()),
            Some(other) => Err(format!("{request:?} had waited and went beside {other:?}")),
        }
    }

    fn sent(&mut self, message: &Value, asked: Option<&Request>) -> Result<(), String> {
        let Some(id) = message.get("id") else {
            let id = &message["params"]["requestId"];
            let newest = self.asked.iter().rev().find(|request| request.id == *id);
            let is_kept = newest.is_some_and(|newest| {
                self.received
                    .iter()
                    .any(|(r, _)| r.number == newest.number && r.kind.is_unity_bound())
            });
            return if is_kept {
                Err(format!("the upstream was told: {message}"))
            } else {
                Ok(())
            };
        };
        let params = &message["params"];
        let number = params["n"]
            .as_u64()
            .or_else(|| params["arguments"]["n"].as_u64());
        let request = number.and_then(|number| self.asked.get(usize::try_from(number).ok()?));
        let request = request
            .cloned()
            .ok_or_else(|| format!("unknown: {message}"))?;
        if request.id != *id || !self.due.iter().any(|due| due.number == request.number) {
            return Err(format!("nobody wants {request:?} any more"));
        }
        if let Some(at) = self
            .waiting
            .iter()
            .position(|other| other.number == request.number)
        {
            self.is_its_turn(at, &request)?;
            self.waiting.remove(at);
        } else if asked.is_none_or(|asked| asked.number != request.number) {
            return Err(format!("{request:?} was sent twice"));
        } else if request.kind.is_unity_bound() && self.must_wait(request.kind) {
            return Err(format!("{request:?} had to wait"));
        }
        if request.kind.scans()
            || request.kind.is_unity_bound() && self.older_than(Duration::from_millis(5500))
        {
            self.last_scan = Some(self.now());
        }
        let until = self.now() + request.kind.counts_for();
        self.received.push((request, until));
        Ok(())
    }

    /// All that wait come to their turn by time alone; then the upstream ends.
    fn ends(mut self, close: bool) -> Result<(), String> {
        if close {
            let mut answers = Vec::new();
            self.driver.relay.drop_waiting("was ended", &mut answers);
            let left = self.driver.relay.waiting() + answers.len();
            if answers.len() != self.waiting.len() || left != self.due.len() {
                return Err(format!("{} answers for {:?}", answers.len(), self.waiting));
            }
            self.due
                .retain(|due| !self.waiting.iter().any(|other| other.number == due.number));
            self.waiting.clear();
        }
        self.wait(seconds(100_000))?;
        if !self.waiting.is_empty() {
            return Err(format!("left waiting: {:?}", self.waiting));
        }
        self.driver.end_child("ended with status 1");
        self.look(None)?;
        match (&self.due[..], self.driver.relay.next_deadline()) {
            ([], None) => Ok(()),
            (due, deadline) => Err(format!("at the end: {due:?}, {deadline:?}")),
        }
    }
}

fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

fn plays(mut session: Session, events: &[Event], close: bool) -> Result<(), String> {
    events.iter().try_for_each(|event| session.happens(event))?;
    session.ends(close)
}

proptest! {
    #![proptest_config(config(2))]

    #[test]
    fn each_goes_out_when_the_rule_says_so(
        editors in 0..3_u8, events in vec(event(), 1..80), close in any::<bool>(),
    ) {
        prop_assert_eq!(plays(Session::new(None, editors), &events, close), Ok(()));
    }

    #[test]
    fn ids_used_again_never_let_one_go_out_early(
        ids in 1..6_usize, editors in 0..3_u8, events in vec(event(), 1..80), close in any::<bool>(),
    ) {
        prop_assert_eq!(plays(Session::new(Some(ids), editors), &events, close), Ok(()));
    }
}
