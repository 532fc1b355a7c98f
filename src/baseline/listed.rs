//! What a listing says of a tool beside its input: for the person who moves the pin. No call is judged by it.

use std::collections::BTreeMap;

use super::contract::digest;
use super::json::Json;
use super::{BaselineError, CaptureError, Contract, Unreadable};
use super::{digests_json, malformed, parse_digests, pointer};

/// A tool as a listing has it, each part as raw JSON; `None` for a part that is not there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ToolText<'a> {
    /// The tool's name, no JSON.
    pub name: &'a str,
    /// Its `inputSchema`.
    pub input_schema: Option<&'a str>,
    /// Its `outputSchema`.
    pub output_schema: Option<&'a str>,
    /// Its `annotations`.
    pub annotations: Option<&'a str>,
    /// Its `title`.
    pub title: Option<&'a str>,
    /// Its `description`.
    pub description: Option<&'a str>,
}

/// What a tool promises of its results, how it is marked, and the digests of its texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// The `outputSchema` as a contract is written; `null` when there is none.
    pub output: Json,
    /// The `annotations` without their title; `null` when there are none.
    pub annotations: Json,
    /// Digests of the texts, by their place in the tool: `description`, `outputSchema/…/description`.
    pub texts: BTreeMap<String, String>,
}

/// The words among the annotations.
const TITLE: &str = "title";

impl Listed {
    pub(super) fn capture(tool: &ToolText<'_>) -> Result<Self, CaptureError> {
        let unreadable = |part| {
            move |reason: Unreadable| CaptureError::Unreadable {
                tool: tool.name.to_owned(),
                part,
                reason,
            }
        };
        let mut texts = BTreeMap::new();
        let read = |part, raw: Option<&str>| {
            let json = raw.map(Json::read).transpose().map_err(unreadable(part))?;
            Ok(json.filter(|json| *json != Json::Null))
        };
        for (part, raw) in [(TITLE, tool.title), ("description", tool.description)] {
            if let Some(text) = read(part, raw)? {
                texts.insert(part.to_owned(), digest(&text));
            }
        }
        let mut annotations = read("annotations", tool.annotations)?;
        if let Some(Json::Object(members)) = &mut annotations
            && let Some(title) = members.remove(TITLE)
        {
            texts.insert(pointer::join("annotations", TITLE), digest(&title));
        }
        let mut output = None;
        // A null stands for no schema.
        if read("outputSchema", tool.output_schema)?.is_some() {
            let raw = tool.output_schema.unwrap_or_default();
            let contract = Contract::read(raw).map_err(unreadable("outputSchema"))?;
            let placed = |(place, digest)| (format!("outputSchema/{place}"), digest);
            texts.extend(contract.texts.into_iter().map(placed));
            output = Some(contract.schema);
        }
        Ok(Self {
            output: output.unwrap_or(Json::Null),
            annotations: annotations.unwrap_or(Json::Null),
            texts,
        })
    }

    pub(super) fn parse(at: &str, json: &Json) -> Result<Self, BaselineError> {
        let members = json.as_object().ok_or_else(|| malformed(at, "an object"))?;
        let part = |key: &str| members.get(key).cloned().unwrap_or(Json::Null);
        Ok(Self {
            output: part("output"),
            annotations: part("annotations"),
            texts: parse_digests(&pointer::join(at, "texts"), members.get("texts"))?,
        })
    }

    pub(super) fn to_json(&self) -> Json {
        let mut members = BTreeMap::from([("texts".to_owned(), digests_json(&self.texts))]);
        for (key, part) in [("output", &self.output), ("annotations", &self.annotations)] {
            if *part != Json::Null {
                members.insert(key.to_owned(), part.clone());
            }
        }
        Json::Object(members)
    }
}
