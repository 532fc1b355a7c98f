//! The server of the demo: upstream, simulated, in front of simulated Editors.
//!
//! It sends commands to them again where upstream does, as often, and tells its client what upstream tells it (measured
//! against 10.1.0). It does not wait as long: commands that come again come at once.

use super::unity::{Done, Editor};
use crate::commands::Failure;
use crate::commands::print;
use crate::instances::Heartbeats;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Upstream waits so many seconds for a command, then sends it again.
const WAITS_S: u32 = 30;
/// How often it sends a command that takes longer.
const SENT_IF_SLOW: usize = 6;
/// How often it sends one whose answer has the letters "reload".
const SENT_IF_RELOAD: usize = 40;
/// How long after the end of its input a hung command is sent again, and the server goes. Upstream goes on for 20 s
/// and more. The proxy asks its server to go after 0.3 s; on Windows, where it cannot, it waits another second.
const AFTER_THE_END: Duration = Duration::from_millis(if cfg!(windows) { 1700 } else { 1000 });

/// What it says when no Editor is open, and when several are and none was ever named.
const NO_EDITOR: &str =
    "No Unity Editor instances found. Please ensure Unity is running with MCP for Unity bridge.";
const SEVERAL: &str = "Multiple Unity instances are connected and none is selected.";

/// The arguments.
#[derive(clap::Args)]
pub(in crate::commands) struct Options {
    /// A folder with the Editors' heartbeats in it
    folder: PathBuf,
}

/// What is in the server's folder.
pub(super) struct Place(pub(super) PathBuf);

impl Place {
    /// The Editors' heartbeat files.
    pub(super) fn heartbeats(&self) -> PathBuf {
        self.0.join("heartbeats")
    }

    /// Where the server writes down what the Editors get, a JSON value a line.
    pub(super) fn journal(&self) -> PathBuf {
        self.0.join("journal")
    }

    /// A file that the server keeps locked while it lives.
    pub(super) fn alive(&self) -> PathBuf {
        self.0.join("alive")
    }
}

/// A line of the journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Entry {
    /// A command reached an Editor.
    Delivery {
        /// The project's name.
        editor: String,
        /// What the Editor did.
        did: String,
    },
    /// The server's input ended.
    End,
}

struct Server {
    place: Place,
    journal: File,
    editors: HashMap<String, Editor>,
    /// The Editor that the session is pinned to.
    pinned: Option<String>,
    /// The Editor that a call named last.
    named: Option<String>,
    /// A command that got no answer, and its Editor.
    hung: Option<(String, String, Value)>,
}

/// Serves until the input ends, and longer while a command hangs.
pub(in crate::commands) fn run(options: &Options) -> Result<u8, Failure> {
    let place = Place(options.folder.clone());
    let alive = create(&place.alive())?;
    alive.lock().map_err(failed(&place.alive()))?;
    let mut server = Server {
        journal: create(&place.journal())?,
        place,
        editors: HashMap::new(),
        pinned: None,
        named: None,
        hung: None,
    };
    for line in io::stdin().lock().lines() {
        let line = line.map_err(Failure::io("stdin cannot be read"))?;
        let message: Value =
            serde_json::from_str(&line).map_err(|e| Failure::Told(e.to_string()))?;
        if let Some(result) = server.answer(&message)? {
            let answer = json!({ "jsonrpc": "2.0", "id": message["id"], "result": result });
            print(&format!("{answer}\n"))?;
        }
    }
    server.write(&Entry::End)?;
    server.outlive()?;
    Ok(0)
}

impl Server {
    /// The result for a request; `None` for anything else, and for one that hangs.
    fn answer(&mut self, message: &Value) -> Result<Option<Value>, Failure> {
        let params = &message["params"];
        Ok(match message["method"].as_str() {
            Some("initialize") => Some(json!({
                "protocolVersion": "2025-06-18",
                "capabilities": { "tools": { "listChanged": true } },
                "serverInfo": { "name": "simulated", "version": "0" },
            })),
            Some("ping") => Some(json!({})),
            Some("tools/call") => {
                let tool = params["name"].as_str().unwrap_or_default();
                self.call(tool, &params["arguments"])?
            }
            _ => None,
        })
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Result<Option<Value>, Failure> {
        if tool == "set_active_instance" {
            let name = arguments["instance"].as_str().unwrap_or_default();
            self.pinned = Some(name.to_owned());
            return Ok(Some(payload(&json!({
                "success": true,
                "message": format!("Active instance set to {name}"),
                "data": { "instance": name },
            }))));
        }
        match self.editor_for(arguments) {
            Ok(editor) => self.deliver(&editor, tool, arguments),
            Err(error) => Ok(Some(payload(&no_answer(&error, "data=None hint=None")))),
        }
    }

    /// The project that a call goes to: the one it names, the pinned one, the one that was named last. When that is
    /// closed, another that is open.
    fn editor_for(&mut self, arguments: &Value) -> Result<String, String> {
        let called = arguments["unity_instance"].as_str().map(str::to_owned);
        if called.is_some() {
            self.named.clone_from(&called);
        }
        let wanted = called.or(self.pinned.clone()).or(self.named.clone());
        let open = Heartbeats::new(Some(self.place.heartbeats())).read();
        let editor = match (wanted, open.as_slice()) {
            (_, []) => return Err(NO_EDITOR.to_owned()),
            (Some(name), [any, ..]) => open.iter().find(|e| e.identifier() == name).unwrap_or(any),
            (None, [only]) => only,
            (None, _) => return Err(SEVERAL.to_owned()),
        };
        Ok(editor.project_name.clone().unwrap_or_default())
    }

    /// Sends a command, again where upstream does, and says what its client is told.
    fn deliver(
        &mut self,
        editor: &str,
        tool: &str,
        arguments: &Value,
    ) -> Result<Option<Value>, Failure> {
        let Some(first) = self.send(editor, tool, arguments)? else {
            self.hung = Some((editor.to_owned(), tool.to_owned(), arguments.clone()));
            return Ok(None);
        };
        if first.takes_s > WAITS_S {
            // They queue in the Editor. When it is quickly done with them, the last one is answered in time.
            let (mut queued_s, mut last) = (0, first);
            for _ in 1..SENT_IF_SLOW {
                if let Some(done) = self.send(editor, tool, arguments)? {
                    queued_s += done.takes_s;
                    last = done;
                }
            }
            return Ok(Some(match queued_s {
                0 => payload(&last.answer),
                _ => raised(tool, "Timeout receiving Unity response"),
            }));
        }
        let says = |key: &str| {
            first.answer[key]
                .as_str()
                .unwrap_or_default()
                .to_lowercase()
        };
        if says("message").contains("reload") || says("error").contains("reload") {
            for _ in 1..SENT_IF_RELOAD {
                self.send(editor, tool, arguments)?;
            }
            let data = "data={'reason': 'reloading', 'retry_after_ms': 250} hint='retry'";
            let answer = no_answer("Unity is reloading; please retry", data);
            return Ok(Some(payload(&answer)));
        }
        Ok(Some(payload(&first.answer)))
    }

    /// Goes on without a client while a command hangs.
    #[allow(
        clippy::disallowed_methods,
        reason = "that this process is there a while longer is what is shown"
    )]
    fn outlive(&mut self) -> Result<(), Failure> {
        if let Some((editor, tool, arguments)) = self.hung.take() {
            std::thread::sleep(AFTER_THE_END);
            self.send(&editor, &tool, &arguments)?;
        }
        Ok(())
    }

    /// Sends a command once.
    fn send(
        &mut self,
        editor: &str,
        tool: &str,
        arguments: &Value,
    ) -> Result<Option<Done>, Failure> {
        let project = self.editors.entry(editor.to_owned());
        let done = project.or_insert_with(Editor::open).run(tool, arguments);
        let did = match &done {
            Some(done) => done.did.clone(),
            None => "never came back from compiling it".to_owned(),
        };
        self.write(&Entry::Delivery {
            editor: editor.to_owned(),
            did,
        })?;
        Ok(done)
    }

    fn write(&mut self, entry: &Entry) -> Result<(), Failure> {
        let line = serde_json::to_string(entry).map_err(|e| Failure::Told(e.to_string()))?;
        // One write for a line: a reader never sees half of one.
        self.journal
            .write_all(format!("{line}\n").as_bytes())
            .map_err(Failure::io("the journal cannot be written"))
    }
}

/// A tool's result: the payload as text and again as an object.
fn payload(payload: &Value) -> Value {
    json!({
        "content": [{ "type": "text", "text": payload.to_string() }],
        "structuredContent": payload,
        "isError": false,
    })
}

/// A tool's result when the tool itself failed.
fn raised(tool: &str, error: &str) -> Value {
    let text = format!("Error calling tool '{tool}': {error}");
    json!({ "content": [{ "type": "text", "text": text }], "isError": true })
}

/// The payload when no answer came from an Editor: upstream's own structure, printed into `message`.
fn no_answer(error: &str, rest: &str) -> Value {
    json!({ "success": false, "message": format!("success=False message=None error='{error}' {rest}") })
}

fn create(path: &Path) -> Result<File, Failure> {
    File::create(path).map_err(failed(path))
}

fn failed(path: &Path) -> impl FnOnce(io::Error) -> Failure + use<> {
    Failure::io(path.display().to_string())
}
