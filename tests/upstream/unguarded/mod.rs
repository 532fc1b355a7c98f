//! The real server *without* the relay. These tests show that the rig is true: the faults which the
//! relay exists for come about in it as they were measured.

pub mod actions;
pub mod assets;
pub mod delivery;
pub mod instances;
pub mod snippets;

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::rig::client::{Answer, Client, Launch, PATIENCE};
use crate::rig::editor::{Editor, Fault};
use crate::rig::home::Home;
use crate::scenarios;
use crate::together::starting;

/// Counts its own runs in `SessionState`, where a test can read them.
const COUNT: &str =
    r#"var n = SessionState.GetInt("runs", 0) + 1; SessionState.SetInt("runs", n); return n;"#;
const WHERE: &str = "return Application.dataPath;";

fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

/// A server with one Editor, warm: the first call to an Editor is slow, and not what is measured.
fn pair(home: &Home) -> (Editor, Client) {
    starting(|| {
        let editor = home.editor("Alpha");
        let mut client = Client::start(home, &Launch::direct());
        assert_eq!(client.code("return 0;").value(), 0);
        editor.forget();
        (editor, client)
    })
}

/// How often the snippet was run, by the Editor's log.
fn runs(editor: &Editor) -> usize {
    editor.executions("execute_code")
}

/// How often the snippet arrived, by the Editor's log.
fn deliveries(editor: &Editor) -> usize {
    editor.deliveries("execute_code")
}

fn lines_named(answer: &Answer) -> Vec<String> {
    let payload = answer.payload();
    let errors = payload["data"]["errors"].as_array().unwrap();
    errors
        .iter()
        .map(|error| {
            error
                .as_str()
                .unwrap()
                .split(':')
                .next()
                .unwrap()
                .to_owned()
        })
        .collect()
}
