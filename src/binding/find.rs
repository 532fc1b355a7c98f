//! Finding the project that `VRC_MCP_PROXY_PROJECT` names. All that is asked of the disk about it is asked here, once.

use super::path::{Platform, has_drive, slashed};
use super::{Binding, VARIABLE};
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

/// What the variable comes to.
#[derive(Debug)]
pub struct Found {
    /// The project; `None` when calls are not bound.
    pub binding: Option<Binding>,
    /// What the user should know about the value: a line for stderr.
    pub line: Option<String>,
}

/// Reads the variable's `value`: blank is nothing, `auto` is the nearest project at or above `folder` (the working
/// directory), anything else is the path of a project's root. A relative one is relative to `folder`, a leading `~` is
/// `home`, and a path that ends in the Assets folder means the project above it. A path without a project stays
/// bound: taking it for no binding would open every other project to calls that were meant for this one.
pub fn find(value: &OsStr, folder: &Path, home: Option<&Path>) -> Found {
    let text = value.to_string_lossy();
    let text = text.trim();
    if text.is_empty() {
        return Found {
            binding: None,
            line: None,
        };
    }
    if text.eq_ignore_ascii_case("auto") {
        return above(folder);
    }
    let path = absolute(text, folder, home);
    let (path, slip) = match path.parent() {
        Some(root) if is_assets(&path) && !is_project(&path) => (root.to_owned(), true),
        _ => (path, false),
    };
    let exists = is_project(&path);
    let binding = Binding::new(spellings(&path), exists);
    let root = binding.root();
    let line = if !exists {
        let what = if path.is_dir() {
            format!("the folder {root} has no Assets and ProjectSettings in it")
        } else {
            format!("there is no folder {root}")
        };
        Some(format!(
            "{VARIABLE}: {text:?}: {what}. Calls stay bound to it, so each is refused until an Editor has that \
             project open"
        ))
    } else if slip {
        Some(format!(
            "{VARIABLE}: {text:?} is an Assets folder; the project above it, {root}, is used"
        ))
    } else {
        None
    };
    Found {
        binding: Some(binding),
        line,
    }
}

fn above(folder: &Path) -> Found {
    let root = folder.ancestors().find(|folder| is_project(folder));
    Found {
        binding: root.map(|root| Binding::new(spellings(root), true)),
        line: root.is_none().then(|| {
            format!(
                "{VARIABLE}: auto: neither the working directory {} nor a folder above it holds both Assets and \
                 ProjectSettings, so calls are not bound to a project",
                folder.display()
            )
        }),
    }
}

fn absolute(text: &str, folder: &Path, home: Option<&Path>) -> PathBuf {
    if Platform::HERE == Platform::Other && has_drive(text) {
        // A path of Windows seen from beside it: no folder of this system's lies ahead of it.
        return PathBuf::from(slashed(text, Platform::HERE));
    }
    let below_home = text.strip_prefix('~').filter(|rest| {
        rest.is_empty() || rest.starts_with('/') || cfg!(windows) && rest.starts_with('\\')
    });
    match below_home.zip(home) {
        Some((rest, home)) => home.join(rest.trim_start_matches(['/', '\\'])),
        None => folder.join(text),
    }
}

/// Whether a folder is a Unity project's root.
pub(crate) fn is_project(folder: &Path) -> bool {
    ["Assets", "ProjectSettings"]
        .iter()
        .all(|part| folder.join(part).is_dir())
}

fn is_assets(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    name == "Assets" || cfg!(windows) && name.eq_ignore_ascii_case("Assets")
}

/// The root as it was named and with its links resolved.
fn spellings(path: &Path) -> Vec<String> {
    let plain = without_parents(path);
    let Ok(real) = path.canonicalize() else {
        return vec![text(&plain)];
    };
    // Behind a link, `..` is not the folder ahead of it: what the text makes of it may be another one.
    let honest = plain.canonicalize().is_ok_and(|plain| plain == real);
    let named = honest.then(|| text(&plain));
    named.into_iter().chain([text(&real)]).collect()
}

fn text(path: &Path) -> String {
    slashed(&path.to_string_lossy(), Platform::HERE)
}

fn without_parents(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir if plain.file_name().is_some() => {
                plain.pop();
            }
            // Above the top there is the top again.
            Component::ParentDir if plain.has_root() => {}
            part => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::create_dir_all;

    /// A folder with `project` and `other` in it, and its real path.
    fn room() -> (tempfile::TempDir, PathBuf) {
        let room = tempfile::tempdir().expect("a folder");
        let path = room.path().canonicalize().expect("a path");
        for part in ["Assets/Scripts", "ProjectSettings"] {
            create_dir_all(path.join("project").join(part)).expect("a folder");
        }
        create_dir_all(path.join("other/Assets")).expect("a folder");
        (room, path)
    }

    fn roots(found: &Found) -> Vec<&str> {
        let binding = found.binding.as_ref().expect("a binding");
        binding.spellings().iter().map(|s| s.root()).collect()
    }

    fn says(found: &Found, parts: &[&str]) {
        let line = found.line.as_deref().expect("a line");
        assert!(line.starts_with(VARIABLE) && !line.contains('\n'), "{line}");
        for part in parts {
            assert!(line.contains(part), "no {part:?} in {line}");
        }
    }

    #[test]
    fn auto_is_the_nearest_project_at_or_above() {
        let (_room, path) = room();
        let project = path.join("project");
        for below in ["", "Assets", "Assets/Scripts", "ProjectSettings"] {
            for auto in ["auto", " AUTO "] {
                let found = find(OsStr::new(auto), &project.join(below), None);
                assert_eq!(roots(&found), [text(&project)], "{below}");
                assert_eq!(found.line, None);
            }
        }
        let found = find(OsStr::new("auto"), &path.join("other"), None);
        assert!(found.binding.is_none());
        says(&found, &["auto", "not bound", "ProjectSettings"]);
    }

    #[test]
    fn a_path_is_taken_in_each_spelling_that_people_use() {
        let (_room, path) = room();
        let project = text(&path.join("project"));
        let root = |value: &str| {
            let found = find(OsStr::new(value), &path.join("other"), Some(&path));
            assert_eq!(found.line, None, "{value}");
            roots(&found)
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
        };
        for value in [
            project.clone(),
            format!("{project}/"),
            format!(" {project}\n"),
            format!("{project}/./"),
            "../project".to_owned(),
            "../other/../project/".to_owned(),
            "~/project".to_owned(),
        ] {
            assert_eq!(root(&value), [&*project], "{value}");
        }
    }

    #[test]
    fn the_assets_folder_means_its_project_and_is_reported() {
        let (_room, path) = room();
        for value in ["project/Assets", "project/Assets/"] {
            let found = find(OsStr::new(value), &path, None);
            assert_eq!(roots(&found), [text(&path.join("project"))]);
            says(&found, &["Assets", &text(&path.join("project"))]);
        }
        // Of a project that is not there, too; and one line is all.
        let found = find(OsStr::new("gone/Assets"), &path, None);
        assert_eq!(roots(&found), [text(&path.join("gone"))]);
        says(&found, &["there is no folder", "refused"]);
    }

    #[test]
    fn a_path_without_a_project_stays_bound() {
        let (_room, path) = room();
        let found = find(OsStr::new("other"), &path, None);
        assert_eq!(roots(&found), [text(&path.join("other"))]);
        says(&found, &["\"other\"", "ProjectSettings", "refused"]);
        let found = find(OsStr::new("gone"), &path, None);
        assert_eq!(roots(&found), [text(&path.join("gone"))]);
        says(&found, &["there is no folder"]);
    }

    #[test]
    fn blank_is_nothing() {
        for value in ["", "  ", "\t"] {
            let found = find(OsStr::new(value), Path::new("/"), None);
            assert!(found.binding.is_none() && found.line.is_none());
        }
    }

    #[cfg(not(windows))]
    #[test]
    fn a_path_of_windows_is_bound_beside_windows() {
        for value in [
            r"c:\Unity\Alpha\",
            "C:/Unity/Alpha/Assets",
            r"C:\Unity\Alpha\Assets",
        ] {
            let found = find(OsStr::new(value), Path::new("/home/me"), None);
            assert_eq!(roots(&found), ["C:/Unity/Alpha"], "{value}");
            says(&found, &["there is no folder C:/Unity/Alpha"]);
        }
    }

    #[cfg(unix)]
    #[test]
    fn both_spellings_of_a_link_are_kept_and_no_third() {
        use std::os::unix::fs::symlink;
        let (_room, path) = room();
        let (project, link) = (path.join("project"), path.join("link"));
        symlink(&project, &link).expect("a link");
        let found = find(link.as_os_str(), &path, None);
        assert_eq!(roots(&found), [text(&link), text(&project)]);

        // `deep/..` is `project` on the disk, and `path` in the text alone.
        symlink(project.join("Assets"), path.join("deep")).expect("a link");
        let found = find(OsStr::new("deep/.."), &path, None);
        assert_eq!(roots(&found), [text(&project)]);
    }
}
