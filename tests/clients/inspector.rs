//! The Inspector's command line: one request to one start of the relay.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::harness::{Kit, PYTHON_2, Script, relay, rig_available};
use crate::rig::home::Home;
use crate::small::in_front_of;
use crate::unity::{BROKEN, assert_noted, assert_refused, execute, exposed};

/// How a run ended, and what it printed as the request's result.
fn inspect(home: &Home, entry: &Value, arguments: &Value) -> (Value, Value) {
    let plan = json!({"entry": entry, "arguments": arguments});
    let facts = Script::start(home, Kit::Inspector, &plan).facts();
    let printed: Value = serde_json::from_str(facts["stdout"].as_str().unwrap())
        .unwrap_or_else(|error| panic!("{error}: {facts}"));
    (facts["status"].clone(), printed["result"].clone())
}

/// One request to the real server through the relay, with one Editor, whose name comes with the result.
fn inspect_unity(arguments: &Value) -> Option<(Value, Value, String)> {
    if !(rig_available() && Kit::Inspector.available()) {
        return None;
    }
    let home = Home::new();
    let editor = home.editor("Alpha");
    let (status, result) = inspect(&home, &relay(&json!({})), arguments);
    Some((status, result, editor.id()))
}

fn call_execute_code(code: &str) -> Option<(Value, Value, String)> {
    let arguments = execute(code).to_string();
    let call = ["--method", "tools/call", "--tool-name", "execute_code"];
    let call: Vec<&str> = call
        .into_iter()
        .chain(["--tool-args-json", &arguments])
        .collect();
    inspect_unity(&json!(call))
}

#[test]
fn the_inspector_lists_the_exposed_tools() {
    if let Some((status, result, _)) = inspect_unity(&json!(["--method", "tools/list"])) {
        assert_eq!(status, 0);
        let tools = result["tools"].as_array().unwrap();
        let names = tools
            .iter()
            .map(|tool| tool["name"].as_str().unwrap().to_owned());
        assert_eq!(names.collect::<BTreeSet<_>>(), exposed());
    }
}

#[test]
fn the_inspector_reads_a_resource() {
    let read = json!([
        "--method",
        "resources/read",
        "--uri",
        "mcpforunity://instances"
    ]);
    if let Some((status, result, editor)) = inspect_unity(&read) {
        assert_eq!(status, 0);
        let text = result["contents"][0]["text"].as_str().unwrap();
        assert!(text.contains(&editor), "{text}");
    }
}

/// It refuses a tool that is not listed by itself, so that this one is refused for its arguments.
#[test]
fn the_inspector_is_refused() {
    if let Some((status, result, _)) = call_execute_code("using System.IO;\nreturn 1;") {
        assert_refused(&result, "execute_code_using_refusal", "using_directive");
        assert_eq!(status, 5, "its status for a tool's error");
    }
}

#[test]
fn the_inspector_calls_a_tool_and_is_told_a_note() {
    if let Some((status, result, _)) = call_execute_code(BROKEN) {
        assert_eq!(status, 0);
        assert_noted(&result);
    }
}

/// In protocol 2026-07-28, which knows no `initialize`.
#[test]
fn the_inspector_never_introduces_itself() {
    if !Kit::Inspector.available() || !Kit::Python(PYTHON_2).available() {
        return;
    }
    let home = Home::new();
    let entry = in_front_of(PYTHON_2, "modern_server.py", &["protocol"]);
    let call = ["--method", "tools/call", "--tool-name", "protocol"];
    let call: Vec<&str> = call
        .into_iter()
        .chain(["--protocol-era", "modern"])
        .collect();
    let (status, result) = inspect(&home, &entry, &json!(call));
    assert_eq!(status, 0);
    assert_eq!(result["content"][0]["text"], "2026-07-28");
}
