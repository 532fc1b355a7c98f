//! A snippet that gets no answer is given up in time, and once.

use super::{Behavior, Cx, Expiry, Hook, Refusal};
use crate::call::Call;
use std::time::Duration;

/// The behaviour's entry.
pub(super) const BEHAVIOR: Behavior = Behavior {
    name: "execute_code_watchdog",
    summary: "Answers an execute_code call that got no answer in time (120 s unless configured).",
    hooks: &[Hook::Deadline(limit)],
    codes: &[(
        "no_answer_in_time",
        "the time limit passed without an answer",
    )],
};

fn limit(call: &Call<'_>, cx: &Cx<'_>) -> Option<Expiry> {
    call.executes().then_some(Expiry {
        after: cx.config.execute_timeout,
        refusal: given_up,
    })
}

fn given_up(after: Duration) -> Refusal {
    Refusal {
        code: "no_answer_in_time",
        text: format!(
            "No response to this execute_code call for {} s; the proxy has stopped waiting. The snippet may \
             have run, or may still run: if it mutates, verify on disk first. The usual cause is Roslyn's \
             background compile hanging in that Editor: retry this snippet with compiler:\"codedom\". If \
             codedom rejects the syntax (C# 7 and later), restart the Editor. A modal dialog or an unfocused \
             Editor looks the same from here.",
            after.as_secs_f64()
        ),
    }
}
