//! The pipes on Unix: one thread, one wait for all of them, and reads and writes that never wait.
//!
//! All state lives in these structures and none in a future, so there is no read or write that could be
//! given up half-way. One turn reads each side that has something once, and writes what it can.

mod credit;
mod large;
mod reader;
mod side;
mod signals;
mod stdio;
mod wait;
mod writer;

pub(super) use credit::{Permit, transfer};
pub(super) use stdio::{Flags, stdin_is_terminal};

use super::shell::Event;
use crate::stderr::Stderr;
use crate::upstream::{self, StartError, Tree, Upstream};
use bytes::Bytes;
use credit::Credit;
use reader::Reader;
use rustix::buffer::spare_capacity;
use rustix::io::Errno;
use signals::Signals;
use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};
use wait::{Asked, Ready, Source, Waiter};
use writer::{Flow, Writer};

/// Which sides are waited for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// All.
    Both,
    /// What goes on when nothing new is taken in: to the client, and from the upstream's stderr.
    Outward,
}

/// What is kept for the next batch has room for so many lines at the most.
const KEPT_LINES: usize = 64;
/// Turns in which what has already come is looked for.
const CATCH_UP: usize = 64;

/// The pipes of the relay, the upstream's process and the system's signals.
pub(super) struct Io {
    client: Option<Reader>,
    child: Option<Reader>,
    child_stderr: Option<OwnedFd>,
    to_client: Option<Writer>,
    to_child: Option<Writer>,
    process: Option<Child>,
    signals: Signals,
    waiter: Waiter,
    /// What the last turn brought.
    events: VecDeque<Event>,
    /// Where the next batch's lines go.
    spare: Vec<Bytes>,
}

impl Io {
    /// Signals are watched from now on.
    ///
    /// # Errors
    /// When the system has no more descriptors.
    pub(super) fn new() -> io::Result<Self> {
        Ok(Io {
            client: None,
            child: None,
            child_stderr: None,
            to_client: None,
            to_child: None,
            process: None,
            signals: Signals::watch()?,
            waiter: Waiter::default(),
            events: VecDeque::new(),
            spare: Vec::new(),
        })
    }

    /// Starts the upstream's process.
    ///
    /// # Errors
    /// When the system would not start it.
    #[allow(clippy::unused_self, reason = "the other system's needs it")]
    pub(super) fn spawn(
        &self,
        program: &Path,
        arguments: &[String],
    ) -> Result<Upstream, StartError> {
        upstream::spawn(program, arguments)
    }

    /// Attaches the client alone.
    pub(super) fn listen(&mut self) {
        self.client = stdio::stdin().map(|fd| Reader::new(fd, Credit::default()));
        self.to_client = stdio::stdout();
        if self.client.is_none() {
            self.events.push_back(Event::ClientClosed);
        }
    }

    /// Attaches the client and the upstream.
    ///
    /// # Errors
    /// When a pipe of the upstream's cannot be told not to wait.
    pub(super) fn attach(&mut self, upstream: Upstream) -> io::Result<Tree> {
        self.listen();
        let stdin = OwnedFd::from(upstream.stdin);
        let stdout = OwnedFd::from(upstream.stdout);
        let stderr = OwnedFd::from(upstream.stderr);
        for fd in [&stdin, &stdout, &stderr] {
            rustix::io::ioctl_fionbio(fd, true)?;
        }
        self.to_child = Some(Writer::new(stdin, true));
        self.child = Some(Reader::new(stdout, Credit::default()).looking_ahead());
        self.child_stderr = Some(stderr);
        self.process = Some(upstream.process);
        Ok(upstream.tree)
    }

    /// Waits for the next event; `None` when `limit` comes first.
    #[inline(always)]
    pub(super) fn next(&mut self, limit: Option<Instant>) -> Option<Event> {
        loop {
            if let Some(event) = self.events.pop_front() {
                return Some(event);
            }
            let wait = limit.map(|at| at.saturating_duration_since(Instant::now()));
            self.turn(Way::Both, wait);
            if self.events.is_empty() && limit.is_some_and(|at| at <= Instant::now()) {
                return None;
            }
        }
    }

    /// The events that have already come.
    pub(super) fn arrived(&mut self) -> Vec<Event> {
        for _ in 0..CATCH_UP {
            let before = self.events.len();
            self.turn_aside(Way::Both, Some(Duration::ZERO));
            if self.events.len() == before {
                break;
            }
        }
        self.events.drain(..).collect()
    }

    /// Takes back what a batch's lines were in.
    #[inline(always)]
    pub(super) fn recycle(&mut self, lines: Vec<Bytes>) {
        if lines.capacity() <= KEPT_LINES {
            self.spare = lines;
        }
    }

    /// Hands in lines for the client, and leaves none behind.
    #[inline(always)]
    pub(super) fn send_client(&mut self, lines: &mut Vec<Bytes>, permit: Permit) {
        if let Some(writer) = &mut self.to_client
            && writer.send(lines, permit).is_err()
        {
            self.to_client = None;
            self.events.push_back(Event::ClientBroken);
        }
        lines.clear();
    }

    /// Hands in lines for the upstream, and leaves none behind.
    #[inline(always)]
    pub(super) fn send_child(&mut self, lines: &mut Vec<Bytes>, permit: Permit) {
        if let Some(writer) = &mut self.to_child
            && writer.send(lines, permit).is_err()
        {
            self.to_child = None;
            self.events.push_back(Event::ChildBroken);
        }
        lines.clear();
    }

    /// The upstream's input is closed as soon as all is written.
    pub(super) fn close_child(&mut self) {
        match &mut self.to_child {
            Some(writer) if !writer.is_empty() => writer.close(),
            _ => self.to_child = None,
        }
    }

    /// Bytes that were handed in for the client, and bytes that it took.
    pub(super) fn client_progress(&self) -> (u64, u64) {
        self.to_client.as_ref().map_or((0, 0), Writer::progress)
    }

    /// Waits until the client has taken all, at most for `limit`. Whether it has, or takes no more.
    pub(super) fn client_written(&mut self, limit: Duration) -> bool {
        let done = |io: &Io| io.to_client.as_ref().is_none_or(Writer::is_empty);
        self.outward(limit, done)
    }

    /// Passes the rest of the upstream's stderr on, at most for `limit`.
    pub(super) fn pass_rest(&mut self, limit: Duration) {
        self.outward(limit, |io| io.child_stderr.is_none());
    }

    fn outward(&mut self, limit: Duration, done: impl Fn(&Io) -> bool) -> bool {
        let limit = Instant::now() + limit;
        while !done(self) {
            let wait = limit.saturating_duration_since(Instant::now());
            if wait.is_zero() {
                return false;
            }
            self.turn_aside(Way::Outward, Some(wait));
        }
        true
    }

    /// Waits until something can go on, and lets all of that.
    #[inline(always)]
    fn turn(&mut self, way: Way, wait: Option<Duration>) {
        let kept = [&mut self.child, &mut self.client].map(|reader| reader.as_mut()?.tend());
        let wait = kept.into_iter().chain([wait]).flatten().min();
        let ready = self.wait(way, wait);
        if ready.has(Source::ToClient) {
            self.flush_client();
        }
        if ready.has(Source::ToChild) {
            self.flush_child();
        }
        if ready.has(Source::Child) {
            self.read_child();
        }
        if ready.has(Source::Client) {
            self.read_client();
        }
        if ready.has(Source::ChildStderr) {
            self.pass_on();
        }
        if ready.has(Source::Signals) {
            self.take_signals();
        }
    }

    /// As [`Io::turn`], for where it is seldom taken.
    #[inline(never)]
    fn turn_aside(&mut self, way: Way, wait: Option<Duration>) {
        self.turn(way, wait);
    }

    /// What can go on.
    #[inline(always)]
    fn wait(&mut self, way: Way, wait: Option<Duration>) -> Ready {
        let mut asked: Asked<'_> = Default::default();
        let mut ask = |source: Source, fd| asked[source as usize] = fd;
        let to_client = self.to_client.as_ref();
        ask(Source::ToClient, to_client.and_then(Writer::wants));
        ask(
            Source::ChildStderr,
            self.child_stderr.as_ref().map(AsFd::as_fd),
        );
        if way == Way::Both {
            let (to_child, child) = (self.to_child.as_ref(), self.child.as_ref());
            let client = self.client.as_ref();
            ask(Source::ToChild, to_child.and_then(Writer::wants));
            ask(Source::Child, child.and_then(Reader::wants));
            ask(Source::Client, client.and_then(Reader::wants));
            ask(Source::Signals, Some(self.signals.as_fd()));
        }
        self.waiter.wait(&asked, wait)
    }

    fn flush_client(&mut self) {
        let flushed = self.to_client.as_mut().map(Writer::flush);
        if matches!(flushed, Some(Err(_))) {
            self.to_client = None;
            self.events.push_back(Event::ClientBroken);
        }
    }

    fn flush_child(&mut self) {
        match self.to_child.as_mut().map(Writer::flush) {
            Some(Ok(Flow::Ended)) => self.to_child = None,
            Some(Err(_)) => {
                self.to_child = None;
                self.events.push_back(Event::ChildBroken);
            }
            Some(Ok(Flow::On)) | None => {}
        }
    }

    #[inline(always)]
    fn read_client(&mut self) {
        let Some((batch, open)) = self
            .client
            .as_mut()
            .map(|client| client.read(&mut self.spare))
        else {
            return;
        };
        if let Some(batch) = batch {
            self.events.push_back(Event::Client(batch));
        }
        if !open {
            self.client = None;
            self.events.push_back(Event::ClientClosed);
        }
    }

    #[inline(always)]
    fn read_child(&mut self) {
        let Some((batch, open)) = self.child.as_mut().map(|child| child.read(&mut self.spare))
        else {
            return;
        };
        if let Some(batch) = batch {
            self.events.push_back(Event::Child(batch));
        }
        if !open {
            self.child = None;
            self.events.push_back(Event::ChildClosed);
        }
    }

    /// Passes the upstream's stderr on as it comes.
    fn pass_on(&mut self) {
        let Some(stderr) = &self.child_stderr else {
            return;
        };
        let mut bytes = Vec::with_capacity(8 << 10);
        match rustix::io::read(stderr, spare_capacity(&mut bytes)) {
            Ok(1..) => Stderr::get().pass_on(bytes),
            Err(Errno::AGAIN | Errno::INTR) => {}
            Ok(0) | Err(_) => self.child_stderr = None,
        }
    }

    fn take_signals(&mut self) {
        let asked = self.signals.take();
        self.events.extend(asked.map(Event::Signal));
        // Any other is the upstream's end, or that it stopped or goes on.
        let ended = self.process.as_mut().map(Child::try_wait);
        if let Some(Ok(Some(status))) = ended {
            self.process = None;
            self.events.push_back(Event::ChildEnded(status));
        }
    }
}
