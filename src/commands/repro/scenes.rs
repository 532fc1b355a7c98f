//! Scenes, objects in them, and the console.

use super::faults::Finding;
use super::stand::Stand;
use crate::commands::Failure;
use crate::csharp::literal::string_literal;
use serde_json::{Value, json};

/// An entry of two lines, read back.
pub(super) fn console_truncation(stand: &mut Stand) -> Result<Finding, Failure> {
    let (first, second) = (
        format!("first{}", stand.word()),
        format!("second{}", stand.word()),
    );
    let text = string_literal(&format!("{first}\n{second}"));
    stand.value(&format!(
        "UnityEngine.Debug.LogWarning({text}); return null;"
    ))?;
    let call = json!({ "action": "get", "types": ["warning"], "filter_text": first, "count": 5 });
    let answer = stand.call("read_console", &call)?;
    let shows = |word: &str| answer.text().contains(word);
    Ok(match (shows(&first), shows(&second)) {
        (true, false) => Finding::still_there("an entry of two lines came back with one"),
        (true, true) => Finding::gone("an entry of two lines came back whole"),
        (false, _) => {
            Finding::not_told(format!("the entry did not come back: {}", answer.quoted()))
        }
    })
}

/// A loaded scene: its path and whether it has unsaved changes.
type Loaded = (String, bool);

/// A scene with unsaved changes is open beside the others while another one is created, then loaded.
pub(super) fn single_mode_discard(stand: &mut Stand) -> Result<Finding, Failure> {
    let before = loaded(stand)?;
    if before.is_empty() {
        return Ok(Finding::not_told("the Editor names no loaded scene"));
    }
    if let Some((path, _)) = before
        .iter()
        .find(|(path, dirty)| *dirty || path.is_empty())
    {
        let what = if path.is_empty() {
            "an untitled scene is open"
        } else {
            "a scene has unsaved changes"
        };
        return Ok(Finding::not_told(format!(
            "{what} in the Editor, which the measurement would lose; nothing was tried. Save it and open one from a \
             file, then measure again"
        )));
    }
    let measured = discards(stand, &before);
    let restored = reopen(stand, &before);
    let finding = measured?;
    restored?;
    Ok(finding)
}

fn discards(stand: &mut Stand, before: &[Loaded]) -> Result<Finding, Failure> {
    let (other, unsaved) = (stand.asset("Other.unity"), stand.asset("Unsaved.unity"));
    for path in [&other, &unsaved] {
        let path = string_literal(path);
        stand.value(&format!(
            "{MANAGER}.SaveScene({MANAGER}.NewScene({SCENES}.NewSceneSetup.EmptyScene, {SCENES}.NewSceneMode.Additive), \
             {path}); return null;"
        ))?;
    }
    let folder = stand.asset("");
    let create = json!({ "action": "create", "name": "Created", "path": folder });
    let load = json!({ "action": "load", "name": "Other", "path": folder });
    let (mut seen, mut discarded) = (Vec::new(), false);
    for (what, call) in [("create", create), ("load", load)] {
        reopen(stand, before)?;
        // Opened beside the active scene, which stays the active one.
        let path = string_literal(&unsaved);
        stand.value(&format!(
            "{MANAGER}.MarkSceneDirty({MANAGER}.OpenScene({path}, {SCENES}.OpenSceneMode.Additive)); return null;"
        ))?;
        if !loaded(stand)?.contains(&(unsaved.clone(), true)) {
            return Ok(Finding::not_told(
                "no scene with unsaved changes could be made",
            ));
        }
        let answer = stand.call("manage_scene", &call)?;
        if loaded(stand)?.iter().any(|(path, _)| *path == unsaved) {
            seen.push(format!("{what} kept it ({})", answer.quoted()));
        } else {
            discarded = true;
            seen.push(format!("{what} closed it"));
        }
    }
    let seen = format!(
        "beside the active scene one with unsaved changes: {}",
        seen.join(", ")
    );
    Ok(if discarded {
        Finding::still_there(seen)
    } else {
        Finding::gone(seen)
    })
}

const SCENES: &str = "UnityEditor.SceneManagement";
const MANAGER: &str = "UnityEditor.SceneManagement.EditorSceneManager";

/// Opens these scenes and no others, the first as the active one.
fn reopen(stand: &mut Stand, scenes: &[Loaded]) -> Result<(), Failure> {
    let mut code = String::new();
    for (at, (path, _)) in scenes.iter().enumerate() {
        let mode = if at == 0 { "Single" } else { "Additive" };
        let path = string_literal(path);
        code.push_str(&format!(
            "{MANAGER}.OpenScene({path}, {SCENES}.OpenSceneMode.{mode});\n"
        ));
    }
    stand.value(&(code + "return null;")).map(drop)
}

/// The loaded scenes, the active one first.
fn loaded(stand: &mut Stand) -> Result<Vec<Loaded>, Failure> {
    let call = json!({ "action": "get_loaded_scenes" });
    let payload = stand.call("manage_scene", &call)?.payload();
    let scenes = payload["data"]["scenes"].as_array();
    let mut scenes = scenes.cloned().unwrap_or_default();
    scenes.sort_by_key(|scene| scene["isActive"] != true);
    let scene = |scene: &Value| {
        let path = scene["path"].as_str().unwrap_or_default().to_owned();
        (path, scene["isDirty"] == true)
    };
    Ok(scenes.iter().map(scene).collect())
}

/// An object with a child, asked for under an argument that the action does not read.
pub(super) fn ignored_scene_arguments(stand: &mut Stand) -> Result<Finding, Failure> {
    with_objects(stand, |stand, parent, child| {
        let ask = |argument: &str| json!({ "action": "get_hierarchy", argument: parent, "page_size": 500 });
        let read = stand.call("manage_scene", &ask("parent"))?;
        if !read.succeeded() || !read.text().contains(child) {
            let told = read.quoted();
            return Ok(Finding::not_told(format!(
                "not even parent was read: {told}"
            )));
        }
        let ignored = stand.call("manage_scene", &ask("target"))?;
        let (text, told) = (ignored.text(), ignored.quoted());
        Ok(if !ignored.succeeded() {
            Finding::gone(format!("target was not taken without a word: {told}"))
        } else if text.contains(child) && !roots(&ignored.payload()) {
            Finding::gone("target was read: it gave the object's children")
        } else if roots(&ignored.payload()) {
            Finding::still_there("target gave the list of all roots, as if it had not been there")
        } else {
            Finding::not_told(format!(
                "target gave neither the children nor the roots: {told}"
            ))
        })
    })
}

fn roots(payload: &Value) -> bool {
    payload["data"]["scope"] == "roots"
}

/// An inactive object, looked for as an active one is found.
pub(super) fn inactive_lookup(stand: &mut Stand) -> Result<Finding, Failure> {
    with_objects(stand, |stand, parent, child| {
        let ask = |target: &str| json!({ "action": "modify", "target": target, "search_method": "by_name" });
        let control = stand.call("manage_gameobject", &ask(parent))?;
        if !control.succeeded() {
            let told = control.quoted();
            return Ok(Finding::not_told(format!(
                "not even an active one was found: {told}"
            )));
        }
        let inactive = stand.call("manage_gameobject", &ask(child))?;
        Ok(if inactive.succeeded() {
            Finding::gone("the inactive object was found")
        } else if inactive.text().contains("not found") {
            Finding::still_there("an active object was found, an inactive one beside it was not")
        } else {
            Finding::not_told(format!(
                "the lookup was answered with {}",
                inactive.quoted()
            ))
        })
    })
}

/// Makes an object with an inactive child for as long as `measure` takes, which gets the names of both.
fn with_objects(
    stand: &mut Stand,
    measure: impl FnOnce(&mut Stand, &str, &str) -> Result<Finding, Failure>,
) -> Result<Finding, Failure> {
    let (parent, child) = (
        format!("Parent{}", stand.word()),
        format!("Child{}", stand.word()),
    );
    let (parent_literal, child_literal) = (string_literal(&parent), string_literal(&child));
    stand.value(&format!(
        "var parent = new UnityEngine.GameObject({parent_literal});
var child = new UnityEngine.GameObject({child_literal});
child.transform.SetParent(parent.transform);
child.SetActive(false);
return null;"
    ))?;
    let measured = measure(stand, &parent, &child);
    let removed = stand.value(&format!(
        "UnityEngine.Object.DestroyImmediate(UnityEngine.GameObject.Find({parent_literal})); return null;"
    ));
    let finding = measured?;
    removed?;
    Ok(finding)
}
