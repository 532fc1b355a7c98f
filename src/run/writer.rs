//! Writing lines to a pipe, and the credit that keeps the queue ahead of it short.

use super::output::{Output, TryWrite};
use bytes::{Buf, Bytes, BytesMut};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Bytes of lines that may be on their way to one pipe. A longer line takes all of it and goes alone.
const WINDOW: usize = 1 << 20;
/// What a line costs beside its bytes, so that a flood of tiny ones is bounded too.
const LINE: usize = 64;
/// Small lines are gathered into one write of about this size.
const GATHER: usize = 64 << 10;
/// Lines from this length on are written without being copied.
const LARGE: usize = 16 << 10;

/// The right to hand in lines for one pipe.
#[derive(Clone)]
pub(super) struct Credit(Arc<Semaphore>);

/// Credit in use; it comes back when it is dropped.
pub(super) type Permit = Option<OwnedSemaphorePermit>;

impl Credit {
    pub(super) fn new() -> Self {
        Credit(Arc::new(Semaphore::new(WINDOW)))
    }

    /// Waits for credit for `lines`.
    pub(super) async fn take(&self, lines: &[Bytes]) -> Permit {
        let amount: usize = lines.iter().map(cost).sum();
        let amount = u32::try_from(amount.min(WINDOW)).unwrap_or(u32::MAX);
        let permit = Arc::clone(&self.0).acquire_many_owned(amount).await;
        // The semaphore is never closed.
        permit.ok()
    }
}

/// Moves the credit that `line` came on.
pub(super) fn transfer(from: &mut Permit, to: &mut Permit, line: &Bytes) {
    let part = from.as_mut().and_then(|all| {
        let amount = cost(line).min(all.num_permits());
        all.split(amount)
    });
    match (to, part) {
        (Some(to), Some(part)) => to.merge(part),
        (to @ None, part) => *to = part,
        (Some(_), None) => {}
    }
}

fn cost(line: &Bytes) -> usize {
    line.len() + LINE
}

/// Lines to write, and the credit that comes back when they are written.
pub(super) struct Batch {
    pub(super) lines: Vec<Bytes>,
    pub(super) permit: Permit,
}

/// The sending end of a writer task. Dropping it closes the pipe once all is written.
pub(super) struct Queue {
    direct: Option<Arc<dyn TryWrite>>,
    batches: UnboundedSender<Batch>,
    /// Bytes handed in, newlines included.
    queued: u64,
    written: Arc<AtomicU64>,
    gathered: BytesMut,
}

impl Queue {
    /// Hands in lines. What the pipe takes at once does not go through the task.
    pub(super) fn send(&mut self, mut batch: Batch) {
        let bytes: usize = batch.lines.iter().map(|line| line.len() + 1).sum();
        let is_idle = self.written.load(Ordering::Relaxed) == self.queued;
        self.queued += bytes as u64;
        if let Some(direct) = self.direct.as_ref().filter(|_| is_idle && bytes < GATHER) {
            gather(&mut self.gathered, &batch.lines);
            // The task finds out what an error was.
            let taken = direct.try_write(&self.gathered).unwrap_or(0);
            self.written.fetch_add(taken as u64, Ordering::Relaxed);
            if taken == bytes {
                self.gathered.clear();
                return;
            }
            // The task adds the last newline.
            let rest = self.gathered.split().freeze();
            batch.lines = vec![rest.slice(taken..bytes - NEWLINE.len())];
        }
        // A writer that is gone has reported why.
        let _gone = self.batches.send(batch);
    }

    /// How far the writer has come by now.
    pub(super) fn meter(&self) -> Meter {
        let meter = Meter {
            queued: self.queued,
            seen: 0,
            written: Arc::clone(&self.written),
        };
        meter.again()
    }
}

/// What ends a line.
const NEWLINE: &[u8] = b"\n";

fn gather(gathered: &mut BytesMut, lines: &[Bytes]) {
    for line in lines {
        gathered.extend_from_slice(line);
        gathered.extend_from_slice(NEWLINE);
    }
}

/// How far a writer has come since it was looked at.
pub(super) struct Meter {
    queued: u64,
    seen: u64,
    written: Arc<AtomicU64>,
}

impl Meter {
    /// The same, looked at anew.
    pub(super) fn again(self) -> Meter {
        let seen = self.written.load(Ordering::Relaxed);
        Meter { seen, ..self }
    }

    /// Whether the reader was behind and has taken something since.
    pub(super) fn has_moved(&self) -> bool {
        self.seen < self.queued && self.seen < self.written.load(Ordering::Relaxed)
    }

    /// Bytes that were handed in and are not written yet.
    pub(super) fn behind(&self) -> u64 {
        self.queued
            .saturating_sub(self.written.load(Ordering::Relaxed))
    }
}

/// Starts a writer. Its task ends when the queue is dropped, or with an error when the pipe breaks.
pub(super) fn start(
    output: Output,
) -> (Queue, impl Future<Output = io::Result<()>> + Send + 'static) {
    let (sender, batches) = unbounded_channel();
    let written = Arc::new(AtomicU64::new(0));
    let queue = Queue {
        direct: output.direct(),
        batches: sender,
        queued: 0,
        written: Arc::clone(&written),
        gathered: BytesMut::new(),
    };
    (queue, write_all(output, batches, written))
}

async fn write_all(
    mut output: Output,
    mut batches: UnboundedReceiver<Batch>,
    written: Arc<AtomicU64>,
) -> io::Result<()> {
    let mut gathered = BytesMut::with_capacity(LARGE);
    // Credit of the lines that are gathered.
    let mut permits = Vec::new();
    while let Some(first) = batches.recv().await {
        let mut next = Some(first);
        while let Some(batch) = next {
            for line in batch.lines {
                if line.len() >= LARGE {
                    let ahead = gathered.split().freeze();
                    let bytes = ahead.chain(line).chain(NEWLINE);
                    output.write(bytes, &written).await?;
                    permits.clear();
                } else {
                    gather(&mut gathered, &[line]);
                }
            }
            permits.push(batch.permit);
            next = if gathered.len() < GATHER {
                batches.try_recv().ok()
            } else {
                None
            };
        }
        output.write(gathered.split().freeze(), &written).await?;
        permits.clear();
    }
    Ok(())
}

/// Writes one line.
pub(super) async fn line(output: &mut Output, line: Bytes) -> io::Result<()> {
    output.write(line.chain(NEWLINE), &AtomicU64::new(0)).await
}
