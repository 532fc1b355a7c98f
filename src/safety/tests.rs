//! The table against the baselines, and how calls are read.

use super::table::{ALONE, RAISED, TOOLS};
use super::{Effect, Mode, SAFETY_MODES, actions, can_destroy, judge, tools};
use crate::baseline::{Baseline, committed, committed_versions};
use crate::call::Call;
use crate::config::Config;
use crate::wire::envelope::{ClientLine, read_client};
use crate::wire::id::Id;
use std::collections::BTreeSet;

const MODE: &str = "VRC_MCP_PROXY_MODE";
const DISABLE: &str = "VRC_MCP_PROXY_DISABLE";

fn baselines() -> Vec<Baseline> {
    let texts = committed_versions().filter_map(committed);
    texts.map(|text| Baseline::parse(text).unwrap()).collect()
}

fn effect(tool: &str, arguments: &str) -> Effect {
    let line = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#
    );
    let ClientLine::Message(mut message) = read_client(line.as_bytes()) else {
        panic!("{line}");
    };
    judge(&Call::read(Id::Number(1), &mut message).unwrap()).effect
}

fn has_property(baseline: &Baseline, tool: &str, name: &str) -> bool {
    let schema = baseline.contract(tool).unwrap().schema.to_string();
    let schema: serde_json::Value = serde_json::from_str(&schema).unwrap();
    schema["properties"].get(name).is_some()
}

#[test]
fn every_action_that_a_baseline_lists_is_in_the_table() {
    for baseline in baselines() {
        for tool in baseline.tool_names() {
            assert!(tools().any(|known| known == tool), "{tool} is not classed");
            let known: BTreeSet<&str> = actions(tool).collect();
            for action in baseline.enum_values(tool, "action") {
                assert!(known.contains(action), "{tool} {action} is not classed");
            }
            let acts = has_property(&baseline, tool, "action");
            assert_eq!(acts, !known.is_empty(), "{tool}: actions or none");
        }
    }
}

#[test]
fn the_table_holds_nothing_that_no_baseline_lists() {
    let baselines = baselines();
    for tool in tools() {
        let listed = |baseline: &&Baseline| baseline.contract(tool).is_some();
        assert!(baselines.iter().any(|b| listed(&b)), "{tool} is gone");
        let values: BTreeSet<&str> = baselines
            .iter()
            .flat_map(|baseline| baseline.enum_values(tool, "action"))
            .collect();
        for action in actions(tool).filter(|_| !values.is_empty()) {
            assert!(values.contains(action), "{tool} {action} is gone");
        }
    }
}

#[test]
fn every_action_stands_once_and_every_condition_speaks_of_one() {
    let names: BTreeSet<&str> = tools().collect();
    assert_eq!(names.len(), tools().count());
    for (tool, rows) in TOOLS {
        let mut seen = BTreeSet::new();
        for (effect, actions, does) in *rows {
            assert!(
                *effect != Effect::Destructive || !does.is_empty(),
                "{tool} {actions}: what does it do?"
            );
            for action in actions.split_whitespace() {
                assert!(seen.insert(action), "{tool} {action} stands twice");
            }
        }
    }
    for raised in RAISED {
        let (tool, action) = (raised.tool, raised.action);
        assert!(
            actions(tool).any(|known| known == action),
            "{tool} {action}"
        );
        assert!(!raised.does.is_empty(), "{tool} {action}");
    }
}

/// Where the server knows an argument of this name, it is not the proxy's to take.
#[test]
fn no_tool_of_a_baseline_has_a_confirm_of_its_own() {
    for baseline in baselines() {
        for tool in baseline.tool_names() {
            assert!(!has_property(&baseline, tool, "confirm"), "{tool}");
        }
    }
}

#[rustfmt::skip]
#[test]
fn what_is_not_known_is_destructive() {
    for (tool, arguments) in [
        ("", "{}"),
        ("custom_tool", "{}"),
        ("Manage_Asset", r#"{"action":"search"}"#),
        ("manage_asset", "{}"),
        ("manage_asset", "null"),
        ("manage_asset", "[]"),
        ("manage_asset", r#""search""#),
        ("manage_asset", r#"{"action":null}"#),
        ("manage_asset", r#"{"action":""}"#),
        ("manage_asset", r#"{"action":"-"}"#),
        ("manage_asset", r#"{"action":"search get_info"}"#),
        ("manage_asset", r#"{"action":["search"]}"#),
        ("manage_asset", r#"{"action":{"search":1}}"#),
        ("manage_asset", r#"{"action":1}"#),
        ("manage_asset", r#"{"action":"searc"}"#),
        ("manage_asset", r#"{"action":"search","action":"delete"}"#),
        ("manage_asset", r#"{"action":"search","\u0061ction":"delete"}"#),
        ("manage_asset", r#"{"Action":"search"}"#),
        ("manage_asset", r#"{"action":"s\u0435arch"}"#),
        ("read_console", r#"{"action":"-"}"#),
        ("read_console", r#"{"action":["get"]}"#),
        ("execute_code", r#"{"action":"EXECUTE"}"#),
    ] {
        assert_eq!(
            effect(tool, arguments),
            Effect::Destructive,
            "{tool} {arguments}"
        );
    }
}

#[test]
fn an_action_is_read_as_the_server_reads_it() {
    for arguments in [
        r#"{"action":"search"}"#,
        r#"{"action":" Search\t"}"#,
        r#"{"\u0061ction":"\u0073earch"}"#,
        r#"{"action":"delete","action":"search"}"#,
    ] {
        assert_eq!(
            effect("manage_asset", arguments),
            Effect::Read,
            "{arguments}"
        );
    }
    assert_eq!(effect("read_console", "{}"), Effect::Read);
    assert_eq!(effect("read_console", r#"{"action":null}"#), Effect::Read);
    assert_eq!(
        effect("read_console", r#"{"action":"clear"}"#),
        Effect::Write
    );
    // The server refuses an action where the tool has none.
    assert_eq!(
        effect("find_gameobjects", r#"{"action":"delete"}"#),
        Effect::Read
    );
    assert_eq!(
        effect("execute_menu_item", r#"{"action":"get"}"#),
        Effect::Destructive
    );
}

#[rustfmt::skip]
#[test]
fn an_argument_can_make_more_of_an_action() {
    use Effect::{Destructive, Read, Write};
    for (tool, arguments, wanted) in [
        ("manage_scene", r#"{"action":"validate"}"#, Read),
        ("manage_scene", r#"{"action":"validate","auto_repair":null}"#, Read),
        ("manage_scene", r#"{"action":"validate","auto_repair":false}"#, Read),
        ("manage_scene", r#"{"action":"validate","auto_repair":" No "}"#, Read),
        ("manage_scene", r#"{"action":"validate","auto_repair":0}"#, Read),
        ("manage_scene", r#"{"action":"validate","auto_repair":true}"#, Write),
        ("manage_scene", r#"{"action":"validate","auto_repair":"TRUE"}"#, Write),
        ("manage_scene", r#"{"action":"validate","auto_repair":1}"#, Write),
        ("manage_scene", r#"{"action":"validate","auto_repair":1.0}"#, Write),
        ("manage_scene", r#"{"action":"validate","auto_repair":"\u0074rue"}"#, Write),
        ("manage_scene", r#"{"action":"validate","auto_repair":[]}"#, Write),
        ("manage_scene", r#"{"action":"validate","auto_repair":false,"auto_repair":true}"#, Write),
        ("manage_scene", r#"{"action":"load","path":"a","additive":true}"#, Write),
        ("manage_scene", r#"{"action":"load","path":"a","additive":false}"#, Destructive),
        ("manage_scene", r#"{"action":"load","path":"a"}"#, Destructive),
        ("manage_scene", r#"{"action":"load","build_index":1,"additive":true}"#, Destructive),
        ("manage_scene", r#"{"action":"save"}"#, Write),
        ("manage_scene", r#"{"action":"save","path":"Assets/B.unity"}"#, Destructive),
        ("manage_build", r#"{"action":"settings","property":"version"}"#, Read),
        ("manage_build", r#"{"action":"settings","property":"defines","value":""}"#, Write),
        ("manage_build", r#"{"action":"platform"}"#, Read),
        ("manage_build", r#"{"action":"platform","target":"android"}"#, Write),
        ("manage_gameobject", r#"{"action":"create","name":"A"}"#, Write),
        ("manage_gameobject", r#"{"action":"create","save_as_prefab":false}"#, Write),
        ("manage_gameobject", r#"{"action":"create","save_as_prefab":"yes"}"#, Destructive),
        ("manage_gameobject", r#"{"action":"modify","components_to_remove":[ ]}"#, Write),
        ("manage_gameobject", r#"{"action":"modify","components_to_remove":"[]"}"#, Write),
        ("manage_gameobject", r#"{"action":"modify","components_to_remove":["A"]}"#, Destructive),
        ("manage_gameobject", r#"{"action":"modify","components_to_remove":"A"}"#, Destructive),
        ("manage_prefabs", r#"{"action":"modify_contents","delete_child":"A"}"#, Destructive),
        ("manage_prefabs", r#"{"action":"create_from_gameobject","allow_overwrite":true}"#, Destructive),
    ] {
        assert_eq!(effect(tool, arguments), wanted, "{tool} {arguments}");
    }
}

#[rustfmt::skip]
#[test]
fn a_batch_is_as_bad_as_its_worst_command() {
    use Effect::{Destructive, Read, Write};
    let search = r#"{"tool":"manage_asset","params":{"action":"search"}}"#;
    let find = r#"{"tool":"find_gameobjects","params":null}"#;
    for (commands, wanted) in [
        (format!("[{search},{find}]"), Read),
        (
            format!(r#"[{search},{{"tool":"manage_gameobject","params":{{"action":"Create"}}}}]"#),
            // Whether it saves a prefab is not looked at here.
            Destructive,
        ),
        (format!(r#"[{{"tool":"manage_material","params":{{"action":"create"}}}},{search}]"#), Write),
        (format!(r#"[{search},{{"tool":"manage_asset","params":{{"action":"delete"}}}}]"#), Destructive),
        (format!(r#"[{search},{{"tool":"manage_scene","params":{{"action":"validate"}}}}]"#), Write),
        (format!(r#"[{{"tool":"batch_execute","params":{{"commands":[{search}]}}}}]"#), Destructive),
        (
            r#"[{"tool":"manage_asset","params":{"action":"search","action_":"delete"}}]"#
                .to_owned(),
            Destructive,
        ),
        (
            r#"[{"tool":"manage_asset","params":{"action":"search","Action":"delete"}}]"#
                .to_owned(),
            Destructive,
        ),
        (r#"[{"tool":"manage_asset","params":"{}"}]"#.to_owned(), Destructive),
        (r#"[{"tool":1,"params":{}}]"#.to_owned(), Destructive),
        (format!("[{search},1]"), Destructive),
        ("[]".to_owned(), Destructive),
        (r#""[]""#.to_owned(), Destructive),
    ] {
        let arguments = format!(r#"{{"commands":{commands}}}"#);
        assert_eq!(effect("batch_execute", &arguments), wanted, "{commands}");
    }
    assert_eq!(effect("batch_execute", "{}"), Destructive);
}

#[test]
fn a_tool_can_destroy_when_one_of_its_calls_can() {
    for tool in [
        "manage_asset",
        "execute_menu_item",
        "batch_execute",
        "manage_scriptable_object",
        "unheard_of",
    ] {
        assert!(can_destroy(tool), "{tool}");
    }
    for tool in [
        "find_gameobjects",
        "unity_reflect",
        "refresh_unity",
        "manage_material",
        "set_active_instance",
    ] {
        assert!(!can_destroy(tool), "{tool}");
    }
    assert!(!actions("read_console").any(|action| action == ALONE));
}

#[test]
fn a_mode_is_known_by_its_name() {
    for (name, mode) in Mode::NAMES {
        assert_eq!(Mode::parse(name), Some(mode));
        assert_eq!(
            Mode::parse(&format!(" {}\n", name.to_uppercase())),
            Some(mode)
        );
        assert_eq!(mode.name(), name);
    }
    for name in ["", "readonly", "read-only", "none", "confirm,full"] {
        assert_eq!(Mode::parse(name), None, "{name}");
    }
}

fn in_environment(mode: &str) -> Config {
    Config::from_env([(MODE.into(), mode.into())])
}

#[test]
fn a_mode_that_does_not_exist_is_the_safe_one_and_reported() {
    for bad in ["readonly", "off", "full,confirm"] {
        let config = in_environment(bad);
        assert_eq!(config.mode, Mode::ReadOnly, "{bad}");
        let [problem] = &config.problems[..] else {
            panic!("{bad}: {:?}", config.problems);
        };
        let said = [MODE, bad, "read_only"];
        assert!(said.iter().all(|part| problem.contains(part)), "{problem}");
    }
    for (good, mode) in [
        ("", Mode::Full),
        (" ", Mode::Full),
        ("full", Mode::Full),
        (" Confirm ", Mode::Confirm),
        ("READ_ONLY", Mode::ReadOnly),
    ] {
        let config = in_environment(good);
        assert_eq!((config.mode, config.problems), (mode, Vec::new()), "{good}");
    }
}

#[test]
fn a_mode_whose_behaviour_is_off_is_reported() {
    let with = |mode: &str| {
        let set = |name: &str, value: &str| (name.into(), value.into());
        Config::from_env([set(MODE, mode), set(DISABLE, SAFETY_MODES)]).problems
    };
    let [problem] = &with("confirm")[..] else {
        panic!("{:?}", with("confirm"));
    };
    assert!(
        problem.contains("confirm") && problem.contains(DISABLE),
        "{problem}"
    );
    assert!(with("full").is_empty());
}
