//! The demo's scenes as data: what the client sends, what the server says to it, and what is claimed to
//! come of it. The claims are checked when a scene is played.

use crate::baseline;
use crate::commands::Failure;
use crate::commands::simulated::Say;
use crate::config::{EXPOSED_TOOLS, UPSTREAM_VERSION};
use serde_json::{Value, json};

/// The two Editors that are open: project name and Assets folder. No such folder has to exist.
pub(super) const EDITORS: [(&str, &str); 2] = [
    ("Alpha", "C:/Unity/Alpha/Assets"),
    ("Beta", "C:/Unity/Beta/Assets"),
];

/// What the first Editor is called; the digits follow from its path.
const ALPHA: &str = "Alpha@0be31597";

/// What comes of a request on the server's side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum There {
    /// It never arrives.
    Nothing,
    /// It arrives byte for byte.
    Same,
    /// It arrives, changed.
    Changed,
}

/// What the client is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Here {
    /// The server's answer, byte for byte.
    Same,
    /// The server's answer, and more.
    More,
    /// A list of this many tools.
    Tools(usize),
    /// An error that is not the server's.
    Refusal,
}

/// A request and what is claimed to come of it.
pub(super) struct Scene {
    /// What happens, in a line.
    pub(super) title: &'static str,
    /// Why it matters.
    pub(super) about: &'static str,
    /// The request's method.
    pub(super) method: &'static str,
    /// Its params.
    pub(super) params: Value,
    /// What the server says to it, or would say if it were asked.
    pub(super) says: Vec<Say>,
    /// What arrives at the server.
    pub(super) there: There,
    /// Texts that stand in what arrives.
    pub(super) there_holds: &'static [&'static str],
    /// What the client is told.
    pub(super) here: Here,
    /// Texts that stand in it.
    pub(super) here_holds: &'static [&'static str],
    /// The behaviours that state a fact in its `_meta`.
    pub(super) behaviors: &'static [&'static str],
    /// A text on stderr.
    pub(super) stderr: Option<&'static str>,
}

/// All scenes, in the order in which they are played.
pub(super) fn all() -> Result<Vec<Scene>, Failure> {
    Ok(vec![
        listing()?,
        untrustworthy_tool(),
        no_editor_named(),
        pin(),
        snippet(),
        screenshot(),
        timeout(),
        asset_move(),
        banner(),
        hung_snippet(),
    ])
}

fn listing() -> Result<Scene, Failure> {
    Ok(Scene {
        title: "The client sees the tools that were looked at",
        about: "Each of them either tells the truth or has a behaviour that mends it.",
        method: "tools/list",
        params: json!({}),
        says: vec![Say::Result(json!({ "tools": tools()? }))],
        there: There::Same,
        there_holds: &[],
        here: Here::Tools(EXPOSED_TOOLS.len()),
        here_holds: &["execute_code", "manage_scene"],
        behaviors: &[],
        stderr: None,
    })
}

fn untrustworthy_tool() -> Scene {
    Scene {
        title: "A tool that loses what matters is refused, and the door that has it is named",
        about: "read_console returns only the first line of each entry.",
        method: "tools/call",
        params: json!({ "name": "read_console", "arguments": { "count": 10 } }),
        says: vec![payload(&json!({
            "success": true, "data": [{ "type": "Error", "message": "Import failed:" }],
        }))],
        there: There::Nothing,
        there_holds: &[],
        here: Here::Refusal,
        here_holds: &["LogEntries"],
        behaviors: &["allowlist"],
        stderr: None,
    }
}

fn no_editor_named() -> Scene {
    Scene {
        title: "Two Editors are open and a call names neither",
        about: "The server would choose one by itself and tell nobody.",
        method: "tools/call",
        params: json!({
            "name": "manage_gameobject", "arguments": { "action": "create", "name": "Lamp" },
        }),
        says: vec![payload(
            &json!({ "success": true, "message": "GameObject created." }),
        )],
        there: There::Nothing,
        there_holds: &[],
        here: Here::Refusal,
        here_holds: &[ALPHA, "Beta@1824ae67"],
        behaviors: &["instance_guard"],
        stderr: None,
    }
}

fn pin() -> Scene {
    Scene {
        title: "The session is pinned, and the client learns where the project stands",
        about: "Files written beside the Editor have to go into the same project.",
        method: "tools/call",
        params: json!({ "name": "set_active_instance", "arguments": { "instance": ALPHA } }),
        says: vec![payload(&json!({
            "success": true,
            "message": format!("Active instance set to {ALPHA}"),
            "data": { "instance": ALPHA },
        }))],
        there: There::Same,
        there_holds: &[],
        here: Here::More,
        here_holds: &["proxy_project_root", "C:/Unity/Alpha"],
        behaviors: &["proxy_project_root"],
        stderr: None,
    }
}

fn snippet() -> Scene {
    Scene {
        title: "A snippet is wrapped: it runs once, and only in the project it is meant for",
        about: "The server sends a slow command to Unity up to six times.",
        method: "tools/call",
        params: json!({ "name": "execute_code", "arguments": {
            "action": "execute",
            "code": "var lamp = new GameObject(\"Lamp\");\nreturn lamp.name;",
        }}),
        says: vec![payload(&json!({
            "success": true,
            "message": "Code executed successfully.",
            "data": { "result": "Lamp", "compiler": "roslyn" },
        }))],
        there: There::Changed,
        there_holds: &[
            "SessionState",
            "C:/Unity/Alpha/Assets",
            "\"safety_checks\":false",
            "var lamp = new GameObject",
        ],
        here: Here::Same,
        here_holds: &["Lamp"],
        behaviors: &[],
        stderr: None,
    }
}

fn screenshot() -> Scene {
    Scene {
        title: "A screenshot gets a folder",
        about: "Without one the server drops it into the middle of the project.",
        method: "tools/call",
        params: json!({ "name": "manage_camera", "arguments": { "action": "screenshot" } }),
        says: vec![payload(&json!({
            "success": true,
            "message": "Screenshot captured.",
            "data": { "path": "Assets/Agent/Scratch/Screenshots/screenshot.png" },
        }))],
        there: There::Changed,
        there_holds: &["Assets/Agent/Scratch/Screenshots"],
        here: Here::Same,
        here_holds: &[],
        behaviors: &[],
        stderr: None,
    }
}

fn timeout() -> Scene {
    Scene {
        title: "A time-out keeps its words and gets a note",
        about: "It reads as if nothing had happened. Something may have, several times.",
        method: "tools/call",
        params: json!({
            "name": "manage_gameobject", "arguments": { "action": "create", "name": "Lamp" },
        }),
        says: vec![Say::Result(json!({
            "content": [{ "type": "text", "text": "Timeout receiving Unity response" }],
            "isError": true,
        }))],
        there: There::Same,
        there_holds: &[],
        here: Here::More,
        here_holds: &["Timeout receiving Unity response", "verify"],
        behaviors: &["timeout_notes"],
        stderr: None,
    }
}

fn asset_move() -> Scene {
    Scene {
        title: "A move is refused, and the honest way is handed over",
        about: "The server reports moves that landed as failed.",
        method: "tools/call",
        params: json!({ "name": "manage_asset", "arguments": {
            "action": "move", "path": "Assets/Lamp.prefab", "destination": "Assets/Props/Lamp.prefab",
        }}),
        says: vec![payload(
            &json!({ "success": false, "error": "Failed to move the asset." }),
        )],
        there: There::Nothing,
        there_holds: &[],
        here: Here::Refusal,
        here_holds: &["AssetDatabase.MoveAsset"],
        behaviors: &["manage_asset_mutation_guard"],
        stderr: None,
    }
}

fn banner() -> Scene {
    Scene {
        title: "Text that is no message stays off the client's stream",
        about: "Some clients drop the connection over it. It goes to stderr.",
        method: "tools/call",
        params: json!({ "name": "debug_request_context", "arguments": {} }),
        says: vec![
            Say::Text("DeprecationWarning: a line that somebody printed".to_owned()),
            payload(&json!({ "success": true, "data": { "active_instance": ALPHA } })),
        ],
        there: There::Same,
        there_holds: &[],
        here: Here::Same,
        here_holds: &[],
        behaviors: &[],
        stderr: Some("a line that somebody printed"),
    }
}

fn hung_snippet() -> Scene {
    Scene {
        title: "A snippet that hangs is given up in time",
        about: "After 120 s unless told otherwise; in this demo sooner.",
        method: "tools/call",
        params: json!({ "name": "execute_code", "arguments": {
            "action": "execute", "code": "return Light.GetLights(LightType.Spot, 0).Length;",
        }}),
        says: Vec::new(),
        there: There::Changed,
        there_holds: &["Light.GetLights"],
        here: Here::Refusal,
        here_holds: &["compiler:\"codedom\"", "verify"],
        behaviors: &["execute_code_watchdog"],
        stderr: None,
    }
}

/// A tool's answer as the server gives it: the payload as text and again as an object.
fn payload(payload: &Value) -> Say {
    Say::Result(json!({
        "content": [{ "type": "text", "text": payload.to_string() }],
        "structuredContent": payload,
        "isError": false,
    }))
}

/// The tools of the pinned server, with the contracts of the committed baseline.
fn tools() -> Result<Vec<Value>, Failure> {
    let missing = || Failure::Told(format!("there is no baseline of {UPSTREAM_VERSION}"));
    let text = baseline::committed(UPSTREAM_VERSION).ok_or_else(missing)?;
    let file: Value = serde_json::from_str(text).map_err(|e| Failure::Told(e.to_string()))?;
    let tools = file["tools"].as_object().ok_or_else(missing)?;
    let listed = tools.iter();
    let listed =
        listed.map(|(name, tool)| json!({ "name": name, "inputSchema": tool["contract"] }));
    Ok(listed.collect())
}
