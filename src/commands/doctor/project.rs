//! The project that the proxy is bound to, and why an Editor fits it or does not.

use super::Scene;
use super::finding::{Finding, Report, Section, Severity, listed};
use crate::instances::{Editor, hash8};
use serde_json::json;
use std::path::{Path, PathBuf};

const SECTION: Section = Section::Target;

/// The variable that binds the proxy to a project.
pub(super) const VARIABLE: &str = "VRC_MCP_PROXY_PROJECT";

/// What a value of the variable means: a project's root, and the data paths that its Editor may write.
struct Bound {
    root: PathBuf,
    /// `Application.dataPath` as the variable spells it, and with links followed.
    data_paths: Vec<String>,
}

impl Bound {
    /// `auto` is the nearest project at or above `here`.
    fn read(value: &str, here: &Path) -> Option<Self> {
        let value = value.trim();
        let root = if value == "auto" {
            here.ancestors()
                .find(|folder| is_project(folder))?
                .to_owned()
        } else {
            here.join(value)
        };
        let mut data_paths = vec![data_path(&root)];
        if let Ok(real) = root.canonicalize() {
            let real = data_path(&real);
            if !data_paths.contains(&real) {
                data_paths.push(real);
            }
        }
        Some(Bound { root, data_paths })
    }

    fn fits(&self, editor: &Editor) -> bool {
        let assets = editor.assets();
        let same = |path: &String| {
            *path == assets || (cfg!(windows) && path.to_lowercase() == assets.to_lowercase())
        };
        self.data_paths.iter().any(same)
    }
}

fn is_project(folder: &Path) -> bool {
    folder.join("Assets").is_dir() && folder.join("ProjectSettings").is_dir()
}

/// The path as the Editor writes it.
fn data_path(root: &Path) -> String {
    let mut path = root.to_string_lossy().into_owned();
    if cfg!(windows) {
        path = path.replace('\\', "/");
        path = path.strip_prefix("//?/").unwrap_or(&path).to_owned();
    }
    format!("{}/Assets", path.trim_end_matches('/'))
}

/// Judges a value of the variable that binds the proxy, read in the folder where the proxy is started.
pub(super) fn examine(value: &str, whose: &str, here: &Path, scene: &Scene, report: &mut Report) {
    let said = format!("{VARIABLE} is {value:?} ({whose})");
    let Some(bound) = Bound::read(value, here) else {
        report
            .add(
                SECTION,
                Severity::Warning,
                "project_not_found",
                format!(
                    "{said}: no folder with Assets and ProjectSettings at or above {}, so nothing is bound",
                    here.display()
                ),
            )
            .cure("start the client in the project's folder, or name the project's path");
        return;
    };
    let root = bound.root.display().to_string();
    if !is_project(&bound.root) {
        report
            .add(
                SECTION,
                Severity::Problem,
                "project_is_none",
                format!("{said}: {root} is no Unity project: it lacks Assets or ProjectSettings"),
            )
            .cure("correct the path: it is the folder that holds Assets and ProjectSettings")
            .data(json!({ "root": root }));
        return;
    }
    let live = scene.live();
    let fitting = live.iter().find(|editor| bound.fits(editor)).copied();
    let finding = match fitting {
        Some(editor) => bound.agrees(editor, &said, report),
        None => bound.not_open(&live, &said, report),
    };
    finding.data(json!({
        "value": value,
        "where": whose,
        "root": root,
        "computed": bound.identifiers(),
        "editor": fitting.map(Editor::identifier),
        "live": live.iter().map(|editor| editor.identifier()).collect::<Vec<_>>(),
    }));
}

impl Bound {
    /// The identifiers that the root gives, one for each spelling.
    fn identifiers(&self) -> Vec<String> {
        let name = self.root.file_name().unwrap_or_default().to_string_lossy();
        let spellings = self.data_paths.iter();
        spellings
            .map(|path| format!("{name}@{}", hash8(path)))
            .collect()
    }

    fn agrees<'r>(&self, editor: &Editor, said: &str, report: &'r mut Report) -> &'r mut Finding {
        let (root, identifier) = (self.root.display(), editor.identifier());
        if self
            .data_paths
            .iter()
            .any(|path| hash8(path) == editor.hash)
        {
            let text =
                format!("{said}: bound to {identifier}, whose hash is the one that {root} gives");
            return report.add(SECTION, Severity::Ok, "project", text);
        }
        let computed = self.identifiers().join(" or ");
        let text =
            format!("{said}: bound to {identifier} by its path, but {root} gives {computed}");
        let finding = report.add(SECTION, Severity::Warning, "project_hash_differs", text);
        finding.cure("write the path as the Editor does (see the table), with the same capitals")
    }

    fn not_open<'r>(
        &self,
        live: &[&Editor],
        said: &str,
        report: &'r mut Report,
    ) -> &'r mut Finding {
        let open = live
            .iter()
            .map(|e| format!("{} ({})", e.identifier(), e.project_path));
        let open = match live.len() {
            0 => "no Editor is open".to_owned(),
            _ => format!("open are {}", listed(open)),
        };
        let computed = self.identifiers().join(" or ");
        let text = format!(
            "{said}: {} gives {computed}, and no live Editor fits it; {open}",
            self.root.display()
        );
        let finding = report.add(SECTION, Severity::Problem, "project_not_open", text);
        finding.cure(
            "open that project in Unity, or correct the path (capitals count, but on Windows)",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auto_is_the_nearest_project_above() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().join("Älpha");
        for name in ["Assets/Deep/Er", "ProjectSettings", "Assets/Deep/Assets"] {
            std::fs::create_dir_all(root.join(name)).expect("folders");
        }
        let bound = Bound::read(" auto ", &root.join("Assets/Deep/Er")).expect("a project");
        assert_eq!(bound.root, root);
        assert!(Bound::read("auto", folder.path()).is_none());
        let slashed = root.to_string_lossy().replace('\\', "/");
        assert_eq!(bound.data_paths[0], format!("{slashed}/Assets"));
        let named = Bound::read(root.to_str().expect("Unicode"), Path::new("elsewhere"));
        assert_eq!(named.expect("a path").root, root);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_counts_in_either_spelling() {
        let folder = tempfile::tempdir().expect("a folder");
        let real = folder.path().canonicalize().expect("a path").join("Real");
        std::fs::create_dir_all(real.join("Assets")).expect("folders");
        let link = folder.path().join("Link");
        std::os::unix::fs::symlink(&real, &link).expect("a link");
        let bound = Bound::read(link.to_str().expect("Unicode"), Path::new("/")).expect("a path");
        for root in [&real, &link] {
            let body = json!({ "project_path": root.join("Assets") }).to_string();
            let editor = Editor::parse("aa", Path::new("f"), body.as_bytes()).expect("usable");
            assert!(bound.fits(&editor), "{root:?}");
        }
        let other = br#"{"project_path":"/elsewhere/Assets"}"#;
        let other = Editor::parse("aa", Path::new("f"), other).expect("usable");
        assert!(!bound.fits(&other));
    }
}
