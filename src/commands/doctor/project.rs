//! The project that the proxy is bound to, and why an Editor fits it or does not.

use super::Scene;
use super::finding::{Finding, Report, Section, Severity, listed};
use super::heartbeats::shown_age;
use crate::behaviors::Surroundings;
use crate::binding::find::find;
use crate::binding::{Binding, Fit, Spelling, VARIABLE, identifier};
use crate::home;
use crate::instances::{Editor, Heartbeats};
use crate::surroundings::Files;
use serde_json::json;
use std::ffi::OsStr;
use std::path::Path;

const SECTION: Section = Section::Target;

/// Judges a value of the variable that binds the proxy, read in the folder where the proxy is started.
pub(super) fn examine(value: &str, whose: &str, here: &Path, scene: &Scene, report: &mut Report) {
    let found = find(OsStr::new(value), here, home::folder().as_deref());
    let line = found.line.map(|line| format!("{line} ({whose})"));
    let Some(binding) = found.binding else {
        if let Some(line) = line {
            report
                .add(SECTION, Severity::Warning, "project_not_found", line)
                .cure("start the client in the project's folder, or name the project's path");
        }
        return;
    };
    let is_none = !binding.is_project();
    if let Some(line) = line {
        let (severity, id) = if is_none {
            (Severity::Problem, "project_is_none")
        } else {
            (Severity::Info, "project_corrected")
        };
        report
            .add(SECTION, severity, id, line)
            .cure("name the folder that holds Assets and ProjectSettings")
            .data(json!({ "value": value, "where": whose, "root": binding.root() }));
    }
    if !is_none {
        compare(
            &binding,
            &format!("{VARIABLE} is {value:?} ({whose})"),
            scene,
            report,
        )
        .data(json!({
            "value": value,
            "where": whose,
            "root": binding.root(),
            "computed": computed(&binding),
            "editors": explained(&binding, scene),
        }));
    }
}

/// The Editors as the binding sees them: which is meant, and whether its hash is the one that its path gives.
fn explained(binding: &Binding, scene: &Scene) -> Vec<serde_json::Value> {
    let files = Files::new(Heartbeats::new(None));
    let real_path = |folder: &Path| files.real_path(folder);
    let explained = binding.explain(&scene.editors, scene.now_ms, real_path);
    let facts = explained.iter().map(|one| {
        let fit = match one.fit {
            Fit::Bound => "bound",
            Fit::Older => "older",
            Fit::Other => "other",
        };
        json!({
            "identifier": identifier(one.editor),
            "fit": fit,
            "spelling": one.spelling.map(Spelling::root),
            "computed_hash": one.computed_hash,
            "hash_agrees": one.hash_agrees,
        })
    });
    facts.collect()
}

/// The identifiers that the root gives, one for each spelling.
fn computed(binding: &Binding) -> Vec<String> {
    let name = binding.root().rsplit('/').next().unwrap_or_default();
    let spellings = binding.spellings().iter();
    spellings
        .map(|spelling| format!("{name}@{}", spelling.hash()))
        .collect()
}

/// Compares the project with what is open.
fn compare<'r>(
    binding: &Binding,
    said: &str,
    scene: &Scene,
    report: &'r mut Report,
) -> &'r mut Finding {
    let files = Files::new(Heartbeats::new(None));
    let real_path = |folder: &Path| files.real_path(folder);
    let fitting = binding.fitting(&scene.editors, scene.now_ms, real_path);
    let (root, computed) = (binding.root(), computed(binding).join(" or "));
    match fitting.first() {
        Some(editor) if editor.is_live(scene.now_ms) => {
            let name = identifier(editor);
            if binding
                .spellings()
                .iter()
                .any(|spelling| spelling.hash() == editor.hash)
            {
                let text =
                    format!("{said}: bound to {name}, whose hash is the one that {root} gives");
                return report.add(SECTION, Severity::Ok, "project", text);
            }
            let text = format!(
                "{said}: bound to {name} by its path; {root} gives {computed}: the project was opened by another spelling"
            );
            report.add(SECTION, Severity::Info, "project_hash_differs", text)
        }
        ghost => {
            let silent = ghost.and_then(|editor| editor.age(scene.now_ms));
            let silent = silent.map_or_else(String::new, |age| {
                format!(
                    " (the last heartbeat of it is {} old)",
                    shown_age(age.as_secs_f64())
                )
            });
            let text = format!(
                "{said}: {root} gives {computed}, and no live Editor has it open{silent}: every call is refused; {}",
                open(&scene.live())
            );
            let finding = report.add(SECTION, Severity::Problem, "project_not_open", text);
            finding.cure(
                "open that project in Unity, or correct the path (capitals count, but on Windows)",
            )
        }
    }
}

fn open(live: &[&Editor]) -> String {
    let open = live
        .iter()
        .map(|editor| format!("{} ({})", editor.identifier(), editor.project_path));
    match live.len() {
        0 => "no Editor is open".to_owned(),
        _ => format!("open are {}", listed(open)),
    }
}
