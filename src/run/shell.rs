//! The loop that owns the core. How it ends is in [`super::ending`].

use super::clock::Clock;
use super::io::{Io, Permit, transfer};
use crate::relay::{Action, Level, Now, Relay};
use crate::stderr::Stderr;
use crate::surroundings::Moment;
use crate::upstream::Tree;
use crate::wire::scan::HeadStart;
use bytes::Bytes;
use std::process::ExitStatus;
use std::time::Instant;

/// Bytes of lines that may be on their way to one pipe before no more are read for it.
pub(super) const WINDOW: usize = 1 << 20;
/// What a line costs beside its bytes, so that a flood of tiny ones is bounded too.
const LINE: usize = 64;

/// So many lines of a batch are dealt with before they are written: the other side works on them while the next ones
/// are looked at. Each portion goes on its own part of the credit: one that causes nothing must give back no other's.
const PORTION: usize = 32;

/// What a line takes of its side's credit.
pub(super) fn cost(line: &Bytes) -> usize {
    line.len() + LINE
}

/// Lines on their way, and the credit that comes back when they are written.
pub(super) struct Batch {
    pub(super) lines: Vec<Bytes>,
    pub(super) permit: Permit,
    /// What was seen of the first one while it came in.
    pub(super) head: Option<Box<HeadStart>>,
}

/// Something that happened outside of the core.
pub(super) enum Event {
    /// The client sent lines.
    Client(Batch),
    /// The client has closed its stream.
    ClientClosed,
    /// The client's end of stdout is gone.
    ClientBroken,
    /// The upstream wrote lines.
    Child(Batch),
    /// The upstream has closed its output.
    ChildClosed,
    /// The upstream takes no more input.
    ChildBroken,
    /// The process that was started has ended.
    ChildEnded(ExitStatus),
    /// The system asked for the end.
    Signal(i32),
}

/// What ends the serving.
#[derive(Clone, Copy, Debug)]
pub(super) enum End {
    ClientClosed,
    ClientBroken,
    /// The upstream; what it did, in words that follow "the server".
    Upstream(&'static str),
    Signal(i32),
}

/// What one turn of the loop brought.
pub(super) enum Step {
    /// Something was dealt with.
    On,
    /// The limit came first.
    Limit,
    /// Something that ends the serving.
    End(End),
}

/// The relay at work.
pub(super) struct Shell {
    pub(super) relay: Relay,
    moment: Moment,
    pub(super) tree: Tree,
    pub(super) io: Io,
    /// How the process that was started ended.
    pub(super) ended: Option<ExitStatus>,
    /// Whether the upstream has closed its output.
    pub(super) child_closed: bool,
    /// Lines of the client that came when the end had begun.
    pub(super) late: Option<Vec<Batch>>,
    started: Instant,
    clock: Option<Clock>,
    pub(super) actions: Vec<Action>,
    /// What [`Shell::carry_out`] has for each side.
    to_client: Vec<Bytes>,
    to_child: Vec<Bytes>,
}

impl Shell {
    /// A shell around `relay`, with the pipes of both sides attached to `io`.
    pub(super) fn new(relay: Relay, moment: Moment, tree: Tree, io: Io) -> Self {
        Shell {
            relay,
            moment,
            tree,
            io,
            ended: None,
            child_closed: false,
            late: None,
            started: Instant::now(),
            clock: None,
            actions: Vec::new(),
            to_client: Vec::new(),
            to_child: Vec::new(),
        }
    }

    /// Waits for one event or deadline and deals with it.
    ///
    /// This and all that lies between it and a system call is inlined. When one of those has switched to another process,
    /// each return behind it costs a misprediction, since the kernel then forgets where calls came from: without calls
    /// a small round trip takes a twentieth less of the relay's time (docs/performance.md).
    #[inline(always)]
    pub(super) fn step(&mut self, limit: Option<Instant>) -> Step {
        let deadline = self.relay.next_deadline().map(|at| self.started + at);
        // First of all: a side that never stops sending must not hold a deadline up.
        if let Some(step) = self.due(deadline, limit) {
            return step;
        }
        let first = [deadline, limit].into_iter().flatten().min();
        match self.io.next(first) {
            Some(event) => self.handle(event).map_or(Step::On, Step::End),
            None => self.due(deadline, limit).unwrap_or(Step::On),
        }
    }

    /// Does what is due by now.
    fn due(&mut self, deadline: Option<Instant>, limit: Option<Instant>) -> Option<Step> {
        let first = [deadline, limit].into_iter().flatten().min()?;
        let now = Instant::now();
        if first > now {
            return None;
        }
        if deadline.is_some_and(|at| at <= now) {
            let now = self.now(2);
            self.relay.on_deadline(now, &mut self.actions);
            self.carry_out_aside(None, None);
            return Some(Step::On);
        }
        Some(Step::Limit)
    }

    /// Deals with the events that have already come.
    pub(super) fn catch_up(&mut self) {
        for event in self.io.arrived() {
            self.handle_aside(event);
        }
    }

    /// As [`Shell::step`], for where it is seldom taken: that one is large.
    #[inline(never)]
    pub(super) fn step_aside(&mut self, limit: Option<Instant>) -> Step {
        self.step(limit)
    }

    #[inline(never)]
    pub(super) fn handle_aside(&mut self, event: Event) -> Option<End> {
        self.handle(event)
    }

    #[inline(never)]
    pub(super) fn carry_out_aside(&mut self, on_client: Permit, on_child: Permit) {
        self.carry_out(on_client, on_child);
    }

    #[inline(always)]
    fn handle(&mut self, event: Event) -> Option<End> {
        match event {
            Event::Client(batch) => match &mut self.late {
                Some(late) => late.push(batch),
                None => self.client_lines(batch),
            },
            Event::Child(mut batch) => {
                let now = self.now(batch.lines.len());
                let in_portions = batch.lines.len() > PORTION;
                let mut portion = None;
                let mut head = batch.head;
                for (at, line) in batch.lines.drain(..).enumerate() {
                    if at % PORTION == 0 && at > 0 {
                        self.carry_out_aside(portion.take(), None);
                    }
                    if in_portions {
                        transfer(&mut batch.permit, &mut portion, cost(&line));
                    }
                    trace("upstream", &line);
                    let head = head.take();
                    let out = &mut self.actions;
                    self.relay
                        .on_child_line_ahead(line, head.as_deref(), now, out);
                }
                self.carry_out(portion.or(batch.permit), None);
                self.io.recycle(batch.lines);
            }
            Event::ClientClosed => return Some(End::ClientClosed),
            Event::ClientBroken => return Some(End::ClientBroken),
            Event::ChildClosed => {
                self.child_closed = true;
                return Some(End::Upstream("closed its output"));
            }
            Event::ChildBroken => return Some(End::Upstream("closed its input")),
            Event::ChildEnded(status) => {
                self.ended = Some(status);
                return Some(End::Upstream("ended"));
            }
            Event::Signal(number) => return Some(End::Signal(number)),
        }
        None
    }

    /// Credit follows the line: to the upstream's writer, or to the client's when the line is answered
    /// here. So a client that does not read is stopped by the answers it causes here, and by nothing
    /// that it merely sends.
    #[inline(always)]
    fn client_lines(&mut self, mut batch: Batch) {
        let now = self.now(batch.lines.len());
        let in_portions = batch.lines.len() > PORTION;
        let (mut answered, mut portion) = (None, None);
        for (at, line) in batch.lines.drain(..).enumerate() {
            if at % PORTION == 0 && at > 0 {
                self.carry_out_aside(answered.take(), portion.take());
            }
            trace("client", &line);
            let (before, cost) = (self.actions.len(), cost(&line));
            self.relay.on_client_line(line, now, &mut self.actions);
            let mut caused = self.actions[before..].iter();
            if caused.any(|action| matches!(action, Action::ToClient(_))) {
                transfer(&mut batch.permit, &mut answered, cost);
            } else if in_portions {
                transfer(&mut batch.permit, &mut portion, cost);
            }
        }
        self.carry_out(answered, portion.or(batch.permit));
        self.io.recycle(batch.lines);
    }

    /// Does what the core asked for, in order, on the credit that each side's lines came on.
    #[inline(always)]
    pub(super) fn carry_out(&mut self, on_client: Permit, on_child: Permit) {
        for action in self.actions.drain(..) {
            match action {
                Action::ToClient(line) => self.to_client.push(line),
                Action::ToChild(line) => self.to_child.push(line),
                Action::Log(level, text) => log(level, &text),
                Action::ChildText(text) => {
                    Stderr::get().line([b"[upstream stdout] ", &*text, b"\n"].concat());
                }
            }
        }
        if !self.to_client.is_empty() {
            self.io.send_client(&mut self.to_client, on_client);
        }
        if !self.to_child.is_empty() {
            self.io.send_child(&mut self.to_child, on_child);
        }
    }

    /// A new moment, in which so many lines are dealt with.
    fn now(&mut self, lines: usize) -> Now {
        self.moment.pass(lines);
        let since_start = self.started.elapsed();
        let clock = self.clock.filter(|clock| clock.holds(since_start));
        let clock = self.clock.insert(clock.unwrap_or_else(|| {
            self.moment.look_anew();
            Clock::read(since_start)
        }));
        Now {
            since_start,
            unix_ms: clock.unix_ms(since_start),
        }
    }
}

fn log(level: Level, text: &str) {
    match level {
        Level::Warn => tracing::warn!("{text}"),
        Level::Info => tracing::info!("{text}"),
        Level::Debug => tracing::debug!("{text}"),
    }
}

fn trace(from: &str, line: &[u8]) {
    tracing::debug!("{from}: a line of {} bytes", line.len());
    tracing::trace!("{from}: {}", String::from_utf8_lossy(line));
}
