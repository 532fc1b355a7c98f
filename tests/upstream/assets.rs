//! Assets and scenes, on the project's real files; `.meta` files hold the GUIDs, as in Unity.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::state::stamp;
use super::tools::{failure, success, text};

/// What a file is by its extension: the types that the tests filter for.
const TYPES: [(&str, &str); 5] = [
    ("unity", "SceneAsset"),
    ("prefab", "GameObject"),
    ("mat", "Material"),
    ("cs", "MonoScript"),
    ("txt", "TextAsset"),
];

/// The smallest file that counts as a PNG here: the signature, and no picture.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

/// The bridge's rule for asset paths: everything lies under Assets; `..` makes no path at all.
pub fn asset_path(given: &str) -> String {
    let path = given.replace('\\', "/");
    let lower = path.to_lowercase();
    if path.is_empty() || path.contains("..") {
        String::new()
    } else if lower == "assets" {
        "Assets".to_owned()
    } else if lower.starts_with("assets/") {
        path
    } else {
        format!("Assets/{}", path.trim_start_matches('/'))
    }
}

fn meta(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".meta");
    PathBuf::from(name)
}

/// The asset's GUID, made up when it has none yet.
fn guid(file: &Path) -> String {
    let meta = meta(file);
    if let Ok(known) = fs::read_to_string(&meta) {
        return known
            .lines()
            .find_map(|line| line.strip_prefix("guid: "))
            .unwrap()
            .to_owned();
    }
    let fresh = uuid::Uuid::new_v4().simple().to_string();
    fs::write(meta, format!("fileFormatVersion: 2\nguid: {fresh}\n")).unwrap();
    fresh
}

fn asset_type(file: &Path) -> &'static str {
    let extension = file.extension().unwrap_or_default();
    TYPES
        .iter()
        .find(|(known, _)| extension == *known)
        .map_or("DefaultAsset", |(_, kind)| kind)
}

fn describe(root: &Path, path: &str) -> Value {
    let file = root.join(path);
    json!({
        "path": path, "guid": guid(&file), "assetType": asset_type(&file),
        "name": file.file_stem().unwrap().to_str(), "fileName": file.file_name().unwrap().to_str(),
        "isFolder": file.is_dir(), "instanceID": 0, "lastWriteTimeUtc": stamp(),
        "previewBase64": null, "previewWidth": 0, "previewHeight": 0,
    })
}

/// Every asset below `folder`, in the order of their paths.
fn below(root: &Path, folder: &str, found: &mut Vec<String>) {
    let mut names: Vec<String> = fs::read_dir(root.join(folder))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    for path in names
        .iter()
        .filter(|name| !name.ends_with(".meta"))
        .map(|name| format!("{folder}/{name}"))
    {
        found.push(path.clone());
        if root.join(&path).is_dir() {
            below(root, &path, found);
        }
    }
}

/// `t:` terms go by type; all others must stand in the name *without* its extension.
fn matches(root: &Path, path: &str, terms: &[String], mended: bool) -> bool {
    let file = root.join(path);
    let name = if mended {
        file.file_name()
    } else {
        file.file_stem()
    };
    let name = name.unwrap().to_str().unwrap().to_lowercase();
    let kind = asset_type(&file).to_lowercase();
    terms.iter().all(|term| match term.strip_prefix("t:") {
        Some(wanted) => {
            kind == wanted || kind == format!("{wanted}asset") || kind == format!("mono{wanted}")
        }
        None => name.contains(term.as_str()),
    })
}

/// `manage_asset`, with its faults unless it is `mended`.
pub fn manage(root: &Path, params: &Value, mended: bool) -> Value {
    let action = text(params, "action").to_lowercase();
    let path = asset_path(text(params, "path"));
    if action == "search" {
        return search(root, &path, params, mended);
    }
    if path.is_empty() {
        return failure(format!("'path' is required for {action}."));
    }
    let file = root.join(&path);
    match action.as_str() {
        "move" | "rename" => {
            let given = text(params, "destination");
            let to = match path.rsplit_once('/') {
                Some((folder, _)) if mended && !given.contains('/') => format!("{folder}/{given}"),
                _ => asset_path(given),
            };
            let moved = relocate(root, &path, &to);
            let landed = mended && root.join(&to).exists() && !file.exists();
            if landed {
                success(format!("Moved to '{to}'."), describe(root, &to))
            } else {
                moved
            }
        }
        "create_folder" => {
            let known = file.exists();
            fs::create_dir_all(&file).unwrap();
            let how = if known {
                "already exists at path: "
            } else {
                "created successfully: "
            };
            success(format!("Folder {how}{path}"), describe(root, &path))
        }
        _ if !file.exists() => failure(format!("Asset not found at path: {path}")),
        "delete" => {
            if file.is_dir() {
                fs::remove_dir_all(&file)
            } else {
                fs::remove_file(&file)
            }
            .unwrap();
            let _ = fs::remove_file(meta(&file));
            success(format!("Asset '{path}' deleted successfully."), Value::Null)
        }
        "get_info" => success("Asset info retrieved.", describe(root, &path)),
        _ => failure(format!(
            "This Editor has no manage_asset action '{action}'."
        )),
    }
}

/// The scope fault: what is no folder is dropped without a word, and the whole project searched.
fn search(root: &Path, path: &str, params: &Value, mended: bool) -> Value {
    if mended && !root.join(path).is_dir() {
        return failure(format!("Folder not found: '{path}'."));
    }
    let scope = if root.join(path).is_dir() && !path.is_empty() {
        path
    } else {
        "Assets"
    };
    let mut terms: Vec<String> = text(params, "searchPattern")
        .split(|c: char| c.is_whitespace() || c == '*')
        .filter(|term| !term.is_empty())
        .map(str::to_lowercase)
        .collect();
    if let Some(kind) = params["filterType"].as_str() {
        terms.push(format!("t:{}", kind.to_lowercase()));
    }
    let mut all = Vec::new();
    below(root, scope, &mut all);
    all.retain(|found| matches(root, found, &terms, mended));
    let number = |key, default| {
        params[key]
            .as_u64()
            .and_then(|value| usize::try_from(value).ok())
            .unwrap_or(default)
    };
    let (size, page) = (number("pageSize", 50), number("pageNumber", 1));
    let shown: Vec<Value> = all
        .iter()
        .skip((page - 1) * size)
        .take(size)
        .map(|found| describe(root, found))
        .collect();
    success(
        format!(
            "Found {} asset(s). Returning page {page} ({} assets).",
            all.len(),
            shown.len()
        ),
        json!({"totalAssets": all.len(), "pageSize": size, "pageNumber": page, "assets": shown}),
    )
}

/// The move fault: what `AssetDatabase.MoveAsset` returned is thrown away, and a move that landed reported as failed.
fn relocate(root: &Path, from: &str, to: &str) -> Value {
    let (source, target) = (root.join(from), root.join(to));
    if to.is_empty() {
        return failure("'destination' path is required for move/rename.");
    }
    if !source.exists() {
        return failure(format!("Source asset not found at path: {from}"));
    }
    if target.exists() {
        return failure(format!(
            "An asset already exists at the destination path: {to}"
        ));
    }
    fs::create_dir_all(target.parent().unwrap()).unwrap();
    guid(&source);
    fs::rename(meta(&source), meta(&target)).unwrap();
    fs::rename(source, target).unwrap();
    failure(format!(
        "MoveAsset call failed unexpectedly for '{from}' to '{to}'."
    ))
}

/// `manage_camera screenshot`: a file in the folder asked for, which defaults to one among the assets.
pub fn screenshot(root: &Path, params: &Value) -> Value {
    if text(params, "action") != "screenshot" {
        return failure(format!(
            "This Editor has no manage_camera action '{}'.",
            text(params, "action")
        ));
    }
    let folder = params["outputFolder"]
        .as_str()
        .unwrap_or("Assets/Screenshots")
        .trim_end_matches('/');
    let name = params["fileName"].as_str().map_or_else(
        || format!("screenshot-{}", uuid::Uuid::new_v4().simple()),
        str::to_owned,
    );
    let path = format!("{folder}/{}.png", name.trim_end_matches(".png"));
    fs::create_dir_all(root.join(folder)).unwrap();
    fs::write(root.join(&path), PNG).unwrap();
    success(
        format!("Screenshot requested to '{path}'."),
        json!({"path": path, "fullPath": root.join(&path), "superSize": 1, "isAsync": true}),
    )
}
