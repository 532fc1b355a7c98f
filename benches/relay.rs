//! The core's hot paths, without its shell: what a line costs between one pipe and the other.
//!
//! `cargo bench`, or `cargo bench -- NAME` for some of them. What the numbers mean stands in docs/performance.md.
#![allow(
    clippy::expect_used,
    reason = "a benchmark that cannot set up has nothing to say"
)]

use bytes::Bytes;
use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use serde_json::{Value, json};
use std::path::Path;
use vrc_mcp_proxy::behaviors::{REGISTRY, Surroundings};
use vrc_mcp_proxy::config::Config;
use vrc_mcp_proxy::instances::Editor;
use vrc_mcp_proxy::relay::{Action, Now, Relay};

fn main() {
    divan::main();
}

/// No Editor, no folder, one key: what is measured is the core.
struct Nothing;

impl Surroundings for Nothing {
    fn editors(&self) -> Vec<Editor> {
        Vec::new()
    }

    fn holds_folder(&self, _: &Path, _: &str) -> Option<bool> {
        None
    }

    fn fresh_key(&self) -> String {
        "0123456789abcdef0123456789abcdef".to_owned()
    }
}

/// A request and its answer, each through the core, over and over.
fn round_trip(bencher: Bencher, request: &Value, answer: &Value) {
    let line = |message: &Value| Bytes::from(message.to_string());
    let (request, answer) = (line(request), line(answer));
    let mut relay = Relay::new(Config::default(), REGISTRY, Box::new(Nothing));
    let mut actions: Vec<Action> = Vec::new();
    bencher
        .counter(BytesCount::new(request.len() + answer.len()))
        .bench_local(|| {
            actions.clear();
            relay.on_client_line(black_box(request.clone()), Now::default(), &mut actions);
            relay.on_child_line(black_box(answer.clone()), Now::default(), &mut actions);
            actions.len()
        });
}

fn call(tool: &str, arguments: &Value) -> Value {
    json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": { "name": tool, "arguments": arguments },
    })
}

/// An answer as the server gives it: the payload as text and as `structuredContent`.
fn answer(payload: &Value) -> Value {
    json!({
        "jsonrpc": "2.0", "id": 1,
        "result": {
            "content": [{ "type": "text", "text": payload.to_string() }],
            "structuredContent": payload,
            "isError": false,
        },
    })
}

/// A payload of so many records; 3,200 make an answer of 1 MB.
fn records(count: u32, success: bool, message: &str) -> Value {
    let record = |i: u32| {
        json!({
            "name": format!("Object_{i}"), "instanceID": 1000 + 2 * i,
            "path": format!("/Root/Group_{}/Object_{i}", i / 10),
            "activeSelf": !i.is_multiple_of(3), "position": [0.5, 0.0, -0.25],
        })
    };
    let items: Vec<Value> = (0..count).map(record).collect();
    json!({ "success": success, "message": message, "data": { "items": items } })
}

#[divan::bench]
fn passed_message(bencher: Bencher) {
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    let answer = json!({ "jsonrpc": "2.0", "id": 1, "result": {} });
    round_trip(bencher, &request, &answer);
}

#[divan::bench]
fn passed_call(bencher: Bencher) {
    let arguments =
        json!({ "search_term": "Object_1", "search_method": "by_name", "page_size": 50 });
    let request = call("find_gameobjects", &arguments);
    round_trip(bencher, &request, &answer(&records(1, true, "ok")));
}

#[divan::bench]
fn rewritten_call(bencher: Bencher) {
    let code = "var go = GameObject.Find(\"Object_1\");\nif (go == null) return \"none\";\nreturn go.name;";
    let request = call(
        "execute_code",
        &json!({ "action": "execute", "code": code }),
    );
    round_trip(bencher, &request, &answer(&records(1, true, "ok")));
}

#[divan::bench]
fn answer_of_1_mb(bencher: Bencher) {
    let request = call("find_gameobjects", &json!({ "page_size": 50 }));
    round_trip(bencher, &request, &answer(&records(3200, true, "ok")));
}

#[divan::bench]
fn answer_of_1_mb_with_a_note(bencher: Bencher) {
    let request = call("find_gameobjects", &json!({ "page_size": 50 }));
    let payload = records(3200, false, "Timeout receiving Unity response");
    round_trip(bencher, &request, &answer(&payload));
}

/// The committed contracts with descriptions as long as the server's are together (107 KB, measured against 10.1.0).
fn listing() -> Value {
    let baseline: Value = serde_json::from_str(include_str!("../baseline/10.1.0.json"))
        .expect("the committed baseline");
    let contracts = baseline["tools"].as_object().expect("its tools");
    let tool = |name: &String, contract: &Value, description: usize| json!({ "name": name, "description": "d".repeat(description), "inputSchema": contract["contract"] });
    let bare: usize = contracts
        .iter()
        .map(|(n, c)| tool(n, c, 0).to_string().len())
        .sum();
    let description = 107_000_usize.saturating_sub(bare) / contracts.len();
    let tools = contracts
        .iter()
        .map(|(name, contract)| tool(name, contract, description));
    let tools: Vec<Value> = tools.collect();
    json!({ "jsonrpc": "2.0", "id": 1, "result": { "tools": tools } })
}

#[divan::bench]
fn listing_seen_before(bencher: Bencher) {
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {} });
    round_trip(bencher, &request, &listing());
}

/// Every second list is another one, so none has been looked at before.
#[divan::bench]
fn listing_that_is_new(bencher: Bencher) {
    let request =
        Bytes::from(json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }).to_string());
    let mut other = listing();
    if let Some(tools) = other["result"]["tools"].as_array_mut() {
        tools.reverse();
    }
    let answers = [listing(), other].map(|answer| Bytes::from(answer.to_string()));
    let mut relay = Relay::new(Config::default(), REGISTRY, Box::new(Nothing));
    let (mut actions, mut turn) = (Vec::<Action>::new(), 0);
    bencher
        .counter(BytesCount::new(answers[0].len()))
        .bench_local(|| {
            actions.clear();
            turn ^= 1;
            relay.on_client_line(request.clone(), Now::default(), &mut actions);
            relay.on_child_line(
                black_box(answers[turn].clone()),
                Now::default(),
                &mut actions,
            );
            actions.len()
        });
}
