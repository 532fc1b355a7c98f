//! The committed baseline: what each tool of the pinned server accepts, and whether a listing still says so.
//!
//! A tool's *contract* is its `inputSchema` without the annotations, in one canonical spelling
//! ([`Contract`]). The baseline holds the contracts of all tools of the server, so that a tool exposed by
//! configuration is vetted like the others. Beside them it holds what a listing says of its tools otherwise
//! ([`Listed`]), for whoever moves the pin. Of upstream's texts it holds digests only.
//!
//! Nothing here does I/O.

mod contract;
mod diff;
mod json;
mod keywords;
mod layout;
mod listed;
mod pointer;
mod report;
mod schema;
mod spelling;
#[cfg(test)]
mod tests;

use serde_json::value::RawValue;
use std::collections::BTreeMap;

pub use contract::{Contract, Unreadable};
pub use diff::{Difference, MAX_LISTED, listed};
pub use json::Json;
pub use listed::{Listed, ToolText};
pub use report::{Changes, Report, ToolChange, ToolReport, diff};

/// The committed baselines, by server version.
const COMMITTED: &[(&str, &str)] = &[
    ("10.1.0", include_str!("../../baseline/10.1.0.json")),
    ("10.1.2", include_str!("../../baseline/10.1.2.json")),
    ("10.2.0", include_str!("../../baseline/10.2.0.json")),
    ("10.3.0", include_str!("../../baseline/10.3.0.json")),
];

/// The committed baseline of a server version, as its file's text.
pub fn committed(version: &str) -> Option<&'static str> {
    COMMITTED
        .iter()
        .find(|(known, _)| *known == version)
        .map(|(_, text)| *text)
}

/// The server versions that have a committed baseline.
pub fn committed_versions() -> impl Iterator<Item = &'static str> {
    COMMITTED.iter().map(|(version, _)| *version)
}

/// The contracts of one server version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Baseline {
    server_version: String,
    tools: BTreeMap<String, Tool>,
}

/// What the baseline knows of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Tool {
    input: Contract,
    /// `None` when the file does not say, or was not asked.
    listed: Option<Listed>,
}

/// A baseline file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum BaselineError {
    /// The file is no JSON text.
    #[error("the baseline cannot be read: {0}")]
    Unreadable(#[from] Unreadable),
    /// It is, but something is missing or of the wrong kind.
    #[error("the baseline is malformed: {place} is not {wanted}")]
    Malformed {
        /// Where, as a JSON pointer without its leading slash.
        place: String,
        /// What should stand there.
        wanted: &'static str,
    },
}

/// A listing that no baseline can be made of.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// A tool without an `inputSchema`.
    #[error("the tool {0} has no inputSchema")]
    NoSchema(String),
    /// A schema that cannot be compared later, either.
    #[error("the {part} of the tool {tool} is {reason}")]
    Unreadable {
        /// The tool's name.
        tool: String,
        /// What of it: `inputSchema`, `outputSchema`, …
        part: &'static str,
        /// Why its schema cannot be compared.
        reason: Unreadable,
    },
    /// Two tools of one name.
    #[error("the tool {0} is listed twice")]
    Twice(String),
}

/// How a listed tool stands to the baseline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Comparison {
    /// The baseline does not know the tool.
    Unknown,
    /// Contract and texts are the baseline's.
    Same,
    /// The contract is the baseline's, the texts at these pointers are not.
    Wording(Vec<String>),
    /// The contract differs.
    Drift {
        /// What differs, never empty. The pointers lead into the canonical spelling, which the baseline
        /// file shows.
        contract: Vec<Difference>,
        /// The pointers of the texts that differ as well.
        wording: Vec<String>,
    },
}

impl Baseline {
    /// Reads a baseline file.
    ///
    /// # Errors
    /// When the text is not JSON or not a baseline.
    pub fn parse(text: &str) -> Result<Self, BaselineError> {
        Self::read(text, |_| true, true)
    }

    /// Reads of a baseline file the contracts of the tools that are `wanted`, and steps over everything else.
    ///
    /// # Errors
    /// Like [`Baseline::parse`], for what is read.
    pub fn parse_only(text: &str, wanted: impl Fn(&str) -> bool) -> Result<Self, BaselineError> {
        Self::read(text, wanted, false)
    }

    fn read(
        text: &str,
        wanted: impl Fn(&str) -> bool,
        listed: bool,
    ) -> Result<Self, BaselineError> {
        let file: &RawValue = serde_json::from_str(text).map_err(Unreadable::NotJson)?;
        let file = members(file).unwrap_or_default();
        let version = file.get("server_version");
        let version = version.and_then(|raw| serde_json::from_str(raw.get()).ok());
        let tools = file.get("tools").and_then(|raw| members(raw));
        let baseline = Self {
            server_version: version.ok_or_else(|| malformed("server_version", "a text"))?,
            tools: BTreeMap::new(),
        };
        let tools = tools.ok_or_else(|| malformed("tools", "an object"))?;
        let tools = tools.into_iter().filter(|(name, _)| wanted(name));
        let tools = tools.map(|(name, tool)| {
            let tool = parse_tool(&name, tool, listed)?;
            Ok((name, tool))
        });
        Ok(Self {
            tools: tools.collect::<Result<_, BaselineError>>()?,
            ..baseline
        })
    }

    /// Takes the baseline of a complete listing.
    ///
    /// # Errors
    /// When a tool has no input schema, a schema that cannot be compared, or the name of another tool.
    pub fn capture<'a>(
        server_version: &str,
        tools: impl IntoIterator<Item = ToolText<'a>>,
    ) -> Result<Self, CaptureError> {
        let mut taken = BTreeMap::new();
        for tool in tools {
            let name = tool.name.to_owned();
            let schema = tool.input_schema;
            let schema = schema.ok_or_else(|| CaptureError::NoSchema(name.clone()))?;
            let input = Contract::read(schema).map_err(|reason| CaptureError::Unreadable {
                tool: name.clone(),
                part: "inputSchema",
                reason,
            })?;
            let listed = Some(Listed::capture(&tool)?);
            if taken.insert(name.clone(), Tool { input, listed }).is_some() {
                return Err(CaptureError::Twice(name));
            }
        }
        Ok(Self {
            server_version: server_version.to_owned(),
            tools: taken,
        })
    }

    /// The server version the baseline was taken of.
    pub fn server_version(&self) -> &str {
        &self.server_version
    }

    /// The names of the tools, sorted.
    pub fn tool_names(&self) -> impl Iterator<Item = &str> {
        self.tools.keys().map(String::as_str)
    }

    /// A tool's contract.
    pub fn contract(&self, tool: &str) -> Option<&Contract> {
        self.tools.get(tool).map(|tool| &tool.input)
    }

    /// What the listing says of a tool otherwise; `None` as well when the file was taken without it.
    pub fn listed(&self, tool: &str) -> Option<&Listed> {
        self.tools.get(tool)?.listed.as_ref()
    }

    /// The texts that the `enum` of a tool's property allows, sorted; none for a property without one.
    pub fn enum_values(&self, tool: &str, property: &str) -> Vec<&str> {
        let Some(schema) = self
            .contract(tool)
            .and_then(|contract| contract.schema.step("properties")?.step(property))
        else {
            return Vec::new();
        };
        let branches = schema
            .step("anyOf")
            .and_then(Json::as_array)
            .unwrap_or_default();
        let enums = branches
            .iter()
            .chain([schema])
            .filter_map(|branch| branch.step("enum")?.as_array());
        let mut values: Vec<&str> = enums.flatten().filter_map(Json::as_str).collect();
        values.sort_unstable();
        values
    }

    /// Compares a listed tool. `input_schema` is the raw JSON, `None` when the listing has none.
    pub fn compare(&self, tool: &str, input_schema: Option<&str>) -> Comparison {
        let Some(known) = self.contract(tool) else {
            return Comparison::Unknown;
        };
        let listed = match input_schema.map(Contract::read) {
            Some(Ok(contract)) => contract,
            Some(Err(reason)) => return unusable(reason.to_string()),
            None => return unusable("missing".to_owned()),
        };
        let wording = diff::reworded(&known.texts, &listed.texts);
        let contract = diff::differences(&known.schema, &listed.schema);
        match (contract.is_empty(), wording.is_empty()) {
            (true, true) => Comparison::Same,
            (true, false) => Comparison::Wording(wording),
            (false, _) => Comparison::Drift { contract, wording },
        }
    }

    /// The baseline as a file: sorted, one entry a line where the line would get long.
    pub fn to_json(&self) -> String {
        let file = |tool: &Tool| {
            let mut members = BTreeMap::from([("contract".to_owned(), tool.input.schema.clone())]);
            let texts = digests_json(&tool.input.texts);
            members.insert("texts".to_owned(), texts);
            if let Some(listed) = &tool.listed {
                members.insert("listed".to_owned(), listed.to_json());
            }
            Json::Object(members)
        };
        let tools = self.tools.iter();
        let tools = tools.map(|(name, tool)| (name.clone(), file(tool)));
        layout::laid_out(&Json::Object(BTreeMap::from([
            (
                "server_version".to_owned(),
                Json::text(&self.server_version),
            ),
            ("tools".to_owned(), Json::Object(tools.collect())),
        ])))
    }
}

fn unusable(state: String) -> Comparison {
    let difference = Difference {
        pointer: String::new(),
        old: Some("a schema".to_owned()),
        new: Some(state),
        detail: None,
    };
    Comparison::Drift {
        contract: vec![difference],
        wording: Vec::new(),
    }
}

fn malformed(place: &str, wanted: &'static str) -> BaselineError {
    BaselineError::Malformed {
        place: place.to_owned(),
        wanted,
    }
}

/// The members of an object, unread; of equal keys the last counts.
fn members(raw: &RawValue) -> Option<BTreeMap<String, &RawValue>> {
    serde_json::from_str(raw.get()).ok()
}

fn parse_tool(name: &str, tool: &RawValue, with_listed: bool) -> Result<Tool, BaselineError> {
    let at = |key| pointer::join(&pointer::join("tools", name), key);
    let members = members(tool).unwrap_or_default();
    let read = |key: &str| {
        members
            .get(key)
            .map(|raw| Json::read_nested(raw.get(), json::MAX_DEPTH + 1))
    };
    let schema = match read("contract").transpose()? {
        Some(schema @ (Json::Object(_) | Json::Bool(_))) => schema,
        _ => return Err(malformed(&at("contract"), "a schema")),
    };
    let texts = read("texts").transpose()?;
    let listed = if with_listed {
        read("listed").transpose()?
    } else {
        None
    };
    Ok(Tool {
        input: Contract {
            schema,
            texts: parse_digests(&at("texts"), texts.as_ref())?,
        },
        listed: listed
            .map(|json| Listed::parse(&at("listed"), &json))
            .transpose()?,
    })
}

fn parse_digests(
    at: &str,
    texts: Option<&Json>,
) -> Result<BTreeMap<String, String>, BaselineError> {
    let texts = texts.and_then(Json::as_object);
    let texts = texts.ok_or_else(|| malformed(at, "an object"))?;
    let digest = |(place, digest): (&String, &Json)| match digest {
        Json::String(digest) => Ok((place.clone(), digest.clone())),
        _ => Err(malformed(&pointer::join(at, place), "a digest")),
    };
    texts.iter().map(digest).collect()
}

fn digests_json(texts: &BTreeMap<String, String>) -> Json {
    let texts = texts.iter();
    Json::Object(
        texts
            .map(|(place, digest)| (place.clone(), Json::text(digest)))
            .collect(),
    )
}
