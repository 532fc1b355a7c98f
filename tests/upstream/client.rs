//! An MCP client that speaks lines to a server process: the real server, or a relay in front of it.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde_json::{Value, json};

use super::home::Home;

/// The command line of the server that these tests are about.
pub const SERVER: [&str; 6] = [
    "uvx",
    "--from",
    "mcpforunityserver==10.1.0",
    "mcp-for-unity",
    "--transport",
    "stdio",
];

/// Longer than anything the server waits for: an answer that is not there by then does not come.
pub const PATIENCE: Duration = Duration::from_secs(150);

/// What upstream says when it does not see the Editor that a call is for.
const MISSED: [&str; 6] = [
    "No Unity Editor instances found",
    "No Unity instances are currently connected",
    "No running Unity instance matches",
    "No Unity instance found on port",
    "does not match any running Unity editors",
    "' not found. ",
];
/// How long a test bears with that before it takes it for an answer.
const MISSES_BORNE: Duration = Duration::from_secs(20);

/// What to run as the server.
#[derive(Clone, Debug)]
pub struct Launch {
    program: OsString,
    arguments: Vec<OsString>,
    environment: Vec<(OsString, OsString)>,
}

impl Launch {
    /// The real server itself.
    pub fn direct() -> Self {
        Self::command(SERVER)
    }

    /// Any command line.
    pub fn command<S: Into<OsString>>(line: impl IntoIterator<Item = S>) -> Self {
        let mut words = line.into_iter().map(Into::into);
        Self {
            program: words.next().unwrap(),
            arguments: words.collect(),
            environment: Vec::new(),
        }
    }

    /// The relay, which by itself starts the same server.
    pub fn relay() -> Self {
        Self::command([env!("CARGO_BIN_EXE_vrc-mcp-proxy")])
    }

    /// One more environment variable.
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.into(), value.into()));
        self
    }
}

/// One line of the server's stdout.
#[derive(Clone, Debug)]
pub struct Message {
    pub raw: String,
    pub json: Value,
}

#[derive(Default)]
struct Heard {
    messages: Vec<Message>,
    stderr: String,
    exit: Option<ExitStatus>,
}

#[derive(Default)]
struct Inbox {
    heard: Mutex<Heard>,
    changed: Condvar,
}

impl Inbox {
    fn heard(&self) -> MutexGuard<'_, Heard> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, change: impl FnOnce(&mut Heard)) {
        change(&mut self.heard());
        self.changed.notify_all();
    }

    /// Waits until `wanted` finds something, at most so long.
    fn wait<T>(&self, limit: Duration, mut wanted: impl FnMut(&Heard) -> Option<T>) -> Option<T> {
        let until = Instant::now() + limit;
        let mut heard = self.heard();
        loop {
            if let Some(found) = wanted(&heard) {
                return Some(found);
            }
            let left = until.checked_duration_since(Instant::now())?;
            heard = self
                .changed
                .wait_timeout(heard, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }
}

/// A running server process and what it has said. Dropping it ends the process and its group.
pub struct Client {
    group: Pid,
    input: Option<ChildStdin>,
    inbox: Arc<Inbox>,
    last_id: u64,
}

impl Client {
    /// Starts the process and goes through the handshake.
    pub fn start(home: &Home, launch: &Launch) -> Self {
        let mut client = Self::spawn(home, launch);
        client.shake_hands();
        client
    }

    /// Goes through the handshake; returns the answer to `initialize`.
    pub fn shake_hands(&mut self) -> Answer {
        let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "rig", "version": "1"}});
        let id = self.request("initialize", &hello);
        let answer = self.answer(id);
        self.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        answer
    }

    /// Starts the process only.
    pub fn spawn(home: &Home, launch: &Launch) -> Self {
        let mut command = home.command(launch.program.to_str().unwrap());
        command
            .args(&launch.arguments)
            .envs(launch.environment.clone());
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        let mut child = command.spawn().unwrap();
        let (group, input) = (Pid::from_child(&child), child.stdin.take());
        let inbox = Arc::new(Inbox::default());
        listen(&inbox, child);
        Self {
            group,
            input,
            inbox,
            last_id: 0,
        }
    }

    /// Sends one line as it is.
    pub fn send(&mut self, line: &str) {
        let input = self.input.as_mut().unwrap();
        // A server that has just ended is found out by the wait for its answer.
        let _ = input
            .write_all(format!("{line}\n").as_bytes())
            .and_then(|()| input.flush());
    }

    /// Sends a request and returns its id.
    pub fn request(&mut self, method: &str, params: &Value) -> u64 {
        self.last_id += 1;
        self.send(
            &json!({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params})
                .to_string(),
        );
        self.last_id
    }

    /// Sends a tool call and returns its id.
    pub fn begin(&mut self, tool: &str, arguments: &Value) -> u64 {
        self.request("tools/call", &json!({"name": tool, "arguments": arguments}))
    }

    /// Calls a tool and waits for the answer, whatever it is.
    pub fn call_once(&mut self, tool: &str, arguments: &Value) -> Answer {
        let id = self.begin(tool, arguments);
        self.answer(id)
    }

    /// Calls a tool of an Editor that is there. Upstream's probe gives an Editor 0.3 s, which a busy
    /// machine exceeds; such an answer means that nothing was delivered, so the call is made again.
    pub fn call(&mut self, tool: &str, arguments: &Value) -> Answer {
        let until = Instant::now() + MISSES_BORNE;
        loop {
            let answer = self.call_once(tool, arguments);
            if !answer.missed() || Instant::now() > until {
                return answer;
            }
        }
    }

    /// `execute_code` with this snippet.
    pub fn code(&mut self, code: &str) -> Answer {
        self.call("execute_code", &json!({"action": "execute", "code": code}))
    }

    /// Waits for the answer to a request; without one the test fails, and shows what stderr said.
    pub fn answer(&self, id: u64) -> Answer {
        self.answer_within(id, PATIENCE)
            .unwrap_or_else(|| panic!("no answer to request {id}; stderr:\n{}", self.stderr()))
    }

    /// The answer to a request if it comes in time. At the server's end there is no more waiting.
    pub fn answer_within(&self, id: u64, limit: Duration) -> Option<Answer> {
        self.inbox.wait(limit, |heard| {
            let answers = |message: &&Message| {
                message.json.get("method").is_none() && message.json["id"] == id
            };
            let found = heard.messages.iter().find(answers).cloned().map(Answer);
            if found.is_none() && heard.exit.is_some() {
                Some(None)
            } else {
                found.map(Some)
            }
        })?
    }

    /// Every line of stdout so far.
    pub fn messages(&self) -> Vec<Message> {
        self.inbox.heard().messages.clone()
    }

    /// The notifications of this method so far.
    pub fn notifications(&self, method: &str) -> Vec<Value> {
        let messages = self.messages().into_iter().map(|message| message.json);
        messages
            .filter(|json| json["method"] == method && json.get("id").is_none())
            .collect()
    }

    /// Every message so far with this id that is no request.
    pub fn answers(&self, id: u64) -> Vec<Message> {
        let mut messages = self.messages();
        messages.retain(|message| message.json.get("method").is_none() && message.json["id"] == id);
        messages
    }

    pub fn stderr(&self) -> String {
        self.inbox.heard().stderr.clone()
    }

    /// Waits until stderr holds this text; the test fails when it does not come.
    pub fn wait_stderr(&self, text: &str, limit: Duration) {
        let holds = |heard: &Heard| heard.stderr.contains(text).then_some(());
        let found = self.inbox.wait(limit, holds);
        assert!(found.is_some(), "not within {limit:?} on stderr: {text}");
    }

    /// Sends a client's notice that it no longer wants the answer.
    pub fn cancel(&mut self, id: u64) {
        let notice = json!({
            "jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id, "reason": "test"},
        });
        self.send(&notice.to_string());
    }

    /// Closes the server's stdin, which is how a client leaves.
    pub fn leave(&mut self) {
        self.input = None;
    }

    /// Waits for the process to end.
    pub fn exit_within(&self, limit: Duration) -> Option<ExitStatus> {
        self.inbox.wait(limit, |heard| heard.exit)
    }

    /// Kills the process that was started, and nothing else.
    pub fn kill(&self) {
        kill_process(self.group, Signal::KILL).unwrap();
    }

    fn signal(&self, signal: Signal) {
        let _ = kill_process_group(self.group, signal);
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.leave();
        // A polite end first: a relay takes its own tree along then.
        self.signal(Signal::TERM);
        self.exit_within(Duration::from_secs(3));
        self.signal(Signal::KILL);
    }
}

/// Starts the threads that hear the process out and wait for its end.
fn listen(inbox: &Arc<Inbox>, mut child: Child) {
    let (output, mut errors) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let heard = Arc::clone(inbox);
    let reader = std::thread::spawn(move || {
        for raw in BufReader::new(output).lines().map_while(Result::ok) {
            let json = serde_json::from_str(&raw).unwrap_or_default();
            heard.note(|heard| heard.messages.push(Message { raw, json }));
        }
    });
    let heard = Arc::clone(inbox);
    std::thread::spawn(move || {
        let mut piece = [0; 4096];
        while let Ok(size @ 1..) = errors.read(&mut piece) {
            heard.note(|heard| heard.stderr += &String::from_utf8_lossy(&piece[..size]));
        }
    });
    let heard = Arc::clone(inbox);
    std::thread::spawn(move || {
        let status = child.wait().unwrap();
        // Only after the last line has been read: who sees the end has seen every answer.
        let _ = reader.join();
        heard.note(|heard| heard.exit = Some(status));
    });
}

/// The answer to a request.
#[derive(Clone, Debug)]
pub struct Answer(pub Message);

impl Answer {
    /// The result, null for a JSON-RPC error.
    pub fn result(&self) -> &Value {
        &self.0.json["result"]
    }

    /// The text blocks of a tool result, the first being upstream's own.
    pub fn texts(&self) -> Vec<&str> {
        let blocks = self.result()["content"].as_array().into_iter().flatten();
        blocks.filter_map(|block| block["text"].as_str()).collect()
    }

    /// All text of a tool result.
    pub fn text(&self) -> String {
        self.texts().join("\n")
    }

    /// What a `resources/read` found.
    pub fn read(&self) -> &str {
        self.result()["contents"][0]["text"]
            .as_str()
            .unwrap_or_default()
    }

    /// What the first text block holds as JSON; null when it is none.
    pub fn payload(&self) -> Value {
        self.texts()
            .first()
            .and_then(|text| serde_json::from_str(text).ok())
            .unwrap_or_default()
    }

    /// A snippet's value.
    pub fn value(&self) -> Value {
        self.payload()["data"]["result"].clone()
    }

    /// Whether upstream did not see the Editor.
    pub fn missed(&self) -> bool {
        let text = match self.texts().first() {
            Some(text) => text,
            None => self.read(),
        };
        MISSED.iter().any(|miss| text.contains(miss))
    }

    pub fn is_error(&self) -> bool {
        self.result()["isError"] == true
    }

    /// Whether the payload says that the call succeeded.
    pub fn succeeded(&self) -> bool {
        self.payload()["success"] == true
    }
}
