//! A tool call on its way to the upstream, as hooks see it.

use crate::csharp::prelude::key_of;
use crate::instances::Selector;
use crate::wire::envelope::Message;
use crate::wire::id::Id;
use crate::wire::object::{Object, Raw};
use crate::wire::splice::Edits;
use crate::wire::{quote, unescape};
use std::borrow::Cow;
use std::sync::OnceLock;

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
    /// Arguments to set, as key and JSON text.
    pub set: Vec<(&'static str, String)>,
    /// Arguments to remove, every copy of them.
    pub remove: Vec<&'static str>,
    /// Lines that were put ahead of the caller's `code`.
    pub prelude_lines: usize,
    /// For a rewrite that sets `code`: the text that the JSON stands for.
    pub snippet: Option<String>,
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
    set: Vec<(&'static str, String)>,
    removed: Vec<&'static str>,
    /// `code` as the client sent it, unescaped: several hooks read it.
    code: OnceLock<Option<String>>,
    /// `code` as the rewrites made it.
    rewritten: Option<String>,
}

impl<'a> Call<'a> {
    /// Reads the call that a message is; `None` when its `params` are no object.
    pub fn read(id: Id, message: &mut Message<'a>) -> Option<Self> {
        let params = message.object(message.params()?)?;
        let arguments = params.get("arguments");
        let arguments = arguments.and_then(|raw| message.object(raw));
        let tool = params.get_str("name").unwrap_or_default();
        let action = arguments.as_ref().filter(|_| tool == "execute_code");
        let action = action.and_then(|arguments| arguments.get_str("action"));
        Some(Call {
            executes: action.as_deref() == Some("execute"),
            id,
            tool,
            key: String::new(),
            target: None,
            text: message.text(),
            arguments,
            params,
            set: Vec::new(),
            removed: Vec::new(),
            code: OnceLock::new(),
            rewritten: None,
        })
    }

    /// The JSON text of an argument.
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

    /// Whether this is `execute_code` with action `execute`, as the client sent it.
    pub fn executes(&self) -> bool {
        self.executes
    }

    /// The snippet of an `execute_code` / `execute` call, with what was put around it so far; `None`
    /// when it is missing, blank or no string: such a call is upstream's to refuse.
    pub fn snippet(&self) -> Option<&str> {
        if !self.executes() {
            return None;
        }
        let is_set = self.set.iter().any(|(key, _)| *key == "code");
        let code = match &self.rewritten {
            code if is_set => code.as_deref()?,
            _ if self.removed.contains(&"code") => return None,
            _ => self.original_snippet()?,
        };
        (!trim(code).is_empty()).then_some(code)
    }

    /// The snippet as the client sent it.
    pub fn original_snippet(&self) -> Option<&str> {
        let read = || Some(self.original("code")?.as_str()?.into_owned());
        self.code.get_or_init(read).as_deref()
    }

    /// An argument as the client sent it.
    pub fn original(&self, name: &str) -> Option<Raw<'a>> {
        self.arguments.as_ref()?.get(name)
    }

    /// Whether the call carries a snippet in the proxy's wrapping, made for this very call.
    pub fn is_wrapped(&self) -> bool {
        if !self.executes() {
            return false;
        }
        // The comment with the key is spelled in JSON as it is in C#.
        let code = self
            .argument("code")
            .and_then(|json| json.strip_prefix('"'));
        code.and_then(key_of) == Some(&*self.key)
    }

    /// The JSON text for a string argument that gets `head` and `tail` around it, which are escaped already. Its own
    /// bytes stay as they came.
    pub fn around(&self, name: &str, head: &str, tail: &str) -> Option<String> {
        let own = self.argument(name)?.strip_prefix('"')?.strip_suffix('"')?;
        Some(["\"", head, own, tail, "\""].concat())
    }

    /// Takes a rewrite in.
    pub fn apply(&mut self, rewrite: Rewrite) {
        if let Some((_, code)) = rewrite.set.iter().find(|(key, _)| *key == "code") {
            let read = || unescape(code).map(Cow::into_owned);
            self.rewritten = rewrite.snippet.or_else(read);
        }
        for (key, value) in rewrite.set {
            self.set.retain(|(old, _)| *old != key);
            self.set.push((key, value));
        }
        for key in rewrite.remove {
            self.set.retain(|(old, _)| *old != key);
            self.removed.push(key);
        }
    }

    /// The edits that all rewrites so far come to.
    pub fn edits(&self) -> Edits {
        let mut edits = Edits::default();
        let Some(arguments) = &self.arguments else {
            // None or null is as good as an empty object to upstream; anything else is its to reject.
            if !self.set.is_empty() && self.raw_arguments().is_none_or(|raw| raw.is_null()) {
                let set = self.set.iter().map(member).collect::<Vec<_>>().join(",");
                let (range, text) = self.params.set("arguments", &format!("{{{set}}}"));
                edits.replace(range, text);
            }
            return edits;
        };
        for cut in arguments.without(&self.removed) {
            edits.delete(cut);
        }
        let mut appended = Vec::new();
        for set in &self.set {
            match arguments.get(set.0) {
                Some(old) if !self.removed.contains(&set.0) => {
                    edits.replace(old.range(), set.1.as_str());
                }
                _ => appended.push(member(set)),
            }
        }
        if !appended.is_empty() {
            let kept = arguments
                .entries()
                .any(|(key, _)| key.as_str().is_none_or(|k| !self.removed.contains(&&*k)));
            let comma = if kept { "," } else { "" };
            let end = arguments.raw().range().end - 1;
            edits.replace(end..end, format!("{comma}{}", appended.join(",")));
        }
        edits
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

fn member((key, value): &(&str, String)) -> String {
    format!("{}:{value}", quote(key))
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
