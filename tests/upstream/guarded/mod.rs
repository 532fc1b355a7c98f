//! The relay in front of the real server: what the Editor receives and runs, and what the client is told.

pub mod binding;
pub mod delivery;
pub mod doctor;
pub mod ends;
pub mod instances;
pub mod modes;
pub mod outcome;
pub mod session;
pub mod turns;
pub mod versions;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::rig::client::{Answer, Client, Launch, PATIENCE};
use crate::rig::editor::{Editor, Fault};
use crate::rig::home::Home;
use crate::rig::tree::Tree;
use crate::scenarios;
use crate::together::starting;

const WHERE: &str = "return Application.dataPath;";
const DUPLICATE: &str = "[proxy-duplicate-suppressed]";

fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

/// A relay with one Editor, warm.
fn pair(home: &Home) -> (Editor, Client) {
    pair_with(home, &Launch::relay())
}

fn pair_with(home: &Home, launch: &Launch) -> (Editor, Client) {
    starting(|| {
        let editor = home.editor("Alpha");
        let mut client = Client::start(home, launch);
        assert_eq!(client.code("return 0;").value(), 0);
        editor.forget();
        (editor, client)
    })
}

/// How often a snippet's body ran, by a file that every run makes one byte longer: nothing that an
/// Editor or a script domain could forget.
struct Tally {
    file: PathBuf,
}

impl Tally {
    fn new(home: &Home, name: &str) -> Self {
        Self {
            file: home.path(name),
        }
    }

    /// A snippet that is counted and then does this.
    fn snippet(&self, then: &str) -> String {
        let file = self.file.display();
        format!("System.IO.File.AppendAllText(\"{file}\", \"x\");\n{then}")
    }

    fn runs(&self) -> u64 {
        std::fs::metadata(&self.file).map_or(0, |file| file.len())
    }
}

fn execute(code: &str) -> Value {
    json!({"action": "execute", "code": code})
}

fn deliveries(editor: &Editor) -> usize {
    editor.deliveries("execute_code")
}

/// The facts that the proxy put beside an answer; null when it put none.
fn facts(answer: &Answer) -> &Value {
    &answer.result()["_meta"]["vrc-mcp-proxy"]
}

/// A refusal's text. It must have one fact, and no second surface that could say something else.
fn refusal(answer: &Answer, behavior: &str, code: &str, forwarded: bool) -> String {
    let raw = &answer.0.raw;
    assert!(answer.is_error(), "{raw}");
    assert!(answer.result().get("structuredContent").is_none(), "{raw}");
    let fact = json!([{"behavior": behavior, "code": code, "forwarded": forwarded}]);
    assert_eq!(facts(answer), &fact, "{raw}");
    answer.text()
}

/// The text of an answer's notes, which must have these facts and stand on both surfaces.
fn notes(answer: &Answer, expected: &[(&str, &str)]) -> String {
    let raw = &answer.0.raw;
    let fact = |(behavior, code): &(&str, &str)| json!({"behavior": behavior, "code": code, "forwarded": true});
    let expected: Value = expected.iter().map(fact).collect();
    assert_eq!(facts(answer), &expected, "{raw}");
    let text = answer.texts()[1..].join("\n");
    let structured = &answer.result()["structuredContent"];
    if structured.is_object() {
        assert_eq!(structured["proxy_transport_note"], text, "{raw}");
    }
    text
}

/// Asserts that an answer is upstream's own.
fn untouched(answer: &Answer) {
    let raw = &answer.0.raw;
    assert!(facts(answer).is_null(), "{raw}");
    assert!(!raw.contains("proxy"), "{raw}");
    assert_eq!(answer.texts().len(), 1, "{raw}");
}

#[track_caller]
fn says(text: &str, all: &[&str]) {
    for part in all {
        assert!(text.contains(part), "no {part:?} in: {text}");
    }
}

/// How many seconds old a text says that a heartbeat is.
fn told_age(text: &str) -> u32 {
    let (ahead, _) = text.split_once(" s old").unwrap();
    ahead.rsplit(' ').next().unwrap().parse().unwrap()
}
