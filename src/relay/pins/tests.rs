use crate::behaviors::{REGISTRY, Surroundings};
use crate::config::Config;
use crate::instances::Editor;
use crate::relay::{Action, Now, Relay};
use serde_json::json;
use std::path::Path;

const NOW: Now = Now {
    since_start: std::time::Duration::ZERO,
    unix_ms: 1_700_000_000_000,
};

struct Fake(Vec<Editor>);

impl Surroundings for Fake {
    fn editors(&self) -> Vec<Editor> {
        self.0.clone()
    }

    fn holds_folder(&self, _: &Path, _: &str) -> Option<bool> {
        None
    }

    fn fresh_key(&self) -> String {
        "0".repeat(32)
    }
}

fn editor(name: &str, hash: &str, port: u16, age_ms: i64) -> Editor {
    let body = json!({
        "project_name": name,
        "project_path": format!("C:/Unity/{name}/Assets"),
        "unity_port": port,
    });
    let body = body.to_string();
    let mut editor = Editor::parse(hash, Path::new("f"), body.as_bytes()).expect("usable");
    editor.last_heartbeat_ms = Some(NOW.unix_ms - age_ms);
    editor
}

/// Alpha and Beta run; Ghost left its file on Beta's port, Twin and Alpha share the start of a hash.
fn relay() -> Relay {
    let editors = vec![
        editor("Alpha", "aa111111", 6400, 500),
        editor("Beta", "bb111111", 6401, 500),
        editor("Ghost", "cc111111", 6401, 9_000_000),
        editor("Twin", "aa222222", 6402, 9_000_000),
    ];
    Relay::new(Config::default(), REGISTRY, Box::new(Fake(editors)))
}

/// Sends a `set_active_instance` with these arguments; `answer` is its `"result":…` or `"error":…`.
fn attempt(relay: &mut Relay, arguments: &str, answer: &str) {
    let mut out = Vec::new();
    let call = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"set_active_instance","arguments":{arguments}}}}}"#
    );
    relay.on_client_line(call.into(), NOW, &mut out);
    let answer = format!(r#"{{"jsonrpc":"2.0","id":1,{answer}}}"#);
    relay.on_child_line(answer.into(), NOW, &mut out);
}

fn text(payload: &str) -> String {
    let result = json!({ "content": [{ "type": "text", "text": payload }], "isError": false });
    format!(r#""result":{result}"#)
}

fn resolved(instance: &str) -> String {
    text(&format!(
        r#"{{"success":true,"data":{{"instance":{instance}}}}}"#
    ))
}

#[track_caller]
fn pins(instance: &str, answer: &str, pin: Option<&str>) {
    let mut relay = relay();
    let arguments = json!({ "instance": instance }).to_string();
    attempt(&mut relay, &arguments, answer);
    assert_eq!(relay.pins.pin.as_deref(), pin, "{instance}");
    assert_eq!(relay.pins.failed, None, "{instance}");
}

#[test]
fn what_upstream_resolved_is_the_pin() {
    let ghost = resolved(r#""Ghost@cc111111""#);
    pins("6401", &ghost, Some("Ghost@cc111111"));
    pins("bb", &resolved(r#"" New@dd@1 ""#), Some("New@dd@1"));
}

#[test]
fn else_the_one_heartbeat_that_fits_is_the_pin() {
    for said in [r#""x""#, r#""@""#, r#""A@""#, r#""@b""#, "5"] {
        pins("BB1", &resolved(said), Some("Beta@bb111111"));
    }
    // A live Editor goes ahead of the file that was left on its port.
    pins("6401", &text("{}"), Some("Beta@bb111111"));
    pins("6402", &text("pinned"), Some("Twin@aa222222"));
}

#[test]
fn else_the_raw_value_is_the_pin() {
    for raw in ["aa", "6499", "Alpha", "Gone@1"] {
        pins(&format!(" {raw}\t"), &resolved("null"), Some(raw));
    }
}

#[test]
fn a_failure_leaves_the_pin_and_is_remembered() {
    let beta = r#""data":{"instance":"Beta@bb111111"}"#;
    let marked = text(&format!(r#"{{"success":true,{beta}}}"#));
    for failure in [
        text(&format!(r#"{{"success":false,{beta}}}"#)),
        marked.replace(r#""isError":false"#, r#""isError":true"#),
        r#""error":{"code":1,"message":"no"}"#.to_owned(),
        r#""error":"no""#.to_owned(),
    ] {
        let mut relay = relay();
        attempt(&mut relay, r#"{"instance":"Alpha@aa111111"}"#, &text("{}"));
        attempt(&mut relay, r#"{"instance":"6401"}"#, &failure);
        assert_eq!(relay.pins.pin.as_deref(), Some("Alpha@aa111111"));
        assert_eq!(relay.pins.failed.as_deref(), Some("6401"), "{failure}");
    }
}

#[test]
fn success_is_what_is_not_exactly_false() {
    for success in ["0", "null", r#""false""#, "[]"] {
        let payload = format!(r#"{{"success":false,"success":{success}}}"#);
        pins("bb", &text(&payload), Some("Beta@bb111111"));
    }
}

#[test]
fn a_success_that_names_no_editor_leaves_no_pin() {
    let mut relay = relay();
    attempt(&mut relay, r#"{"instance":"bb"}"#, &text("{}"));
    attempt(&mut relay, r#"{"instance":"  "}"#, &text("{}"));
    assert_eq!(relay.pins.pin, None);
    attempt(&mut relay, "{}", &resolved(r#""Alpha@aa111111""#));
    assert_eq!(relay.pins.pin.as_deref(), Some("Alpha@aa111111"));
}

#[test]
fn a_cancelled_attempt_that_upstream_carried_out_moves_the_pin_all_the_same() {
    let mut relay = relay();
    let mut out = Vec::new();
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"set_active_instance","arguments":{"instance":"bb"}}}"#;
    relay.on_client_line(call.into(), NOW, &mut out);
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    relay.on_client_line(cancel.into(), NOW, &mut out);
    out.clear();
    let answer = format!(r#"{{"jsonrpc":"2.0","id":1,{}}}"#, text("{}"));
    relay.on_child_line(answer.into(), NOW, &mut out);
    assert_eq!(relay.pins.pin.as_deref(), Some("Beta@bb111111"));
    assert!(
        !out.iter()
            .any(|action| matches!(action, Action::ToClient(_)))
    );
}

#[test]
fn a_cancelled_attempt_says_nothing_of_its_selector() {
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"set_active_instance","arguments":{"instance":"bb"}}}"#;
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    let cancelled = r#"{"jsonrpc":"2.0","id":1,"error":{"code":0,"message":"Request cancelled"}}"#;
    let mut relay = relay();
    let mut out = Vec::new();
    relay.on_client_line(call.into(), NOW, &mut out);
    relay.on_client_line(cancel.into(), NOW, &mut out);
    relay.on_child_line(cancelled.into(), NOW, &mut out);
    assert_eq!(relay.pins.failed, None);
}
