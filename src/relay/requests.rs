//! From the client to the upstream.

use super::hold::{Passage, UnityBound};
use super::hooks::{Named, ask_each};
use super::inflight::{Asked, InFlight, State};
use super::refusals::{Stopped, never_forwarded, reject, request};
use super::witness::witness;
use super::{Action, Level, Now, RELAY, Relay};
use crate::behaviors::{
    Check, Cx, DeadlineHook, Expiry, Guard, RewriteHook, Rewriting, snippet_fits,
};
use crate::call::{Call, Target, TargetSource};
use crate::contain::{Class, contain};
use crate::instances::Selector;
use crate::reply;
use crate::wire::envelope::{ClientLine, INVALID_PARAMS, Kind, Message, in_place_of, read_client};
use crate::wire::id::Id;
use bytes::{Buf, Bytes};
use std::time::Duration;

/// What goes on in place of a line that came.
pub(super) enum Onward {
    /// The line itself.
    Line,
    /// What was made of it.
    Changed(Bytes),
}

impl Relay {
    /// A line from the client, without its newline.
    #[inline(never)]
    pub fn on_client_line(&mut self, line: Bytes, now: Now, out: &mut Vec<Action>) {
        let onward = self.client_line(&line, now, out);
        to_child(line, onward, out);
    }

    fn client_line(&mut self, line: &Bytes, now: Now, out: &mut Vec<Action>) -> Option<Onward> {
        // Looked at where it was made, here and below: to move a message or a call costs more than most of what is done.
        match &mut read_client(line) {
            ClientLine::Blank => None,
            ClientLine::Rejected(rejection) => {
                if let Some(id) = rejection.id.as_ref().filter(|_| rejection.answered) {
                    self.supersede(id, out);
                }
                reject(rejection, out);
                None
            }
            ClientLine::Message(message) => match &message.kind {
                Kind::Answer(_) => Some(Onward::Line),
                Kind::Notification => self.notification(message, out),
                Kind::Request(id) => {
                    let id = id.clone();
                    self.supersede(&id, out);
                    if message.method == "tools/call" {
                        self.tool_call(id, message, line, now, out)
                    } else {
                        self.request(id, message, line, now, out)
                    }
                }
            },
        }
    }

    fn notification(&mut self, message: &Message<'_>, out: &mut Vec<Action>) -> Option<Onward> {
        let goes = match &*message.method {
            // Upstream would neither run nor answer it.
            "tools/call" => {
                let text = "a tools/call without an id was not forwarded: it is a notification";
                out.push(Action::Log(Level::Warn, text.to_owned()));
                false
            }
            "notifications/cancelled" => self.cancel(message, out),
            _ => true,
        };
        goes.then_some(Onward::Line)
    }

    /// The client gives a request up. `false` when upstream must not hear of it.
    fn cancel(&mut self, message: &Message<'_>, out: &mut Vec<Action>) -> bool {
        let params = message.params().and_then(|raw| raw.as_object());
        let Some(id) = params
            .and_then(|params| params.get("requestId"))
            .and_then(Id::read)
        else {
            return true;
        };
        if self.unqueue(&id) {
            let text = format!("request {id} was cancelled while it waited: it is dropped unsent");
            out.push(Action::Log(Level::Info, text));
            return false;
        }
        let kept = self.keeps_cancellation(&id);
        if self.retire(&id, State::Cancelled) {
            let kept = if kept {
                " The server is not told: it would go on re-sending the call unseen."
            } else {
                ""
            };
            let text = format!("request {id} was cancelled: its answer will be dropped.{kept}");
            out.push(Action::Log(Level::Info, text));
        }
        !kept
    }

    fn request(
        &mut self,
        id: Id,
        message: &Message<'_>,
        line: &Bytes,
        now: Now,
        out: &mut Vec<Action>,
    ) -> Option<Onward> {
        let asked = match &*message.method {
            "initialize" => Asked::Initialize,
            "tools/list" => Asked::ToolList,
            "resources/read" => Asked::Read,
            _ => Asked::Other,
        };
        if let Some(how) = &self.ended {
            out.push(never_forwarded(&id, asked, how));
            return None;
        }
        if asked == Asked::Read {
            let passage = self.arrival(UnityBound::Read, &id, line, now, out)?;
            let entry = self.entry(id, asked);
            self.send(entry, &passage, now);
        } else {
            self.hold.sent_other(&id);
            let entry = self.entry(id, asked);
            self.track(entry);
        }
        Some(Onward::Line)
    }

    fn tool_call(
        &mut self,
        id: Id,
        message: &mut Message<'_>,
        line: &Bytes,
        now: Now,
        out: &mut Vec<Action>,
    ) -> Option<Onward> {
        let mut call = Call::read(id, message);
        let Some(call) = &mut call else {
            let Kind::Request(id) = &message.kind else {
                return None;
            };
            let text = "the `params` of a tools/call must be an object";
            out.push(Action::ToClient(reply::rpc_error(
                Some(id),
                INVALID_PARAMS,
                text,
            )));
            return None;
        };
        if let Some(how) = &self.ended {
            out.push(never_forwarded(&call.id, Asked::ToolCall, how));
            return None;
        }
        let passage = self.arrival(UnityBound::Call(call), &call.id, line, now, out)?;
        self.depart(call, line, &passage, now, out)
    }

    /// A call's turn has come: it goes out, unless something stops it now.
    pub(super) fn depart(
        &mut self,
        call: &mut Call<'_>,
        line: &Bytes,
        passage: &Passage,
        now: Now,
        out: &mut Vec<Action>,
    ) -> Option<Onward> {
        if call.executes() {
            call.key = self.surroundings.fresh_key();
        }
        call.target = self.target(call);
        let mut entry = self.entry(call.id.clone(), Asked::ToolCall);
        match self.clear(call, &mut entry, now, out) {
            Ok(message) => {
                self.remember(&mut entry.seen);
                self.send(entry, passage, now);
                let changed = message.map(|message| in_place_of(line, message));
                Some(changed.map_or(Onward::Line, Onward::Changed))
            }
            Err(stopped) => {
                self.stop(&call.id, Asked::ToolCall, &call.tool, stopped, out);
                None
            }
        }
    }

    /// Takes note of a Unity-bound request that goes out.
    pub(super) fn send(&mut self, mut entry: Box<InFlight>, passage: &Passage, now: Now) {
        entry.limit = self.hold.sent(passage, self.seq, now);
        self.track(entry);
    }

    /// The Editor that a call is meant for: its own, the pin, the environment's default.
    fn target(&self, call: &Call<'_>) -> Option<Target> {
        let per_call = call.instance();
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

    /// Guards, then rewrites, then the deadline, then witnesses. What is made of the call, if it is changed; `entry` gets
    /// what is to be known of it later.
    fn clear(
        &self,
        call: &mut Call<'_>,
        entry: &mut InFlight,
        now: Now,
        out: &mut Vec<Action>,
    ) -> Result<Option<Bytes>, Stopped> {
        let cx = self.cx(now);
        entry.hooks = self.hooks.place(&call.tool);
        let hooks = self.hooks.at(entry.hooks);
        guards(&hooks.departure, call, &cx)?;
        rewrite(&hooks.rewrites, call, &cx, &mut entry.prelude)?;
        entry.deadline = deadline(&hooks.deadlines, call, &cx, now)?;
        let edits = call.edits();
        let message = if edits.is_empty() {
            None
        } else {
            let text = call.text();
            let apply = move || edits.apply(text).map_err(|e| e.to_string());
            let line = contain(RELAY, Class::Request, apply);
            Some(line.map_err(Stopped::Failed)?)
        };
        witness(&hooks.witnesses, call, &cx, &mut entry.seen, out);
        entry.tool.push_str(&call.tool);
        entry.action = call.action().map(String::from);
        entry.line.extend_from_slice(call.text().as_bytes());
        entry.target = call.target.take();
        Ok(message)
    }
}

/// Asks guards.
pub(super) fn guards(
    guards: &[Named<Guard>],
    call: &mut Call<'_>,
    cx: &Cx<'_>,
) -> Result<(), Stopped> {
    let question = |guard: Guard, call: &Call<'_>| match guard(call, cx) {
        Check::Pass => None,
        check => Some(check),
    };
    ask_each(
        guards,
        Class::Request,
        call,
        question,
        |call, name, check| {
            match check {
                Check::Pass => {}
                Check::Aim(target) => call.target = Some(target),
                Check::Refuse(refusal) => return Err(Stopped::By(name, refusal)),
            }
            Ok(())
        },
    )
}

fn rewrite(
    hooks: &[Named<RewriteHook>],
    call: &mut Call<'_>,
    cx: &Cx<'_>,
    prelude: &mut Vec<(&'static str, usize)>,
) -> Result<(), Stopped> {
    let question = |rewrite: RewriteHook, call: &Call<'_>| match rewrite(call, cx) {
        Rewriting::Keep => None,
        Rewriting::Change(change) => Some(change),
    };
    ask_each(
        hooks,
        Class::Request,
        call,
        question,
        |call, name, change| {
            if let Some(lines) = &change.lines {
                prelude.push((name, lines.ahead));
            }
            call.apply(change);
            Ok::<_, Stopped>(())
        },
    )?;
    if let Some((name, _)) = prelude.first()
        && let Check::Refuse(refusal) = request(name, || snippet_fits(call))?
    {
        return Err(Stopped::By(name, refusal));
    }
    Ok(())
}

fn deadline(
    hooks: &[Named<DeadlineHook>],
    call: &Call<'_>,
    cx: &Cx<'_>,
    now: Now,
) -> Result<Option<(Duration, &'static str, Expiry)>, Stopped> {
    let mut first: Option<(Duration, &'static str, Expiry)> = None;
    let question = |deadline: DeadlineHook, (): &()| deadline(call, cx);
    ask_each(
        hooks,
        Class::Request,
        &mut (),
        question,
        |(), name, expiry| {
            // A limit beyond the clock's reach is no limit.
            let at = now.since_start.checked_add(expiry.after);
            if let Some(at) = at
                && first.as_ref().is_none_or(|(soonest, _, _)| at < *soonest)
            {
                first = Some((at, name, expiry));
            }
            Ok::<_, Stopped>(())
        },
    )?;
    Ok(first)
}

/// Hands on what goes to the upstream in place of a line.
pub(super) fn to_child(line: Bytes, onward: Option<Onward>, out: &mut Vec<Action>) {
    let line = match onward {
        None => return,
        Some(Onward::Line) => line,
        Some(Onward::Changed(changed)) => changed,
    };
    out.push(Action::ToChild(outgoing(line)));
}

/// The bytes for the upstream: no BOM, and no carriage return, where upstream would split the line.
/// A raw one can only be white space in valid JSON.
fn outgoing(mut line: Bytes) -> Bytes {
    if line.starts_with(b"\xEF\xBB\xBF") {
        line.advance(3);
    }
    if line.ends_with(b"\r") {
        line.truncate(line.len() - 1);
    }
    if memchr::memchr(b'\r', &line).is_none() {
        return line;
    }
    let spaced = line.iter().map(|&b| if b == b'\r' { b' ' } else { b });
    spaced.collect::<Vec<u8>>().into()
}

#[cfg(test)]
mod tests;
