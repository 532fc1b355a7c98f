use std::path::Path;

use proptest::prelude::*;
use serde_json::json;

use super::*;

const NOW: i64 = 1_700_000_000_000;

fn editor(name: Option<&str>, hash: &str, folder: &str, port: u16, age_s: i64) -> Editor {
    let body = json!({
        "project_name": name, "project_path": format!("C:/Unity/{folder}/Assets"), "unity_port": port,
    });
    let mut editor =
        Editor::parse(hash, Path::new("f"), body.to_string().as_bytes()).expect("usable");
    editor.last_heartbeat_ms = Some(NOW - age_s * 1000);
    editor
}

/// Alpha and Beta run, Gone is a ghost on Beta's port, Odd has an `@` in its name, Old comes from a bridge that
/// writes no name.
fn editors() -> Vec<Editor> {
    vec![
        editor(Some("Alpha"), "0be31597", "Alpha", 6400, 1),
        editor(Some("Beta"), "1824ae67", "Beta", 6401, 179),
        editor(Some("Gone"), "ab111111", "Gone", 6401, 9_000),
        editor(Some("Od@d"), "ab222222", "Od@d", 6402, 500),
        editor(None, "CD333333", "Old", 6403, 1),
    ]
}

fn names(resolution: &Resolution<'_>) -> Vec<String> {
    match resolution {
        Resolution::None => Vec::new(),
        Resolution::One(editor) => vec![editor.hash.clone()],
        Resolution::Several(editors) => editors.iter().map(|editor| editor.hash.clone()).collect(),
    }
}

#[track_caller]
fn fits(json: &str, hashes: &[&str]) {
    let editors = editors();
    let selector = Selector::read(json).expect("a selector");
    assert_eq!(names(&selector.resolve(&editors, NOW)), hashes, "{json}");
}

#[test]
fn null_and_blank_are_none() {
    for json in [
        "null",
        r#""""#,
        r#"" ""#,
        r#""\t\u00a0\u001c\u2003\n""#,
        " null ",
    ] {
        assert_eq!(Selector::read(json), None, "{json}");
    }
    assert_eq!(Selector::from_text(" \u{1f}"), None);
    assert_eq!(Selector::default_instance("  "), None);
}

#[test]
fn digits_are_a_port_of_a_live_editor() {
    for json in [
        "6400",
        r#""6400""#,
        r#"" 6400\u00a0""#,
        r#""\u001c6400""#,
        r#""006400""#,
        r#""\u0036400""#,
    ] {
        fits(json, &["0be31597"]);
    }
    fits("6401", &["1824ae67"]);
    fits("6402", &[]);
    for json in [
        "-0",
        "-6400",
        "6400.0",
        "6.4e3",
        "64e2",
        r#""6400.0""#,
        r#""+6400""#,
        r#""64 00""#,
        "65536",
    ] {
        fits(json, &[]);
    }
    fits("123456789012345678901234567890", &[]);
    assert_eq!(
        Selector::read("123456789012345678901234567890")
            .unwrap()
            .text(),
        "123456789012345678901234567890"
    );
}

#[test]
fn two_live_editors_on_one_port_are_several() {
    let mut all = editors();
    all[0].port = Some(6401);
    let selector = Selector::from_text("6401").unwrap();
    let resolution = selector.resolve(&all, NOW);
    assert_eq!(names(&resolution), ["0be31597", "1824ae67"]);
    assert_eq!(resolution.one(), None);
}

#[test]
fn a_stale_port_is_found_only_where_asked_for() {
    let editors = editors();
    let selector = Selector::from_text("6402").unwrap();
    assert_eq!(selector.resolve(&editors, NOW), Resolution::None);
    let found = selector
        .resolve_live_first(&editors, NOW)
        .one()
        .expect("Odd");
    assert!(found.hash == "ab222222" && selector.is_port() && selector.is_port_of(found));
    // The ghost on Beta's port does not make Beta's port doubtful.
    let beta = Selector::from_text("6401")
        .unwrap()
        .resolve_live_first(&editors, NOW);
    assert_eq!(names(&beta), ["1824ae67"]);
}

#[test]
fn digits_that_are_no_port_may_be_a_hash_prefix() {
    fits(r#""1824""#, &["1824ae67"]);
    let editors = editors();
    let selector = Selector::read("1824").unwrap();
    let found = selector
        .resolve_live_first(&editors, NOW)
        .one()
        .expect("Beta");
    assert!(selector.is_port() && !selector.is_port_of(found));
    // A port comes first, whatever hash begins like it.
    let mut taken = self::editors();
    taken[2].hash = "64000000".into();
    assert_eq!(
        names(&Selector::read("6400").unwrap().resolve(&taken, NOW)),
        ["0be31597"]
    );
}

#[test]
fn an_identifier_is_exact_as_a_whole() {
    fits(r#""Alpha@0be31597""#, &["0be31597"]);
    fits(r#"" Alpha@0be31597 ""#, &["0be31597"]);
    fits(r#""Gone@ab111111""#, &["ab111111"]);
    fits(r#""Od@d@ab222222""#, &["ab222222"]);
    for json in [
        r#""alpha@0be31597""#,
        r#""Alpha@0BE31597""#,
        r#""Alpha@0be3""#,
        r#""@0be31597""#,
        r#""d@ab222222""#,
        r#""Renamed@0be31597""#,
        r#""Alpha@6400""#,
        r#""Alpha @0be31597""#,
        r#""@""#,
        r#""Alpha@""#,
    ] {
        fits(json, &[]);
        assert!(Selector::read(json).unwrap().is_identifier(), "{json}");
    }
}

#[test]
fn a_file_without_a_name_answers_to_both_of_its_identifiers() {
    fits(r#""Old@CD333333""#, &["CD333333"]);
    fits(r#""CD333333@CD333333""#, &["CD333333"]);
    fits(r#""old@CD333333""#, &[]);
}

#[test]
fn a_hash_prefix_in_any_case_among_all() {
    fits(r#""0BE""#, &["0be31597"]);
    fits(r#""cd333333""#, &["CD333333"]);
    fits(r#""ab1""#, &["ab111111"]);
    fits(r#""AB""#, &["ab111111", "ab222222"]);
    for json in [
        r#""0be315970""#,
        r#""Alpha""#,
        r#""\u00c0""#,
        r#""be3""#,
        r#""x""#,
    ] {
        fits(json, &[]);
    }
}

#[test]
fn another_type_is_a_target_that_fits_nobody() {
    let mut hex = editors();
    hex[0].hash = "1e220000".into();
    for (json, text) in [
        ("1e22", "1e22"),
        ("true", "True"),
        ("false", "False"),
        ("[]", "[]"),
        ("{}", "{}"),
        (r#"["0be3"]"#, r#"["0be3"]"#),
        (r#""\ud800""#, r#""\ud800""#),
        ("nonsense", "nonsense"),
    ] {
        let selector = Selector::read(json).expect("a target");
        assert_eq!(selector.text(), text);
        assert_eq!(selector.resolve(&hex, NOW), Resolution::None, "{json}");
    }
}

#[test]
fn the_default_instance_takes_what_upstream_takes_there() {
    let mut all = editors();
    all.push(editor(
        Some("Alpha"),
        "ee444444",
        "Copy of Alpha",
        6404,
        9_000,
    ));
    for (value, hashes) in [
        (" Alpha@0be31597 ", &["0be31597"][..]),
        ("Alpha", &["0be31597"]),
        ("Gone", &["ab111111"]),
        ("Old", &["CD333333"]),
        ("Od@d", &["ab222222"]),
        ("0be", &["0be31597"]),
        ("0BE", &[]),
        ("ab", &["ab111111", "ab222222"]),
        ("Alpha@0be", &["0be31597"]),
        ("Alpha@6400", &["0be31597"]),
        ("Alpha@6401", &[]),
        ("alpha", &[]),
        ("6401", &["1824ae67"]),
        ("6404", &[]),
        ("C:/Unity/Gone/Assets", &["ab111111"]),
    ] {
        let selector = Selector::default_instance(value).expect("a selector");
        assert_eq!(names(&selector.resolve(&all, NOW)), hashes, "{value}");
    }
    assert_eq!(
        Selector::from_text("Alpha").unwrap().resolve(&all, NOW),
        Resolution::None
    );
}

proptest! {
    #[test]
    fn any_text_is_read_without_a_panic_and_resolves_to_what_it_says(text in "[0-9a-zA-Z@ .\u{1c}\u{e9}-]{0,12}") {
        let json = serde_json::to_string(&text).unwrap();
        let editors = editors();
        prop_assert_eq!(Selector::read(&json), Selector::from_text(&text));
        if let Some(selector) = Selector::read(&json) {
            let text = selector.text().to_ascii_lowercase();
            for hash in names(&selector.resolve(&editors, NOW)) {
                let whole = text.ends_with(&format!("@{}", hash.to_ascii_lowercase()));
                prop_assert!(selector.is_port() || whole || hash.to_ascii_lowercase().starts_with(&text));
            }
        }
    }

    #[test]
    fn any_json_is_a_target_unless_null_or_blank(bytes in proptest::collection::vec(any::<u8>(), 0..20)) {
        let json = String::from_utf8_lossy(&bytes);
        let read = Selector::read(&json);
        prop_assert!(read.is_some() || json.trim() == "null" || json.trim().starts_with('"'));
    }
}
