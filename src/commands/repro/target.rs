//! Which Editor is measured: one that is live, and whose project is the one that was named.

use crate::commands::Failure;
use crate::config::Config;
use crate::instances::{Editor, Heartbeats, Resolution, Selector};
use std::path::{Path, PathBuf};

/// A scratch Editor.
#[derive(Debug)]
pub(super) struct Target {
    /// `Name@hash`, as the server names it.
    pub(super) identifier: String,
    /// Its hash.
    pub(super) hash: String,
    /// Its `Application.dataPath`, with forward slashes.
    pub(super) assets: String,
    /// Its port. Only the server connects to it.
    pub(super) port: u16,
    /// The project's root as it was named.
    pub(super) root: PathBuf,
}

/// The Editor that `instance` names, when it has the project `root` open.
pub(super) fn find(config: &Config, instance: &str, root: &Path) -> Result<Target, Failure> {
    for folder in ["Assets", "ProjectSettings"] {
        if !root.join(folder).is_dir() {
            let root = root.display();
            return told(format!(
                "{root} is no Unity project: it has no folder {folder}"
            ));
        }
    }
    let folder = config.status_folder();
    let editors = Heartbeats::new(folder.clone()).read();
    let now_ms = jiff::Timestamp::now().as_millisecond();
    let Some(selector) = Selector::from_text(instance) else {
        return told("--instance is blank: it takes a Name@hash".to_owned());
    };
    let editor = match selector.resolve(&editors, now_ms) {
        Resolution::One(editor) => editor,
        Resolution::None => {
            let folder = folder.unwrap_or_default();
            let known = names(editors.iter());
            return told(format!(
                "no heartbeat in {} is of the Editor {instance:?}; there: {known}",
                folder.display()
            ));
        }
        Resolution::Several(fitting) => {
            let fitting = names(fitting.into_iter());
            return told(format!("{instance:?} fits several Editors: {fitting}"));
        }
    };
    checked(editor, root, now_ms)
}

fn checked(editor: &Editor, root: &Path, now_ms: i64) -> Result<Target, Failure> {
    let name = editor.identifier();
    let same = |left: &Path, right: &Path| match (left.canonicalize(), right.canonicalize()) {
        (Ok(left), Ok(right)) => left == right,
        _ => false,
    };
    if !same(&root.join("Assets"), Path::new(&editor.project_path)) {
        return told(format!(
            "{name} has another project open: its heartbeat says {:?}, --project-root is {:?}",
            editor.project_path,
            root.display().to_string()
        ));
    }
    if !editor.is_live(now_ms) {
        return told(format!(
            "{name} does not look alive: its heartbeat is over 180 s old"
        ));
    }
    if editor.reloading {
        return told(format!("{name} is reloading; try again when it is done"));
    }
    let Some(port) = editor.port else {
        return told(format!("the heartbeat of {name} names no port"));
    };
    Ok(Target {
        identifier: editor.upstream_identifier(),
        hash: editor.hash.clone(),
        assets: editor.assets(),
        port,
        root: root.to_owned(),
    })
}

fn names<'a>(editors: impl Iterator<Item = &'a Editor>) -> String {
    let names: Vec<String> = editors.map(Editor::identifier).collect();
    if names.is_empty() {
        "none".to_owned()
    } else {
        names.join(", ")
    }
}

fn told<T>(text: String) -> Result<T, Failure> {
    Err(Failure::Told(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instances::hash8;
    use serde_json::json;

    /// A heartbeat folder and projects.
    struct Room(tempfile::TempDir);

    impl Room {
        fn new() -> Self {
            Room(tempfile::tempdir().expect("a folder"))
        }

        fn path(&self, name: &str) -> PathBuf {
            self.0.path().join(name)
        }

        fn project(&self, name: &str) -> PathBuf {
            for folder in ["Assets", "ProjectSettings"] {
                std::fs::create_dir_all(self.path(name).join(folder)).expect("a folder");
            }
            self.path(name)
        }

        /// The heartbeat of a project's Editor, with `more` in it; the Editor's name.
        fn heartbeat(&self, name: &str, age_s: i64, more: &serde_json::Value) -> String {
            let assets = self.path(name).join("Assets");
            let assets = assets.to_str().expect("UTF-8").replace('\\', "/");
            let hash = hash8(&assets);
            let then = jiff::Timestamp::now() - jiff::SignedDuration::from_secs(age_s);
            let mut beat = json!({
                "unity_port": 6405, "project_path": assets, "project_name": name,
                "reloading": false, "reason": "ready", "last_heartbeat": then.to_string(),
            });
            let fields = more.as_object().expect("an object").clone();
            beat.as_object_mut().expect("an object").extend(fields);
            let status = self.path("status");
            std::fs::create_dir_all(&status).expect("a folder");
            let file = status.join(format!("unity-mcp-status-{hash}.json"));
            std::fs::write(file, beat.to_string()).expect("a file");
            format!("{name}@{hash}")
        }

        fn find(&self, instance: &str, root: &Path) -> Result<Target, String> {
            let status = ("UNITY_MCP_STATUS_DIR".into(), self.path("status").into());
            let config = Config::from_env([status]);
            super::find(&config, instance, root).map_err(|failure| failure.to_string())
        }
    }

    #[track_caller]
    fn refused(found: Result<Target, String>, says: &[&str]) {
        let text = found.expect_err("a refusal");
        for part in says {
            assert!(text.contains(part), "{part:?}: {text}");
        }
    }

    #[test]
    fn the_editor_of_that_project_is_found_by_name_and_by_hash() {
        let room = Room::new();
        let root = room.project("Alpha");
        let id = room.heartbeat("Alpha", 0, &json!({}));
        let (_, hash) = id.split_once('@').expect("a name and a hash");
        for selector in [&*id, hash] {
            let target = room.find(selector, &root).expect("the Editor");
            assert_eq!((&*target.identifier, target.port), (&*id, 6405));
            assert!(target.assets.ends_with("/Alpha/Assets"));
        }
        // The same folder, spelled in another way.
        let around = root.join("Assets").join("..");
        assert!(room.find(&id, &around).is_ok());
    }

    #[test]
    fn what_is_no_project_or_not_that_editors_is_refused() {
        let room = Room::new();
        let (alpha, beta) = (room.project("Alpha"), room.project("Beta"));
        let id = room.heartbeat("Alpha", 0, &json!({}));
        std::fs::create_dir_all(room.path("Half").join("Assets")).expect("a folder");
        refused(
            room.find(&id, &room.path("Half")),
            &["ProjectSettings", "no Unity project"],
        );
        refused(
            room.find(&id, &room.path("Nowhere")),
            &["Assets", "no Unity project"],
        );
        refused(room.find(&id, &beta), &["another project", "Alpha", "Beta"]);
        refused(
            room.find("Gamma@00000000", &alpha),
            &["Gamma@00000000", &id],
        );
        refused(room.find(" ", &alpha), &["--instance"]);
    }

    #[test]
    fn an_editor_that_cannot_be_measured_now_is_refused() {
        let room = Room::new();
        let root = room.project("Alpha");
        let find = |age_s, more| {
            let id = room.heartbeat("Alpha", age_s, &more);
            room.find(&id, &root)
        };
        refused(find(200, json!({})), &["180 s"]);
        refused(find(0, json!({"reloading": true})), &["reloading"]);
        refused(find(0, json!({"unity_port": null})), &["port"]);
        assert!(find(100, json!({})).is_ok());
    }
}
