//! What stands in the pages holds: links lead somewhere, files and variables that are named exist, and every command
//! that is shown is run, by a test or by `.ci/run`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

#[path = "docs/commands.rs"]
mod commands;
#[path = "docs/page.rs"]
mod page;

use page::{Page, root};
use std::collections::BTreeSet;
use std::path::Path;
use vrc_mcp_proxy::behaviors::REGISTRY;
use vrc_mcp_proxy::config::{Config, VARIABLES};

/// Variables of the tests and of the scripts beside them, each with a file that reads it.
const OF_TESTS: [(&str, &str); 4] = [
    ("VRC_MCP_PROXY_REQUIRE_REAL", "tests/upstream/mod.rs"),
    ("VRC_MCP_PROXY_FUZZ_LINES", "tests/fuzz.rs"),
    ("VRC_MCP_PROXY_FUZZ_SEED", "tests/fuzz.rs"),
    ("VRC_MCP_PROXY_SOAK_MESSAGES", "tests/process/soak.rs"),
];

#[test]
fn every_link_leads_somewhere() {
    let pages = Page::all();
    let mut seen = 0;
    for page in &pages {
        for target in page.links() {
            let (path, anchor) = target.split_once('#').unwrap_or((&target, ""));
            if path.contains("://") {
                assert!(path.starts_with("https://"), "{}: {target}", page.name);
                continue;
            }
            seen += 1;
            let file = match path {
                "" => page.name.clone(),
                path => page.beside(path),
            };
            assert!(root().join(&file).exists(), "{}: {target}", page.name);
            if !anchor.is_empty() {
                let there = pages.iter().find(|page| page.name == file);
                let anchors = there.map(Page::anchors).unwrap_or_default();
                assert!(
                    anchors.iter().any(|known| known == anchor),
                    "{}: {target}: there are {anchors:?}",
                    page.name
                );
            }
        }
    }
    assert!(seen > 20, "{seen}");
}

#[test]
fn every_file_that_is_named_is_there() {
    let folders = [
        "src/",
        "tests/",
        "docs/",
        "baseline/",
        "benches/",
        "fuzz/",
        ".ci/",
        ".cargo/",
        ".github/",
    ];
    let mut seen = 0;
    for page in Page::all() {
        for span in page.spans() {
            let plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
            if folders.iter().any(|folder| span.starts_with(folder)) && span.chars().all(plain) {
                seen += 1;
                assert!(root().join(&span).exists(), "{}: {span}", page.name);
            }
        }
    }
    assert!(seen > 20, "{seen}");
}

/// `VRC_MCP_PROXY_…` and `UNITY_MCP_…` in a text.
fn variables(text: &str) -> BTreeSet<String> {
    let is_word = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    let words = text.split(|c: char| !is_word(c));
    let ours = |word: &&str| {
        ["VRC_MCP_PROXY_", "UNITY_MCP_"]
            .iter()
            .any(|prefix| word.len() > prefix.len() && word.starts_with(prefix))
    };
    words.filter(ours).map(ToOwned::to_owned).collect()
}

#[test]
fn every_variable_that_is_named_is_known_and_every_one_is_in_the_readme() {
    for page in Page::all() {
        for name in variables(&page.text) {
            let known = VARIABLES.iter().any(|(known, _)| *known == name);
            let of_tests = OF_TESTS.iter().any(|(known, _)| *known == name);
            assert!(known || of_tests, "{}: {name}", page.name);
        }
    }
    for (name, file) in OF_TESTS {
        assert!(page::read(file).contains(name), "{file} has no {name}");
    }
    let readme = Page::of("README.md");
    for (name, _) in VARIABLES {
        let row = format!("| `{name}` | ");
        assert!(readme.text.contains(&row), "README has no row for {name}");
    }
}

/// A setting that is shown is one that the program takes without a word.
#[test]
fn every_setting_that_is_shown_is_taken() {
    let mut seen = 0;
    for page in Page::all() {
        for line in page.lines_of_code().into_iter().chain(page.spans()) {
            let Some((name, value)) = line.split_once('=') else {
                continue;
            };
            let known = VARIABLES.iter().any(|(known, _)| *known == name);
            if !known || value.contains(' ') || value == "tool_name" {
                continue;
            }
            seen += 1;
            let value = value.trim_matches('\'');
            let config = Config::from_env([(name.into(), value.into())]);
            assert!(
                config.problems.is_empty(),
                "{}: {line}: {:?}",
                page.name,
                config.problems
            );
        }
    }
    assert!(seen > 3, "{seen}");
}

#[test]
fn the_design_has_a_row_for_each_behaviour() {
    let design = Page::of("docs/design.md");
    let (_, section) = design
        .text
        .split_once("\n## Behaviour by behaviour\n")
        .expect("the section");
    let (section, _) = section.split_once("\n## ").expect("the next section");
    let rows = section.lines().filter_map(|line| {
        let (name, _) = line.strip_prefix("| `")?.split_once("` | ")?;
        Some(name)
    });
    let names = REGISTRY.iter().map(|behavior| behavior.name);
    assert_eq!(rows.collect::<Vec<_>>(), names.collect::<Vec<_>>());
}

#[test]
fn contributors_are_told_of_each_hook() {
    let source = page::read("src/behaviors/hook.rs");
    let (_, from) = source.split_once("pub enum Hook {\n").expect("the hooks");
    let (hooks, _) = from.split_once("\n}\n").expect("their end");
    let names: Vec<&str> = hooks
        .lines()
        .map(str::trim)
        .filter(|line| line.ends_with("),"))
        .filter_map(|line| Some(line.split_once('(')?.0))
        .collect();
    assert!(names.len() > 8, "{names:?}");
    let page = Page::of("docs/CONTRIBUTING.md");
    let rows = page.text.lines().filter_map(|line| {
        let (name, _) = line.strip_prefix("| `")?.split_once("` |")?;
        Some(name)
    });
    assert_eq!(rows.collect::<BTreeSet<_>>(), names.into_iter().collect());
}

#[test]
fn the_pages_are_read_as_a_reader_reads_them() {
    let text = "# A `b_c` D!\n\nSee [x](y.md#z) and `[no](no.md)`, `cargo\ntest`.\n\n    $ cargo run \\\n      --x\n\n```text\n\
                [no](n.md)\nbash x\n```\n\n- item\n\n      cargo item\n\n## A `b_c` D!\n";
    let page = Page {
        name: "docs/page.md".to_owned(),
        text: text.to_owned(),
    };
    assert_eq!(page.links(), ["y.md#z"]);
    assert_eq!(page.beside("../README.md"), "README.md");
    assert_eq!(page.beside("y.md"), "docs/y.md");
    assert_eq!(page.anchors(), ["a-b_c-d", "a-b_c-d-1"]);
    assert_eq!(page.spans(), ["b_c", "[no](no.md)", "cargo test", "b_c"]);
    let commands = ["cargo run --x", "bash x", "cargo item", "cargo test"];
    assert_eq!(page.commands(), commands);
    assert!(!Path::new(&page.name).is_absolute());
}
