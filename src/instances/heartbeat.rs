//! What one heartbeat file says.
//!
//! A file is *usable* when it is a JSON object (a BOM ahead of it is passed over) whose `project_path` is a
//! string that is not blank. Everything the guards do hangs on that path: it is what the hash is made of, what a
//! snippet checks itself against, and what a reader is shown. The bridge always writes it, and upstream
//! drops a file in which it is no string (10.1.0). Any other field may be missing or of a wrong type: it
//! is then absent, and the file still stands for an Editor. A heartbeat without a readable time is never live.

use std::cmp::Ordering;
use std::path::{Path, PathBuf};

use jiff::SignedDuration;
use jiff::civil;
use jiff::fmt::temporal::Pieces;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};

/// How old a heartbeat may be for its Editor to count as running: 180 s, since a blocked main thread stops the
/// heartbeat while the Editor still takes commands.
pub const LIVE_WINDOW: SignedDuration = SignedDuration::from_secs(180);

/// An Editor as its heartbeat file describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Editor {
    /// From the file's name, spelled as there (the bridge writes eight lower-case hex digits).
    pub hash: String,
    /// `project_name`; `None` when missing or blank.
    pub project_name: Option<String>,
    /// `Application.dataPath` (the Assets folder) as written.
    pub project_path: String,
    /// The TCP port on 127.0.0.1. Never connect to it: the bridge serves one client and drops it for a new one.
    pub port: Option<u16>,
    /// Whether the Editor announced a domain reload.
    pub reloading: bool,
    /// Bridge 10.1.0 writes `starting`, `ready`, `reloading`, `port_busy`, `start_failed` or `stopped`.
    pub reason: Option<String>,
    /// Unix milliseconds, UTC; `None` when missing or unreadable.
    pub last_heartbeat_ms: Option<i64>,
    /// Where it was read.
    pub file: PathBuf,
    /// The port that it had before this one, when that was seen.
    pub moved: Option<Moved>,
}

/// An Editor's change of its port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moved {
    /// The port before.
    pub from: u16,
    /// The first heartbeat that was seen with the new one: Unix milliseconds, UTC.
    pub at_ms: i64,
}

impl Editor {
    /// Reads a file's content; `None` when it is not usable (see the module's text).
    pub fn parse(hash: &str, file: &Path, content: &[u8]) -> Option<Self> {
        // A map, not a derived struct: of equal keys the last counts, and a wrong type costs that field alone.
        let fields: Map<String, Value> = serde_json::from_slice(without_bom(content)).ok()?;
        let text = |key: &str| {
            let value = fields.get(key)?.as_str()?;
            (!value.trim().is_empty()).then(|| value.to_owned())
        };
        Some(Self {
            hash: hash.to_owned(),
            project_name: text("project_name"),
            project_path: text("project_path")?,
            port: fields.get("unity_port").and_then(port),
            reloading: fields.get("reloading") == Some(&Value::Bool(true)),
            reason: text("reason"),
            last_heartbeat_ms: text("last_heartbeat").and_then(|time| unix_ms(&time)),
            file: file.to_owned(),
            moved: None,
        })
    }

    /// `<project_name or hash>@<hash>`: how an Editor is named to the reader.
    pub fn identifier(&self) -> String {
        let [name, at, hash] = self.identifier_parts();
        format!("{name}{at}{hash}")
    }

    fn identifier_parts(&self) -> [&str; 3] {
        let name = self.project_name.as_deref().unwrap_or(&self.hash);
        [name, "@", &self.hash]
    }

    fn identifier_bytes(&self) -> impl Iterator<Item = u8> {
        self.identifier_parts().into_iter().flat_map(str::bytes)
    }

    /// The order of identifiers, without making one: there may be fifty at each call.
    pub(super) fn by_identifier(&self, other: &Self) -> Ordering {
        let same = self.identifier_bytes().cmp(other.identifier_bytes());
        same.then_with(|| self.hash.cmp(&other.hash))
    }

    /// The identifier that upstream gives the Editor: it takes the name of the project's folder and never looks at
    /// `project_name` (10.1.0). The same as [`Self::identifier`] for every file that the bridge 10.1.0 writes; an older
    /// bridge leaves `project_name` out.
    pub fn upstream_identifier(&self) -> String {
        format!("{}@{}", self.folder_name(), self.hash)
    }

    /// The name of the project's folder, as upstream takes it from the path.
    pub(crate) fn folder_name(&self) -> String {
        let assets = self.assets();
        let root = assets.strip_suffix("Assets").unwrap_or(&assets);
        let name = root.trim_end_matches('/').rsplit('/').next();
        name.filter(|name| !name.is_empty())
            .unwrap_or("Unknown")
            .to_owned()
    }

    /// The Assets folder with forward slashes and none at its end: the form that is compared.
    pub fn assets(&self) -> String {
        let slashed = self.project_path.replace('\\', "/");
        slashed.trim_end_matches('/').to_owned()
    }

    /// The project's root, the parent of the Assets folder, with forward slashes; `None` when the path has no
    /// parent.
    pub fn project_root(&self) -> Option<String> {
        let assets = self.assets();
        let (parent, _) = assets.rsplit_once('/')?;
        let root = parent.trim_end_matches('/');
        // `C:/Assets` lies in `C:/`: `C:` alone would mean the current folder of that drive.
        let top = root.is_empty() || (root.len() == 2 && root.ends_with(':'));
        Some(if top {
            format!("{root}/")
        } else {
            root.to_owned()
        })
    }

    /// How long ago the Editor wrote, negative for a time in the future; `None` without a readable time.
    pub fn age(&self, now_ms: i64) -> Option<SignedDuration> {
        let written = self.last_heartbeat_ms?;
        Some(SignedDuration::from_millis(now_ms.saturating_sub(written)))
    }

    /// Whether the Editor counts as running: its heartbeat is not older than [`LIVE_WINDOW`]. A time in the future
    /// counts as live, no readable time does not.
    pub fn is_live(&self, now_ms: i64) -> bool {
        self.age(now_ms).is_some_and(|age| age <= LIVE_WINDOW)
    }

    /// Whether the hash in the file's name is the one that the path gives.
    pub fn hash_fits_path(&self) -> bool {
        super::hash8(&self.project_path).eq_ignore_ascii_case(&self.hash)
    }
}

/// Whether a file's content is empty or the beginning of JSON, as while it is being written.
pub(super) fn breaks_off(content: &[u8]) -> bool {
    serde_json::from_slice::<IgnoredAny>(without_bom(content)).is_err_and(|error| error.is_eof())
}

fn without_bom(content: &[u8]) -> &[u8] {
    content.strip_prefix(b"\xef\xbb\xbf").unwrap_or(content)
}

fn port(value: &Value) -> Option<u16> {
    let number = u16::try_from(value.as_u64()?).ok()?;
    (number != 0).then_some(number)
}

/// ISO 8601 to Unix milliseconds; without an offset it is UTC. Civil arithmetic, because .NET's last moment (year
/// 9999) lies beyond what a jiff timestamp holds.
fn unix_ms(text: &str) -> Option<i64> {
    let pieces = Pieces::parse(text.trim()).ok()?;
    let time = pieces.time().unwrap_or(civil::Time::midnight());
    let moment = pieces.date().to_datetime(time);
    let since = moment.duration_since(civil::DateTime::constant(1970, 1, 1, 0, 0, 0, 0));
    let offset = pieces
        .to_numeric_offset()
        .map_or(0, |offset| i64::from(offset.seconds()) * 1000);
    i64::try_from(since.as_millis()).ok()?.checked_sub(offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: &str = r#"{"unity_port":6400,"reloading":true,"reason":"reloading","seq":7,
        "project_path":"C:/Unity/Alpha/Assets","project_name":"Alpha","unity_version":"2022.3.22f1",
        "last_heartbeat":"1970-01-01T00:01:00.1234567Z","project_scoped_tools":false}"#;

    fn read(body: &str) -> Option<Editor> {
        Editor::parse("0be31597", Path::new("f.json"), body.as_bytes())
    }

    fn at(path: &str) -> Editor {
        let body = serde_json::json!({ "project_path": path });
        read(&body.to_string()).expect("usable")
    }

    #[test]
    fn a_whole_file_is_read() {
        let editor = read(FULL).expect("usable");
        assert_eq!(editor.identifier(), "Alpha@0be31597");
        assert_eq!(editor.upstream_identifier(), "Alpha@0be31597");
        assert_eq!(editor.project_path, "C:/Unity/Alpha/Assets");
        assert_eq!(editor.port, Some(6400));
        assert!(editor.reloading);
        assert_eq!(editor.reason.as_deref(), Some("reloading"));
        assert_eq!(editor.last_heartbeat_ms, Some(60_123));
        assert!(editor.hash_fits_path());
    }

    #[test]
    fn what_is_no_object_with_a_path_is_no_editor() {
        let broken = [
            "",
            " ",
            "{",
            "[1]",
            "null",
            "\"text\"",
            "{}",
            r#"{"project_path":5}"#,
            r#"{"project_path":null}"#,
            r#"{"project_path":" "}"#,
            r#"[["project_path","C:/A/Assets"]]"#,
            r#"{"project_path":"C:/A/Assets"}x"#,
            r#"{"project_path":"C:/A/Assets"},"#,
            "\u{feff}\u{feff}{\"project_path\":\"C:/A/Assets\"}",
            r#"{"project_path":"C:/A/Assets","project_path":1}"#,
            r#"{"project_path":"C:/A\ud800/Assets"}"#,
        ];
        for body in broken {
            assert_eq!(read(body), None, "{body}");
        }
        let utf16: Vec<u8> = FULL.encode_utf16().flat_map(u16::to_le_bytes).collect();
        for bytes in [
            &utf16[..],
            b"\xff\x00\xfe",
            b"{\"project_path\":\"C:/\xff/Assets\"}",
            &[0; 400],
        ] {
            assert_eq!(
                Editor::parse("aa", Path::new("f"), bytes),
                None,
                "{bytes:?}"
            );
        }
    }

    #[test]
    fn a_wrong_type_costs_that_field_alone() {
        let editor = read(
            r#"{"project_path":"/p/Assets","project_name":7,"unity_port":"6400","reloading":"true",
                "reason":[],"last_heartbeat":3}"#,
        )
        .expect("usable");
        assert_eq!(editor.identifier(), "0be31597@0be31597");
        assert_eq!((editor.port, editor.reloading), (None, false));
        assert_eq!((editor.reason, editor.last_heartbeat_ms), (None, None));
        for wrong in [
            "0",
            "-1",
            "65536",
            "6400.0",
            "true",
            "null",
            "1e3",
            "99999999999999999999",
        ] {
            let body = format!(r#"{{"project_path":"/p/Assets","unity_port":{wrong}}}"#);
            assert_eq!(read(&body).expect("usable").port, None, "{wrong}");
        }
    }

    #[test]
    fn a_bom_and_equal_keys() {
        let twice = r#"{"project_path":"/old/Assets","unity_port":1,"project_name":"Old",
            "project_path":"/new/Assets","unity_port":2,"project_\u006eame":"New"}"#;
        let editor = read(&format!("\u{feff}{twice}")).expect("usable");
        assert_eq!(editor.project_root().as_deref(), Some("/new"));
        assert_eq!(
            (editor.port, editor.project_name.as_deref()),
            (Some(2), Some("New"))
        );
    }

    #[test]
    fn times_as_they_are_written_and_how_else_they_may_come() {
        let second = 86_400_000 + 1_000;
        for text in [
            "1970-01-02T00:00:01.0000000Z",
            "1970-01-02T00:00:01Z",
            "1970-01-02T00:00:01",
            "1970-01-02 00:00:01z",
            "1970-01-02t02:00:01+02:00",
            "1970-01-01T18:30:01.0-05:30",
            "1970-01-02T00:00:01+00:00",
            "1970-01-02T02:00:01,0+0200",
            "19700102T000001Z",
            " 1970-01-02T00:00:01Z\n",
        ] {
            assert_eq!(unix_ms(text), Some(second), "{text}");
        }
        assert_eq!(unix_ms("1970-01-02"), Some(86_400_000));
        assert_eq!(unix_ms("1970-01-01T00:00:00.9999999Z"), Some(999));
        assert_eq!(
            unix_ms("9999-12-31T23:59:59.9999999"),
            Some(253_402_300_799_999)
        );
        assert!(unix_ms("0001-01-01T00:00:00.0000000Z").is_some_and(|ms| ms < 0));
        for text in [
            "",
            "yesterday",
            "1970-13-01T00:00:00Z",
            "1700000000",
            "12:00:00",
            "1970-01-01T25:00:00Z",
        ] {
            assert_eq!(unix_ms(text), None, "{text}");
        }
    }

    #[test]
    fn live_up_to_the_window_and_in_the_future() {
        let mut editor = at("/p/Assets");
        let now = 1_700_000_000_000;
        for (age_ms, live) in [
            (0, true),
            (180_000, true),
            (180_001, false),
            (-1, true),
            (-9_000_000_000, true),
        ] {
            editor.last_heartbeat_ms = Some(now - age_ms);
            assert_eq!(editor.is_live(now), live, "{age_ms}");
            assert_eq!(editor.age(now), Some(SignedDuration::from_millis(age_ms)));
        }
        editor.last_heartbeat_ms = Some(i64::MIN);
        assert!(!editor.is_live(now));
        editor.last_heartbeat_ms = None;
        assert!(!editor.is_live(now));
        assert_eq!(editor.age(now), None);
    }

    #[test]
    fn the_root_is_the_parent_with_forward_slashes() {
        let cases = [
            ("C:/Unity/Alpha/Assets", Some("C:/Unity/Alpha"), "Alpha"),
            (
                r#"D:\Ünity\it's "x"\Assets\"#,
                Some(r#"D:/Ünity/it's "x""#),
                r#"it's "x""#,
            ),
            ("/home/me/Game/Assets//", Some("/home/me/Game"), "Game"),
            ("/home/me/Game//Assets", Some("/home/me/Game"), "Game"),
            (
                r"\\server\share\Game\Assets",
                Some("//server/share/Game"),
                "Game",
            ),
            ("C:/Assets", Some("C:/"), "C:"),
            ("/Assets", Some("/"), "Unknown"),
            ("Assets", None, "Unknown"),
            ("/home/me/MyAssets", Some("/home/me"), "My"),
        ];
        for (path, root, name) in cases {
            let editor = at(path);
            assert_eq!(editor.project_root().as_deref(), root, "{path}");
            assert_eq!(
                editor.upstream_identifier(),
                format!("{name}@0be31597"),
                "{path}"
            );
        }
        assert_eq!(at(r"D:\Ü\Assets\").assets(), "D:/Ü/Assets");
    }
}
