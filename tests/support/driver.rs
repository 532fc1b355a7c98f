//! The core without its shell: lines and a number for the time in, queues of lines out.

use bytes::Bytes;
use std::collections::VecDeque;
use std::time::Duration;
use vrc_mcp_proxy::relay::{Action, Now, Relay};

/// The wall clock at the start of every test: 2026-01-01, in milliseconds since 1970 UTC.
pub(crate) const START_UNIX_MS: i64 = 1_767_225_600_000;

/// A line that the core sent.
#[derive(Clone, Debug)]
pub(crate) enum Sent {
    Client(Bytes),
    Child(Bytes),
}

/// A relay, its clock, and what it asked for and nobody has taken yet.
pub(crate) struct Driver {
    pub(crate) relay: Relay,
    clock: Duration,
    /// How far the wall clock was set forward since the start, in milliseconds.
    pub(crate) skew_ms: i64,
    /// Lines for the client, not yet taken.
    pub(crate) client: VecDeque<Bytes>,
    /// Lines for the upstream, not yet taken.
    pub(crate) child: VecDeque<Bytes>,
    /// Every line from the start, in order.
    pub(crate) history: Vec<Sent>,
    /// Everything for stderr, from the start.
    pub(crate) log: Vec<String>,
}

impl Driver {
    pub(crate) fn new(relay: Relay) -> Self {
        Driver {
            relay,
            clock: Duration::ZERO,
            skew_ms: 0,
            client: VecDeque::new(),
            child: VecDeque::new(),
            history: Vec::new(),
            log: Vec::new(),
        }
    }

    pub(crate) fn now(&self) -> Now {
        let elapsed = i64::try_from(self.clock.as_millis()).unwrap_or(i64::MAX);
        Now {
            since_start: self.clock,
            unix_ms: START_UNIX_MS
                .saturating_add(elapsed)
                .saturating_add(self.skew_ms),
        }
    }

    /// The client sends a line.
    pub(crate) fn client_sends(&mut self, line: impl Into<Bytes>) {
        let (line, now, mut actions) = (line.into(), self.now(), Vec::new());
        self.relay.on_client_line(line, now, &mut actions);
        self.take_in(actions);
    }

    /// The upstream sends a line.
    pub(crate) fn child_sends(&mut self, line: impl Into<Bytes>) {
        let (line, now, mut actions) = (line.into(), self.now(), Vec::new());
        self.relay.on_child_line(line, now, &mut actions);
        self.take_in(actions);
    }

    /// The upstream ends.
    pub(crate) fn end_child(&mut self, how: &str) {
        let mut actions = Vec::new();
        self.relay.on_child_end(how, "", &mut actions);
        self.take_in(actions);
    }

    /// Lets time pass; every deadline on the way fires at its own moment.
    pub(crate) fn advance(&mut self, by: Duration) {
        let end = self.clock.saturating_add(by);
        while self.fire_next(end) {}
        self.clock = end;
    }

    /// Moves on to the next deadline and fires it, unless it lies behind `limit`.
    pub(crate) fn fire_next(&mut self, limit: Duration) -> bool {
        let Some(at) = self.relay.next_deadline().filter(|at| *at <= limit) else {
            return false;
        };
        self.clock = self.clock.max(at);
        let (now, mut actions) = (self.now(), Vec::new());
        self.relay.on_deadline(now, &mut actions);
        self.take_in(actions);
        let left = self.relay.next_deadline();
        assert!(
            left.is_none_or(|next| next > self.clock),
            "a deadline that has passed stays armed"
        );
        true
    }

    fn take_in(&mut self, actions: Vec<Action>) {
        for action in actions {
            match action {
                Action::ToClient(line) => {
                    self.history.push(Sent::Client(line.clone()));
                    self.client.push_back(line);
                }
                Action::ToChild(line) => {
                    self.history.push(Sent::Child(line.clone()));
                    self.child.push_back(line);
                }
                Action::Log(_, text) => self.log.push(text),
                Action::ChildText(text) => {
                    self.log.push(String::from_utf8_lossy(&text).into_owned());
                }
            }
        }
    }
}
