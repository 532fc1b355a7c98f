//! Hostile lines in bulk: whatever bytes a client sends, what the relay forwards is read once more as the server
//! reads it, by the official SDK, and must hold no call that the guards would have stopped.
//!
//! `VRC_MCP_PROXY_FUZZ_LINES` says how many lines are tried (20,000 unless it says otherwise), and
//! `VRC_MCP_PROXY_FUZZ_SEED` which ones: the same seed makes the same lines. Lines that once found a fault are kept in
//! `tests/fuzz/found.txt` and tried first.
//!
//! The SDK is fetched with uv; without it the test is passed over with a word, unless it is required.
#![cfg(unix)]
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "tests"
)]

#[path = "fuzz/grow.rs"]
mod grow;
#[path = "fuzz/oracle.rs"]
mod oracle;
mod support;

use bytes::Bytes;
use grow::Grower;
use oracle::{Oracle, Record, tell};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use support::driver::{Driver, START_UNIX_MS};
use support::random::{Random, setting};
use support::surroundings::NoEditors;
use vrc_mcp_proxy::behaviors::{REGISTRY, Surroundings};
use vrc_mcp_proxy::config::Config;
use vrc_mcp_proxy::instances::Editor;
use vrc_mcp_proxy::relay::Relay;
use vrc_mcp_proxy::wire::envelope::{ClientLine, Kind, read_client};

/// Lines that one relay gets before the next one takes over.
const SESSION: usize = 200;

/// Two open Editors, without files.
#[derive(Default)]
struct TwoEditors {
    keys: AtomicU64,
}

impl Surroundings for TwoEditors {
    fn editors(&self) -> Vec<Editor> {
        let editor = |hash: &str, name: &str, port| Editor {
            hash: hash.to_owned(),
            project_name: Some(name.to_owned()),
            project_path: format!("C:/Unity/{name}/Assets"),
            port: Some(port),
            reloading: false,
            reason: Some("ready".to_owned()),
            last_heartbeat_ms: Some(START_UNIX_MS),
            file: Path::new("unity-mcp-status.json").to_owned(),
            moved: None,
        };
        vec![
            editor("0be31597", "Alpha", 6400),
            editor("1824ae67", "Beta", 6401),
        ]
    }

    fn holds_folder(&self, _: &Path, _: &str) -> Option<bool> {
        Some(true)
    }

    fn fresh_key(&self) -> String {
        format!("{:032x}", self.keys.fetch_add(1, Ordering::Relaxed))
    }
}

/// A session in which something was pinned, or nothing.
fn session(random: &mut Random) -> Driver {
    let surroundings: Box<dyn Surroundings + Send> = if random.below(2) == 0 {
        Box::new(NoEditors::default())
    } else {
        Box::new(TwoEditors::default())
    };
    let mut driver = Driver::new(Relay::new(Config::default(), REGISTRY, surroundings));
    if random.below(2) == 0 {
        driver.client_sends(r#"{"jsonrpc":"2.0","id":"pin","method":"tools/call","params":{"name":"set_active_instance","arguments":{"instance":"Alpha@0be31597"}}}"#);
        let text = r#"{"success":true,"data":{"instance":"Alpha@0be31597"}}"#;
        driver.child_sends(
            json!({"jsonrpc":"2.0","id":"pin","result":{"content":[{"type":"text","text":text}]}})
                .to_string(),
        );
    }
    driver.client.clear();
    driver.child.clear();
    driver
}

/// Sends a line, and answers what the upstream gets of it, so that nothing stays in flight.
fn send(driver: &mut Driver, line: &[u8]) -> Record {
    driver.client_sends(Bytes::copy_from_slice(line));
    let forwarded: Vec<Bytes> = driver.child.drain(..).collect();
    let answered = driver
        .client
        .drain(..)
        .map(|answer| answer.to_vec())
        .collect();
    for line in &forwarded {
        if let ClientLine::Message(message) = read_client(line)
            && let Kind::Request(id) = &message.kind
        {
            let id = id.to_json();
            driver.child_sends(format!(
                r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[],"isError":false}}}}"#
            ));
        }
    }
    driver.client.clear();
    assert!(driver.child.is_empty(), "an answer made the relay forward");
    Record {
        sent: line.to_vec(),
        forwarded: forwarded.iter().map(|line| line.to_vec()).collect(),
        answered,
    }
}

fn found() -> Vec<Vec<u8>> {
    let kept = include_str!("fuzz/found.txt").lines();
    kept.filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| hex::decode(line).expect("hexadecimal digits"))
        .collect()
}

#[test]
fn nothing_is_smuggled_past_the_guards_and_nothing_is_lost() {
    let Some(mut oracle) = Oracle::start() else {
        return;
    };
    let lines = setting("VRC_MCP_PROXY_FUZZ_LINES", 20_000);
    let seed = setting("VRC_MCP_PROXY_FUZZ_SEED", 1);
    let mut random = Random::new(seed);
    let messages: Vec<Value> =
        serde_json::from_str(include_str!("fuzz/seeds.json")).expect("the seeds");
    let grower = Grower::new(&messages);
    let mut kept = found().into_iter();
    let mut driver = session(&mut random);
    for number in 0..usize::try_from(lines).expect("a count") {
        if number % SESSION == 0 {
            driver = session(&mut random);
        }
        let line = match kept.next() {
            Some(line) => line,
            None => grower.line(&mut random),
        };
        oracle.look_at(&send(&mut driver, &line));
    }
    let told = oracle.finish();
    assert!(
        told["faults"] == json!([]) && told["lines"] == json!(lines),
        "seed {seed}: {told:#}"
    );
    // What the figures stand for: calls that reach the server, and calls that do not.
    assert!(told["calls"].as_u64() > Some(lines / 50), "{told:#}");
    assert!(told["stopped"].as_u64() > Some(lines / 50), "{told:#}");
    tell(&format!("{lines} lines from seed {seed}: {told}"));
}
