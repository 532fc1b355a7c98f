//! The loop that owns the core, and the ladder at its end.

use super::pump::{pass_stderr, pump, pump_client};
use super::stdio;
use super::writer::{self, Batch, Credit, Output, Permit, Queue};
use crate::relay::{Action, Level, Now, Relay};
use crate::stderr::Stderr;
use crate::upstream::{Tree, Upstream, describe, exit_status};
use bytes::Bytes;
use std::process::ExitStatus;
use std::time::{Duration, SystemTime};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::time::Instant;

/// Events that wait for the loop at the most.
const EVENTS: usize = 64;

/// After the client has closed: the longest wait for the next answer, and for all of them.
const GRACE_IDLE: Duration = Duration::from_secs(2);
const GRACE_ALL: Duration = Duration::from_secs(5);
/// How long a server that has nothing left to answer may take to leave by itself.
const LEAVE: Duration = Duration::from_millis(300);
/// How long the tree may take after it was asked to end.
const POLITE: Duration = Duration::from_secs(1);
/// The same when there is no grace: a client kills two seconds after it asked.
const URGENT: Duration = Duration::from_millis(500);
/// How long what is left in the pipes may take when a side is gone.
const DRAIN: Duration = Duration::from_secs(1);

/// Something that happened outside of the core.
pub(super) enum Event {
    Client(Batch),
    ClientClosed,
    ClientBroken,
    Child(Batch),
    ChildClosed,
    ChildEnded(ExitStatus),
    Signal(i32),
}

/// What ends the serving.
#[derive(Clone, Copy, Debug)]
enum End {
    ClientClosed,
    ClientBroken,
    Upstream(Option<ExitStatus>),
    Signal(i32),
}

/// The relay at work.
pub(super) struct Shell {
    relay: Relay,
    started: Instant,
    events: Receiver<Event>,
    to_client: Option<Queue>,
    to_child: Option<Queue>,
    written: Option<tokio::task::JoinHandle<()>>,
    tree: Tree,
    ended: Option<ExitStatus>,
    child_closed: bool,
    last_answer: Instant,
    actions: Vec<Action>,
}

impl Shell {
    /// Starts the pumps and writers.
    pub(super) fn start(relay: Relay, upstream: Upstream) -> Self {
        let (sender, events) = channel(EVENTS);
        let (child_credit, client_credit) = (Credit::new(), Credit::new());
        tokio::spawn(pump_client(
            stdio::client_input(),
            sender.clone(),
            child_credit,
        ));
        let wrap: fn(Batch) -> Event = Event::Child;
        let lines = pump(upstream.stdout, sender.clone(), client_credit, wrap);
        let done = sender.clone();
        tokio::spawn(async move {
            lines.await;
            let _loop_over = done.send(Event::ChildClosed).await;
        });
        tokio::spawn(pass_stderr(upstream.stderr));
        let (to_client, write_client) = writer::start(stdio::client_output());
        let (to_child, write_child) = writer::start(Output::Ready(Box::pin(upstream.stdin)));
        let broken = sender.clone();
        let written = tokio::spawn(async move {
            if write_client.await.is_err() {
                let _loop_over = broken.send(Event::ClientBroken).await;
            }
        });
        // A child that does not read is dealt with when it ends or its time is up.
        tokio::spawn(write_child);
        let ended = sender.clone();
        tokio::spawn(async move {
            if let Ok(status) = upstream.ended.await {
                let _loop_over = ended.send(Event::ChildEnded(status)).await;
            }
        });
        watch_signals(&sender);
        let now = Instant::now();
        Shell {
            relay,
            started: now,
            events,
            to_client: Some(to_client),
            to_child: Some(to_child),
            written: Some(written),
            tree: upstream.tree,
            ended: None,
            child_closed: false,
            last_answer: now,
            actions: Vec::new(),
        }
    }

    /// Serves until something ends it, then ends everything else. Returns the exit status.
    pub(super) async fn run(mut self) -> i32 {
        let mut end = loop {
            if let Some(Some(end)) = self.step(None).await {
                break end;
            }
        };
        if matches!(end, End::ClientClosed) {
            end = self.grace().await;
        }
        let status = match end {
            End::ClientClosed => {
                self.end_tree(POLITE).await;
                0
            }
            End::ClientBroken => {
                tracing::info!("the client's pipe is broken: leaving");
                self.end_tree(URGENT).await;
                0
            }
            End::Signal(number) => {
                tracing::info!("signal {number}: leaving");
                self.end_tree(URGENT).await;
                128 + number
            }
            End::Upstream(status) => self.upstream_ended(status).await,
        };
        self.flush_client().await;
        status
    }

    /// The client has closed its stream: its last words go to the upstream, and answers are still
    /// delivered for a while. A long wait would be harmful: upstream goes on re-sending a hung command
    /// to the Editor.
    async fn grace(&mut self) -> End {
        self.to_child = None;
        let all = Instant::now() + GRACE_ALL;
        self.last_answer = Instant::now();
        while self.relay.waiting() > 0 {
            let limit = all.min(self.last_answer + GRACE_IDLE);
            match self.step(Some(limit)).await {
                None => {
                    let left = self.relay.waiting();
                    tracing::info!("the client has left with {left} requests unanswered");
                    return End::ClientClosed;
                }
                // The upstream may leave now; the rest of its answers stands in the pipe.
                Some(Some(End::Upstream(_))) => return End::ClientClosed,
                Some(Some(end @ (End::Signal(_) | End::ClientBroken))) => return end,
                Some(_) => {}
            }
        }
        // Nothing is due: the server is given a moment to read its last lines and leave by itself.
        let limit = Instant::now() + LEAVE;
        while self.ended.is_none() {
            match self.step(Some(limit)).await {
                None => break,
                Some(Some(end @ (End::Signal(_) | End::ClientBroken))) => return end,
                Some(_) => {}
            }
        }
        End::ClientClosed
    }

    /// Ends the tree: asked politely first, then not.
    async fn end_tree(&mut self, patience: Duration) {
        self.to_child = None;
        self.tree.terminate();
        let limit = Instant::now() + patience;
        while !(self.ended.is_some() && self.child_closed) {
            match self.step(Some(limit)).await {
                None => break,
                Some(Some(End::Signal(_) | End::ClientBroken)) => break,
                Some(_) => {}
            }
        }
        if self.ended.is_none() {
            tracing::info!("the server did not end when asked: killed");
        }
        // Also when the first process is gone: what it started may not be.
        self.tree.kill();
    }

    /// The upstream went first: what it still wrote is delivered, and all that waits is answered.
    async fn upstream_ended(&mut self, status: Option<ExitStatus>) -> i32 {
        self.to_child = None;
        let limit = Instant::now() + DRAIN;
        self.ended = self.ended.or(status);
        while !(self.ended.is_some() && self.child_closed) {
            if self.step(Some(limit)).await.is_none() {
                break;
            }
        }
        self.tree.terminate();
        self.tree.kill();
        let how = self
            .ended
            .map_or_else(|| "closed its output".to_owned(), describe);
        tracing::error!("the MCP for Unity server {how}");
        self.relay.on_child_end(&how, &mut self.actions);
        self.carry_out(None);
        // What the client had already sent is answered too.
        while let Ok(event) = self.events.try_recv() {
            self.handle(event);
        }
        self.ended.map_or(1, exit_status)
    }

    /// Everything for the client is written, as far as it reads.
    async fn flush_client(&mut self) {
        self.to_client = None;
        if let Some(written) = self.written.take() {
            let _in_time = tokio::time::timeout(DRAIN, written).await;
        }
    }

    /// Waits for one event or deadline and deals with it. `None` when `limit` came first; `Some(Some)`
    /// for an event that ends the serving.
    async fn step(&mut self, limit: Option<Instant>) -> Option<Option<End>> {
        let deadline = self.relay.next_deadline().map(|at| self.started + at);
        let wake = [deadline, limit].into_iter().flatten().min();
        let event = match wake {
            None => self.events.recv().await,
            Some(wake) => tokio::select! {
                biased;
                event = self.events.recv() => event,
                () = tokio::time::sleep_until(wake) => {
                    let now = Instant::now();
                    if deadline.is_some_and(|at| at <= now) {
                        self.relay.on_deadline(self.now(), &mut self.actions);
                        self.carry_out(None);
                    }
                    return if limit.is_some_and(|at| at <= now) { None } else { Some(None) };
                }
            },
        };
        // The senders outlive the loop.
        Some(event.and_then(|event| self.handle(event)))
    }

    fn handle(&mut self, event: Event) -> Option<End> {
        match event {
            Event::Client(batch) => {
                let now = self.now();
                for line in &batch.lines {
                    trace("client", line);
                    self.relay.on_client_line(line, now, &mut self.actions);
                }
                drop(batch.lines);
                self.carry_out(batch.permit);
                None
            }
            Event::Child(batch) => {
                let now = self.now();
                for line in &batch.lines {
                    trace("upstream", line);
                    self.relay.on_child_line(line, now, &mut self.actions);
                }
                drop(batch.lines);
                self.last_answer = Instant::now();
                self.carry_out(batch.permit);
                None
            }
            Event::ClientClosed => Some(End::ClientClosed),
            Event::ClientBroken => Some(End::ClientBroken),
            Event::ChildClosed => {
                self.child_closed = true;
                Some(End::Upstream(self.ended))
            }
            Event::ChildEnded(status) => {
                self.ended = Some(status);
                Some(End::Upstream(Some(status)))
            }
            Event::Signal(number) => Some(End::Signal(number)),
        }
    }

    /// Does what the core asked for, in order.
    fn carry_out(&mut self, permit: Permit) {
        let (mut client, mut child) = (Vec::new(), Vec::new());
        for action in self.actions.drain(..) {
            match action {
                Action::ToClient(line) => client.push(line),
                Action::ToChild(line) => child.push(line),
                Action::Log(level, text) => log(level, &text),
                Action::ChildText(text) => {
                    let mut line = b"[upstream stdout] ".to_vec();
                    line.extend_from_slice(&text);
                    line.push(b'\n');
                    Stderr::get().send(line);
                }
            }
        }
        hand_over(self.to_client.as_ref(), client, permit.clone());
        hand_over(self.to_child.as_ref(), child, permit);
    }

    fn now(&self) -> Now {
        let unix = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        Now {
            since_start: self.started.elapsed(),
            unix_ms: unix.map_or(0, |age| i64::try_from(age.as_millis()).unwrap_or(i64::MAX)),
        }
    }
}

fn hand_over(queue: Option<&Queue>, lines: Vec<Bytes>, permit: Permit) {
    if let Some(queue) = queue.filter(|_| !lines.is_empty()) {
        // A writer that is gone has reported why.
        let _gone = queue.send(Batch { lines, permit });
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

#[cfg(unix)]
fn watch_signals(events: &Sender<Event>) {
    use tokio::signal::unix::{SignalKind, signal};
    for kind in [
        SignalKind::terminate(),
        SignalKind::interrupt(),
        SignalKind::hangup(),
    ] {
        let Ok(mut stream) = signal(kind) else {
            continue;
        };
        let events = events.clone();
        tokio::spawn(async move {
            while stream.recv().await.is_some() {
                let _loop_over = events.send(Event::Signal(kind.as_raw_value())).await;
            }
        });
    }
}

/// Ctrl-C, Ctrl-Break, the closing of the console, logging off and shutting down.
#[cfg(windows)]
fn watch_signals(events: &Sender<Event>) {
    use tokio::signal::windows;
    /// What C's runtime calls SIGINT.
    const INTERRUPT: i32 = 2;
    macro_rules! watch {
        ($($stream:path),*) => {$(
            if let Ok(mut stream) = $stream() {
                let events = events.clone();
                tokio::spawn(async move {
                    while stream.recv().await.is_some() {
                        let _loop_over = events.send(Event::Signal(INTERRUPT)).await;
                    }
                });
            }
        )*};
    }
    watch!(
        windows::ctrl_c,
        windows::ctrl_break,
        windows::ctrl_close,
        windows::ctrl_logoff,
        windows::ctrl_shutdown
    );
}
