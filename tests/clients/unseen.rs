//! Raw lines without a handshake: nothing in the relay waits for `initialize`.

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::unity::{COUNT, assert_refused, execute};
use vrc_mcp_proxy::config::VARIABLES;

const BINARY: &str = env!("CARGO_BIN_EXE_vrc-mcp-proxy");

/// What the client is answered and what the server has heard, after these lines and nothing before them.
fn converse(lines: &[Value]) -> (Vec<Value>, Vec<Value>) {
    let folder = tempfile::tempdir().unwrap();
    let [script, transcript] = ["script", "transcript"].map(|name| folder.path().join(name));
    let listed =
        ["execute_code", "read_console"].map(|name| json!({"name": name, "inputSchema": {}}));
    let rules = json!([
        {"method": "tools/call", "say": [{"result": {"content": [{"type": "text", "text": "called"}]}}]},
        {"method": "tools/list", "say": [{"result": {"tools": listed}}]},
    ]);
    std::fs::write(&script, rules.to_string()).unwrap();
    let words = [
        BINARY,
        "simulated-upstream",
        "--script",
        script.to_str().unwrap(),
    ];
    let words = words
        .into_iter()
        .chain(["--transcript", transcript.to_str().unwrap()]);
    let mut command = Command::new(BINARY);
    for (name, _) in VARIABLES {
        command.env_remove(name);
    }
    let mut relay = command
        .env(
            "VRC_MCP_PROXY_UPSTREAM",
            json!(Vec::from_iter(words)).to_string(),
        )
        .env("UNITY_MCP_STATUS_DIR", folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    relay
        .stdin
        .take()
        .unwrap()
        .write_all(text.as_bytes())
        .unwrap();
    let output = relay.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let heard = values(&std::fs::read(&transcript).unwrap());
    let heard = heard
        .iter()
        .filter_map(|entry| serde_json::from_str(entry["got"].as_str()?).ok());
    (values(&output.stdout), heard.collect())
}

fn values(lines: &[u8]) -> Vec<Value> {
    let lines = lines
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty());
    lines
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect()
}

fn call(id: u64, tool: &str, arguments: &Value) -> Value {
    let params = json!({"name": tool, "arguments": arguments});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
}

#[test]
fn a_call_as_the_first_line_is_guarded_and_answered() {
    let (answers, heard) = converse(&[call(1, "execute_code", &execute(COUNT))]);
    assert_eq!(answers.len(), 1);
    assert_eq!(answers[0]["id"], 1);
    assert_eq!(answers[0]["result"]["content"][0]["text"], "called");
    let sent = heard[0]["params"]["arguments"]["code"].as_str().unwrap();
    assert!(sent.contains(COUNT) && sent.len() > COUNT.len(), "{sent}");
}

#[test]
fn a_call_as_the_first_line_is_refused() {
    let (answers, heard) = converse(&[call(1, "read_console", &json!({}))]);
    assert_eq!(answers.len(), 1);
    assert_refused(&answers[0]["result"], "allowlist", "console_lines_cut");
    assert_eq!(heard, [] as [Value; 0]);
}

#[test]
fn a_listing_as_the_first_line_is_filtered() {
    let list = json!({"jsonrpc": "2.0", "id": "first", "method": "tools/list"});
    let (answers, _) = converse(&[list]);
    assert_eq!(answers.len(), 1);
    let tools = answers[0]["result"]["tools"].as_array().unwrap();
    let names: Vec<&str> = tools
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    assert_eq!(names, ["execute_code"]);
}
