//! One case at play: the core with real heartbeat files in a folder of its own, and a watch over
//! every line that it sends.

use super::case::{Case, Heartbeat, kind};
use super::driver::{Driver, Sent};
use super::{clip, steps};
use bytes::Bytes;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;
use vrc_mcp_proxy::behaviors::REGISTRY;
use vrc_mcp_proxy::config::Config;
use vrc_mcp_proxy::instances::Heartbeats;
use vrc_mcp_proxy::relay::Relay;
use vrc_mcp_proxy::reply::META_KEY;
use vrc_mcp_proxy::surroundings::Files;
use vrc_mcp_proxy::wire::scan::{Top, scan};

/// How long a step that wants a line lets the clock run for it, unless it says otherwise.
const WAIT: Duration = Duration::from_secs(5);

/// Why a case did not go as it says.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Something else was seen than a step wants.
    Mismatch(String),
    /// A rule that holds in every case was broken, or the case itself cannot be played.
    Broken(String),
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Failure::Mismatch(text) | Failure::Broken(text) => f.write_str(text),
        }
    }
}

/// The facts that the answers of a case carried: behaviour and code.
pub(crate) type Facts = BTreeSet<(String, String)>;

/// A case at play.
pub(crate) struct Rig {
    pub(crate) driver: Driver,
    /// What stands for `{project}`.
    project: PathBuf,
    status: PathBuf,
    _folder: TempDir,
    problems: Vec<String>,
    /// Bytes of either side that end in no newline yet.
    partial: (Vec<u8>, Vec<u8>),
    /// How much of the history was watched.
    watched: usize,
    facts: Facts,
    /// The ids of the tool calls that the upstream got.
    forwarded: Vec<Value>,
    /// The id of the last call.
    pub(crate) last_id: Value,
    /// The snippet that the upstream got last.
    pub(crate) code: Option<String>,
    /// Lines injected ahead of the snippets so far.
    pub(crate) heads: BTreeSet<String>,
    /// The last `answer` step and its payload.
    pub(crate) answered: Option<(Map<String, Value>, Value)>,
}

/// Plays a case, with the behaviour `off` switched off besides those that the case switches off.
///
/// # Errors
/// [`Failure`] with the step and the difference. The facts seen so far come along either way.
pub(crate) fn play(case: &Case, off: Option<&str>) -> (Result<(), Failure>, Facts) {
    let mut rig = match Rig::new(case, off) {
        Ok(rig) => rig,
        Err(error) => return (Err(Failure::Broken(error)), Facts::new()),
    };
    let outcome = rig.steps(case);
    (outcome, rig.facts)
}

impl Rig {
    fn new(case: &Case, off: Option<&str>) -> Result<Self, String> {
        let io = |error: std::io::Error| error.to_string();
        let folder = tempfile::tempdir().map_err(io)?;
        let (project, status) = (folder.path().join("project"), folder.path().join("status"));
        std::fs::create_dir(&status).map_err(io)?;
        for inside in &case.folders {
            std::fs::create_dir_all(project.join(inside)).map_err(io)?;
        }
        let mut config = config(case, off, &project, &status);
        config.bind();
        let problems = config.problems.clone();
        let files = Files::new(Heartbeats::new(config.status_folder()));
        let rig = Rig {
            driver: Driver::new(Relay::new(config, REGISTRY, Box::new(files))),
            project,
            status,
            _folder: folder,
            problems,
            partial: (Vec::new(), Vec::new()),
            watched: 0,
            facts: Facts::new(),
            forwarded: Vec::new(),
            last_id: Value::from(0),
            code: None,
            heads: BTreeSet::new(),
            answered: None,
        };
        for heartbeat in &case.heartbeats {
            rig.write_heartbeat(heartbeat)?;
        }
        Ok(rig)
    }

    fn steps(&mut self, case: &Case) -> Result<(), Failure> {
        for (at, step) in case.steps.iter().enumerate() {
            let place = |what: String| {
                let step = Value::Object(step.clone()).to_string();
                format!("step {at} {}: {what}", clip(&step))
            };
            let kind = kind(step).map_err(|what| Failure::Broken(place(what)))?;
            let outcome = steps::run(self, kind, step);
            self.watch().map_err(|what| Failure::Broken(place(what)))?;
            outcome.map_err(|what| Failure::Mismatch(place(what)))?;
        }
        match self.driver.client.front() {
            None => Ok(()),
            Some(line) => {
                let line = String::from_utf8_lossy(line);
                let what = format!("behind the last step: the client also got {}", clip(&line));
                Err(Failure::Mismatch(what))
            }
        }
    }

    /// The rules that hold in every case: each line is one message, the upstream never gets a byte
    /// at which it would split the line, and a fact tells truly whether the call was forwarded.
    fn watch(&mut self) -> Result<(), String> {
        let fresh: Vec<Sent> = self.driver.history[self.watched..].to_vec();
        self.watched = self.driver.history.len();
        for sent in fresh {
            let (Sent::Client(line) | Sent::Child(line)) = &sent;
            let text = std::str::from_utf8(line).map_err(|_| "a line is not UTF-8".to_owned())?;
            let is_message = scan(text).is_ok_and(|scanned| scanned.top == Top::Object);
            let split =
                text.contains('\n') || matches!(sent, Sent::Child(_)) && text.contains('\r');
            if split || !is_message {
                return Err(format!("not one message on one line: {:?}", clip(text)));
            }
            match (&sent, serde_json::from_str::<Value>(text)) {
                (Sent::Child(_), Ok(message)) if message["method"] == "tools/call" => {
                    self.forwarded.push(message["id"].clone());
                }
                (Sent::Client(_), Ok(message)) => self.watch_facts(&message)?,
                // Too deep for a tree, or with a lone surrogate: upstream's own bytes.
                _ => {}
            }
        }
        Ok(())
    }

    fn watch_facts(&mut self, message: &Value) -> Result<(), String> {
        let facts = &message["result"]["_meta"][META_KEY];
        let seen = self.forwarded.contains(&message["id"]);
        for fact in facts.as_array().into_iter().flatten() {
            let text = |key: &str| fact[key].as_str().unwrap_or_default().to_owned();
            self.facts.insert((text("behavior"), text("code")));
            if fact["forwarded"] != seen {
                return Err(format!(
                    "a fact is untrue, the call was forwarded: {seen}; {fact}"
                ));
            }
        }
        Ok(())
    }

    /// Everything for stderr so far.
    pub(crate) fn stderr(&self) -> String {
        [&self.problems[..], &self.driver.log[..]]
            .concat()
            .join("\n")
    }

    /// Bytes of the client's; whole lines go in.
    pub(crate) fn client_sends(&mut self, bytes: &[u8]) {
        for line in whole_lines(&mut self.partial.0, bytes) {
            // A call that uses an id again is another call.
            if let Ok(message) = serde_json::from_slice::<Value>(&line)
                && message["method"].is_string()
            {
                self.forwarded.retain(|id| *id != message["id"]);
            }
            self.driver.client_sends(line);
        }
    }

    /// Bytes of the upstream's; whole lines go in.
    pub(crate) fn child_sends(&mut self, bytes: &[u8]) {
        for line in whole_lines(&mut self.partial.1, bytes) {
            self.driver.child_sends(line);
        }
    }

    /// The client's next line. The clock runs for it from deadline to deadline.
    pub(crate) fn client_line(&mut self, within_s: Option<&Value>) -> Result<Bytes, String> {
        let wait = within_s
            .and_then(Value::as_f64)
            .map_or(WAIT, Duration::from_secs_f64);
        let limit = self.driver.now().since_start + wait;
        while self.driver.client.is_empty() && self.driver.fire_next(limit) {}
        let line = self.driver.client.pop_front();
        line.ok_or_else(|| format!("the client got nothing within {} s", wait.as_secs_f64()))
    }

    /// The upstream's next line, likewise.
    pub(crate) fn child_line(&mut self) -> Result<Bytes, String> {
        let limit = self.driver.now().since_start + WAIT;
        while self.driver.child.is_empty() && self.driver.fire_next(limit) {}
        let line = self.driver.child.pop_front();
        line.ok_or_else(|| "the upstream got nothing".to_owned())
    }

    /// `{project}` filled in, in every text of a value.
    pub(crate) fn fill(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => fill(text, &self.project).into(),
            Value::Array(items) => items.iter().map(|item| self.fill(item)).collect(),
            Value::Object(fields) => {
                let filled = fields
                    .iter()
                    .map(|(key, value)| (key.clone(), self.fill(value)));
                Value::Object(filled.collect())
            }
            other => other.clone(),
        }
    }

    pub(crate) fn drop_heartbeat(&self, hash: &str) -> Result<(), String> {
        let file = self.status.join(format!("unity-mcp-status-{hash}.json"));
        std::fs::remove_file(file).map_err(|error| error.to_string())
    }

    /// Writes a heartbeat file as the bridge does, or what stands for one.
    pub(crate) fn write_heartbeat(&self, heartbeat: &Heartbeat) -> Result<(), String> {
        let hash = heartbeat.hash.as_deref();
        let named = hash.map(|hash| format!("unity-mcp-status-{hash}.json"));
        let name = heartbeat
            .file
            .clone()
            .or(named)
            .ok_or("a heartbeat has neither hash nor file")?;
        let content = match (&heartbeat.raw, &heartbeat.raw_hex) {
            (Some(raw), _) => raw.clone().into_bytes(),
            (_, Some(raw)) => hex::decode(raw).map_err(|error| error.to_string())?,
            _ => self.heartbeat_body(heartbeat)?.to_string().into_bytes(),
        };
        std::fs::write(self.status.join(name), content).map_err(|error| error.to_string())
    }

    fn heartbeat_body(&self, heartbeat: &Heartbeat) -> Result<Value, String> {
        let age = Duration::try_from_secs_f64(heartbeat.age_s.unwrap_or(0.0).abs());
        let age = i64::try_from(age.map_err(|error| error.to_string())?.as_millis());
        let age = age.map_err(|error| error.to_string())?;
        let written = match heartbeat.age_s {
            Some(seconds) if seconds < 0.0 => self.driver.now().unix_ms + age,
            _ => self.driver.now().unix_ms - age,
        };
        let stamp =
            jiff::Timestamp::from_millisecond(written).map_err(|error| error.to_string())?;
        let path = heartbeat.project_path.as_ref();
        let mut body = json!({
            "unity_port": heartbeat.unity_port.clone().unwrap_or(json!(6400)),
            "reloading": heartbeat.reloading.unwrap_or(false),
            "reason": heartbeat.reason.as_deref().unwrap_or("ready"),
            "seq": 1,
            "project_path": path.map(|path| fill(path, &self.project)),
            "project_name": heartbeat.project_name,
            "unity_version": "2022.3.22f1",
            "last_heartbeat": heartbeat.last_heartbeat.clone().unwrap_or(stamp.to_string()),
        });
        if let Some(fields) = body.as_object_mut() {
            fields.retain(|key, _| !heartbeat.drop.contains(key));
        }
        Ok(body)
    }
}

fn config(case: &Case, off: Option<&str>, project: &Path, status: &Path) -> Config {
    let mut variables: BTreeMap<&str, OsString> = BTreeMap::new();
    variables.insert("UNITY_MCP_STATUS_DIR", status.into());
    for (name, value) in &case.env {
        variables.insert(name, fill(value, project).into());
    }
    if let Some(off) = off {
        let list = variables.entry("VRC_MCP_PROXY_DISABLE").or_default();
        list.push(" ");
        list.push(off);
    }
    Config::from_env(
        variables
            .into_iter()
            .map(|(name, value)| (name.into(), value)),
    )
}

fn fill(text: &str, project: &Path) -> String {
    let project = project.to_string_lossy().replace('\\', "/");
    text.replace("{project}", &project)
}

fn whole_lines(partial: &mut Vec<u8>, bytes: &[u8]) -> Vec<Bytes> {
    partial.extend_from_slice(bytes);
    let mut lines = Vec::new();
    while let Some(at) = partial.iter().position(|&byte| byte == b'\n') {
        lines.push(Bytes::copy_from_slice(&partial[..at]));
        partial.drain(..=at);
    }
    lines
}
