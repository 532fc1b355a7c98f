//! Writing lines to a pipe, and the credit that keeps the queue ahead of it short.

use super::output::Output;
use crate::run::shell::{Batch, WINDOW, cost};
use bytes::{Buf, Bytes, BytesMut};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Small lines are gathered into one write of about this size.
const GATHER: usize = 64 << 10;
/// Lines from this length on are written without being copied.
const LARGE: usize = 16 << 10;

/// The right to hand in lines for one pipe.
#[derive(Clone)]
pub(super) struct Credit(Arc<Semaphore>);

/// Credit in use; it comes back when it is dropped.
pub(in crate::run) type Permit = Option<OwnedSemaphorePermit>;

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

/// Moves the credit that a line of this cost came on.
pub(in crate::run) fn transfer(from: &mut Permit, to: &mut Permit, cost: usize) {
    let part = from.as_mut().and_then(|all| {
        let amount = cost.min(all.num_permits());
        all.split(amount)
    });
    match (to, part) {
        (Some(to), Some(part)) => to.merge(part),
        (to @ None, part) => *to = part,
        (Some(_), None) => {}
    }
}

/// The sending end of a writer task. Closing it closes the pipe once all is written.
pub(super) struct Queue {
    batches: Option<UnboundedSender<Batch>>,
    /// Bytes handed in, newlines included.
    queued: u64,
    written: Arc<AtomicU64>,
}

impl Queue {
    /// Hands in lines.
    pub(super) fn send(&mut self, batch: Batch) {
        let Some(batches) = &self.batches else {
            return;
        };
        let bytes: usize = batch.lines.iter().map(|line| line.len() + 1).sum();
        self.queued += bytes as u64;
        // A writer that is gone has reported why.
        let _gone = batches.send(batch);
    }

    /// Nothing more is handed in.
    pub(super) fn close(&mut self) {
        self.batches = None;
    }

    /// Bytes that were handed in, and bytes that were written.
    pub(super) fn progress(&self) -> (u64, u64) {
        (self.queued, self.written.load(Ordering::Relaxed))
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

/// Starts a writer. Its task ends when the queue is dropped, or with an error when the pipe breaks.
pub(super) fn start(
    output: Output,
) -> (Queue, impl Future<Output = io::Result<()>> + Send + 'static) {
    let (sender, batches) = unbounded_channel();
    let written = Arc::new(AtomicU64::new(0));
    let queue = Queue {
        batches: Some(sender),
        queued: 0,
        written: Arc::clone(&written),
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
