//! The files of cases: what one holds, and how it is read.

use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::Path;

/// One case: a session to play, and what is to be seen in it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) env: BTreeMap<String, String>,
    #[serde(default)]
    pub(crate) heartbeats: Vec<Heartbeat>,
    #[serde(default)]
    pub(crate) folders: Vec<String>,
    pub(crate) steps: Vec<Map<String, Value>>,
    #[serde(default, rename = "deviates")]
    _deviates: Option<String>,
}

/// A heartbeat file to write.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Heartbeat {
    pub(crate) hash: Option<String>,
    pub(crate) file: Option<String>,
    pub(crate) raw: Option<String>,
    pub(crate) raw_hex: Option<String>,
    pub(crate) project_path: Option<String>,
    pub(crate) project_name: Option<String>,
    pub(crate) unity_port: Option<Value>,
    pub(crate) reloading: Option<bool>,
    pub(crate) reason: Option<String>,
    pub(crate) age_s: Option<f64>,
    pub(crate) last_heartbeat: Option<String>,
    #[serde(default)]
    pub(crate) drop: Vec<String>,
}

/// Reads a file of cases.
///
/// # Errors
/// When it is missing, is no list of cases, holds none, or two of one name.
pub(crate) fn load(path: &Path) -> Result<Vec<Case>, String> {
    let fault = |what: String| format!("{}: {what}", path.display());
    let text = std::fs::read_to_string(path).map_err(|error| fault(error.to_string()))?;
    let cases: Vec<Case> = serde_json::from_str(&text).map_err(|error| fault(error.to_string()))?;
    if cases.is_empty() {
        return Err(fault("it holds no case".to_owned()));
    }
    for (at, case) in cases.iter().enumerate() {
        if cases[..at].iter().any(|other| other.name == case.name) {
            return Err(fault(format!("two cases are named {:?}", case.name)));
        }
        if case.steps.is_empty() {
            return Err(fault(format!("the case {:?} has no steps", case.name)));
        }
    }
    Ok(cases)
}

/// The kinds of step, each with the keys that may stand beside its own.
const KINDS: &[(&str, &[&str])] = &[
    ("call", &["id"]),
    ("send", &[]),
    ("send_hex", &[]),
    (
        "expect:forwarded",
        &[
            "arguments",
            "message",
            "prelude",
            "code",
            "head_contains",
            "head_lacks",
            "fresh_key",
        ],
    ),
    ("upstream_raw", &[]),
    ("upstream_gets_raw", &[]),
    (
        "expect:refused",
        &["says", "lacks", "id", "within_s", "upstream", "facts"],
    ),
    ("expect:rpc_error", &["code", "id", "says", "upstream"]),
    ("answer", &["id", "structured", "is_error"]),
    ("reply", &[]),
    ("reply_control", &[]),
    ("client_raw", &[]),
    ("client_gets_raw", &[]),
    ("client_gets", &[]),
    (
        "expect:answer",
        &[
            "id",
            "notes",
            "note_says",
            "note_lacks",
            "payload",
            "within_s",
            "facts",
        ],
    ),
    ("expect:client_quiet", &[]),
    ("expect:upstream_quiet", &[]),
    ("stderr_says", &[]),
    ("stderr_lacks", &[]),
    ("heartbeat", &[]),
    ("drop_heartbeat", &[]),
    ("sleep_s", &[]),
];

/// The kind of a step. A key that its kind does not know is a fault: a check with a slip in its name
/// would check nothing.
///
/// # Errors
/// What is wrong with the step.
pub(crate) fn kind(step: &Map<String, Value>) -> Result<&'static str, String> {
    let wanted = step
        .get("expect")
        .map(|what| format!("expect:{}", what.as_str().unwrap_or("")));
    let is_kind = |name: &str| {
        wanted
            .as_ref()
            .map_or(step.contains_key(name), |w| w == name)
    };
    let (name, beside) = KINDS
        .iter()
        .find(|(name, _)| is_kind(name))
        .ok_or("no such step here (the process has its own tests for exit and closing)")?;
    let own = name.split(':').next().unwrap_or_default();
    match step
        .keys()
        .find(|key| *key != own && !beside.contains(&key.as_str()))
    {
        Some(key) => Err(format!("a step of the kind {name} has no {key:?}")),
        None => Ok(name),
    }
}
