//! The shell around the core: the pipes of both sides, one loop, the end.
//!
//! The loop is one thread that owns the core. What it waits on is the system's: on Unix all pipes
//! at once, on Windows, whose pipes know no such thing, tasks that read and write. Lines come in only on credit of
//! the writer they are bound for; the credit comes back when they are written, so memory stays bounded
//! and a side that does not read stops only what flows to it.

mod clock;
mod ending;
#[cfg(unix)]
mod polled;
mod shell;
#[cfg(windows)]
mod tasks;

#[cfg(unix)]
use polled as io;
#[cfg(windows)]
use tasks as io;

use crate::behaviors::REGISTRY;
use crate::config::Config;
use crate::instances::Heartbeats;
use crate::relay::Relay;
use crate::reply;
use crate::stderr::Stderr;
use crate::surroundings::Files;
use crate::upstream::{self, StartError};
use crate::wire::envelope::{ClientLine, INTERNAL_ERROR, Kind, read_client};
use bytes::Bytes;
use io::{Flags, Io};
use shell::{Event, Shell};
use std::panic::catch_unwind;
use std::time::{Duration, Instant};

/// How long a client's `initialize` is awaited when the upstream cannot be started.
const INITIALIZE_WAIT: Duration = Duration::from_secs(1);
/// How long the log may take to reach stderr at the end.
const LOG_FLUSH: Duration = Duration::from_millis(200);
/// The exit status when the relay itself fails (the number that sysexits.h gives a software error).
const SOFTWARE_ERROR: i32 = 70;

/// Runs the relay on the process's own pipes and returns its exit status.
///
/// To be called on the process's main thread: on Linux the signal that takes the upstream along is tied to the
/// thread that started it.
pub fn relay(config: Config) -> i32 {
    crate::contain::install_panic_hook();
    let flags = Flags::note();
    let status = catch_unwind(move || run(config)).unwrap_or_else(|panic| {
        // The relay's own failure outside of every contained region.
        let what = crate::contain::report_uncontained(panic.as_ref());
        tracing::error!("the relay failed and ends: {what}");
        SOFTWARE_ERROR
    });
    flags.put_back();
    Stderr::get().flush(LOG_FLUSH);
    status
}

fn run(mut config: Config) -> i32 {
    // Signals are watched before there is a server that one could leave behind. All else comes after the server's
    // start, which takes the longest.
    let io = Io::new();
    let started = io.as_ref().ok().map(|io| {
        upstream::command(config.upstream.as_deref(), config.upstream_version)
            .and_then(|(program, arguments)| io.spawn(&program, &arguments))
    });
    config.bind();
    start_log(&config);
    match (io, started) {
        (Ok(mut io), Some(Ok(upstream))) => {
            let heartbeats = Heartbeats::new(config.status_folder());
            let (files, moment) = Files::by_moments(heartbeats);
            let relay = Relay::new(config, REGISTRY, Box::new(files));
            match io.attach(upstream) {
                Ok(tree) => Shell::new(relay, moment, tree, io).run(),
                Err(error) => cannot_run(&error),
            }
        }
        (Ok(io), Some(Err(error))) => cannot_start(&error, io),
        (Ok(_), None) => SOFTWARE_ERROR,
        (Err(error), _) => cannot_run(&error),
    }
}

fn start_log(config: &Config) {
    crate::stderr::start_log(&config.log);
    let folder = config.status_folder_problem();
    for problem in config.problems.iter().chain(&folder) {
        tracing::warn!("{problem}");
    }
    if io::stdin_is_terminal() {
        tracing::info!(
            "stdin is a terminal: an MCP client is expected there (see --help, or try the demo command)"
        );
    }
}

fn cannot_run(error: &std::io::Error) -> i32 {
    tracing::error!("the relay cannot start: {error}");
    1
}

/// Many clients hide stderr, so the reason also answers what the client asks first.
fn cannot_start(error: &StartError, mut io: Io) -> i32 {
    tracing::error!("{error}");
    io.listen();
    let limit = Instant::now() + INITIALIZE_WAIT;
    while let Some(Event::Client(batch)) = io.next(Some(limit)) {
        let mut lines = Vec::new();
        let mut last = false;
        for (answer, is_last) in batch
            .lines
            .iter()
            .filter_map(|line| start_failure(line, error))
        {
            lines.push(answer);
            last = is_last;
            if last {
                break;
            }
        }
        io.send_client(&mut lines, batch.permit);
        if last {
            break;
        }
    }
    io.client_written(limit.saturating_duration_since(Instant::now()));
    error.exit_status()
}

/// The answer to a request that arrives while the upstream cannot be started, and whether it is the
/// one that was awaited.
fn start_failure(line: &Bytes, error: &StartError) -> Option<(Bytes, bool)> {
    let ClientLine::Message(message) = read_client(line) else {
        return None;
    };
    let Kind::Request(id) = &message.kind else {
        return None;
    };
    let answer = reply::rpc_error(Some(id), INTERNAL_ERROR, &error.to_string());
    Some((answer, message.method == "initialize"))
}
