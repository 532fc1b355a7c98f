//! uvx, the pinned server, and the baseline of its tools.

use super::finding::{Report, Section, Severity, count, listed};
use super::{Scene, launch};
use crate::baseline::{self, Baseline};
use crate::commands::limited;
use crate::upstream;
use serde_json::json;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const SECTION: Section = Section::Server;

/// uvx says its version at once, but a launcher of another tool may stand in its place.
const VERSION_LIMIT: Duration = Duration::from_secs(10);
/// Without a network uvx looks into its cache and, at worst, links what lies there: 0.1 s as a rule.
const CACHE_LIMIT: Duration = Duration::from_secs(15);

/// Says what the server's environment is made of. FastMCP and pydantic decide how contracts are written.
const VERSIONS: &str = "import sys\nfrom importlib.metadata import version as v\n\
     print('Python', sys.version.split()[0], 'fastmcp', v('fastmcp'), 'pydantic', v('pydantic'))";

pub(super) fn examine(scene: &Scene, report: &mut Report) {
    let version = scene.config.upstream_version;
    match &scene.config.upstream {
        Some(words) => replaced(words, version, report),
        None => {
            if let Some(uvx) = uvx(version, report) {
                cached(&uvx, version, report);
            }
        }
    }
    contracts(scene, report);
}

/// Another command stands in the place of the pinned server.
fn replaced(words: &[String], version: &str, report: &mut Report) {
    let line = words.join(" ");
    let data = json!({ "command": words });
    match upstream::command(Some(words), version) {
        Ok((program, _)) => {
            let program = program.display();
            report
                .add(
                    SECTION,
                    Severity::Info,
                    "upstream_replaced",
                    format!(
                        "VRC_MCP_PROXY_UPSTREAM starts another server than the pinned one: {line} (the program is \
                         {program})"
                    ),
                )
                .data(data);
        }
        Err(error) => {
            report
                .add(
                    SECTION,
                    Severity::Problem,
                    "upstream_missing",
                    error.to_string(),
                )
                .cure("correct the first word of VRC_MCP_PROXY_UPSTREAM, or remove the variable")
                .data(data);
        }
    }
}

/// Finds uvx as the relay does.
fn uvx(version: &str, report: &mut Report) -> Option<std::path::PathBuf> {
    let path = launch::own_path();
    let Some(uvx) = upstream::find_uvx(&path) else {
        missing(version, report);
        return None;
    };
    let shown = uvx.display().to_string();
    let on_path = launch::is_on(&path, &uvx);
    let whence = if on_path {
        "on PATH"
    } else {
        "not on PATH, but where uv's installers put it"
    };
    match limited::run(Command::new(&uvx).arg("--version"), VERSION_LIMIT) {
        Ok(said) if said.status.success() => {
            let version = String::from_utf8_lossy(&said.stdout);
            let version = version.trim();
            report
                .add(
                    SECTION,
                    Severity::Ok,
                    "uvx",
                    format!("{version}, {whence}: {shown}"),
                )
                .data(json!({ "uvx": shown, "on_path": on_path, "version": version }));
        }
        outcome => {
            let why = match outcome {
                Ok(said) => format!(
                    "it {}: {}",
                    upstream::describe(said.status),
                    last_line(&said.stderr)
                ),
                Err(error) => error.to_string(),
            };
            report
                .add(SECTION, Severity::Problem, "uvx_broken", format!("{shown} does not run: {why}"))
                .cure("install uv anew (`pip install uv`, `winget install astral-sh.uv` or `brew install uv`)")
                .data(json!({ "uvx": shown, "on_path": on_path, "reason": why }));
            return None;
        }
    }
    if launch::uvx_for_windows_programs().is_none() {
        only_in_this_shell(&uvx, version, report);
    }
    Some(uvx)
}

fn missing(version: &str, report: &mut Report) {
    let stray = launch::stray_uvx();
    let message = "uvx was not found, neither on this PATH nor where uv's installers put it: the proxy cannot start \
                   the server, and ends with status 127";
    let install = "install uv (`pip install uv`, `winget install astral-sh.uv` or `brew install uv`) and restart \
                   the client";
    let cure = match &stray {
        None => install.to_owned(),
        Some(file) => format!(
            "there is one that the proxy does not look for, {}: put its folder on the client's PATH, or add to the \
             \"env\" of its entry {}",
            file.display(),
            launch::upstream_with(file, version)
        ),
    };
    report
        .add(SECTION, Severity::Problem, "uvx_missing", message)
        .cure(cure)
        .data(json!({
            "path": launch::own_path().to_string_lossy(),
            "elsewhere": stray.map(|file| file.display().to_string()),
        }));
}

/// A client with a window is started with a bare PATH, and uv is in none of the places that are looked in then.
fn only_in_this_shell(uvx: &Path, version: &str, report: &mut Report) {
    report
        .add(
            SECTION,
            Severity::Warning,
            "uvx_only_on_this_path",
            format!(
                "{} is found through the PATH of this shell alone: a client that is not started from a shell has a \
                 bare PATH, and finds it neither there nor where uv's installers put it",
                uvx.display()
            ),
        )
        .cure(format!(
            "for such a client link uvx into ~/.local/bin, or add to the \"env\" of its entry {}",
            launch::upstream_with(uvx, version)
        ))
        .data(json!({ "uvx": uvx.display().to_string() }));
}

/// Whether uvx can make the server's environment without a network.
fn cached(uvx: &Path, version: &str, report: &mut Report) {
    let package = format!("mcpforunityserver=={version}");
    let mut ask = Command::new(uvx);
    ask.args(["--offline", "--from", &package, "python", "-c", VERSIONS]);
    ask.env("UV_PYTHON_DOWNLOADS", "never");
    let outcome = limited::run(&mut ask, CACHE_LIMIT);
    let why = match outcome {
        Ok(said) if said.status.success() => {
            let made_of = String::from_utf8_lossy(&said.stdout).trim().to_owned();
            report
                .add(
                    SECTION,
                    Severity::Ok,
                    "server_cached",
                    format!("server {version} is in uv's cache ({made_of})"),
                )
                .data(json!({ "server_version": version, "made_of": made_of }));
            return;
        }
        Ok(said) => cause(&said.stderr),
        Err(error) => error.to_string(),
    };
    report
        .add(
            SECTION,
            Severity::Warning,
            "server_not_cached",
            format!(
                "server {version} cannot be started without a network ({why}): the first start fetches it, \
                 which can take longer than a client waits"
            ),
        )
        .cure("vrc-mcp-proxy warm")
        .data(json!({ "server_version": version, "reason": why }));
}

/// uv's reason, which stands ahead of its hints.
fn cause(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let mut lines = text
        .lines()
        .map(|line| line.trim_start_matches([' ', '╰', '─', '▶', '×']));
    let cause = lines.find_map(|line| {
        line.strip_prefix("cause: ")
            .or(line.strip_prefix("Because "))
    });
    let cause = cause.map_or_else(|| last_line(stderr), str::to_owned);
    cause.trim_end_matches('.').to_owned()
}

fn last_line(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let last = text.lines().rev().find(|line| !line.trim().is_empty());
    last.unwrap_or("it said nothing").trim().to_owned()
}

/// The baseline, and which of its tools are exposed.
fn contracts(scene: &Scene, report: &mut Report) {
    let version = scene.config.upstream_version;
    let parsed = baseline::committed(version).map(Baseline::parse);
    let baseline = match parsed {
        Some(Ok(baseline)) => baseline,
        Some(Err(error)) => {
            let text = error.to_string();
            report
                .add(SECTION, Severity::Problem, "baseline_broken", text)
                .cure("build the proxy anew from a clean clone");
            return;
        }
        None => {
            let text = format!("there is no baseline of server {version}");
            report
                .add(SECTION, Severity::Problem, "baseline_missing", text)
                .cure("vrc-mcp-proxy capture-baseline, as in docs/bump-runbook.md");
            return;
        }
    };
    let known: Vec<&str> = baseline.tool_names().collect();
    let exposed = known
        .iter()
        .filter(|tool| scene.config.exposed.contains(tool));
    let exposed: Vec<&str> = exposed.copied().collect();
    report
        .add(
            SECTION,
            Severity::Ok,
            "baseline",
            format!(
                "the baseline of server {version} has {}; exposed: {}",
                count(known.len(), "tool"),
                listed(&exposed)
            ),
        )
        .data(json!({ "tools": known.len(), "exposed": exposed }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_of_uv_is_found_among_its_lines() {
        let new = "error: No solution found when resolving tool dependencies\n  cause: Because x was not found in the \
                   cache.\n\nhint: Packages were unavailable\n";
        assert_eq!(
            cause(new.as_bytes()),
            "Because x was not found in the cache"
        );
        let old = "  × No solution found:\n  ╰─▶ Because x was not found in the cache\n";
        assert_eq!(cause(old.as_bytes()), "x was not found in the cache");
        assert_eq!(cause(b"one\ntwo \n\n"), "two");
        assert_eq!(cause(b""), "it said nothing");
    }
}
