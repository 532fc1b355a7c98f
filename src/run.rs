//! The async shell around the core: pumps, one loop, writers, the end.
//!
//! Reads live in pump tasks, so no read is cancelled half-way. Each pipe has its own writer task, so
//! neither side's full pipe stops the other direction. A pump hands its lines in only with credit of
//! the writer they are bound for; the credit comes back when they are written, so memory stays bounded
//! and a side that does not read stops only what flows to it.

mod ending;
mod output;
mod pump;
mod shell;
mod signals;
mod stdio;
mod writer;

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
use output::Output;
use shell::{Event, Mail, Shell};
use std::time::Duration;
use tokio::task::JoinError;

/// How long a client's `initialize` is awaited when the upstream cannot be started.
const INITIALIZE_WAIT: Duration = Duration::from_secs(1);
/// How long the log may take to reach stderr at the end.
const LOG_FLUSH: Duration = Duration::from_millis(200);
/// The exit status when the relay itself fails (the number that sysexits.h gives a software error).
const SOFTWARE_ERROR: i32 = 70;

/// Runs the relay on the process's own pipes and returns its exit status.
pub fn relay(mut config: Config) -> i32 {
    config.bind();
    crate::stderr::start_log(&config.log);
    crate::contain::install_panic_hook();
    for problem in config
        .problems
        .iter()
        .chain(&config.status_folder_problem())
    {
        tracing::warn!("{problem}");
    }
    let flags = stdio::Flags::note();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let status = match runtime {
        Ok(runtime) => {
            // A task of its own: waking the future that a runtime blocks on costs a system call.
            let task = runtime.spawn(run(config));
            let status = runtime.block_on(task).unwrap_or_else(failed);
            // A thread may sit in a read of stdin that nothing ends.
            runtime.shutdown_background();
            status
        }
        Err(error) => {
            tracing::error!("the relay cannot start: {error}");
            1
        }
    };
    flags.put_back();
    Stderr::get().flush(LOG_FLUSH);
    status
}

async fn run(config: Config) -> i32 {
    if stdio::stdin_is_terminal() {
        tracing::info!(
            "stdin is a terminal: an MCP client is expected there (see --help, or try the demo command)"
        );
    }
    // Before there is a server that a signal could leave behind.
    let mail = Mail::with_signals();
    // This thread is the process's main thread, to which the parent-death signal is tied.
    let started = upstream::command(config.upstream.as_deref())
        .and_then(|(program, arguments)| upstream::spawn(&program, &arguments));
    match started {
        Ok(upstream) => {
            let heartbeats = Heartbeats::new(config.status_folder());
            let relay = Relay::new(config, REGISTRY, Box::new(Files::new(heartbeats)));
            match Shell::start(relay, upstream, mail) {
                Ok(shell) => shell.run().await,
                Err(error) => {
                    tracing::error!("the relay cannot start: {error}");
                    1
                }
            }
        }
        Err(error) => cannot_start(&error, mail).await,
    }
}

/// The relay's own failure outside of every contained region.
fn failed(error: JoinError) -> i32 {
    let what = match error.try_into_panic() {
        Ok(panic) => crate::contain::report_uncontained(panic.as_ref()),
        Err(error) => error.to_string(),
    };
    tracing::error!("the relay failed and ends: {what}");
    SOFTWARE_ERROR
}

/// Many clients hide stderr, so the reason also answers what the client asks first.
async fn cannot_start(error: &StartError, mail: Mail) -> i32 {
    tracing::error!("{error}");
    let Mail { sender, mut events } = mail;
    let credit = writer::Credit::new();
    tokio::spawn(pump::client(stdio::client_input(), sender, credit));
    let mut output = Output::to_client();
    let answers = async {
        while let Some(Event::Client(batch)) = events.recv().await {
            for line in batch.lines {
                if let Some((answer, last)) = start_failure(&line, error)
                    && (writer::line(&mut output, answer).await.is_err() || last)
                {
                    return;
                }
            }
        }
    };
    let _in_time = tokio::time::timeout(INITIALIZE_WAIT, answers).await;
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
