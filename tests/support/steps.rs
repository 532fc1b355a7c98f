//! The steps of a case that do something: the client, the upstream, the clock, the heartbeat folder.

use super::case::Heartbeat;
use super::looks;
use super::rig::Rig;
use serde_json::{Map, Value, json};
use std::time::Duration;

pub(crate) type Step = Map<String, Value>;

/// Runs a step of a kind that [`super::case::kind`] named.
///
/// # Errors
/// The difference between what the step wants and what was seen.
pub(crate) fn run(rig: &mut Rig, kind: &str, step: &Step) -> Result<(), String> {
    match kind {
        "call" => call(rig, step),
        "send" => {
            if let Some(id) = step["send"].get("id") {
                rig.last_id = id.clone();
            }
            let line = line(rig, &step["send"])?;
            rig.client_sends(&line);
            Ok(())
        }
        "send_hex" => {
            let bytes = hex::decode(text(&step["send_hex"])?).map_err(|e| e.to_string())?;
            rig.client_sends(&bytes);
            Ok(())
        }
        "answer" => answer(rig, step),
        "reply" => {
            let line = line(rig, &step["reply"])?;
            rig.child_sends(&line);
            Ok(())
        }
        "reply_control" => control(rig, text(&step["reply_control"])?),
        "heartbeat" => {
            let heartbeat = serde_json::from_value::<Heartbeat>(step["heartbeat"].clone());
            rig.write_heartbeat(&heartbeat.map_err(|error| error.to_string())?)
        }
        "drop_heartbeat" => rig.drop_heartbeat(text(&step["drop_heartbeat"])?),
        "sleep_s" => {
            let seconds = step["sleep_s"].as_f64().ok_or("sleep_s wants a number")?;
            rig.driver.advance(Duration::from_secs_f64(seconds));
            Ok(())
        }
        _ => looks::run(rig, kind, step),
    }
}

fn call(rig: &mut Rig, step: &Step) -> Result<(), String> {
    let next = rig.last_id.as_i64().map_or(1, |id| id + 1);
    rig.last_id = step.get("id").cloned().unwrap_or_else(|| next.into());
    let params = rig.fill(&step["call"]);
    let id = &rig.last_id;
    let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#);
    rig.client_sends(format!("{line}\n").as_bytes());
    Ok(())
}

fn answer(rig: &mut Rig, step: &Step) -> Result<(), String> {
    let mut payload = rig.fill(&step["answer"]);
    if let Some(pieces) = payload.get("$repeat") {
        payload = json!({ "success": true, "data": repeated(pieces)? });
    }
    if let Some(code) = rig.code.as_ref().filter(|_| !payload.is_string()) {
        // What the Editor's history shows of a snippet.
        let shown = format!("{}...", code.chars().take(500).collect::<String>());
        payload = replace_text(&payload, "$code500", &shown);
    }
    let text = payload
        .as_str()
        .map_or_else(|| payload.to_string(), ToOwned::to_owned);
    let mut result = json!({ "content": [{ "type": "text", "text": text }] });
    match step.get("structured") {
        None => result["structuredContent"] = payload.clone(),
        Some(Value::String(surface)) if surface == "mirror" => {
            result["structuredContent"] = payload.clone();
        }
        Some(Value::String(surface)) if surface == "wrap" => {
            result["structuredContent"] = json!({ "result": payload });
        }
        Some(Value::String(surface)) if surface == "none" => {}
        Some(surface) => result["structuredContent"] = surface.clone(),
    }
    result["isError"] = step.get("is_error").cloned().unwrap_or(json!(false));
    let id = step.get("id").unwrap_or(&rig.last_id);
    let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}\n");
    rig.child_sends(line.as_bytes());
    rig.answered = Some((step.clone(), payload));
    Ok(())
}

fn control(rig: &mut Rig, what: &str) -> Result<(), String> {
    if let Some(status) = what.strip_prefix("!exit ") {
        rig.driver.end_child(&format!("ended with status {status}"));
    } else if let Some(bytes) = what.strip_prefix("!hex ") {
        rig.child_sends(&hex::decode(bytes).map_err(|error| error.to_string())?);
    } else {
        return Err("only !exit and !hex can be played without a process".to_owned());
    }
    Ok(())
}

/// A message as a line: an object is written out, a text is sent as it stands, and a list is a text
/// in pieces, each of them a text or a `{"$repeat": [text, n]}`.
fn line(rig: &Rig, value: &Value) -> Result<Vec<u8>, String> {
    let mut line = line_text(rig, value)?.into_bytes();
    line.push(b'\n');
    Ok(line)
}

pub(crate) fn line_text(rig: &Rig, value: &Value) -> Result<String, String> {
    match rig.fill(value) {
        Value::String(text) => Ok(text),
        Value::Array(pieces) => {
            let piece = |piece: &Value| match piece.get("$repeat") {
                Some(repeat) => repeated(repeat),
                None => text(piece).map(ToOwned::to_owned),
            };
            pieces.iter().map(piece).collect()
        }
        message => Ok(message.to_string()),
    }
}

fn repeated(pieces: &Value) -> Result<String, String> {
    let times = pieces[1]
        .as_u64()
        .and_then(|times| usize::try_from(times).ok());
    let times = times.ok_or("$repeat wants a text and how often")?;
    Ok(text(&pieces[0])?.repeat(times))
}

fn replace_text(value: &Value, from: &str, to: &str) -> Value {
    match value {
        Value::String(text) => text.replace(from, to).into(),
        Value::Array(items) => items
            .iter()
            .map(|item| replace_text(item, from, to))
            .collect(),
        Value::Object(fields) => {
            let fields = fields.iter();
            let replaced = fields.map(|(key, value)| (key.clone(), replace_text(value, from, to)));
            Value::Object(replaced.collect())
        }
        other => other.clone(),
    }
}

pub(crate) fn text(value: &Value) -> Result<&str, String> {
    value
        .as_str()
        .ok_or_else(|| format!("a text is wanted, not {value}"))
}

pub(crate) fn texts(list: Option<&Value>) -> Result<Vec<&str>, String> {
    let list = list.map_or(Ok(&[][..]), |list| {
        list.as_array()
            .map(Vec::as_slice)
            .ok_or_else(|| format!("a list is wanted, not {list}"))
    })?;
    list.iter().map(text).collect()
}
