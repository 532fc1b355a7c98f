//! What the doctor found.

use serde::Serialize;
use serde_json::{Value, json};

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Severity {
    /// As it should be.
    Ok,
    /// To know.
    Info,
    /// Works here and now, and may not elsewhere or later.
    Warning,
    /// A call from a client goes wrong by it.
    Problem,
}

/// What a finding is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Section {
    Server,
    Environment,
    Editors,
    Target,
    Clients,
    Probe,
}

impl Section {
    pub(super) const ALL: [Section; 6] = [
        Section::Server,
        Section::Environment,
        Section::Editors,
        Section::Target,
        Section::Clients,
        Section::Probe,
    ];

    pub(super) fn title(self) -> &'static str {
        match self {
            Section::Server => "uv and the server",
            Section::Environment => "Configuration",
            Section::Editors => "Unity Editors",
            Section::Target => "Which Editor is meant",
            Section::Clients => "Clients",
            Section::Probe => "Probe",
        }
    }
}

/// One finding.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Finding {
    /// Names the kind of finding, the same in every version.
    pub(super) id: &'static str,
    pub(super) section: Section,
    pub(super) severity: Severity,
    /// What was seen and what it means.
    pub(super) message: String,
    /// What to do about it.
    pub(super) cure: Option<String>,
    /// The facts of the message.
    pub(super) data: Value,
}

/// All that was found.
#[derive(Default)]
pub(super) struct Report {
    /// The server version that the behaviours go by.
    pub(super) upstream_version: &'static str,
    pub(super) findings: Vec<Finding>,
    /// A row for each variable that this program reads.
    pub(super) configuration: Vec<Value>,
    /// A row for each heartbeat.
    pub(super) editors: Vec<Value>,
    /// A row for each entry of a client.
    pub(super) clients: Vec<Value>,
}

impl Report {
    /// Adds a finding. Those above [`Severity::Info`] get a cure with [`Finding::cure`].
    pub(super) fn add(
        &mut self,
        section: Section,
        severity: Severity,
        id: &'static str,
        message: impl Into<String>,
    ) -> &mut Finding {
        self.findings.push(Finding {
            id,
            section,
            severity,
            message: message.into(),
            cure: None,
            data: json!({}),
        });
        let last = self.findings.len() - 1;
        &mut self.findings[last]
    }

    pub(super) fn count(&self, severity: Severity) -> usize {
        let of = |finding: &&Finding| finding.severity == severity;
        self.findings.iter().filter(of).count()
    }
}

impl Finding {
    pub(super) fn cure(&mut self, cure: impl Into<String>) -> &mut Self {
        self.cure = Some(cure.into());
        self
    }

    pub(super) fn data(&mut self, data: Value) -> &mut Self {
        self.data = data;
        self
    }
}

/// `1 Editor`, `2 Editors`.
pub(super) fn count(number: usize, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {what}{plural}")
}

/// Names in a row.
pub(super) fn listed<T: AsRef<str>>(names: impl IntoIterator<Item = T>) -> String {
    let names: Vec<String> = names
        .into_iter()
        .map(|name| name.as_ref().to_owned())
        .collect();
    names.join(", ")
}
