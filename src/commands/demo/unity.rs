//! A simulated Unity Editor with MCP for Unity's bridge in it: as much of one as the demo's calls need.
//!
//! What it says are the bridge's words, and its faults are the bridge's faults (10.1.0).

use crate::csharp::prelude;
use serde_json::{Value, json};
use std::collections::HashMap;

/// What a snippet holds that the Editor's compiler never comes back from.
pub(super) const HANGS: &str = "Light.GetLights";
/// What a snippet holds that takes [`BAKE_S`].
const BAKE: &str = "Lightmapping.Bake()";
/// Seconds that a bake takes. Nobody waits for them.
pub(super) const BAKE_S: u32 = 35;
/// Every project's assets.
const ASSETS: [&str; 4] = [
    "Assets/Lamp.prefab",
    "Assets/Old/Tree.fbx",
    "Assets/Characters/Skin.mat",
    "Assets/Props/Wood.mat",
];
/// The console's entries.
const CONSOLE: [&str; 2] = [
    "Build failed with 2 errors:\nLamp.shader(12): undeclared identifier 'glow'\nSkin.mat: shader is missing",
    "Import of Assets/Old/Tree.fbx failed:\nthe file was written by a newer version",
];

/// An open project.
pub(super) struct Editor {
    assets: Vec<String>,
    /// The loaded scenes and whether they hold unsaved changes, the active one first.
    loaded: Vec<(&'static str, bool)>,
    /// `SessionState`, as far as the injected lines write it: how a snippet ended, by its key.
    records: HashMap<String, String>,
}

/// What came of a call.
pub(super) struct Done {
    /// What the Editor did, in the past tense.
    pub(super) did: String,
    /// Seconds that it would have taken.
    pub(super) takes_s: u32,
    /// The bridge's answer.
    pub(super) answer: Value,
}

impl Editor {
    pub(super) fn open() -> Self {
        Editor {
            assets: ASSETS.map(str::to_owned).to_vec(),
            loaded: vec![("Main", false), ("Lighting", true)],
            records: HashMap::new(),
        }
    }

    /// Does what a call asks for; `None` when it never ends.
    pub(super) fn run(&mut self, tool: &str, arguments: &Value) -> Option<Done> {
        let text = |key: &str| arguments[key].as_str().unwrap_or_default();
        let (did, answer) = match (tool, text("action")) {
            ("execute_code", _) => return self.snippet(text("code")),
            ("manage_asset", "delete") => self.delete(text("path")),
            ("manage_asset", "move") => self.relocate(text("path"), text("destination")),
            ("manage_asset", "search") => self.search(text("path")),
            ("manage_scene", "load") => self.load(text("path")),
            ("manage_gameobject", "create") => {
                let name = text("name");
                let says = format!("GameObject '{name}' created successfully in scene.");
                (format!("made a {name}"), success(&says, Value::Null))
            }
            ("read_console", _) => {
                let first = |entry: &&'static str| entry.lines().next();
                let firsts: Vec<&str> = CONSOLE.iter().filter_map(first).collect();
                let says = format!("Retrieved {} log entries.", firsts.len());
                let did = "read the first line of each entry".to_owned();
                (did, success(&says, json!(firsts)))
            }
            _ => ("did not know the call".to_owned(), failure("Unknown call")),
        };
        Some(Done {
            did,
            takes_s: 0,
            answer,
        })
    }

    fn delete(&mut self, path: &str) -> (String, Value) {
        let inside = format!("{path}/");
        let before = self.assets.len();
        self.assets.retain(|asset| !asset.starts_with(&inside));
        if self.assets.len() == before {
            let says = format!("Asset not found at path: {path}");
            return ("found nothing to delete".to_owned(), failure(&says));
        }
        let says = format!("Asset '{path}' deleted successfully.");
        (format!("deleted {path}"), success(&says, Value::Null))
    }

    /// The bridge throws away what `AssetDatabase.MoveAsset` returns, and then takes the move for failed.
    fn relocate(&mut self, from: &str, to: &str) -> (String, Value) {
        let Some(asset) = self.assets.iter_mut().find(|asset| *asset == from) else {
            let says = format!("Source asset not found at path: {from}");
            return ("found nothing to move".to_owned(), failure(&says));
        };
        to.clone_into(asset);
        let says = format!("MoveAsset call failed unexpectedly for '{from}' to '{to}'.");
        (format!("moved {from} to {to}"), failure(&says))
    }

    /// A search for materials. A folder that does not exist is dropped without a word.
    fn search(&self, folder: &str) -> (String, Value) {
        let inside = format!("{folder}/");
        let exists = self.assets.iter().any(|asset| asset.starts_with(&inside));
        let scope = if exists { &inside } else { "Assets/" };
        let found = self.assets.iter();
        let found = found.filter(|asset| asset.starts_with(scope) && asset.ends_with(".mat"));
        let hits: Vec<Value> = found
            .map(|path| json!({ "path": path, "assetType": "UnityEngine.Material", "isFolder": false }))
            .collect();
        let count = hits.len();
        let says = format!("Found {count} asset(s). Returning page 1 ({count} assets).");
        let data = json!({ "totalAssets": count, "pageSize": 50, "pageNumber": 1, "assets": hits });
        let did = format!("searched all of {}", scope.trim_end_matches('/'));
        (did, success(&says, data))
    }

    /// Opens a scene in place of all others. Only the active one is looked at for unsaved changes.
    fn load(&mut self, path: &str) -> (String, Value) {
        if self.loaded.first().is_some_and(|(_, dirty)| *dirty) {
            let says = "Current scene has unsaved changes. Please save or discard changes before \
                        loading a new scene.";
            return ("opened nothing".to_owned(), failure(says));
        }
        let mut closed = Vec::new();
        for (name, dirty) in self.loaded.drain(..) {
            let lost = if dirty {
                ", whose unsaved changes are lost"
            } else {
                ""
            };
            closed.push(format!("{name}{lost}"));
        }
        let says = format!("Scene '{path}' loaded successfully.");
        let did = format!("opened {path} and closed {}", closed.join(" and "));
        (did, success(&says, json!({ "path": path })))
    }

    /// Runs a snippet. A wrapped one runs once for its key, as the injected lines see to it in a real Editor.
    fn snippet(&mut self, code: &str) -> Option<Done> {
        if code.contains(HANGS) {
            return None;
        }
        let key = prelude::key_of(code).map(str::to_owned);
        let record = key.as_ref().and_then(|key| self.records.get(key));
        if let Some(record) = record {
            return Some(Done {
                did: "found it done and ran nothing".to_owned(),
                takes_s: 0,
                answer: value(&from_record(code, record)),
            });
        }
        let body = own_code(code);
        let made = between(body, "new GameObject(\"", "\"");
        let returned = between(body, "return \"", "\"").unwrap_or_default();
        let takes_s = if body.contains(BAKE) { BAKE_S } else { 0 };
        let mut did = format!("made a {}", made.unwrap_or("nothing"));
        if takes_s > 0 {
            did.push_str(&format!(" and baked for {takes_s} s"));
        }
        if let Some(key) = key {
            self.records.insert(key, format!("completed: {returned}"));
        }
        Some(Done {
            did,
            takes_s,
            answer: value(returned),
        })
    }
}

/// The caller's own lines in a wrapped snippet; all of any other.
fn own_code(code: &str) -> &str {
    between(code, "(()=>{{\n", "\n}return null;}));").unwrap_or(code)
}

/// What the injected lines return for a key with a record: their own text literals, put together as they do it.
fn from_record(code: &str, record: &str) -> String {
    let literals = |holds: &str| -> Vec<&str> {
        let line = code.lines().find(|line| line.contains(holds));
        line.unwrap_or_default()
            .split('"')
            .skip(1)
            .step_by(2)
            .collect()
    };
    let told = literals("SessionState.GetString(");
    let outcomes = literals(prelude::DUPLICATE_MARKER);
    match (told.as_slice(), outcomes.as_slice()) {
        ([_, _, told], [_, marker, .., succeeded, text, lead]) => {
            format!("{marker}{succeeded}{told}{text}{lead}{record}")
        }
        _ => String::new(),
    }
}

fn between<'t>(text: &'t str, start: &str, end: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(start)?;
    rest.split_once(end).map(|(inside, _)| inside)
}

fn value(returned: &str) -> Value {
    let data = json!({ "result": returned, "compiler": "roslyn" });
    success("Code executed successfully.", data)
}

fn success(message: &str, data: Value) -> Value {
    let mut answer = json!({ "success": true, "message": message });
    if !data.is_null() {
        answer["data"] = data;
    }
    answer
}

/// The bridge says the same text under two keys.
fn failure(text: &str) -> Value {
    json!({ "success": false, "code": text, "error": text })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAMP: &str = "new GameObject(\"Lamp\");\nLightmapping.Bake();\nreturn \"baked\";";

    fn run(editor: &mut Editor, code: &str) -> Done {
        editor
            .run(
                "execute_code",
                &json!({ "action": "execute", "code": code }),
            )
            .expect("an end")
    }

    #[test]
    fn a_snippet_runs_as_often_as_it_comes_and_a_wrapped_one_once_for_its_key() {
        let mut editor = Editor::open();
        for _ in 0..2 {
            let done = run(&mut editor, LAMP);
            assert_eq!(done.did, "made a Lamp and baked for 35 s");
            assert_eq!(done.answer["data"]["result"], "baked");
        }
        for key in ["one", "two"] {
            let code = prelude::idempotency(key).around(LAMP);
            let code = prelude::venue("C:/Unity/Alpha/Assets", Some(key)).around(&code);
            assert_eq!(run(&mut editor, &code).takes_s, BAKE_S);
            let again = run(&mut editor, &code);
            assert_eq!(again.takes_s, 0);
            let result = again.answer["data"]["result"].as_str().expect("a text");
            let start = format!("{} succeeded: ", prelude::DUPLICATE_MARKER);
            assert!(result.starts_with(&start), "{result}");
            assert!(result.ends_with(": baked"), "{result}");
        }
    }

    #[test]
    fn a_move_lands_once_and_a_scene_with_unsaved_changes_is_looked_at_when_active_only() {
        let mut editor = Editor::open();
        let moving = json!({ "action": "move", "path": "Assets/Lamp.prefab", "destination": "Assets/A.prefab" });
        let words = |done: Option<Done>| done.expect("an end").answer["error"].clone();
        let told = words(editor.run("manage_asset", &moving));
        assert!(
            told.as_str()
                .is_some_and(|t| t.contains("failed unexpectedly"))
        );
        let told = words(editor.run("manage_asset", &moving));
        assert!(told.as_str().is_some_and(|t| t.contains("not found")));
        let loading = json!({ "action": "load", "path": "Assets/Menu.unity" });
        editor.loaded.reverse();
        let told = words(editor.run("manage_scene", &loading));
        assert!(told.as_str().is_some_and(|t| t.contains("unsaved")));
        editor.loaded.reverse();
        let done = editor.run("manage_scene", &loading).expect("an end");
        assert!(
            done.did
                .contains("Lighting, whose unsaved changes are lost")
        );
    }
}
