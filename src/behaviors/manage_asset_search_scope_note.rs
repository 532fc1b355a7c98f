//! A search whose folder does not exist covers the whole project.
//!
//! The bridge puts `Assets/` ahead of any scope that is not under it, drops a scope that is then no
//! folder, and tells only the Editor's console (10.1.0). The note needs a proof: a scope that cannot
//! resolve, a hit outside of it, or a folder that is not on disk.

use super::shared::search::{self, Results};
use super::{Behavior, Cx, Hook, Note};
use crate::call::{Call, Target, fold, trim};
use crate::instances::single_live;
use crate::relay::inflight::InFlight;
use crate::reply::Reply;
use serde_json::Value;
use std::path::Path;

/// The behaviour's entry.
pub(super) const BEHAVIOR: Behavior = Behavior {
    name: "manage_asset_search_scope_note",
    summary: "Says when an asset search dropped its scope and covered the whole project.",
    tool: Some("manage_asset"),
    hooks: &[Hook::Note(note)],
    codes: &[(
        "scope_dropped",
        "the search covered the whole project instead of the path given",
    )],
};

/// Folders beside Assets that callers look in.
const BESIDE_ASSETS: [&str; 5] = ["packages", "library", "projectsettings", "temp", "logs"];

fn note(call: &InFlight, reply: &Reply<'_>, cx: &Cx<'_>) -> Vec<Note> {
    if !search::is_search(call) {
        return Vec::new();
    }
    let Some(scope) = call.call().as_ref().and_then(Scope::of) else {
        return Vec::new();
    };
    let Some(results) = search::results(reply) else {
        return Vec::new();
    };
    let Some(reason) = scope.dropped(&results, call.target.as_ref(), cx) else {
        return Vec::new();
    };
    vec![Note {
        code: "scope_dropped",
        text: format!(
            "The scope {} was dropped and the whole project was searched; the server says so in the \
             Editor's console only. {reason}",
            scope.shown()
        ),
    }]
}

/// Where a search was meant to look.
struct Scope {
    /// The path with forward slashes and none at its end.
    given: String,
    /// The folder that the bridge looks up; `None` for a path that it can make nothing of.
    effective: Option<String>,
}

impl Scope {
    fn of(call: &Call<'_>) -> Option<Scope> {
        if !call.supplied("path") {
            return None;
        }
        let slashed = call.string("path")?.replace('\\', "/");
        let bare = slashed.trim_end_matches('/');
        let effective = if trim(&slashed).starts_with("t:") && has_no_pattern(call) {
            Some("Assets".to_owned())
        } else if slashed.contains("..") || has_drive(&slashed) {
            None
        } else if is_inside(&fold(bare), "assets") {
            Some(bare.to_owned())
        } else {
            let below = format!("Assets/{}", bare.trim_start_matches('/'));
            Some(below.trim_end_matches('/').to_owned())
        };
        let given = if bare.is_empty() { "/" } else { bare };
        Some(Scope {
            given: given.to_owned(),
            effective,
        })
    }

    /// The scope for a reader, with what became of it.
    fn shown(&self) -> String {
        let given = &self.given;
        match &self.effective {
            Some(effective) if effective != given => {
                format!("`{given}` (looked up as `{effective}`)")
            }
            _ => format!("`{given}`"),
        }
    }

    /// Why it is certain that the scope was dropped; `None` when it is not.
    fn dropped(
        &self,
        results: &Results<'_>,
        target: Option<&Target>,
        cx: &Cx<'_>,
    ) -> Option<String> {
        let Some(effective) = &self.effective else {
            let text = "No path with `..` or a drive letter leads to a folder there: give one that begins \
                        with Assets/.";
            return Some(text.to_owned());
        };
        let outside = outside(results.hits, effective);
        let missing = match outside {
            0 if results.none => Some(root_without(effective, target, cx)?),
            0 => return None,
            _ => None,
        };
        let first = self.given.trim_start_matches('/').split('/').next();
        let beside = first.is_some_and(|first| BESIDE_ASSETS.contains(&fold(first).as_str()));
        Some(match missing {
            _ if beside => "A scope is always taken to lie under Assets. Search elsewhere through \
                            execute_code; UnityEditor.AssetDatabase.FindAssets covers Packages."
                .to_owned(),
            Some(root) => format!(
                "There is no folder `{effective}` under {root}. Search again in one that exists."
            ),
            None => format!(
                "Hits shown that lie outside of it: {outside} of {}. Search again in a folder that exists.",
                results.hits.len()
            ),
        })
    }
}

/// Whether the server makes its pattern of a `t:` path: blank text is a pattern to it (measured against
/// 10.1.0).
fn has_no_pattern(call: &Call<'_>) -> bool {
    matches!(
        call.argument("search_pattern"),
        None | Some("null" | "\"\"")
    )
}

/// How many hits lie outside of a folder. Those that show no path are passed over.
fn outside(hits: &[Value], folder: &str) -> usize {
    let folder = fold(folder);
    let paths = hits.iter().filter_map(|hit| hit.get("path")?.as_str());
    paths
        .filter(|path| !is_inside(&fold(path), &folder))
        .count()
}

/// The target's project root, when it can be seen on disk and has no such folder.
fn root_without(folder: &str, target: Option<&Target>, cx: &Cx<'_>) -> Option<String> {
    let editor = match target {
        Some(target) => target.selector.resolve(cx.editors(), cx.now_ms).one()?,
        None => single_live(cx.editors(), cx.now_ms)?,
    };
    let root = editor.project_root()?;
    let holds = |below| cx.surroundings.holds_folder(Path::new(&root), below);
    // A project that lies on another machine's disk says nothing.
    (holds("Assets") == Some(true) && holds(folder) == Some(false)).then_some(root)
}

/// Whether a path is a folder or lies below it; both folded.
fn is_inside(path: &str, folder: &str) -> bool {
    let rest = path.strip_prefix(folder);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn has_drive(path: &str) -> bool {
    matches!(path.as_bytes(), [letter, b':', b'/', ..] if letter.is_ascii_alphabetic())
}
