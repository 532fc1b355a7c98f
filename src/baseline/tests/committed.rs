//! The committed files themselves.

use std::collections::BTreeSet;

use crate::baseline::json::Json;
use crate::baseline::{Baseline, Contract, committed, committed_versions};

/// The tools that are exposed out of the box.
const EXPOSED: [&str; 13] = [
    "debug_request_context",
    "execute_code",
    "execute_menu_item",
    "find_gameobjects",
    "manage_asset",
    "manage_camera",
    "manage_editor",
    "manage_gameobject",
    "manage_packages",
    "manage_scene",
    "refresh_unity",
    "set_active_instance",
    "unity_reflect",
];

/// Upstream's longest name or value of 10.1.0 has 28 characters; a sentence has more, or blanks.
const MAX_WORD: usize = 40;

fn files() -> impl Iterator<Item = (&'static str, &'static str, Baseline)> {
    committed_versions().map(|version| {
        let text = committed(version).unwrap();
        (version, text, Baseline::parse(text).unwrap())
    })
}

#[test]
fn every_file_is_of_its_version_and_in_the_format_that_is_written() {
    assert!(files().count() > 0);
    for (version, text, baseline) in files() {
        assert_eq!(baseline.server_version(), version);
        assert_eq!(baseline.to_json(), text, "{version}: capture it again");
    }
}

#[test]
fn every_contract_is_in_the_spelling_that_listings_are_compared_in() {
    for (version, _, baseline) in files() {
        for tool in baseline.tool_names() {
            let contract = baseline.contract(tool).unwrap();
            let again = Contract::read(&contract.schema.to_string()).unwrap();
            assert_eq!(
                again.schema, contract.schema,
                "{version} {tool}: capture it again"
            );
        }
    }
}

#[test]
fn the_exposed_tools_are_there() {
    for (version, _, baseline) in files() {
        let names: BTreeSet<&str> = baseline.tool_names().collect();
        for tool in EXPOSED {
            assert!(names.contains(tool), "{version} lacks {tool}");
        }
    }
    let pinned = Baseline::parse(committed("10.1.0").unwrap()).unwrap();
    // Measured: 10.1.0 lists so many, with or without an Editor.
    assert_eq!(pinned.tool_names().count(), 47);
    assert_eq!(
        pinned.enum_values("execute_code", "action"),
        ["clear_history", "execute", "get_history", "replay"]
    );
    assert!(
        pinned
            .enum_values("manage_gameobject", "action")
            .contains(&"move_relative")
    );
}

#[test]
fn no_file_holds_upstreams_prose() {
    for (version, _, baseline) in files() {
        for tool in baseline.tool_names() {
            let contract = baseline.contract(tool).unwrap();
            // Read as a schema, it has no annotation left …
            assert!(
                Contract::read(&contract.schema.to_string())
                    .unwrap()
                    .texts
                    .is_empty(),
                "{version} {tool}"
            );
            // … its values and names are words, no sentences …
            each_text(&contract.schema, &mut |text| {
                assert!(
                    text.len() <= MAX_WORD && !text.contains(' '),
                    "{version} {tool}: {text}"
                );
            });
            // … and what stands for the texts are digests.
            for (place, digests) in &contract.texts {
                for digest in digests.split('+') {
                    let hex = digest
                        .bytes()
                        .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
                    assert!(
                        digest.len() == 12 && hex,
                        "{version} {tool} {place}: {digest}"
                    );
                }
            }
        }
    }
}

fn each_text(value: &Json, check: &mut dyn FnMut(&str)) {
    match value {
        Json::String(text) => check(text),
        Json::Array(entries) => entries.iter().for_each(|entry| each_text(entry, check)),
        Json::Object(members) => members.iter().for_each(|(key, value)| {
            check(key);
            each_text(value, check);
        }),
        Json::Null | Json::Bool(_) | Json::Number(_) => {}
    }
}
