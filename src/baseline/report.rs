//! What changed between two baselines, tool by tool: for the person who moves the pin.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::diff::{Difference, differences, printed, reworded, values};
use super::{Baseline, Json, Listed, Tool};

/// The difference between two baselines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The server version of the old baseline.
    pub old_version: String,
    /// The server version of the new baseline.
    pub new_version: String,
    /// How many tools the old one has.
    pub old_tools: usize,
    /// How many tools the new one has.
    pub new_tools: usize,
    /// Whether both baselines hold output schemas, annotations and the tools' own texts; they are compared only then.
    pub listings_compared: bool,
    /// The tools that differ: the exposed ones first, each group by name.
    pub tools: Vec<ToolReport>,
}

/// One tool that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ToolReport {
    /// The tool's name.
    pub name: String,
    /// Whether the relay shows it to clients.
    pub exposed: bool,
    /// What happened to it.
    #[serde(flatten)]
    pub change: ToolChange,
}

/// What happened to a tool between two baselines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum ToolChange {
    /// Only the new baseline has it.
    Added,
    /// Only the old baseline has it.
    Removed,
    /// Both have it, and say something else of it.
    Changed(Changes),
}

/// The differences of one tool; at least one of the lists is not empty.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Changes {
    /// Those of the input contracts; all of them.
    pub contract: Vec<Difference>,
    /// Those of the output schemas.
    pub output: Vec<Difference>,
    /// Those of the annotations.
    pub annotations: Vec<Difference>,
    /// The pointers of the texts that differ.
    pub wording: Vec<String>,
}

/// Compares two baselines. `exposed` says which tools the relay shows to clients.
pub fn diff(old: &Baseline, new: &Baseline, exposed: impl Fn(&str) -> bool) -> Report {
    let names: BTreeSet<&String> = old.tools.keys().chain(new.tools.keys()).collect();
    let change = |name: &String| match (old.tools.get(name), new.tools.get(name)) {
        (Some(old), Some(new)) => changed(old, new).map(ToolChange::Changed),
        (None, _) => Some(ToolChange::Added),
        (_, None) => Some(ToolChange::Removed),
    };
    let tools = names.into_iter().filter_map(|name| {
        Some(ToolReport {
            name: name.clone(),
            exposed: exposed(name),
            change: change(name)?,
        })
    });
    let mut tools: Vec<ToolReport> = tools.collect();
    tools.sort_by_key(|tool| !tool.exposed);
    let whole = |baseline: &Baseline| baseline.tools.values().all(|tool| tool.listed.is_some());
    Report {
        old_version: old.server_version.clone(),
        new_version: new.server_version.clone(),
        old_tools: old.tools.len(),
        new_tools: new.tools.len(),
        listings_compared: whole(old) && whole(new),
        tools,
    }
}

fn changed(old: &Tool, new: &Tool) -> Option<Changes> {
    let mut changes = Changes {
        contract: differences(&old.input.schema, &new.input.schema),
        wording: reworded(&old.input.texts, &new.input.texts),
        ..Changes::default()
    };
    if let (Some(old), Some(new)) = (&old.listed, &new.listed) {
        changes.output = outputs(old, new);
        changes.annotations = values(&marks(old), &marks(new));
        let told = reworded(&old.texts, &new.texts);
        changes.wording.extend(told);
    }
    (changes != Changes::default()).then_some(changes)
}

fn outputs(old: &Listed, new: &Listed) -> Vec<Difference> {
    match (&old.output, &new.output) {
        (Json::Object(_), Json::Object(_)) => differences(&old.output, &new.output),
        (old, new) if old == new => Vec::new(),
        (old, new) => {
            let side = |schema: &Json| (*schema != Json::Null).then(|| printed(schema));
            vec![Difference {
                pointer: "outputSchema".to_owned(),
                old: side(old),
                new: side(new),
                detail: None,
            }]
        }
    }
}

/// No annotations and none in an empty object are the same.
fn marks(listed: &Listed) -> BTreeMap<String, Json> {
    listed.annotations.as_object().cloned().unwrap_or_default()
}

impl Report {
    /// Whether any tool's contract changed, came or went: what the behaviours have to be checked against.
    pub fn changes_contracts(&self) -> bool {
        self.tools.iter().any(|tool| match &tool.change {
            ToolChange::Changed(changes) => !changes.contract.is_empty(),
            ToolChange::Added | ToolChange::Removed => true,
        })
    }

    /// Whether any tool's output schema changed.
    pub fn changes_outputs(&self) -> bool {
        self.tools.iter().any(
            |tool| matches!(&tool.change, ToolChange::Changed(changes) if !changes.output.is_empty()),
        )
    }
}
