//! A scene is opened in place of all others only when the caller says so.
//!
//! `load` and `create` open Single and close every loaded scene. Upstream looks for unsaved work in
//! the active scene only (`load`) or not at all (`create`), and reads `additive` on a load by name or
//! path alone (10.1.0).

use super::{Behavior, Check, Cx, Hook, Refusal, Rewriting};
use crate::call::{Call, Rewrite};

/// The behaviour's entry.
pub(super) const BEHAVIOR: Behavior = Behavior {
    name: "manage_scene_discard_guard",
    summary: "Refuses to load or create a scene until the call says what becomes of the loaded ones.",
    tool: Some("manage_scene"),
    hooks: &[Hook::Guard(check), Hook::Rewrite(consume)],
    codes: &[
        (
            "additive_not_declared",
            "the call does not say whether the loaded scenes stay",
        ),
        ("create_not_additive", "there is no additive create"),
        (
            "index_load_not_additive",
            "a load by build index drops `additive`",
        ),
    ],
};

fn check(call: &Call<'_>, _: &Cx<'_>) -> Check {
    let Some(action) = opening(call) else {
        return Check::Pass;
    };
    let by_index = || !call.supplied("name") && !call.supplied("path");
    let (code, text) = match (action, call.flag("additive")) {
        (_, None) => ("additive_not_declared", undeclared(action, call)),
        (Opening::Create, Some(true)) => ("create_not_additive", NO_ADDITIVE_CREATE.to_owned()),
        (Opening::Load, Some(true)) if by_index() => {
            ("index_load_not_additive", INDEX_LOAD.to_owned())
        }
        _ => return Check::Pass,
    };
    Check::Refuse(Refusal { code, text })
}

/// On `create` the declaration was for this guard: upstream has no use for it.
fn consume(call: &Call<'_>, _: &Cx<'_>) -> Rewriting {
    if opening(call) != Some(Opening::Create) || call.flag("additive") != Some(false) {
        return Rewriting::Keep;
    }
    Rewriting::Change(Rewrite {
        remove: vec!["additive"],
        ..Rewrite::default()
    })
}

/// An action that opens a scene.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Opening {
    Load,
    Create,
}

fn opening(call: &Call<'_>) -> Option<Opening> {
    match call.normalized_action().as_str() {
        "load" => Some(Opening::Load),
        "create" => Some(Opening::Create),
        _ => None,
    }
}

fn undeclared(action: Opening, call: &Call<'_>) -> String {
    let (what, unsaved, choice) = match action {
        Opening::Load => (
            "load opens the scene",
            "looks for unsaved work in the active scene only",
            "additive=false (close them all) or additive=true (keep them)",
        ),
        Opening::Create => (
            "create opens the new scene",
            "does not look for unsaved work at all",
            "additive=false",
        ),
    };
    let unread = if call.supplied("additive") {
        " The `additive` of this call declares nothing: true, 1, yes, on and false, 0, no, off do."
    } else {
        ""
    };
    format!(
        "manage_scene {what} Single: it closes every loaded scene, while the server {unsaved}. Nothing was \
         forwarded.{unread} Run manage_scene get_loaded_scenes (it reports isDirty for each scene), save \
         or close what is dirty, then send the call again with {choice}. A raw \
         EditorSceneManager.OpenScene or NewScene through execute_code is not covered by this guard."
    )
}

const NO_ADDITIVE_CREATE: &str = "manage_scene create has no additive form: the server does not read \
`additive` there and closes every loaded scene without a look at unsaved work. Nothing was forwarded. For \
a new scene beside the loaded ones run through execute_code:\n\
UnityEditor.SceneManagement.EditorSceneManager.NewScene(\
UnityEditor.SceneManagement.NewSceneSetup.EmptyScene, \
UnityEditor.SceneManagement.NewSceneMode.Additive);\nreturn null;\nTo close the loaded ones instead, run \
manage_scene get_loaded_scenes, save what is dirty, and send the call again with additive=false.";

const INDEX_LOAD: &str = "manage_scene load without `name` and `path` is a load by build index, and on that \
one the server drops additive=true: the scene opens Single and closes every loaded scene. Nothing was \
forwarded. To keep the loaded scenes, name the scene by `path`. To close them, run manage_scene \
get_loaded_scenes, save what is dirty, and send the call again with additive=false.";
