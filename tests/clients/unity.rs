//! Sessions with the real server, and what its answer to a cancelled call does to a client.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use vrc_mcp_proxy::config::{EXPOSED_TOOLS, VARIABLES};

use crate::harness::{Kit, PYTHON_1, PYTHON_2, Script, relay, rig_available};
use crate::rig::client::{PATIENCE, SERVER};
use crate::rig::editor::Editor;
use crate::rig::home::Home;

/// Counts its runs where the next snippet can read them.
pub const COUNT: &str =
    r#"SessionState.SetInt("runs", SessionState.GetInt("runs", 0) + 1); return null;"#;
pub const COUNTED: &str = r#"return SessionState.GetInt("runs", 0);"#;
/// Does not compile; the message is one that two behaviours have a note for.
pub const BROKEN: &str = "return Nowhere();";

pub fn execute(code: &str) -> Value {
    json!({"action": "execute", "code": code})
}

/// The names that a listing has to have: those and no others.
pub fn exposed() -> BTreeSet<String> {
    EXPOSED_TOOLS.iter().map(ToString::to_string).collect()
}

/// An answer that upstream gave and nothing touched.
pub fn assert_value(result: &Value, value: &Value) {
    assert_eq!(result["structuredContent"]["data"]["result"], *value);
    assert_eq!(result["isError"], false, "{result}");
    assert!(result["_meta"]["vrc-mcp-proxy"].is_null(), "{result}");
}

/// A refusal of these facts: never with structured content, which would have to fit the tool's schema.
pub fn assert_refused(result: &Value, behavior: &str, code: &str) {
    assert_eq!(result["isError"], true, "{result}");
    assert!(result["structuredContent"].is_null(), "{result}");
    let facts = json!([{"behavior": behavior, "code": code, "forwarded": false}]);
    assert_eq!(result["_meta"]["vrc-mcp-proxy"], facts, "{result}");
}

/// Upstream's word on [`BROKEN`], with the notes beside it on both surfaces.
pub fn assert_noted(result: &Value) {
    let blocks = result["content"].as_array().unwrap();
    let texts: Vec<&str> = blocks.iter().filter_map(|b| b["text"].as_str()).collect();
    let payload: Value = serde_json::from_str(texts[0]).unwrap();
    assert_eq!(payload["success"], false, "{payload}");
    let mut structured = result["structuredContent"].clone();
    let notes = structured["proxy_transport_note"].take();
    assert_eq!(notes, texts[1..].join("\n"), "{result}");
    structured
        .as_object_mut()
        .unwrap()
        .remove("proxy_transport_note");
    assert_eq!(structured, payload);
    let facts = result["_meta"]["vrc-mcp-proxy"].as_array().unwrap();
    let behaviors: Vec<&str> = facts
        .iter()
        .filter_map(|f| f["behavior"].as_str())
        .collect();
    let expected = [
        "execute_code_compile_notes",
        "execute_code_prelude_offset_note",
    ];
    assert_eq!(behaviors, expected);
    assert!(facts.iter().all(|fact| fact["forwarded"] == true));
}

/// Goes with the script through its `abandon` step: it cancels while the Editor has the call and cannot run it.
fn cancel_in_the_editor(script: &mut Script, editor: &Editor) {
    script.reach("before the call");
    let before = editor.deliveries("execute_code");
    editor.freeze(true);
    script.go_on();
    script.reach("called");
    editor.wait_deliveries("execute_code", before + 1, PATIENCE);
    script.go_on();
}

/// Lists, calls, reads, is refused, is told a note, cancels, and calls again.
fn session(kit: Kit) {
    if !(rig_available() && kit.available()) {
        return;
    }
    let home = Home::new();
    let editor = home.editor("Alpha");
    let plan = json!({"entry": relay(&json!({})), "strict": true, "steps": [
        ["list"],
        ["call", "execute_code", execute("return 6 * 7;")],
        ["read", "mcpforunity://instances"],
        ["call", "read_console", {"action": "get"}],
        ["call", "execute_code", execute(BROKEN)],
        ["abandon", "execute_code", execute(COUNT)],
        // What was answered before this has come before this: one line after the other.
        ["ping"],
        ["pause"],
        ["call", "execute_code", execute(COUNTED)],
    ]});
    let mut script = Script::start(&home, kit, &plan);
    cancel_in_the_editor(&mut script, &editor);
    script.reach("pause");
    editor.freeze(false);
    script.go_on();
    let facts = script.facts();

    assert_eq!(facts["broken_by"], json!([]), "{}", script.stderr());
    let step = |number: usize| &facts["steps"][number];
    let listed: Vec<String> = serde_json::from_value(step(0).clone()).unwrap();
    assert_eq!(listed.len(), EXPOSED_TOOLS.len());
    assert_eq!(BTreeSet::from_iter(listed), exposed());
    assert_value(step(1), &json!(42));
    let instances = step(2)["contents"][0]["text"].as_str().unwrap();
    assert!(instances.contains(&editor.id()), "{instances}");
    assert_refused(step(3), "allowlist", "console_lines_cut");
    assert_noted(step(4));
    assert_eq!(*step(5), json!([]), "an answer to a cancelled call");
    assert!(step(6).is_object(), "{facts}");
    // Cancelled for the client; inside the Editor it ran, and once.
    assert_value(step(8), &json!(1));
    assert_eq!(facts["errors"], json!([]));
}

#[test]
fn a_session_with_the_first_python_sdk() {
    session(Kit::Python(PYTHON_1));
}

#[test]
fn a_session_with_the_second_python_sdk() {
    session(Kit::Python(PYTHON_2));
}

#[test]
fn a_session_with_the_typescript_sdk() {
    session(Kit::TypeScript);
}

/// The facts of a client that cancels a call to the server itself and then pings it.
fn cancel_without_the_relay(kit: Kit) -> Option<Value> {
    if !(rig_available() && kit.available()) {
        return None;
    }
    let home = Home::new();
    let editor = home.editor("Alpha");
    let entry = json!({"command": SERVER[0], "args": SERVER[1..]});
    let steps = json!([["abandon", "execute_code", execute(COUNT)], ["ping"]]);
    let plan = json!({"entry": entry, "strict": true, "steps": steps});
    let mut script = Script::start(&home, kit, &plan);
    cancel_in_the_editor(&mut script, &editor);
    let facts = script.facts();
    Some(facts)
}

/// Measured against 10.1.0: it answers the cancelled id with error 0, "Request cancelled". The first Python
/// SDK hands an answer that nobody waits for to the message handler as an exception; what the handler raises
/// ends the connection. `session` has the same client go on.
#[test]
fn without_the_relay_a_strict_python_client_loses_its_connection() {
    if let Some(facts) = cancel_without_the_relay(Kit::Python(PYTHON_1)) {
        let errors = facts["errors"].to_string();
        assert!(errors.contains("unknown request ID"), "{facts}");
        assert!(errors.contains("Request cancelled"), "{facts}");
        assert_ne!(facts["broken_by"], json!([]), "{facts}");
        assert!(facts["steps"].as_array().unwrap().len() < 2, "{facts}");
    }
}

/// The TypeScript SDK reports it to `onerror` and goes on: what a program makes of that is its own affair.
/// (The second Python SDK drops it without a word.)
#[test]
fn without_the_relay_a_typescript_client_gets_an_error_of_its_transport() {
    if let Some(facts) = cancel_without_the_relay(Kit::TypeScript) {
        let errors = facts["errors"].to_string();
        assert!(errors.contains("unknown message ID"), "{facts}");
        assert!(errors.contains("Request cancelled"), "{facts}");
        assert_eq!(facts["broken_by"], json!([]));
    }
}

/// The entry for `.mcp.json` that the README shows.
fn readme_entry() -> Value {
    let readme = include_str!("../../README.md");
    let (_, from) = readme.split_once("```json\n").unwrap();
    let (block, _) = from.split_once("```").unwrap();
    let file: Value = serde_json::from_str(block).unwrap();
    let servers = file["mcpServers"].as_object().unwrap();
    assert_eq!(servers.keys().collect::<Vec<_>>(), ["UnityMCP"]);
    servers["UnityMCP"].clone()
}

#[test]
fn the_entry_in_the_readme_starts_the_relay() {
    let kit = Kit::Python(PYTHON_2);
    if !(rig_available() && kit.available()) {
        return;
    }
    let mut entry = readme_entry();
    let variables = entry["env"].as_object().into_iter();
    let variables: Vec<String> = variables.flat_map(|env| env.keys().cloned()).collect();
    for name in &variables {
        assert!(VARIABLES.iter().any(|(known, _)| known == name), "{name}");
    }
    entry["command"] = json!(env!("CARGO_BIN_EXE_vrc-mcp-proxy"));
    let home = Home::new();
    let _editor = home.editor("Alpha");
    let plan = json!({"entry": entry, "strict": true, "steps": [["list"]]});
    let mut script = Script::start(&home, kit, &plan);
    let facts = script.facts();
    let names: BTreeSet<String> = serde_json::from_value(facts["steps"][0].clone()).unwrap();
    assert_eq!(names, exposed(), "{facts}");
    // A value that is no good would be named.
    let stderr = script.stderr();
    for name in variables {
        assert!(!stderr.contains(&format!("WARN {name}")), "{stderr}");
    }
}
