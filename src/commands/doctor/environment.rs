//! The effective configuration, where each value came from, and what the environment gets wrong.

use super::Scene;
use super::finding::{Report, Section, Severity, listed};
use crate::config::{Config, VARIABLES};
use crate::upstream;
use serde_json::json;

const SECTION: Section = Section::Environment;

pub(super) fn examine(scene: &Scene, report: &mut Report) {
    for (name, meaning) in VARIABLES {
        let set = std::env::var_os(name).filter(|value| !value.to_string_lossy().trim().is_empty());
        let source = match set {
            None => "default",
            Some(_) if is_rejected(&scene.config, name) => {
                "fallback, since the variable's value is bad"
            }
            Some(_) => "environment",
        };
        let raw = set.map(|value| value.to_string_lossy().into_owned());
        report.configuration.push(json!({
            "variable": name,
            "value": effective(scene, name).or_else(|| raw.clone().filter(|_| source == "environment")),
            "source": source,
            "raw": raw,
            "meaning": meaning,
        }));
    }
    for problem in &scene.config.problems {
        told(problem, "this environment", report);
    }
    if let Some(problem) = scene.config.status_folder_problem() {
        told(&problem, "this environment", report);
    }
    let off = &scene.config.disabled;
    if !off.is_empty() {
        report
            .add(
                SECTION,
                Severity::Info,
                "behaviours_off",
                format!("switched off by VRC_MCP_PROXY_DISABLE: {}", listed(off)),
            )
            .data(json!({ "behaviours": off }));
    }
    if scene.config.problems.is_empty() && off.is_empty() {
        let text = "no variable is misspelled, no value is bad, no behaviour is off";
        report.add(SECTION, Severity::Ok, "environment", text);
    }
}

/// Adds a line of [`Config::problems`], which begins with the variable's name.
pub(super) fn told(problem: &str, whose: &str, report: &mut Report) {
    let name = problem.split([':', ' ']).next().unwrap_or_default();
    let known = VARIABLES.iter().any(|(known, _)| *known == name);
    let (id, cure) = if known {
        ("bad_value", "correct or remove the value")
    } else {
        ("unknown_variable", "rename or remove the variable")
    };
    // A project can add tools that nobody here knows of.
    let severity = match name {
        "VRC_MCP_PROXY_ALLOW" => Severity::Warning,
        _ => Severity::Problem,
    };
    report
        .add(SECTION, severity, id, format!("{problem} ({whose})"))
        .cure(cure)
        .data(json!({ "variable": name, "where": whose }));
}

/// Whether nothing of a variable's value is used.
fn is_rejected(config: &Config, name: &str) -> bool {
    // A list's known names still count, and so does a command that something else is said of.
    let partly = [
        "VRC_MCP_PROXY_DISABLE",
        "VRC_MCP_PROXY_ALLOW",
        "VRC_MCP_PROXY_DENY",
    ];
    if partly.contains(&name) || (name == "VRC_MCP_PROXY_UPSTREAM" && config.upstream.is_some()) {
        return false;
    }
    let speaks = |problem: &String| {
        problem
            .strip_prefix(name)
            .is_some_and(|rest| rest.starts_with(':'))
    };
    config.problems.iter().any(speaks)
}

/// What is in force for a variable; `None` where its own value is all there is to say.
fn effective(scene: &Scene, name: &str) -> Option<String> {
    let config = &scene.config;
    let or_none = |list: String| {
        Some(if list.is_empty() {
            "-".to_owned()
        } else {
            list
        })
    };
    match name {
        "VRC_MCP_PROXY_DISABLE" => or_none(listed(&config.disabled)),
        "VRC_MCP_PROXY_EXECUTE_TIMEOUT_S" => Some(config.execute_timeout.as_secs_f64().to_string()),
        "VRC_MCP_PROXY_UPSTREAM" => Some(match &config.upstream {
            Some(words) => words.join(" "),
            None => format!(
                "uvx {}",
                upstream::uvx_arguments(config.upstream_version).join(" ")
            ),
        }),
        "VRC_MCP_PROXY_UPSTREAM_VERSION" => Some(config.upstream_version.to_owned()),
        "VRC_MCP_PROXY_MODE" => Some(config.mode.name().to_owned()),
        "VRC_MCP_PROXY_LOG" => Some(config.log.clone()),
        "UNITY_MCP_STATUS_DIR" => {
            let folder = scene.folder.as_ref();
            Some(folder.map_or_else(|| "-".to_owned(), |folder| folder.display().to_string()))
        }
        _ => None,
    }
}
