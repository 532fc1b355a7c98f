//! Whether a scene went as it claims.

use super::scenes::Scene;
use super::stage::Side;
use crate::reply::META_KEY;
use serde::Serialize;
use serde_json::Value;

/// What is claimed to come of a call on one side.
#[derive(Clone, Debug, Default)]
pub(super) struct Claim {
    /// What the Editors got and did, in the account's words; empty when nothing arrives.
    pub(super) editor: &'static str,
    /// How the client is answered.
    pub(super) verdict: Verdict,
    /// Texts that stand in the answer. The last one is where the account goes on when it cannot show all.
    pub(super) told: &'static [&'static str],
}

/// How a client is answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Not at all.
    #[default]
    Silence,
    /// With an error, or with a payload that says so.
    Failure,
    /// With anything else.
    Success,
}

impl Verdict {
    /// The verdict of what arrived at the client.
    pub(super) fn of(told: &[Value]) -> Self {
        let [.., message] = told else {
            return Verdict::Silence;
        };
        let result = &message["result"];
        let payload = result["content"][0]["text"].as_str().unwrap_or_default();
        let payload: Value = serde_json::from_str(payload).unwrap_or_default();
        let failed = !message["error"].is_null() || result["isError"] == true;
        if failed || payload["success"] == false {
            Verdict::Failure
        } else {
            Verdict::Success
        }
    }
}

/// A claim, and whether it holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Check {
    pub(super) claim: String,
    pub(super) holds: bool,
}

/// Checks all that a scene claims.
pub(super) fn scene(scene: &Scene, without: &Side, with: &Side) -> Vec<Check> {
    let mut checks = side("without the proxy", &scene.without, without);
    checks.extend(side("with the proxy", &scene.with, with));
    let wanted: &[&str] = if scene.stated { &[scene.behavior] } else { &[] };
    checks.push(Check {
        claim: format!("the behaviours that state a fact: {wanted:?}"),
        holds: facts(&with.told) == wanted,
    });
    checks
}

fn side(name: &str, claim: &Claim, side: &Side) -> Vec<Check> {
    let check = |claim: String, holds: bool| Check {
        claim: format!("{name}: {claim}"),
        holds,
    };
    let (editor, verdict) = (claim.editor, claim.verdict);
    let answers = usize::from(verdict != Verdict::Silence);
    let mut checks = vec![
        check("what goes before succeeds".to_owned(), side.prepared),
        check(format!("the Editor: {editor:?}"), side.editor == editor),
        check(
            format!("the client is told: {verdict:?}"),
            side.told.len() == answers && Verdict::of(&side.told) == verdict,
        ),
    ];
    for text in claim.told {
        let holds = side.told.iter().any(|message| says(message, text));
        checks.push(check(format!("the answer has {text:?}"), holds));
    }
    checks
}

/// Whether a text stands in what a client reads of an answer.
fn says(message: &Value, text: &str) -> bool {
    let blocks = message["result"]["content"].as_array();
    let texts = blocks.into_iter().flatten();
    texts
        .filter_map(|block| block["text"].as_str())
        .any(|block| block.contains(text))
}

/// The behaviours that state a fact in these answers' `_meta`.
fn facts(told: &[Value]) -> Vec<&str> {
    let facts = told
        .iter()
        .filter_map(|message| message["result"]["_meta"][META_KEY].as_array());
    facts
        .flatten()
        .filter_map(|fact| fact["behavior"].as_str())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::demo::scenes;
    use serde_json::json;

    fn told(text: &str, failed: bool, behaviors: &[&str]) -> Vec<Value> {
        let facts: Vec<Value> = behaviors
            .iter()
            .map(|behavior| json!({ "behavior": behavior }))
            .collect();
        vec![json!({ "id": 2, "result": {
            "content": [{ "type": "text", "text": text }], "isError": failed,
            "_meta": { META_KEY: facts },
        }})]
    }

    fn a_side(editor: &str, told: Vec<Value>) -> Side {
        Side {
            editor: editor.to_owned(),
            prepared: true,
            told,
            ..Side::default()
        }
    }

    /// The claims about the move that do not hold.
    fn wrong(change: impl FnOnce(&mut Side, &mut Side)) -> Vec<String> {
        let all = scenes::all();
        let played = all
            .iter()
            .find(|scene| scene.behavior == "manage_asset_mutation_guard")
            .expect("the scene");
        let failed = r#"{"success":false,"error":"MoveAsset call failed unexpectedly"}"#;
        let refused = "It was not forwarded. Move and rename through execute_code.";
        let mut without = a_side(played.without.editor, told(failed, false, &[]));
        let mut with = a_side("", told(refused, true, &[played.behavior]));
        change(&mut without, &mut with);
        let checks = scene(played, &without, &with);
        assert!(checks.len() > 8, "{checks:?}");
        let wrong = checks.into_iter().filter(|check| !check.holds);
        wrong.map(|check| check.claim).collect()
    }

    #[test]
    fn what_is_as_claimed_earns_no_complaint() {
        assert_eq!(wrong(|_, _| {}), [] as [&str; 0]);
    }

    #[test]
    fn everything_else_does() {
        let success = r#"{"success":true,"note":"MoveAsset call failed unexpectedly"}"#;
        let one = |claims: Vec<String>, holds: &str| {
            assert_eq!(claims.len(), 1, "{claims:?}");
            assert!(claims[0].contains(holds), "{claims:?}");
        };
        one(wrong(|without, _| without.prepared = false), "goes before");
        one(wrong(|without, _| without.editor.clear()), "the Editor");
        one(
            wrong(|_, with| with.editor = "Alpha moved it".to_owned()),
            "with the proxy",
        );
        one(
            wrong(|without, _| without.told = told(success, false, &[])),
            "Failure",
        );
        one(wrong(|_, with| with.told.insert(0, json!({}))), "Failure");
        let text = "It was not forwarded. Move and rename through execute_code.";
        one(
            wrong(|_, with| with.told = told(text, true, &[])),
            "state a fact",
        );
        one(
            wrong(|_, with| with.told = told(text, true, &["a", "b"])),
            "state a fact",
        );
        let acted = ["manage_asset_mutation_guard"];
        one(
            wrong(|_, with| with.told = told("It was not forwarded.", true, &acted)),
            "Move and",
        );
        assert_eq!(wrong(|without, _| without.told.clear()).len(), 2);
    }

    #[test]
    fn a_verdict_is_read_off_the_answer() {
        for (message, verdict) in [
            (json!({ "error": { "message": "no" } }), Verdict::Failure),
            (json!({ "result": { "isError": true } }), Verdict::Failure),
            (
                json!({ "result": { "content": [{ "text": "{\"success\":false}" }] } }),
                Verdict::Failure,
            ),
            (
                json!({ "result": { "content": [{ "text": "{\"success\":true}" }] } }),
                Verdict::Success,
            ),
        ] {
            assert_eq!(
                Verdict::of(std::slice::from_ref(&message)),
                verdict,
                "{message}"
            );
        }
        assert_eq!(Verdict::of(&[]), Verdict::Silence);
    }
}
