//! What a file system, a server and a client can do to the relay, beyond what the other files play.

use crate::harness::{Builder, Session, relay};
#[cfg(unix)]
use crate::harness::{ask, call};
#[cfg(unix)]
use serde_json::Value;
use serde_json::json;
use std::path::Path;

/// What a tool call that reads the heartbeats gets: a snippet for an Editor that is named.
fn snippet(id: u64) -> String {
    let arguments =
        json!({ "action": "execute", "code": "return 1;", "unity_instance": "Alpha@0be31597" });
    let params = json!({ "name": "execute_code", "arguments": arguments, "do": [["answer"]] });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }).to_string()
}

fn beat(folder: &Path, hash: &str, assets: &str) {
    let beat = json!({
        "unity_port": 6400, "reloading": false, "reason": "ready", "project_path": assets,
        "project_name": "Alpha", "last_heartbeat": "9999-01-01T00:00:00.0000000Z",
    });
    let file = folder.join(format!("unity-mcp-status-{hash}.json"));
    std::fs::write(file, beat.to_string()).expect("a file");
}

/// The snippet reaches the server and carries the check for its project.
fn finds_alpha(session: &mut Session) {
    session.send(snippet(1));
    let answer = session.message();
    let got = answer["result"]["got"].as_str().expect("the call arrived");
    assert!(got.contains("C:/Unity/Alpha/Assets"), "{got}");
    session.close();
    assert_eq!(session.code(), 0);
}

/// No Editor is found, and the call is told so or passes; nothing hangs.
fn lives_without_editors(relay: Builder) {
    let mut session = relay.start_up();
    session.send(snippet(1));
    assert_eq!(session.message()["id"], 1);
    session.ask(2, &json!([["answer"]]));
    assert_eq!(session.message()["id"], 2);
    session.close();
    assert_eq!(session.code(), 0);
}

#[test]
fn ten_thousand_heartbeat_files_hide_no_editor() {
    let folder = tempfile::tempdir().expect("a folder");
    for number in 0..10_000 {
        let name = format!("unity-mcp-status-{number:08x}.json");
        std::fs::write(
            folder.path().join(name),
            r#"{"project_path":"C:/Ghost/Assets"}"#,
        )
        .expect("a file");
    }
    beat(folder.path(), "0be31597", "C:/Unity/Alpha/Assets");
    finds_alpha(
        &mut relay()
            .env("UNITY_MCP_STATUS_DIR", folder.path())
            .start_up(),
    );
}

#[test]
fn a_folder_of_anything_but_heartbeats_hides_no_editor() {
    let folder = tempfile::tempdir().expect("a folder");
    let name = |hash: &str| folder.path().join(format!("unity-mcp-status-{hash}.json"));
    std::fs::create_dir(name("00000001")).expect("a folder");
    std::fs::write(name("00000002"), [0xff, 0xfe, 0, b'{']).expect("a file");
    std::fs::write(name("00000003"), "{\"project_path\":").expect("a file");
    std::fs::write(name("00000004"), "").expect("a file");
    std::fs::write(name("00000005"), "[".repeat(200_000)).expect("a file");
    #[cfg(unix)]
    {
        use std::os::unix::fs::symlink;
        use std::os::unix::net::UnixListener;
        symlink("nowhere", name("00000006")).expect("a link");
        symlink(name("00000007"), name("00000007")).expect("a link to itself");
        symlink("/dev/zero", name("00000008")).expect("a link");
        symlink("/dev/tty", name("00000009")).expect("a link");
        let _socket = UnixListener::bind(name("0000000a")).expect("a socket");
        // Opening one waits for a writer, who never comes.
        fifo(&name("0000000b"));
        fifo(&folder.path().join("unity-mcp-status-.json"));
    }
    beat(folder.path(), "0be31597", "C:/Unity/Alpha/Assets");
    finds_alpha(
        &mut relay()
            .env("UNITY_MCP_STATUS_DIR", folder.path())
            .start_up(),
    );
}

#[cfg(unix)]
fn fifo(path: &Path) {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a FIFO");
}

#[test]
fn what_stands_in_the_folders_place_costs_the_editors_and_nothing_else() {
    let room = tempfile::tempdir().expect("a folder");
    let at = |name: &str| room.path().join(name);
    let with = |name: &str| relay().env("UNITY_MCP_STATUS_DIR", at(name));
    lives_without_editors(with("missing"));
    std::fs::write(at("file"), "x").expect("a file");
    lives_without_editors(with("file"));
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("circle", at("circle")).expect("a link");
        lives_without_editors(with("circle"));
        fifo(&at("fifo"));
        lives_without_editors(with("fifo"));
        lives_without_editors(relay().env("UNITY_MCP_STATUS_DIR", "/proc/self/mem"));
    }
}

/// The moments in a session at which a server may die, as what the client has sent by then.
#[cfg(unix)]
fn phases() -> [Vec<String>; 5] {
    let initialize = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#.to_owned();
    let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.to_owned();
    let list = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#.to_owned();
    let held = call(3, &json!([["hold"]]));
    [
        vec![],
        vec![initialize.clone()],
        vec![initialize.clone(), initialized.clone()],
        vec![initialize.clone(), initialized.clone(), list.clone()],
        vec![initialize, initialized, list, held],
    ]
}

#[cfg(unix)]
#[test]
fn a_server_that_is_killed_leaves_nothing_unanswered_in_any_phase() {
    for (phase, sent) in phases().into_iter().enumerate() {
        let mut session = relay().start_up();
        for line in &sent {
            session.send(line);
        }
        // The server takes its lines in order.
        session.send(ask(9, &json!([["die"]])));
        let ids: Vec<Value> = session.rest().iter().map(|m| m["id"].clone()).collect();
        let asked = sent.iter().filter_map(|line| {
            let line: Value = serde_json::from_str(line).expect("JSON");
            line.get("id").cloned()
        });
        let mut due: Vec<Value> = asked.collect();
        due.push(json!(9));
        assert_eq!(ids, due, "phase {phase}");
        assert_eq!(session.code(), 1);
        session.gone("server");
    }
}

#[cfg(unix)]
#[test]
fn a_program_that_may_not_be_run_is_named_with_what_to_do() {
    let room = tempfile::tempdir().expect("a folder");
    let plain = room.path().join("plain.txt");
    std::fs::write(&plain, "no program").expect("a file");
    for program in [plain.as_path(), room.path()] {
        let words = json!([program.to_str().expect("a path")]).to_string();
        let mut session = relay().env("VRC_MCP_PROXY_UPSTREAM", words).start();
        session.send(r#"{"jsonrpc":"2.0","id":"i","method":"initialize","params":{}}"#);
        let answers = session.rest();
        let text = answers[0]["error"]["message"].as_str().expect("a text");
        assert!(text.contains(program.to_str().expect("a path")), "{text}");
        assert!(text.contains("VRC_MCP_PROXY_UPSTREAM"), "{text}");
        assert!([126, 127].contains(&session.code()));
    }
}

#[cfg(unix)]
#[test]
fn a_full_disk_behind_stderr_costs_the_log_alone() {
    let full = std::fs::File::options().write(true).open("/dev/full");
    let mut session = relay().stderr(full.expect("a full device")).start();
    for id in 0..50 {
        session.send(r#"{"no":"message"}"#);
        assert_eq!(session.message()["error"]["code"], -32600);
        session.call(id, &json!([["stderr_flood", 1000], ["answer"]]));
        assert_eq!(session.message()["id"], id);
    }
    session.close();
    assert_eq!(session.code(), 0);
}

#[test]
fn a_server_that_ends_at_once_is_told_with_its_last_words() {
    let mut session = relay().start_up();
    let steps = json!([
        ["stderr", "error: no solution found"],
        ["stderr", "hint: there is no network"],
        ["exit", 2]
    ]);
    session.send(format!(
        r#"{{"jsonrpc":"2.0","id":"i","method":"initialize","params":{{"do":{steps}}}}}"#
    ));
    let answers = session.rest();
    assert_eq!(answers.len(), 1, "{answers:?}");
    let text = answers[0]["error"]["message"].as_str().expect("a text");
    for part in [
        "ended with status 2",
        "error: no solution found\nhint: there is no network",
        "child_entry",
        "doctor",
    ] {
        assert!(text.contains(part), "no {part:?} in {text}");
    }
    assert_eq!(session.code(), 2);
}

/// The relay compares the wall clock with heartbeats and with nothing else, so heartbeats that jump are to it what a
/// clock that jumps is: forward, back, and to both ends of time.
#[test]
fn a_clock_that_jumps_costs_no_answer_and_no_session() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("unity-mcp-status-0be31597.json");
    let mut session = relay()
        .env("UNITY_MCP_STATUS_DIR", folder.path())
        .start_up();
    let times = [
        "9999-12-31T23:59:59.9999999Z",
        "1970-01-01T00:00:00.0000000Z",
        "2026-11-30T00:00:00.0000000Z",
        "0001-01-01T00:00:00.0000000Z",
        "-009999-01-01T00:00:00Z",
        "9999-01-01T00:00:00.0000000Z",
    ];
    for (id, time) in (1..).zip(times) {
        let beat = json!({
            "unity_port": 6400, "reloading": true, "reason": "reloading", "project_name": "Alpha",
            "project_path": "C:/Unity/Alpha/Assets", "last_heartbeat": time,
        });
        std::fs::write(&file, beat.to_string()).expect("a file");
        session.send(snippet(id));
        assert_eq!(session.message()["id"], id, "{time}");
    }
    session.close();
    let log = session.log();
    assert!(!log.contains("contained failure"), "{log}");
    assert_eq!(session.code(), 0);
}
