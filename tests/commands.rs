//! The commands of the real binary: exit statuses, what they print, what they leave behind.
#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a test's helper fails the test"
)]

use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use vrc_mcp_proxy::behaviors::REGISTRY;
use vrc_mcp_proxy::commands::behaviors::{markdown_codes, markdown_table, points};
use vrc_mcp_proxy::config::{UPSTREAM_VERSION, VARIABLES};

#[path = "commands/baseline.rs"]
mod baseline;

const COMMANDS: [&str; 9] = [
    "demo",
    "doctor",
    "config",
    "warm",
    "behaviors",
    "capture-baseline",
    "diff-baseline",
    "repro",
    "completions",
];
const BINARY: &str = env!("CARGO_BIN_EXE_vrc-mcp-proxy");

/// The binary with these arguments and without any of its variables in the environment.
fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(BINARY);
    for (name, _) in VARIABLES {
        command.env_remove(name);
    }
    command.args(arguments);
    command
}

fn run(command: &mut Command) -> Output {
    command.output().expect("the binary starts")
}

fn status(output: &Output) -> i32 {
    output.status.code().expect("it ends by itself")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn json_of(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}{}", stdout(output), stderr(output)))
}

/// A folder for one test.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Folder(tempfile::tempdir().expect("a temporary folder"))
    }

    fn file(&self, name: &str, content: &str) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, content).expect("the file is written");
        path
    }

    /// `VRC_MCP_PROXY_UPSTREAM` for a server that says what `rules` tell it, after a usual hello.
    fn upstream(&self, rules: &Value) -> String {
        let mut script = vec![json!({ "method": "initialize", "say": [{ "result": {
            "protocolVersion": "2025-06-18",
            "capabilities": { "tools": { "listChanged": true } },
            "serverInfo": { "name": "scripted", "version": "0" },
        }}]})];
        script.extend(rules.as_array().expect("a list of rules").iter().cloned());
        let script = self.file("script.json", &json!(script).to_string());
        let words = [BINARY, "simulated-upstream", "--script", text(&script)];
        json!(words).to_string()
    }
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path in Unicode")
}

#[test]
fn help_and_version_say_what_this_is() {
    let version = run(&mut command(&["--version"]));
    assert_eq!(status(&version), 0);
    let expected = format!(
        "vrc-mcp-proxy {} (mcpforunityserver {UPSTREAM_VERSION})\n",
        env!("CARGO_PKG_VERSION")
    );
    assert_eq!(stdout(&version), expected);
    let help = run(&mut command(&["--help"]));
    assert_eq!(status(&help), 0);
    let help = stdout(&help);
    for (variable, _) in VARIABLES {
        assert!(help.contains(variable), "--help lacks {variable}");
    }
    for name in COMMANDS {
        assert!(help.contains(name), "--help lacks {name}");
    }
    assert!(!help.contains("simulated-upstream"));
}

#[test]
fn the_readme_names_every_variable_and_command() {
    let readme = include_str!("../README.md");
    let rows = VARIABLES.iter().map(|(name, _)| *name).chain(COMMANDS);
    for name in rows {
        let row = |line: &&str| line.starts_with("| `") && line.contains(name);
        assert!(readme.lines().any(|line| row(&line)), "no table has {name}");
    }
}

#[test]
fn what_it_does_not_know_it_does_not_do() {
    for arguments in [
        &["nonsense"][..],
        &["--transport", "stdio"],
        &["behaviors", "--nonsense"],
        &["behaviors", "--json", "--markdown"],
        &["simulated-upstream"],
        &["repro"],
        &["repro", "--instance", "A@00000000"],
    ] {
        let output = run(&mut command(arguments));
        assert_eq!(status(&output), 2, "{arguments:?}");
        assert_eq!(stdout(&output), "", "{arguments:?}");
        assert!(stderr(&output).contains("Usage:"), "{arguments:?}");
    }
}

#[test]
fn behaviors_lists_them_all_with_their_state() {
    let name = REGISTRY[0].name;
    let both = format!("{name} nonsense");
    let output = run(command(&["behaviors"]).env("VRC_MCP_PROXY_DISABLE", &both));
    assert_eq!(status(&output), 0);
    assert!(stderr(&output).contains("nonsense"), "{}", stderr(&output));
    let table = stdout(&output);
    for (number, behavior) in REGISTRY.iter().enumerate() {
        let line = table
            .lines()
            .find(|line| line.split(' ').next() == Some(behavior.name));
        let line = line.unwrap_or_else(|| panic!("{} is missing", behavior.name));
        let state = if number == 0 { " off " } else { " on " };
        assert!(line.contains(state), "{line}");
        assert!(line.contains(&points(behavior).join(", ")), "{line}");
    }
    assert!(
        table.lines().all(|line| line.chars().count() <= 120),
        "{table}"
    );
}

#[test]
fn behaviors_as_json_and_as_markdown() {
    let name = REGISTRY[0].name;
    let facts = run(command(&["behaviors", "--json"]).env("VRC_MCP_PROXY_DISABLE", name));
    assert_eq!(status(&facts), 0);
    let facts = json_of(&facts);
    assert_eq!(facts["upstream_version"], UPSTREAM_VERSION);
    let listed = facts["behaviors"].as_array().expect("a list");
    assert_eq!(listed.len(), REGISTRY.len());
    for (listed, behavior) in listed.iter().zip(REGISTRY) {
        assert_eq!(listed["name"], behavior.name);
        assert_eq!(listed["points"], json!(points(behavior)));
        assert_eq!(
            listed["state"],
            if behavior.name == name { "off" } else { "on" }
        );
        assert_eq!(
            listed["codes"].as_array().map(Vec::len),
            Some(behavior.codes.len())
        );
    }
    let markdown = run(&mut command(&["behaviors", "--markdown"]));
    assert_eq!(
        (status(&markdown), stdout(&markdown)),
        (0, markdown_table())
    );
}

#[test]
fn the_tables_have_a_row_for_each_behaviour_and_each_code() {
    let (table, codes) = (markdown_table(), markdown_codes());
    assert_eq!(table.lines().count(), 2 + REGISTRY.len());
    for behavior in REGISTRY {
        let start = format!("| `{}` | {} |", behavior.name, points(behavior).join(", "));
        assert!(table.contains(&start), "{start}");
        for (code, meaning) in behavior.codes {
            let row = format!("| `{}` | `{code}` | {meaning} |", behavior.name);
            assert!(codes.contains(&row), "{row}");
        }
    }
    for code in ["contained_failure", "upstream_ended", "unreadable_answer"] {
        assert!(codes.contains(&format!("| `relay` | `{code}` |")), "{code}");
    }
}

#[test]
fn the_demo_goes_as_told_and_leaves_nothing_behind() {
    let temporary = Folder::new();
    let place = temporary.0.path();
    let in_place = |arguments: &[&str]| {
        let mut command = command(arguments);
        for variable in ["TMPDIR", "TEMP", "TMP"] {
            command.env(variable, place);
        }
        // What the user has set does not change the demo.
        command.env("VRC_MCP_PROXY_DISABLE", "allowlist instance_guard");
        run(&mut command)
    };
    let shown = in_place(&["demo"]);
    let account = stdout(&shown);
    assert_eq!(status(&shown), 0, "{account}{}", stderr(&shown));
    assert!(account.contains("went as told"), "{account}");
    assert!(!account.contains("NOT AS TOLD"), "{account}");
    assert!(
        account.lines().all(|line| line.chars().count() <= 100),
        "{account}"
    );
    let facts = in_place(&["demo", "--json"]);
    assert_eq!(status(&facts), 0);
    let facts = json_of(&facts);
    assert_eq!(facts["as_told"], true);
    for scene in facts["scenes"].as_array().expect("a list of scenes") {
        let title = scene["title"].as_str().expect("a title");
        assert!(account.contains(title), "the account lacks {title:?}");
        assert_eq!(scene["not_as_told"], json!([]), "{title}");
    }
    let left: Vec<_> = std::fs::read_dir(place).expect("the folder").collect();
    assert!(left.is_empty(), "{left:?}");
}
