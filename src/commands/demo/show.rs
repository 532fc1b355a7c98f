//! Messages as a person reads them.

use crate::commands::text::{clip, columns, shorten, wrap};
use crate::reply::META_KEY;
use serde_json::Value;

/// How wide each of the two columns is.
const COLUMN: usize = 46;
/// How much of a long text is shown: its first and its last lines.
const TEXT: (usize, usize) = (9, 3);
/// The same for a snippet.
const CODE: (usize, usize) = (14, 10);
/// The same for a list of tools.
const LIST: (usize, usize) = (5, 1);

/// Two headed columns.
pub(super) fn side_by_side(heads: [&str; 2], left: &[String], right: &[String]) -> String {
    let head = |text: &str| vec![text.to_uppercase()];
    let rule = vec!["-".repeat(COLUMN)];
    columns(&head(heads[0]), &head(heads[1]), COLUMN)
        + &columns(&rule, &rule, COLUMN)
        + &columns(left, right, COLUMN)
        + "\n"
}

/// A paragraph over both columns.
pub(super) fn paragraph(text: &str) -> String {
    let lines = wrap(text, 2 * COLUMN + 3);
    lines.join("\n") + "\n"
}

/// Messages, one below the other.
pub(super) fn messages(messages: &[Value], nothing: &str) -> Vec<String> {
    if messages.is_empty() {
        return wrap(nothing, COLUMN);
    }
    messages.iter().flat_map(message).collect()
}

/// A remark in place of a message.
pub(super) fn remark(text: &str) -> Vec<String> {
    wrap(&format!("({text})"), COLUMN)
}

fn message(message: &Value) -> Vec<String> {
    if let Value::String(text) = message {
        return wrap(text, COLUMN);
    }
    if let Some(method) = message["method"].as_str() {
        return request(method, &message["params"]);
    }
    if let Some(error) = message["error"]["message"].as_str() {
        return text("error: ", error);
    }
    result(&message["result"])
}

fn request(method: &str, params: &Value) -> Vec<String> {
    let Some(tool) = params["name"].as_str() else {
        return vec![method.to_owned()];
    };
    let mut lines = vec![tool.to_owned()];
    let arguments = params["arguments"].as_object().into_iter().flatten();
    lines.extend(arguments.flat_map(|(name, value)| member("  ", name, value)));
    lines
}

/// A member of an object, a text of several lines below its name.
fn member(indent: &str, name: &str, value: &Value) -> Vec<String> {
    match value.as_str() {
        Some(text) if text.contains('\n') => {
            let code = text.lines();
            let code = code.map(|line| clip(&format!("{indent}  {line}"), COLUMN));
            let mut lines = vec![format!("{indent}{name}:")];
            lines.extend(shorten(code.collect(), CODE.0, CODE.1));
            lines
        }
        Some(text) => wrap(&format!("{indent}{name}: {text}"), COLUMN),
        None => wrap(&format!("{indent}{name}: {}", spaced(value)), COLUMN),
    }
}

/// JSON with blanks at which it can be wrapped.
fn spaced(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let members = members.iter();
            let members = members.map(|(key, value)| format!("{key}: {}", spaced(value)));
            format!("{{ {} }}", members.collect::<Vec<_>>().join(", "))
        }
        Value::Array(entries) => {
            let entries = entries.iter().map(spaced);
            format!("[{}]", entries.collect::<Vec<_>>().join(", "))
        }
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn result(result: &Value) -> Vec<String> {
    if let Some(tools) = result["tools"].as_array() {
        let names: Vec<&str> = tools
            .iter()
            .filter_map(|tool| tool["name"].as_str())
            .collect();
        let list = format!("{} tools: {}", names.len(), names.join(", "));
        return shorten(wrap(&list, COLUMN), LIST.0, LIST.1);
    }
    let Some(blocks) = result["content"].as_array() else {
        return text("", &result.to_string());
    };
    let first = if result["isError"] == true {
        "error: "
    } else {
        ""
    };
    let heads = std::iter::once(first).chain(std::iter::repeat("note: "));
    let blocks = blocks.iter().filter_map(|block| block["text"].as_str());
    let mut lines: Vec<String> = heads
        .zip(blocks)
        .flat_map(|(head, block)| text(head, block))
        .collect();
    for fact in result["_meta"][META_KEY].as_array().into_iter().flatten() {
        let word = |key: &str| fact[key].as_str().unwrap_or("?");
        lines.extend(wrap(
            &format!("[{}: {}]", word("behavior"), word("code")),
            COLUMN,
        ));
    }
    lines
}

/// A text; a payload, which is a JSON object, member by member with the verdict first.
fn text(head: &str, text: &str) -> Vec<String> {
    if let Ok(Value::Object(payload)) = serde_json::from_str(text) {
        let (verdict, rest): (Vec<_>, Vec<_>) =
            payload.iter().partition(|(name, _)| *name == "success");
        let members = verdict.into_iter().chain(rest);
        return members
            .flat_map(|(name, value)| member("", name, value))
            .collect();
    }
    shorten(wrap(&format!("{head}{text}"), COLUMN), TEXT.0, TEXT.1)
}
