//! Assets are moved where the outcome can be seen.
//!
//! Upstream throws away what `AssetDatabase.MoveAsset` returns, so it reports failure on moves that
//! landed, and takes a bare destination for `Assets/<name>` (measured against 10.1.0).

use super::{Behavior, Check, Cx, Hook, Refusal};
use crate::call::Call;

/// The behaviour's entry.
pub(super) const BEHAVIOR: Behavior = Behavior {
    name: "manage_asset_mutation_guard",
    summary: "Refuses to move or rename assets by manage_asset and names the door that reports truly.",
    tool: Some("manage_asset"),
    hooks: &[Hook::Guard(check)],
    codes: &[(
        "move_outcome_lost",
        "manage_asset cannot say whether a move landed",
    )],
};

fn check(call: &Call<'_>, _: &Cx<'_>) -> Check {
    let action = call.normalized_action();
    if !matches!(action.as_str(), "move" | "rename") {
        return Check::Pass;
    }
    Check::Refuse(Refusal {
        code: "move_outcome_lost",
        text: format!(
            "manage_asset {action} was not forwarded: the server throws away what AssetDatabase.MoveAsset \
             returns, so it reports failure on moves that landed, and it takes a bare destination for \
             Assets/<name>. Move and rename through execute_code, with both paths in full \
             (Assets/..., extension included):\n{SNIPPET}\nKeep the throw: a returned error text would \
             look like success. The asset keeps its GUID. UnityEditor.AssetDatabase.ValidateMoveAsset(from, \
             to) is the dry run. If the execute_code is refused because the pin does not resolve, re-pin \
             first with set_active_instance."
        ),
    })
}

const SNIPPET: &str = "\
var from = \"Assets/Old.mat\";\n\
var to = \"Assets/Folder/New.mat\";\n\
var error = UnityEditor.AssetDatabase.MoveAsset(from, to);\n\
if (!string.IsNullOrEmpty(error)) throw new System.Exception(error);\n\
return to;";
