//! The scripted server, and the launcher ahead of it.
//!
//! A message's `do` is a list of steps, such as `[["answer"], ["exit", 3]]`; without one a request is
//! answered. [`WORDS`] in the environment says what kind of process this is:
//!
//! - `launcher`: starts the server, passes SIGTERM on to it as uvx does, and ends with its status;
//! - `leaving`: the same, but ends with status 5 when the gate `leave` opens;
//! - `stubborn`: a server that goes on when its input has ended;
//! - `noterm`: it ignores SIGTERM as well.

use crate::harness::{ALIVE, ROOM, WORDS, lock, me};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Stdio, exit};
use std::thread;

/// What a launcher ends with when it leaves its server behind.
pub(crate) const LEFT: i32 = 5;

struct Server {
    words: String,
    room: PathBuf,
    /// Requests to answer at a `release`.
    held: Vec<(Value, String)>,
}

/// Plays the part that the environment names; never returns.
pub(crate) fn main() {
    let words = std::env::var(WORDS).expect("started by a test");
    let room = PathBuf::from(std::env::var_os(ROOM).expect("a room"));
    leash(room.clone());
    let role = if words.contains("launcher") || words.contains("leaving") {
        "launcher"
    } else if words.contains("orphan") {
        "orphan"
    } else {
        "server"
    };
    let _alive: File = lock(&room.join(format!("{ALIVE}{role}")));
    if words.contains("noterm") {
        ignore_sigterm();
    }
    say(&format!("{role} up {}", std::process::id()));
    match role {
        "launcher" => launch(&words, &room),
        "orphan" => park(),
        _ => {
            let mut server = Server {
                words,
                room,
                held: Vec::new(),
            };
            server.serve();
        }
    }
}

/// Ends this process when the test has let go of its room, whatever became of the relay.
fn leash(room: PathBuf) {
    thread::spawn(move || {
        let _test_is_over = lock(&room.join("leash"));
        exit(99);
    });
}

fn park() -> ! {
    loop {
        thread::park();
    }
}

/// One line on stderr, which the relay passes on: what a test waits for.
fn say(text: &str) {
    let _unread = io::stderr().write_all(format!("{text}\n").as_bytes());
}

fn send(line: &[u8]) {
    let mut stdout = io::stdout().lock();
    let written = stdout
        .write_all(line)
        .and_then(|()| stdout.write_all(b"\n"))
        .and_then(|()| stdout.flush());
    if written.is_err() {
        say("my output is broken");
        exit(98);
    }
}

fn answer(id: &Value, result: &Value) {
    send(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#).as_bytes());
}

impl Server {
    fn serve(&mut self) {
        let mut input = BufReader::new(io::stdin());
        loop {
            let mut line = Vec::new();
            if input.read_until(b'\n', &mut line).unwrap_or(0) == 0 {
                break;
            }
            let text = String::from_utf8_lossy(&line).into_owned();
            self.message(text.strip_suffix('\n').unwrap_or(&text));
        }
        say("end of input");
        if self.words.contains("stubborn") {
            park();
        }
        exit(0);
    }

    fn message(&mut self, line: &str) {
        let message: Value = serde_json::from_str(line).unwrap_or_default();
        let id = message.get("id").cloned().unwrap_or_default();
        let params = &message["params"];
        let steps = match (&params["do"], &params["arguments"]["do"]) {
            (Value::Array(steps), _) | (_, Value::Array(steps)) => steps.clone(),
            _ if id.is_null() || message.get("method").is_none() => {
                vec![json!(["stderr", format!("got {line}")])]
            }
            _ => vec![json!(["answer"])],
        };
        for step in steps {
            self.step(&step, &id, line);
        }
    }

    fn step(&mut self, step: &Value, id: &Value, line: &str) {
        let text = || step[1].as_str().unwrap_or_default();
        let number = || usize::try_from(step[1].as_u64().unwrap_or_default()).unwrap_or_default();
        match step[0].as_str().unwrap_or_default() {
            "answer" => answer(id, &json!({ "got": line })),
            "big" => answer(id, &json!({ "big": "x".repeat(number()) })),
            "length" => answer(id, &json!({ "length": line.len() })),
            "env" => answer(id, &json!({ "env": std::env::var(text()).ok() })),
            "hold" => self.held.push((id.clone(), line.to_owned())),
            "release" => {
                for (id, line) in self.held.drain(..).rev() {
                    answer(&id, &json!({ "got": line }));
                }
            }
            "release_at" => {
                let held = std::mem::take(&mut self.held);
                let gate = self.gate(text());
                thread::spawn(move || {
                    let _open = lock(&gate);
                    for (id, line) in held {
                        answer(&id, &json!({ "got": line }));
                    }
                });
            }
            "raw" => {
                let mut stdout = io::stdout().lock();
                let _broken = stdout.write_all(text().as_bytes());
                let _broken = stdout.flush();
            }
            "flood" => flood(number()),
            "chatter" => drop(thread::spawn(|| flood(usize::MAX))),
            "flood_aside" => {
                let amount = number();
                thread::spawn(move || flood(amount));
            }
            "flood_with_gaps" => {
                let amount = number();
                thread::spawn(move || flood_with_gaps(amount));
            }
            "stderr" => say(text()),
            "stderr_raw" => drop(io::stderr().write_all(text().as_bytes())),
            "stderr_flood" => (0..number() / 100).for_each(|_| say(&"e".repeat(99))),
            "gate" => drop(lock(&self.gate(text()))),
            "orphan" => drop(
                me("orphan noterm")
                    .stdin(Stdio::null())
                    .stdout(Stdio::null())
                    .spawn(),
            ),
            "orphan_with_pipes" => drop(me("orphan").spawn()),
            "exit" => {
                let status = step[1].as_i64().and_then(|n| i32::try_from(n).ok());
                exit(status.expect("a status"))
            }
            "hang" => {}
            other => unix_step(other),
        }
    }

    fn gate(&self, name: &str) -> PathBuf {
        self.room.join(format!("gate.{name}"))
    }
}

/// About so many bytes of notifications.
fn flood(amount: usize) {
    let padding = "f".repeat(1000);
    let line = format!(r#"{{"jsonrpc":"2.0","method":"flood","params":{{"p":"{padding}"}}}}"#);
    for _ in 0..amount / line.len() {
        send(line.as_bytes());
    }
    send(br#"{"jsonrpc":"2.0","method":"flooded"}"#);
}

/// The same, with blank lines between: what one read brings mostly ends in them.
fn flood_with_gaps(amount: usize) {
    let padding = "f".repeat(1500);
    let line = format!(r#"{{"jsonrpc":"2.0","method":"flood","params":{{"p":"{padding}"}}}}"#);
    let piece = line + &"\n".repeat(70);
    for _ in 0..amount / piece.len() {
        send(piece.as_bytes());
    }
    send(br#"{"jsonrpc":"2.0","method":"flooded"}"#);
}

fn launch(words: &str, room: &Path) {
    let server = words.replace("launcher", "").replace("leaving", "");
    let mut child = me(&server).spawn().expect("the server starts");
    if words.contains("leaving") {
        let _open = lock(&room.join("gate.leave"));
        exit(LEFT);
    }
    pass_sigterm_on(child.id());
    exit(child.wait().ok().and_then(|s| s.code()).unwrap_or(1));
}

#[cfg(unix)]
fn unix_step(step: &str) {
    use rustix::process::{Signal, getpid, kill_process};
    let null = File::options().read(true).write(true).open("/dev/null");
    match (step, null) {
        ("close_stdout", Ok(null)) => rustix::stdio::dup2_stdout(null).expect("a copy"),
        ("close_stdin", Ok(null)) => {
            rustix::stdio::dup2_stdin(null).expect("a copy");
            say("closed my input");
            park();
        }
        ("die", _) => kill_process(getpid(), Signal::KILL).expect("a signal"),
        _ => exit(97),
    }
}

#[cfg(not(unix))]
fn unix_step(_: &str) {
    exit(97);
}

/// Runs `on_signal` at every SIGTERM; returns when it is sure to.
#[cfg(unix)]
fn at_sigterm(on_signal: impl Fn() + Send + 'static) {
    use signal_hook::consts::SIGTERM;
    use std::io::Read;
    use std::os::unix::net::UnixStream;
    let (mut wake, woken) = UnixStream::pair().expect("a pair");
    signal_hook::low_level::pipe::register(SIGTERM, woken).expect("a handler");
    thread::spawn(move || {
        while matches!(wake.read(&mut [0]), Ok(1)) {
            on_signal();
        }
    });
}

#[cfg(unix)]
fn ignore_sigterm() {
    at_sigterm(|| {});
}

#[cfg(unix)]
fn pass_sigterm_on(pid: u32) {
    use rustix::process::{Pid, Signal, kill_process};
    let pid = Pid::from_raw(i32::try_from(pid).expect("a pid")).expect("a pid");
    at_sigterm(move || {
        let _gone = kill_process(pid, Signal::TERM);
    });
}

#[cfg(not(unix))]
fn ignore_sigterm() {}

#[cfg(not(unix))]
fn pass_sigterm_on(_: u32) {}
