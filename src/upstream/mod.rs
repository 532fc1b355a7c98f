//! The upstream server: its command, its process tree, its end.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub use unix::{Tree, spawn};
#[cfg(windows)]
pub use windows::{Tree, spawn};

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
#[cfg(unix)]
use std::process::{Child as Process, ChildStderr, ChildStdin, ChildStdout};
#[cfg(windows)]
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
/// Resolves when the process has ended.
#[cfg(windows)]
type Process = tokio::sync::oneshot::Receiver<ExitStatus>;

/// A started upstream.
pub struct Upstream {
    /// Its standard input.
    pub stdin: ChildStdin,
    /// Its standard output.
    pub stdout: ChildStdout,
    /// Its standard error.
    pub stderr: ChildStderr,
    /// Its process tree.
    pub tree: Tree,
    /// The process that was started.
    pub process: Process,
}

/// Why the upstream could not be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// uvx is nowhere.
    #[error(
        "uvx was not found on PATH or where uv's installers put it. Install uv (`pip install uv`, \
         `winget install astral-sh.uv` or `brew install uv`) and restart the client, or set \
         VRC_MCP_PROXY_UPSTREAM to a JSON array with the command of an installed server"
    )]
    NoUvx,
    /// The program of `VRC_MCP_PROXY_UPSTREAM` is not there.
    #[error("the upstream program {0:?} (VRC_MCP_PROXY_UPSTREAM) was not found, or may not be run")]
    NoProgram(String),
    /// The system would not start it.
    #[error("the upstream program {program:?} cannot be started: {source}")]
    Spawn {
        /// The program.
        program: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
}

impl StartError {
    /// The exit status that goes with it: 127 when the program is not there, as in a shell, else 126.
    pub fn exit_status(&self) -> i32 {
        match self {
            StartError::NoUvx | StartError::NoProgram(_) => 127,
            StartError::Spawn { source, .. } if source.kind() == std::io::ErrorKind::NotFound => {
                127
            }
            StartError::Spawn { .. } => 126,
        }
    }
}

/// The words of the command of this server version behind `uvx`.
pub fn uvx_arguments(version: &str) -> [String; 5] {
    [
        "--from".to_owned(),
        format!("mcpforunityserver=={version}"),
        "mcp-for-unity".to_owned(),
        "--transport".to_owned(),
        "stdio".to_owned(),
    ]
}

/// The program and arguments to start: the configured command, or this version of the server through uvx.
///
/// # Errors
/// [`StartError`] when the program is not found.
pub fn command(
    configured: Option<&[String]>,
    version: &str,
) -> Result<(PathBuf, Vec<String>), StartError> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    match configured.and_then(|words| words.split_first()) {
        Some((program, arguments)) => {
            let found =
                find(program, &path).ok_or_else(|| StartError::NoProgram(program.clone()))?;
            Ok((found, arguments.to_vec()))
        }
        None => {
            let found = find_uvx(&path).ok_or(StartError::NoUvx)?;
            Ok((found, uvx_arguments(version).to_vec()))
        }
    }
}

/// Where uvx is: on `path`, else where uv's installers put it. Programs with a window start theirs
/// with a bare PATH.
pub fn find_uvx(path: &OsStr) -> Option<PathBuf> {
    let places = std::env::split_paths(path).chain(installer_places());
    let joined = std::env::join_paths(places).ok()?;
    find("uvx", &joined).or_else(|| find("uvx", path))
}

/// A program by name on `path`, or by path.
#[cfg(unix)]
pub(crate) fn find(program: &str, path: &OsStr) -> Option<PathBuf> {
    use rustix::fs::{Access, access};
    let runs = |file: &PathBuf| file.is_file() && access(file, Access::EXEC_OK).is_ok();
    if program.contains('/') {
        return Some(PathBuf::from(program)).filter(runs);
    }
    let home = crate::home::folder();
    let place = |place: PathBuf| match (place.strip_prefix("~"), &home) {
        // Some shells' profiles leave it there.
        (Ok(below), Some(home)) => home.join(below),
        // An empty entry is the working folder.
        _ => Path::new(".").join(place),
    };
    let mut files = std::env::split_paths(path).map(|entry| place(entry).join(program));
    files.find(runs)
}

/// What a Windows program's name may end with where PATHEXT says nothing, in the order of cmd.exe.
#[cfg(windows)]
const EXTENSIONS: [&str; 4] = [".com", ".exe", ".bat", ".cmd"];

/// A program by name (on `path`, with PATHEXT) or by path.
#[cfg(windows)]
pub(crate) fn find(program: &str, path: &OsStr) -> Option<PathBuf> {
    let here = std::env::current_dir().unwrap_or_default();
    let look = |name: &str, path: &OsStr| which::which_in(name, Some(path), &here).ok();
    let found = look(program, path);
    // A client may hand on a short list of variables that PATHEXT is not on. Without it only whole names
    // are found.
    if found.is_some() || variable("PATHEXT").is_some() {
        return found;
    }
    std::env::split_paths(path).find_map(|place| {
        let with = |extension| look(&format!("{program}{extension}"), place.as_os_str());
        EXTENSIONS.into_iter().find_map(with)
    })
}

/// An environment variable that is set and not empty.
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

fn installer_places() -> Vec<PathBuf> {
    let home = crate::home::folder();
    let mut places: Vec<PathBuf> = Vec::new();
    places.extend(variable("UV_INSTALL_DIR").map(PathBuf::from));
    places.extend(variable("XDG_BIN_HOME").map(PathBuf::from));
    if let Some(home) = &home {
        places.push(home.join(".local").join("bin"));
        places.push(home.join(".cargo").join("bin"));
        if cfg!(windows) {
            places.push(home.join("scoop").join("shims"));
        }
    }
    if cfg!(windows) {
        let usual = || Some(home?.join("AppData").join("Local"));
        if let Some(local) = variable("LOCALAPPDATA").map(PathBuf::from).or_else(usual) {
            places.push(local.join("Microsoft").join("WinGet").join("Links"));
            places.push(local.join("Programs").join("uv"));
            places.push(local.join("uv").join("bin"));
        }
    } else {
        let brews = [
            "/opt/homebrew/bin",
            "/usr/local/bin",
            "/home/linuxbrew/.linuxbrew/bin",
        ];
        places.extend(brews.iter().map(|place| Path::new(place).to_owned()));
    }
    places
}

/// How a process ended, in words that follow "the server".
pub fn describe(status: ExitStatus) -> String {
    match status.code() {
        Some(code) => format!("ended with status {code}"),
        None => format!("was ended ({status})"),
    }
}

/// The relay's exit status when its upstream ended first: the same, or 1 when that would claim
/// success or is a signal.
pub fn exit_status(status: ExitStatus) -> i32 {
    match status.code() {
        Some(0) | None => 1,
        Some(code) => code,
    }
}
