//! The steps of a case that look at something: what the upstream got, what the client got, stderr.

use super::clip;
use super::pattern::{check, says};
use super::rig::Rig;
use super::steps::{Step, line_text, text, texts};
use serde_json::{Value, json};
use vrc_mcp_proxy::reply::{META_KEY, NOTE_KEY};

/// Runs a step that only looks.
///
/// # Errors
/// The difference between what the step wants and what was seen.
pub(super) fn run(rig: &mut Rig, kind: &str, step: &Step) -> Result<(), String> {
    match kind {
        "expect:forwarded" => forwarded(rig, step),
        "expect:refused" => refused(rig, step),
        "expect:rpc_error" => rpc_error(rig, step),
        "expect:answer" => check_answer(rig, step),
        "expect:client_quiet" => quiet(rig.driver.client.front(), "the client"),
        "expect:upstream_quiet" => quiet(rig.driver.child.front(), "the upstream"),
        "upstream_raw" => {
            let line = rig.child_line()?;
            parts(&line, &step[kind], "the upstream's line")
        }
        "upstream_gets_raw" => {
            let line = rig.child_line()?;
            same_line(&line, &line_text(rig, &step[kind])?)
        }
        "client_raw" => {
            let line = rig.client_line(None)?;
            parts(&line, &step[kind], "the client's line")
        }
        "client_gets_raw" => {
            let line = rig.client_line(None)?;
            same_line(&line, &line_text(rig, &step[kind])?)
        }
        "client_gets" => {
            let line = rig.client_line(None)?;
            check(&rig.fill(&step[kind]), &message(&line)?, "client")
        }
        "stderr_says" => facts_in(&rig.stderr(), step.get(kind), true, "stderr"),
        "stderr_lacks" => facts_in(&rig.stderr(), step.get(kind), false, "stderr"),
        other => Err(format!("the step {other} is not played")),
    }
}

fn forwarded(rig: &mut Rig, step: &Step) -> Result<(), String> {
    let line = rig
        .child_line()
        .map_err(|error| match rig.driver.client.front() {
            Some(line) => format!(
                "{error}; the client: {}",
                clip(&String::from_utf8_lossy(line))
            ),
            None => error,
        })?;
    let message = message(&line)?;
    let arguments = &message["params"]["arguments"];
    if let Some(pattern) = step.get("arguments") {
        check(&rig.fill(pattern), arguments, "arguments")?;
    }
    if let Some(pattern) = step.get("message") {
        check(&rig.fill(pattern), &message, "message")?;
    }
    let Some(code) = arguments["code"].as_str() else {
        let wanted = step.contains_key("prelude");
        return if wanted {
            Err("the call has no code".to_owned())
        } else {
            Ok(())
        };
    };
    rig.code = Some(code.to_owned());
    if step.contains_key("prelude") {
        prelude(rig, step, code)
    } else {
        Ok(())
    }
}

/// The lines injected ahead of the caller's own, which stands verbatim.
fn prelude(rig: &mut Rig, step: &Step, code: &str) -> Result<(), String> {
    let own = text(&step["code"])?;
    let wanted = step["prelude"].as_u64().ok_or("prelude wants a number")?;
    let head = if wanted == 0 {
        code.starts_with(own).then_some("")
    } else {
        code.find(&format!("\n{own}")).map(|at| &code[..=at])
    };
    let head = head.ok_or_else(|| format!("the caller's code does not stand in {code:?}"))?;
    let lines = head.matches('\n').count() as u64;
    if lines != wanted {
        return Err(format!(
            "{lines} lines ahead of the caller's code, wanted {wanted}: {head:?}"
        ));
    }
    if !head.is_ascii() {
        return Err(format!("the injected lines are not ASCII: {head:?}"));
    }
    for part in texts(step.get("head_contains"))? {
        if !head.contains(part) {
            return Err(format!("the injected lines lack {part:?}: {head:?}"));
        }
    }
    for part in texts(step.get("head_lacks"))? {
        if head.contains(part) {
            return Err(format!("the injected lines hold {part:?}: {head:?}"));
        }
    }
    let fresh = rig.heads.insert(head.to_owned());
    if step.get("fresh_key") == Some(&json!(true)) && !fresh {
        return Err("two calls got the same injected lines".to_owned());
    }
    Ok(())
}

fn refused(rig: &mut Rig, step: &Step) -> Result<(), String> {
    let message = message(&rig.client_line(step.get("within_s"))?)?;
    check(step.get("id").unwrap_or(&rig.last_id), &message["id"], "id")?;
    let result = message["result"].as_object();
    let result = result.filter(|result| result.get("isError") == Some(&json!(true)));
    let result = result.ok_or_else(|| format!("no refusal: {}", clip(&message.to_string())))?;
    if result.contains_key("structuredContent") {
        return Err("a refusal carries no structuredContent".to_owned());
    }
    check_facts(step, &message)?;
    let says = message["result"]["content"][0]["text"]
        .as_str()
        .unwrap_or_default();
    facts_in(says, step.get("says"), true, "the refusal")?;
    facts_in(says, step.get("lacks"), false, "the refusal")?;
    quiet_upstream(rig, step)
}

fn rpc_error(rig: &mut Rig, step: &Step) -> Result<(), String> {
    let message = message(&rig.client_line(None)?)?;
    let error = message.get("error");
    let error = error.ok_or_else(|| format!("no error: {}", clip(&message.to_string())))?;
    if let Some(id) = step.get("id") {
        check(
            id,
            message.get("id").unwrap_or(&json!("no id at all")),
            "id",
        )?;
    }
    if let Some(code) = step.get("code") {
        check(code, &error["code"], "error.code")?;
    }
    let says = error["message"].as_str().unwrap_or_default();
    facts_in(says, step.get("says"), true, "the error")?;
    quiet_upstream(rig, step)
}

fn quiet_upstream(rig: &Rig, step: &Step) -> Result<(), String> {
    match step.get("upstream").and_then(Value::as_str) {
        None | Some("quiet") => quiet(rig.driver.child.front(), "the upstream"),
        Some("skip" | "gone") => Ok(()),
        Some(other) => Err(format!("upstream is quiet or skip, not {other}")),
    }
}

/// The client gets the upstream's answer, unchanged but for exactly so many notes.
fn check_answer(rig: &mut Rig, step: &Step) -> Result<(), String> {
    let message = message(&rig.client_line(step.get("within_s"))?)?;
    check(step.get("id").unwrap_or(&rig.last_id), &message["id"], "id")?;
    let (sent, payload) = rig.answered.as_ref().ok_or("no answer step came before")?;
    let result = message["result"].as_object();
    let result = result.ok_or_else(|| format!("no result: {}", clip(&message.to_string())))?;
    let blocks = message["result"]["content"]
        .as_array()
        .ok_or("no content list")?;
    let (first, notes) = blocks.split_first().ok_or("an empty content list")?;
    let notes: Vec<&str> = notes
        .iter()
        .filter_map(|block| block["text"].as_str())
        .collect();
    let wanted = step.get("notes").and_then(Value::as_u64).unwrap_or(0);
    if notes.len() as u64 != wanted || blocks.len() != notes.len() + 1 {
        let counted = format!("{} notes, wanted {wanted}", notes.len());
        return Err(format!("{counted}: {}", clip(&notes.join(" | "))));
    }
    check_facts(step, &message)?;
    let joined = notes.join("\n");
    facts_in(&joined, step.get("note_says"), true, "the note")?;
    facts_in(&joined, step.get("note_lacks"), false, "the note")?;
    let payload = rig.fill(step.get("payload").unwrap_or(payload));
    let text = first["text"]
        .as_str()
        .ok_or("the first block has no text")?;
    let first = if payload.is_string() {
        text.into()
    } else {
        json_of(text)?
    };
    check(&payload, &first, "content")?;
    let is_error = |flag: Option<&Value>| flag == Some(&json!(true));
    if is_error(result.get("isError")) != is_error(sent.get("is_error")) {
        return Err("isError changed".to_owned());
    }
    check_structured(sent, &payload, result.get("structuredContent"), &joined)
}

/// `structuredContent` holds what it held, and the notes where it is an object.
fn check_structured(
    sent: &Step,
    payload: &Value,
    found: Option<&Value>,
    notes: &str,
) -> Result<(), String> {
    let surface = sent.get("structured").cloned().unwrap_or(json!("mirror"));
    let wanted = match surface.as_str() {
        Some("none") => {
            return found.map_or(Ok(()), |_| Err("structuredContent is made up".to_owned()));
        }
        Some("mirror") => payload.clone(),
        Some("wrap") => json!({ "result": payload }),
        _ => surface,
    };
    let mut found = found.cloned().ok_or("structuredContent is gone")?;
    if let Some(fields) = found.as_object_mut() {
        let note = fields.remove(NOTE_KEY);
        let wanted = (!notes.is_empty()).then(|| json!(notes));
        if note != wanted {
            return Err(format!("{NOTE_KEY} is {note:?} beside the notes {notes:?}"));
        }
    }
    check(&wanted, &found, "structuredContent")
}

/// The facts of `_meta`, as `behavior/code`, where the step names them.
fn check_facts(step: &Step, message: &Value) -> Result<(), String> {
    let Some(wanted) = step.get("facts") else {
        return Ok(());
    };
    let facts = message["result"]["_meta"][META_KEY].as_array();
    let facts = facts.into_iter().flatten().map(|fact| {
        let text = |key: &str| fact[key].as_str().unwrap_or_default();
        json!(format!("{}/{}", text("behavior"), text("code")))
    });
    check(wanted, &facts.collect(), "facts")
}

fn facts_in(text: &str, facts: Option<&Value>, wanted: bool, what: &str) -> Result<(), String> {
    for fact in texts(facts)? {
        if says(text, fact) != wanted {
            let verb = if wanted { "lacks" } else { "must not say" };
            return Err(format!("{what} {verb} {fact:?}: {}", clip(text)));
        }
    }
    Ok(())
}

fn parts(line: &[u8], wanted: &Value, what: &str) -> Result<(), String> {
    let line = String::from_utf8_lossy(line);
    for part in texts(wanted.get("contains"))? {
        if !line.contains(part) {
            return Err(format!("{what} lacks {part:?}: {}", clip(&line)));
        }
    }
    for part in texts(wanted.get("lacks"))? {
        if line.contains(part) {
            return Err(format!("{what} holds {part:?}: {}", clip(&line)));
        }
    }
    Ok(())
}

fn quiet(line: Option<&bytes::Bytes>, who: &str) -> Result<(), String> {
    let text = line.map(|line| clip(&String::from_utf8_lossy(line)));
    text.map_or(Ok(()), |text| Err(format!("{who} got {text}")))
}

fn same_line(found: &[u8], wanted: &str) -> Result<(), String> {
    if found == wanted.as_bytes() {
        return Ok(());
    }
    let found = String::from_utf8_lossy(found);
    Err(format!(
        "bytes differ: wanted {}, got {}",
        clip(wanted),
        clip(&found)
    ))
}

fn message(line: &[u8]) -> Result<Value, String> {
    serde_json::from_slice(line)
        .map_err(|error| format!("{error} in {}", clip(&String::from_utf8_lossy(line))))
}

fn json_of(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| format!("{error} in {}", clip(text)))
}
