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

/// What the server gets as the instance of a call that names none, from a relay that is bound to `auto`.
fn bound_to(relay: Builder, project: &Path) -> Value {
    let status = tempfile::tempdir().expect("a folder");
    let assets = project.join("Assets").to_str().expect("UTF-8").to_owned();
    let beat = json!({
        "unity_port": 6400, "reason": "ready", "project_path": assets.replace('\\', "/"), "project_name": NAME,
        "last_heartbeat": "9999-01-01T00:00:00.0000000Z",
    });
    let file = status.path().join("unity-mcp-status-0be31597.json");
    std::fs::write(file, beat.to_string()).expect("a file");
    let relay = relay.env("UNITY_MCP_STATUS_DIR", status.path());
    let mut session = relay.env("VRC_MCP_PROXY_PROJECT", "auto").start_up();
    call(
        &mut session,
        "refresh_unity",
        &Value::Null,
        &json!([["answer"]]),
    );
    let answer = session.message();
    let got = answer["result"]["got"].as_str().expect("a line");
    let got: Value = serde_json::from_str(got).expect("JSON");
    session.close();
    assert_eq!(session.code(), 0);
    got["params"]["arguments"]["unity_instance"].clone()
}

#[test]
fn auto_is_the_project_around_the_working_directory() {
    let folder = tempfile::tempdir().expect("a folder");
    let project = folder.path().join("Zoë's Äpfel");
    for inside in ["Assets/Scripts", "ProjectSettings"] {
        std::fs::create_dir_all(project.join(inside)).expect("a folder");
    }
    let id = format!("{NAME}@0be31597");
    for inside in ["", "Assets/Scripts"] {
        let relay = relay().folder(&project.join(inside));
        assert_eq!(bound_to(relay, &project), id, "{inside:?}");
    }
    assert_eq!(
        bound_to(relay().folder(folder.path()), &project),
        Value::Null
    );
}

/// A project may be opened, and a folder entered, by a link: the system tells the folder alone.
#[cfg(unix)]
#[test]
fn auto_finds_the_editor_that_was_opened_by_a_link() {
    let folder = tempfile::tempdir().expect("a folder");
    let (project, link) = (folder.path().join("real"), folder.path().join("link"));
    for inside in ["Assets", "ProjectSettings"] {
        std::fs::create_dir_all(project.join(inside)).expect("a folder");
    }
    std::os::unix::fs::symlink(&project, &link).expect("a link");
    let relay = relay().folder(&link);
    assert_eq!(bound_to(relay, &link), format!("{NAME}@0be31597"));
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
