//! A tool call on its way to the upstream, as hooks see it.

use crate::csharp::prelude::Lines;
use crate::instances::Selector;
use crate::reply::Phrase;
use crate::wire::envelope::Message;
use crate::wire::id::Id;
use crate::wire::object::{Object, Raw};
use crate::wire::splice::Edits;
use crate::wire::{push_escaped, unescape};
use std::borrow::Cow;
use std::ops::Range;

/// Where the target of a call comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetSource {
    /// The call's own `unity_instance`.
    PerCall,
    /// The project that the session is bound to (`VRC_MCP_PROXY_PROJECT`).
    Binding,
    /// The session's pin.
    Pin,
    /// `UNITY_MCP_DEFAULT_INSTANCE`, which upstream honours.
    Default,
}

impl std::fmt::Display for TargetSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            TargetSource::PerCall => "this call's unity_instance",
            TargetSource::Binding => "the project of VRC_MCP_PROXY_PROJECT",
            TargetSource::Pin => "the session's pin",
            TargetSource::Default => "UNITY_MCP_DEFAULT_INSTANCE",
        })
    }
}

/// The Editor that a call is meant for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Which Editor.
    pub selector: Selector,
    /// Who named it.
    pub source: TargetSource,
}

/// What a rewrite makes of a call's arguments.
#[derive(Clone, Debug, Default)]
pub struct Rewrite {
    /// Arguments to set, as key and JSON text. Not `code`, which can only get lines
    /// around it.
    pub set: Vec<(&'static str, String)>,
    /// Arguments to remove, every copy of them. Not `code`.
    pub remove: Vec<&'static str>,
    /// Lines to put around the snippet.
    pub lines: Option<Lines>,
}

/// A tool call. Arguments are read through the rewrites made so far.
#[derive(Clone, Debug)]
pub struct Call<'a> {
    /// The request's id.
    pub id: Id,
    /// `params.name`, empty when it is missing or no string.
    pub tool: Cow<'a, str>,
    /// A random key, fresh for each call that runs a snippet; empty before it goes out, and for any other.
    pub key: String,
    /// The Editor it is meant for, worked out before any guard sees the call.
    pub target: Option<Target>,
    text: &'a str,
    executes: bool,
    params: Object<'a>,
    arguments: Option<Object<'a>>,
    /// `unity_instance` as the client sent it: several look for it, and most calls have none.
    instance: Option<Raw<'a>>,
    set: Vec<(&'static str, String)>,
    removed: Vec<&'static str>,
    /// For a call that executes, `code` as the client sent it.
    code: Option<Raw<'a>>,
    /// What is put around it, the innermost first.
    around: Vec<Lines>,
}

impl<'a> Call<'a> {
    /// Reads the call that a message is; `None` when its `params` are no object.
    #[inline(always)]
    pub fn read(id: Id, message: &mut Message<'a>) -> Option<Self> {
        let params = message.object(message.params()?)?;
        let arguments = params.get("arguments");
        let arguments = arguments.and_then(|raw| message.object(raw));
        let tool = params.get_str("name").unwrap_or_default();
        let action = arguments.as_ref().filter(|_| tool == "execute_code");
        let action = action.and_then(|arguments| arguments.get_str("action"));
        let executes = action.as_deref() == Some("execute");
        let code = arguments.as_ref().filter(|_| executes);
        Some(Call {
            code: code.and_then(|arguments| arguments.get("code")),
            instance: arguments
                .as_ref()
                .and_then(|arguments| arguments.get("unity_instance")),
            executes,
            id,
            tool,
            key: String::new(),
            target: None,
            text: message.text(),
            arguments,
            params,
            set: Vec::new(),
            removed: Vec::new(),
            around: Vec::new(),
        })
    }

    /// The JSON text of an argument. What is put around `code` is no part of it.
    pub fn argument(&self, name: &str) -> Option<&str> {
        if let Some((_, value)) = self.set.iter().rev().find(|(key, _)| *key == name) {
            return Some(value);
        }
        if self.removed.contains(&name) {
            return None;
        }
        Some(self.arguments.as_ref()?.get(name)?.text)
    }

    /// A string argument, unescaped.
    pub fn string(&self, name: &str) -> Option<Cow<'_, str>> {
        unescape(self.argument(name)?)
    }

    /// Whether an argument is supplied: neither missing nor `null` nor a blank string.
    pub fn supplied(&self, name: &str) -> bool {
        match self.argument(name) {
            None | Some("null") => false,
            Some(_) => self.string(name).is_none_or(|text| !trim(&text).is_empty()),
        }
    }

    /// A boolean argument as upstream coerces it: a boolean, or the trimmed and lower-cased text of the
    /// value (measured against 10.1.0); `None` when it declares nothing.
    pub fn flag(&self, name: &str) -> Option<bool> {
        let raw = self.argument(name)?;
        let text = match raw {
            // The one integer of two spellings.
            "-0" => Cow::Borrowed("0"),
            _ => self.string(name).unwrap_or(Cow::Borrowed(raw)),
        };
        match normalize(&text).as_str() {
            "true" | "1" | "yes" | "on" => Some(true),
            "false" | "0" | "no" | "off" => Some(false),
            _ => None,
        }
    }

    /// `arguments.action` as it stands.
    pub fn action(&self) -> Option<Cow<'_, str>> {
        self.string("action")
    }

    /// `arguments.action`, trimmed and lower-cased as the Editor's side does; empty when it is no
    /// string.
    pub fn normalized_action(&self) -> String {
        self.action().as_deref().map(normalize).unwrap_or_default()
    }

    /// The Editor that the call itself names, as the client sent it.
    pub fn instance(&self) -> Option<Selector> {
        Selector::read(self.instance?.text)
    }

    /// Whether this is `execute_code` with action `execute`, as the client sent it.
    pub fn executes(&self) -> bool {
        self.executes
    }

    /// The snippet of an `execute_code` / `execute` call as the client sent it; `None` when it is missing, blank or no
    /// string: such a call is upstream's to refuse.
    pub fn snippet(&self) -> Option<Cow<'a, str>> {
        let code = self.code?.as_str()?;
        (!trim(&code).is_empty()).then_some(code)
    }

    /// Whether there is a snippet.
    pub fn has_snippet(&self) -> bool {
        match self.code.map(|code| code.text.as_bytes()) {
            // Nearly every one begins with a letter; no client's line holds half a surrogate pair.
            Some([b'"', first, ..]) if first.is_ascii_alphabetic() => true,
            Some([b'"', ..]) => self.snippet().is_some(),
            _ => false,
        }
    }

    /// Whether the snippet can hold `phrase`, which is of ASCII letters: a cheap first look.
    pub fn snippet_may_hold(&self, phrase: &Phrase) -> bool {
        static ESCAPE: Phrase = Phrase::new("\\u");
        let code = self.code.map(|code| code.text.as_bytes());
        code.is_some_and(|code| phrase.is_in(code) || ESCAPE.is_in(code))
    }

    /// How long the snippet is in a JSON string, in bytes: its text is no longer than that.
    pub fn snippet_bytes(&self) -> usize {
        self.code.map_or(0, |code| code.text.len())
    }

    /// An argument as the client sent it.
    pub fn original(&self, name: &str) -> Option<Raw<'a>> {
        self.arguments.as_ref()?.get(name)
    }

    /// Whether the call carries a snippet in the proxy's wrapping, made for this very call.
    pub fn is_wrapped(&self) -> bool {
        let mut around = self.around.iter();
        around.any(|lines| lines.key() == Some(&*self.key))
    }

    /// How many characters are put around the snippet.
    pub fn added(&self) -> usize {
        self.around.iter().map(|lines| lines.added).sum()
    }

    /// Takes a rewrite in.
    pub fn apply(&mut self, rewrite: Rewrite) {
        for (key, value) in rewrite.set {
            self.set.retain(|(old, _)| *old != key);
            self.set.push((key, value));
        }
        for key in rewrite.remove {
            self.set.retain(|(old, _)| *old != key);
            self.removed.push(key);
        }
        self.around.extend(rewrite.lines);
    }

    /// The edits that all rewrites so far come to.
    pub fn edits(&self) -> Edits<'_> {
        if self.set.is_empty() && self.removed.is_empty() && self.around.is_empty() {
            return Edits::default();
        }
        // Most that are made for a snippet: five at its head, one at its tail, one argument.
        let mut edits = Edits::with_capacity(if self.around.is_empty() { 0 } else { 8 });
        let Some(arguments) = &self.arguments else {
            // None or null is as good as an empty object to upstream; anything else is its to reject.
            if !self.set.is_empty() && self.raw_arguments().is_none_or(|raw| raw.is_null()) {
                let mut set = String::from("{");
                self.set.iter().for_each(|member| push(&mut set, member));
                set.push('}');
                let (range, text) = self.params.set("arguments", &set);
                edits.replace(range, text);
            }
            return edits;
        };
        self.surround(&mut edits);
        for cut in arguments.without(&self.removed) {
            edits.delete(cut);
        }
        let is_removed = |key: &str| self.removed.contains(&key);
        let mut appended = String::new();
        for set in &self.set {
            match arguments.get(set.0) {
                Some(old) if !is_removed(set.0) => edits.replace(old.range(), set.1.as_str()),
                _ => push(&mut appended, set),
            }
        }
        if !appended.is_empty() {
            let mut keys = arguments.entries().map(|(key, _)| key);
            let kept = keys.any(|key| key.as_str().is_none_or(|key| !is_removed(&key)));
            let end = arguments.raw().range().end - 1;
            if kept {
                edits.replace(end..end, ",");
            }
            edits.replace(end..end, appended);
        }
        edits
    }

    /// Puts the lines around the snippet, whose own bytes stay as they came.
    fn surround<'e>(&'e self, edits: &mut Edits<'e>) {
        let Some(code) = self.code else {
            return;
        };
        let Range { start, end } = code.range();
        for lines in self.around.iter().rev() {
            for part in lines.head() {
                edits.replace(start + 1..start + 1, part);
            }
        }
        for lines in &self.around {
            edits.replace(end - 1..end - 1, lines.tail());
        }
    }

    /// The message's text as the client sent it.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// `params`.
    pub fn params(&self) -> &Object<'a> {
        &self.params
    }

    /// The raw `arguments`, whatever they are.
    pub fn raw_arguments(&self) -> Option<Raw<'a>> {
        self.params.get("arguments")
    }
}

/// Appends a member to those of an object.
fn push(members: &mut String, (key, value): &(&str, String)) {
    members.reserve(key.len() + value.len() + "{,\"\":}".len());
    if members.len() > 1 {
        members.push(',');
    }
    members.push('"');
    push_escaped(members, key);
    members.push_str("\":");
    members.push_str(value);
}

/// Without white space around it, as Python's `str.strip` sees white space: upstream trims there.
pub fn trim(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// Whether Python counts `c` as white space; it takes the four ASCII separators for it too.
pub fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\x1c'..='\x1f').contains(&c)
}

/// Trimmed and lower-cased.
pub fn normalize(text: &str) -> String {
    trim(text).to_lowercase()
}

/// Lower-cased letter by letter, to compare names where case does not count: what stands beside a
/// letter does not change it.
pub fn fold(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).collect()
}
