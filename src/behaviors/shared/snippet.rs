//! Sending a snippet with lines around it.

use crate::behaviors::{Refusal, Rewriting};
use crate::call::Rewrite;
use crate::csharp::prelude::{Wrapped, over_limit};
use crate::wire::quote;

/// The code of the refusal that [`send`] makes, with its meaning.
pub(in crate::behaviors) const TOO_LONG: (&str, &str) = (
    "code_too_long_wrapped",
    "the added lines push the code over the Editor's limit",
);

/// Sends `wrapped` in place of the caller's `own` snippet, unless only the lines around it make it too long for
/// the Editor, which would blame the caller.
pub(in crate::behaviors) fn send(own: &str, wrapped: &Wrapped) -> Rewriting {
    if let Some(over) = over_limit(own, &wrapped.code) {
        return Rewriting::Refuse(Refusal {
            code: TOO_LONG.0,
            text: over.to_string(),
        });
    }
    Rewriting::Change(Rewrite {
        set: vec![("code", quote(&wrapped.code))],
        prelude_lines: wrapped.prelude_lines,
        ..Rewrite::default()
    })
}
