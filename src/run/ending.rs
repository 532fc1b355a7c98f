//! The end: what ends the serving, and the ladder that follows.

use super::io::Io;
use super::shell::{End, Event, Shell, Step};
use crate::stderr::Stderr;
use crate::upstream::{describe, exit_status};
use std::process::ExitStatus;
use std::time::{Duration, Instant};

/// After the client has closed: the longest wait for the next answer, and for all of them.
const GRACE_IDLE: Duration = Duration::from_secs(2);
const GRACE_ALL: Duration = Duration::from_secs(5);
/// How long a server that has nothing left to do may take to leave by itself.
const LEAVE: Duration = Duration::from_millis(300);
/// How long one that has closed a pipe under a live client may take to say with which status it ends.
const TELL: Duration = Duration::from_secs(1);
/// How long the tree may take after it was asked to end.
const POLITE: Duration = Duration::from_secs(1);
/// The same when there is no grace: a client kills two seconds after it asked.
const URGENT: Duration = Duration::from_millis(500);
/// How long what is left in the pipes of a killed tree may take.
const REST: Duration = Duration::from_millis(200);
/// How long a client may read nothing of what is left for it, in haste and otherwise, and how long it
/// may take in all.
const UNREAD_URGENT: Duration = Duration::from_millis(200);
const UNREAD: Duration = Duration::from_secs(1);
const READ_ALL: Duration = Duration::from_secs(5);

/// How a wait went.
enum Waited {
    Done,
    TimeUp,
    /// A second end came: there is no more grace.
    Hurried(End),
}

impl Shell {
    /// Serves until something ends it, then ends everything else. Returns the exit status.
    pub(super) fn run(mut self) -> i32 {
        let mut end = loop {
            if let Step::End(end) = self.step(None) {
                break end;
            }
        };
        self.late = Some(Vec::new());
        self.io.close_child();
        // What waits for its turn can have none any more.
        let how = how_it_ended(end, self.ended);
        let mut unsent = Vec::new();
        self.relay.drop_waiting(&how, &mut unsent);
        if matches!(end, End::ClientClosed) {
            end = self.grace();
        }
        // Behind the answers that are still to come: a client that has left wants those, if anything.
        self.actions.append(&mut unsent);
        self.carry_out_aside(None, None);
        let by_itself = self.end_tree(end);
        // Its last words come ahead of ours.
        self.io.pass_rest(REST);
        self.answer_the_rest(end, by_itself);
        self.flush_client(end);
        match end {
            End::ClientClosed | End::ClientBroken => 0,
            End::Signal(number) => 128 + number,
            End::Upstream(_) => by_itself.map_or(1, exit_status),
        }
    }

    /// The client has closed its stream: its last words go to the upstream, and answers are still
    /// delivered for a while. A long wait would be harmful: upstream goes on re-sending a hung command
    /// to the Editor.
    fn grace(&mut self) -> End {
        let answered = |shell: &Shell| shell.relay.waiting() == 0 || shell.is_gone();
        match self.until(answered, GRACE_IDLE, GRACE_ALL) {
            Waited::Done => {}
            Waited::TimeUp => {
                let left = self.relay.waiting();
                tracing::info!("the client has left, and {left} requests got no answer in time");
            }
            Waited::Hurried(end) => return end,
        }
        End::ClientClosed
    }

    /// Ends the tree: it may leave by itself, is asked to, is killed. Returns how the process that was
    /// started ended if nobody asked it to.
    fn end_tree(&mut self, end: End) -> Option<ExitStatus> {
        let (leave, polite) = match end {
            End::ClientClosed if self.relay.waiting() > 0 => (Duration::ZERO, POLITE),
            End::Upstream(_) if self.ended.is_none() => (TELL, POLITE),
            End::ClientClosed | End::Upstream(_) => (LEAVE, POLITE),
            End::ClientBroken => {
                tracing::info!("the client's pipe is broken: leaving");
                (Duration::ZERO, URGENT)
            }
            End::Signal(number) => {
                tracing::info!("signal {number}: leaving");
                (Duration::ZERO, URGENT)
            }
        };
        let all = if leave.is_zero() { leave } else { GRACE_ALL };
        let mut waited = self.until(Shell::is_gone, leave, all);
        let by_itself = self.ended;
        if matches!(waited, Waited::TimeUp) {
            self.tree.terminate();
            waited = self.until(Shell::is_gone, polite, polite);
        }
        if !matches!(waited, Waited::Done) {
            let what = match self.ended {
                None => "the server",
                Some(_) => "what the server started",
            };
            tracing::info!("{what} did not end within {polite:?} after it was asked to: killed");
        }
        // Also when the first process is gone and the pipes are closed: what it started may be there.
        self.tree.kill();
        let _rest = self.until(Shell::is_gone, REST, REST);
        by_itself
    }

    /// Every request that still waits is answered, and so is what came too late to be forwarded.
    fn answer_the_rest(&mut self, end: End, by_itself: Option<ExitStatus>) {
        let how = how_it_ended(end, by_itself);
        if matches!(end, End::Upstream(_)) {
            tracing::error!("the MCP for Unity server {how}");
        }
        let last_words = Stderr::get().last_passed();
        self.relay
            .on_child_end(&how, &last_words, &mut self.actions);
        self.carry_out_aside(None, None);
        self.catch_up();
        for batch in self.late.take().unwrap_or_default() {
            self.handle_aside(Event::Client(batch));
        }
    }

    /// Everything for the client is written, as far as it reads.
    fn flush_client(&mut self, end: End) {
        let idle = match end {
            End::ClientClosed | End::Upstream(_) => UNREAD,
            End::ClientBroken | End::Signal(_) => UNREAD_URGENT,
        };
        let all = Instant::now() + READ_ALL;
        let mut meter = Meter::of(&self.io);
        while !self.io.client_written(idle) {
            if Instant::now() >= all || !meter.has_moved(&self.io) {
                tracing::info!("the client did not read {} bytes", meter.behind(&self.io));
                return;
            }
            meter = Meter::of(&self.io);
        }
    }

    fn is_gone(&self) -> bool {
        self.ended.is_some() && self.child_closed
    }

    /// Goes on until `done`, until `idle` has passed without an answer (or, while the client is behind
    /// in reading, without a byte that it took), or until `all` has passed.
    fn until(&mut self, done: impl Fn(&Shell) -> bool, idle: Duration, all: Duration) -> Waited {
        let start = Instant::now();
        let all = start + all;
        let mut limit = all.min(start + idle);
        let mut waiting = self.relay.waiting();
        let mut meter = Meter::of(&self.io);
        while !done(self) {
            match self.step_aside(Some(limit)) {
                Step::End(end @ (End::Signal(_) | End::ClientBroken)) => {
                    return Waited::Hurried(end);
                }
                Step::On | Step::End(_) => {}
                Step::Limit => {
                    if Instant::now() >= all || !meter.has_moved(&self.io) {
                        return Waited::TimeUp;
                    }
                    meter = Meter::of(&self.io);
                    limit = all.min(Instant::now() + idle);
                }
            }
            if self.relay.waiting() != waiting {
                waiting = self.relay.waiting();
                limit = all.min(Instant::now() + idle);
            }
        }
        Waited::Done
    }
}

/// How the server ended, in words that follow "the server". `by_itself`: its status, where nobody asked it to end.
fn how_it_ended(end: End, by_itself: Option<ExitStatus>) -> String {
    match (by_itself, end) {
        (Some(status), _) => describe(status),
        (None, End::Upstream(what)) => what.to_owned(),
        (None, End::Signal(number)) => format!("was ended (the relay got signal {number})"),
        (None, _) => "was ended (the client closed its stream)".to_owned(),
    }
}

/// How far the client had read when it was looked at.
struct Meter {
    queued: u64,
    written: u64,
}

impl Meter {
    fn of(io: &Io) -> Self {
        let (queued, written) = io.client_progress();
        Meter { queued, written }
    }

    /// Whether the client was behind and has taken something since.
    fn has_moved(&self, io: &Io) -> bool {
        self.written < self.queued && self.written < io.client_progress().1
    }

    /// Bytes that were handed in then and are not written yet.
    fn behind(&self, io: &Io) -> u64 {
        self.queued.saturating_sub(io.client_progress().1)
    }
}
