//! Editors are known by the heartbeat files in a folder, whatever letters its path and theirs have.

use crate::harness::{Builder, Session, relay};
use serde_json::{Value, json};
use std::path::Path;

const ASSETS: &str = "D:/Unity/Zoë's Äpfel 日本/Assets";
const ROOT: &str = "D:/Unity/Zoë's Äpfel 日本";
const NAME: &str = "Zoë's Äpfel 日本";

/// Writes the heartbeat of an Editor that has [`ASSETS`] open, and returns its identifier.
fn heartbeat(folder: &Path) -> String {
    let hash = vrc_mcp_proxy::instances::hash8(ASSETS);
    std::fs::create_dir_all(folder).expect("a folder");
    let beat = json!({
        "unity_port": 6400, "reloading": false, "reason": "ready", "project_path": ASSETS,
        "project_name": NAME, "last_heartbeat": "9999-01-01T00:00:00.0000000Z",
    });
    let file = folder.join(format!("unity-mcp-status-{hash}.json"));
    std::fs::write(file, beat.to_string()).expect("a file");
    format!("{NAME}@{hash}")
}

fn call(session: &mut Session, tool: &str, arguments: &Value, steps: &Value) {
    let message = json!({
        "jsonrpc": "2.0", "id": tool, "method": "tools/call",
        "params": { "name": tool, "arguments": arguments, "do": steps },
    });
    session.send(message.to_string());
}

/// The pin's answer names the folder, and a snippet is told to look for it.
fn is_known(relay: Builder, editor: &str) {
    let mut session = relay.start_up();
    let text = json!({ "success": true, "message": "pinned", "instance": editor }).to_string();
    let result = json!({ "content": [{ "type": "text", "text": text }], "isError": false });
    let answer = json!({ "jsonrpc": "2.0", "id": "set_active_instance", "result": result });
    call(
        &mut session,
        "set_active_instance",
        &json!({ "instance": editor }),
        &json!([["raw", format!("{answer}\n")]]),
    );
    let answer = session.message();
    let text = answer["result"]["content"][0]["text"]
        .as_str()
        .expect("a text");
    let payload: Value = serde_json::from_str(text).expect("JSON");
    assert_eq!(payload["proxy_project_root"], ROOT, "{answer}");

    let snippet = json!({ "action": "execute", "code": "return 1;" });
    call(&mut session, "execute_code", &snippet, &json!([["answer"]]));
    let answer = session.message();
    let got = answer["result"]["got"].as_str().expect("a line");
    let got: Value = serde_json::from_str(got).expect("JSON");
    let code = got["params"]["arguments"]["code"].as_str().expect("code");
    let literal = r#""D:/Unity/Zo\u00eb's \u00c4pfel \u65e5\u672c/Assets""#;
    assert!(code.contains(literal), "{code}");
    session.close();
    assert_eq!(session.code(), 0);
}

#[test]
fn a_drive_letter_and_letters_beyond_ascii_survive() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path().join("Stätus of Zoë");
    let editor = heartbeat(&folder);
    is_known(relay().env("UNITY_MCP_STATUS_DIR", folder), &editor);
}

/// Python's `Path.home()`, which upstream 10.1.0 goes by, follows the variable on either system.
#[test]
fn without_a_folder_of_its_own_it_is_below_home() {
    let home = tempfile::tempdir().expect("a folder");
    let home = home.path().join("Zoë");
    let editor = heartbeat(&home.join(".unity-mcp"));
    let variable = if cfg!(windows) { "USERPROFILE" } else { "HOME" };
    let relay = relay()
        .without_env("UNITY_MCP_STATUS_DIR")
        .env(variable, home);
    is_known(relay, &editor);
}
