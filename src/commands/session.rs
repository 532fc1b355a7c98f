//! A client of the relay: this very program, started as a child and spoken to as an MCP client would.

use super::Failure;
use crate::config::VARIABLES;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// How long a relay may take to end once its client has closed the stream. Its own limit is 6 s.
const END: Duration = Duration::from_secs(10);
/// How many of its last lines on stderr tell why a relay did not do what it should.
const LAST_WORDS: usize = 12;

/// A running relay and this side's end of its pipes.
pub(super) struct Session {
    relay: Child,
    stdin: Option<ChildStdin>,
    stdout: Receiver<String>,
    stderr: Receiver<String>,
    /// Lines of stderr that were taken so far.
    log: Vec<String>,
}

/// This program's file.
pub(super) fn this_program() -> Result<PathBuf, Failure> {
    std::env::current_exe().map_err(Failure::io("this program's own file cannot be found"))
}

impl Session {
    /// Starts a relay whose environment is this one's, but of the relay's own variables holds only
    /// `variables`.
    pub(super) fn start(variables: Vec<(&str, OsString)>) -> Result<Self, Failure> {
        Self::start_as(&[], variables)
    }

    /// The same with this program in another part, which its arguments name: a server without a relay.
    pub(super) fn start_as(
        arguments: &[&Path],
        variables: Vec<(&str, OsString)>,
    ) -> Result<Self, Failure> {
        let mut command = Command::new(this_program()?);
        command.args(arguments);
        let own = |name: &str| name.starts_with("VRC_MCP_PROXY_");
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            if own(&text) || VARIABLES.iter().any(|(variable, _)| *variable == text) {
                command.env_remove(name);
            }
        }
        let mut relay = command
            .envs(variables)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(Failure::io("the relay cannot be started"))?;
        let stdin = relay.stdin.take();
        let (stdout, stderr) = (lines(relay.stdout.take()), lines(relay.stderr.take()));
        Ok(Session {
            relay,
            stdin,
            stdout,
            stderr,
            log: Vec::new(),
        })
    }

    /// Sends one line.
    pub(super) fn send(&mut self, line: &str) -> Result<(), Failure> {
        let Some(stdin) = &mut self.stdin else {
            return Err(Failure::Told("the stream is closed".to_owned()));
        };
        stdin
            .write_all(format!("{line}\n").as_bytes())
            .map_err(Failure::io("the relay does not take a line"))
    }

    /// The next line, before `limit`; `None` when there was none in time.
    pub(super) fn line(&mut self, limit: Instant) -> Result<Option<String>, Failure> {
        match self
            .stdout
            .recv_timeout(limit.saturating_duration_since(Instant::now()))
        {
            Ok(line) => Ok(Some(line)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(Failure::Told(format!(
                "the relay has ended{}",
                self.last_words()
            ))),
        }
    }

    /// The message that answers request `id`, with all lines up to it handed to `seen`.
    pub(super) fn answer(
        &mut self,
        id: u64,
        limit: Instant,
        seen: &mut Vec<String>,
    ) -> Result<Value, Failure> {
        while let Some(line) = self.line(limit)? {
            let message: Value = serde_json::from_str(&line).unwrap_or_default();
            seen.push(line);
            if message["id"].as_u64() == Some(id) && message.get("method").is_none() {
                return Ok(message);
            }
        }
        let words = self.last_words();
        Err(Failure::Told(format!("request {id} got no answer{words}")))
    }

    /// Says hello as every client does.
    pub(super) fn initialize(&mut self, id: u64, limit: Instant) -> Result<(), Failure> {
        let hello = json!({
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": { "name": "vrc-mcp-proxy", "version": env!("CARGO_PKG_VERSION") },
        });
        self.send(&request(id, "initialize", &hello))?;
        let answer = self.answer(id, limit, &mut Vec::new())?;
        if let Some(error) = answer.get("error") {
            let text = error["message"]
                .as_str()
                .unwrap_or("it said no to initialize");
            return Err(Failure::Told(text.to_owned()));
        }
        self.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)
    }

    /// The lines of the relay's stderr so far.
    pub(super) fn log(&mut self) -> &[String] {
        self.log.extend(self.stderr.try_iter());
        &self.log
    }

    /// Closes the stream and waits for the relay's end. Lines that still came are handed to `seen`.
    pub(super) fn end(mut self, seen: &mut Vec<String>) -> Result<ExitStatus, Failure> {
        self.stdin = None;
        let limit = Instant::now() + END;
        loop {
            match self
                .stdout
                .recv_timeout(limit.saturating_duration_since(Instant::now()))
            {
                Ok(line) => seen.push(line),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    let text = "the relay did not end when its client had closed the stream";
                    return Err(Failure::Told(text.to_owned()));
                }
            }
        }
        self.relay
            .wait()
            .map_err(Failure::io("the relay's end cannot be awaited"))
    }

    /// What the relay said last, to follow a sentence.
    fn last_words(&mut self) -> String {
        let log = self.log();
        let last = &log[log.len().saturating_sub(LAST_WORDS)..];
        if last.is_empty() {
            return String::new();
        }
        format!("; its last lines on stderr:\n{}", last.join("\n"))
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Does nothing to one that has been awaited. The upstream goes with a killed relay on Linux
        // and Windows, and elsewhere when it sees its input end.
        let _already_gone = self.relay.kill();
        let _reaped = self.relay.wait();
    }
}

/// A request as one line.
pub(super) fn request(id: u64, method: &str, params: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()
}

/// A command as `VRC_MCP_PROXY_UPSTREAM` holds it.
pub(super) fn command_json(words: &[&Path]) -> Result<OsString, Failure> {
    let unicode = |word: &&Path| word.to_str().map(str::to_owned);
    let unicode: Option<Vec<String>> = words.iter().map(unicode).collect();
    let words =
        unicode.ok_or_else(|| Failure::Told(format!("a path of {words:?} is not Unicode")))?;
    Ok(json!(words).to_string().into())
}

/// The lines of a pipe, read on a thread of their own until it closes.
fn lines(pipe: Option<impl Read + Send + 'static>) -> Receiver<String> {
    let (sender, receiver) = channel();
    if let Some(pipe) = pipe {
        std::thread::spawn(move || {
            let mut pipe = BufReader::new(pipe);
            let mut line = Vec::new();
            while matches!(pipe.read_until(b'\n', &mut line), Ok(length) if length > 0) {
                let text = String::from_utf8_lossy(&line);
                let text = text.trim_end_matches(['\n', '\r']).to_owned();
                line.clear();
                if sender.send(text).is_err() {
                    return;
                }
            }
        });
    }
    receiver
}
