//! What changed between two baselines, tool by tool: for the person who moves the pin.

use std::collections::BTreeSet;
use std::fmt;

use serde::Serialize;

use super::diff::{Difference, differences, reworded};
use super::{Baseline, Contract};

/// The difference between two baselines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The server version of the old baseline.
    pub old_version: String,
    /// The server version of the new baseline.
    pub new_version: String,
    /// The tools that differ, by name.
    pub tools: Vec<ToolReport>,
}

/// One tool that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ToolReport {
    /// The tool's name.
    pub name: String,
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
    /// Both have it, and its schema or its texts differ.
    Changed {
        /// The differences of the contracts; all of them.
        contract: Vec<Difference>,
        /// The pointers of the texts that differ.
        wording: Vec<String>,
    },
}

/// Compares two baselines.
pub fn diff(old: &Baseline, new: &Baseline) -> Report {
    let names: BTreeSet<&String> = old.tools.keys().chain(new.tools.keys()).collect();
    let change = |name: &String| match (old.tools.get(name), new.tools.get(name)) {
        (Some(old), Some(new)) => changed(old, new),
        (None, _) => Some(ToolChange::Added),
        (_, None) => Some(ToolChange::Removed),
    };
    Report {
        old_version: old.server_version.clone(),
        new_version: new.server_version.clone(),
        tools: names
            .into_iter()
            .filter_map(|name| {
                change(name).map(|change| ToolReport {
                    name: name.clone(),
                    change,
                })
            })
            .collect(),
    }
}

fn changed(old: &Contract, new: &Contract) -> Option<ToolChange> {
    let contract = differences(&old.schema, &new.schema);
    let wording = reworded(&old.texts, &new.texts);
    (!contract.is_empty() || !wording.is_empty())
        .then_some(ToolChange::Changed { contract, wording })
}

impl Report {
    /// Whether any tool's contract changed, came or went: what the behaviours have to be checked against.
    pub fn changes_contracts(&self) -> bool {
        self.tools.iter().any(|tool| match &tool.change {
            ToolChange::Changed { contract, .. } => !contract.is_empty(),
            ToolChange::Added | ToolChange::Removed => true,
        })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} → {}", self.old_version, self.new_version)?;
        if self.tools.is_empty() {
            writeln!(f, "no difference")?;
        }
        for tool in &self.tools {
            match &tool.change {
                ToolChange::Added => writeln!(f, "{}: added", tool.name)?,
                ToolChange::Removed => writeln!(f, "{}: removed", tool.name)?,
                ToolChange::Changed { contract, wording } => {
                    writeln!(f, "{}:", tool.name)?;
                    contract
                        .iter()
                        .try_for_each(|difference| writeln!(f, "  contract {difference}"))?;
                    wording
                        .iter()
                        .try_for_each(|pointer| writeln!(f, "  wording  {pointer}"))?;
                }
            }
        }
        Ok(())
    }
}
