//! What a new user runs after the binary is there: `config`, `warm`, `completions`, `man`.
#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a test's helper fails the test"
)]

#[cfg(unix)]
#[path = "support/program.rs"]
mod program;

use serde_json::Value;
#[cfg(unix)]
use serde_json::json;
use std::path::Path;
use std::process::{Command, Output};
#[cfg(unix)]
use vrc_mcp_proxy::config::UPSTREAM_VERSION;
use vrc_mcp_proxy::config::VARIABLES;

const BINARY: &str = env!("CARGO_BIN_EXE_vrc-mcp-proxy");
const CLIENTS: [&str; 5] = ["claude-code", "claude-desktop", "cursor", "vscode", "codex"];

/// The binary with these arguments and without any of its variables, in a home folder of its own.
fn command(home: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(BINARY);
    for name in VARIABLES.iter().map(|(name, _)| *name) {
        command.env_remove(name);
    }
    for name in [
        "XDG_CONFIG_HOME",
        "XDG_BIN_HOME",
        "UV_INSTALL_DIR",
        "CLAUDE_CONFIG_DIR",
        "CODEX_HOME",
    ] {
        command.env_remove(name);
    }
    for name in ["HOME", "USERPROFILE"] {
        command.env(name, home);
    }
    command
        .env("APPDATA", home.join("AppData"))
        .current_dir(home)
        .args(arguments);
    command
}

fn run(home: &Path, arguments: &[&str]) -> Output {
    command(home, arguments)
        .output()
        .expect("the binary starts")
}

fn stdout(output: &Output) -> String {
    let text = String::from_utf8(output.stdout.clone()).expect("UTF-8");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{text}{stderr}");
    text
}

fn home() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

/// What the doctor says of entries that it finds in this home.
fn entries(home: &Path) -> Value {
    let output = run(home, &["doctor", "--json"]);
    let facts: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    facts["clients"].clone()
}

#[test]
fn what_config_prints_is_what_the_doctor_takes() {
    for client in CLIENTS {
        let home = home();
        let facts = stdout(&run(home.path(), &["config", client, "--json"]));
        let facts: Value = serde_json::from_str(&facts).expect("JSON");
        assert_eq!(facts["key"], "UnityMCP");
        let [ready] = &facts["clients"].as_array().expect("a list")[..] else {
            panic!("{facts}");
        };
        assert_eq!(ready["client"], client);
        let text = ready["text"].as_str().expect("a text");
        let shown = stdout(&run(home.path(), &["config", client]));
        assert!(shown.contains(text), "{shown}");
        let files = ready["files"].as_array().expect("a list");
        assert!(!files.is_empty(), "{facts}");
        for file in files {
            let file = file["file"].as_str().expect("a path");
            assert!(shown.contains(file), "{shown}");
            let path = Path::new(file);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
            std::fs::write(path, text).expect("a file");
            let found = entries(home.path());
            let own = |row: &&Value| row["client"] == client && row["key"] == "UnityMCP";
            let row = found.as_array().and_then(|rows| rows.iter().find(own));
            let row = row.unwrap_or_else(|| panic!("{client}: {file}: {found}"));
            assert_eq!(row["kind"], "this proxy", "{row}");
            std::fs::remove_file(path).expect("the file goes");
        }
    }
}

#[test]
fn without_a_client_config_lists_all_and_their_own_commands() {
    let home = home();
    let all = stdout(&run(home.path(), &["config"]));
    for client in CLIENTS {
        let one = stdout(&run(home.path(), &["config", client]));
        assert!(all.contains(&one), "{client}: {all}");
    }
    for part in [
        "claude mcp add --scope project UnityMCP -- ",
        "codex mcp add UnityMCP -- ",
        "startup_timeout_sec = 60",
        "\"servers\"",
        "\"type\": \"stdio\"",
    ] {
        assert!(all.contains(part), "{part}: {all}");
    }
    assert!(!all.contains("VRC_MCP_PROXY_PROJECT"), "{all}");
}

#[test]
fn an_entry_can_be_bound_to_a_project() {
    let home = home();
    let of = |client: &str, option: &str| {
        let facts = stdout(&run(home.path(), &["config", client, option, "--json"]));
        let facts: Value = serde_json::from_str(&facts).expect("JSON");
        facts["clients"][0]["text"]
            .as_str()
            .expect("a text")
            .to_owned()
    };
    assert!(of("claude-code", "--project").contains(r#""VRC_MCP_PROXY_PROJECT": "auto""#));
    assert!(of("codex", "--project").contains(r#"env = { VRC_MCP_PROXY_PROJECT = "auto" }"#));
    assert!(of("cursor", "--project").contains(r#""VRC_MCP_PROXY_PROJECT": "${workspaceFolder}""#));
    // Nothing tells Claude Desktop which project is meant.
    assert!(!of("claude-desktop", "--project").contains("VRC_MCP_PROXY_PROJECT"));
    let named = of("claude-desktop", r"--project=C:\Unity\Alpha");
    assert!(
        named.contains(r#""VRC_MCP_PROXY_PROJECT": "C:\\Unity\\Alpha""#),
        "{named}"
    );
}

#[cfg(unix)]
#[test]
fn the_line_for_a_shell_is_taken_by_a_shell() {
    let home = home();
    let folder = home.path().join("it's a \"folder\" $HOME");
    std::fs::create_dir(&folder).expect("a folder");
    let copy = folder.join("vrc-mcp-proxy");
    // By another process, for the reason that `program` has.
    let copied = Command::new("cp").arg(BINARY).arg(&copy).status();
    assert!(copied.expect("cp").success());
    let facts = Command::new(&copy)
        .args(["config", "claude-code", "--json"])
        .output();
    let facts: Value = serde_json::from_slice(&facts.expect("it starts").stdout).expect("JSON");
    let line = facts["clients"][0]["command_line"]
        .as_str()
        .expect("a line");
    let echo = format!("claude() {{ for word; do echo \"$word\"; done; }}; {line}");
    let words = Command::new("sh")
        .args(["-c", &echo])
        .output()
        .expect("a shell");
    let words = String::from_utf8(words.stdout).expect("UTF-8");
    let copy = copy.canonicalize().expect("a path");
    assert_eq!(words.lines().last(), copy.to_str(), "{words}");
    let text = facts["clients"][0]["text"].as_str().expect("a text");
    let entry: Value = serde_json::from_str(text).expect("JSON");
    assert_eq!(
        entry["mcpServers"]["UnityMCP"]["command"].as_str(),
        copy.to_str()
    );
}

/// A home whose uvx is a shell script, and what `warm` does there.
#[cfg(unix)]
struct Warmed {
    home: tempfile::TempDir,
}

#[cfg(unix)]
impl Warmed {
    fn new() -> Self {
        let home = home();
        std::fs::create_dir_all(home.path().join(".local/bin")).expect("folders");
        Warmed { home }
    }

    fn uvx(&self, body: &str) {
        let uvx = self.home.path().join(".local/bin/uvx");
        program::script(&uvx, &format!("#!/bin/sh\n{body}\n"));
    }

    /// An uvx that notes what it is asked, and starts a server that says hello.
    fn whole_uvx(&self) {
        let hello = json!([{ "method": "initialize", "say": [{ "result": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "serverInfo": { "name": "scripted", "version": "0" },
        }}]}]);
        let script = self.home.path().join("script.json");
        std::fs::write(&script, hello.to_string()).expect("a script");
        self.uvx(&format!(
            "echo \"$@ $UNITY_MCP_STATUS_DIR\" >> '{}'\ncase \"$*\" in *--help) echo progress >&2;; *) exec \
             '{BINARY}' simulated-upstream --script '{}';; esac",
            self.home.path().join("log").display(),
            script.display()
        ));
    }

    fn warm(&self, arguments: &[&str]) -> Output {
        let mut command = command(self.home.path(), arguments);
        // The shell is found there, and no uv.
        command
            .env("PATH", "/bin:/usr/bin")
            .output()
            .expect("the binary starts")
    }
}

#[cfg(unix)]
#[test]
fn warm_lets_uvx_fetch_and_measures_a_start() {
    if ["/usr/bin/uvx", "/bin/uvx"]
        .iter()
        .any(|uvx| Path::new(uvx).exists())
    {
        return;
    }
    let warmed = Warmed::new();
    warmed.whole_uvx();
    let output = warmed.warm(&["warm"]);
    let said = stdout(&output);
    assert!(
        said.contains(UPSTREAM_VERSION) && said.contains("(measured)"),
        "{said}"
    );
    assert!(String::from_utf8_lossy(&output.stderr).contains("progress"));
    let log = std::fs::read_to_string(warmed.home.path().join("log")).expect("a log");
    let lines: Vec<&str> = log.lines().collect();
    assert_eq!(lines.len(), 2, "{log}");
    let words = format!("--from mcpforunityserver=={UPSTREAM_VERSION} mcp-for-unity");
    assert!(lines.iter().all(|line| line.starts_with(&words)), "{log}");
    // The measured start sees no Editor of the user's.
    assert!(lines[1].contains("vrc-mcp-proxy-"), "{log}");
    let facts: Value =
        serde_json::from_str(&stdout(&warmed.warm(&["warm", "--json"]))).expect("JSON");
    assert_eq!(
        (&facts["warmed"], &facts["server_version"]),
        (&json!(true), &json!(UPSTREAM_VERSION))
    );
    assert!(
        facts["start_s"]
            .as_f64()
            .is_some_and(|seconds| seconds > 0.0),
        "{facts}"
    );
    warmed.uvx("echo no network >&2; exit 2");
    let failed = warmed.warm(&["warm"]);
    assert_eq!(failed.status.code(), Some(2));
    let stderr = String::from_utf8_lossy(&failed.stderr);
    assert!(
        stderr.contains("no network") && stderr.contains("ended with status 2"),
        "{stderr}"
    );
}

#[test]
fn a_server_of_ones_own_needs_no_warming() {
    let home = home();
    let mut warm = command(home.path(), &["warm"]);
    let said = warm
        .env("VRC_MCP_PROXY_UPSTREAM", r#"["no-such-server"]"#)
        .output();
    let said = stdout(&said.expect("the binary starts"));
    assert!(
        said.contains("no-such-server") && said.contains("nothing to warm"),
        "{said}"
    );
}

#[test]
fn shells_and_man_know_every_command() {
    let home = home();
    let commands = [
        "demo",
        "doctor",
        "config",
        "warm",
        "behaviors",
        "capture-baseline",
        "diff-baseline",
    ];
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = stdout(&run(home.path(), &["completions", shell]));
        for name in commands {
            assert!(script.contains(name), "{shell}: {name}");
        }
        assert!(!script.contains("simulated-upstream"), "{shell}");
    }
    let page = stdout(&run(home.path(), &["man"]));
    assert!(page.contains(".TH vrc-mcp-proxy 1"), "{page}");
    for (variable, _) in VARIABLES {
        assert!(page.contains(variable), "{variable}");
    }
    stdout(&run(home.path(), &["man", "--out", "pages"]));
    let pages = home.path().join("pages");
    for name in commands {
        let page = std::fs::read_to_string(pages.join(format!("vrc-mcp-proxy-{name}.1")));
        assert!(page.expect("a page").contains(".SH SYNOPSIS"), "{name}");
    }
    assert!(pages.join("vrc-mcp-proxy.1").exists());
    assert!(!pages.join("vrc-mcp-proxy-simulated-upstream.1").exists());
}

#[cfg(target_os = "linux")]
#[test]
fn bash_takes_its_completions() {
    let home = home();
    let script = stdout(&run(home.path(), &["completions", "bash"]));
    let ask = format!(
        "{script}\nCOMP_WORDS=(vrc-mcp-proxy config cl); COMP_CWORD=2; _vrc__mcp__proxy vrc-mcp-proxy cl config; \
         echo \"${{COMPREPLY[@]}}\""
    );
    let Ok(said) = Command::new("bash").args(["--norc", "-c", &ask]).output() else {
        return;
    };
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    assert_eq!(said.trim(), "claude-code claude-desktop");
}
