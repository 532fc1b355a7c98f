//! The command `repro`: what it says of the real server and an Editor with the faults, of both without them, and of
//! what it cannot measure.

use std::process::Output;

use serde_json::{Value, json};

use crate::rig::editor::{Editor, Fault};
use crate::rig::home::Home;
use crate::scenarios;
use vrc_mcp_proxy::behaviors::REGISTRY;

scenarios![
    every_fault_of_the_real_server_is_still_there,
    faults_that_were_mended_are_gone,
    what_cannot_be_brought_about_is_not_told,
];

/// A project that looks like one to `repro`.
fn scratch(home: &Home) -> Editor {
    std::fs::create_dir_all(home.path("projects/Alpha/ProjectSettings")).unwrap();
    home.editor("Alpha")
}

/// Runs it, with the server that delivers every call once when it is to be `plain`.
fn repro(home: &Home, editor: &Editor, plain: bool, only: &[&str]) -> Output {
    let mut command = home.command(env!("CARGO_BIN_EXE_vrc-mcp-proxy"));
    command.args([
        "repro",
        "--json",
        "--instance",
        &editor.id(),
        "--project-root",
    ]);
    command.arg(editor.root());
    for name in only {
        command.args(["--only", name]);
    }
    if plain {
        let me = std::env::current_exe().unwrap();
        let words = [
            me.to_str().unwrap(),
            "--ignored",
            "--exact",
            "plain_server",
            "--nocapture",
        ];
        command.env("VRC_MCP_PROXY_UPSTREAM", json!(words).to_string());
    }
    command.output().unwrap()
}

fn facts(output: &Output) -> Value {
    let stderr = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {stderr}"))
}

/// The names of the faults of each verdict.
fn of(facts: &Value, verdict: &str) -> Vec<String> {
    let faults = facts["faults"].as_array().unwrap().iter();
    let faults = faults.filter(|fault| fault["verdict"] == verdict);
    faults
        .map(|fault| fault["fault"].as_str().unwrap().to_owned())
        .collect()
}

/// Everything in the project but the files that hold GUIDs.
fn assets(editor: &Editor) -> Vec<String> {
    fn below(folder: &std::path::Path, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
        {
            if entry.is_dir() {
                below(&entry, found);
            }
            found.push(entry.display().to_string());
        }
    }
    let mut found = Vec::new();
    below(&editor.root().join("Assets"), &mut found);
    found
        .retain(|path| !path.ends_with("Scenes.meta") && !path.ends_with("SampleScene.unity.meta"));
    found.sort();
    found
}

const ALL_FAULTS: [&str; 11] = [
    "move_verdict",
    "bare_destination",
    "search_extension",
    "dropped_scope",
    "console_truncation",
    "single_mode_discard",
    "ignored_scene_arguments",
    "inactive_lookup",
    "reload_word",
    "parallel_calls",
    "double_execution",
];

fn every_fault_of_the_real_server_is_still_there(home: &Home) {
    let editor = scratch(home);
    let bystander = home.editor("Beta");
    let before = assets(&editor);
    let output = repro(home, &editor, false, &[]);
    let facts = facts(&output);
    assert_eq!(of(&facts, "still_there"), ALL_FAULTS, "{facts:#}");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(facts["all_told"], true);
    assert_eq!(facts["retires"], json!([]));
    assert_eq!(facts["server_version"], "10.1.0");
    assert_eq!(assets(&editor), before, "nothing is left");
    assert_eq!(editor.session_keys(), Vec::<String>::new());
    assert!(editor.connections() > 0);
    assert_eq!(bystander.connections(), 0, "another Editor is left alone");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        stderr.contains(&format!("throws the client that {} serves", editor.id())),
        "{stderr}"
    );
}

fn faults_that_were_mended_are_gone(home: &Home) {
    let editor = scratch(home);
    editor.mend();
    let before = assets(&editor);
    let output = repro(home, &editor, true, &[]);
    let facts = facts(&output);
    assert_eq!(of(&facts, "gone"), ALL_FAULTS, "{facts:#}");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(facts["server_version"], Value::Null);
    let retires = facts["retires"].as_array().unwrap();
    assert!(!retires.is_empty());
    for one in retires {
        let known = REGISTRY
            .iter()
            .any(|behavior| one["behavior"] == behavior.name);
        assert!(known, "{one}");
    }
    assert_eq!(assets(&editor), before, "nothing is left");
}

fn what_cannot_be_brought_about_is_not_told(home: &Home) {
    let editor = scratch(home);
    let empty = json!({"status": "success", "result": {"success": true, "message": "Retrieved 0 log entries.", "data": []}});
    editor.arm("read_console", 1, Fault::Reply(empty));
    let failing = json!({"status": "error", "error": "no searches today"});
    editor.arm("manage_asset", 1, Fault::Reply(failing));
    let unsaved = json!({"path": "Assets/Scenes/Work.unity", "isDirty": true, "isActive": true});
    let unsaved =
        json!({"success": true, "message": "1 scene(s) loaded.", "data": {"scenes": [unsaved]}});
    editor.arm(
        "manage_scene",
        1,
        Fault::Reply(json!({"status": "success", "result": unsaved})),
    );
    let only = [
        "console_truncation",
        "search_extension",
        "single_mode_discard",
        "inactive_lookup",
    ];
    let output = repro(home, &editor, true, &only);
    let facts = facts(&output);
    let not_told = [
        "search_extension",
        "console_truncation",
        "single_mode_discard",
    ];
    assert_eq!(of(&facts, "not_told"), not_told, "{facts:#}");
    assert_eq!(
        of(&facts, "still_there"),
        ["inactive_lookup"],
        "the rest is told"
    );
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        (&facts["all_told"], &facts["retires"]),
        (&json!(false), &json!([]))
    );
    // The unsaved scene was left alone.
    assert!(
        editor
            .delivered("manage_scene")
            .iter()
            .all(|one| one.params["action"] == "get_loaded_scenes")
    );
}
