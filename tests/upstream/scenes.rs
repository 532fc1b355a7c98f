//! Scenes, the objects in them and the console, as far as the tests go. What is there is asked of the script domain.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::assets::asset_path;
use super::tools::{failure, success, text};

/// Runs a snippet in the script domain and hands out its value.
pub type Look<'a> = &'a mut dyn FnMut(&str) -> Result<Value, String>;

const MANAGER: &str = "UnityEditor.SceneManagement.EditorSceneManager";
const SCENES: &str = "UnityEditor.SceneManagement";
const LOADED: &str = "UnityEngine.SceneManagement.SceneManager.Loaded";
const ROOTS: &str =
    "UnityEngine.SceneManagement.SceneManager.GetActiveScene().GetRootGameObjects()";

/// A JSON string is a C# one as long as it holds no more than the tests put there.
fn quoted(text: &str) -> String {
    json!(text).to_string()
}

/// `manage_scene`. Its faults, unless it is `mended`: it closes scenes with unsaved changes, looking at the active one
/// alone (`load`) or at none (`create`), and reads no `target` for a hierarchy.
pub fn manage_scene(
    root: &Path,
    params: &Value,
    mended: bool,
    look: Look<'_>,
) -> Result<Value, String> {
    let action = text(params, "action");
    Ok(match action {
        "create" | "load" => open_scene(root, params, mended, look)?,
        "get_active" => success(
            "Retrieved active scene information.",
            loaded(look)?[0].clone(),
        ),
        "get_loaded_scenes" => {
            let scenes = loaded(look)?;
            success(
                format!("{} scene(s) loaded.", scenes.len()),
                json!({"scenes": scenes}),
            )
        }
        "get_hierarchy" => {
            let target = if mended {
                params["target"].as_str()
            } else {
                None
            };
            hierarchy(params["parent"].as_str().or(target), look)?
        }
        _ => failure(format!(
            "This Editor has no manage_scene action '{action}'."
        )),
    })
}

fn open_scene(root: &Path, params: &Value, mended: bool, look: Look<'_>) -> Result<Value, String> {
    let (name, given) = (text(params, "name"), text(params, "path"));
    let path = match (name, given) {
        ("", file) => asset_path(file),
        (name, "") => format!("Assets/Scenes/{name}.unity"),
        (name, folder) => asset_path(&format!("{folder}/{name}.unity")),
    };
    let creates = text(params, "action") == "create";
    if root.join(&path).exists() == creates {
        let wrong = if creates {
            "Scene already exists at"
        } else {
            "Scene file not found at"
        };
        return Ok(failure(format!("{wrong} '{path}'.")));
    }
    let concern = match (mended, creates) {
        (true, _) => format!("{LOADED}.Any(scene => scene.isDirty)"),
        (false, false) => format!("{LOADED}[0].isDirty"),
        (false, true) => "false".to_owned(),
    };
    if look(&format!("return {concern};"))? == true {
        return Ok(failure("Current scene has unsaved changes."));
    }
    if creates {
        fs::write(root.join(&path), "%YAML 1.1\n").unwrap();
    }
    let file = quoted(&path);
    look(&format!(
        "{MANAGER}.OpenScene({file}, {SCENES}.OpenSceneMode.Single); return null;"
    ))?;
    let done = if creates {
        "created successfully at"
    } else {
        "loaded from"
    };
    let data = json!({"path": path});
    Ok(success(
        format!("Scene '{name}.unity' {done} '{path}'."),
        data,
    ))
}

fn loaded(look: Look<'_>) -> Result<Vec<Value>, String> {
    let all = look(&format!(
        "return {LOADED}.Select(scene => new object[] {{ scene.path, scene.isDirty }}).ToArray();"
    ))?;
    let scene = |(at, scene): (usize, &Value)| {
        let path = scene[0].as_str().unwrap_or_default();
        let name = path
            .rsplit('/')
            .next()
            .unwrap_or_default()
            .trim_end_matches(".unity");
        json!({
            "name": name, "path": path, "buildIndex": -1, "isLoaded": true, "isDirty": scene[1],
            "isActive": at == 0, "rootCount": 0,
        })
    };
    Ok(all
        .as_array()
        .unwrap()
        .iter()
        .enumerate()
        .map(scene)
        .collect())
}

fn hierarchy(parent: Option<&str>, look: Look<'_>) -> Result<Value, String> {
    let names = match parent {
        None => look(&format!(
            "return {ROOTS}.Select(root => root.name).ToArray();"
        ))?,
        Some(parent) => look(&format!(
            "var parent = GameObject.Find({}); if (parent == null) return null;
             return Enumerable.Range(0, parent.transform.childCount)
                 .Select(i => parent.transform.GetChild(i).gameObject.name).ToArray();",
            quoted(parent)
        ))?,
    };
    let Some(names) = names.as_array() else {
        let parent = parent.unwrap_or_default();
        return Ok(failure(format!(
            "Parent GameObject ('{parent}') not found."
        )));
    };
    let items: Vec<Value> = names.iter().map(|name| json!({"name": name})).collect();
    let scope = if parent.is_some() {
        "children"
    } else {
        "roots"
    };
    Ok(success(
        "Retrieved hierarchy page for scene 'SampleScene'.",
        json!({"scope": scope, "total": items.len(), "items": items}),
    ))
}

/// `manage_gameobject`: lookups only. Its fault, unless it is `mended`: it finds no inactive object.
pub fn manage_gameobject(params: &Value, mended: bool, look: Look<'_>) -> Result<Value, String> {
    let target = &params["target"];
    let target = target
        .as_str()
        .map_or_else(|| target.to_string(), str::to_owned);
    let action = text(params, "action");
    let name = quoted(&target);
    let found = if mended {
        format!("{ROOTS}.Any(root => root.name == {name} || root.transform.Find({name}) != null)")
    } else {
        format!("GameObject.Find({name}) != null")
    };
    if look(&format!("return {found};"))? != true {
        let method = params["searchMethod"].as_str().unwrap_or("default");
        let many = if action == "delete" { "(s)" } else { "" };
        return Ok(failure(format!(
            "Target GameObject{many} ('{target}') not found using method '{method}'."
        )));
    }
    Ok(match action {
        "modify" => success(
            format!("No modifications applied to GameObject '{target}'."),
            json!({"name": target}),
        ),
        _ => failure(format!(
            "This Editor has no manage_gameobject action '{action}'."
        )),
    })
}

/// `read_console`: the entries, the last ones first. Its fault, unless it is `mended`: of each the first line.
pub fn read_console(params: &Value, mended: bool, look: Look<'_>) -> Result<Value, String> {
    let entries = look("return Debug.Written.ToArray();")?;
    let filter = text(params, "filterText").to_lowercase();
    let entries = entries
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str);
    let shown: Vec<&str> = entries
        .filter(|entry| entry.to_lowercase().contains(&filter))
        .map(|entry| {
            if mended {
                entry
            } else {
                entry.lines().next().unwrap_or_default()
            }
        })
        .collect();
    Ok(success(
        format!("Retrieved {} log entries.", shown.len()),
        json!(shown),
    ))
}
