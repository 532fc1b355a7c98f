//! A server that says what a script tells it: upstream in tests.
//!
//! It writes down every line that it gets and says, so that an onlooker sees the relay's other side.

use super::{FAILED, Failure, print};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};

/// The arguments.
#[derive(clap::Args)]
pub(super) struct Options {
    /// What to say: a JSON list of rules
    #[arg(long)]
    script: PathBuf,
    /// Where to write down what is heard and said, a JSON value a line
    #[arg(long)]
    transcript: Option<PathBuf>,
}

/// When to say what. The first rule that fits a request speaks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Rule {
    /// The method of the request.
    pub(super) method: String,
    /// Its id, when only one request is meant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<u64>,
    /// Whether the rule is used up by one request.
    #[serde(default)]
    pub(super) once: bool,
    /// What is said, in order. Nothing: the request hangs.
    pub(super) say: Vec<Say>,
}

/// One line of the server's.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Say {
    /// An answer to the request.
    Result(Value),
    /// A JSON-RPC error in answer to it.
    Error(Value),
    /// A notification of this method.
    Notification(String),
    /// Text that is no message.
    Text(String),
    /// The end of the process, with this status.
    Exit(u8),
}

/// What a transcript holds.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Entry {
    /// A line that was heard.
    Got(String),
    /// A line that was said.
    Said(String),
    /// The input ended.
    End,
}

/// Serves until the input ends.
pub(super) fn run(options: &Options) -> Result<u8, Failure> {
    let script = std::fs::read(&options.script).map_err(failed(&options.script))?;
    let mut rules: Vec<Rule> =
        serde_json::from_slice(&script).map_err(|error| Failure::Told(error.to_string()))?;
    let mut transcript = Transcript(options.transcript.as_deref().map(create).transpose()?);
    for line in io::stdin().lock().lines() {
        let line = line.map_err(Failure::io("stdin cannot be read"))?;
        transcript.write(&Entry::Got(line.clone()))?;
        for say in answer(&line, &mut rules) {
            let said = match say {
                Say::Exit(status) => return Ok(status),
                say => spoken(say, &line),
            };
            transcript.write(&Entry::Said(said.clone()))?;
            print(&format!("{said}\n"))?;
        }
    }
    transcript.write(&Entry::End)?;
    Ok(0)
}

/// What is said to `line`. A request that no rule fits gets an error, a notification nothing.
fn answer(line: &str, rules: &mut Vec<Rule>) -> Vec<Say> {
    let Ok(message) = serde_json::from_str::<Value>(line) else {
        return vec![Say::Exit(FAILED)];
    };
    let Some(method) = message["method"]
        .as_str()
        .filter(|_| !message["id"].is_null())
    else {
        return Vec::new();
    };
    let fits = |rule: &Rule| {
        rule.method == method && rule.id.is_none_or(|id| message["id"].as_u64() == Some(id))
    };
    match rules.iter().position(fits) {
        None => vec![Say::Error(json!({
            "code": -32601, "message": format!("the script has no answer to {method}"),
        }))],
        Some(at) if rules[at].once => rules.remove(at).say,
        Some(at) => rules[at].say.clone(),
    }
}

/// A line as it goes out, in answer to `request`.
fn spoken(say: Say, request: &str) -> String {
    let id = || serde_json::from_str::<Value>(request).map_or(Value::Null, |m| m["id"].clone());
    match say {
        Say::Result(result) => {
            json!({ "jsonrpc": "2.0", "id": id(), "result": result }).to_string()
        }
        Say::Error(error) => json!({ "jsonrpc": "2.0", "id": id(), "error": error }).to_string(),
        Say::Notification(method) => json!({ "jsonrpc": "2.0", "method": method }).to_string(),
        Say::Text(text) => text,
        Say::Exit(_) => String::new(),
    }
}

struct Transcript(Option<File>);

impl Transcript {
    fn write(&mut self, entry: &Entry) -> Result<(), Failure> {
        let Some(file) = &mut self.0 else {
            return Ok(());
        };
        let line = serde_json::to_string(entry).map_err(|e| Failure::Told(e.to_string()))?;
        // One write for a line: a reader never sees half of one.
        file.write_all(format!("{line}\n").as_bytes())
            .map_err(Failure::io("the transcript cannot be written"))
    }
}

fn create(path: &Path) -> Result<File, Failure> {
    File::create(path).map_err(failed(path))
}

fn failed(path: &Path) -> impl FnOnce(io::Error) -> Failure + use<> {
    Failure::io(path.display().to_string())
}
