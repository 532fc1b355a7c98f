use std::fs;
use std::time::{Duration, SystemTime};

use proptest::prelude::*;

use super::*;

struct Rig {
    folder: tempfile::TempDir,
    reader: Heartbeats,
}

impl Rig {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut reader = Heartbeats::new(Some(folder.path().to_owned()));
        reader.patience = Duration::ZERO;
        Self { folder, reader }
    }

    fn path(&self, hash: &str) -> PathBuf {
        self.folder
            .path()
            .join(format!("unity-mcp-status-{hash}.json"))
    }

    fn write(&self, hash: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(hash), content).unwrap();
    }

    fn rest(&self, hash: &str, age: Duration) {
        let file = OpenOptions::new()
            .write(true)
            .open(self.path(hash))
            .unwrap();
        file.set_modified(SystemTime::now() - age).unwrap();
    }

    fn names(&self) -> Vec<String> {
        self.reader.read().iter().map(Editor::identifier).collect()
    }

    fn is_kept(&self, hash: &str) -> bool {
        self.reader.seen.lock().unwrap()[hash].settled
    }
}

fn body(name: &str) -> String {
    format!(
        r#"{{"project_name":"{name}","project_path":"C:/Unity/{name}/Assets","unity_port":6400}}"#
    )
}

const LONG_AGO: Duration = Duration::from_secs(3600);

#[test]
fn the_reader_is_shared_by_reference_and_across_a_caught_panic() {
    fn shared<T: Sync + Send + std::panic::RefUnwindSafe>(_: &T) {}
    shared(&Heartbeats::new(None));
}

#[test]
fn editors_come_by_identifier_from_files_of_exactly_that_name() {
    let rig = Rig::new();
    rig.write("bb", body("Beta"));
    rig.write("aa", body("Alpha"));
    for name in [
        "unity-mcp-status-.json",
        "unity-mcp-status-cc.json.tmp",
        "unity-mcp-status-cc.jso",
        "unity-mcp-port-cc.json",
        "xunity-mcp-status-cc.json",
        "unity-mcp-status-cc",
        "unity-mcp-status.json",
        "Unity-mcp-status-cc.json",
    ] {
        fs::write(rig.folder.path().join(name), body("Wrong")).unwrap();
    }
    assert_eq!(rig.names(), ["Alpha@aa", "Beta@bb"]);
    assert_eq!(rig.reader.read()[0].file, rig.path("aa"));
}

#[test]
fn a_folder_that_is_not_there_is_empty_until_it_is() {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("later");
    let reader = Heartbeats::new(Some(folder.clone()));
    assert!(reader.read().is_empty());
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("unity-mcp-status-aa.json"), body("Alpha")).unwrap();
    assert_eq!(reader.read().len(), 1);
    fs::remove_dir_all(&folder).unwrap();
    assert!(reader.read().is_empty());
    assert!(Heartbeats::new(None).read().is_empty());
    assert!(
        Heartbeats::new(Some(parent.path().join("x\0y")))
            .read()
            .is_empty()
    );
}

#[test]
fn broken_files_count_for_nothing_and_hide_nothing() {
    let rig = Rig::new();
    rig.write("aa", body("Alpha"));
    rig.write("00", "");
    rig.write("01", "{");
    rig.write("02", "[1]");
    rig.write("03", b"\xff\x00\xfe");
    rig.write("04", r#"{"project_path":5,"last_heartbeat":3}"#);
    rig.write("05", format!("{}{}", body("Huge"), " ".repeat(64 * 1024)));
    rig.write("06", format!(r#"{{"deep":{}"#, "[".repeat(60_000)));
    fs::create_dir(rig.path("07")).unwrap();
    rig.write("08", format!("\u{feff}{}", body("Marked")));
    for _ in 0..2 {
        assert_eq!(rig.names(), ["Alpha@aa", "Marked@08"]);
    }
    let large = body("Large");
    rig.write(
        "05",
        format!("{large}{}", " ".repeat(64 * 1024 - large.len())),
    );
    assert_eq!(rig.names(), ["Alpha@aa", "Large@05", "Marked@08"]);
}

#[test]
fn what_a_running_editor_writes_is_never_taken_from_the_cache() {
    let rig = Rig::new();
    for age in [Duration::ZERO, Duration::from_secs(2)] {
        rig.write("aa", body("One"));
        rig.rest("aa", age);
        assert_eq!(rig.names(), ["One@aa"]);
        assert!(!rig.is_kept("aa"));
        let before = fs::metadata(rig.path("aa")).unwrap().modified().unwrap();
        rig.write("aa", body("Two"));
        let file = OpenOptions::new().write(true).open(rig.path("aa")).unwrap();
        file.set_modified(before).unwrap();
        assert_eq!(rig.names(), ["Two@aa"], "same size, same time");
    }
}

#[test]
fn a_time_in_the_future_is_never_trusted() {
    let rig = Rig::new();
    rig.write("aa", body("One"));
    let file = OpenOptions::new().write(true).open(rig.path("aa")).unwrap();
    file.set_modified(SystemTime::now() + LONG_AGO).unwrap();
    assert_eq!(rig.names(), ["One@aa"]);
    assert!(!rig.is_kept("aa"));
}

#[test]
fn a_ghost_is_kept_until_it_changes_or_goes() {
    let rig = Rig::new();
    rig.write("aa", body("One"));
    rig.rest("aa", LONG_AGO);
    rig.write("bb", "{");
    rig.rest("bb", LONG_AGO);
    assert_eq!(rig.names(), ["One@aa"]);
    assert!(
        rig.is_kept("aa") && rig.is_kept("bb"),
        "a broken file is remembered as such"
    );
    // What stands in the cache is what is shown: proof that the file was not read again.
    rig.reader
        .seen
        .lock()
        .unwrap()
        .get_mut("aa")
        .unwrap()
        .editor
        .as_mut()
        .unwrap()
        .project_name = Some("Kept".into());
    assert_eq!(rig.names(), ["Kept@aa"]);
    rig.write("aa", body("Two"));
    rig.write("bb", body("Bee"));
    assert_eq!(rig.names(), ["Bee@bb", "Two@aa"]);
    fs::remove_file(rig.path("aa")).unwrap();
    assert_eq!(rig.names(), ["Bee@bb"]);
    assert_eq!(
        rig.reader.seen.lock().unwrap().len(),
        1,
        "what is gone is forgotten"
    );
}

#[cfg(unix)]
#[test]
fn a_ghost_swapped_for_one_of_the_same_size_and_time_is_seen() {
    let rig = Rig::new();
    rig.write("aa", body("One"));
    rig.rest("aa", LONG_AGO);
    let before = fs::metadata(rig.path("aa")).unwrap().modified().unwrap();
    assert_eq!(rig.names(), ["One@aa"]);
    let other = rig.folder.path().join("other");
    fs::write(&other, body("Two")).unwrap();
    File::options()
        .write(true)
        .open(&other)
        .unwrap()
        .set_modified(before)
        .unwrap();
    fs::rename(&other, rig.path("aa")).unwrap();
    assert_eq!(rig.names(), ["Two@aa"]);
}

#[cfg(unix)]
#[test]
fn links_are_followed_and_pipes_do_not_block() {
    use std::os::unix::fs::symlink;
    let rig = Rig::new();
    rig.write("aa", body("Alpha"));
    let target = rig.folder.path().join("target");
    fs::write(&target, body("Linked")).unwrap();
    symlink(&target, rig.path("bb")).unwrap();
    symlink(rig.folder.path().join("nowhere"), rig.path("cc")).unwrap();
    symlink(rig.path("dd"), rig.path("dd")).unwrap();
    symlink("/dev/zero", rig.path("ee")).unwrap();
    symlink(rig.folder.path(), rig.path("ff")).unwrap();
    let made = std::process::Command::new("mkfifo")
        .arg(rig.path("00"))
        .status()
        .unwrap();
    assert!(made.success());
    symlink(rig.path("00"), rig.path("01")).unwrap();
    assert_eq!(rig.names(), ["Alpha@aa", "Linked@bb"]);
    // A pipe that takes a file's place between the look and the opening must not block either.
    assert!(load_once(&rig.path("00"), "00", SystemTime::now()).is_none());
}

#[cfg(unix)]
#[test]
fn a_change_behind_a_link_is_seen() {
    let rig = Rig::new();
    let target = rig.folder.path().join("target");
    std::os::unix::fs::symlink(&target, rig.path("aa")).unwrap();
    for name in ["One", "Two"] {
        fs::write(&target, body(name)).unwrap();
        let file = File::options().write(true).open(&target).unwrap();
        file.set_modified(SystemTime::now() - LONG_AGO).unwrap();
        assert_eq!(rig.names(), [format!("{name}@aa")]);
    }
}

#[test]
fn readers_beside_a_writer_see_whole_states_only() {
    let rig = Rig::new();
    rig.write("aa", body("Steady"));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for round in 0..300 {
                rig.write("bb", body(["One", "Two"][round % 2]));
            }
        });
        for _ in 0..300 {
            let names = rig.names();
            assert!(names.contains(&"Steady@aa".to_owned()), "{names:?}");
            assert!(
                names
                    .iter()
                    .all(|name| ["Steady@aa", "One@bb", "Two@bb"].contains(&name.as_str()))
            );
        }
    });
    assert_eq!(rig.names(), ["Steady@aa", "Two@bb"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_bytes_are_read_without_a_panic(content in proptest::collection::vec(any::<u8>(), 0..200)) {
        let rig = Rig::new();
        rig.write("aa", body("Alpha"));
        rig.write("bb", content);
        prop_assert!(rig.names().contains(&"Alpha@aa".to_owned()));
    }

    #[test]
    fn a_mangled_file_is_read_without_a_panic(at in 0_usize..80, byte: u8) {
        let mut content = body("Beta").into_bytes();
        let at = at % content.len();
        content[at] = byte;
        let _ = Editor::parse("bb", Path::new("f"), &content);
        let rig = Rig::new();
        rig.write("aa", body("Alpha"));
        rig.write("bb", content);
        prop_assert!(rig.names().contains(&"Alpha@aa".to_owned()));
    }
}

#[test]
fn half_a_file_is_none_and_hides_none() {
    let rig = Rig::new();
    rig.write("aa", body("Alpha"));
    let whole = body("Beta");
    for end in 0..whole.len() {
        rig.write("bb", &whole[..end]);
        assert_eq!(rig.names(), ["Alpha@aa"], "{end} bytes");
    }
    rig.write("bb", &whole);
    assert_eq!(rig.names(), ["Alpha@aa", "Beta@bb"]);
}

/// Longer than any test may take: a wait that ends only with this would be seen.
const FOREVER: Duration = Duration::from_secs(24 * 3600);

#[test]
fn a_file_that_is_being_written_is_waited_for() {
    let mut rig = Rig::new();
    rig.reader.patience = FOREVER;
    for start in ["", "{", &body("Beta")[..30]] {
        rig.write("bb", start);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                // Some time for the reader to find half a file; what it then does is the same without.
                std::thread::park_timeout(Duration::from_millis(20));
                rig.write("bb", body("Beta"));
            });
            assert_eq!(rig.names(), ["Beta@bb"], "{start:?}");
        });
    }
}

#[test]
fn half_a_file_that_stays_is_waited_for_once() {
    let mut rig = Rig::new();
    rig.write("aa", body("Alpha"));
    rig.write("bb", "{");
    rig.write("cc", "");
    rig.reader.patience = Duration::from_millis(20);
    let began = Instant::now();
    assert_eq!(rig.names(), ["Alpha@aa"]);
    assert!(began.elapsed() >= rig.reader.patience);
    rig.reader.patience = FOREVER;
    assert_eq!(rig.names(), ["Alpha@aa"]);
}

#[test]
fn what_is_no_beginning_of_a_heartbeat_is_not_waited_for() {
    let mut rig = Rig::new();
    rig.reader.patience = FOREVER;
    for content in [
        "x",
        "{x",
        "[]",
        "{}",
        "{} {",
        "\u{1}",
        r#"{"project_path":1}"#,
    ] {
        rig.write("bb", content);
        assert!(rig.names().is_empty(), "{content}");
    }
}

#[test]
fn an_editor_that_changed_its_port_is_known_by_it() {
    let rig = Rig::new();
    let beat = |port: &str, time: &str| {
        rig.write(
            "aa",
            format!(
                r#"{{"project_path":"C:/A/Assets","unity_port":{port},"last_heartbeat":"2026-01-01T00:00:{time}Z"}}"#
            ),
        );
    };
    let moved = || rig.reader.read().first().and_then(|editor| editor.moved);
    let at_ms = |second: i64| 1_767_225_600_000 + second * 1000;
    beat("6400", "01");
    assert_eq!(moved(), None);
    // Neither a moment without a file nor a file without a port is a change.
    fs::remove_file(rig.path("aa")).unwrap();
    assert_eq!(moved(), None);
    beat("null", "02");
    assert_eq!(moved(), None);
    beat("6400", "03");
    assert_eq!(moved(), None);

    let first = Some(Moved {
        from: 6400,
        at_ms: at_ms(4),
    });
    beat("6401", "04");
    assert_eq!(moved(), first);
    beat("6401", "05");
    assert_eq!(moved(), first, "the first heartbeat with it counts");
    fs::remove_file(rig.path("aa")).unwrap();
    assert_eq!(moved(), None);
    beat("6402", "09");
    let second = Some(Moved {
        from: 6401,
        at_ms: at_ms(9),
    });
    assert_eq!(moved(), second);
}
