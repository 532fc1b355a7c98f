//! Adding to an answer, on both of its surfaces.

use super::{Fact, META_KEY, NOTE_KEY, Reply, Structured};
use crate::behaviors::{PayloadEdit, Step};
use crate::wire::object::{Object, Raw};
use crate::wire::same::same;
use crate::wire::splice::{BadEdits, Edits};
use crate::wire::{chars, quote};
use bytes::Bytes;
use serde_json::Value;
use std::ops::Range;

/// What is to be added to an answer.
#[derive(Debug, Default)]
pub struct Additions {
    /// Values for the payload, each lot with its fact.
    pub edits: Vec<(Fact, PayloadEdit)>,
    /// Notes, in order.
    pub notes: Vec<String>,
    /// The facts that go with the notes.
    pub facts: Vec<Fact>,
}

impl Additions {
    /// Whether there is nothing to add.
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty() && self.notes.is_empty()
    }
}

/// What replaces a range of bytes.
type Replacement = (Range<usize>, String);

/// An answer with additions, and what could not be said on both surfaces.
#[derive(Debug)]
pub struct Edited {
    /// The line for the client; `None` when nothing could be added and upstream's bytes are to go out.
    pub line: Option<Bytes>,
    /// The facts of what was added.
    pub facts: Vec<Fact>,
    /// Lines for stderr.
    pub log: Vec<String>,
}

impl Reply<'_> {
    /// The answer with `additions` made on both surfaces.
    ///
    /// # Errors
    /// [`BadEdits`] when the edits do not fit the line; upstream's bytes are to be used then.
    pub fn with(&self, additions: &Additions) -> Result<Edited, BadEdits> {
        let mut edits = Edits::default();
        let mut log = Vec::new();
        let mut facts = Vec::new();
        let mut structured = Vec::new();
        for (fact, edit) in &additions.edits {
            if let Some((text, values)) = self.payload_edits(edit) {
                for (range, value) in text {
                    edits.replace(range, value);
                }
                structured.extend(values);
                facts.push(*fact);
            } else {
                log.push(format!(
                    "{}: the payload was left as it is: the answer's surfaces are not provably one and the same \
                     object payload",
                    fact.behavior
                ));
            }
        }
        facts.extend(&additions.facts);
        if !additions.notes.is_empty()
            && let Err(why) =
                self.note_edits(&additions.notes, &mut edits, &mut structured, &mut log)
        {
            log.push(why.to_owned());
            return Ok(Edited {
                line: None,
                facts: Vec::new(),
                log,
            });
        }
        // A key and a note for one empty object: neither knows of the other.
        if let [(first, _), (second, text)] = &mut structured[..]
            && first == second
            && !text.starts_with(',')
        {
            text.insert(0, ',');
        }
        for (range, text) in structured {
            edits.replace(range, text);
        }
        if edits.is_empty() {
            return Ok(Edited {
                line: None,
                facts: Vec::new(),
                log,
            });
        }
        self.meta_edits(&facts, &mut edits);
        let text = std::str::from_utf8(self.bytes).map_err(|_| BadEdits)?;
        let line = edits.apply(text)?;
        Ok(Edited {
            line: Some(line),
            facts,
            log,
        })
    }

    fn note_edits(
        &self,
        notes: &[String],
        edits: &mut Edits<'_>,
        structured: &mut Vec<Replacement>,
        log: &mut Vec<String>,
    ) -> Result<(), &'static str> {
        if let Some(error) = &self.surfaces().error {
            let message = error
                .get("message")
                .filter(|message| message.text.starts_with('"'))
                .ok_or("a note was dropped: the error has no message text")?;
            let end = message.range().end - 1;
            let text = quote(&format!("\n{}", notes.join("\n")));
            edits.replace(end..end, text[1..text.len() - 1].to_owned());
            return Ok(());
        }
        let (content, _) = self
            .surfaces()
            .content
            .as_ref()
            .ok_or("a note was dropped: the answer has no content list")?;
        let end = content.range().end - 1;
        let mut blocks = String::new();
        for note in notes {
            let comma = if blocks.is_empty() && content.text[1..].trim_start() == "]" {
                ""
            } else {
                ","
            };
            let text = quote(note);
            blocks.push_str(&format!(r#"{comma}{{"type":"text","text":{text}}}"#));
        }
        edits.replace(end..end, blocks);
        match &self.surfaces().structured {
            Structured::Object(object) => structured.push(with_note(object, &notes.join("\n"))),
            Structured::Other => log.push(
                "structuredContent is no object: the note stands in content alone".to_owned(),
            ),
            Structured::Absent => {}
        }
        Ok(())
    }

    fn meta_edits(&self, facts: &[Fact], edits: &mut Edits<'_>) {
        let Some(result) = self
            .surfaces()
            .result
            .as_ref()
            .filter(|_| !facts.is_empty())
        else {
            return;
        };
        let list = facts.iter().map(|fact| fact.to_json()).collect();
        let facts = Value::Array(list).to_string();
        let (range, text) = match result.get("_meta") {
            Some(raw) if !raw.is_null() => match raw.as_object() {
                Some(meta) => meta.set(META_KEY, &facts),
                None => return,
            },
            _ => result.set("_meta", &format!(r#"{{"{META_KEY}":{facts}}}"#)),
        };
        edits.replace(range, text);
    }

    /// The edits that set values in the payload: in the text, and in `structuredContent` where that provably is the
    /// same payload. `None` when it is not, or when it has no such place.
    fn payload_edits(&self, edit: &PayloadEdit) -> Option<(Vec<Replacement>, Vec<Replacement>)> {
        self.payload().filter(|p| p.is_object())?;
        let (_, blocks) = self.surfaces().content.as_ref()?;
        let is_text = |b: &&Object<'_>| b.get_str("type").as_deref() == Some("text");
        let literal = blocks.iter().find(is_text)?.get("text")?;
        let text = literal.as_str()?;
        let object = Raw::whole(&text).as_object_trimmed()?;
        let structured = match &self.surfaces().structured {
            Structured::Absent => Vec::new(),
            Structured::Other => return None,
            Structured::Object(structured) => {
                let of_payload = if same(structured.raw(), object.raw()) {
                    structured.clone()
                } else {
                    wrapped(structured).filter(|inner| same(inner.raw(), object.raw()))?
                };
                replacements(of_payload.raw(), edit)?
            }
        };
        let text = inside_literal(literal, replacements(object.raw(), edit)?)?;
        Some((text, structured))
    }
}

/// What sets the edit's values in `payload`.
fn replacements(payload: Raw<'_>, edit: &PayloadEdit) -> Option<Vec<Replacement>> {
    let set = edit.set.iter();
    set.map(|(path, value)| set_at(payload, path, value))
        .collect()
}

fn set_at(raw: Raw<'_>, path: &[Step], value: &str) -> Option<Replacement> {
    match path {
        [] => Some((raw.range(), value.to_owned())),
        [Step::Key(key)] => Some(raw.as_object()?.set(key, value)),
        [Step::Key(key), rest @ ..] => set_at(raw.as_object()?.get(key)?, rest, value),
        [Step::Item(at), rest @ ..] => set_at(*raw.as_array()?.get(*at)?, rest, value),
    }
}

/// The edit that puts a note into `structuredContent`, behind what may already stand there: a note of
/// another proxy's is not ours to remove.
fn with_note(object: &Object<'_>, note: &str) -> Replacement {
    match object.get(NOTE_KEY).filter(|old| old.text.starts_with('"')) {
        Some(old) => {
            let end = old.range().end - 1;
            let text = quote(&format!("\n{note}"));
            (end..end, text[1..text.len() - 1].to_owned())
        }
        None => object.set(NOTE_KEY, &quote(note)),
    }
}

/// The payload in a `{"result": payload}`; `None` for any other shape.
fn wrapped<'a>(object: &Object<'a>) -> Option<Object<'a>> {
    let mut keys = object.entries().map(|(key, _)| key.as_str());
    let only = keys.all(|key| key.as_deref() == Some("result"));
    object.get("result").filter(|_| only)?.as_object()
}

/// The same replacements in the string literal that the text they were made for stands in; its other bytes stay.
fn inside_literal(literal: Raw<'_>, mut made: Vec<Replacement>) -> Option<Vec<Replacement>> {
    made.sort_by_key(|(range, _)| range.start);
    let ends: Vec<usize> = made.iter().flat_map(|(r, _)| [r.start, r.end]).collect();
    let places = chars::places(literal.text, &ends)?;
    let moved = places.chunks_exact(2).zip(made).map(|(ends, (_, value))| {
        let value = quote(&value);
        let range = literal.at + ends[0]..literal.at + ends[1];
        (range, value[1..value.len() - 1].to_owned())
    });
    Some(moved.collect())
}
