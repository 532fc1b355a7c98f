//! Where a scene is played: a relay, a client on one side of it and the simulated server on the other.

use super::scenes::{EDITORS, Scene};
use super::{Played, check};
use crate::commands::Failure;
use crate::commands::folder::TemporaryFolder;
use crate::commands::session::{Session, command_json, request, this_program};
use crate::commands::simulated::{Entry, Rule, Say};
use crate::instances::hash8;
use serde_json::{Value, json};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

/// How long anything may take. Only the snippet that hangs takes long, and it has a limit of its own.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long a line on stderr may take after the answer that belongs to it.
const STDERR: Duration = Duration::from_secs(2);
/// The watchdog's seconds: long enough for a busy machine to answer the other snippets.
const WATCHDOG_S: &str = "0.8";
/// The id of the first scene's request; `initialize` and pings have others.
const FIRST_ID: u64 = 100;
/// The id of the first ping.
const FIRST_PING: u64 = 1000;

/// The running relay and all around it.
pub(super) struct Stage {
    session: Session,
    transcript: PathBuf,
    alive: PathBuf,
    read: usize,
    pings: u64,
    // Last: the files go when nobody writes them any more.
    _folder: TemporaryFolder,
}

impl Stage {
    /// Starts a relay in front of a server that knows the script of `scenes`.
    pub(super) fn set(scenes: &[Scene]) -> Result<Self, Failure> {
        let folder = TemporaryFolder::new()?;
        let at = |name: &str| folder.path().join(name);
        let (script, transcript, alive) = (at("script.json"), at("transcript"), at("alive"));
        write(&script, &json!(rules(scenes)))?;
        let status = at("heartbeats");
        std::fs::create_dir(&status).map_err(Failure::io("the heartbeat folder"))?;
        for (name, path) in EDITORS {
            heartbeat(&status, name, path)?;
        }
        let option = |name: &'static str| Path::new(name);
        let command = command_json(&[
            &this_program()?,
            option("simulated-upstream"),
            option("--script"),
            &script,
            option("--transcript"),
            &transcript,
            option("--alive"),
            &alive,
        ])?;
        let mut session = Session::start(vec![
            ("VRC_MCP_PROXY_UPSTREAM", command),
            ("VRC_MCP_PROXY_EXECUTE_TIMEOUT_S", WATCHDOG_S.into()),
            ("UNITY_MCP_STATUS_DIR", status.into()),
        ])?;
        session.initialize(1, Instant::now() + PATIENCE)?;
        let mut stage = Stage {
            session,
            transcript,
            alive,
            read: 0,
            pings: 0,
            _folder: folder,
        };
        // What was said so far is no scene.
        stage.ping()?;
        stage.server_side()?;
        Ok(stage)
    }

    /// Plays one scene.
    pub(super) fn play(&mut self, number: usize, scene: &Scene) -> Result<Played, Failure> {
        let id = FIRST_ID + number as u64;
        let sent = request(id, scene.method, &scene.params);
        self.session.send(&sent)?;
        let mut told = Vec::new();
        self.session
            .answer(id, Instant::now() + PATIENCE, &mut told)?;
        told.extend(self.ping()?);
        let (got, said) = self.server_side()?;
        let stderr = scene
            .stderr
            .map(|text| self.session.logged(text, Instant::now() + STDERR));
        let mut not_as_told = Vec::new();
        check::server(scene, &sent, &got, &mut not_as_told);
        check::client(scene, &said, &told, &mut not_as_told);
        if stderr == Some(None) {
            not_as_told.push("the line is not on stderr".to_owned());
        }
        Ok(Played {
            title: scene.title,
            about: scene.about,
            forwarded_unchanged: got == [sent.clone()],
            // Text that is no message has no place in the client's stream.
            answered_unchanged: !said.is_empty() && told == check::only_messages(&said),
            client_sent: values(&[sent]),
            upstream_got: values(&got),
            upstream_said: values(&said),
            client_told: values(&told),
            stderr: stderr.flatten(),
            not_as_told,
        })
    }

    /// Plays the end: the client closes its stream.
    pub(super) fn end(self) -> Result<Played, Failure> {
        let mut not_as_told = Vec::new();
        let (transcript, alive, read) = (self.transcript, self.alive, self.read);
        let mut told = Vec::new();
        let status = self.session.end(&mut told)?;
        if !status.success() {
            not_as_told.push(format!("the relay ended with {status}"));
        }
        if !told.is_empty() {
            not_as_told.push("the client was told something more".to_owned());
        }
        if !is_gone(alive) {
            not_as_told.push("the server's process is still there".to_owned());
        }
        let heard_the_end = entries(&transcript)?[read..].contains(&Entry::End);
        let got = if heard_the_end {
            "the end of its input"
        } else {
            "the request to end"
        };
        let mut remarks = values(&told);
        remarks.push(json!(format!("(its stream ends; the relay's {status})")));
        Ok(Played {
            title: "The client leaves, and nothing stays behind",
            about: "A server that is left alone goes on sending a hung command to the Editor.",
            client_sent: vec![json!("(closes its stream)")],
            upstream_got: vec![json!(format!("({got})"))],
            upstream_said: vec![json!("(ends)")],
            client_told: remarks,
            not_as_told,
            ..Played::default()
        })
    }

    /// Asks the server for a sign of life. When it comes, all that went before has been written down.
    /// Returns what else the client was told meanwhile.
    fn ping(&mut self) -> Result<Vec<String>, Failure> {
        let id = FIRST_PING + self.pings;
        self.pings += 1;
        self.session.send(&request(id, "ping", &json!({})))?;
        let mut told = Vec::new();
        self.session
            .answer(id, Instant::now() + PATIENCE, &mut told)?;
        told.pop();
        Ok(told)
    }

    /// What the server got and said since the last look, without pings.
    fn server_side(&mut self) -> Result<(Vec<String>, Vec<String>), Failure> {
        let entries = entries(&self.transcript)?;
        let (mut got, mut said) = (Vec::new(), Vec::new());
        for entry in entries.into_iter().skip(self.read) {
            self.read += 1;
            match entry {
                Entry::Got(line) if !is_ping(&line) => got.push(line),
                Entry::Said(line) if !is_ping(&line) => said.push(line),
                _ => {}
            }
        }
        Ok((got, said))
    }
}

fn is_ping(line: &str) -> bool {
    let id = |message: Value| message["id"].as_u64();
    serde_json::from_str(line)
        .ok()
        .and_then(id)
        .is_some_and(|id| id >= FIRST_PING)
}

/// Whether the process that keeps the file locked ends soon.
fn is_gone(alive: PathBuf) -> bool {
    let (sender, unlocked) = channel();
    std::thread::spawn(move || {
        let lock = File::open(alive).and_then(|file| file.lock());
        let _too_late = sender.send(lock.is_ok());
    });
    unlocked.recv_timeout(PATIENCE) == Ok(true)
}

/// Lines as JSON where they are, and as strings where not.
fn values(lines: &[String]) -> Vec<Value> {
    let value = |line: &String| serde_json::from_str(line).unwrap_or_else(|_| json!(line));
    lines.iter().map(value).collect()
}

fn rules(scenes: &[Scene]) -> Vec<Rule> {
    let rule = |method: &str, id: Option<u64>, say: Vec<Say>| Rule {
        method: method.to_owned(),
        id,
        once: false,
        say,
    };
    let hello = json!({
        "protocolVersion": "2025-06-18",
        "capabilities": { "tools": { "listChanged": true } },
        "serverInfo": { "name": "simulated", "version": "0" },
    });
    let mut rules = vec![
        rule("initialize", None, vec![Say::Result(hello)]),
        rule("ping", None, vec![Say::Result(json!({}))]),
    ];
    let scenes = scenes.iter().zip(FIRST_ID..);
    rules.extend(scenes.map(|(scene, id)| rule(scene.method, Some(id), scene.says.clone())));
    rules
}

/// Writes a heartbeat file as an Editor does.
fn heartbeat(folder: &Path, name: &str, assets: &str) -> Result<(), Failure> {
    let hash = hash8(assets);
    let file = folder.join(format!("unity-mcp-status-{hash}.json"));
    let body = json!({
        "unity_port": 6400,
        "reloading": false,
        "reason": "ready",
        "seq": 1,
        "project_path": assets,
        "project_name": name,
        "unity_version": "2022.3.22f1",
        "last_heartbeat": jiff::Timestamp::now().to_string(),
    });
    write(&file, &body)
}

fn write(file: &Path, content: &Value) -> Result<(), Failure> {
    std::fs::write(file, content.to_string()).map_err(Failure::io(file.display().to_string()))
}

fn entries(transcript: &Path) -> Result<Vec<Entry>, Failure> {
    let text = std::fs::read_to_string(transcript).map_err(Failure::io("the transcript"))?;
    let lines = text.lines().map(serde_json::from_str);
    lines
        .collect::<Result<_, _>>()
        .map_err(|error| Failure::Told(error.to_string()))
}
