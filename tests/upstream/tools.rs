//! The Editor's tools: `execute_code` in full, of the others what the tests call. Answers have the
//! bridge's shapes, its known faults included.

use std::sync::Arc;
use std::time::Instant;

use serde_json::{Value, json};

use super::assets;
use super::csharp_host::Host;
use super::scenes;
use super::state::{Life, Shared, UNITY, stamp};

/// What the bridge takes a snippet for dangerous by, as substrings and whatever the case.
const BLOCKED: [&str; 12] = [
    "System.IO.File.Delete",
    "System.IO.Directory.Delete",
    "FileUtil.DeleteFileOrDirectory",
    "AssetDatabase.DeleteAsset",
    "AssetDatabase.MoveAssetToTrash",
    "EditorApplication.Exit",
    "Process.Start",
    "Process.Kill",
    "while(true)",
    "while (true)",
    "for(;;)",
    "for (;;)",
];

/// One built-in tool of each group that the server gates: enough for it to keep the group listed.
const GROUPS: [(&str, &str); 10] = [
    ("animation", "manage_animation"),
    ("asset_gen", "generate_image"),
    ("core", "manage_asset"),
    ("docs", "unity_reflect"),
    ("probuilder", "manage_probuilder"),
    ("profiling", "manage_profiler"),
    ("scripting_ext", "execute_code"),
    ("testing", "run_tests"),
    ("ui", "manage_ui"),
    ("vfx", "manage_vfx"),
];

/// The bridge's limit in UTF-16 units.
const LONGEST_CODE: usize = 50_000;

struct Past {
    code: String,
    safety: bool,
    shown: Value,
}

/// The tools of one Editor, with what belongs to its current script domain.
pub struct Tools {
    shared: Arc<Shared>,
    domain: u64,
    host: Option<Host>,
    history: Vec<Past>,
}

pub fn success(message: impl Into<String>, data: Value) -> Value {
    let mut result = json!({"success": true, "message": message.into()});
    if !data.is_null() {
        result["data"] = data;
    }
    result
}

/// The bridge says the same text under two keys.
pub fn failure(text: impl Into<String>) -> Value {
    let text = text.into();
    json!({"success": false, "code": text, "error": text})
}

fn failure_with(text: impl Into<String>, data: Value) -> Value {
    let mut result = failure(text);
    result["data"] = data;
    result
}

/// A text argument; absent, null and other types are the empty one.
pub fn text<'a>(params: &'a Value, key: &str) -> &'a str {
    params[key].as_str().unwrap_or_default()
}

impl Tools {
    pub fn new(shared: Arc<Shared>) -> Self {
        Self {
            shared,
            domain: 0,
            host: None,
            history: Vec::new(),
        }
    }

    /// Runs one command.
    ///
    /// # Errors
    /// What the bridge answers as `status: error`: a handler that failed, an unknown command.
    pub fn run(&mut self, kind: &str, params: &Value) -> Result<Value, String> {
        let domain = self.shared.state().domain;
        if domain != self.domain {
            self.domain = domain;
            self.host = None;
            self.history.clear();
        }
        let mended = self.shared.state().mended;
        let shared = Arc::clone(&self.shared);
        let root = &shared.site.root;
        let look = &mut |code: &str| self.look(code);
        match kind {
            "execute_code" => self.execute_code(params),
            "manage_asset" => Ok(assets::manage(root, params, mended)),
            "manage_camera" => Ok(assets::screenshot(root, params)),
            "manage_scene" => scenes::manage_scene(root, params, mended, look),
            "manage_gameobject" => scenes::manage_gameobject(params, mended, look),
            "read_console" => scenes::read_console(params, mended, look),
            "refresh_unity" => Ok(success(
                "Refresh requested.",
                json!({"refresh_triggered": true, "resulting_state": "idle"}),
            )),
            "get_editor_state" => Ok(self.editor_state()),
            "get_project_info" => Ok(self.project_info()),
            "get_tool_states" => Ok(tool_states()),
            _ => Err(format!("Unknown or unsupported command type: {kind}")),
        }
    }

    fn execute_code(&mut self, params: &Value) -> Result<Value, String> {
        let safety = params["safety_checks"].as_bool().unwrap_or(true);
        match text(params, "action").to_lowercase().as_str() {
            "execute" => self.execute(text(params, "code"), safety, text(params, "compiler")),
            "get_history" => Ok(self.list_history(params["limit"].as_u64().unwrap_or(10))),
            "clear_history" => {
                let count = self.history.drain(..).count();
                Ok(success(
                    format!("Cleared {count} history entries."),
                    Value::Null,
                ))
            }
            "replay" => {
                let index = params["index"]
                    .as_u64()
                    .and_then(|index| usize::try_from(index).ok());
                match index.and_then(|index| self.history.get(index)) {
                    Some(past) => {
                        let (code, safety) = (past.code.clone(), past.safety);
                        self.execute(&code, safety, "")
                    }
                    None if self.history.is_empty() => {
                        Ok(failure("No execution history to replay."))
                    }
                    None => Ok(failure(format!(
                        "Invalid history index. Valid range: 0-{}",
                        self.history.len() - 1
                    ))),
                }
            }
            other => Ok(failure(format!(
                "Unknown action: '{other}'. Valid actions: execute, get_history, clear_history, replay"
            ))),
        }
    }

    fn execute(&mut self, code: &str, safety: bool, compiler: &str) -> Result<Value, String> {
        if code.trim().is_empty() {
            return Ok(failure("Required parameter 'code' is missing or empty."));
        }
        if code.encode_utf16().count() > LONGEST_CODE {
            return Ok(failure(format!(
                "Code exceeds maximum length of {LONGEST_CODE} characters."
            )));
        }
        let lower = code.to_lowercase();
        if let Some(hit) = BLOCKED
            .iter()
            .find(|pattern| safety && lower.contains(&pattern.to_lowercase()))
        {
            return Ok(failure(format!(
                "Blocked pattern detected: Code contains blocked pattern: '{hit}'. \
                 Disable safety checks with safety_checks=false if this is intentional."
            )));
        }
        let began = Instant::now();
        let result = if compiler == "roslyn" {
            failure(
                "Roslyn (Microsoft.CodeAnalysis) is not available. Install it via NuGet or use compiler='codedom'.",
            )
        } else {
            outcome(&self.snippet(code)?)
        };
        let preview = match result["error"].as_str() {
            Some(error) => error.to_owned(),
            None => format!(
                "{{ result = {}, compiler = codedom }}",
                result["data"]["result"]
            ),
        };
        let shown = json!({
            "codePreview": cut(code, 500),
            "success": result["success"],
            "resultPreview": cut(&preview, 200),
            "elapsedMs": began.elapsed().as_millis(),
            "timestamp": stamp(),
            "safetyChecksEnabled": safety,
            "compiler": if compiler.is_empty() { "auto" } else { compiler },
        });
        self.history.push(Past {
            code: code.to_owned(),
            safety,
            shown,
        });
        Ok(result)
    }

    fn list_history(&self, limit: u64) -> Value {
        let (total, limit) = (
            self.history.len(),
            usize::try_from(limit.clamp(1, 50)).unwrap(),
        );
        let first = total.saturating_sub(limit);
        let entry = |(at, past): (usize, &Past)| {
            let mut shown = past.shown.clone();
            shown["index"] = json!(at);
            shown
        };
        let entries: Vec<Value> = self
            .history
            .iter()
            .enumerate()
            .skip(first)
            .map(entry)
            .collect();
        let message = if total == 0 {
            "No execution history.".to_owned()
        } else {
            format!("Returning {} of {total} history entries.", entries.len())
        };
        success(message, json!({"total": total, "entries": entries}))
    }

    /// A snippet's value: how the other tools look at the domain.
    fn look(&mut self, code: &str) -> Result<Value, String> {
        let mut facts = self.snippet(code)?;
        if facts.get("text").is_some() {
            Ok(facts["value"].take())
        } else {
            Err(facts.to_string())
        }
    }

    /// Runs a snippet in the domain's host, which is started at the first one.
    fn snippet(&mut self, code: &str) -> Result<Value, String> {
        let mut host = match self.host.take() {
            Some(host) => host,
            None => self.start_host()?,
        };
        let reply = host.run(code);
        let mut state = self.shared.state();
        match reply {
            Ok(mut facts) => {
                state.session = serde_json::from_value(facts["session"].take()).unwrap();
                self.host = Some(host);
                Ok(facts)
            }
            Err(error) => {
                // Before the process is waited for: afterwards its number may be somebody else's.
                state.host_group = None;
                drop(state);
                drop(host);
                Err(format!("the script domain ended: {error}"))
            }
        }
    }

    fn start_host(&self) -> Result<Host, String> {
        let site = &self.shared.site;
        let session = self.shared.state().session.clone();
        let host = Host::start(&site.data_path(), &site.home, &session)
            .map_err(|error| error.to_string())?;
        let mut state = self.shared.state();
        if state.life == Life::Gone {
            return Err("the Editor is closing".to_owned());
        }
        state.host_group = Some(host.group());
        Ok(host)
    }

    fn editor_state(&self) -> Value {
        let seq = self.shared.state().starts;
        let now = jiff::Timestamp::now().as_millisecond();
        success(
            "Retrieved editor state.",
            json!({
                "schema_version": "unity-mcp/editor_state@2", "observed_at_unix_ms": now, "sequence": seq,
                "activity": {"phase": "idle", "since_unix_ms": now, "reasons": ["tick"]},
                "compilation": {"is_compiling": false, "is_domain_reload_pending": false},
                "tests": {"is_running": false},
                "assets": {"is_updating": false, "external_changes_dirty": false, "refresh": {"is_refresh_in_progress": false}},
            }),
        )
    }

    fn project_info(&self) -> Value {
        let site = &self.shared.site;
        success(
            "Retrieved project info.",
            json!({
                "projectRoot": site.root, "projectName": site.name, "unityVersion": UNITY,
                "platform": "StandaloneLinux64", "assetsPath": site.data_path(),
            }),
        )
    }
}

/// The bridge's result for what the host found.
fn outcome(facts: &Value) -> Value {
    let compiler = json!({"compiler": "codedom"});
    if let Some(broken) = facts["broken"].as_str() {
        return failure(format!("Execution failed: {broken}"));
    }
    if facts["errors"].is_array() {
        return failure_with(
            "Compilation failed",
            json!({"errors": facts["errors"], "compiler": "codedom"}),
        );
    }
    let thrown = &facts["thrown"];
    if let Some(message) = thrown["message"].as_str() {
        let data = json!({"exceptionType": thrown["type"], "stackTrace": thrown["stack"], "compiler": "codedom"});
        return failure_with(format!("Runtime error: {message}"), data);
    }
    let data = match facts.get("value") {
        Some(value) => json!({"result": value, "compiler": "codedom"}),
        None => compiler,
    };
    success("Code executed successfully.", data)
}

fn cut(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None => text.to_owned(),
    }
}

fn tool_states() -> Value {
    let tool = |(group, name): (&str, &str)| json!({"name": name, "group": group, "enabled": true, "is_built_in": true, "parameters": []});
    let tools: Vec<Value> = GROUPS.into_iter().map(tool).collect();
    success(
        "Retrieved tool states.",
        json!({"groups": [], "tools": tools}),
    )
}
