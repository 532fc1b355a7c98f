//! A using directive cannot stand in a method body, and that is where a snippet lands.

use super::{Behavior, Check, Cx, Hook, Refusal};
use crate::call::Call;
use crate::csharp::using::using_directive;
use crate::reply::Phrase;

/// The behaviour's entry.
pub(super) const BEHAVIOR: Behavior = Behavior {
    name: "execute_code_using_refusal",
    summary: "Refuses a snippet with a using directive, which cannot compile inside a method.",
    hooks: &[Hook::Guard(check)],
    codes: &[("using_directive", "the snippet holds a using directive")],
};

static USING: Phrase = Phrase::new("using");

fn check(call: &Call<'_>, _: &Cx<'_>) -> Check {
    if !call.snippet_may_hold(&USING) {
        return Check::Pass;
    }
    let found = call.snippet().and_then(|code| using_directive(&code));
    let Some(directive) = found else {
        return Check::Pass;
    };
    Check::Refuse(Refusal {
        code: "using_directive",
        text: format!(
            "Line {} of this snippet is a using directive: `{}`. A snippet becomes the body of a method, where \
             a directive cannot compile, so it was not forwarded. Remove it and write full names instead. Six \
             namespaces are imported already: System, System.Collections.Generic, System.Linq, \
             System.Reflection, UnityEngine, UnityEditor. The list is exhaustive and takes in no \
             sub-namespaces: UnityEditor.SceneManagement is the usual one missed. The tool doors \
             Ryan6Vrc.AgentTools.Editor.<Tool> and Ryan6Vrc.AvatarTools.Editor.<Tool> need full names too. \
             Using statements, `using (...)` and `using var x = ...`, are fine.",
            directive.line, directive.text
        ),
    })
}
