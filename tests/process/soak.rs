//! A long day in a short time: mixed traffic with faults all along it, through the real binary.
//!
//! `VRC_MCP_PROXY_SOAK_MESSAGES` says how many messages the client sends (20,000 unless it says otherwise),
//! `VRC_MCP_PROXY_SOAK_SEED` which ones.

use crate::harness::{Session, ask, call, relay};
use crate::random::{Random, setting};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet, VecDeque};
use std::io::Write;

/// Requests that may wait for their answers at a time.
const WINDOW: usize = 64;
/// What the relay may have kept at the end, beyond what it had after the first part of the day.
const KEPT_KIB: usize = 3 << 10;

/// The client's books.
struct Day {
    session: Session,
    random: Random,
    /// Ids that an answer is due to.
    due: HashSet<u64>,
    /// Ids in the order in which they were asked, for use once more.
    used: VecDeque<u64>,
    /// Requests that the server holds, which the client still waits for.
    held: Vec<u64>,
    /// Errors without an id that are due.
    nameless: usize,
    answers: usize,
    cancelled: usize,
    reused: usize,
    faults: HashMap<&'static str, usize>,
    next: u64,
}

impl Day {
    fn new(seed: u64) -> Self {
        let mut session = relay()
            .env("VRC_MCP_PROXY_LOG", "error")
            .env("VRC_MCP_PROXY_EXECUTE_TIMEOUT_S", "1")
            .start_up();
        session.discard_stderr();
        Day {
            session,
            random: Random::new(seed),
            due: HashSet::new(),
            used: VecDeque::new(),
            held: Vec::new(),
            nameless: 0,
            answers: 0,
            cancelled: 0,
            reused: 0,
            faults: HashMap::new(),
            next: 1,
        }
    }

    /// An id: mostly a fresh one, sometimes one that was answered long ago.
    fn id(&mut self) -> u64 {
        if self.used.len() > 1000 {
            let old = self.used.pop_front().expect("some");
            if !self.due.contains(&old) && self.random.below(3) == 0 {
                self.reused += 1;
                return old;
            }
        }
        self.next += 1;
        self.next
    }

    fn fault(&mut self, name: &'static str) {
        *self.faults.entry(name).or_default() += 1;
    }

    /// Sends a request that has the server take `steps`, and books its answer.
    fn request(&mut self, id: u64, steps: &Value) {
        let line = match self.random.below(3) {
            0 => ask(id, steps),
            _ => call(id, steps),
        };
        self.session.send(line);
        self.due.insert(id);
        self.used.push_back(id);
    }

    /// One message of the client's.
    fn message(&mut self) {
        let id = self.id();
        match self.random.below(40) {
            at @ 0..2 => self.stopped(id, at == 0),
            at @ 2..9 => self.odd_answer(id, at),
            9 => {
                // No tool call: that could go out behind its release, for which it would wait.
                self.session.send(ask(id, &json!([["hold"]])));
                self.due.insert(id);
                self.held.push(id);
            }
            10 => self.cancel(),
            11 => {
                // The newest request of an id counts.
                if let Some(held) = self.held.pop() {
                    self.fault("an id in use once more");
                    self.session.send(ask(held, &json!([["hold"]])));
                    self.release();
                }
            }
            12 => {
                let notice =
                    json!({ "jsonrpc": "2.0", "method": "notifications/x", "params": { "n": id } });
                self.session.send(notice.to_string());
            }
            13 => self.session.send_raw(b"\r\n   \n"),
            _ => self.request(id, &json!([["answer"]])),
        }
        if self.held.len() > 8 {
            self.release();
        }
    }

    /// What the relay answers by itself.
    fn stopped(&mut self, id: u64, is_no_message: bool) {
        if is_no_message {
            self.fault("a line that is no message");
            self.session.send("{\"half\":");
            self.nameless += 1;
        } else {
            self.fault("a refused call");
            let params = json!({ "name": "run_tests", "arguments": {} });
            let call =
                json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
            self.session.send(call.to_string());
            self.due.insert(id);
        }
    }

    /// A request whose answer is damaged, doubled, huge, or not alone.
    fn odd_answer(&mut self, id: u64, kind: usize) {
        let head = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"x\":");
        let (name, steps) = match kind {
            2 => (
                "a damaged answer",
                json!([["raw", format!("{head}NaN}}}}\n")]]),
            ),
            3 => (
                "an answer that is cut off",
                json!([["raw", format!("{head}\n")]]),
            ),
            4 => {
                let text = "Traceback (most recent call last):\n";
                ("text beside an answer", json!([["raw", text], ["answer"]]))
            }
            5 => {
                let line = "{\"jsonrpc\":\"2.0\",\"id\":\"nobody\",\"result\":{}}\n";
                ("an answer to nobody", json!([["raw", line], ["answer"]]))
            }
            6 => ("an answer twice", json!([["answer"], ["answer"]])),
            7 => (
                "a flood on stderr",
                json!([["stderr_flood", 5000], ["answer"]]),
            ),
            _ => ("a large answer", json!([["big", 200_000]])),
        };
        self.fault(name);
        self.request(id, &steps);
    }

    /// The server holds a request, the client gives it up, the server answers all the same.
    fn cancel(&mut self) {
        self.fault("a cancelled request");
        let id = self.id();
        self.session.send(ask(id, &json!([["hold"]])));
        let notice = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } });
        self.session.send(notice.to_string());
        self.cancelled += 1;
    }

    /// The server answers what it holds.
    fn release(&mut self) {
        let id = self.id();
        self.session
            .send(ask(id, &json!([["release"], ["answer"]])));
        self.due.insert(id);
        self.held.clear();
    }

    /// A snippet that the server answers too late.
    fn time_out(&mut self) {
        self.fault("a time-out");
        let id = self.id();
        let arguments = json!({ "action": "execute", "code": "return 1;", "do": [["hold"]] });
        let params = json!({ "name": "execute_code", "arguments": arguments });
        let line = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
        self.session.send(line.to_string());
        self.due.insert(id);
        while self.due.contains(&id) {
            self.take();
        }
        self.release();
    }

    /// Takes the next answer: it must be due, and is so no more.
    fn take(&mut self) {
        let message = self.session.message();
        match message["id"].as_u64() {
            Some(id) => assert!(self.due.remove(&id), "nobody waits for {message}"),
            None => {
                assert_eq!(message["error"]["code"], -32700, "{message}");
                self.nameless -= 1;
            }
        }
        self.answers += 1;
    }

    /// Waits until nothing is due.
    fn settle(&mut self) {
        self.release();
        while !self.due.is_empty() || self.nameless > 0 {
            self.take();
        }
    }

    #[cfg(target_os = "linux")]
    fn resident_kib(&self) -> usize {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.session.process.id()));
        let status = status.expect("a status");
        let line = status.lines().find(|line| line.starts_with("VmRSS:"));
        let size = line.and_then(|line| line.split_whitespace().nth(1));
        size.and_then(|size| size.parse().ok()).expect("a size")
    }

    #[cfg(not(target_os = "linux"))]
    fn resident_kib(&self) -> usize {
        0
    }
}

#[test]
fn a_long_day_loses_nothing_and_keeps_nothing() {
    let messages = setting("VRC_MCP_PROXY_SOAK_MESSAGES", 20_000);
    let seed = setting("VRC_MCP_PROXY_SOAK_SEED", 1);
    let mut day = Day::new(seed);
    let mut early = 0;
    for number in 0..messages {
        day.message();
        if day.due.len() > WINDOW {
            day.release();
        }
        while day.due.len() > WINDOW / 2 {
            day.take();
        }
        if number % (messages / 8).max(1) == 0 {
            day.time_out();
        }
        if number == messages / 5 {
            day.settle();
            early = day.resident_kib();
        }
    }
    day.settle();
    let late = day.resident_kib();
    assert!(late < early + KEPT_KIB, "{early} KiB became {late} KiB");
    // Nothing waits any more: the server's end answers this request alone.
    day.session.ask(0, &json!([["exit", 0]]));
    let rest = day.session.rest();
    assert_eq!(rest.len(), 1, "{rest:?}");
    assert_eq!(rest[0]["id"], 0);
    let mut faults: Vec<_> = day.faults.iter().collect();
    faults.sort();
    let told = format!(
        "{messages} messages from seed {seed}: {} answers, {} cancelled, {} ids used again, resident {early} then {late} KiB, \
         faults {faults:?}",
        day.answers, day.cancelled, day.reused
    );
    let _nobody_reads = writeln!(std::io::stderr(), "{told}");
}
