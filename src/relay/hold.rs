//! Requests that wait before they go out, and what upstream has in hand meanwhile.
//!
//! When one has to wait is a behaviour's to say ([`Hook::Hold`]); here are the books that it is asked about, and what
//! is done about its answer.

use super::inflight::Asked;
use super::refusals::{Stopped, never_forwarded, request};
use super::requests::{Onward, guards, to_child};
use super::{Action, Level, Now, RELAY, Relay};
use crate::behaviors::{Cx, Refusal};
use crate::call::Call;
use crate::contain::{Class, contain};
use crate::wire::envelope::{ClientLine, read_client};
use crate::wire::id::{Id, IdMap};
use bytes::Bytes;
pub(in crate::relay) use limits::Limit;
use limits::Limits;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

mod limits;

/// What a waiting request costs beside its bytes.
const ENTRY: usize = 256;
/// A wait that is worth a line at the level `info`.
const LONG: Duration = Duration::from_secs(1);

/// A request that upstream takes to an Editor.
#[derive(Clone, Copy, Debug)]
pub enum UnityBound<'c> {
    /// `tools/call`. Its target is worked out when it goes out, not before.
    Call(&'c Call<'c>),
    /// `resources/read`, which cannot name an Editor.
    Read,
}

impl UnityBound<'_> {
    fn asked(&self) -> Asked {
        match self {
            UnityBound::Call(_) => Asked::ToolCall,
            UnityBound::Read => Asked::Read,
        }
    }

    /// The tool's name, or the method.
    fn name(&self) -> &str {
        match self {
            UnityBound::Call(call) => &call.tool,
            UnityBound::Read => "resources/read",
        }
    }
}

/// The Unity-bound requests of the moment.
#[derive(Clone, Copy, Debug)]
pub struct Traffic {
    /// Whether upstream has one in hand: not answered, and not given up by now.
    pub in_flight: bool,
    /// Whether one of those makes upstream look for Editors anew.
    pub scanning: bool,
    /// How many wait.
    pub waiting: usize,
    /// What those take, in bytes.
    pub waiting_bytes: usize,
    /// The longest time for which upstream may not have looked for Editors; `None` before the first request.
    pub since_scan: Option<Duration>,
}

/// Whether a request goes out.
#[derive(Clone, Debug, Default)]
pub enum Turn {
    /// Now.
    #[default]
    Now,
    /// When nothing Unity-bound is in flight and those that wait already are gone.
    Wait,
    /// Not at all.
    Refuse(Refusal),
}

/// What the rule says of a request.
#[derive(Clone, Debug, Default)]
pub struct Passage {
    /// Whether it goes out. Of a request that has waited it is not asked again.
    pub turn: Turn,
    /// Whether it makes upstream look for Editors anew, whatever upstream knows.
    pub scanning: bool,
    /// Whether upstream has surely looked for Editors after it.
    pub renews: bool,
    /// How long it counts as in flight if no answer comes.
    pub counts_for: Duration,
}

/// What upstream has got, and what it is still to get.
#[derive(Default)]
pub(super) struct Hold {
    /// Whether a rule is at work. Without one nothing is written down.
    on: bool,
    /// The limits of all that upstream has not answered. A request stays when its time is over: its answer may yet come,
    /// and must not be taken for that of a later one with its id.
    limits: Limits,
    /// Of those, the ones that do not stand with a request in flight: its id went to a later one.
    twins: BTreeSet<(Id, Limit)>,
    /// Those that make upstream look for Editors.
    scans: Limits,
    /// How many of the other requests that upstream has not answered have an id.
    others: IdMap<usize>,
    queue: BTreeMap<u64, Waiting>,
    places: IdMap<u64>,
    arrivals: u64,
    bytes: usize,
    last_scan: Option<Duration>,
}

/// A request that waits.
struct Waiting {
    id: Id,
    asked: Asked,
    line: Bytes,
    since: Duration,
}

impl Hold {
    /// `on`: whether a rule is at work. Without one nothing is written down.
    pub(super) fn new(on: bool) -> Self {
        Hold {
            on,
            ..Hold::default()
        }
    }

    fn is_in_flight(&self, now: Now) -> bool {
        self.limits.are_left(now)
    }

    fn traffic(&self, now: Now) -> Traffic {
        Traffic {
            in_flight: self.is_in_flight(now),
            scanning: self.scans.are_left(now),
            waiting: self.queue.len(),
            waiting_bytes: self.bytes,
            since_scan: self.last_scan.map(|at| now.since_start.saturating_sub(at)),
        }
    }

    /// Takes note of a request that goes out, as the one at the place `seq` in the order of forwarding: until when it
    /// counts as in flight.
    pub(super) fn sent(&mut self, passage: &Passage, seq: u64, now: Now) -> Option<Limit> {
        if !self.on {
            return None;
        }
        if passage.renews {
            self.last_scan = Some(now.since_start);
        }
        let limit = (now.since_start.saturating_add(passage.counts_for), seq);
        self.limits.insert(limit);
        if passage.scanning {
            self.scans.insert(limit);
        }
        Some(limit)
    }

    /// Keeps the limit of a request that is no longer in the books and not answered.
    pub(super) fn outlives(&mut self, id: &Id, limit: Option<Limit>) {
        if let Some(limit) = limit {
            self.twins.insert((id.clone(), limit));
        }
    }

    /// Takes note of a request that is not Unity-bound: its answer must not be taken for that of one with the same id.
    pub(super) fn sent_other(&mut self, id: &Id) {
        if self.on {
            *self.others.entry(id.clone()).or_default() += 1;
        }
    }

    /// Upstream answers an id, which stood for a request with this limit. Which of several requests with it is meant
    /// cannot be told. One that is not Unity-bound is taken off first, then the one that would count for the shortest
    /// time: none stops counting before its answer.
    pub(super) fn answered(&mut self, id: &Id, limit: Option<Limit>) {
        if let Some(others) = self.others.get_mut(id) {
            *others -= 1;
            if *others == 0 {
                self.others.remove(id);
            }
            self.outlives(id, limit);
            return;
        }
        let over = match (limit, self.shortest_twin(id)) {
            (Some(limit), Some(twin)) => {
                self.outlives(id, Some(limit.max(twin)));
                limit.min(twin)
            }
            (Some(over), None) | (None, Some(over)) => over,
            (None, None) => return,
        };
        self.limits.remove(&over);
        self.scans.remove(&over);
    }

    /// Takes the twin out that counts for the shortest time.
    fn shortest_twin(&mut self, id: &Id) -> Option<Limit> {
        let twin = self.first_twin(id)?.clone();
        self.twins.remove(&twin);
        Some(twin.1)
    }

    fn first_twin(&self, id: &Id) -> Option<&(Id, Limit)> {
        // In nearly all sessions there is none, and the search needs an id of its own.
        if self.twins.is_empty() {
            return None;
        }
        let from = (id.clone(), (Duration::ZERO, 0));
        let first = self.twins.range(from..).next();
        first.filter(|(twin, _)| twin == id)
    }

    /// When the first one that waits may go if no answer comes.
    pub(super) fn deadline(&self) -> Option<Duration> {
        if self.queue.is_empty() {
            return None;
        }
        self.limits.last()
    }

    fn push(&mut self, waiting: Waiting) {
        self.bytes += waiting.cost();
        self.places.insert(waiting.id.clone(), self.arrivals);
        self.queue.insert(self.arrivals, waiting);
        self.arrivals += 1;
    }

    /// Takes a request out before its turn. `false` when none of this id waits.
    pub(super) fn drop(&mut self, id: &Id) -> bool {
        if self.places.is_empty() {
            return false;
        }
        let Some(place) = self.places.remove(id) else {
            return false;
        };
        let dropped = self.queue.remove(&place);
        self.bytes -= dropped.as_ref().map_or(0, Waiting::cost);
        dropped.is_some()
    }

    fn pop(&mut self) -> Option<Waiting> {
        let (_, first) = self.queue.pop_first()?;
        self.places.remove(&first.id);
        self.bytes -= first.cost();
        Some(first)
    }
}

impl Waiting {
    fn cost(&self) -> usize {
        self.line.len() + ENTRY
    }
}

impl Relay {
    /// What the rules of waiting say of a request that arrives. `None` when it has been dealt with: it waits, or it is
    /// answered.
    pub(super) fn arrival(
        &mut self,
        bound: UnityBound<'_>,
        id: &Id,
        line: &Bytes,
        now: Now,
        out: &mut Vec<Action>,
    ) -> Option<Passage> {
        // Whose turn has come by now goes ahead of it.
        self.release(now, out);
        let (asked, what) = (bound.asked(), bound.name());
        match self.admission(bound, now) {
            Err(stopped) => self.stop(id, asked, what, stopped, out),
            Ok(passage) if matches!(passage.turn, Turn::Wait) => {
                let text = format!("{what} {id} waits for what is in flight");
                out.push(Action::Log(Level::Debug, text));
                let waiting = Waiting {
                    id: id.clone(),
                    asked,
                    // A copy: the line's own buffer may hold much else.
                    line: Bytes::copy_from_slice(line),
                    since: now.since_start,
                };
                self.waiting += 1;
                self.hold.push(waiting);
            }
            Ok(passage) => return Some(passage),
        }
        None
    }

    fn admission(&self, bound: UnityBound<'_>, now: Now) -> Result<Passage, Stopped> {
        let cx = self.cx(now);
        let passage = self.passage(bound, &cx, now)?;
        if let (Turn::Wait, UnityBound::Call(call)) = (&passage.turn, bound) {
            let asked = &self.hooks.about(&call.tool).arrival;
            guards(asked, &mut call.clone(), &cx)?;
        }
        Ok(passage)
    }

    fn passage(&self, bound: UnityBound<'_>, cx: &Cx<'_>, now: Now) -> Result<Passage, Stopped> {
        let mut all = Passage::default();
        let traffic = self.hold.traffic(now);
        for &(name, rule) in self.hooks.holds() {
            let one = request(name, || rule(bound, &traffic, cx))?;
            match one.turn {
                Turn::Now => {}
                Turn::Wait => all.turn = Turn::Wait,
                Turn::Refuse(refusal) => return Err(Stopped::By(name, refusal)),
            }
            all.scanning |= one.scanning;
            all.renews |= one.renews;
            all.counts_for = all.counts_for.max(one.counts_for);
        }
        Ok(all)
    }

    /// Takes a request out of those that wait, before its turn. `false` when it does not wait.
    pub(super) fn unqueue(&mut self, id: &Id) -> bool {
        let dropped = self.hold.drop(id);
        self.waiting -= usize::from(dropped);
        dropped
    }

    /// Whether the client's cancellation of a request stays here: upstream would answer at once and go on sending the
    /// call to the Editor, where the next one would meet it (measured against 10.1.0).
    pub(super) fn keeps_cancellation(&self, id: &Id) -> bool {
        let own = self.pending.get(id).and_then(|entry| entry.limit);
        own.is_some() || self.hold.first_twin(id).is_some()
    }

    /// Lets those go whose turn has come, in the order in which they came.
    pub(super) fn release(&mut self, now: Now, out: &mut Vec<Action>) {
        while !self.hold.queue.is_empty()
            && !self.hold.is_in_flight(now)
            && let Some(next) = self.hold.pop()
        {
            self.waiting -= 1;
            let onward = self.go(&next, now, out);
            to_child(next.line, onward, out);
        }
    }

    fn go(&mut self, next: &Waiting, now: Now, out: &mut Vec<Action>) -> Option<Onward> {
        // It was read when it came.
        let message = contain(RELAY, Class::Request, || match read_client(&next.line) {
            ClientLine::Message(message) => Ok(message),
            _ => Err("a line that waited cannot be read".to_owned()),
        });
        let mut message = match message {
            Ok(message) => message,
            Err(failure) => {
                self.stop(&next.id, next.asked, "", Stopped::Failed(failure), out);
                return None;
            }
        };
        let mut call = match next.asked {
            Asked::ToolCall => Call::read(next.id.clone(), &mut message),
            _ => None,
        };
        let bound = call.as_ref().map_or(UnityBound::Read, UnityBound::Call);
        out.push(turn_came(bound.name(), next, now));
        let passage = match self.passage(bound, &self.cx(now), now) {
            Ok(passage) => passage,
            Err(stopped) => {
                self.stop(&next.id, next.asked, bound.name(), stopped, out);
                return None;
            }
        };
        if let Some(call) = &mut call {
            return self.depart(call, &next.line, &passage, now, out);
        }
        let entry = self.entry(next.id.clone(), next.asked);
        self.send(entry, &passage, now);
        Some(Onward::Line)
    }

    /// Nothing more goes to upstream, which `how` says why, such as `ended with status 3`: what waits is answered.
    pub fn drop_waiting(&mut self, how: &str, out: &mut Vec<Action>) {
        while let Some(next) = self.hold.pop() {
            self.waiting -= 1;
            out.push(never_forwarded(&next.id, next.asked, how));
        }
    }
}

/// A wait's line on stderr.
fn turn_came(what: &str, next: &Waiting, now: Now) -> Action {
    let waited = now.since_start.saturating_sub(next.since);
    let long = waited > LONG;
    let level = if long { Level::Info } else { Level::Debug };
    let seconds = waited.as_secs_f64();
    let text = format!("{what} {} waited {seconds:.3} s for its turn", next.id);
    Action::Log(level, text)
}
