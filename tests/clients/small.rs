//! Small servers made with the Python SDK: all that a server may ask of its client and tell it passes.

use serde_json::{Value, json};

use crate::harness::{Kit, PYTHON_1, PYTHON_2, Script, relay, small_server};
use crate::rig::home::Home;

const ROOT: &str = "file:///projects/Alpha";

/// The relay in front of a small server, whose tools are exposed by configuration.
pub fn in_front_of(version: &str, file: &str, tools: &[&str]) -> Value {
    relay(&json!({
        "VRC_MCP_PROXY_UPSTREAM": json!(small_server(version, file)).to_string(),
        "VRC_MCP_PROXY_ALLOW": tools.join(" "),
    }))
}

fn text(result: &Value) -> &Value {
    &result["content"][0]["text"]
}

fn assert_counted(fact: &Value) {
    assert_eq!(*text(&fact["result"]), "counted", "{fact}");
    let reports: Vec<(f64, f64, String)> =
        serde_json::from_value(fact["progress"].clone()).unwrap();
    let step = |number: u8| (f64::from(number), 3.0, format!("step {number}"));
    assert_eq!(reports, [step(1), step(2), step(3)]);
}

/// A server that speaks with its client during the calls.
fn talk(kit: Kit) {
    if !kit.available() || !Kit::Python(PYTHON_1).available() {
        return;
    }
    let home = Home::new();
    let tools = ["count", "ask_roots", "ping_client", "announce"];
    let plan = json!({
        "entry": in_front_of(PYTHON_1, "server.py", &tools),
        "strict": true,
        "roots": [ROOT],
        "steps": [
            ["list"],
            ["call_with_progress", "count", {"upto": 3}],
            ["call", "ask_roots", {}],
            ["call", "ping_client", {}],
            ["call", "announce", {}],
            ["notified", "notifications/tools/list_changed"],
            ["ping"],
        ],
    });
    let mut script = Script::start(&home, kit, &plan);
    let facts = script.facts();

    assert_eq!(facts["broken_by"], json!([]), "{}", script.stderr());
    let step = |number: usize| &facts["steps"][number];
    assert_eq!(*step(0), json!(tools));
    assert_counted(step(1));
    assert_eq!(*text(step(2)), ROOT);
    assert_eq!(facts["roots_asked"], 1);
    assert_eq!(*text(step(3)), "pong");
    assert_eq!(*text(step(4)), "announced");
    assert!(step(6).is_object(), "{facts}");
    assert_eq!(facts["errors"], json!([]));
}

#[test]
fn a_server_speaks_with_the_first_python_sdk() {
    talk(Kit::Python(PYTHON_1));
}

#[test]
fn a_server_speaks_with_the_second_python_sdk() {
    talk(Kit::Python(PYTHON_2));
}

#[test]
fn a_server_speaks_with_the_typescript_sdk() {
    talk(Kit::TypeScript);
}

/// Protocol 2026-07-28 knows no `initialize`: each request says for itself what it needs.
#[test]
fn a_client_that_never_introduces_itself() {
    let kit = Kit::Python(PYTHON_2);
    if !kit.available() {
        return;
    }
    let home = Home::new();
    let tools = ["count", "ask_roots", "protocol"];
    let plan = json!({
        "entry": in_front_of(PYTHON_2, "modern_server.py", &tools),
        "strict": true,
        "roots": [ROOT],
        "steps": [
            ["call", "protocol", {}],
            ["call_with_progress", "count", {"upto": 3}],
            ["call", "ask_roots", {}],
            ["list"],
        ],
    });
    let mut script = Script::start(&home, kit, &plan);
    let facts = script.facts();

    assert_eq!(facts["broken_by"], json!([]), "{}", script.stderr());
    let step = |number: usize| &facts["steps"][number];
    assert_eq!(*text(step(0)), "2026-07-28");
    assert_counted(step(1));
    // Asked in an answer, given with the call's second try.
    assert_eq!(*text(step(2)), ROOT);
    assert_eq!(facts["roots_asked"], 1);
    assert_eq!(*step(3), json!(tools));
    assert_eq!(facts["errors"], json!([]));
}
