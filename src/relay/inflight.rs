//! Requests that upstream has seen and not yet answered.

use crate::behaviors::Expiry;
use crate::call::{Call, Target};
use crate::relay::hold::Limit;
use crate::relay::hooks::Place;
use crate::relay::witness::Seen;
use crate::wire::envelope::{ClientLine, read_client};
use crate::wire::id::Id;
use std::time::Duration;

/// What a pending request asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// `tools/call`.
    ToolCall,
    /// `initialize`.
    Initialize,
    /// `tools/list`.
    ToolList,
    /// `resources/read`.
    Read,
    /// Anything else.
    Other,
}

/// Whether the client still waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// An answer is due.
    Waiting,
    /// The client cancelled it: no answer is due.
    Cancelled,
    /// The deadline answered it: no further answer is due.
    Expired,
    /// The client used its id for a newer request, which was not forwarded: no answer is due.
    Superseded,
}

/// A forwarded request.
#[derive(Clone, Debug)]
pub struct InFlight {
    /// Its id.
    pub id: Id,
    /// What it asked for.
    pub asked: Asked,
    /// Whether the client waits for it.
    pub state: State,
    /// For a tool call, the tool's name.
    pub tool: String,
    /// For a tool call, `arguments.action` as the client sent it.
    pub action: Option<String>,
    /// For a tool call, the Editor it was meant for when it was forwarded.
    pub target: Option<Target>,
    /// The lines put ahead of the caller's code, by behaviour.
    pub prelude: Vec<(&'static str, usize)>,
    /// What was taken down of it when it went out.
    pub seen: Vec<Seen>,
    /// The place in the order of forwarding.
    pub(super) seq: u64,
    /// For a Unity-bound request, until when it counts as in flight.
    pub(super) limit: Option<Limit>,
    /// For a tool call, where the hooks stand that are asked about its answer.
    pub(super) hooks: Place,
    /// The deadline since the relay's start, and what is said when it passes.
    pub(super) deadline: Option<(Duration, &'static str, Expiry)>,
    /// For a tool call, the client's own message.
    pub(super) line: Vec<u8>,
}

impl InFlight {
    /// A request of which nothing else is known.
    pub(super) fn new(id: Id, asked: Asked) -> Self {
        InFlight {
            id,
            asked,
            state: State::Waiting,
            tool: String::new(),
            action: None,
            target: None,
            prelude: Vec::new(),
            seen: Vec::new(),
            seq: 0,
            limit: None,
            hooks: Place::default(),
            deadline: None,
            line: Vec::new(),
        }
    }

    /// Forgets everything but the room that its texts took.
    pub(super) fn clear(&mut self) {
        self.tool.clear();
        self.action = None;
        self.target = None;
        self.prelude.clear();
        self.seen.clear();
        self.limit = None;
        self.hooks = Place::default();
        self.deadline = None;
        self.line.clear();
    }

    /// The call as the client sent it; `None` for a request that is no tool call.
    pub fn call(&self) -> Option<Call<'_>> {
        match read_client(&self.line) {
            ClientLine::Message(mut message) => Call::read(self.id.clone(), &mut message),
            ClientLine::Blank | ClientLine::Rejected(_) => None,
        }
    }

    /// How many lines were put ahead of the caller's code in all.
    pub fn prelude_lines(&self) -> usize {
        self.prelude.iter().map(|(_, lines)| lines).sum()
    }

    /// Whether `behavior` put lines ahead of the caller's code.
    pub fn injected_by(&self, behavior: &str) -> bool {
        self.prelude
            .iter()
            .any(|(name, lines)| *name == behavior && *lines > 0)
    }
}
