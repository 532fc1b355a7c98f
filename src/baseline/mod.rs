//! The committed baseline: what each tool of the pinned server accepts, and whether a listing still says so.
//!
//! A tool's *contract* is its `inputSchema` without the annotations, in one canonical spelling
//! ([`Contract`]). The baseline holds the contracts of all tools of the server, so that a tool exposed by
//! configuration is vetted like the others. Of upstream's texts it holds digests only.
//!
//! Nothing here does I/O.

mod contract;
mod diff;
mod json;
mod keywords;
mod layout;
mod pointer;
mod report;
mod schema;
mod spelling;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

pub use contract::{Contract, Unreadable};
pub use diff::{Difference, MAX_LISTED, listed};
pub use json::Json;
pub use report::{Report, ToolChange, ToolReport, diff};

/// The committed baselines, by server version.
const COMMITTED: &[(&str, &str)] = &[("10.1.0", include_str!("../../baseline/10.1.0.json"))];

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
    tools: BTreeMap<String, Contract>,
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
    #[error("the inputSchema of the tool {tool} is {reason}")]
    Unreadable {
        /// The tool's name.
        tool: String,
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
        // The contracts stand three levels down in the file.
        let file = Json::read_nested(text, json::MAX_DEPTH + 3)?;
        let version = file.step("server_version").and_then(Json::as_str);
        let version = version.ok_or_else(|| malformed("server_version", "a text"))?;
        let tools = file
            .step("tools")
            .and_then(Json::as_object)
            .ok_or_else(|| malformed("tools", "an object"))?;
        let tools = tools
            .iter()
            .map(|(name, tool)| Ok((name.clone(), parse_tool(name, tool)?)));
        Ok(Self {
            server_version: version.to_owned(),
            tools: tools.collect::<Result<_, BaselineError>>()?,
        })
    }

    /// Takes the baseline of a complete listing: the tools' names and their raw `inputSchema`s.
    ///
    /// # Errors
    /// When a tool has no schema, one that cannot be compared, or the name of another tool.
    pub fn capture<'a>(
        server_version: &str,
        tools: impl IntoIterator<Item = (&'a str, Option<&'a str>)>,
    ) -> Result<Self, CaptureError> {
        let mut contracts = BTreeMap::new();
        for (name, schema) in tools {
            let tool = name.to_owned();
            let schema = schema.ok_or_else(|| CaptureError::NoSchema(tool.clone()))?;
            let contract = Contract::read(schema);
            let contract = contract.map_err(|reason| CaptureError::Unreadable {
                tool: tool.clone(),
                reason,
            })?;
            if contracts.insert(tool.clone(), contract).is_some() {
                return Err(CaptureError::Twice(tool));
            }
        }
        Ok(Self {
            server_version: server_version.to_owned(),
            tools: contracts,
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
        self.tools.get(tool)
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
        let Some(known) = self.tools.get(tool) else {
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
        let tool = |contract: &Contract| {
            let texts = contract
                .texts
                .iter()
                .map(|(place, digest)| (place.clone(), Json::text(digest)));
            let mut members = BTreeMap::from([("contract".to_owned(), contract.schema.clone())]);
            members.insert("texts".to_owned(), Json::Object(texts.collect()));
            Json::Object(members)
        };
        let tools = self
            .tools
            .iter()
            .map(|(name, contract)| (name.clone(), tool(contract)));
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

fn parse_tool(name: &str, tool: &Json) -> Result<Contract, BaselineError> {
    let at = |key| pointer::join(&pointer::join("tools", name), key);
    let schema = match tool.step("contract") {
        Some(schema @ (Json::Object(_) | Json::Bool(_))) => schema.clone(),
        _ => return Err(malformed(&at("contract"), "a schema")),
    };
    let texts = tool
        .step("texts")
        .and_then(Json::as_object)
        .ok_or_else(|| malformed(&at("texts"), "an object"))?;
    let digest = |(place, digest): (&String, &Json)| match digest {
        Json::String(digest) => Ok((place.clone(), digest.clone())),
        _ => Err(malformed(&pointer::join(&at("texts"), place), "a digest")),
    };
    Ok(Contract {
        schema,
        texts: texts.iter().map(digest).collect::<Result<_, _>>()?,
    })
}
