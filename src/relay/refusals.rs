//! Answers to what is not forwarded.

use super::inflight::Asked;
use super::{Action, Level, RELAY, Relay, codes, log_contained};
use crate::behaviors::Refusal;
use crate::contain::{Class, Contained, contain};
use crate::reply::{self, Fact};
use crate::wire::envelope::{INTERNAL_ERROR, Rejection};
use crate::wire::id::Id;

/// Why a request is not forwarded.
pub(super) enum Stopped {
    By(&'static str, Refusal),
    Failed(Contained),
}

impl From<Contained> for Stopped {
    fn from(failure: Contained) -> Self {
        Stopped::Failed(failure)
    }
}

impl Relay {
    /// Answers a request that is not forwarded. `what` is the tool's name, or the method.
    pub(super) fn stop(
        &self,
        id: &Id,
        asked: Asked,
        what: &str,
        stopped: Stopped,
        out: &mut Vec<Action>,
    ) {
        let (behavior, refusal) = match stopped {
            Stopped::By(behavior, refusal) => {
                let text = format!("{behavior}: refused {what} {id} ({})", refusal.code);
                out.push(Action::Log(Level::Info, text));
                (behavior, refusal)
            }
            Stopped::Failed(failure) => {
                out.push(log_contained(&failure));
                (RELAY, contained_refusal(&failure))
            }
        };
        out.push(refuse(id, asked, behavior, &refusal));
    }
}

/// Runs a hook of the request class.
pub(super) fn request<T>(
    name: &'static str,
    hook: impl FnOnce() -> T + std::panic::UnwindSafe,
) -> Result<T, Stopped> {
    contain(name, Class::Request, || Ok(hook())).map_err(Stopped::Failed)
}

pub(super) fn reject(rejection: &Rejection, out: &mut Vec<Action>) {
    let reason = rejection.reason;
    out.push(Action::Log(
        Level::Warn,
        format!("a line of the client was not forwarded: {reason}"),
    ));
    if rejection.answered {
        out.push(Action::ToClient(reply::rpc_error(
            rejection.id.as_ref(),
            rejection.code,
            reason,
        )));
    }
}

/// The answer to a request that upstream never sees: a refusal for a tool call, an error for anything else.
fn refuse(id: &Id, asked: Asked, behavior: &'static str, refusal: &Refusal) -> Action {
    if asked != Asked::ToolCall {
        let error = reply::rpc_error(Some(id), INTERNAL_ERROR, &refusal.text);
        return Action::ToClient(error);
    }
    let fact = Fact {
        behavior,
        code: refusal.code,
        forwarded: false,
    };
    Action::ToClient(reply::refusal(id, fact, &refusal.text))
}

/// The answer to a request that comes too late for upstream, or waited too long.
pub(super) fn never_forwarded(id: &Id, asked: Asked, how: &str) -> Action {
    let refusal = Refusal {
        code: codes::UPSTREAM_ENDED,
        text: format!(
            "The MCP for Unity server {how}; this request was never forwarded, nothing ran."
        ),
    };
    refuse(id, asked, RELAY, &refusal)
}

fn contained_refusal(failure: &Contained) -> Refusal {
    let region = failure.region;
    // The core's own regions have no switch.
    let switch = if region == RELAY {
        String::new()
    } else {
        format!(", or set VRC_MCP_PROXY_DISABLE={region} and restart the server")
    };
    Refusal {
        code: codes::CONTAINED_FAILURE,
        text: format!(
            "vrc-mcp-proxy itself failed in `{region}` while it checked this call. Nothing was forwarded \
             and nothing ran. The identical call will hit the same fault: change the call{switch}."
        ),
    }
}
