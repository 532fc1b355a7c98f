//! Whether a scene went as it claims.

use super::scenes::{Here, Scene, There};
use crate::reply::META_KEY;
use serde_json::Value;

/// Adds what is not as `scene` claims of the server.
pub(super) fn server(scene: &Scene, sent: &str, got: &[String], not_as_told: &mut Vec<String>) {
    let there = match got {
        [] => There::Nothing,
        [line] if line == sent => There::Same,
        _ => There::Changed,
    };
    if there != scene.there || got.len() > 1 {
        not_as_told.push(format!(
            "the server should have got {:?}, and got {there:?} in {} lines",
            scene.there,
            got.len()
        ));
    }
    lacking("what the server got", got, scene.there_holds, not_as_told);
}

/// Adds what is not as `scene` claims of the client.
pub(super) fn client(
    scene: &Scene,
    said: &[String],
    told: &[String],
    not_as_told: &mut Vec<String>,
) {
    let [line] = told else {
        not_as_told.push(format!("the client was told {} lines, not one", told.len()));
        return;
    };
    let message: Value = serde_json::from_str(line).unwrap_or_default();
    let result = &message["result"];
    let fits = match scene.here {
        Here::Same => told == only_messages(said),
        Here::More => !said.is_empty() && told != only_messages(said),
        Here::Tools(count) => result["tools"].as_array().map(Vec::len) == Some(count),
        Here::Refusal => result["isError"] == true && said.is_empty(),
    };
    if !fits {
        not_as_told.push(format!("the client should have been told {:?}", scene.here));
    }
    lacking(
        "what the client was told",
        told,
        scene.here_holds,
        not_as_told,
    );
    let facts = result["_meta"][META_KEY]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let stated: Vec<&str> = facts
        .iter()
        .filter_map(|fact| fact["behavior"].as_str())
        .collect();
    if stated != scene.behaviors {
        not_as_told.push(format!(
            "{:?} should have acted, and {stated:?} did",
            scene.behaviors
        ));
    }
}

fn lacking(what: &str, lines: &[String], parts: &[&str], not_as_told: &mut Vec<String>) {
    for part in parts {
        // As JSON holds it.
        let quoted = part.replace('"', "\\\"");
        let holds = |line: &String| line.contains(part) || line.contains(&quoted);
        if !lines.iter().any(holds) {
            not_as_told.push(format!("{what} lacks {part:?}"));
        }
    }
}

/// Lines that are JSON objects.
pub(super) fn only_messages(lines: &[String]) -> Vec<String> {
    lines
        .iter()
        .filter(|line| line.starts_with('{'))
        .cloned()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::demo::scenes;

    /// What the scene with this part of a title says of these lines.
    fn complaints(title: &str, got: &[&str], said: &[&str], told: &[&str]) -> Vec<String> {
        let lines = |lines: &[&str]| lines.iter().map(ToString::to_string).collect::<Vec<_>>();
        let all = scenes::all().expect("scenes");
        let scene = all
            .iter()
            .find(|scene| scene.title.contains(title))
            .expect("the scene");
        let mut not_as_told = Vec::new();
        server(scene, "{sent}", &lines(got), &mut not_as_told);
        client(scene, &lines(said), &lines(told), &mut not_as_told);
        not_as_told
    }

    const BANNER: &str = "Text that is no message";
    const NOTE: &str = "A time-out";
    const TIMEOUT: &str =
        r#"{"result":{"isError":true,"content":["Timeout receiving Unity response"]}}"#;
    const NOTED: &str = r#"{"result":{"isError":true,"content":["Timeout receiving Unity response","verify"],
        "_meta":{"vrc-mcp-proxy":[{"behavior":"timeout_notes"}]}}}"#;

    #[test]
    fn what_is_as_claimed_earns_no_complaint() {
        let none: [&str; 0] = [];
        assert_eq!(
            complaints(BANNER, &["{sent}"], &["text", "{}"], &["{}"]),
            none
        );
        assert_eq!(complaints(NOTE, &["{sent}"], &[TIMEOUT], &[NOTED]), none);
    }

    #[test]
    fn everything_else_does() {
        for (title, got, said, told) in [
            // Not forwarded, forwarded otherwise, forwarded twice.
            (BANNER, &[][..], &["{}"][..], &["{}"][..]),
            (BANNER, &["{other}"], &["{}"], &["{}"]),
            (BANNER, &["{sent}", "{sent}"], &["{}"], &["{}"]),
            // The text reached the client, the answer did not, it came twice, it came otherwise.
            (BANNER, &["{sent}"], &["text", "{}"], &["text", "{}"]),
            (BANNER, &["{sent}"], &["{}"], &[]),
            (BANNER, &["{sent}"], &["{}"], &["{}", "{}"]),
            (BANNER, &["{sent}"], &["{}"], &["{ }"]),
            // No note; a note of somebody else's; a refusal where the server's words should stand.
            (NOTE, &["{sent}"], &[TIMEOUT], &[TIMEOUT]),
            (
                NOTE,
                &["{sent}"],
                &[TIMEOUT],
                &[r#"{"verify":"Timeout receiving Unity response"}"#],
            ),
            (NOTE, &["{sent}"], &[TIMEOUT], &["{}"]),
            (NOTE, &["{sent}"], &[], &[NOTED]),
        ] {
            assert!(
                !complaints(title, got, said, told).is_empty(),
                "{got:?} {said:?} {told:?}"
            );
        }
    }
}
