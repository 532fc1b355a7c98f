//! Starts the relay and plays its client.

use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel, sync_channel};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The environment variable that says what a scripted process is.
pub(crate) const WORDS: &str = "PROCESS_TEST_CHILD";
/// The one that names the folder with the locks.
pub(crate) const ROOM: &str = "PROCESS_TEST_ROOM";
/// What the names of the locks begin with that processes hold as long as they live.
pub(crate) const ALIVE: &str = "alive.";
/// Longer than anything here takes on a busy machine.
pub(crate) const LONG: Duration = Duration::from_secs(60);
/// The same for the end of a killed process. Well below a minute: a scripted process is a test to the
/// test harness, which after a minute says on stdout that it still runs, and ends it when that is broken.
const GONE: Duration = Duration::from_secs(20);

/// Opens a file and waits until nobody else holds its lock.
pub(crate) fn lock(path: &Path) -> File {
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path)
        .expect("a lock file");
    file.lock().expect("a lock");
    file
}

/// The command of a scripted process.
pub(crate) fn me(words: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this executable"));
    command.args(MY_ARGUMENTS).env(WORDS, words);
    command
}

/// What makes this executable a scripted process.
pub(crate) const MY_ARGUMENTS: [&str; 4] = ["--ignored", "--exact", "child_entry", "--nocapture"];

/// The JSON array that names a scripted process as the upstream.
pub(crate) fn my_command() -> String {
    let exe = std::env::current_exe().expect("this executable");
    let mut words = vec![exe.to_str().expect("a path in UTF-8").to_owned()];
    words.extend(MY_ARGUMENTS.map(str::to_owned));
    json!(words).to_string()
}

/// A relay to be started.
pub(crate) struct Builder {
    command: Command,
    room: TempDir,
    held: Vec<(String, File)>,
    read_stdout: bool,
    read_stderr: bool,
}

/// The relay ahead of a scripted server.
pub(crate) fn relay() -> Builder {
    Builder::new(Command::new(env!("CARGO_BIN_EXE_vrc-mcp-proxy")))
}

impl Builder {
    /// The same with the relay's command in another one.
    pub(crate) fn new(mut command: Command) -> Self {
        let room = tempfile::tempdir().expect("a folder");
        let leash = lock(&room.path().join("leash"));
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("VRC_MCP_PROXY_") {
                command.env_remove(name);
            }
        }
        command
            .env("VRC_MCP_PROXY_UPSTREAM", my_command())
            .env("UNITY_MCP_STATUS_DIR", room.path().join("status"))
            .env(WORDS, "server")
            .env(ROOM, room.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        Builder {
            command,
            room,
            held: vec![("leash".to_owned(), leash)],
            read_stdout: true,
            read_stderr: true,
        }
    }

    /// What kind of process the upstream is.
    pub(crate) fn upstream_is(mut self, words: &str) -> Self {
        self.command.env(WORDS, words);
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl AsRef<std::ffi::OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    pub(crate) fn without_env(mut self, name: &str) -> Self {
        self.command.env_remove(name);
        self
    }

    /// The folder that the relay is started in.
    pub(crate) fn folder(mut self, folder: &Path) -> Self {
        self.command.current_dir(folder);
        self
    }

    /// Closes a gate until the test opens it.
    pub(crate) fn gate(mut self, name: &str) -> Self {
        let file = lock(&self.room.path().join(format!("gate.{name}")));
        self.held.push((name.to_owned(), file));
        self
    }

    /// Another stdin than a pipe.
    #[cfg(unix)]
    pub(crate) fn stdin(mut self, stdin: impl Into<Stdio>) -> Self {
        self.command.stdin(stdin);
        self
    }

    /// Another stdout than a pipe.
    #[cfg(unix)]
    pub(crate) fn stdout(mut self, stdout: impl Into<Stdio>) -> Self {
        self.command.stdout(stdout);
        self
    }

    /// Another stderr than a pipe.
    #[cfg(unix)]
    pub(crate) fn stderr(mut self, stderr: impl Into<Stdio>) -> Self {
        self.command.stderr(stderr);
        self
    }

    /// The client does not read its answers until [`Session::read_stdout`].
    pub(crate) fn stdout_unread(mut self) -> Self {
        self.read_stdout = false;
        self
    }

    /// The client does not read stderr until [`Session::read_stderr`].
    pub(crate) fn stderr_unread(mut self) -> Self {
        self.read_stderr = false;
        self
    }

    pub(crate) fn start(mut self) -> Session {
        let process = self.command.spawn().expect("the relay starts");
        let mut session = Session {
            stdin: None,
            process,
            stdout: None,
            stderr: None,
            room: self.room,
            held: self.held,
        };
        session.stdin = session.process.stdin.take();
        if self.read_stdout {
            session.read_stdout();
        }
        if self.read_stderr {
            session.read_stderr();
        }
        session
    }

    /// Starts the relay and waits until its server is up.
    pub(crate) fn start_up(self) -> Session {
        let session = self.start();
        session.says("server up");
        session
    }
}

/// A running relay.
pub(crate) struct Session {
    pub(crate) process: Child,
    pub(crate) stdin: Option<ChildStdin>,
    stdout: Option<Lines>,
    stderr: Option<Lines>,
    room: TempDir,
    held: Vec<(String, File)>,
}

impl Session {
    /// Sends a line; the newline is added.
    pub(crate) fn send(&mut self, line: impl AsRef<[u8]>) {
        let line = [line.as_ref(), b"\n"].concat();
        self.send_raw(&line);
    }

    pub(crate) fn send_raw(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().expect("an open stdin");
        stdin.write_all(bytes).expect("the relay reads");
    }

    /// A tool call that has the server take `steps`.
    pub(crate) fn call(&mut self, id: u64, steps: &Value) {
        self.send(call(id, steps));
    }

    /// Another request that has the server take `steps`.
    pub(crate) fn ask(&mut self, id: u64, steps: &Value) {
        self.send(ask(id, steps));
    }

    pub(crate) fn close(&mut self) {
        self.stdin = None;
    }

    pub(crate) fn read_stdout(&mut self) {
        self.stdout = self.process.stdout.take().map(Lines::of);
    }

    pub(crate) fn read_stderr(&mut self) {
        self.stderr = self.process.stderr.take().map(Lines::of);
    }

    /// Goes on reading the lines for the client, and forgets them.
    pub(crate) fn discard(&mut self) {
        if let Some(Lines(lines)) = self.stdout.take() {
            thread::spawn(move || lines.iter().for_each(drop));
        }
    }

    /// Goes on reading stderr, and forgets it.
    pub(crate) fn discard_stderr(&mut self) {
        if let Some(Lines(lines)) = self.stderr.take() {
            thread::spawn(move || lines.iter().for_each(drop));
        }
    }

    /// The next line for the client; `None` at the end.
    fn next_line(&self) -> Option<Vec<u8>> {
        let line = self.stdout.as_ref().expect("stdout is read").next()?;
        let text = String::from_utf8_lossy(&line);
        assert!(!text.contains('\r'), "a CR on stdout: {text:?}");
        Some(line)
    }

    /// The next line for the client.
    pub(crate) fn line(&self) -> Vec<u8> {
        self.next_line().expect("a line of stdout")
    }

    /// The next line for the client as JSON.
    pub(crate) fn message(&self) -> Value {
        let line = self.line();
        serde_json::from_slice(&line)
            .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&line)))
    }

    /// The lines for the client until its stream ends.
    pub(crate) fn rest(&self) -> Vec<Value> {
        let parse = |line: Vec<u8>| serde_json::from_slice(&line).expect("JSON");
        std::iter::from_fn(|| self.next_line()).map(parse).collect()
    }

    /// Waits for a line of stderr that holds `text`, and returns it.
    pub(crate) fn says(&self, text: &str) -> String {
        let lines = self.stderr.as_ref().expect("stderr is read");
        let mut seen = String::new();
        while let Some(line) = lines.next() {
            let line = String::from_utf8_lossy(&line).into_owned();
            if line.contains(text) {
                return line;
            }
            seen.push_str(&line);
            seen.push('\n');
        }
        panic!("stderr ended without {text:?}:\n{seen}");
    }

    /// What stands on stderr until it ends.
    pub(crate) fn log(&self) -> String {
        let lines = self.stderr.as_ref().expect("stderr is read");
        let lines: Vec<Vec<u8>> = std::iter::from_fn(|| lines.next()).collect();
        String::from_utf8_lossy(&lines.join(&b'\n')).into_owned()
    }

    /// Waits for the relay's end. Returns its status and how long that took.
    pub(crate) fn end(&mut self) -> (ExitStatus, Duration) {
        let start = Instant::now();
        loop {
            if let Some(status) = self.process.try_wait().expect("a status") {
                return (status, start.elapsed());
            }
            assert!(start.elapsed() < LONG, "the relay does not end");
            // std knows no wait with a limit.
            thread::park_timeout(Duration::from_millis(1));
        }
    }

    /// Waits for the relay's end and returns its exit code.
    pub(crate) fn code(&mut self) -> i32 {
        self.end().0.code().expect("the relay ends by itself")
    }

    /// Lets a gate open.
    pub(crate) fn open(&mut self, gate: &str) {
        self.held.retain(|(name, _)| name != gate);
    }

    /// Waits until the process of a role that was up is gone. Returns how long that took.
    pub(crate) fn gone(&self, role: &str) -> Duration {
        let path: PathBuf = self.room.path().join(format!("{ALIVE}{role}"));
        assert!(path.exists(), "{role} was never up");
        let start = Instant::now();
        let (done, wait) = channel();
        thread::spawn(move || {
            let _lock = lock(&path);
            let _too_late = done.send(());
        });
        wait.recv_timeout(GONE)
            .unwrap_or_else(|_| panic!("{role} lives on"));
        start.elapsed()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _gone = self.process.kill();
        let _reaped = self.process.wait();
    }
}

/// A tool call that has the server take `steps`, as a line.
pub(crate) fn call(id: u64, steps: &Value) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"manage_editor","arguments":{{"action":"x","do":{steps}}}}}}}"#
    )
}

/// A tool call that names its Editor, and so waits for what is in flight.
pub(crate) fn named(id: u64, steps: &Value) -> String {
    call(id, steps).replace(r#""do":"#, r#""unity_instance":"6400","do":"#)
}

/// Another request that has the server take `steps`, as a line.
pub(crate) fn ask(id: u64, steps: &Value) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"test","params":{{"do":{steps}}}}}"#)
}

/// The lines of a stream, read by a thread of their own.
pub(crate) struct Lines(Receiver<Vec<u8>>);

impl Lines {
    pub(crate) fn of(stream: impl Read + Send + 'static) -> Self {
        // Short, so that what a test does not take stays in the pipe.
        let (sender, lines) = sync_channel(100);
        thread::spawn(move || {
            let mut stream = BufReader::new(stream);
            loop {
                let mut line = Vec::new();
                match stream.read_until(b'\n', &mut line) {
                    Ok(1..) => {}
                    _ => return,
                }
                if line.last() == Some(&b'\n') {
                    line.pop();
                }
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Lines(lines)
    }

    /// The next line; `None` at the end.
    pub(crate) fn next(&self) -> Option<Vec<u8>> {
        match self.0.recv_timeout(LONG) {
            Ok(line) => Some(line),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("no line in {LONG:?}"),
        }
    }
}
