//! Sending a snippet with lines around it.

use crate::behaviors::{Check, Refusal, Rewriting};
use crate::call::{Call, Rewrite};
use crate::csharp::prelude::{Wrapped, over_limit};

/// The code of the refusal that [`fits`] makes, with its meaning.
pub(in crate::behaviors) const TOO_LONG: (&str, &str) = (
    "code_too_long_wrapped",
    "the added lines push the code over the Editor's limit",
);

/// Sends `wrapped` in place of `code`, the snippet that it was made from.
pub(in crate::behaviors) fn send(call: &Call<'_>, code: &str, wrapped: Wrapped) -> Rewriting {
    let [head, tail] = wrapped.around(code);
    let Some(literal) = call.around("code", &head, &tail) else {
        return Rewriting::Keep;
    };
    Rewriting::Change(Rewrite {
        set: vec![("code", literal)],
        prelude_lines: wrapped.prelude_lines,
        snippet: Some(wrapped.code),
        ..Rewrite::default()
    })
}

/// Refuses a snippet that only the lines around it make too long for the Editor, which would blame the caller. To be
/// asked when all lines are there: numbers that leave some out would have the caller shorten it for nothing.
pub(crate) fn fits(call: &Call<'_>) -> Check {
    let (Some(all), Some(own)) = (call.snippet(), call.original_snippet()) else {
        return Check::Pass;
    };
    match over_limit(own, all) {
        None => Check::Pass,
        Some(over) => Check::Refuse(Refusal {
            code: TOO_LONG.0,
            text: over.to_string(),
        }),
    }
}
