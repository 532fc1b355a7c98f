//! Which Unity Editors are there, and which of them a selector means.
//!
//! An Editor with the bridge in it keeps a *heartbeat* file in a folder of the user's and rewrites it about
//! twice a second. Those files are the only thing the proxy ever asks: opening a connection to an Editor's
//! port would throw out the client that the bridge is serving.
//!
//! - [`heartbeat`]: what one file says ([`Editor`]), and what makes it usable.
//! - [`folder`]: reading the folder afresh and cheaply ([`Heartbeats`]).
//! - [`selector`]: `Name@hash`, a hash prefix or a port, read as upstream reads it ([`Selector`]).

pub mod folder;
pub mod heartbeat;
pub mod selector;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use sha1::{Digest, Sha1};

pub use folder::Heartbeats;
pub use heartbeat::{Editor, LIVE_WINDOW, Moved};
pub use selector::{Resolution, Selector};

/// The heartbeat folder: the value of `UNITY_MCP_STATUS_DIR` as it stands, or `.unity-mcp` in the home folder
/// when the variable is unset or blank. `None` when there is neither.
///
/// Server and bridge 10.1.0 both read the variable; neither expands a `~` nor trims.
pub fn status_folder(variable: Option<&OsStr>, home: Option<&Path>) -> Option<PathBuf> {
    match variable {
        Some(value) if !value.to_string_lossy().trim().is_empty() => Some(PathBuf::from(value)),
        _ => home.map(|home| home.join(".unity-mcp")),
    }
}

/// The hash by which bridge and server know a project: the first eight hex digits, lower-case, of the SHA-1 over
/// the UTF-8 of `Application.dataPath` (the Assets folder, forward slashes, no slash at its end).
pub fn hash8(data_path: &str) -> String {
    let digest = Sha1::digest(data_path.as_bytes());
    hex::encode(&digest[..4])
}

/// The Editors that count as running at `now_ms` (see [`Editor::is_live`]), in the order given.
pub fn live(editors: &[Editor], now_ms: i64) -> impl Iterator<Item = &Editor> {
    editors.iter().filter(move |editor| editor.is_live(now_ms))
}

/// The one live Editor, when there is exactly one: what a call without a target means.
pub fn single_live(editors: &[Editor], now_ms: i64) -> Option<&Editor> {
    let mut running = live(editors, now_ms);
    let first = running.next();
    first.filter(|_| running.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_wins_unless_it_is_blank() {
        let home = Path::new("home");
        let folder = |value: &str| status_folder(Some(OsStr::new(value)), Some(home));
        assert_eq!(folder("elsewhere"), Some(PathBuf::from("elsewhere")));
        assert_eq!(
            folder(" kept as it is "),
            Some(PathBuf::from(" kept as it is "))
        );
        for blank in ["", "  ", "\t\u{a0}"] {
            assert_eq!(folder(blank), Some(home.join(".unity-mcp")), "{blank:?}");
        }
        assert_eq!(
            status_folder(None, Some(home)),
            Some(home.join(".unity-mcp"))
        );
        assert_eq!(status_folder(None, None), None);
        assert_eq!(
            status_folder(Some(OsStr::new("x")), None),
            Some(PathBuf::from("x"))
        );
    }

    #[test]
    fn a_hash_is_the_start_of_the_sha1_of_the_assets_path() {
        // By `printf %s PATH | sha1sum`.
        assert_eq!(hash8("C:/Unity/Alpha/Assets"), "0be31597");
        assert_eq!(hash8("C:/Unity/Beta/Assets"), "1824ae67");
        assert_eq!(hash8("D:/Ünity/Ärger/Assets"), "69c5304d");
        assert_eq!(hash8(""), "da39a3ee");
    }

    #[test]
    fn the_single_live_editor_is_none_of_several() {
        let now = 1_000_000_000;
        let at = |hash: &str, age_ms: i64| {
            let body = format!(r#"{{"project_path":"/p/{hash}/Assets"}}"#);
            let mut editor =
                Editor::parse(hash, Path::new("f"), body.as_bytes()).expect("a usable file");
            editor.last_heartbeat_ms = Some(now - age_ms);
            editor
        };
        let (fresh, second, stale) = (at("aa", 500), at("bb", 179_000), at("cc", 181_000));
        let one = [stale.clone(), fresh.clone()];
        assert_eq!(single_live(&one, now), Some(&fresh));
        let two = [fresh, stale, second];
        assert_eq!(single_live(&two, now), None);
        assert_eq!(live(&two, now).count(), 2);
        assert_eq!(single_live(&[], now), None);
    }
}
