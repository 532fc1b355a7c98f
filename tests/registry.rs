//! What the compiler cannot see about the registry and the source tree.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use vrc_mcp_proxy::behaviors::REGISTRY;
use vrc_mcp_proxy::commands::behaviors::{markdown_codes, markdown_table};

/// Lines that a file under `src` may have at the most.
const LINES: usize = 399;

/// What no file may hold: notes that belong elsewhere, and folders of the machine it was written on.
/// In pieces, so that this file does not hold them either.
const BANNED: [&str; 4] = [
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("/ro", "ot/"),
    concat!("/wo", "rk/"),
];

/// Home folders that may be named: an example's, and Homebrew's on Linux.
const HOMES: [&str; 2] = ["me/", "linuxbrew/"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The files below a folder of the repository, with one of these extensions.
fn files(folder: &Path, extensions: &[&str]) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries
        .flat_map(|entry| match entry.path() {
            path if path.is_dir() => files(&path, extensions),
            path => vec![path],
        })
        .filter(|path| {
            let extension = path.extension().and_then(|extension| extension.to_str());
            extension.is_some_and(|extension| extensions.contains(&extension))
        })
        .collect();
    found.sort();
    found
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

/// A path as the messages show it.
fn shown(path: &Path) -> String {
    let inside = path.strip_prefix(root()).unwrap_or(path);
    inside.to_string_lossy().replace('\\', "/")
}

/// The files beside the behaviours that are none: what they have in common.
const IN_COMMON: [&str; 2] = ["mod.rs", "hook.rs"];

/// The behaviours' files by name: `src/behaviors/<name>.rs`.
fn behavior_files() -> Vec<(String, String)> {
    let folder = root().join("src/behaviors");
    let files = files(&folder, &["rs"]).into_iter();
    let is_common = |path: &Path| IN_COMMON.iter().any(|name| path.ends_with(name));
    let own = files.filter(|path| path.parent() == Some(&folder) && !is_common(path));
    own.map(|path| {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let text = read(&path);
        (name, text)
    })
    .collect()
}

fn is_snake_case(name: &str) -> bool {
    let words = name.split('_');
    let is_word = |word: &str| {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        !word.is_empty() && word.chars().all(plain)
    };
    name.starts_with(|c: char| c.is_ascii_lowercase()) && words.into_iter().all(is_word)
}

/// One sentence: begins with a capital, ends with its only full stop, and fits a table's cell.
fn is_sentence(text: &str) -> bool {
    let body = text.strip_suffix('.').unwrap_or_default();
    text.starts_with(|c: char| c.is_uppercase())
        && !body.is_empty()
        && !body.ends_with(['.', ' '])
        && !["\n", "|", ". ", "! ", "? "]
            .iter()
            .any(|part| body.contains(part))
        && text.len() <= 120
}

/// Whether a line holds a path into a home folder other than those of [`HOMES`].
fn names_a_home(line: &str) -> bool {
    let line = line.replace('\\', "/");
    ["/home/", "/Users/"].iter().any(|folder| {
        let mut after = line.split(folder).skip(1);
        after.any(|rest| !HOMES.iter().any(|home| rest.starts_with(home)))
    })
}

#[test]
fn every_file_is_one_behaviour_of_its_name_registered_once() {
    let registry = read(&root().join("src/behaviors/mod.rs"));
    let files = behavior_files();
    for (name, text) in &files {
        let times = |what: &str| registry.lines().filter(|line| line.trim() == what).count();
        assert_eq!(times(&format!("mod {name};")), 1, "{name} is a module once");
        assert_eq!(
            times(&format!("{name}::BEHAVIOR,")),
            1,
            "{name} is registered once"
        );
        assert!(
            text.contains(&format!("name: \"{name}\"")),
            "{name}.rs holds another name"
        );
    }
    let files: BTreeSet<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    let names: BTreeSet<&str> = REGISTRY.iter().map(|behavior| behavior.name).collect();
    assert_eq!(files, names);
    assert_eq!(
        names.len(),
        REGISTRY.len(),
        "a name stands twice in the registry"
    );
}

#[test]
fn every_behaviour_file_begins_with_what_it_is_about() {
    for (name, text) in behavior_files() {
        let header: Vec<&str> = text
            .lines()
            .take_while(|line| line.starts_with("//!"))
            .collect();
        let first = header
            .first()
            .and_then(|line| line.strip_prefix("//! "))
            .unwrap_or_default();
        assert!(
            first.ends_with('.') && first.len() > 20,
            "{name}.rs has no header: {first:?}"
        );
    }
}

#[test]
fn names_summaries_and_codes_are_well_formed() {
    for behavior in REGISTRY {
        let name = behavior.name;
        assert!(is_snake_case(name), "{name:?}");
        assert!(!behavior.hooks.is_empty(), "{name} has no hook");
        let summary = behavior.summary;
        assert!(
            is_sentence(summary),
            "{name}: the summary is no single sentence: {summary:?}"
        );
        let mut codes = BTreeSet::new();
        for (code, says) in behavior.codes {
            assert!(is_snake_case(code), "{name}: {code:?}");
            assert!(codes.insert(code), "{name}: {code} stands twice");
            assert!(!says.trim().is_empty(), "{name}: {code} says nothing");
        }
    }
}

#[test]
fn the_checks_of_words_tell_good_from_bad() {
    for good in ["allowlist", "execute_code", "a1_b2"] {
        assert!(is_snake_case(good), "{good}");
    }
    for bad in ["", "_a", "a_", "a__b", "A", "a-b", "1a", "a b", "é"] {
        assert!(!is_snake_case(bad), "{bad}");
    }
    assert!(is_sentence(
        "Sends 1.5 things to Assets/Agent within 120 s."
    ));
    for bad in [
        "",
        ".",
        "no capital.",
        "No stop",
        "Two. Sentences.",
        "A\nbreak.",
        "A | pipe.",
        "A...",
    ] {
        assert!(!is_sentence(bad), "{bad}");
    }
    let home = ["/ho", "me/"].concat();
    assert!(names_a_home(&format!("{home}you/x")) && !names_a_home(&format!("{home}me/x")));
}

#[test]
fn files_are_short() {
    for path in files(&root().join("src"), &["rs"]) {
        let lines = read(&path).lines().count();
        assert!(
            lines <= LINES,
            "{} has {lines} lines: split it",
            shown(&path)
        );
    }
}

#[test]
fn only_the_commands_print() {
    for path in files(&root().join("src"), &["rs"]) {
        let name = shown(&path);
        if name.starts_with("src/commands/") || name == "src/main.rs" {
            continue;
        }
        for (at, line) in read(&path).lines().enumerate() {
            let prints = ["print!(", "println!("]
                .iter()
                .any(|what| line.contains(what));
            assert!(
                !prints,
                "{name}:{}: stdout is the wire, and stderr has its queue",
                at + 1
            );
        }
    }
}

#[test]
fn unwind_safety_is_proven_not_asserted() {
    let asserted = concat!("AssertUnwind", "Safe");
    for path in files(&root().join("src"), &["rs"]) {
        assert!(
            !read(&path).contains(asserted),
            "{}: see src/contain.rs",
            shown(&path)
        );
    }
}

/// A module that the linker's script does not name is mapped with all that no session runs.
#[test]
fn every_module_of_a_session_has_its_place() {
    let script = read(&root().join("src/placement.ld"));
    let library = read(&root().join("src/lib.rs"));
    let modules: Vec<&str> = library
        .lines()
        .filter_map(|line| {
            line.strip_prefix("pub ")
                .unwrap_or(line)
                .strip_prefix("mod ")
        })
        .map(|name| name.trim_end_matches(';'))
        .filter(|name| *name != "commands")
        .collect();
    assert!(modules.len() > 15, "{modules:?}");
    for name in &modules {
        // As it stands in the names of functions, and in those of what is built for a type.
        let (function, of_type) = (
            format!(" .text*13vrc_mcp_proxy{}{name}*", name.len()),
            format!(" .text*vrc_mcp_proxy..{name}..*"),
        );
        assert!(
            script.contains(&function) && script.contains(&of_type),
            "{name}"
        );
    }
    let named = script.matches(" .text*vrc_mcp_proxy..").count();
    assert_eq!(named, modules.len() + 1, "a module that is no more");
}

/// What only holds when the call goes out is not read on arrival: a call may wait in between.
#[test]
fn guards_on_arrival_read_neither_pins_nor_heartbeats() {
    let state = ["editors()", "live_editors", "cx.pins", ".target"];
    // It refuses the same calls whatever it reads: an Editor's heartbeat chooses a word in the text.
    let for_words_only = "allowlist";
    let mut seen = 0;
    for (name, text) in behavior_files() {
        if name == for_words_only {
            continue;
        }
        // A file with a guard at departure may well read them.
        if text.contains("Hook::Guard(") && !text.contains("Hook::DepartureGuard(") {
            seen += 1;
            for what in state {
                assert!(!text.contains(what), "{name} is a guard on arrival: {what}");
            }
        }
    }
    assert!(seen > 0, "no guard on arrival was looked at");
}

#[test]
fn nothing_is_left_to_do_and_no_machine_is_named() {
    let mut texts = vec![root().join("README.md"), root().join("Cargo.toml")];
    for folder in ["src", "tests", "docs", "examples", "baseline"] {
        texts.extend(files(
            &root().join(folder),
            &["rs", "md", "json", "toml", "cs"],
        ));
    }
    for path in texts.into_iter().filter(|path| path.exists()) {
        for (at, line) in read(&path).lines().enumerate() {
            for word in BANNED {
                assert!(
                    !line.contains(word),
                    "{}:{}: {word:?}",
                    shown(&path),
                    at + 1
                );
            }
        }
    }
}

/// A page's text with the table between two markers put in place of what stands there.
fn with_table(page: &str, name: &str, table: &str) -> Option<String> {
    let (begin, end) = (
        format!("<!-- {name}:begin -->\n"),
        format!("<!-- {name}:end -->"),
    );
    let (head, rest) = page.split_once(&begin)?;
    let (_, tail) = rest.split_once(&end)?;
    Some(format!("{head}{begin}{table}{end}{tail}"))
}

/// With `BLESS=1` in the environment the pages are written instead.
#[test]
fn the_tables_in_the_pages_are_those_of_the_registry() {
    let bless = std::env::var_os("BLESS").is_some_and(|value| value == "1");
    let tables = [("behaviors", markdown_table()), ("codes", markdown_codes())];
    for (page, names) in [
        ("README.md", &["behaviors"][..]),
        ("docs/behaviors.md", &["behaviors", "codes"]),
    ] {
        let path = root().join(page);
        let text = read(&path).replace("\r\n", "\n");
        let mut wanted = text.clone();
        for (name, table) in tables.iter().filter(|(name, _)| names.contains(name)) {
            let page_with = with_table(&wanted, name, table);
            assert!(
                page_with.is_some(),
                "{page} has no markers for the table {name}"
            );
            wanted = page_with.unwrap_or_default();
        }
        if bless && wanted != text {
            fs::write(&path, &wanted).unwrap();
        } else {
            let first = wanted
                .lines()
                .zip(text.lines())
                .find(|(wanted, found)| wanted != found);
            assert!(
                wanted == text,
                "{page} is stale (BLESS=1 renews it), from here: {first:?}"
            );
        }
    }
}
