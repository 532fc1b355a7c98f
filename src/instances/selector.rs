//! Selectors: how a call says which Editor it means, read as upstream reads it and never wider.
//!
//! Measured against 10.1.0 over stdio: a per-call `unity_instance` of any JSON type is turned into text and trimmed,
//! blank is none; all digits is a port, whatever hashes there are (digits of other scripts count too: here they fit no
//! Editor); a text with an `@` is compared with the whole
//! identifiers, letter by letter (no splitting, so a name may hold an `@`; no hash prefix behind it; capitals count in
//! the hash too); anything else is a hash prefix in any case. A bare project name is none of these, except in
//! `UNITY_MCP_DEFAULT_INSTANCE`, which upstream resolves elsewhere and by other rules
//! ([`Selector::default_instance`]). `set_active_instance` takes the same texts and no other JSON type.

use serde_json::Value;

use super::Editor;

/// What a selector says, before any Editor is looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selector {
    text: String,
    kind: Kind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    /// All digits; `None` for a number that no port has.
    Port(Option<u16>),
    Identifier,
    HashPrefix,
    /// A value that upstream turns into a text which is no Editor's (`1e22` becomes `1e+22`).
    NoEditor,
    /// From `UNITY_MCP_DEFAULT_INSTANCE`.
    Default,
}

/// The Editors that a selector fits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolution<'e> {
    /// No Editor.
    None,
    /// Exactly this one.
    One(&'e Editor),
    /// Two or more: the selector does not say which.
    Several(Vec<&'e Editor>),
}

impl<'e> Resolution<'e> {
    /// The Editor, when exactly one fits.
    pub fn one(&self) -> Option<&'e Editor> {
        match self {
            Self::One(editor) => Some(editor),
            Self::None | Self::Several(_) => None,
        }
    }
}

impl<'e> From<Vec<&'e Editor>> for Resolution<'e> {
    fn from(fitting: Vec<&'e Editor>) -> Self {
        match fitting[..] {
            [] => Self::None,
            [editor] => Self::One(editor),
            _ => Self::Several(fitting),
        }
    }
}

/// Which heartbeats a port is looked for in. Ports are reused, so an old file says little about one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ports {
    Live,
    LiveFirst,
}

impl Selector {
    /// Reads a JSON value given as its text: `unity_instance`, or the `instance` of a `set_active_instance`. `None` for
    /// null and blank text. A value of another type is a selector that fits no Editor, as it is to upstream.
    pub fn read(json: &str) -> Option<Self> {
        let json = json.trim();
        match serde_json::from_str(json) {
            Ok(Value::Null) => None,
            Ok(Value::String(text)) => Self::from_text(&text),
            // The text as it came: a number of 30 digits is one to upstream too.
            Ok(Value::Number(_)) if !is_float(json) => Self::from_text(json),
            Ok(Value::Bool(true)) => Some(Self::no_editor("True")),
            Ok(Value::Bool(false)) => Some(Self::no_editor("False")),
            // An unreadable value stays a target: taking it for none would send the call to some other Editor.
            Ok(_) | Err(_) => Some(Self::no_editor(json)),
        }
    }

    /// Reads a text: a pin. `None` when it is blank.
    pub fn from_text(text: &str) -> Option<Self> {
        let text = trim(text);
        let kind = match text {
            "" => return None,
            digits if digits.bytes().all(|byte| byte.is_ascii_digit()) => Kind::Port(port(digits)),
            identifier if identifier.contains('@') => Kind::Identifier,
            _ => Kind::HashPrefix,
        };
        Some(Self {
            text: text.to_owned(),
            kind,
        })
    }

    /// Reads the value of `UNITY_MCP_DEFAULT_INSTANCE`, which upstream uses when a call has no other target and several
    /// Editors are there. Here, and only here, it also takes a project's name, a name with the start of a hash or
    /// a port behind the `@`, and the Assets path; hash prefixes keep their case (10.1.0).
    pub fn default_instance(value: &str) -> Option<Self> {
        let text = trim(value);
        (!text.is_empty()).then(|| Self {
            text: text.to_owned(),
            kind: Kind::Default,
        })
    }

    fn no_editor(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            kind: Kind::NoEditor,
        }
    }

    /// The selector as upstream reads it, trimmed: what a message quotes.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it has the form `Name@hash`. Nothing says that such an Editor exists.
    pub fn is_identifier(&self) -> bool {
        self.kind == Kind::Identifier
    }

    /// Whether it is read as the start of a hash, which no bare name is.
    pub fn is_hash_prefix(&self) -> bool {
        self.kind == Kind::HashPrefix
    }

    /// Whether upstream reads it as a port.
    pub fn is_port(&self) -> bool {
        matches!(self.kind, Kind::Port(_))
    }

    /// Whether the selector is a port and this Editor's.
    pub fn is_port_of(&self, editor: &Editor) -> bool {
        matches!(self.kind, Kind::Port(Some(port)) if editor.port == Some(port))
    }

    /// The Editors meant, for a check that must not err: `Name@hash` and hash prefixes among all heartbeats, stale ones
    /// too (a hash is made from the path, so what it fits is the right path however old); a port among the live
    /// ones only.
    ///
    /// Digits that are no live Editor's port are then tried as a hash prefix. Upstream answers such a call with an
    /// error and delivers nothing, so nothing can go astray by it.
    pub fn resolve<'e>(&self, editors: &'e [Editor], now_ms: i64) -> Resolution<'e> {
        self.fitting(editors, now_ms, Ports::Live).into()
    }

    /// The same, but a port that no live Editor has is looked for among the stale heartbeats too: to name an Editor
    /// that was on a port, as a pin or in a note. [`Self::is_port_of`] tells a port that fits from digits that were
    /// taken as a hash prefix.
    pub fn resolve_live_first<'e>(&self, editors: &'e [Editor], now_ms: i64) -> Resolution<'e> {
        self.fitting(editors, now_ms, Ports::LiveFirst).into()
    }

    fn fitting<'e>(&self, editors: &'e [Editor], now_ms: i64, ports: Ports) -> Vec<&'e Editor> {
        let text = self.text.as_str();
        match self.kind {
            Kind::NoEditor => Vec::new(),
            Kind::Identifier => all(editors, |editor| is_named(editor, text)),
            Kind::HashPrefix => all(editors, |editor| has_prefix(editor, text)),
            Kind::Port(port) => {
                let on_port = on_port(editors, port, now_ms, ports);
                if on_port.is_empty() {
                    all(editors, |editor| has_prefix(editor, text))
                } else {
                    on_port
                }
            }
            Kind::Default => default_fitting(text, editors, now_ms, ports),
        }
    }
}

/// Upstream's order for its default instance; the first reading that fits any Editor is the one.
fn default_fitting<'e>(
    text: &str,
    editors: &'e [Editor],
    now_ms: i64,
    ports: Ports,
) -> Vec<&'e Editor> {
    let called = |name: &str, editor: &Editor| {
        editor.project_name.as_deref() == Some(name) || editor.folder_name() == name
    };
    let readings: [&dyn Fn() -> Vec<&'e Editor>; 6] = [
        &|| all(editors, |editor| is_named(editor, text)),
        // A name is no path: of equal names the one that runs is meant.
        &|| live_first(all(editors, |editor| called(text, editor)), now_ms),
        &|| all(editors, |editor| editor.hash.starts_with(text)),
        &|| {
            let Some((name, hint)) = text.split_once('@') else {
                return Vec::new();
            };
            let named = all(editors, |editor| called(name, editor));
            let on_port = on_port(editors, port(hint), now_ms, ports);
            let fits = |editor: &&Editor| editor.hash.starts_with(hint) || on_port.contains(editor);
            named.into_iter().filter(fits).collect()
        },
        &|| on_port(editors, port(text), now_ms, ports),
        &|| all(editors, |editor| editor.project_path == text),
    ];
    let mut fitting = readings.iter().map(|reading| reading());
    fitting
        .find(|editors| !editors.is_empty())
        .unwrap_or_default()
}

fn all(editors: &[Editor], fits: impl Fn(&Editor) -> bool) -> Vec<&Editor> {
    editors.iter().filter(|editor| fits(editor)).collect()
}

/// Both spellings of the name are taken: the one that this proxy shows, and the one that upstream pins by. They differ
/// only when the file's `project_name` is missing or is not the folder's.
fn is_named(editor: &Editor, identifier: &str) -> bool {
    editor.identifier() == identifier || editor.upstream_identifier() == identifier
}

fn has_prefix(editor: &Editor, prefix: &str) -> bool {
    let start = editor.hash.as_bytes().get(..prefix.len());
    start.is_some_and(|start| start.eq_ignore_ascii_case(prefix.as_bytes()))
}

fn on_port(editors: &[Editor], port: Option<u16>, now_ms: i64, ports: Ports) -> Vec<&Editor> {
    let fitting = all(editors, |editor| port.is_some() && editor.port == port);
    match ports {
        Ports::Live => fitting
            .into_iter()
            .filter(|editor| editor.is_live(now_ms))
            .collect(),
        Ports::LiveFirst => live_first(fitting, now_ms),
    }
}

fn live_first(editors: Vec<&Editor>, now_ms: i64) -> Vec<&Editor> {
    let live: Vec<_> = editors
        .iter()
        .copied()
        .filter(|editor| editor.is_live(now_ms))
        .collect();
    if live.is_empty() { editors } else { live }
}

/// Leading zeros are taken, as Python's `int` takes them.
fn port(digits: &str) -> Option<u16> {
    let bare = digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|port| bare && *port != 0)
}

/// Whether the text of a JSON number is a float's to upstream.
fn is_float(json: &str) -> bool {
    json.contains(['.', 'e', 'E'])
}

/// Trims as Python's `str.strip` does, which takes the four ASCII separators for white space too.
fn trim(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c))
}

#[cfg(test)]
mod tests;
