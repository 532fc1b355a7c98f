//! Answers to `tools/list`: shown only when every listing hook has vouched for them.

use super::inflight::InFlight;
use super::requests::Onward;
use super::{Action, Level, Now, RELAY, Relay, log_contained};
use crate::behaviors::{ListedTool, Listing, ListingEdit, ToolKey};
use crate::contain::{Class, Contained, contain};
use crate::reply;
use crate::wire::envelope::{INTERNAL_ERROR, Member, Message, in_place_of};
use crate::wire::object::{Object, Raw};
use crate::wire::quote;
use crate::wire::splice::Edits;
use bytes::Bytes;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

/// A list that was looked at. Clients ask again and again for the same one, and reading 47 schemas costs more
/// than all the rest of the answer.
pub(super) struct Vetted {
    /// The `tools` array as upstream sent it.
    list: Bytes,
    /// The array for the client; `None` when nothing is hidden or set.
    shown: Option<String>,
}

impl Relay {
    /// Shows the list as far as it is vouched for, or says that it is not.
    pub(super) fn listing(
        &mut self,
        call: &InFlight,
        message: &Message<'_>,
        line: &Bytes,
        now: Now,
        out: &mut Vec<Action>,
    ) -> Option<Onward> {
        let says = |member| message.get(member).is_some_and(|raw| !raw.is_null());
        // A list beside an error is a list all the same to a client that looks for one.
        let is_error = says(Member::Error) && !says(Member::Result);
        if is_error || self.hooks.listings.is_empty() {
            return Some(Onward::Line);
        }
        match self.show(message, line, now, out) {
            Ok(onward) => Some(onward),
            Err(failure) => {
                out.push(log_contained(&failure));
                let text = format!(
                    "vrc-mcp-proxy could not vouch for this tool list (`{}` failed), so it is not \
                     shown: {}",
                    failure.region, failure.message
                );
                let answer = reply::rpc_error(Some(&call.id), INTERNAL_ERROR, &text);
                out.push(Action::ToClient(answer));
                None
            }
        }
    }

    fn show(
        &mut self,
        message: &Message<'_>,
        line: &Bytes,
        now: Now,
        out: &mut Vec<Action>,
    ) -> Result<Onward, Contained> {
        let list = contain(RELAY, Class::Listing, || {
            let result = message.get(Member::Result).and_then(|raw| raw.as_object());
            let list = result.and_then(|result| result.get("tools"));
            list.ok_or_else(|| "it has no `tools`".to_owned())
        })?;
        let known = |vetted: &&Vetted| vetted.list == list.text;
        if self.vetted.as_ref().filter(known).is_none() {
            let (shown, edit) = self.vet(list, now)?;
            out.extend(
                edit.log
                    .into_iter()
                    .map(|text| Action::Log(Level::Warn, text)),
            );
            self.listings.drifted.extend(edit.drifted);
            self.listings.own_confirm.extend(edit.own_confirm);
            self.listings.names.extend(edit.listed);
            let list = Bytes::copy_from_slice(list.text.as_bytes());
            self.vetted = Some(Vetted { list, shown });
        }
        let Some(shown) = self
            .vetted
            .as_ref()
            .and_then(|vetted| vetted.shown.as_ref())
        else {
            return Ok(Onward::Line);
        };
        let mut edits = Edits::default();
        edits.replace(list.range(), shown.as_str());
        let message = contain(RELAY, Class::Listing, move || {
            edits
                .apply(message.text())
                .map_err(|error| error.to_string())
        })?;
        Ok(Onward::Changed(in_place_of(line, message)))
    }

    /// The array as the client may see it (`None`: as it is), and what all hooks together say of it.
    fn vet(&self, list: Raw<'_>, now: Now) -> Result<(Option<String>, ListingEdit), Contained> {
        let cx = self.cx(now);
        let tools = contain(RELAY, Class::Listing, || {
            list.as_array()
                .ok_or_else(|| "its `tools` is no array".to_owned())
        })?;
        let views: Vec<Option<Object<'_>>> = tools.iter().map(Raw::as_object).collect();
        let listing = Listing {
            tools: views.iter().map(listed).collect(),
        };
        let mut all = ListingEdit::default();
        for &(name, look) in &self.hooks.listings {
            let edit = contain(name, Class::Listing, || look(&listing, &cx))?;
            all.hide.extend(edit.hide);
            all.set.extend(edit.set);
            all.own_confirm.extend(edit.own_confirm);
            all.listed.extend(edit.listed);
            all.drifted.extend(edit.drifted);
            let log = edit.log.iter().map(|text| format!("{name}: {text}"));
            all.log.extend(log);
        }
        let hidden: BTreeSet<usize> = all.hide.iter().copied().collect();
        if hidden.is_empty() && all.set.is_empty() {
            return Ok((None, all));
        }
        let mut kept = Vec::new();
        for (at, (tool, view)) in tools.iter().zip(&views).enumerate() {
            if hidden.contains(&at) {
                continue;
            }
            let keys = all.set.iter().filter(|key| key.at == at);
            kept.push(contain(RELAY, Class::Listing, || {
                with_keys(*tool, view.as_ref(), keys)
            })?);
        }
        Ok((Some(format!("[{}]", kept.join(","))), all))
    }
}

/// A tool's text with these keys set.
fn with_keys<'a>(
    tool: Raw<'a>,
    view: Option<&Object<'a>>,
    keys: impl Iterator<Item = &'a ToolKey>,
) -> Result<Cow<'a, str>, String> {
    let mut edits = Edits::default();
    for key in keys {
        let Some(view) = view else { continue };
        if let Some((range, text)) = set_in(view, key.path, &key.value) {
            edits.replace(range.start - tool.at..range.end - tool.at, text);
        }
    }
    if edits.is_empty() {
        return Ok(Cow::Borrowed(tool.text));
    }
    let text = edits.apply(tool.text).map_err(|error| error.to_string())?;
    let text = String::from_utf8(text.into()).map_err(|error| error.to_string())?;
    Ok(Cow::Owned(text))
}

/// The edit that makes the key at `path` stand for `value`; `None` when it does already, or when something else than an
/// object is in the way.
fn set_in(object: &Object<'_>, path: &[&str], value: &str) -> Option<(Range<usize>, String)> {
    let (key, rest) = path.split_first()?;
    let old = object.get(key);
    if rest.is_empty() {
        return (old.map(|raw| raw.text) != Some(value)).then(|| object.set(key, value));
    }
    match old.filter(|raw| !raw.is_null()) {
        Some(old) => set_in(&old.as_object()?, rest, value),
        None => {
            let nest = |inner, key: &&str| format!("{{{}:{inner}}}", quote(key));
            Some(object.set(key, &rest.iter().rev().fold(value.to_owned(), nest)))
        }
    }
}

fn listed<'a>(tool: &Option<Object<'a>>) -> ListedTool<'a> {
    let tool = tool.as_ref();
    ListedTool {
        name: tool.and_then(|tool| tool.get_str("name")),
        input_schema: tool
            .and_then(|tool| tool.get("inputSchema"))
            .map(|raw| raw.text),
    }
}
