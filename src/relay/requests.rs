//! From the client to the upstream.

use super::inflight::{Asked, InFlight, State};
use super::{Action, Level, Now, RELAY, Relay, codes, log_contained};
use crate::behaviors::{Check, Cx, Hook, Refusal, Rewriting, snippet_fits};
use crate::call::{Call, Target, TargetSource};
use crate::contain::{Class, Contained, contain};
use crate::instances::Selector;
use crate::reply::{self, Fact};
use crate::wire::envelope::{
    ClientLine, INTERNAL_ERROR, INVALID_PARAMS, Kind, Message, Rejection, in_place_of, read_client,
};
use crate::wire::id::Id;
use bytes::Bytes;
use std::time::Duration;

/// A call that is cleared for upstream.
struct Cleared {
    line: Option<Bytes>,
    entry: InFlight,
}

/// Why a call is not forwarded.
enum Stopped {
    By(&'static str, Refusal),
    Failed(Contained),
}

impl Relay {
    /// A line from the client, without its newline.
    pub fn on_client_line(&mut self, line: &Bytes, now: Now, out: &mut Vec<Action>) {
        match read_client(line) {
            ClientLine::Blank => {}
            ClientLine::Rejected(rejection) => {
                if let Some(id) = rejection.id.as_ref().filter(|_| rejection.answered) {
                    self.supersede(id, out);
                }
                reject(&rejection, out);
            }
            ClientLine::Message(message) => match message.kind.clone() {
                Kind::Answer(_) => out.push(Action::ToChild(outgoing(line))),
                Kind::Notification => self.notification(&message, line, out),
                Kind::Request(id) => {
                    self.supersede(&id, out);
                    if message.method == "tools/call" {
                        self.tool_call(&id, &message, line, now, out);
                    } else {
                        self.request(id, &message, line, out);
                    }
                }
            },
        }
    }

    fn notification(&mut self, message: &Message<'_>, line: &Bytes, out: &mut Vec<Action>) {
        match &*message.method {
            // Upstream would neither run nor answer it.
            "tools/call" => {
                let text = "a tools/call without an id was not forwarded: it is a notification";
                out.push(Action::Log(Level::Warn, text.to_owned()));
            }
            "notifications/cancelled" => {
                self.cancel(message, out);
                out.push(Action::ToChild(outgoing(line)));
            }
            _ => out.push(Action::ToChild(outgoing(line))),
        }
    }

    fn cancel(&mut self, message: &Message<'_>, out: &mut Vec<Action>) {
        let params = message.params().and_then(|raw| raw.as_object());
        let Some(id) = params
            .and_then(|params| params.get("requestId"))
            .and_then(Id::read)
        else {
            return;
        };
        if self.retire(&id, State::Cancelled) {
            let text = format!("request {id} was cancelled: its answer will be dropped");
            out.push(Action::Log(Level::Info, text));
        }
    }

    fn request(&mut self, id: Id, message: &Message<'_>, line: &Bytes, out: &mut Vec<Action>) {
        if let Some(how) = &self.ended {
            let text = format!("The MCP for Unity server {how}; this request was never forwarded.");
            out.push(Action::ToClient(reply::rpc_error(
                Some(&id),
                INTERNAL_ERROR,
                &text,
            )));
            return;
        }
        let asked = match &*message.method {
            "tools/list" => Asked::ToolList,
            _ => Asked::Other,
        };
        self.track(entry(id, asked));
        out.push(Action::ToChild(outgoing(line)));
    }

    fn tool_call(
        &mut self,
        id: &Id,
        message: &Message<'_>,
        line: &Bytes,
        now: Now,
        out: &mut Vec<Action>,
    ) {
        let Some(params) = message.params().and_then(|raw| raw.as_object()) else {
            let text = "the `params` of a tools/call must be an object";
            out.push(Action::ToClient(reply::rpc_error(
                Some(id),
                INVALID_PARAMS,
                text,
            )));
            return;
        };
        if let Some(how) = &self.ended {
            let text = format!(
                "The MCP for Unity server {how}; this call was never forwarded and did not run."
            );
            out.push(refuse(id, RELAY, codes::UPSTREAM_ENDED, &text));
            return;
        }
        let mut call = Call::new(id.clone(), message.text(), params, "");
        let key = if call.executes() {
            self.surroundings.fresh_key()
        } else {
            String::new()
        };
        call.key = &key;
        call.target = self.target(&call);
        match self.clear(&mut call, now) {
            Ok(cleared) => {
                let changed = cleared.line.map(|message| in_place_of(line, message));
                let line = changed.unwrap_or_else(|| line.clone());
                self.track(cleared.entry);
                out.push(Action::ToChild(outgoing(&line)));
            }
            Err(Stopped::By(behavior, refusal)) => {
                let text = format!("{behavior}: refused {} {id} ({})", call.tool, refusal.code);
                out.push(Action::Log(Level::Info, text));
                out.push(refuse(id, behavior, refusal.code, &refusal.text));
            }
            Err(Stopped::Failed(failure)) => {
                out.push(log_contained(&failure));
                // The core's own regions have no switch.
                let switch = if failure.region == RELAY {
                    String::new()
                } else {
                    let region = failure.region;
                    format!(", or set VRC_MCP_PROXY_DISABLE={region} and restart the server")
                };
                let text = format!(
                    "vrc-mcp-proxy itself failed in `{}` while it checked this call. Nothing was \
                     forwarded and nothing ran. The identical call will hit the same fault: change the \
                     call{switch}.",
                    failure.region
                );
                out.push(refuse(id, RELAY, codes::CONTAINED_FAILURE, &text));
            }
        }
    }

    /// The Editor that a call is meant for: its own, the pin, the environment's default.
    fn target(&self, call: &Call<'_>) -> Option<Target> {
        let per_call = call.argument("unity_instance").and_then(Selector::read);
        let pin = || self.pins.pin.as_deref().and_then(Selector::from_text);
        let default = || {
            let value = self.config.default_instance.as_deref()?;
            Selector::default_instance(value)
        };
        let named = |source| move |selector| Target { selector, source };
        per_call
            .map(named(TargetSource::PerCall))
            .or_else(|| pin().map(named(TargetSource::Pin)))
            .or_else(|| default().map(named(TargetSource::Default)))
    }

    /// Guards, then rewrites, then the deadline.
    fn clear(&self, call: &mut Call<'_>, now: Now) -> Result<Cleared, Stopped> {
        let cx = self.cx(now);
        for (name, guard) in self.hooks(|hook| match hook {
            Hook::Guard(run) => Some(*run),
            _ => None,
        }) {
            match request(name, || guard(call, &cx))? {
                Check::Pass => {}
                Check::Refuse(refusal) => return Err(Stopped::By(name, refusal)),
            }
        }
        let prelude = self.rewrite(call, &cx)?;
        let deadline = self.deadline(call, &cx, now)?;
        let edits = call.edits();
        let line = if edits.is_empty() {
            None
        } else {
            let text = call.text();
            let apply = move || edits.apply(text).map_err(|e| e.to_string());
            let line = contain(RELAY, Class::Request, apply);
            Some(line.map_err(Stopped::Failed)?)
        };
        let entry = InFlight {
            tool: call.tool.to_string(),
            action: call.action().map(String::from),
            target: call.target.clone(),
            prelude,
            deadline,
            line: Bytes::copy_from_slice(call.text().as_bytes()),
            ..entry(call.id.clone(), Asked::ToolCall)
        };
        Ok(Cleared { line, entry })
    }

    fn rewrite(
        &self,
        call: &mut Call<'_>,
        cx: &Cx<'_>,
    ) -> Result<Vec<(&'static str, usize)>, Stopped> {
        let mut prelude = Vec::new();
        for (name, rewrite) in self.hooks(|hook| match hook {
            Hook::Rewrite(run) => Some(*run),
            _ => None,
        }) {
            match request(name, || rewrite(call, cx))? {
                Rewriting::Keep => {}
                Rewriting::Change(change) => {
                    if change.prelude_lines > 0 {
                        prelude.push((name, change.prelude_lines));
                    }
                    call.apply(change);
                }
            }
        }
        if let Some((name, _)) = prelude.first()
            && let Check::Refuse(refusal) = request(name, || snippet_fits(call))?
        {
            return Err(Stopped::By(name, refusal));
        }
        Ok(prelude)
    }

    fn deadline(
        &self,
        call: &Call<'_>,
        cx: &Cx<'_>,
        now: Now,
    ) -> Result<Option<(Duration, &'static str, Refusal)>, Stopped> {
        let mut first: Option<(Duration, &'static str, Refusal)> = None;
        for (name, deadline) in self.hooks(|hook| match hook {
            Hook::Deadline(run) => Some(*run),
            _ => None,
        }) {
            let Some(expiry) = request(name, || deadline(call, cx))? else {
                continue;
            };
            // A limit beyond the clock's reach is no limit.
            let at = now.since_start.checked_add(expiry.after);
            if let Some(at) = at
                && first.as_ref().is_none_or(|(soonest, _, _)| at < *soonest)
            {
                first = Some((at, name, expiry.refusal));
            }
        }
        Ok(first)
    }

    /// The enabled hooks of one kind with their behaviours' names, in the registry's order.
    pub(super) fn hooks<'s, T: 's>(
        &'s self,
        pick: impl Fn(&Hook) -> Option<T> + Copy + 's,
    ) -> impl Iterator<Item = (&'static str, T)> + 's {
        self.behaviors.iter().flat_map(move |behavior| {
            let hooks = behavior.hooks.iter();
            hooks.filter_map(move |hook| Some((behavior.name, pick(hook)?)))
        })
    }
}

/// Runs a hook of the request class.
fn request<T>(
    name: &'static str,
    hook: impl FnOnce() -> T + std::panic::UnwindSafe,
) -> Result<T, Stopped> {
    contain(name, Class::Request, || Ok(hook())).map_err(Stopped::Failed)
}

fn entry(id: Id, asked: Asked) -> InFlight {
    InFlight {
        id,
        asked,
        state: State::Waiting,
        tool: String::new(),
        action: None,
        target: None,
        prelude: Vec::new(),
        seq: 0,
        deadline: None,
        line: Bytes::new(),
    }
}

fn reject(rejection: &Rejection, out: &mut Vec<Action>) {
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

fn refuse(id: &Id, behavior: &'static str, code: &'static str, text: &str) -> Action {
    let fact = Fact {
        behavior,
        code,
        forwarded: false,
    };
    Action::ToClient(reply::refusal(id, fact, text))
}

/// The bytes for the upstream: no BOM, and no carriage return, where upstream would split the line.
/// A raw one can only be white space in valid JSON.
fn outgoing(line: &Bytes) -> Bytes {
    let start = if line.starts_with(b"\xEF\xBB\xBF") {
        3
    } else {
        0
    };
    let end = line.len() - usize::from(line.ends_with(b"\r"));
    let line = line.slice(start..end.max(start));
    if memchr::memchr(b'\r', &line).is_none() {
        return line;
    }
    let spaced = line.iter().map(|&b| if b == b'\r' { b' ' } else { b });
    spaced.collect::<Vec<u8>>().into()
}

#[cfg(test)]
mod tests;
