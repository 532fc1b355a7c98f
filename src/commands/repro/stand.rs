//! The stand that faults are measured on: a bare server in front of one Editor, and a scratch folder in its project.
//!
//! The server looks for Editors in a folder of its own that holds this one's heartbeat alone, so that no other Editor
//! is ever connected to, or hit. It is reached through the relay with every behaviour off, which sees to its process
//! tree. Executions are counted by files that a snippet makes longer: nothing that an Editor or a script domain forgets.

use super::target::Target;
use crate::behaviors::REGISTRY;
use crate::commands::Failure;
use crate::commands::folder::TemporaryFolder;
use crate::commands::session::{Session, request};
use crate::csharp::literal::string_literal;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long the server may take to say hello: on a first run uvx has to fetch and unpack it.
const HELLO: Duration = Duration::from_secs(300);
/// How long the server may go on not seeing an Editor that is there: its probe gives it 0.3 s (measured against
/// 10.1.0), which a busy machine exceeds. Nothing is delivered then.
const MISSES: Duration = Duration::from_secs(20);
/// How the server says that it does not see the Editor and has delivered nothing (measured against 10.1.0).
const MISSED: [&str; 4] = [
    "No Unity Editor instances found",
    "No Unity instances are currently connected",
    "not found. Available instances",
    "not found. Use mcpforunity://instances",
];
/// How often a file is looked at that a snippet writes to.
const LOOK: Duration = Duration::from_millis(100);
/// What the scratch folder's name begins with.
pub(super) const SCRATCH: &str = "VrcMcpProxyRepro_";

/// See the module.
pub(super) struct Stand {
    target: Target,
    command: Vec<String>,
    /// The folder that the server looks for Editors in.
    status: TemporaryFolder,
    session: Option<Session>,
    /// Answers that nobody has asked for yet.
    heard: Vec<Value>,
    last_id: u64,
    /// When the measurement at hand has to be over.
    limit: Instant,
    /// A word that no other run has.
    word: String,
}

impl Stand {
    /// Starts the server by `command` and makes the scratch folder.
    pub(super) fn set_up(target: Target, command: Vec<String>) -> Result<Self, Failure> {
        let status = TemporaryFolder::new()?;
        show(&target, status.path())?;
        let word = uuid::Uuid::new_v4().simple().to_string();
        let mut stand = Stand {
            target,
            command,
            status,
            session: None,
            heard: Vec::new(),
            last_id: 0,
            limit: Instant::now() + HELLO,
            word: word.chars().take(8).collect(),
        };
        stand.start()?;
        let scratch = stand.path("");
        std::fs::create_dir(&scratch).map_err(Failure::io(scratch.display().to_string()))?;
        Ok(stand)
    }

    /// A word that names things of this run.
    pub(super) fn word(&self) -> &str {
        &self.word
    }

    /// A place in the scratch folder, as an asset path.
    pub(super) fn asset(&self, name: &str) -> String {
        let path = format!("Assets/{SCRATCH}{}/{name}", self.word);
        path.trim_end_matches('/').to_owned()
    }

    /// The same on this disk.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.on_disk(&self.asset(name))
    }

    /// An asset on this disk.
    pub(super) fn on_disk(&self, asset: &str) -> PathBuf {
        self.target.root.join(asset)
    }

    /// Gives what follows so long.
    pub(super) fn within(&mut self, limit: Duration) {
        self.limit = Instant::now() + limit;
    }

    /// Sends a tool call.
    pub(super) fn begin(&mut self, tool: &str, arguments: &Value) -> Result<u64, Failure> {
        if self.session.is_none() {
            self.start()?;
        }
        self.last_id += 1;
        let params = json!({ "name": tool, "arguments": arguments });
        let line = request(self.last_id, "tools/call", &params);
        self.session()?.send(&line)?;
        Ok(self.last_id)
    }

    /// The answer to a call; `None` when the time is up first. The server is not asked again after that.
    pub(super) fn answer(&mut self, id: u64) -> Result<Option<Answer>, Failure> {
        loop {
            if let Some(at) = self.heard.iter().position(|message| message["id"] == id) {
                return Ok(Some(Answer(self.heard.swap_remove(at))));
            }
            if !self.hear(self.limit)? {
                self.leave();
                return Ok(None);
            }
        }
    }

    /// Lets so much time pass.
    pub(super) fn wait(&mut self, span: Duration) -> Result<(), Failure> {
        let until = self.limit.min(Instant::now() + span);
        while self.hear(until)? {}
        Ok(())
    }

    /// Calls a tool. A call that found no Editor was not delivered, and is made again for a while.
    pub(super) fn call(&mut self, tool: &str, arguments: &Value) -> Result<Answer, Failure> {
        let until = Instant::now() + MISSES;
        loop {
            let id = self.begin(tool, arguments)?;
            let Some(answer) = self.answer(id)? else {
                return Err(Failure::Told(format!("{tool} was not answered in time")));
            };
            if !answer.missed() || Instant::now() > until {
                return Ok(answer);
            }
        }
    }

    /// The arguments that run `code`, in the Editor that is meant and in no other.
    pub(super) fn execute(&self, code: &str) -> Value {
        let assets = string_literal(&self.target.assets);
        let here = format!(
            "if (!string.Equals(UnityEngine.Application.dataPath.Replace('\\\\', '/').TrimEnd('/'), {assets}, \
             System.StringComparison.OrdinalIgnoreCase)) throw new System.Exception(\"another Editor\");\n"
        );
        // What it does stands above for anyone to read, and cleaning up needs a blocked word.
        json!({ "action": "execute", "code": here + code, "safety_checks": false })
    }

    /// A snippet's value; a snippet that does not succeed is a failure.
    pub(super) fn value(&mut self, code: &str) -> Result<Value, Failure> {
        let answer = self.call("execute_code", &self.execute(code))?;
        if answer.succeeded() {
            Ok(answer.payload()["data"]["result"].clone())
        } else {
            let what = answer.quoted();
            Err(Failure::Told(format!("a snippet did not run: {what}")))
        }
    }

    /// A counter for the runs of one snippet.
    pub(super) fn tally(&self, name: &str) -> Tally {
        // Unity does not import what begins with a dot.
        let name = format!(".runs-{name}");
        Tally {
            path: self.path(&name),
            literal: string_literal(&format!("/{SCRATCH}{}/{name}", self.word)),
        }
    }

    /// Waits until a counter has stood still for so long; how far it came.
    pub(super) fn settled(&mut self, tally: &Tally, still: Duration) -> Result<u64, Failure> {
        let (mut runs, mut since) = (tally.runs(), Instant::now());
        while since.elapsed() < still && Instant::now() < self.limit {
            self.wait(LOOK)?;
            let now = tally.runs();
            if now != runs {
                (runs, since) = (now, Instant::now());
            }
        }
        Ok(runs)
    }

    /// Waits until a counter has moved; `false` when the time is up first.
    pub(super) fn started(&mut self, tally: &Tally) -> Result<bool, Failure> {
        while tally.runs() == 0 {
            if Instant::now() >= self.limit {
                return Ok(false);
            }
            self.wait(LOOK)?;
        }
        Ok(true)
    }

    /// Ends the server; the next call starts another.
    pub(super) fn leave(&mut self) {
        self.heard.clear();
        if let Some(session) = self.session.take() {
            // One that does not end by itself is killed.
            let _ended_or_killed = session.end(&mut Vec::new());
        }
    }

    /// Takes everything away again that was made, and says what is left.
    pub(super) fn clean_up(mut self) -> Result<(), Failure> {
        self.within(Duration::from_secs(60));
        let scratch = self.asset("");
        // The Editor's own way first, so that it does not stumble over files that are gone.
        let delete = format!(
            "return AssetDatabase.DeleteAsset({});",
            string_literal(&scratch)
        );
        let _the_disk_tells = self.value(&delete);
        let folder = self.on_disk(&scratch);
        let _the_disk_tells = std::fs::remove_dir_all(&folder);
        let _the_disk_tells = std::fs::remove_file(folder.with_extension("meta"));
        self.leave();
        if folder.exists() {
            let folder = folder.display();
            return Err(Failure::Told(format!(
                "{folder} is left and can be deleted"
            )));
        }
        Ok(())
    }

    fn start(&mut self) -> Result<(), Failure> {
        let off: Vec<&str> = REGISTRY.iter().map(|behavior| behavior.name).collect();
        let variables: Vec<(&str, OsString)> = vec![
            ("VRC_MCP_PROXY_DISABLE", off.join(",").into()),
            (
                "VRC_MCP_PROXY_UPSTREAM",
                json!(self.command).to_string().into(),
            ),
            ("UNITY_MCP_STATUS_DIR", self.status.path().into()),
        ];
        let mut session = Session::start(variables)?;
        self.last_id += 1;
        session.initialize(self.last_id, Instant::now() + HELLO)?;
        self.session = Some(session);
        let pin = json!({ "instance": self.target.identifier });
        let pinned = self.call("set_active_instance", &pin)?;
        let here = self.value("return \"here\";")?;
        if here != "here" {
            let (editor, what) = (&self.target.identifier, pinned.quoted());
            return Err(Failure::Told(format!("{editor} cannot be reached: {what}")));
        }
        Ok(())
    }

    fn session(&mut self) -> Result<&mut Session, Failure> {
        let gone = || Failure::Told("the server has ended".to_owned());
        self.session.as_mut().ok_or_else(gone)
    }

    /// Takes in the next line before `until`; `false` when there was none.
    fn hear(&mut self, until: Instant) -> Result<bool, Failure> {
        let Some(session) = &mut self.session else {
            return Ok(false);
        };
        let line = match session.line(until) {
            Ok(Some(line)) => line,
            Ok(None) => return Ok(false),
            Err(failure) => {
                self.session = None;
                return Err(failure);
            }
        };
        let message: Value = serde_json::from_str(&line).unwrap_or_default();
        if message.get("method").is_none() && message["id"].is_u64() {
            self.heard.push(message);
        }
        Ok(true)
    }
}

/// Puts the Editor into the folder that the server looks in. The second file is for the case that a probe misses the
/// Editor: without it the server tries the bridge's usual port, which may be another Editor's (10.1.0).
fn show(target: &Target, folder: &Path) -> Result<(), Failure> {
    let heartbeat = json!({
        "unity_port": target.port,
        "project_path": target.assets,
        "reloading": false,
        "reason": "ready",
        "last_heartbeat": format!("{:.7}", jiff::Timestamp::now()),
    });
    for (name, content) in [
        ("status", heartbeat),
        ("port", json!({ "unity_port": target.port })),
    ] {
        let file = folder.join(format!("unity-mcp-{name}-{}.json", target.hash));
        let written = std::fs::write(&file, content.to_string());
        written.map_err(Failure::io(file.display().to_string()))?;
    }
    Ok(())
}

/// Counts the runs of a snippet by a file that each makes one byte longer.
pub(super) struct Tally {
    path: PathBuf,
    /// The file below `Application.dataPath`, as C#.
    literal: String,
}

impl Tally {
    /// A snippet that counts itself, does `first` in its first run only, and then `rest`.
    pub(super) fn snippet(&self, first: &str, rest: &str) -> String {
        format!(
            "var runs = UnityEngine.Application.dataPath + {};\n\
             var first = !System.IO.File.Exists(runs);\n\
             System.IO.File.AppendAllText(runs, \"x\");\n\
             if (first) {{ {first} }}\n\
             {rest}",
            self.literal
        )
    }

    /// How often it has run.
    pub(super) fn runs(&self) -> u64 {
        std::fs::metadata(&self.path).map_or(0, |file| file.len())
    }
}

/// The answer to a tool call.
pub(super) struct Answer(Value);

impl Answer {
    /// All text of it.
    pub(super) fn text(&self) -> String {
        let error = self.0["error"]["message"].as_str().map(str::to_owned);
        let blocks = self.0["result"]["content"].as_array().into_iter().flatten();
        let blocks = blocks.filter_map(|block| block["text"].as_str());
        error.unwrap_or_else(|| blocks.collect::<Vec<_>>().join("\n"))
    }

    /// What its text holds as JSON; null when it is none.
    pub(super) fn payload(&self) -> Value {
        serde_json::from_str(&self.text()).unwrap_or_default()
    }

    /// Whether it claims success.
    pub(super) fn succeeded(&self) -> bool {
        self.payload()["success"] == true && self.0["result"]["isError"] != true
    }

    /// What it says, cut short and quoted.
    pub(super) fn quoted(&self) -> String {
        const LONGEST: usize = 160;
        let payload = self.payload();
        let said = ["message", "error"].map(|key| payload[key].as_str().map(str::to_owned));
        let said = said.into_iter().flatten().next();
        let said = said.unwrap_or_else(|| self.text());
        format!(
            "\"{}\"",
            crate::commands::text::clip(&said.replace('\n', " "), LONGEST)
        )
    }

    fn missed(&self) -> bool {
        let text = self.text();
        !self.succeeded() && MISSED.iter().any(|miss| text.contains(miss))
    }
}
