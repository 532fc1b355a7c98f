//! What is asked of each entry.

use super::clients::{Judged, Kind, is_proxy};
use super::environment::told;
use super::finding::{Finding, Report, Section, Severity, count, listed};
use super::{Scene, launch, project, target};
use crate::binding;
use crate::commands::clients::{Client, KEY};
use crate::commands::takes_no_command;
use crate::config::Config;
use crate::instances::{Editor, Heartbeats, live};
use crate::upstream::find_uvx;
use serde_json::json;
use std::path::Path;

const SECTION: Section = Section::Clients;

impl Judged {
    fn add<'r>(
        &self,
        report: &'r mut Report,
        severity: Severity,
        id: &'static str,
        text: &str,
    ) -> &'r mut Finding {
        let entry = &self.entry;
        let finding = report.add(SECTION, severity, id, format!("{} {text}", self.whose()));
        finding.data(json!({ "client": entry.client.slug(), "file": entry.file, "key": entry.key }))
    }

    /// Adds what there is to say about the entry.
    pub(super) fn examine(&self, scene: &Scene, report: &mut Report) {
        let entry = &self.entry;
        if entry.off {
            self.add(report, Severity::Info, "entry_off", "is switched off");
            return;
        }
        let write = format!(
            "vrc-mcp-proxy config {} prints a right one",
            entry.client.slug()
        );
        if !entry.faults.is_empty() {
            let text = format!("is not usable: {}", listed(&entry.faults));
            self.add(report, Severity::Problem, "entry_faulty", &text)
                .cure(&write);
            return;
        }
        if let Some(found) = entry.misplaced {
            let read = entry.client.servers_key();
            let text = format!(
                "stands under {found:?}, and {} reads {read:?}",
                entry.client.title()
            );
            self.add(report, Severity::Problem, "entry_misplaced", &text)
                .cure(&write);
            return;
        }
        self.examine_kind(&write, report);
        if self.is_behind_proxy() {
            self.examine_proxy(report);
            self.examine_patience(report);
            self.examine_environment(scene, report);
        }
    }

    fn examine_kind(&self, write: &str, report: &mut Report) {
        let (severity, id, text, cure) = match &self.kind {
            Kind::This => {
                self.add(report, Severity::Ok, "entry", "starts this program");
                return;
            }
            Kind::OtherProxy(file) => (
                Severity::Warning,
                "other_copy",
                format!(
                    "starts another copy of the proxy than this one: {}",
                    file.display()
                ),
                format!(
                    "run {} doctor for that one, or let the entry start this one",
                    file.display()
                ),
            ),
            Kind::Server => (
                Severity::Problem,
                "past_proxy",
                "starts the server itself, past this proxy: nothing guards what is done through it"
                    .to_owned(),
                format!("replace it: {write}"),
            ),
            Kind::Http(url) => (
                Severity::Problem,
                "http_entry",
                format!(
                    "talks to {url} over HTTP, past this proxy; the proxy needs the transport stdio"
                ),
                format!("choose stdio in Window > MCP for Unity, and replace the entry: {write}"),
            ),
            Kind::Missing(program) => (
                Severity::Problem,
                "command_missing",
                format!("starts {program:?}, which is not there or may not be run"),
                format!(
                    "write the program's whole path, with / or doubled \\ and without ~: {write}"
                ),
            ),
            Kind::Other(line) => (
                Severity::Info,
                "other_command",
                format!("starts neither this proxy nor the server as it is known: {line}"),
                write.to_owned(),
            ),
            Kind::Unresolved(name) => (
                Severity::Info,
                "entry_unresolved",
                format!(
                    "holds ${{{name}}}, which only the client can fill in: it was not looked at further"
                ),
                "nothing has to be done where the client knows it".to_owned(),
            ),
        };
        self.add(report, severity, id, &text).cure(cure);
    }

    /// What is asked of an entry that starts the proxy.
    fn examine_proxy(&self, report: &mut Report) {
        let entry = &self.entry;
        let command = entry.command.as_deref().unwrap_or_default();
        if is_proxy(command) && !takes_no_command(&entry.args) {
            let text = format!(
                "has the arguments {}: with them the proxy is no relay",
                listed(&entry.args)
            );
            self.add(report, Severity::Problem, "entry_arguments", &text)
                .cure("leave \"args\" empty");
        }
        if entry.key != KEY {
            let text = format!(
                "has another key than {KEY}: agents' permissions and instructions name the tools by it"
            );
            self.add(report, Severity::Warning, "entry_key", &text)
                .cure(format!("call it {KEY}"));
        }
        if !command.contains(['/', '\\']) && entry.client.has_window() && self.own_path().is_none()
        {
            let text = "names its program without a path: it is found on the PATH of this shell, which a client with a \
                        window may not have";
            self.add(report, Severity::Warning, "entry_by_name", text)
                .cure("write the program's whole path");
        }
    }

    /// Codex gives a server 10 s to start unless told; the pinned one takes 5 to 10 and more on its first run.
    fn examine_patience(&self, report: &mut Report) {
        const ENOUGH_S: f64 = 20.0;
        let waits = self.entry.startup_s.unwrap_or(10.0);
        if self.entry.client == Client::Codex && waits < ENOUGH_S {
            let text =
                format!("lets Codex wait {waits} s for the start, which a first start exceeds");
            self.add(report, Severity::Warning, "entry_impatient", &text)
                .cure("add startup_timeout_sec = 60 and tool_timeout_sec = 240 to it; vrc-mcp-proxy warm makes the first start");
        }
    }

    /// What the entry's variables do.
    fn examine_environment(&self, scene: &Scene, report: &mut Report) {
        let variables = self
            .env
            .iter()
            .map(|(name, value)| (name.into(), value.into()));
        let config = Config::from_env(variables);
        for problem in &config.problems {
            told(problem, &self.whose(), report);
        }
        if !config.disabled.is_empty() {
            let text = format!("switches off: {}", listed(&config.disabled));
            self.add(report, Severity::Info, "entry_behaviours_off", &text);
        }
        self.examine_upstream(&config, report);
        let editors = self.examine_folder(&config, scene, report);
        if let Some(value) = &config.default_instance {
            target::default_instance(value, &self.whose(), scene, &editors, report);
        }
        if let Some(value) = self.variable(binding::VARIABLE) {
            project::examine(value, &self.whose(), &self.base, scene, report);
        }
    }

    fn examine_upstream(&self, config: &Config, report: &mut Report) {
        if let Some(program) = config.upstream.as_ref().and_then(|words| words.first()) {
            if self.find(program).is_none() {
                let text = format!(
                    "names in VRC_MCP_PROXY_UPSTREAM a program that is not there: {program:?}"
                );
                let cure = "correct the path, or remove the variable";
                self.add(report, Severity::Problem, "entry_upstream_missing", &text)
                    .cure(cure);
            }
            return;
        }
        let Some(path) = self.own_path() else {
            return;
        };
        if find_uvx(path.as_ref()).is_none() {
            let text = "sets a PATH without uvx, which is not where uv's installers put it either: the proxy cannot \
                        start the server";
            let cure = find_uvx(&launch::own_path())
                .or_else(launch::stray_uvx)
                .map_or_else(
                    || "install uv, and restart the client".to_owned(),
                    |uvx| {
                        format!(
                            "add to that PATH the folder of {}, or to the same \"env\" {}",
                            uvx.display(),
                            launch::upstream_with(&uvx, config.upstream_version)
                        )
                    },
                );
            self.add(report, Severity::Problem, "entry_uvx_missing", text)
                .cure(cure);
        }
    }

    /// The Editors that the entry's proxy would see, with a finding when they are not the ones that are there.
    fn examine_folder(&self, config: &Config, scene: &Scene, report: &mut Report) -> Vec<Editor> {
        // A client that is started from this shell hands on its variables.
        if config.status_dir.is_none() && !self.entry.client.has_window() {
            return scene.editors.clone();
        }
        let folder = config.status_folder();
        if folder == scene.folder {
            return scene.editors.clone();
        }
        let editors = Heartbeats::new(folder.clone()).read();
        let here = scene.live().len();
        if here > 0 && live(&editors, scene.now_ms).next().is_none() {
            let there = folder.as_deref().unwrap_or(Path::new("-")).display();
            let text = format!(
                "looks for Editors in {there}, where none is live; {} write to {}",
                count(here, "live Editor"),
                scene.folder.as_deref().unwrap_or(Path::new("-")).display()
            );
            let cure = "give the entry's \"env\" the UNITY_MCP_STATUS_DIR that the Editors have, or take it away there too";
            self.add(report, Severity::Problem, "entry_other_folder", &text)
                .cure(cure);
        }
        editors
    }
}
