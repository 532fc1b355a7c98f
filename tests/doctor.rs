//! The doctor of the real binary, in set-ups that are whole and in set-ups that are broken.
#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a test's helper fails the test"
)]

#[path = "doctor/clients.rs"]
mod clients;
#[path = "doctor/editors.rs"]
mod editors;
#[cfg(unix)]
#[path = "support/program.rs"]
mod program;
#[path = "doctor/setups.rs"]
mod setups;

use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;
use vrc_mcp_proxy::config::VARIABLES;
use vrc_mcp_proxy::instances::hash8;

/// The binary by a path that holds wherever it is read.
static BINARY: LazyLock<String> = LazyLock::new(|| {
    let file = plain(Path::new(env!("CARGO_BIN_EXE_vrc-mcp-proxy")));
    text(&file).to_owned()
});

/// A path that is there, whole and without the `\\?\` that Windows puts ahead of it.
fn plain(path: &Path) -> PathBuf {
    let real = path.canonicalize().expect("it is there");
    let bare = text(&real).strip_prefix(r"\\?\").map(PathBuf::from);
    bare.unwrap_or(real)
}

/// A user's home folder with projects, heartbeats and clients' files in it.
struct Home {
    folder: tempfile::TempDir,
    variables: Vec<(String, String)>,
}

/// What the doctor said.
struct Said {
    text: String,
    facts: Value,
    status: i32,
}

impl Home {
    /// One without anything but a project folder to work in.
    fn new() -> Self {
        let home = Home {
            folder: tempfile::tempdir().expect("a temporary folder"),
            variables: Vec::new(),
        };
        std::fs::create_dir_all(home.path("work")).expect("a folder");
        home
    }

    fn path(&self, name: &str) -> PathBuf {
        let root = plain(self.folder.path());
        let parts = name.split('/').filter(|part| !part.is_empty());
        parts.fold(root, |path, part| path.join(part))
    }

    fn file(&self, name: &str, content: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
        std::fs::write(&path, content).expect("a file");
        path
    }

    fn set(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The heartbeat of an Editor that wrote so many seconds ago; returns its identifier.
    fn editor(&self, name: &str, age_s: i64, port: u16) -> String {
        self.heartbeat(name, age_s, &json!({ "unity_port": port }))
    }

    /// The same with fields of its own.
    fn heartbeat(&self, name: &str, age_s: i64, fields: &Value) -> String {
        let path = format!("C:/Unity/{name}/Assets");
        let then = jiff::Timestamp::now() - jiff::SignedDuration::from_secs(age_s);
        let mut beat = json!({
            "unity_port": 6400, "reloading": false, "reason": "ready", "seq": 1, "project_path": path,
            "project_name": name, "unity_version": "2022.3.22f1", "last_heartbeat": format!("{then:.7}"),
        });
        for (key, value) in fields.as_object().expect("an object") {
            beat[key] = value.clone();
        }
        let hash = hash8(&path);
        let file = format!(".unity-mcp/unity-mcp-status-{hash}.json");
        let file = self.file(&file, &beat.to_string());
        if age_s > 60 {
            let then =
                std::time::SystemTime::now() - std::time::Duration::from_secs(age_s.unsigned_abs());
            let open = std::fs::File::options()
                .write(true)
                .open(file)
                .expect("the file");
            open.set_modified(then).expect("its time is set");
        }
        format!("{name}@{hash}")
    }

    /// An entry of Claude Code for the project that is worked in, which starts the binary.
    fn entry(&self, env: &Value) {
        let server = json!({ "command": *BINARY, "args": [], "env": env });
        self.file(
            "work/.mcp.json",
            &json!({ "mcpServers": { "UnityMCP": server } }).to_string(),
        );
    }

    /// A program that answers as uvx does when the server is cached. It is a shell script.
    #[cfg(unix)]
    fn uvx(&self, name: &str) -> PathBuf {
        let script = "#!/bin/sh\ncase $1 in --version) echo 'uvx 9.9.9';; *) echo 'Python 3.99 fastmcp 3.99';; esac\n";
        let file = self.file(name, "");
        program::script(&file, script);
        file
    }

    /// The command in this home, with nothing of the real user's.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&*BINARY);
        let cleared = [
            "XDG_CONFIG_HOME",
            "XDG_BIN_HOME",
            "UV_INSTALL_DIR",
            "CLAUDE_CONFIG_DIR",
            "CODEX_HOME",
            "NO_COLOR",
        ];
        for name in VARIABLES.iter().map(|(name, _)| *name).chain(cleared) {
            command.env_remove(name);
        }
        for name in ["HOME", "USERPROFILE"] {
            command.env(name, self.path(""));
        }
        command.env("APPDATA", self.path("AppData/Roaming"));
        command.env("LOCALAPPDATA", self.path("AppData/Local"));
        // Windows finds its own programs by its system folder and not only by this.
        if cfg!(unix) {
            command.env("PATH", self.path("bin"));
        }
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.current_dir(self.path("work")).args(arguments);
        command
    }

    fn doctor(&self) -> Said {
        self.doctor_with(&[])
    }

    /// Runs it twice: as text and as JSON, which must say the same.
    fn doctor_with(&self, more: &[&str]) -> Said {
        let run = |arguments: &[&str]| {
            let output = self.command(&[arguments, more].concat()).output();
            output.expect("the binary starts")
        };
        let (text, json) = (run(&["doctor"]), run(&["doctor", "--json"]));
        let said = Said {
            text: utf8(&text),
            facts: serde_json::from_slice(&json.stdout)
                .unwrap_or_else(|e| panic!("{e}: {}", utf8(&json))),
            status: json.status.code().expect("it ends by itself"),
        };
        assert_eq!(text.status.code(), Some(said.status), "{}", said.text);
        said.is_complete();
        said
    }
}

fn utf8(output: &Output) -> String {
    let text = String::from_utf8(output.stdout.clone()).expect("UTF-8");
    assert!(
        !text.contains('\u{1b}'),
        "colours where no terminal is: {text}"
    );
    text
}

impl Said {
    fn findings(&self) -> &Vec<Value> {
        self.facts["findings"].as_array().expect("a list")
    }

    /// Every finding has all its keys, and stands in the text as one line with its cure below.
    fn is_complete(&self) {
        let mut problems = 0;
        for finding in self.findings() {
            let keys: Vec<&str> = finding
                .as_object()
                .expect("an object")
                .keys()
                .map(String::as_str)
                .collect();
            assert_eq!(
                keys,
                ["cure", "data", "id", "message", "section", "severity"]
            );
            let severity = finding["severity"].as_str().expect("a text");
            problems += i32::from(severity == "problem");
            assert!(finding["data"].is_object(), "{finding}");
            let cure = finding["cure"].as_str();
            assert!(
                cure.is_some() || matches!(severity, "ok" | "info"),
                "{finding}"
            );
        }
        assert_eq!(self.status, i32::from(problems > 0), "{}", self.text);
        assert_eq!(self.facts["exit_status"], self.status);
        assert_eq!(self.facts["problems"], problems);
    }

    /// The finding of this kind whose message holds all of `says`; it stands in the text too.
    #[track_caller]
    fn finds(&self, id: &str, severity: &str, says: &[&str]) -> &Value {
        let fits = |finding: &&Value| {
            let message = finding["message"].as_str().expect("a text");
            finding["id"] == id && says.iter().all(|part| message.contains(part))
        };
        let found = self.findings().iter().find(fits);
        let found = found.unwrap_or_else(|| panic!("no {id} with {says:?}: {}", self.text));
        assert_eq!(found["severity"], severity, "{found}");
        let line = |line: &str| {
            line.starts_with(&format!("  {severity}"))
                && says.iter().all(|part| line.contains(part))
        };
        assert!(self.text.lines().any(line), "{id}: {}", self.text);
        found
    }

    /// The cure of such a finding.
    #[track_caller]
    fn cure(&self, id: &str) -> &str {
        let finding = self.findings().iter().find(|finding| finding["id"] == id);
        let finding = finding.unwrap_or_else(|| panic!("no {id}: {}", self.text));
        let cure = finding["cure"]
            .as_str()
            .unwrap_or_else(|| panic!("no cure: {finding}"));
        assert!(
            self.text.contains(&format!("-> {cure}\n")),
            "{id}: {}",
            self.text
        );
        cure
    }

    #[track_caller]
    fn lacks(&self, id: &str) {
        assert!(
            self.findings().iter().all(|finding| finding["id"] != id),
            "{id}: {}",
            self.text
        );
    }

    /// The kinds of all problems.
    #[cfg(unix)]
    fn problems(&self) -> Vec<&str> {
        let problems = self
            .findings()
            .iter()
            .filter(|finding| finding["severity"] == "problem");
        problems
            .filter_map(|finding| finding["id"].as_str())
            .collect()
    }
}

fn text(path: &Path) -> &str {
    path.to_str().expect("Unicode")
}
