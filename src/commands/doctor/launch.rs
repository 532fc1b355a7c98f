//! Where the programs are that a client has to start.

use crate::upstream;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The PATH of a program that was not started from a shell; macOS gives this to what is clicked. Windows gives such
/// programs the user's own.
#[cfg(unix)]
const BARE_PATH: &str = "/usr/bin:/bin:/usr/sbin:/sbin";

/// Places of the home folder where uvx gets to by other ways than uv's own installers. The proxy does not look there.
const STRAY: [&str; 9] = [
    ".pyenv/shims",
    ".local/share/mise/shims",
    ".asdf/shims",
    ".nix-profile/bin",
    "miniconda3/bin",
    "anaconda3/bin",
    "miniforge3/bin",
    "miniconda3/Scripts",
    "anaconda3/Scripts",
];

/// PATH as this process has it.
pub(super) fn own_path() -> OsString {
    std::env::var_os("PATH").unwrap_or_default()
}

/// Where a client that was not started from a shell finds uvx. Where programs with a window have the user's PATH,
/// that is where this process finds it.
pub(super) fn uvx_for_windows_programs() -> Option<PathBuf> {
    #[cfg(unix)]
    return upstream::find_uvx(OsStr::new(BARE_PATH));
    #[cfg(not(unix))]
    return upstream::find_uvx(&own_path());
}

/// Whether a program's folder is on `path`.
pub(super) fn is_on(path: &OsStr, program: &Path) -> bool {
    std::env::split_paths(path).any(|folder| Some(folder.as_path()) == program.parent())
}

/// An uvx that is there, but neither on PATH nor where the proxy looks.
pub(super) fn stray_uvx() -> Option<PathBuf> {
    let home = crate::home::folder()?;
    let name = format!("uvx{}", std::env::consts::EXE_SUFFIX);
    let places = STRAY.iter().map(|place| home.join(place).join(&name));
    let fixed = ["/snap/bin/uvx", "/opt/local/bin/uvx"].map(PathBuf::from);
    places.chain(fixed).find(|file| file.is_file())
}

/// The line for an entry's `"env"` that starts this version of the server with this uvx.
pub(super) fn upstream_with(uvx: &Path, version: &str) -> String {
    let mut words = vec![uvx.display().to_string()];
    words.extend(upstream::uvx_arguments(version));
    let value = serde_json::json!(serde_json::json!(words).to_string());
    format!("\"VRC_MCP_PROXY_UPSTREAM\": {value}")
}
