//! The heartbeat folder: one row for each Editor, and the files that say nothing.

use super::Scene;
use super::finding::{Report, Section, Severity, count};
use crate::instances::folder::MAX_BYTES;
use crate::instances::{Editor, LIVE_WINDOW};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

const SECTION: Section = Section::Editors;

pub(super) fn examine(scene: &Scene, report: &mut Report) {
    let Some(folder) = &scene.folder else {
        report
            .add(
                SECTION,
                Severity::Problem,
                "no_home",
                "there is no home folder, and UNITY_MCP_STATUS_DIR names no heartbeat folder",
            )
            .cure("set UNITY_MCP_STATUS_DIR, for the Editor as well");
        return;
    };
    for editor in &scene.editors {
        report.editors.push(row(editor, scene.now_ms));
    }
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => return unreadable(folder, &error, report),
    };
    let names = entries.flatten().map(|entry| entry.path());
    let mut files: Vec<_> = names.filter(|path| is_heartbeat(path)).collect();
    files.sort();
    let known = |path: &&PathBuf| scene.editors.iter().any(|editor| editor.file == **path);
    for file in files.iter().filter(|path| !known(path)) {
        unusable(file, report);
    }
    let (number, live) = (count(files.len(), "heartbeat file"), scene.live().len());
    report
        .add(
            SECTION,
            Severity::Info,
            "heartbeat_folder",
            format!("{}: {number}, {live} of them live", folder.display()),
        )
        .data(json!({ "folder": folder, "files": files.len(), "live": live }));
}

fn unreadable(folder: &Path, error: &std::io::Error, report: &mut Report) {
    let shown = folder.display();
    if error.kind() == std::io::ErrorKind::NotFound {
        report
            .add(
                SECTION,
                Severity::Info,
                "heartbeat_folder",
                format!("{shown} does not exist: no Editor has written there yet"),
            )
            .data(json!({ "folder": folder, "files": 0, "live": 0 }));
        return;
    }
    if error.kind() == std::io::ErrorKind::NotADirectory {
        // The variable's value is bad, which is said of the variables.
        return;
    }
    report
        .add(
            SECTION,
            Severity::Problem,
            "heartbeat_folder_unreadable",
            format!("the heartbeat folder {shown} cannot be read: {error}"),
        )
        .cure(
            "give this user the right to read it, or name another in UNITY_MCP_STATUS_DIR, for the Editor as well",
        )
        .data(json!({ "folder": folder, "reason": error.to_string() }));
}

fn is_heartbeat(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| name.starts_with("unity-mcp-status-") && name.ends_with(".json"))
}

fn row(editor: &Editor, now_ms: i64) -> Value {
    let age_s = editor.age(now_ms).map(|age| age.as_secs_f64());
    let live = editor.is_live(now_ms);
    json!({
        "identifier": editor.identifier(),
        "name": editor.project_name.clone().unwrap_or_else(|| editor.folder_name()),
        "hash": editor.hash,
        "port": editor.port,
        "age": age_s.map(shown_age),
        "age_s": age_s,
        "reloading": editor.reloading,
        "reason": editor.reason,
        "state": state(editor),
        "live": live,
        "life": if live { "live" } else { "ghost" },
        "hash_fits_path": editor.hash_fits_path(),
        "computed_hash": crate::instances::hash8(&editor.project_path),
        "project_path": editor.project_path,
        "file": editor.file,
    })
}

/// Whether the Editor reloads, and why it says what it says.
fn state(editor: &Editor) -> String {
    let reason = editor.reason.as_deref();
    match (editor.reloading, reason) {
        (true, Some("reloading") | None) => "reloading".to_owned(),
        (true, Some(reason)) => format!("reloading ({reason})"),
        (false, reason) => reason.unwrap_or("-").to_owned(),
    }
}

/// An age in the unit that it is spoken of in.
pub(super) fn shown_age(seconds: f64) -> String {
    match seconds {
        s if s < 0.0 => format!("{:.1} s ahead", -s),
        s if s < 600.0 => format!("{s:.1} s"),
        s if s < 86_400.0 => format!("{:.1} h", s / 3600.0),
        s => format!("{:.0} days", s / 86_400.0),
    }
}

fn unusable(file: &Path, report: &mut Report) {
    // One that was being written a moment ago is whole by now.
    let Some(why) = why_unusable(file) else {
        return;
    };
    report
        .add(
            SECTION,
            Severity::Warning,
            "heartbeat_unusable",
            format!("{} counts for nothing: {why}", file.display()),
        )
        .cure("close the Editor it belongs to, delete the file, open the Editor again: it writes the file anew")
        .data(json!({ "file": file, "reason": why }));
}

/// Why a file stands for no Editor; `None` when it does.
fn why_unusable(file: &Path) -> Option<String> {
    let metadata = match std::fs::metadata(file) {
        Ok(metadata) => metadata,
        Err(error) => return Some(error.to_string()),
    };
    if !metadata.is_file() {
        return Some("it is no file".to_owned());
    }
    if metadata.len() > MAX_BYTES {
        return Some(format!(
            "it has {} bytes, a heartbeat a few hundred",
            metadata.len()
        ));
    }
    let content = match std::fs::read(file) {
        Ok(content) => content,
        Err(error) => return Some(error.to_string()),
    };
    if content.trim_ascii().is_empty() {
        return Some("it is empty".to_owned());
    }
    if Editor::parse("-", file, &content).is_some() {
        return None;
    }
    let bare = content.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&content);
    Some(match serde_json::from_slice::<Value>(bare) {
        Err(error) => format!("it is no JSON ({error})"),
        Ok(Value::Object(fields)) => why_no_path(&fields),
        Ok(_) => "it is no JSON object".to_owned(),
    })
}

fn why_no_path(fields: &Map<String, Value>) -> String {
    match fields.get("project_path") {
        None => "project_path is missing",
        Some(Value::String(_)) => "project_path is blank",
        Some(_) => "project_path is no text",
    }
    .to_owned()
}

/// How old a heartbeat may be, in words.
pub(super) fn window() -> String {
    format!("{} s", LIVE_WINDOW.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_broken_file_has_its_reason() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("unity-mcp-status-aa.json");
        let why = |content: &[u8]| {
            std::fs::write(&file, content).expect("a file");
            why_unusable(&file)
        };
        assert_eq!(why(br#"{"project_path":"/p/Assets"}"#), None);
        for (content, reason) in [
            (&b""[..], "empty"),
            (b" \n", "empty"),
            (b"{\"project_path\":\"/p", "no JSON (EOF"),
            (b"[]", "no JSON object"),
            (b"{}", "missing"),
            (br#"{"project_path":" "}"#, "blank"),
            (br#"{"project_path":7}"#, "no text"),
            (b"\xff\xfe{\0}\0", "no JSON"),
            (&vec![b' '; 70_000], "70000 bytes"),
        ] {
            let why = why(content).expect("unusable");
            assert!(why.contains(reason), "{reason}: {why}");
        }
        std::fs::remove_file(&file).expect("the file goes");
        std::fs::create_dir(&file).expect("a folder in its place");
        assert_eq!(why_unusable(&file).as_deref(), Some("it is no file"));
    }

    #[test]
    fn ages_are_told_in_a_unit_that_fits() {
        assert_eq!(shown_age(0.44), "0.4 s");
        assert_eq!(shown_age(-3.0), "3.0 s ahead");
        assert_eq!(shown_age(7200.0), "2.0 h");
        assert_eq!(shown_age(172_800.0), "2 days");
    }
}
