//! From the upstream to the client.

use super::hooks::{ask, ask_each};
use super::inflight::{Asked, InFlight, State};
use super::requests::Onward;
use super::{Action, Level, Now, RELAY, Relay, codes, log_contained, unanswered};
use crate::behaviors::{Cx, EditHook, NoteHook};
use crate::contain::{Class, Contained};
use crate::reply::{self, Additions, Fact, Reply};
use crate::wire::envelope::{Kind, Message, UpstreamLine, in_place_of, read_upstream_ahead};
use crate::wire::id::Id;
use crate::wire::scan::HeadStart;
use bytes::Bytes;

impl Relay {
    /// A line of the upstream's stdout, without its newline.
    pub fn on_child_line(&mut self, line: Bytes, now: Now, out: &mut Vec<Action>) {
        self.on_child_line_ahead(line, None, now, out);
    }

    /// As [`Relay::on_child_line`], with what was seen of the line while it came in.
    #[inline(never)]
    pub fn on_child_line_ahead(
        &mut self,
        line: Bytes,
        head: Option<&HeadStart>,
        now: Now,
        out: &mut Vec<Action>,
    ) {
        match self.child_line(&line, head, now, out) {
            None => {}
            Some(Onward::Line) => out.push(Action::ToClient(incoming(line))),
            Some(Onward::Changed(changed)) => out.push(Action::ToClient(incoming(changed))),
        }
        // Behind what the line itself led to: an answer may have moved the pin.
        self.release(now, out);
    }

    fn child_line(
        &mut self,
        line: &Bytes,
        head: Option<&HeadStart>,
        now: Now,
        out: &mut Vec<Action>,
    ) -> Option<Onward> {
        match &read_upstream_ahead(line, head) {
            UpstreamLine::Blank => {}
            UpstreamLine::Text => out.push(Action::ChildText(line.clone())),
            UpstreamLine::Damaged(id) => self.damaged(id, line, out),
            UpstreamLine::Message(message) => {
                return match &message.kind {
                    Kind::Answer(Some(id)) => self.answer(id, message, line, now, out),
                    // A request or notification of the server's own, or an error that names no request.
                    _ => Some(Onward::Line),
                };
            }
        }
        None
    }

    fn damaged(&mut self, id: &Id, line: &Bytes, out: &mut Vec<Action>) {
        let Some(call) = self.settle(id) else {
            out.push(Action::ChildText(line.clone()));
            return;
        };
        out.push(Action::Log(
            Level::Warn,
            format!(
                "the upstream's answer to {id} cannot be read ({} bytes)",
                line.len()
            ),
        ));
        if call.state == State::Waiting {
            let text = "The MCP for Unity server's answer to this request cannot be read (damaged \
                        bytes). The work may have run: verify its effect before you repeat it.";
            let answer = unanswered(&call, codes::UNREADABLE_ANSWER, text);
            out.push(Action::ToClient(answer));
        }
    }

    fn answer(
        &mut self,
        id: &Id,
        message: &Message<'_>,
        line: &Bytes,
        now: Now,
        out: &mut Vec<Action>,
    ) -> Option<Onward> {
        let Some(call) = self.settle(id) else {
            let text = format!("dropped an answer of the upstream to {id}: nobody waits for it");
            out.push(Action::Log(Level::Info, text));
            return None;
        };
        let onward = self.answer_to(&call, message, line, now, out);
        self.keep(call);
        onward
    }

    /// What goes on to the client in place of the answer to a request that is no longer in the books.
    fn answer_to(
        &mut self,
        call: &InFlight,
        message: &Message<'_>,
        line: &Bytes,
        now: Now,
        out: &mut Vec<Action>,
    ) -> Option<Onward> {
        let waits = call.state == State::Waiting;
        if call.asked == Asked::ToolCall {
            let reply = Reply::of(message);
            // Also when the client no longer waits: upstream has moved its pin all the same.
            let pinned = self.commit_pin(call, &reply, now);
            if let Err(failure) = &pinned {
                out.push(log_contained(failure));
            }
            if waits {
                return match pinned {
                    Ok(()) => self.tool_answer(call, &reply, line, now, out),
                    Err(_) => Some(Onward::Line),
                };
            }
        } else if waits {
            if call.asked == Asked::ToolList {
                return self.listing(call, message, line, now, out);
            }
            return Some(Onward::Line);
        }
        let why = match call.state {
            State::Cancelled => "the client cancelled it",
            State::Superseded => "the client used its id again",
            _ => "it came after the time limit",
        };
        out.push(Action::Log(
            Level::Info,
            format!("dropped the answer to {}: {why}", call.id),
        ));
        None
    }

    fn tool_answer(
        &self,
        call: &InFlight,
        reply: &Reply<'_>,
        line: &Bytes,
        now: Now,
        out: &mut Vec<Action>,
    ) -> Option<Onward> {
        match self.verdict(call, reply, now) {
            Ok(None) => {}
            Ok(Some(refusal)) => {
                out.extend(refusal);
                return None;
            }
            Err(failure) => {
                out.push(log_contained(&failure));
                let text = format!(
                    "vrc-mcp-proxy itself failed in `{}` while it checked this answer, so the answer is \
                     withheld. The work may have run: verify its effect before you repeat it.",
                    failure.region
                );
                let fact = Fact {
                    behavior: RELAY,
                    code: codes::CONTAINED_FAILURE,
                    forwarded: true,
                };
                out.push(Action::ToClient(reply::refusal(&call.id, fact, &text)));
                return None;
            }
        }
        let additions = match self.additions(call, reply, now) {
            Ok(additions) => additions,
            Err(failure) => {
                out.push(log_contained(&failure));
                return Some(Onward::Line);
            }
        };
        if additions.is_empty() {
            return Some(Onward::Line);
        }
        let edited = match reply.with(&additions) {
            Ok(edited) => edited,
            Err(error) => {
                let text = format!("advisory failure: {error}");
                out.push(Action::Log(Level::Warn, text));
                return Some(Onward::Line);
            }
        };
        out.extend(edited.facts.iter().map(|fact| {
            let (tool, id) = (&call.tool, &call.id);
            let text = format!("{}: {tool} {id} ({})", fact.behavior, fact.code);
            Action::Log(Level::Info, text)
        }));
        let log = edited.log.into_iter();
        out.extend(log.map(|text| Action::Log(Level::Warn, text)));
        let changed = edited.line.map(|message| in_place_of(line, message));
        Some(changed.map_or(Onward::Line, Onward::Changed))
    }

    /// The refusal that a verdict makes of an answer, with its log line.
    fn verdict(
        &self,
        call: &InFlight,
        reply: &Reply<'_>,
        now: Now,
    ) -> Result<Option<[Action; 2]>, Contained> {
        let hooks = &self.hooks.at(call.hooks).verdicts;
        if hooks.is_empty() {
            return Ok(None);
        }
        let cx = self.cx(now);
        let said = ask(hooks, 0, Class::Verdict, |verdict| {
            verdict(call, reply, &cx)
        })?;
        let Some((at, refusal)) = said else {
            return Ok(None);
        };
        let behavior = hooks[at].0;
        let fact = Fact {
            behavior,
            code: refusal.code,
            forwarded: true,
        };
        let text = format!("{behavior}: {} {} ({})", call.tool, call.id, refusal.code);
        let answer = reply::refusal(&call.id, fact, &refusal.text);
        Ok(Some([
            Action::Log(Level::Info, text),
            Action::ToClient(answer),
        ]))
    }

    fn additions(
        &self,
        call: &InFlight,
        reply: &Reply<'_>,
        now: Now,
    ) -> Result<Additions, Contained> {
        let mut cx = self.cx(now);
        let mut additions = Additions::default();
        let fact = |behavior, code| Fact {
            behavior,
            code,
            forwarded: true,
        };
        let hooks = self.hooks.at(call.hooks);
        let question = |edit: EditHook, cx: &Cx<'_>| edit(call, reply, cx);
        ask_each(
            &hooks.edits,
            Class::Advisory,
            &mut cx,
            question,
            |_, name, edit| {
                additions.edits.push((fact(name, edit.code), edit));
                Ok::<_, Contained>(())
            },
        )?;
        let question = |note: NoteHook, cx: &Cx<'_>| {
            Some(note(call, reply, cx)).filter(|notes| !notes.is_empty())
        };
        ask_each(
            &hooks.notes,
            Class::Advisory,
            &mut cx,
            question,
            |cx, name, notes| {
                cx.said.push(name);
                for note in notes {
                    additions.facts.push(fact(name, note.code));
                    additions.notes.push(note.text);
                }
                Ok::<_, Contained>(())
            },
        )?;
        Ok(additions)
    }
}

/// The bytes for the client: as they came, without the carriage return of a CRLF ending.
fn incoming(mut line: Bytes) -> Bytes {
    if line.ends_with(b"\r") {
        line.truncate(line.len() - 1);
    }
    line
}
