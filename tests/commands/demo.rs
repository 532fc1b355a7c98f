//! The demo: its account, its facts, and the part of it that stands in the README.

use super::*;
use std::collections::BTreeSet;

/// The scenes that the README shows, by the behaviour that each is about.
const IN_THE_README: [&str; 3] = [
    "execute_code_idempotency_guard",
    "pinned_editor_guard",
    "manage_asset_search_scope_note",
];
const BEGIN: &str = "<!-- demo:begin -->\n```text\n$ vrc-mcp-proxy demo\n";
const END: &str = "```\n<!-- demo:end -->";

/// The demo's account in so many columns.
fn account(columns: &str) -> String {
    let shown = run(command(&["demo"]).env("COLUMNS", columns));
    let account = stdout(&shown);
    assert_eq!(status(&shown), 0, "{account}{}", stderr(&shown));
    assert_eq!(stderr(&shown), "");
    account
}

#[test]
fn it_goes_as_told_and_leaves_nothing_behind() {
    let temporary = Folder::new();
    let place = temporary.0.path();
    let mut command = command(&["demo", "--json"]);
    for variable in ["TMPDIR", "TEMP", "TMP"] {
        command.env(variable, place);
    }
    // What the user has set does not change the demo.
    let off: Vec<&str> = REGISTRY.iter().map(|behavior| behavior.name).collect();
    let shown = run(command.env("VRC_MCP_PROXY_DISABLE", off.join(" ")));
    let facts = json_of(&shown);
    assert_eq!(status(&shown), 0, "{facts:#}");
    assert_eq!(facts["as_told"], true);
    let scenes = facts["scenes"].as_array().expect("a list of scenes");
    let mut behaviors = BTreeSet::new();
    for scene in scenes {
        let title = scene["title"].as_str().expect("a title");
        behaviors.insert(scene["behavior"].as_str().expect("a behaviour"));
        assert!(!scene["sent"].as_array().expect("what was sent").is_empty());
        for side in ["without", "with"] {
            assert!(scene[side]["editor"].is_string(), "{title}");
            assert!(scene[side]["told"].is_array(), "{title}");
        }
        assert_ne!(scene["without"]["told"], scene["with"]["told"], "{title}");
        let checks = scene["checks"].as_array().expect("checks");
        assert!(checks.iter().all(|check| check["holds"] == true), "{title}");
    }
    assert!(behaviors.len() > 6, "{behaviors:?}");
    let known = |name: &&str| off.contains(name);
    assert!(behaviors.iter().all(known), "{behaviors:?}");
    let left: Vec<_> = std::fs::read_dir(place).expect("the folder").collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn the_account_is_as_wide_as_the_terminal() {
    for (columns, width, longest) in [("80", 80, 140), ("nonsense", 100, 130), ("500", 120, 130)] {
        let account = account(columns);
        assert!(account.contains("went as told"), "{account}");
        assert!(!account.contains("NOT AS TOLD"), "{account}");
        let lines = || account.lines().map(|line| line.chars().count());
        assert!(lines().all(|line| line <= width), "{account}");
        assert!(lines().any(|line| line > width - 10), "{account}");
        assert!(lines().count() <= longest, "{account}");
    }
}

/// With `BLESS=1` in the environment the README is written instead.
#[test]
fn the_readme_shows_what_the_demo_prints() {
    let account = account("100");
    let shown = |behavior: &str| {
        let about = format!("WITH IT: {behavior}\n");
        let scene = account.split("\n\n").find(|scene| scene.contains(&about));
        let scene = scene.unwrap_or_else(|| panic!("no scene is about {behavior}"));
        format!("{scene}\n\n")
    };
    let scenes: String = IN_THE_README.into_iter().map(shown).collect();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let text = std::fs::read_to_string(&path).expect("the README");
    let text = text.replace("\r\n", "\n");
    let (head, rest) = text.split_once(BEGIN).expect("the transcript's beginning");
    let (_, tail) = rest.split_once(END).expect("the transcript's end");
    let wanted = format!("{head}{BEGIN}...\n\n{scenes}...\n{END}{tail}");
    if std::env::var_os("BLESS").is_some_and(|value| value == "1") {
        if wanted != text {
            std::fs::write(&path, wanted).expect("the README is written");
        }
        return;
    }
    let mut lines = wanted.lines().zip(text.lines());
    let first = lines.find(|(wanted, found)| wanted != found);
    assert!(
        wanted == text,
        "the README is stale (BLESS=1 renews it), from here: {first:?}"
    );
}
