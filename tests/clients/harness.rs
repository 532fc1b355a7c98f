//! Starts the clients: scripts that are made with the official SDKs and tell what they saw.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use serde_json::{Value, json};
use sha1::{Digest, Sha1};

use crate::rig;
use crate::rig::client::{Client, Launch};
use crate::rig::home::Home;

/// The Python SDK's two generations. The pinned server is made with this version of the first one.
pub const PYTHON_1: &str = "mcp==1.30.0";
pub const PYTHON_2: &str = "mcp==2.3.0";

/// The clients of npm, which `package.json` pins, and its lock file what they need. It also holds vite, which
/// only the Inspector's web page is made with, at an older version: 8.4.0 names an optional package that npm
/// cannot find, and `npm ci` takes no lock file that lacks one.
const PACKAGES: [(&str, &str); 2] = [
    ("package.json", include_str!("package.json")),
    ("package-lock.json", include_str!("package-lock.json")),
];

/// The oldest Node that all of them run on (the Inspector asks for a newer one, and does not need it here).
const OLDEST_NODE: u32 = 20;

/// What drives the relay.
#[derive(Clone, Copy, Debug)]
pub enum Kit {
    /// The Python SDK of this version.
    Python(&'static str),
    /// The TypeScript SDK.
    TypeScript,
    /// The Inspector's command line.
    Inspector,
}

/// Whether the running test can have the real server and the Editor; see [`rig::skip`].
pub fn rig_available() -> bool {
    rig::available(&test_name())
}

/// libtest names a test's thread by the test.
fn test_name() -> String {
    std::thread::current().name().unwrap_or("?").to_owned()
}

impl Kit {
    /// Whether tests with this client can run; see [`rig::skip`].
    pub fn available(self) -> bool {
        let missing = match self {
            Kit::Python(_) => python_sdks().as_ref().err(),
            Kit::TypeScript | Kit::Inspector => packages().as_ref().err(),
        };
        missing.is_none_or(|what| rig::skip(&test_name(), &format!("without {what}")))
    }

    fn launch(self, plan: &Value) -> Launch {
        let plan = plan.to_string();
        match self {
            Kit::Python(version) => {
                let script = source("drive.py");
                Launch::command(python(version).into_iter().chain([script, plan]))
            }
            Kit::TypeScript => node("drive.mjs", include_str!("drive.mjs"), plan),
            Kit::Inspector => node("inspect.mjs", include_str!("inspect.mjs"), plan),
        }
    }
}

/// A running client.
pub struct Script {
    process: Client,
    lines: u64,
}

impl Script {
    /// Starts a client with its plan; the scripts say what stands in one.
    pub fn start(home: &Home, kit: Kit, plan: &Value) -> Self {
        Self {
            process: Client::spawn(home, &kit.launch(plan)),
            lines: 0,
        }
    }

    /// Waits until the script has come to this place. It stays there until [`Script::go_on`].
    pub fn reach(&mut self, place: &str) {
        let line = self.next_line();
        assert_eq!(line["at"], place, "{line}");
    }

    /// Lets the script go on.
    pub fn go_on(&mut self) {
        self.process.send("go on");
    }

    /// Waits for the script's last line: what it saw.
    pub fn facts(&mut self) -> Value {
        let mut line = self.next_line();
        assert!(line["facts"].is_object(), "{line}");
        line["facts"].take()
    }

    /// What script and relay wrote to stderr so far.
    pub fn stderr(&self) -> String {
        self.process.stderr()
    }

    fn next_line(&mut self) -> Value {
        self.lines += 1;
        self.process.answer(self.lines).0.json
    }
}

/// What a client starts: the relay as it is installed, with these variables.
pub fn relay(environment: &Value) -> Value {
    json!({"command": env!("CARGO_BIN_EXE_vrc-mcp-proxy"), "args": [], "env": environment})
}

/// The command line of a server made with the Python SDK: this file, run with that version.
pub fn small_server(version: &str, file: &str) -> Vec<String> {
    python(version).into_iter().chain([source(file)]).collect()
}

/// Runs a script with a version of the SDK, and with nothing that a project around it would bring in.
fn python(version: &str) -> Vec<String> {
    let line = ["uv", "run", "--quiet", "--no-project", "--with", version];
    // An older Python on PATH is passed over.
    let which = ["--python", ">=3.10"];
    line.into_iter().chain(which).map(str::to_owned).collect()
}

/// A file beside this one.
fn source(name: &str) -> String {
    format!("{}/tests/clients/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// Runs a script beside the installed packages, where Node looks for them.
fn node(name: &str, text: &str, plan: String) -> Launch {
    let shelf = packages().as_ref().unwrap();
    let script = shelf.join(format!("{}-{name}", key(&[text])));
    if !script.exists() {
        let fresh = tempfile::NamedTempFile::new_in(shelf).unwrap();
        std::fs::write(&fresh, text).unwrap();
        // A rename: another test may start the same script just now.
        fresh.persist(&script).unwrap();
    }
    let script = script.into_os_string().into_string().unwrap();
    Launch::command(["node".to_owned(), script, plan])
}

/// The folder with the installed packages, made on first use and kept for as long as the pins stay the same.
fn packages() -> &'static Result<PathBuf, String> {
    static INSTALLED: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    INSTALLED.get_or_init(|| {
        node_is_new_enough()?;
        let shelf = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let kept = shelf.join(format!("clients-{}", key(&PACKAGES.map(|(_, text)| text))));
        if !kept.exists() {
            let fresh = tempfile::tempdir_in(shelf).map_err(told("a folder"))?;
            install(fresh.path())?;
            // A rename, so that nobody sees half of it; another test process may have been first.
            if std::fs::rename(fresh.path(), &kept).is_ok() {
                let _ = fresh.keep();
            }
        }
        Ok(kept)
    })
}

/// Fetches both generations of the Python SDK, which is what uv has to be there and to reach them for.
fn python_sdks() -> &'static Result<(), String> {
    static FETCHED: OnceLock<Result<(), String>> = OnceLock::new();
    FETCHED.get_or_init(|| {
        for version in [PYTHON_1, PYTHON_2] {
            let line = python(version);
            let mut command = Command::new(&line[0]);
            command.args(&line[1..]).args(["python", "-c", "pass"]);
            succeed(&mut command, version)?;
        }
        Ok(())
    })
}

fn node_is_new_enough() -> Result<(), String> {
    let output = Command::new("node").arg("--version").output();
    let output = output.map_err(told("node"))?;
    let version = String::from_utf8_lossy(&output.stdout).into_owned();
    let major = version.trim_start_matches('v').split('.').next();
    match major.and_then(|major| major.parse::<u32>().ok()) {
        Some(major) if major >= OLDEST_NODE => Ok(()),
        _ => Err(format!("node {OLDEST_NODE} or newer, only {version:?}")),
    }
}

fn install(folder: &Path) -> Result<(), String> {
    for (name, text) in PACKAGES {
        std::fs::write(folder.join(name), text).map_err(told(name))?;
    }
    let mut command = Command::new("npm");
    command
        .args(["ci", "--ignore-scripts", "--omit=optional"])
        .args(["--no-audit", "--no-fund", "--loglevel=error"])
        .current_dir(folder);
    succeed(&mut command, "the packages of npm")
}

/// Runs a program that gets something; the error names that, and says why it cannot be had.
fn succeed(command: &mut Command, what: &str) -> Result<(), String> {
    let output = command.stdin(Stdio::null()).output().map_err(told(what))?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    let succeeded = output.status.success().then_some(());
    succeeded.ok_or_else(|| format!("{what} ({complaint})"))
}

fn told<E: Display>(what: &str) -> impl FnOnce(E) -> String + use<'_, E> {
    move |error| format!("{what} ({error})")
}

/// Twelve digits that stand for these texts.
fn key(texts: &[&str]) -> String {
    let mut digest = Sha1::new();
    for text in texts {
        digest.update(text);
    }
    hex::encode(digest.finalize())[..12].to_owned()
}
