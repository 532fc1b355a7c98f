//! A home folder of its own for each test, which the server and its Editors share: discovery would
//! follow `UNITY_MCP_STATUS_DIR`, but the server's reload check reads `~/.unity-mcp` whatever that says.

use std::path::PathBuf;
use std::process::Command;

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use super::editor::Editor;

/// Variables of the caller's environment that would change what a test sees.
const CLEARED: [&str; 12] = [
    "UNITY_MCP_STATUS_DIR",
    "UNITY_MCP_DEFAULT_INSTANCE",
    "UNITY_MCP_TRANSPORT",
    "VRC_MCP_PROXY_DISABLE",
    "VRC_MCP_PROXY_ALLOW",
    "VRC_MCP_PROXY_DENY",
    "VRC_MCP_PROXY_EXECUTE_TIMEOUT_S",
    "VRC_MCP_PROXY_LOG",
    "VRC_MCP_PROXY_PROJECT",
    "VRC_MCP_PROXY_UPSTREAM",
    "VRC_MCP_PROXY_UPSTREAM_VERSION",
    "VRC_MCP_PROXY_MODE",
];

/// Set for what [`Home::command`] starts, and for nothing of an Editor.
const SERVER_MARK: &str = "RIG_SIDE=server";

/// A fresh home folder. Declare it first in a test, so that it is dropped last: its `Drop` ends
/// every process that still runs under it and deletes it.
pub struct Home {
    /// Deletes the folder, after the processes in it have been ended.
    _folder: TempDir,
    path: PathBuf,
}

impl Home {
    pub fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("rig-").tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap();
        Self {
            _folder: folder,
            path,
        }
    }

    /// Opens the project of this name under the home folder.
    pub fn editor(&self, name: &str) -> Editor {
        self.editor_on(name, 0)
    }

    /// The same on this port, which nobody may be listening on (0: any free one).
    pub fn editor_on(&self, name: &str, port: u16) -> Editor {
        Editor::start(&self.path, &self.path.join("projects").join(name), port)
    }

    /// A command in this home's environment: no telemetry, uv's caches shared with the real home.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(&self.path)
            .env("HOME", &self.path)
            .env("DISABLE_TELEMETRY", "1")
            // Where Python keeps what it has compiled, a server's start costs half as much.
            .env_remove("PYTHONDONTWRITEBYTECODE");
        if let Some((name, value)) = SERVER_MARK.split_once('=') {
            command.env(name, value);
        }
        for name in CLEARED {
            command.env_remove(name);
        }
        let shared = [
            ("UV_CACHE_DIR", "XDG_CACHE_HOME", ".cache", "uv"),
            (
                "UV_PYTHON_INSTALL_DIR",
                "XDG_DATA_HOME",
                ".local/share",
                "uv/python",
            ),
        ];
        for (variable, base, fallback, leaf) in shared {
            let base = std::env::var_os(base).map_or_else(
                || vrc_mcp_proxy::home::folder().unwrap().join(fallback),
                PathBuf::from,
            );
            command.env(
                variable,
                std::env::var_os(variable).map_or_else(|| base.join(leaf), PathBuf::from),
            );
        }
        command
    }

    /// A path in this home.
    pub fn path(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// The processes whose environment names this home, with their command lines: what a test left
    /// running. Knows them on Linux only; elsewhere the process groups have to do.
    pub fn processes(&self) -> Vec<(Pid, String)> {
        self.marked(&[])
    }

    /// Those of them that belong to the server's side, a relay included, and not to an Editor.
    pub fn server_processes(&self) -> Vec<(Pid, String)> {
        self.marked(&[SERVER_MARK])
    }

    fn marked(&self, further: &[&str]) -> Vec<(Pid, String)> {
        let home = format!("HOME={}", self.path.display());
        let pid = |entry: std::fs::DirEntry| {
            entry
                .file_name()
                .to_str()?
                .parse()
                .ok()
                .and_then(Pid::from_raw)
        };
        let all = std::fs::read_dir("/proc")
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(pid);
        all.filter_map(|pid| {
            let file = |name| std::fs::read(format!("/proc/{}/{name}", pid.as_raw_nonzero()));
            let environment = file("environ").ok()?;
            let has = |mark: &str| {
                let mut entries = environment.split(|byte| *byte == 0);
                entries.any(|entry| entry == mark.as_bytes())
            };
            let ours = has(&home) && further.iter().copied().all(has);
            let line = String::from_utf8_lossy(&file("cmdline").ok()?).replace('\0', " ");
            ours.then_some((pid, line))
        })
        .collect()
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        for (pid, _) in self.processes() {
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}
