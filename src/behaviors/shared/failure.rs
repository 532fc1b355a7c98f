//! Failed answers, and what they say of the way to the Editor.

use crate::reply::{Phrase, Reply};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// A tool's failed answer: a failure payload, or one with `isError`.
pub(in crate::behaviors) struct Failure<'r> {
    /// The payload, where it is an object.
    pub(in crate::behaviors) payload: Option<&'r Map<String, Value>>,
    /// What it says: `error` and `message` of the payload, else the text.
    texts: Vec<Cow<'r, str>>,
}

impl<'r> Failure<'r> {
    /// The failure in an answer. `None` for a success, whatever it quotes, and for a JSON-RPC error.
    pub(in crate::behaviors) fn of(reply: &'r Reply<'_>) -> Option<Self> {
        if !reply.may_fail() || reply.is_rpc_error() {
            return None;
        }
        let payload = reply.payload();
        if let Some(object) = payload.and_then(Value::as_object) {
            let failed = failed(object).or_else(|| {
                let open = reply.is_error() && object.get("success") != Some(&Value::Bool(true));
                open.then_some(object)
            })?;
            let said = ["error", "message"].map(|key| failed.get(key).and_then(Value::as_str));
            return Some(Failure {
                payload: Some(failed),
                texts: said.into_iter().flatten().map(Cow::Borrowed).collect(),
            });
        }
        let texts = || match payload {
            Some(Value::String(text)) => vec![Cow::Borrowed(text.as_str())],
            _ => reply.texts().collect(),
        };
        reply.is_error().then(|| Failure {
            payload: None,
            texts: texts(),
        })
    }

    /// Whether the failure says `phrase` itself: not in quotes, where it is somebody's name, and not as the message of an
    /// exception of the caller's own code.
    pub(in crate::behaviors) fn says(&self, phrase: &Phrase) -> bool {
        self.any(|text| {
            let mut places = phrase.places_in(text.as_bytes());
            places.any(|at| !is_quoted(&text[..at]))
        })
    }

    /// Whether one of the texts is such. The message of an exception that a snippet threw is not looked at.
    pub(in crate::behaviors) fn any(&self, holds: impl Fn(&str) -> bool) -> bool {
        let said = |text: &&Cow<'_, str>| !text.starts_with("Runtime error: ");
        self.texts.iter().filter(said).any(|text| holds(text))
    }
}

/// The object with `success: false`: the payload, or what stands alone under its `result`.
fn failed(payload: &Map<String, Value>) -> Option<&Map<String, Value>> {
    let object = match payload.get("success") {
        None => payload.get("result")?.as_object()?,
        Some(_) => payload,
    };
    (object.get("success") == Some(&Value::Bool(false))).then_some(object)
}

/// Whether what stands behind `before` is in quotes. In `error='…'`, where upstream prints a structure, it is not.
fn is_quoted(before: &str) -> bool {
    let opened = before.strip_suffix(['\'', '"', '`', '“', '‘', '«', '„']);
    opened.is_some_and(|before| !before.ends_with('='))
}
