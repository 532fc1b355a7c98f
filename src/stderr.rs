//! The log's way out: a bounded queue and a thread, so that a client that does not read stderr costs
//! log lines (dropped and counted) and nothing else.

use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// What stands ahead of each line of the relay's own.
const PREFIX: &str = "[vrc-mcp-proxy] ";
/// Messages that wait for stderr at the most.
const QUEUE: usize = 256;

enum Message {
    Bytes(Vec<u8>),
    Flush(Sender<()>),
}

/// The sending end of the queue.
#[derive(Clone)]
pub struct Stderr {
    queue: SyncSender<Message>,
    dropped: Arc<AtomicU64>,
}

static STDERR: OnceLock<Stderr> = OnceLock::new();

impl Stderr {
    /// The process's queue; its thread starts at the first use.
    pub fn get() -> &'static Stderr {
        STDERR.get_or_init(|| {
            let (queue, messages) = sync_channel(QUEUE);
            let dropped = Arc::new(AtomicU64::new(0));
            let counter = Arc::clone(&dropped);
            // Without the thread every send fails, which counts as a drop.
            let _thread = std::thread::Builder::new()
                .name("stderr".to_owned())
                .spawn(move || drain(&messages, &counter));
            Stderr { queue, dropped }
        })
    }

    /// Queues bytes as they are; drops them when the queue is full.
    pub fn send(&self, bytes: Vec<u8>) {
        if self.queue.try_send(Message::Bytes(bytes)).is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Waits until all that was queued is written, at most for `limit`.
    pub fn flush(&self, limit: Duration) {
        let (done, wait) = channel();
        if self.queue.try_send(Message::Flush(done)).is_ok() {
            let _written = wait.recv_timeout(limit);
        }
    }
}

fn drain(messages: &Receiver<Message>, dropped: &AtomicU64) {
    for message in messages {
        match message {
            Message::Bytes(bytes) => write(&bytes),
            Message::Flush(done) => {
                let _waiter_gone = done.send(());
            }
        }
        let lost = dropped.swap(0, Ordering::Relaxed);
        if lost > 0 {
            write(
                format!("{PREFIX}{lost} log messages were dropped: stderr was not read\n")
                    .as_bytes(),
            );
        }
    }
}

/// Writes all of `bytes`, blocking; gives up on an error other than a full pipe.
fn write(mut bytes: &[u8]) {
    let mut stderr = io::stderr().lock();
    while !bytes.is_empty() {
        match stderr.write(bytes) {
            Ok(0) => return,
            Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // stderr may share a description with stdout, which does not block.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => wait_writable(),
            Err(_) => return,
        }
    }
}

#[cfg(unix)]
fn wait_writable() {
    use rustix::event::{PollFd, PollFlags, poll};
    let stderr = rustix::stdio::stderr();
    let _ready = poll(&mut [PollFd::new(&stderr, PollFlags::OUT)], None);
}

#[cfg(not(unix))]
fn wait_writable() {
    std::thread::yield_now();
}

/// Starts the log: events at or above `filter`'s levels go to stderr, one a line.
pub fn start_log(filter: &str) {
    use tracing_subscriber::layer::SubscriberExt;
    use tracing_subscriber::util::SubscriberInitExt;
    let targets = filter
        .parse::<tracing_subscriber::filter::Targets>()
        .unwrap_or_default();
    let lines = tracing_subscriber::fmt::layer()
        .without_time()
        .with_target(false)
        .with_ansi(false)
        .with_writer(|| EventWriter);
    // A second start in one process (tests) keeps the first.
    let _already = tracing_subscriber::registry()
        .with(lines)
        .with(targets)
        .try_init();
}

/// Takes one formatted event, which arrives as one write.
struct EventWriter;

impl Write for EventWriter {
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        let mut line = PREFIX.as_bytes().to_vec();
        let text = event.strip_suffix(b"\n").unwrap_or(event);
        let text = text.trim_ascii_start();
        // One event a line, whatever a message of the client's put into it.
        line.extend(text.iter().map(|&b| if b < 0x20 { b' ' } else { b }));
        line.push(b'\n');
        Stderr::get().send(line);
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
