//! The pipes on Windows: a task for each that reads or writes it, and one channel.
//!
//! Reads live in pump tasks, so no read is cancelled half-way. Each pipe has its own writer task, so
//! neither side's full pipe stops the other direction.

mod output;
mod pump;
mod signals;
mod stdio;
mod writer;

pub(super) use stdio::{Flags, stdin_is_terminal};
pub(super) use writer::{Permit, transfer};

use super::shell::{Batch, Event};
use crate::upstream::{self, StartError, Tree, Upstream};
use bytes::Bytes;
use output::Output;
use std::path::Path;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::JoinHandle;
use tokio::time::{timeout, timeout_at};
use writer::{Credit, Queue};

/// Events that wait for the loop at the most.
const EVENTS: usize = 64;

/// The pipes of the relay, the upstream's process and the system's signals.
pub(super) struct Io {
    /// `None` only while this is dropped.
    runtime: Option<Runtime>,
    sender: Sender<Event>,
    events: Receiver<Event>,
    /// `None` when nothing more may be written there.
    to_client: Option<Queue>,
    to_child: Option<Queue>,
    /// The client's writer, and the passing on of the upstream's stderr.
    written: Option<JoinHandle<()>>,
    passed: Option<JoinHandle<()>>,
}

impl Io {
    /// Signals are watched from now on.
    ///
    /// # Errors
    /// When the system gives no resources for a runtime.
    pub(super) fn new() -> std::io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let (sender, events) = channel(EVENTS);
        let inside = runtime.enter();
        signals::watch(&sender);
        drop(inside);
        Ok(Io {
            runtime: Some(runtime),
            sender,
            events,
            to_client: None,
            to_child: None,
            written: None,
            passed: None,
        })
    }

    /// Starts the upstream's process.
    ///
    /// # Errors
    /// When the system would not start it.
    pub(super) fn spawn(
        &self,
        program: &Path,
        arguments: &[String],
    ) -> Result<Upstream, StartError> {
        let _inside = self.runtime.as_ref().map(Runtime::enter);
        upstream::spawn(program, arguments)
    }

    /// Attaches the client alone.
    pub(super) fn listen(&mut self) {
        let _inside = self.runtime.as_ref().map(Runtime::enter);
        let input = stdio::client_input();
        tokio::spawn(pump::client(input, self.sender.clone(), Credit::new()));
        let (queue, writing) = writer::start(Output::Stdout);
        self.to_client = Some(queue);
        self.written = Some(report(writing, &self.sender, Event::ClientBroken));
    }

    /// Attaches the client and the upstream.
    ///
    /// # Errors
    /// None here; on other systems pipes can refuse.
    #[allow(clippy::unnecessary_wraps, reason = "the other system's can fail")]
    pub(super) fn attach(&mut self, upstream: Upstream) -> std::io::Result<Tree> {
        self.listen();
        let _inside = self.runtime.as_ref().map(Runtime::enter);
        let sender = self.sender.clone();
        tokio::spawn(pump::child(upstream.stdout, sender.clone(), Credit::new()));
        self.passed = Some(tokio::spawn(pump::stderr(upstream.stderr)));
        let (queue, writing) = writer::start(Output::Child(upstream.stdin));
        self.to_child = Some(queue);
        report(writing, &sender, Event::ChildBroken);
        let process = upstream.process;
        tokio::spawn(async move {
            if let Ok(status) = process.await {
                let _loop_over = sender.send(Event::ChildEnded(status)).await;
            }
        });
        Ok(upstream.tree)
    }

    /// Waits for the next event; `None` when `limit` comes first.
    pub(super) fn next(&mut self, limit: Option<Instant>) -> Option<Event> {
        let events = &mut self.events;
        // This side keeps a sender, so the channel stays open.
        self.runtime.as_ref()?.block_on(async {
            match limit {
                None => events.recv().await,
                Some(limit) => timeout_at(limit.into(), events.recv()).await.ok().flatten(),
            }
        })
    }

    /// The events that have already come.
    pub(super) fn arrived(&mut self) -> Vec<Event> {
        std::iter::from_fn(|| self.events.try_recv().ok()).collect()
    }

    /// Takes back what a batch's lines were in: nothing here waits for it.
    #[allow(clippy::unused_self, reason = "the other system's needs it")]
    pub(super) fn recycle(&mut self, _: Vec<Bytes>) {}

    /// Hands in lines for the client, and leaves none behind.
    pub(super) fn send_client(&mut self, lines: &mut Vec<Bytes>, permit: Permit) {
        let lines = std::mem::take(lines);
        if let Some(queue) = &mut self.to_client {
            queue.send(Batch {
                lines,
                permit,
                head: None,
            });
        }
    }

    /// Hands in lines for the upstream, and leaves none behind.
    pub(super) fn send_child(&mut self, lines: &mut Vec<Bytes>, permit: Permit) {
        let lines = std::mem::take(lines);
        if let Some(queue) = &mut self.to_child {
            queue.send(Batch {
                lines,
                permit,
                head: None,
            });
        }
    }

    /// The upstream's input is closed as soon as all is written.
    pub(super) fn close_child(&mut self) {
        self.to_child = None;
    }

    /// Bytes that were handed in for the client, and bytes that it took.
    pub(super) fn client_progress(&self) -> (u64, u64) {
        self.to_client.as_ref().map_or((0, 0), Queue::progress)
    }

    /// Waits until the client has taken all, at most for `limit`. Whether it has, or takes no more.
    pub(super) fn client_written(&mut self, limit: Duration) -> bool {
        // The writer ends when it has written all.
        if let Some(queue) = &mut self.to_client {
            queue.close();
        }
        self.finish(limit, |io| &mut io.written)
    }

    /// Passes the rest of the upstream's stderr on, at most for `limit`.
    pub(super) fn pass_rest(&mut self, limit: Duration) {
        self.finish(limit, |io| &mut io.passed);
    }

    /// Waits for a task's end, at most for `limit`.
    fn finish(
        &mut self,
        limit: Duration,
        task: impl Fn(&mut Io) -> &mut Option<JoinHandle<()>>,
    ) -> bool {
        let Some(mut waited) = task(self).take() else {
            return true;
        };
        let Some(runtime) = &self.runtime else {
            return true;
        };
        let done = runtime.block_on(async { timeout(limit, &mut waited).await.is_ok() });
        if !done {
            *task(self) = Some(waited);
        }
        done
    }
}

impl Drop for Io {
    fn drop(&mut self) {
        // A thread may sit in a read of stdin that nothing ends.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Runs a writer, and reports when its pipe breaks.
fn report(
    writing: impl Future<Output = std::io::Result<()>> + Send + 'static,
    events: &Sender<Event>,
    broken: Event,
) -> JoinHandle<()> {
    let events = events.clone();
    tokio::spawn(async move {
        if writing.await.is_err() {
            let _loop_over = events.send(broken).await;
        }
    })
}
