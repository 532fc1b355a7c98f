//! `capture-baseline` and `diff-baseline`: what the pinned server's tools accept, for whoever moves the pin.

use super::difference;
use super::folder::TemporaryFolder;
use super::session::{Session, request};
use super::{Failure, NOT_AS_IT_SHOULD_BE, complain, config, print, print_json};
use crate::baseline::{self, Baseline, ToolText};
use crate::behaviors::REGISTRY;
use crate::config::{Config, named_version};
use crate::upstream;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long the server may take to say hello: on a first run uvx has to fetch and unpack it.
const HELLO: Duration = Duration::from_secs(300);
/// How long one list may take.
const LIST: Duration = Duration::from_secs(30);
/// How many pages it may have. Upstream has one (measured against 10.1.0).
const PAGES: usize = 100;
/// How long a list has to stand unchanged.
const QUIET: Duration = Duration::from_millis(1500);
/// How long it may take until one does.
const SETTLE: Duration = Duration::from_secs(60);

/// The arguments of `capture-baseline`.
#[derive(clap::Args)]
pub(super) struct CaptureOptions {
    /// Where to write the baseline [default: stdout]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// The server's version: which one uvx is to start, or what the server of VRC_MCP_PROXY_UPSTREAM is
    #[arg(long, value_name = "VERSION")]
    server_version: Option<String>,
    /// Print what was captured as JSON
    #[arg(long)]
    json: bool,
}

/// The arguments of `diff-baseline`.
#[derive(clap::Args)]
pub(super) struct DiffOptions {
    /// A baseline file, or the version of a committed one [default: the version in use]
    old: Option<PathBuf>,
    /// The same [default: a fresh capture of the server in use]
    new: Option<PathBuf>,
    /// Print the differences as JSON
    #[arg(long)]
    json: bool,
}

/// Takes a baseline.
pub(super) fn capture(options: &CaptureOptions) -> Result<u8, Failure> {
    let baseline = fresh(&config(), options.server_version.as_deref())?;
    let (json, tools) = (baseline.to_json(), baseline.tool_names().count());
    let Some(file) = &options.out else {
        print(&json)?;
        return Ok(0);
    };
    let version = baseline.server_version();
    std::fs::write(file, json).map_err(Failure::io(file.display().to_string()))?;
    if options.json {
        let file = file.display().to_string();
        print_json(&json!({ "server_version": version, "tools": tools, "file": file }))?;
    } else {
        print(&format!(
            "{tools} tools of {version} -> {}\n",
            file.display()
        ))?;
    }
    Ok(0)
}

/// Compares two baselines.
pub(super) fn diff(options: &DiffOptions) -> Result<u8, Failure> {
    let config = config();
    let old = match &options.old {
        Some(old) => load(old)?,
        None => load(Path::new(config.upstream_version))?,
    };
    let new = match &options.new {
        Some(new) => load(new)?,
        None => fresh(&config, None)?,
    };
    let report = baseline::diff(&old, &new, |tool| config.exposed.contains(tool));
    let (contracts, outputs) = (report.changes_contracts(), report.changes_outputs());
    if options.json {
        let equal =
            json!({ "contracts_equal": !contracts, "outputs_equal": !outputs, "report": report });
        print_json(&equal)?;
    } else {
        print(&difference::table(&report))?;
    }
    Ok(if contracts || outputs {
        NOT_AS_IT_SHOULD_BE
    } else {
        0
    })
}

/// The baseline of a file, or of a version that one is committed of.
fn load(named: &Path) -> Result<Baseline, Failure> {
    let told =
        |error: &dyn std::fmt::Display| Failure::Told(format!("{}: {error}", named.display()));
    let text = match std::fs::read_to_string(named) {
        Ok(text) => text,
        Err(error) => {
            let committed = named.to_str().and_then(baseline::committed);
            committed.ok_or_else(|| told(&error))?.to_owned()
        }
    };
    Baseline::parse(&text).map_err(|error| told(&error))
}

/// Starts the server and takes the baseline of what it lists. `version` is the one asked for.
fn fresh(config: &Config, version: Option<&str>) -> Result<Baseline, Failure> {
    let command = match (&config.upstream, version) {
        (None, Some(version)) => uvx_command(version)?,
        _ => server_command(config)?,
    };
    let version = version.map_or_else(|| server_version(&command), str::to_owned);
    complain("starting the server; on a first run it has to be fetched");
    let tools = settled_list(&command)?;
    Baseline::capture(&version, tools.iter().map(Listed::text))
        .map_err(|error| Failure::Told(error.to_string()))
}

/// The whole command of the server that `config` starts.
pub(super) fn server_command(config: &Config) -> Result<Vec<String>, Failure> {
    let own = config.upstream.clone();
    own.map_or_else(|| uvx_command(config.upstream_version), Ok)
}

/// The command that starts this version of the server through uvx.
fn uvx_command(version: &str) -> Result<Vec<String>, Failure> {
    let found = upstream::command(None, version).map_err(|error| Failure::Told(error.to_string()));
    let (program, arguments) = found?;
    let program = program.to_str().map(str::to_owned);
    let program =
        program.ok_or_else(|| Failure::Told("the path of uvx is not Unicode".to_owned()))?;
    Ok([vec![program], arguments].concat())
}

/// The version of the server that `command` starts.
fn server_version(command: &[String]) -> String {
    named_version(command).map_or_else(
        || {
            complain("the server's version is not in its command: it is called \"unknown\"");
            "unknown".to_owned()
        },
        str::to_owned,
    )
}

/// A tool of a list.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct Listed {
    name: String,
    input_schema: Option<Box<RawValue>>,
    output_schema: Option<Box<RawValue>>,
    annotations: Option<Box<RawValue>>,
    title: Option<Box<RawValue>>,
    description: Option<Box<RawValue>>,
}

impl Listed {
    fn text(&self) -> ToolText<'_> {
        ToolText {
            name: &self.name,
            input_schema: self.input_schema.as_deref().map(RawValue::get),
            output_schema: self.output_schema.as_deref().map(RawValue::get),
            annotations: self.annotations.as_deref().map(RawValue::get),
            title: self.title.as_deref().map(RawValue::get),
            description: self.description.as_deref().map(RawValue::get),
        }
    }
}

/// One answer to `tools/list`.
#[derive(serde::Deserialize)]
struct Answer {
    result: Option<Page>,
    error: Option<Value>,
}

#[derive(serde::Deserialize)]
struct Page {
    tools: Vec<Listed>,
    #[serde(rename = "nextCursor")]
    next: Option<String>,
}

/// The list of a server, once it has stopped growing.
///
/// The server is reached through the relay with every behaviour off, which passes lists on as they are
/// and sees to its process tree. It looks for Editors in an empty folder: a running one would decide which
/// tools are listed, and be torn from its client.
fn settled_list(command: &[String]) -> Result<Vec<Listed>, Failure> {
    let no_editors = TemporaryFolder::new()?;
    let off: Vec<&str> = REGISTRY.iter().map(|behavior| behavior.name).collect();
    let variables: Vec<(&str, OsString)> = vec![
        ("VRC_MCP_PROXY_DISABLE", off.join(",").into()),
        ("UNITY_MCP_STATUS_DIR", no_editors.path().into()),
        ("VRC_MCP_PROXY_UPSTREAM", json!(command).to_string().into()),
    ];
    let mut lister = Lister {
        session: Session::start(variables)?,
        next_id: 2,
    };
    lister.session.initialize(1, Instant::now() + HELLO)?;
    let list = lister.settle()?;
    lister.session.end(&mut Vec::new())?;
    Ok(list)
}

struct Lister {
    session: Session,
    next_id: u64,
}

impl Lister {
    /// Lists until two lists in a row are equal with a quiet time between them.
    fn settle(&mut self) -> Result<Vec<Listed>, Failure> {
        let limit = Instant::now() + SETTLE;
        let (mut last, _) = self.list()?;
        while Instant::now() < limit {
            let announced = self.changes_within(QUIET)?;
            let (list, changed_meanwhile) = self.list()?;
            if !announced && !changed_meanwhile && same(&last, &list) {
                return Ok(list);
            }
            last = list;
        }
        let seconds = SETTLE.as_secs();
        Err(Failure::Told(format!(
            "the list of tools went on changing for {seconds} s"
        )))
    }

    /// All pages of the list, and whether a change was announced while they came.
    fn list(&mut self) -> Result<(Vec<Listed>, bool), Failure> {
        let (mut tools, mut seen) = (Vec::new(), Vec::new());
        let mut params = json!({});
        for _ in 0..PAGES {
            let id = self.next_id;
            self.next_id += 1;
            self.session.send(&request(id, "tools/list", &params))?;
            self.session.answer(id, Instant::now() + LIST, &mut seen)?;
            let line = seen.pop().unwrap_or_default();
            let answer: Answer = serde_json::from_str(&line)
                .map_err(|error| Failure::Told(format!("the list of tools: {error}")))?;
            let Some(page) = answer.result else {
                let error = answer.error.unwrap_or_default();
                return Err(Failure::Told(format!(
                    "the server does not list its tools: {error}"
                )));
            };
            tools.extend(page.tools);
            match page.next {
                Some(cursor) => params = json!({ "cursor": cursor }),
                None => return Ok((tools, seen.iter().any(|line| announces(line)))),
            }
        }
        let text = format!("the list of tools does not end after {PAGES} pages");
        Err(Failure::Told(text))
    }

    /// Whether a change of the list is announced before `quiet` is over.
    fn changes_within(&mut self, quiet: Duration) -> Result<bool, Failure> {
        let limit = Instant::now() + quiet;
        while let Some(line) = self.session.line(limit)? {
            if announces(&line) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn announces(line: &str) -> bool {
    let method = |message: Value| message["method"] == "notifications/tools/list_changed";
    serde_json::from_str(line).is_ok_and(method)
}

fn same(old: &[Listed], new: &[Listed]) -> bool {
    old.len() == new.len()
        && old
            .iter()
            .zip(new)
            .all(|(old, new)| old.text() == new.text())
}
