//! The entries that clients have for Unity, each judged as that client would start it.

use super::conflicts;
use super::finding::{Report, Section, Severity};
use super::{Scene, launch};
use crate::binding;
use crate::commands::clients::Client;
use crate::commands::clients::entries::{Entry, read};
use crate::commands::clients::places::{Places, Scope};
use crate::upstream::find;
use serde_json::json;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

const SECTION: Section = Section::Clients;

/// What an entry starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// This very program.
    This,
    /// Another file of the proxy's name.
    OtherProxy(PathBuf),
    /// The server itself, without a proxy.
    Server,
    /// A server over HTTP.
    Http(String),
    /// A program that is not there.
    Missing(String),
    /// Something else.
    Other(String),
    /// A word that only the client can fill in.
    Unresolved(String),
}

/// An entry that has to do with Unity, with its texts filled in.
pub(super) struct Judged {
    pub(super) entry: Entry,
    pub(super) kind: Kind,
    /// Its variables.
    pub(super) env: BTreeMap<String, String>,
    /// The folder that the client starts it in, as far as that is known.
    pub(super) base: PathBuf,
}

pub(super) fn examine(scene: &Scene, places: &Places, report: &mut Report) {
    let mut judged = Vec::new();
    for place in places.all() {
        match read(&place, &scene.here) {
            Ok(entries) => {
                let ours = entries.into_iter().filter(concerns_unity);
                judged.extend(ours.map(|entry| Judged::of(entry, scene)));
            }
            Err(why) => {
                report
                    .add(
                        SECTION,
                        Severity::Problem,
                        "client_file_broken",
                        format!(
                            "{} ({}) cannot be read: {why}",
                            place.file.display(),
                            place.client.title()
                        ),
                    )
                    .cure("mend the file")
                    .data(
                        json!({ "client": place.client.slug(), "file": place.file, "reason": why }),
                    );
            }
        }
    }
    for one in &judged {
        report.clients.push(one.row());
        one.examine(scene, report);
    }
    if judged.is_empty() {
        report
            .add(
                SECTION,
                Severity::Warning,
                "no_entry",
                format!(
                    "no client has an entry for Unity in the usual places, seen from {} (Claude Code, Claude Desktop, \
                     Cursor, VS Code, Codex)",
                    scene.here.display()
                ),
            )
            .cure("vrc-mcp-proxy config CLIENT prints one; or start doctor in the project's folder");
    }
    conflicts::examine(&judged, report);
}

/// Whether an entry is meant for Unity, by its key or by what it starts.
fn concerns_unity(entry: &Entry) -> bool {
    let key = entry.key.to_lowercase();
    let key: String = key.chars().filter(|c| c.is_alphanumeric()).collect();
    let words = entry.command.iter().chain(&entry.args);
    key.contains("unitymcp")
        || words
            .into_iter()
            .any(|word| is_proxy(word) || is_server(word))
}

pub(super) fn is_proxy(word: &str) -> bool {
    let name = word.rsplit(['/', '\\']).next().unwrap_or_default();
    let name = name.to_lowercase();
    name.strip_suffix(".exe").unwrap_or(&name) == "vrc-mcp-proxy"
}

fn is_server(word: &str) -> bool {
    word.contains("mcpforunityserver") || word.contains("mcp-for-unity")
}

impl Judged {
    fn of(entry: Entry, scene: &Scene) -> Self {
        let folder = match &entry.scope {
            Scope::Project(root) | Scope::Local(root) => root.clone(),
            Scope::User => scene.here.clone(),
        };
        let base = match &entry.cwd {
            Some(cwd) => folder.join(expand(cwd, &folder).unwrap_or_default()),
            None => folder.clone(),
        };
        let fill = |(name, value): (&String, &String)| {
            let value = expand(value, &folder).unwrap_or_else(|_| value.clone());
            (name.clone(), value)
        };
        let mut judged = Judged {
            env: entry.env.iter().map(fill).collect(),
            base,
            entry,
            kind: Kind::Server,
        };
        judged.kind = judged.classify(&folder);
        judged
    }

    fn classify(&self, folder: &Path) -> Kind {
        let Some(command) = &self.entry.command else {
            let url = self.entry.url.clone().unwrap_or_default();
            return Kind::Http(url);
        };
        let mut words = Vec::new();
        for word in [command].into_iter().chain(&self.entry.args) {
            match expand(word, folder) {
                Ok(word) => words.push(word),
                Err(name) => return Kind::Unresolved(name),
            }
        }
        let program = &words[0];
        let Some(found) = self.find(program) else {
            return Kind::Missing(program.clone());
        };
        // Something like `cmd /c` may stand in front of the proxy.
        let wrapped = words[1..].iter().find(|word| is_proxy(word));
        let proxy = match wrapped {
            Some(word) => self.find(word),
            None => Some(found),
        };
        match proxy {
            None => Kind::Missing(wrapped.cloned().unwrap_or_default()),
            Some(file) if is_this_program(&file) => Kind::This,
            Some(file) if is_proxy(&file.to_string_lossy()) => Kind::OtherProxy(file),
            Some(_) if words.iter().any(|word| is_server(word)) => Kind::Server,
            Some(_) => Kind::Other(words.join(" ")),
        }
    }

    pub(super) fn find(&self, program: &str) -> Option<PathBuf> {
        if program.contains(['/', '\\']) {
            let file = self.base.join(program);
            return find(&file.to_string_lossy(), &self.path());
        }
        find(program, &self.path())
    }

    /// The PATH that the entry sets, else this process's.
    fn path(&self) -> OsString {
        self.own_path()
            .map_or_else(launch::own_path, OsString::from)
    }

    pub(super) fn own_path(&self) -> Option<&str> {
        let is_path =
            |name: &str| name == "PATH" || (cfg!(windows) && name.eq_ignore_ascii_case("PATH"));
        let found = self.env.iter().find(|(name, _)| is_path(name));
        found.map(|(_, value)| value.as_str())
    }

    pub(super) fn is_behind_proxy(&self) -> bool {
        matches!(self.kind, Kind::This | Kind::OtherProxy(_))
    }

    /// The project it is bound to, when it says which.
    pub(super) fn bound_to(&self) -> Option<&str> {
        self.variable(binding::VARIABLE)
            .filter(|value| *value != "auto")
    }

    pub(super) fn variable(&self, name: &str) -> Option<&str> {
        let value = self.env.get(name)?.as_str();
        (!value.trim().is_empty()).then_some(value)
    }

    /// How a message speaks of the entry.
    pub(super) fn whose(&self) -> String {
        format!(
            "the entry {:?} of {} in {}",
            self.entry.key,
            self.entry.client.title(),
            self.entry.file.display()
        )
    }

    /// The variables as they may be passed on: the values of those that are not about Unity may be secrets.
    fn shown_variables(&self) -> BTreeMap<String, Option<String>> {
        let known = ["VRC_MCP_PROXY_", "UNITY_MCP_", "PATH", "Path"];
        let shown = |(name, value): (&String, &String)| {
            let plain = known.iter().any(|known| name.starts_with(known));
            (name.clone(), plain.then(|| value.clone()))
        };
        self.env.iter().map(shown).collect()
    }

    fn row(&self) -> serde_json::Value {
        let scope = match &self.entry.scope {
            Scope::User => "all projects".to_owned(),
            Scope::Project(root) | Scope::Local(root) => root.display().to_string(),
        };
        let kind = match &self.kind {
            _ if self.entry.off => "nothing: switched off",
            _ if self.entry.misplaced.is_some() => "nothing: in the wrong place",
            _ if !self.entry.faults.is_empty() => "nothing: not usable",
            Kind::This => "this proxy",
            Kind::OtherProxy(_) => "another copy of the proxy",
            Kind::Server => "the server itself",
            Kind::Http(_) => "a server over HTTP",
            Kind::Missing(_) => "nothing: no such program",
            Kind::Other(_) => "something else",
            Kind::Unresolved(_) => "cannot be told",
        };
        let entry = &self.entry;
        json!({
            "client": entry.client.slug(), "scope": scope, "key": entry.key, "kind": kind, "file": entry.file,
            "command": entry.command, "args": entry.args, "url": entry.url, "env": self.shown_variables(), "off": entry.off,
        })
    }
}

fn is_this_program(file: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    let this = std::env::current_exe().ok().and_then(|this| real(&this));
    this.is_some() && this == real(file)
}

/// Fills in what clients fill in: `${NAME}` and `${NAME:-default}` (Claude Code), `${env:NAME}`, `${workspaceFolder}`
/// and `${userHome}` (Cursor, VS Code).
///
/// # Errors
/// The name of something else.
fn expand(text: &str, folder: &Path) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("${") {
        let Some((name, after)) = behind.split_once('}') else {
            break;
        };
        let (bare, default) = match name.split_once(":-") {
            Some((bare, default)) => (bare, Some(default)),
            None => (name.strip_prefix("env:").unwrap_or(name), None),
        };
        let value = match bare {
            "workspaceFolder" => Some(folder.display().to_string()),
            "userHome" => crate::home::folder().map(|home| home.display().to_string()),
            "/" | "pathSeparator" => Some(std::path::MAIN_SEPARATOR.to_string()),
            variable => std::env::var(variable).ok(),
        };
        let value = value.or_else(|| default.map(str::to_owned));
        out.push_str(before);
        out.push_str(&value.ok_or_else(|| name.to_owned())?);
        rest = after;
    }
    out.push_str(rest);
    Ok(out)
}

/// The order in which a client prefers equal keys: the first is the one that is started.
pub(super) fn precedence(client: Client, scope: &Scope) -> u8 {
    match (client, scope) {
        (Client::ClaudeCode, Scope::Local(_)) => 0,
        (_, Scope::Project(_) | Scope::Local(_)) => 1,
        (_, Scope::User) => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_clients_fill_in_is_filled_in() {
        let folder = Path::new("p");
        let all = |text: &str| expand(text, folder);
        assert_eq!(all("a ${workspaceFolder}/b"), Ok("a p/b".to_owned()));
        assert_eq!(
            all("${SURELY_NOT_SET_1:-x:y}${SURELY_NOT_SET_1:-}z"),
            Ok("x:yz".to_owned())
        );
        assert_eq!(
            all("${env:SURELY_NOT_SET_1}"),
            Err("env:SURELY_NOT_SET_1".to_owned())
        );
        assert_eq!(all("${input:key}"), Err("input:key".to_owned()));
        assert_eq!(all("$HOME ${open"), Ok("$HOME ${open".to_owned()));
        let path = std::env::var("PATH").expect("a PATH");
        assert_eq!(all("${PATH}|${env:PATH}"), Ok(format!("{path}|{path}")));
    }

    #[test]
    fn the_proxy_is_known_by_its_name() {
        for word in [
            "vrc-mcp-proxy",
            "/a/vrc-mcp-proxy",
            r"C:\a b\VRC-MCP-Proxy.EXE",
        ] {
            assert!(is_proxy(word), "{word}");
        }
        for word in [
            "",
            "vrc-mcp-proxy.py",
            "/vrc-mcp-proxy/x",
            "my-vrc-mcp-proxy",
        ] {
            assert!(!is_proxy(word), "{word}");
        }
    }
}
