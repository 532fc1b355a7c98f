//! The command line. Without arguments the program is the relay and nothing here is looked at.
//!
//! Commands print facts to stdout and everything else to stderr. They end with 0, with 1 when what they
//! looked at is not as it should be, and with 2 when they failed.

mod baseline;
pub mod behaviors;
mod client_config;
mod clients;
mod demo;
mod difference;
mod doctor;
mod folder;
mod limited;
mod pages;
mod repro;
mod session;
mod simulated;
mod text;
mod warm;

use crate::config::{Config, UPSTREAM_VERSION, VARIABLES};
use clap::{Parser, Subcommand};
use std::io::{self, ErrorKind, Write};
use std::sync::LazyLock;

/// The exit status of a command that found what it looked at not to be as it should.
const NOT_AS_IT_SHOULD_BE: u8 = 1;
/// The exit status of a command that failed; clap uses the same for arguments it cannot read.
const FAILED: u8 = 2;

static VERSION: LazyLock<String> = LazyLock::new(|| {
    let version = env!("CARGO_PKG_VERSION");
    format!("{version} (mcpforunityserver {UPSTREAM_VERSION})")
});

static VARIABLES_HELP: LazyLock<String> = LazyLock::new(|| {
    let mut help = "Environment variables, all optional:\n".to_owned();
    for (name, meaning) in VARIABLES {
        help.push_str(&format!("  {name}\n      {meaning}\n"));
    }
    help
});

/// Stands between an MCP client and MCP for Unity and keeps the conversation honest. Without a command it
/// is the relay: an MCP server on stdin and stdout that starts the pinned MCP for Unity server.
#[derive(Parser)]
#[command(name = "vrc-mcp-proxy", version = VERSION.as_str(), after_help = VARIABLES_HELP.as_str())]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Shows the relay at work, without Unity: a session with a simulated server, scene by scene
    Demo(demo::Options),
    /// Looks for what keeps a client from working with Unity here; connects to no Editor unless told to
    Doctor(doctor::Options),
    /// Prints the ready entry for a client's configuration, with this program's path
    Config(client_config::Options),
    /// Fetches and unpacks the pinned server, so that the first real start is quick
    Warm(warm::Options),
    /// Lists the behaviours: name, point, whether the environment leaves it on, what it does
    Behaviors(behaviors::Options),
    /// Starts the server and takes the baseline of its tools' contracts
    CaptureBaseline(baseline::CaptureOptions),
    /// Compares two baselines: 0 when contracts and output schemas are equal, 1 when they differ
    DiffBaseline(baseline::DiffOptions),
    /// Prints the completions for a shell
    Completions(pages::CompletionsOptions),
    /// Prints the manual's page
    #[command(hide = true)]
    Man(pages::ManOptions),
    /// Measures in a scratch Editor which faults of upstream are still there: 0 when all could be told
    Repro(repro::Options),
    /// The server of the demo and of tests: says what a script tells it
    #[command(hide = true)]
    SimulatedUpstream(simulated::Options),
}

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
enum Failure {
    /// The system would not do it.
    #[error("{what}: {source}")]
    Io {
        /// What was being done.
        what: String,
        /// The system's reason.
        source: io::Error,
    },
    /// Anything else, in words.
    #[error("{0}")]
    Told(String),
}

impl Failure {
    fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        move |source| Failure::Io { what, source }
    }
}

/// Runs what the arguments ask for: the relay, or a command. The status is the process's.
pub fn run() -> i32 {
    if std::env::args_os().len() <= 1 {
        return crate::run::relay(Config::from_env(std::env::vars_os()));
    }
    match Cli::try_parse() {
        Ok(cli) => match cli.command {
            Some(command) => finish(carry_out(command)),
            None => crate::run::relay(Config::from_env(std::env::vars_os())),
        },
        Err(error) => {
            // Help and version are errors to clap, with status 0.
            let _nobody_reads = error.print();
            error.exit_code()
        }
    }
}

fn carry_out(command: Command) -> Result<u8, Failure> {
    match command {
        Command::Demo(options) => demo::run(&options),
        Command::Doctor(options) => doctor::run(&options),
        Command::Config(options) => client_config::run(&options),
        Command::Warm(options) => warm::run(&options),
        Command::Behaviors(options) => behaviors::run(&options),
        Command::CaptureBaseline(options) => baseline::capture(&options),
        Command::DiffBaseline(options) => baseline::diff(&options),
        Command::Completions(options) => pages::completions(&options),
        Command::Man(options) => pages::man(&options),
        Command::Repro(options) => repro::run(&options),
        Command::SimulatedUpstream(options) => simulated::run(&options),
    }
}

/// Whether the program is the relay when it is started with these arguments.
fn takes_no_command(arguments: &[String]) -> bool {
    let words = [env!("CARGO_PKG_NAME").to_owned()];
    let parsed = Cli::try_parse_from(words.iter().chain(arguments));
    parsed.is_ok_and(|cli| cli.command.is_none())
}

fn finish(outcome: Result<u8, Failure>) -> i32 {
    outcome
        .unwrap_or_else(|failure| {
            complain(&failure.to_string());
            FAILED
        })
        .into()
}

/// The configuration, with its problems told on stderr.
fn config() -> Config {
    let config = Config::from_env(std::env::vars_os());
    for problem in &config.problems {
        complain(problem);
    }
    config
}

/// Writes to stdout. A reader that has seen enough and left is no failure.
fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    match stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
    {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::io("stdout cannot be written to")(error))
        }
        _ => Ok(()),
    }
}

/// Writes facts to stdout as one JSON document.
fn print_json(facts: &impl serde::Serialize) -> Result<(), Failure> {
    let json = serde_json::to_string_pretty(facts).map_err(|e| Failure::Told(e.to_string()))?;
    print(&format!("{json}\n"))
}

/// Writes a line to stderr.
fn complain(line: &str) {
    let _nobody_reads = writeln!(io::stderr(), "vrc-mcp-proxy: {line}");
}
