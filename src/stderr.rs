//! The log's way out: a bounded queue and a thread, so that a client that does not read stderr costs
//! log lines (dropped and counted) and nothing else.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};
use tracing_subscriber::filter::Targets;

/// What stands ahead of each line of the relay's own.
const PREFIX: &str = "[vrc-mcp-proxy] ";
/// Bytes that may wait for stderr before anything more is dropped.
const LIMIT: usize = 256 << 10;
/// What an entry costs beside its bytes.
const OVERHEAD: usize = 64;

/// How much of what the upstream wrote is kept for the message that it never served.
const LAST_LINES: usize = 10;
const LAST_BYTES: usize = 1 << 10;

/// Something to write.
enum Entry {
    /// Bytes of the upstream's, as they came; they may end within a line.
    Passed(Vec<u8>),
    /// A whole line of the relay's.
    Own(Vec<u8>),
}

/// What waits, in order, and how much of it had to go.
struct Backlog {
    entries: VecDeque<Entry>,
    bytes: usize,
    lost: u64,
}

impl Backlog {
    const fn new() -> Self {
        Backlog {
            entries: VecDeque::new(),
            bytes: 0,
            lost: 0,
        }
    }

    fn push(&mut self, entry: Entry) {
        if self.bytes >= LIMIT {
            self.lost += 1;
            return;
        }
        self.own_up();
        self.bytes += entry.bytes().len() + OVERHEAD;
        self.entries.push_back(entry);
    }

    fn pop(&mut self) -> Option<Entry> {
        if self.entries.is_empty() {
            self.own_up();
        }
        let entry = self.entries.pop_front()?;
        self.bytes -= entry.bytes().len() + OVERHEAD;
        Some(entry)
    }

    /// Says how many were dropped, at the place where they are missing.
    fn own_up(&mut self) {
        if self.lost > 0 {
            let note = format!(
                "{PREFIX}{} log messages were dropped here: stderr was not read\n",
                self.lost
            );
            self.lost = 0;
            self.bytes += note.len() + OVERHEAD;
            self.entries.push_back(Entry::Own(note.into_bytes()));
        }
    }

    fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.lost == 0
    }
}

impl Entry {
    fn bytes(&self) -> &[u8] {
        match self {
            Entry::Passed(bytes) | Entry::Own(bytes) => bytes,
        }
    }
}

struct State {
    backlog: Backlog,
    /// The end of what the upstream wrote.
    tail: Vec<u8>,
    started: bool,
    writing: bool,
}

impl State {
    const fn new() -> Self {
        State {
            backlog: Backlog::new(),
            tail: Vec::new(),
            started: false,
            writing: false,
        }
    }
}

impl State {
    /// Keeps the end of what the upstream writes.
    fn remember(&mut self, bytes: &[u8]) {
        self.tail.extend_from_slice(bytes);
        if let Some(over @ 1..) = self.tail.len().checked_sub(LAST_BYTES) {
            // Half a line says less than none.
            let cut = memchr::memchr(b'\n', &self.tail[over..]).map_or(over, |at| over + at + 1);
            self.tail.drain(..cut);
        }
    }
}

/// The process's way to stderr.
pub struct Stderr {
    state: Mutex<State>,
    changed: Condvar,
}

static STDERR: Stderr = Stderr {
    state: Mutex::new(State::new()),
    changed: Condvar::new(),
};

impl Stderr {
    /// The process's queue; its thread starts with the first message.
    pub fn get() -> &'static Stderr {
        &STDERR
    }

    /// Queues bytes of the upstream's as they are; drops them when too much waits.
    pub fn pass_on(&'static self, bytes: Vec<u8>) {
        self.lock().remember(&bytes);
        self.push(Entry::Passed(bytes));
    }

    /// The last whole lines that the upstream wrote, ten or a kilobyte of them at the most.
    pub fn last_passed(&self) -> String {
        let tail = String::from_utf8_lossy(&self.lock().tail).into_owned();
        let lines: Vec<&str> = tail.trim_end().lines().collect();
        lines[lines.len().saturating_sub(LAST_LINES)..].join("\n")
    }

    /// Queues one whole line, newline included; drops it when too much waits. It starts on a line of
    /// its own.
    pub fn line(&'static self, line: Vec<u8>) {
        self.push(Entry::Own(line));
    }

    /// Waits until all that was queued is written, at most for `limit`.
    pub fn flush(&self, limit: Duration) {
        let busy = |state: &mut State| state.writing || !state.backlog.is_empty();
        let _in_time = self.changed.wait_timeout_while(self.lock(), limit, busy);
    }

    fn push(&'static self, entry: Entry) {
        let mut state = self.lock();
        state.backlog.push(entry);
        if !state.started {
            state.started = true;
            // Without the thread nothing is written, and the backlog stays within its limit.
            let _thread = std::thread::Builder::new()
                .name("stderr".to_owned())
                .spawn(move || self.drain());
        }
        drop(state);
        self.changed.notify_all();
    }

    fn drain(&self) {
        let mut within_line = false;
        let mut state = self.lock();
        loop {
            let Some(entry) = state.backlog.pop() else {
                state = self
                    .changed
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            state.writing = true;
            drop(state);
            if within_line && matches!(entry, Entry::Own(_)) {
                write(b"\n");
            }
            write(entry.bytes());
            within_line = entry.bytes().last().is_some_and(|&byte| byte != b'\n');
            state = self.lock();
            state.writing = false;
            self.changed.notify_all();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
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
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                crate::ready::to_write(&io::stderr());
            }
            Err(_) => return,
        }
    }
}

/// Starts the log: events at or above `filter`'s levels go to stderr, one a line.
pub fn start_log(filter: &str) {
    let targets = filter.parse().unwrap_or_default();
    // A second start in one process (tests) keeps the first.
    let _already = tracing::subscriber::set_global_default(Log { targets });
}

/// The subscriber: a level and a message a line. The crate has no spans.
struct Log {
    targets: Targets,
}

impl Subscriber for Log {
    fn enabled(&self, event: &Metadata<'_>) -> bool {
        self.targets.would_enable(event.target(), event.level())
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        let of_targets = self.targets.iter().map(|(_, level)| level);
        of_targets.chain(self.targets.default_level()).max()
    }

    fn event(&self, event: &Event<'_>) {
        let mut line = format!("{PREFIX}{} ", event.metadata().level()).into_bytes();
        let start = line.len();
        event.record(&mut Message(&mut line));
        // One event a line, whatever a message of the client's put into it.
        for byte in &mut line[start..] {
            if *byte < 0x20 {
                *byte = b' ';
            }
        }
        line.push(b'\n');
        Stderr::get().line(line);
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

/// Takes an event's message, and other fields behind it.
struct Message<'a>(&'a mut Vec<u8>);

impl Visit for Message<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        // A vector takes everything.
        let _written = match field.name() {
            "message" => write!(self.0, "{value:?}"),
            name => write!(self.0, " {name}={value:?}"),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(length: usize) -> Entry {
        Entry::Passed(vec![b'x'; length])
    }

    fn texts(backlog: &mut Backlog) -> Vec<String> {
        std::iter::from_fn(|| backlog.pop())
            .map(|entry| String::from_utf8_lossy(entry.bytes()).into_owned())
            .collect()
    }

    #[test]
    fn what_is_dropped_is_counted_where_it_is_missing() {
        let mut backlog = Backlog::new();
        backlog.push(entry(LIMIT));
        for _ in 0..3 {
            backlog.push(entry(1));
        }
        assert_eq!(backlog.pop().map(|e| e.bytes().len()), Some(LIMIT));
        backlog.push(Entry::Own(b"later\n".to_vec()));
        let left = texts(&mut backlog);
        assert_eq!(left.len(), 2, "{left:?}");
        assert!(
            left[0].contains("3 log messages were dropped"),
            "{}",
            left[0]
        );
        assert_eq!(left[1], "later\n");
        assert!(backlog.is_empty());
    }

    #[test]
    fn a_drop_is_told_of_even_when_nothing_follows() {
        let mut backlog = Backlog::new();
        backlog.push(entry(LIMIT));
        backlog.push(entry(1));
        assert!(backlog.pop().is_some());
        assert!(!backlog.is_empty());
        let left = texts(&mut backlog);
        assert!(
            left[0].contains("1 log messages were dropped"),
            "{}",
            left[0]
        );
        assert!(backlog.is_empty());
        assert_eq!(backlog.bytes, 0);
    }

    #[test]
    fn tiny_entries_are_bounded_too() {
        let mut backlog = Backlog::new();
        for _ in 0..1_000_000 {
            backlog.push(entry(0));
        }
        assert!(backlog.entries.len() <= LIMIT / OVERHEAD + 1);
        assert!(backlog.lost > 0);
    }
}
