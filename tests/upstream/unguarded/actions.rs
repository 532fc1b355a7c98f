//! The actions of the tools whose schema does not list them: the server names them when it is asked for another one.

use std::collections::BTreeSet;

use vrc_mcp_proxy::safety::actions;

use super::*;

scenarios![every_action_that_the_server_names_is_classed];

/// The tools, each with what makes it name its actions.
const ASKED: [(&str, &[&str]); 10] = [
    (
        "manage_animation",
        &["animator_?", "controller_?", "clip_?"],
    ),
    ("manage_build", &["?"]),
    ("manage_camera", &["?"]),
    ("manage_graphics", &["?"]),
    ("manage_packages", &["?"]),
    ("manage_probuilder", &["?"]),
    ("manage_profiler", &["?"]),
    ("manage_vfx", &["particle_?", "vfx_?", "line_?", "trail_?"]),
    ("unity_docs", &["?"]),
    ("unity_reflect", &["?"]),
];

/// Two tools do not name the action that asks whether anybody is there.
const UNNAMED: &str = "ping";

fn every_action_that_the_server_names_is_classed(home: &Home) {
    let mut client = starting(|| Client::start(home, &Launch::direct()));
    for (tool, asked) in ASKED {
        let mut named = BTreeSet::new();
        for action in asked {
            let answer = client.call_once(tool, &json!({"action": action}));
            let text = answer.payload()["message"]
                .as_str()
                .unwrap_or_default()
                .to_owned();
            assert!(text.contains("Unknown action"), "{tool}: {}", answer.text());
            let words = text.split([',', ';', ':', '.']).map(str::trim);
            named.extend(words.filter(|word| is_name(word)).map(str::to_owned));
        }
        named.insert(UNNAMED.to_owned());
        let mut classed: BTreeSet<String> = actions(tool).map(str::to_owned).collect();
        classed.insert(UNNAMED.to_owned());
        assert_eq!(named, classed, "{tool}");
    }
}

fn is_name(word: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    !word.is_empty() && word.chars().all(plain)
}
