//! The project that a session is bound to, and which Editor has it open.
//!
//! - [`find`]: what `VRC_MCP_PROXY_PROJECT` names; asked once, at the start.
//! - [`path`]: when two spellings are the same folder.
//!
//! An Editor is known by the path in its heartbeat. Unity makes its hash from the path *as the project was opened*, so
//! one project can have two identifiers, and the file's own is the one that the server knows.

pub mod find;
pub mod path;

use crate::instances::{Editor, hash8};
use path::{Platform, comparable};
use std::path::Path;

/// The variable that binds.
pub const VARIABLE: &str = "VRC_MCP_PROXY_PROJECT";

/// A project that all calls of the session are meant for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    spellings: Vec<Spelling>,
    is_project: bool,
}

/// One way to write the project's root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spelling {
    root: String,
    comparable: String,
}

impl Spelling {
    /// The root, with forward slashes and none at its end.
    pub fn root(&self) -> &str {
        &self.root
    }

    /// The Assets folder: the `project_path` of a heartbeat of this spelling.
    pub fn data_path(&self) -> String {
        format!("{}/Assets", self.root)
    }

    /// The hash that an Editor has when the project was opened by this spelling.
    pub fn hash(&self) -> String {
        hash8(&self.data_path())
    }
}

/// How an Editor stands to a binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// It has the project open: calls go to it.
    Bound,
    /// Its file names the project too, but another one was written later.
    Older,
    /// It has another project open.
    Other,
}

/// Why an Editor is, or is not, the one that calls go to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explained<'e> {
    /// The Editor.
    pub editor: &'e Editor,
    /// How it stands to the binding.
    pub fit: Fit,
    /// The spelling of the project's root that its path has; `None` when it fits only with its links resolved, or not at
    /// all.
    pub spelling: Option<&'e Spelling>,
    /// The hash that the path in its file gives.
    pub computed_hash: String,
    /// Whether that is the hash in the file's name.
    pub hash_agrees: bool,
}

impl Binding {
    /// A binding to a root with these spellings (with forward slashes), the one to show first. `is_project` says whether
    /// the folder held a Unity project at the start.
    pub fn new(roots: Vec<String>, is_project: bool) -> Self {
        let mut spellings: Vec<Spelling> = Vec::new();
        for root in roots {
            let comparable = comparable(&format!("{root}/Assets"), Platform::HERE);
            if spellings.iter().all(|known| known.root != root) {
                spellings.push(Spelling { root, comparable });
            }
        }
        Binding {
            spellings,
            is_project,
        }
    }

    /// The project's root, as it is shown.
    pub fn root(&self) -> &str {
        self.spellings.first().map_or("", Spelling::root)
    }

    /// Whether the folder held a Unity project when it was looked for.
    pub fn is_project(&self) -> bool {
        self.is_project
    }

    /// The root as it was named and, where that differs, with its links resolved.
    pub fn spellings(&self) -> &[Spelling] {
        &self.spellings
    }

    /// The Editors whose heartbeats name the project, the one that wrote last first: Unity opens a project only once,
    /// so any other file is left over from an opening under another spelling.
    ///
    /// When no live Editor fits by its path's text, the live ones are looked at with their links resolved by
    /// `real_path`. Files of closed Editors are not: their folders may lie on disks that no longer answer.
    pub fn fitting<'e>(
        &self,
        editors: &'e [Editor],
        now_ms: i64,
        real_path: impl Fn(&Path) -> Option<String>,
    ) -> Vec<&'e Editor> {
        let by_text = |editor: &&Editor| self.spelling_of(&editor.project_path).is_some();
        let mut fitting: Vec<&Editor> = editors.iter().filter(by_text).collect();
        if !fitting.iter().any(|editor| editor.is_live(now_ms)) {
            let by_link = |editor: &&Editor| {
                let root = editor.project_root().filter(|_| editor.is_live(now_ms));
                let real = root.and_then(|root| real_path(Path::new(&root)));
                real.is_some_and(|real| self.spelling_of(&format!("{real}/Assets")).is_some())
                    && ends_in_assets(editor)
            };
            fitting.extend(editors.iter().filter(by_link));
        }
        fitting.sort_by_key(|editor| std::cmp::Reverse(editor.last_heartbeat_ms));
        fitting
    }

    /// Says of each Editor how it stands to the binding, and whether its hash is the one that its path gives.
    pub fn explain<'e>(
        &'e self,
        editors: &'e [Editor],
        now_ms: i64,
        real_path: impl Fn(&Path) -> Option<String>,
    ) -> Vec<Explained<'e>> {
        let fitting = self.fitting(editors, now_ms, real_path);
        let explain = |editor: &'e Editor| Explained {
            editor,
            fit: match fitting.iter().position(|fits| *fits == editor) {
                Some(0) => Fit::Bound,
                Some(_) => Fit::Older,
                None => Fit::Other,
            },
            spelling: self.spelling_of(&editor.project_path),
            computed_hash: hash8(&editor.project_path),
            hash_agrees: editor.hash_fits_path(),
        };
        editors.iter().map(explain).collect()
    }

    fn spelling_of(&self, data_path: &str) -> Option<&Spelling> {
        let path = comparable(data_path, Platform::HERE);
        self.spellings.iter().find(|known| known.comparable == path)
    }
}

fn ends_in_assets(editor: &Editor) -> bool {
    let assets = editor.assets();
    let name = assets.rsplit('/').next().unwrap_or_default();
    comparable(name, Platform::HERE) == comparable("Assets", Platform::HERE)
}

/// The identifier by which a call is sent to an Editor: the file's name for the project, or the folder's where the file
/// of an older bridge has none, as the server takes it.
pub fn identifier(editor: &Editor) -> String {
    match editor.project_name {
        Some(_) => editor.identifier(),
        None => editor.upstream_identifier(),
    }
}

#[cfg(test)]
mod tests;
