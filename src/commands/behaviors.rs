//! The `behaviors` command, and the tables of the docs.

use super::text::wrap;
use super::{Failure, config, print, print_json};
use crate::behaviors::{Behavior, REGISTRY};
use crate::config::Config;
use crate::relay::{RELAY, codes};
use serde_json::json;

/// How wide the table for a terminal is.
const WIDTH: usize = 120;
/// How narrow its last column may get.
const NARROW: usize = 30;

/// The arguments.
#[derive(clap::Args)]
pub(super) struct Options {
    /// Print the table as it stands in README.md and docs/behaviors.md
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
    /// Print the facts as JSON, with the codes that each behaviour puts into `_meta`
    #[arg(long)]
    json: bool,
}

pub(super) fn run(options: &Options) -> Result<u8, Failure> {
    if options.markdown {
        print(&markdown_table())?;
        return Ok(0);
    }
    let config = config();
    if options.json {
        print_json(&facts(&config))?;
    } else {
        print(&terminal_table(&config))?;
    }
    Ok(0)
}

/// Where a behaviour acts: the points of its hooks, each once.
pub fn points(behavior: &Behavior) -> Vec<&'static str> {
    let mut points = Vec::new();
    for hook in behavior.hooks {
        if !points.contains(&hook.point()) {
            points.push(hook.point());
        }
    }
    points
}

/// The table between the `behaviors` markers of README.md and docs/behaviors.md, with its last newline.
pub fn markdown_table() -> String {
    let mut table = "| behaviour | point | what it does |\n|---|---|---|\n".to_owned();
    for behavior in REGISTRY {
        table.push_str(&format!(
            "| `{}` | {} | {} |\n",
            behavior.name,
            points(behavior).join(", "),
            cell(behavior.summary)
        ));
    }
    table
}

/// The table between the `codes` markers of docs/behaviors.md, with its last newline: what stands in
/// `_meta` under `vrc-mcp-proxy`.
pub fn markdown_codes() -> String {
    let mut table = "| behaviour | code | meaning |\n|---|---|---|\n".to_owned();
    let behaviors = REGISTRY.iter().map(|b| (b.name, b.codes));
    for (name, codes) in behaviors.chain([(RELAY, codes::ALL)]) {
        for (code, meaning) in codes {
            table.push_str(&format!("| `{name}` | `{code}` | {} |\n", cell(meaning)));
        }
    }
    table
}

/// Text as it may stand in a cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn terminal_table(config: &Config) -> String {
    let head = ["behaviour", "point", "state", "what it does"].map(str::to_owned);
    let row = |behavior: &Behavior| {
        [
            behavior.name.to_owned(),
            points(behavior).join(", "),
            state(config, behavior).to_owned(),
            behavior.summary.to_owned(),
        ]
    };
    let rows: Vec<[String; 4]> = [head].into_iter().chain(REGISTRY.iter().map(row)).collect();
    let wide = |at: usize| {
        rows.iter()
            .map(|row| row[at].chars().count())
            .max()
            .unwrap_or(0)
    };
    let (names, points, states) = (wide(0), wide(1), wide(2));
    let left = names + points + states + 6;
    let mut table = String::new();
    for [name, point, state, summary] in &rows {
        let mut start = format!("{name:names$}  {point:points$}  {state:states$}  ");
        for line in wrap(summary, WIDTH.saturating_sub(left).max(NARROW)) {
            table.push_str(&format!("{start}{line}\n"));
            start = " ".repeat(left);
        }
    }
    table
}

fn state(config: &Config, behavior: &Behavior) -> &'static str {
    if config.disabled.contains(behavior.name) {
        "off"
    } else {
        "on"
    }
}

fn facts(config: &Config) -> serde_json::Value {
    let coded = |codes: &[(&str, &str)]| {
        let codes = codes.iter();
        let codes = codes.map(|(code, meaning)| json!({ "code": code, "meaning": meaning }));
        codes.collect::<Vec<_>>()
    };
    let behaviors = REGISTRY.iter().map(|behavior| {
        json!({
            "name": behavior.name,
            "points": points(behavior),
            "state": state(config, behavior),
            "summary": behavior.summary,
            "codes": coded(behavior.codes),
        })
    });
    json!({
        "upstream_version": config.upstream_version,
        "behaviors": behaviors.collect::<Vec<_>>(),
        "relay_codes": coded(codes::ALL),
    })
}
