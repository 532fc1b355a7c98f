//! The commands of the real binary: exit statuses, what they print, what they leave behind.
#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a test's helper fails the test"
)]

use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use vrc_mcp_proxy::baseline;
use vrc_mcp_proxy::behaviors::REGISTRY;
use vrc_mcp_proxy::commands::behaviors::{markdown_codes, markdown_table, points};
use vrc_mcp_proxy::config::{UPSTREAM_VERSION, VARIABLES};

const BINARY: &str = env!("CARGO_BIN_EXE_vrc-mcp-proxy");

/// The commands that are meant for people.
const COMMANDS: [&str; 8] = [
    "demo",
    "doctor",
    "config",
    "warm",
    "behaviors",
    "capture-baseline",
    "diff-baseline",
    "completions",
];

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

fn tool(name: &str) -> Value {
    let schema = json!({ "type": "object", "properties": { "count": { "type": "integer" } } });
    json!({ "name": name, "inputSchema": schema })
}

fn list(tools: &[Value]) -> Value {
    json!({ "result": { "tools": tools } })
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
        table.lines().all(|line| line.chars().count() <= 100),
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

#[test]
fn a_list_that_grows_is_captured_when_it_has_settled() {
    let (one, two) = (tool("alpha"), tool("beta"));
    let short = list(std::slice::from_ref(&one));
    let full = list(&[one, two]);
    let announced = json!({ "notification": "notifications/tools/list_changed" });
    let grows_loudly = json!([
        { "method": "tools/list", "once": true, "say": [short, announced] },
        { "method": "tools/list", "say": [full] },
    ]);
    let grows_silently = json!([
        { "method": "tools/list", "once": true, "say": [short] },
        { "method": "tools/list", "say": [full] },
    ]);
    let in_pages = json!([
        { "method": "tools/list", "once": true, "say": [{ "result": {
            "tools": short["result"]["tools"], "nextCursor": "more" } }] },
        { "method": "tools/list", "once": true, "say": [list(&[tool("beta")])] },
        { "method": "tools/list", "say": [full] },
    ]);
    for rules in [grows_loudly, grows_silently, in_pages] {
        let folder = Folder::new();
        let out = folder.0.path().join("new.json");
        let mut command = command(&["capture-baseline", "--json", "--server-version", "7.7.7"]);
        command.arg("--out").arg(&out);
        let output = run(command.env("VRC_MCP_PROXY_UPSTREAM", folder.upstream(&rules)));
        assert_eq!(status(&output), 0, "{}", stderr(&output));
        assert_eq!(json_of(&output)["tools"], 2, "{rules}");
        let file = std::fs::read_to_string(&out).expect("the baseline");
        let captured = baseline::Baseline::parse(&file).expect("a baseline");
        assert_eq!(captured.server_version(), "7.7.7");
        let names: Vec<&str> = captured.tool_names().collect();
        assert_eq!(names, ["alpha", "beta"]);
    }
}

#[test]
fn without_a_file_the_baseline_goes_to_stdout() {
    let folder = Folder::new();
    let rules = json!([{ "method": "tools/list", "say": [list(&[tool("alpha")])] }]);
    let upstream = folder.upstream(&rules);
    let output = run(command(&["capture-baseline"]).env("VRC_MCP_PROXY_UPSTREAM", upstream));
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    let captured = baseline::Baseline::parse(&stdout(&output)).expect("a baseline");
    assert_eq!(captured.server_version(), "unknown");
    assert!(stderr(&output).contains("unknown"), "{}", stderr(&output));
}

#[test]
fn what_cannot_be_captured_is_a_failure_and_writes_nothing() {
    let broken = [
        json!([]),
        json!([{ "method": "tools/list", "say": [{ "exit": 3 }] }]),
        json!([{ "method": "tools/list", "say": [{ "error": { "code": -1, "message": "no" } }] }]),
        json!([{ "method": "tools/list", "say": [list(&[json!({ "name": "bare" })])] }]),
        json!([{ "method": "tools/list", "say": [list(&[tool("twin"), tool("twin")])] }]),
    ];
    for rules in broken {
        let folder = Folder::new();
        let out = folder.0.path().join("new.json");
        let mut command = command(&["capture-baseline", "--out"]);
        command.arg(&out);
        let output = run(command.env("VRC_MCP_PROXY_UPSTREAM", folder.upstream(&rules)));
        assert_eq!(status(&output), 2, "{rules}");
        assert_ne!(stderr(&output), "", "{rules}");
        assert!(!out.exists(), "{rules}");
    }
    let nowhere = json!(["no-such-program-anywhere"]).to_string();
    let output = run(command(&["capture-baseline"]).env("VRC_MCP_PROXY_UPSTREAM", nowhere));
    assert_eq!(status(&output), 2);
    assert!(
        stderr(&output).contains("no-such-program-anywhere"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn baselines_are_compared_by_their_contracts() {
    let folder = Folder::new();
    let committed = baseline::committed(UPSTREAM_VERSION).expect("it is committed");
    let same = folder.file("same.json", committed);
    let mut changed: Value = serde_json::from_str(committed).expect("JSON");
    changed["tools"]["manage_scene"]["contract"]["properties"]["invented"] =
        json!({ "type": "null" });
    let changed = folder.file("changed.json", &changed.to_string());
    let broken = folder.file("broken.json", "{}");
    let diff = |words: &[&str]| run(&mut command(&[&["diff-baseline"], words].concat()));
    let equal = diff(&[UPSTREAM_VERSION, text(&same)]);
    assert_eq!(status(&equal), 0, "{}", stderr(&equal));
    let differs = diff(&[text(&same), text(&changed)]);
    assert_eq!(status(&differs), 1, "{}", stderr(&differs));
    assert!(
        stdout(&differs).contains("properties/invented"),
        "{}",
        stdout(&differs)
    );
    let facts = diff(&["--json", text(&same), text(&changed)]);
    assert_eq!(status(&facts), 1);
    let facts = json_of(&facts);
    assert_eq!(facts["contracts_equal"], false);
    assert_eq!(facts["report"]["tools"][0]["name"], "manage_scene");
    for bad in [text(&broken), "no-such-file.json", "99.0.0"] {
        let output = diff(&[text(&same), bad]);
        assert_eq!(
            (status(&output), stdout(&output)),
            (2, String::new()),
            "{bad}"
        );
        assert!(stderr(&output).contains(bad), "{}", stderr(&output));
    }
}

#[test]
fn a_fresh_capture_is_compared_with_the_committed_baseline() {
    let folder = Folder::new();
    let committed = baseline::committed(UPSTREAM_VERSION).expect("it is committed");
    let committed: Value = serde_json::from_str(committed).expect("JSON");
    let mut tools: Vec<Value> = committed["tools"]
        .as_object()
        .expect("tools")
        .iter()
        .map(|(name, tool)| json!({ "name": name, "inputSchema": tool["contract"] }))
        .collect();
    let diff = |tools: &[Value]| {
        let rules = json!([{ "method": "tools/list", "say": [list(tools)] }]);
        let upstream = folder.upstream(&rules);
        run(command(&["diff-baseline"]).env("VRC_MCP_PROXY_UPSTREAM", upstream))
    };
    // The texts are missing; contracts alone decide.
    let equal = diff(&tools);
    assert_eq!(status(&equal), 0, "{}{}", stdout(&equal), stderr(&equal));
    let gone = tools.pop().expect("a tool");
    let differs = diff(&tools);
    assert_eq!(status(&differs), 1, "{}", stderr(&differs));
    let name = gone["name"].as_str().expect("a name");
    assert!(
        stdout(&differs).contains(&format!("{name}: removed")),
        "{}",
        stdout(&differs)
    );
}
