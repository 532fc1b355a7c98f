//! Screenshots go to one scratch folder unless the call names another.
//!
//! Upstream's own default litters the project (measured against 10.1.0).

use super::{Behavior, Cx, Hook, Rewriting};
use crate::call::{Call, Rewrite};
use crate::wire::quote;

/// The behaviour's entry.
pub(super) const BEHAVIOR: Behavior = Behavior {
    name: "manage_camera_screenshot_output",
    summary: "Sends screenshots to Assets/Agent/Scratch/Screenshots when no folder is named.",
    tool: Some("manage_camera"),
    hooks: &[Hook::Rewrite(folder)],
    codes: &[],
};

/// Where screenshots go.
const FOLDER: &str = "Assets/Agent/Scratch/Screenshots";

fn folder(call: &Call<'_>, _: &Cx<'_>) -> Rewriting {
    let action = call.normalized_action();
    let shoots = matches!(action.as_str(), "screenshot" | "screenshot_multiview");
    if !shoots || call.supplied("output_folder") {
        return Rewriting::Keep;
    }
    Rewriting::Change(Rewrite {
        set: vec![("output_folder", quote(FOLDER))],
        ..Rewrite::default()
    })
}
