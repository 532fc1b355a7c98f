//! Sending a snippet with lines around it.

use crate::behaviors::{Check, Refusal, Rewriting};
use crate::call::{Call, Rewrite};
use crate::csharp::prelude::{EDITOR_CODE_LIMIT_UTF16, Lines, over_limit};

/// The code of the refusal that [`fits`] makes, with its meaning.
pub(in crate::behaviors) const TOO_LONG: (&str, &str) = (
    "code_too_long_wrapped",
    "the added lines push the code over the Editor's limit",
);

/// Sends the snippet with `lines` around it.
pub(in crate::behaviors) fn surround(lines: Lines) -> Rewriting {
    Rewriting::Change(Rewrite {
        lines: Some(lines),
        ..Rewrite::default()
    })
}

/// Refuses a snippet that only the lines around it make too long for the Editor, which would blame the caller. To be
/// asked when all lines are there: numbers that leave some out would have the caller shorten it for nothing.
pub(crate) fn fits(call: &Call<'_>) -> Check {
    let added = call.added();
    if call.snippet_bytes() + added <= EDITOR_CODE_LIMIT_UTF16 {
        return Check::Pass;
    }
    match call.snippet().and_then(|own| over_limit(&own, added)) {
        None => Check::Pass,
        Some(over) => Check::Refuse(Refusal {
            code: TOO_LONG.0,
            text: over.to_string(),
        }),
    }
}
