//! The core: bytes and an instant in, actions out. No I/O, no clock, one owner.

mod answers;
pub mod codes;
pub mod hold;
mod hooks;
pub mod inflight;
mod listing;
mod pins;
mod refusals;
mod requests;
pub mod witness;

use crate::behaviors::{Behavior, Cx, Listings, Pins, Surroundings};
use crate::config::Config;
use crate::contain::Contained;
use crate::reply::{self, Fact};
use crate::safety::{Mode, SAFETY_MODES};
use crate::wire::envelope::INTERNAL_ERROR;
use crate::wire::id::{Id, IdMap};
use bytes::Bytes;
use hold::Hold;
use hooks::Hooks;
use inflight::{Asked, InFlight, State};
use std::collections::BTreeSet;
use std::time::Duration;

/// The name under which the core's own refusals state their facts.
pub const RELAY: &str = "relay";

/// The longest line whose room is kept for that of a later call, in bytes.
const ROOM: usize = 4096;

/// The moment at which something happens.
#[derive(Clone, Copy, Debug, Default)]
pub struct Now {
    /// Time since the relay's start; never goes back.
    pub since_start: Duration,
    /// Milliseconds since 1970 UTC.
    pub unix_ms: i64,
}

/// How much a line on stderr matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Something that a person should look at.
    Warn,
    /// A refusal, a note, a drop.
    Info,
    /// One line for each message.
    Debug,
}

/// Something for the shell to do, in order.
#[derive(Clone, Debug)]
pub enum Action {
    /// Write this line to the client.
    ToClient(Bytes),
    /// Write this line to the upstream.
    ToChild(Bytes),
    /// Write this line to stderr.
    Log(Level, String),
    /// Text of the upstream's stdout that is no message, for stderr.
    ChildText(Bytes),
}

/// The relay's state.
pub struct Relay {
    config: Config,
    behaviors: Vec<Behavior>,
    hooks: Hooks,
    surroundings: Box<dyn Surroundings + Send>,
    pins: Pins,
    listings: Listings,
    vetted: Option<listing::Vetted>,
    snippets: witness::Snippets,
    pending: IdMap<Box<InFlight>>,
    /// The room of a request that was answered, for the next one.
    spare: Option<Box<InFlight>>,
    deadlines: BTreeSet<(Duration, Id)>,
    hold: Hold,
    waiting: usize,
    seq: u64,
    ended: Option<String>,
}

impl Relay {
    /// A relay with the behaviours of `registry` that `config` does not switch off or leave idle.
    pub fn new(
        config: Config,
        registry: &[Behavior],
        surroundings: Box<dyn Surroundings + Send>,
    ) -> Self {
        // In mode full nothing must be left of the modes: a list that nothing looks at is not vetted, either.
        let idle = |b: &Behavior| b.name == SAFETY_MODES && config.mode == Mode::Full;
        let enabled = |b: &&Behavior| !config.disabled.contains(b.name) && !idle(b);
        let behaviors: Vec<Behavior> = registry.iter().filter(enabled).copied().collect();
        let hooks = Hooks::of(&behaviors);
        Relay {
            hold: Hold::new(!hooks.holds().is_empty()),
            behaviors,
            hooks,
            config,
            surroundings,
            pins: Pins::default(),
            listings: Listings::default(),
            vetted: None,
            snippets: witness::Snippets::default(),
            pending: IdMap::default(),
            spare: None,
            deadlines: BTreeSet::new(),
            waiting: 0,
            seq: 0,
            ended: None,
        }
    }

    /// How many requests the client still waits for.
    pub fn waiting(&self) -> usize {
        self.waiting
    }

    /// When [`Relay::on_deadline`] is due, since the relay's start.
    pub fn next_deadline(&self) -> Option<Duration> {
        let answer = self.deadlines.first().map(|(at, _)| *at);
        [answer, self.hold.deadline()].into_iter().flatten().min()
    }

    /// Answers every call whose time is up, and lets those go whose wait is over.
    pub fn on_deadline(&mut self, now: Now, out: &mut Vec<Action>) {
        self.expire(now, out);
        self.release(now, out);
    }

    fn expire(&mut self, now: Now, out: &mut Vec<Action>) {
        while let Some((at, id)) = self.deadlines.first().cloned() {
            if at > now.since_start {
                return;
            }
            self.deadlines.pop_first();
            let Some(call) = self.pending.get_mut(&id) else {
                continue;
            };
            let Some((_, behavior, expiry)) = call.deadline.take() else {
                continue;
            };
            let refusal = (expiry.refusal)(expiry.after);
            call.state = State::Expired;
            self.waiting -= 1;
            out.push(Action::Log(
                Level::Info,
                format!("{behavior}: {} {id} got no answer in time", call.tool),
            ));
            let fact = Fact {
                behavior,
                code: refusal.code,
                forwarded: true,
            };
            out.push(Action::ToClient(reply::refusal(&id, fact, &refusal.text)));
        }
    }

    /// The upstream is gone: every request that still waits is answered, and so is every later one.
    /// `how` says what ended it, such as `ended with status 3`.
    pub fn on_child_end(&mut self, how: &str, last_words: &str, out: &mut Vec<Action>) {
        self.ended = Some(how.to_owned());
        self.deadlines.clear();
        self.drop_waiting(how, out);
        let mut left: Vec<Box<InFlight>> = self.pending.drain().map(|(_, call)| call).collect();
        left.sort_by_key(|call| call.seq);
        for call in left {
            self.hold.outlives(&call.id, call.limit);
            if call.state == State::Waiting {
                self.waiting -= 1;
                let text = if call.asked == Asked::Initialize {
                    self.never_served(how, last_words)
                } else {
                    format!(
                        "The MCP for Unity server {how} before it answered. The work may have run: \
                         verify its effect before you repeat it."
                    )
                };
                out.push(Action::ToClient(unanswered(
                    &call,
                    codes::UPSTREAM_ENDED,
                    &text,
                )));
            }
        }
    }

    /// What is known of a server that ended before there was a session.
    fn never_served(&self, how: &str, last_words: &str) -> String {
        let command = self.config.upstream_words().join(" ");
        let said = match last_words.trim() {
            "" => "It said nothing on stderr.".to_owned(),
            words => format!("Its last words on stderr:\n{words}\n"),
        };
        format!(
            "The MCP for Unity server {how} before it answered `initialize`. It was started as: {command}\n{said}\n\
             Run that command in a terminal to see the whole reason; `vrc-mcp-proxy doctor` looks at the usual ones."
        )
    }

    fn cx(&self, now: Now) -> Cx<'_> {
        Cx::new(
            &self.config,
            &self.behaviors,
            &self.pins,
            &self.listings,
            now.unix_ms,
            self.surroundings.as_ref(),
            &self.snippets,
        )
    }

    /// A request that nothing is known of yet, in a room that was used before.
    fn entry(&mut self, id: Id, asked: Asked) -> Box<InFlight> {
        match self.spare.take() {
            Some(mut entry) => {
                (entry.id, entry.asked, entry.state) = (id, asked, State::Waiting);
                entry
            }
            None => Box::new(InFlight::new(id, asked)),
        }
    }

    /// Keeps the room of a request that was answered, unless it is a large one.
    fn keep(&mut self, mut entry: Box<InFlight>) {
        if entry.line.len() <= ROOM {
            entry.clear();
            self.spare = Some(entry);
        }
    }

    /// Takes a request into the books. Whoever had its id before was retired when it came.
    fn track(&mut self, mut entry: Box<InFlight>) {
        entry.seq = self.seq;
        self.seq += 1;
        if let Some((at, _, _)) = &entry.deadline {
            self.deadlines.insert((*at, entry.id.clone()));
        }
        self.waiting += 1;
        let id = entry.id.clone();
        if let Some(old) = self.pending.insert(id, entry) {
            self.hold.outlives(&old.id, old.limit);
        }
    }

    /// The client no longer waits for a request, so its answer will be dropped and its timer is off.
    /// `false` when it did not wait for it anyway.
    fn retire(&mut self, id: &Id, state: State) -> bool {
        let waits = |entry: &&mut Box<InFlight>| entry.state == State::Waiting;
        let Some(entry) = self.pending.get_mut(id).filter(waits) else {
            return false;
        };
        entry.state = state;
        self.waiting -= 1;
        if let Some((at, _, _)) = entry.deadline.take() {
            self.deadlines.remove(&(at, id.clone()));
        }
        true
    }

    /// A request comes with an id that may still be in use. The newest request counts, also when it
    /// is refused: whatever answers it must stay the only answer.
    fn supersede(&mut self, id: &Id, out: &mut Vec<Action>) {
        if self.unqueue(id) {
            let text = format!(
                "request id {id} was reused while its request waited: that one is dropped unsent"
            );
            out.push(Action::Log(Level::Warn, text));
        } else if self.retire(id, State::Superseded) {
            let text =
                format!("request id {id} was reused while in flight: the newest request counts");
            out.push(Action::Log(Level::Warn, text));
        }
    }

    /// Takes a request out of the books because upstream answered it.
    fn settle(&mut self, id: &Id) -> Option<Box<InFlight>> {
        let entry = self.pending.remove(id);
        let limit = entry.as_ref().and_then(|entry| entry.limit);
        self.hold.answered(id, limit);
        let entry = entry?;
        self.disarm(&entry);
        if entry.state == State::Waiting {
            self.waiting -= 1;
        }
        Some(entry)
    }

    fn disarm(&mut self, entry: &InFlight) {
        if let Some((at, _, _)) = &entry.deadline {
            self.deadlines.remove(&(*at, entry.id.clone()));
        }
    }
}

/// The answer to a request that upstream will not answer: a refusal for a tool call, an error for
/// anything else.
fn unanswered(call: &InFlight, code: &'static str, text: &str) -> Bytes {
    if call.asked == Asked::ToolCall {
        let fact = Fact {
            behavior: RELAY,
            code,
            forwarded: true,
        };
        return reply::refusal(&call.id, fact, text);
    }
    reply::rpc_error(Some(&call.id), INTERNAL_ERROR, text)
}

/// A contained failure's line on stderr.
fn log_contained(failure: &Contained) -> Action {
    Action::Log(Level::Warn, failure.to_string())
}
