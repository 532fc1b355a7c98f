//! Writing lines to a pipe, and the credit that keeps the queue ahead of it short.

use bytes::Bytes;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Bytes of lines that may be on their way to one pipe. A longer line takes all of it and goes alone.
const WINDOW: u32 = 1 << 20;
/// Small lines are gathered into one write of about this size.
const GATHER: usize = 64 << 10;
/// Lines from this length on are written without being copied.
const LARGE: usize = 16 << 10;

/// The right to hand in lines for one pipe.
#[derive(Clone)]
pub(super) struct Credit(Arc<Semaphore>);

/// Credit in use; it comes back when the last line that was handed in on it is written.
pub(super) type Permit = Option<Arc<OwnedSemaphorePermit>>;

impl Credit {
    pub(super) fn new() -> Self {
        Credit(Arc::new(Semaphore::new(WINDOW as usize)))
    }

    /// Waits for credit for `bytes`.
    pub(super) async fn take(&self, bytes: usize) -> Permit {
        let bytes = u32::try_from(bytes).unwrap_or(WINDOW).clamp(1, WINDOW);
        let permit = Arc::clone(&self.0).acquire_many_owned(bytes).await;
        // The semaphore is never closed.
        permit.ok().map(Arc::new)
    }
}

/// Lines to write, and the credit they came on.
pub(super) struct Batch {
    pub(super) lines: Vec<Bytes>,
    pub(super) permit: Permit,
}

/// Where bytes go.
pub(super) enum Output {
    /// A pipe that reports when it can take more.
    Ready(Pin<Box<dyn AsyncWrite + Send>>),
    /// Anything else (a file, a terminal, any stdout on Windows), written on a blocking thread.
    Blocking,
}

impl Output {
    /// Writes all of `bytes` to it.
    pub(super) async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Output::Ready(pipe) => pipe.write_all(bytes).await,
            Output::Blocking => {
                let bytes = bytes.to_vec();
                let write = move || {
                    use std::io::Write;
                    let mut stdout = io::stdout().lock();
                    stdout.write_all(&bytes)?;
                    stdout.flush()
                };
                tokio::task::spawn_blocking(write)
                    .await
                    .unwrap_or_else(|error| Err(io::Error::other(error)))
            }
        }
    }
}

/// The sending end of a writer task. Dropping it closes the pipe once all is written.
pub(super) type Queue = UnboundedSender<Batch>;

/// Starts a writer. Its task ends when the queue is dropped, or with an error when the pipe breaks.
pub(super) fn start(
    output: Output,
) -> (Queue, impl Future<Output = io::Result<()>> + Send + 'static) {
    let (queue, batches) = unbounded_channel();
    (queue, write_all(output, batches))
}

async fn write_all(mut output: Output, mut batches: UnboundedReceiver<Batch>) -> io::Result<()> {
    let mut gathered = Vec::new();
    while let Some(first) = batches.recv().await {
        let mut permits = Vec::new();
        let mut next = Some(first);
        while let Some(batch) = next {
            for line in batch.lines {
                if line.len() >= LARGE || gathered.len() + line.len() >= GATHER {
                    flush(&mut output, &mut gathered).await?;
                }
                if line.len() >= LARGE {
                    output.write(&line).await?;
                } else {
                    gathered.extend_from_slice(&line);
                }
                gathered.push(b'\n');
            }
            permits.push(batch.permit);
            next = batches.try_recv().ok();
        }
        flush(&mut output, &mut gathered).await?;
    }
    Ok(())
}

async fn flush(output: &mut Output, gathered: &mut Vec<u8>) -> io::Result<()> {
    if !gathered.is_empty() {
        output.write(gathered).await?;
        gathered.clear();
    }
    Ok(())
}
