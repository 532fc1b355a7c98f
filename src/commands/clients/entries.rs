//! Reading the servers that a client's file lists.

use super::Client;
use super::places::{Form, Place, Scope};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// A server in a client's file.
#[derive(Clone, Debug)]
pub(in crate::commands) struct Entry {
    pub(in crate::commands) client: Client,
    pub(in crate::commands) file: PathBuf,
    pub(in crate::commands) scope: Scope,
    pub(in crate::commands) key: String,
    pub(in crate::commands) command: Option<String>,
    pub(in crate::commands) args: Vec<String>,
    pub(in crate::commands) env: BTreeMap<String, String>,
    pub(in crate::commands) url: Option<String>,
    /// The folder it is started in, where the entry says so.
    pub(in crate::commands) cwd: Option<String>,
    /// Seconds that the client waits for its start, where the entry says so.
    pub(in crate::commands) startup_s: Option<f64>,
    /// Whether the entry itself says that it is not to be started.
    pub(in crate::commands) off: bool,
    /// The key of the object it stands in, when the client does not read that one.
    pub(in crate::commands) misplaced: Option<&'static str>,
    /// What is of a wrong type in it.
    pub(in crate::commands) faults: Vec<String>,
}

/// The servers of a file. A file that is not there has none.
///
/// # Errors
/// Why the file cannot be read.
pub(in crate::commands) fn read(place: &Place, here: &Path) -> Result<Vec<Entry>, String> {
    let bytes = match std::fs::read(&place.file) {
        Ok(bytes) => bytes,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(Vec::new());
        }
        Err(error) => return Err(error.to_string()),
    };
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    let text = std::str::from_utf8(bytes).map_err(|error| format!("it is not UTF-8 ({error})"))?;
    let file = match place.form() {
        // A file that was made and never filled.
        _ if text.trim().is_empty() => return Ok(Vec::new()),
        Form::Json => serde_json::from_str(text).map_err(|error| error.to_string())?,
        Form::JsonWithComments => {
            serde_json::from_str(&without_comments(text)).map_err(|error| error.to_string())?
        }
        Form::Toml => toml::from_str(text).map_err(|error: toml::de::Error| {
            let line = error
                .span()
                .map_or(1, |span| 1 + text[..span.start].matches('\n').count());
            format!("{} at line {line}", error.message().replace('\n', ", "))
        })?,
    };
    Ok(of_file(place, &file, here))
}

fn of_file(place: &Place, file: &Value, here: &Path) -> Vec<Entry> {
    let read_key = place.client.servers_key();
    let settings = place.file.ends_with("settings.json");
    // VS Code's settings hold the object of `mcp.json` under a key of their own.
    let top = if settings { &file["mcp"] } else { file };
    let mut entries = servers(place, &top[read_key], &place.scope, None);
    for other in ["mcpServers", "servers", "mcp_servers"] {
        if other != read_key && !settings {
            entries.extend(servers(place, &top[other], &place.scope, Some(other)));
        }
    }
    if place.client == Client::ClaudeCode && place.scope == Scope::User {
        let projects = file["projects"].as_object().into_iter().flatten();
        for (folder, project) in projects {
            let folder = Path::new(folder);
            if here.ancestors().any(|above| above == folder) {
                let scope = Scope::Local(folder.to_owned());
                entries.extend(servers(place, &project[read_key], &scope, None));
            }
        }
    }
    entries
}

fn servers(
    place: &Place,
    list: &Value,
    scope: &Scope,
    misplaced: Option<&'static str>,
) -> Vec<Entry> {
    let list = list.as_object().into_iter().flatten();
    list.map(|(key, server)| {
        let mut entry = Entry {
            client: place.client,
            file: place.file.clone(),
            scope: scope.clone(),
            key: key.clone(),
            command: None,
            args: Vec::new(),
            env: BTreeMap::new(),
            url: None,
            cwd: None,
            startup_s: None,
            off: false,
            misplaced,
            faults: Vec::new(),
        };
        match server.as_object() {
            Some(fields) => entry.fill(fields),
            None => entry.faults.push("it is no object".to_owned()),
        }
        entry
    })
    .collect()
}

impl Entry {
    fn fill(&mut self, fields: &Map<String, Value>) {
        self.command = self.text(fields, "command");
        self.cwd = self.text(fields, "cwd");
        self.url = self
            .text(fields, "url")
            .or_else(|| self.text(fields, "serverUrl"));
        let number = |key: &str| fields.get(key).and_then(Value::as_f64);
        self.startup_s = number("startup_timeout_sec")
            .or_else(|| number("startup_timeout_ms").map(|milliseconds| milliseconds / 1000.0));
        self.off = fields.get("disabled") == Some(&Value::Bool(true))
            || fields.get("enabled") == Some(&Value::Bool(false));
        match fields.get("args") {
            None | Some(Value::Null) => {}
            Some(Value::Array(words)) if words.iter().all(Value::is_string) => {
                let words = words.iter().filter_map(Value::as_str);
                self.args = words.map(str::to_owned).collect();
            }
            Some(_) => self.faults.push("args is no list of texts".to_owned()),
        }
        match fields.get("env") {
            None | Some(Value::Null) => {}
            Some(Value::Object(variables)) => {
                for (name, value) in variables {
                    match value.as_str() {
                        Some(value) => {
                            self.env.insert(name.clone(), value.to_owned());
                        }
                        None => self.faults.push(format!("env.{name} is no text")),
                    }
                }
            }
            Some(_) => self.faults.push("env is no object".to_owned()),
        }
        if self.command.is_none() && self.url.is_none() && self.faults.is_empty() {
            self.faults.push("it has no command".to_owned());
        }
    }

    fn text(&mut self, fields: &Map<String, Value>, key: &str) -> Option<String> {
        match fields.get(key)? {
            Value::Null => None,
            Value::String(text) => Some(text.clone()),
            _ => {
                self.faults.push(format!("{key} is no text"));
                None
            }
        }
    }
}

/// JSON with its comments, and the commas ahead of closing brackets, made blank. Lines and columns stay what they
/// were.
fn without_comments(text: &str) -> String {
    let mut out: Vec<char> = text.chars().collect();
    let mut comma = None;
    let mut at = 0;
    while at < out.len() {
        let next = out.get(at + 1);
        match (out[at], next) {
            ('"', _) => {
                comma = None;
                at += 1;
                while at < out.len() && out[at] != '"' {
                    at += if out[at] == '\\' { 2 } else { 1 };
                }
            }
            ('/', Some('/')) => {
                while at < out.len() && out[at] != '\n' {
                    out[at] = ' ';
                    at += 1;
                }
            }
            ('/', Some('*')) => at = blank_block(&mut out, at),
            (',', _) => comma = Some(at),
            ('}' | ']', _) => {
                if let Some(comma) = comma.take() {
                    out[comma] = ' ';
                }
            }
            (letter, _) if !letter.is_whitespace() => comma = None,
            _ => {}
        }
        at += 1;
    }
    out.into_iter().collect()
}

/// Blanks the comment that begins `at` and returns where its last character stands.
fn blank_block(out: &mut [char], start: usize) -> usize {
    let mut at = start + 2;
    while at + 1 < out.len() && (out[at] != '*' || out[at + 1] != '/') {
        at += 1;
    }
    let last = (at + 1).min(out.len() - 1);
    for letter in &mut out[start..=last] {
        if *letter != '\n' {
            *letter = ' ';
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn lenient(text: &str) -> Value {
        let stripped = without_comments(text);
        assert_eq!(stripped.matches('\n').count(), text.matches('\n').count());
        serde_json::from_str(&stripped).unwrap_or_else(|error| panic!("{error}: {stripped}"))
    }

    #[test]
    fn comments_and_last_commas_go_and_texts_stay() {
        let text = r#"// head
        { /* a "b" , */ "url": "http://x//y/*no*/", // tail }
          "list": [1, 2, /* 3 */ ],
          "quote": "a\"// not one\\", "é": {"x": 1,},
        } /* open"#;
        let expected = json!({
            "url": "http://x//y/*no*/", "list": [1, 2], "quote": "a\"// not one\\", "é": { "x": 1 },
        });
        assert_eq!(lenient(text), expected);
        for odd in ["/*/", "/", "\"", "\"\\", "//", ",", "[,"] {
            let _no_panic = without_comments(odd);
        }
        assert!(serde_json::from_str::<Value>(&without_comments("[1,,]")).is_err());
    }

    fn in_file(client: Client, name: &str, content: &str) -> Result<Vec<Entry>, String> {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join(name);
        std::fs::write(&file, content).expect("a file");
        let scope = Scope::User;
        read(
            &Place {
                client,
                file,
                scope,
            },
            Path::new("/p/Alpha/Assets"),
        )
    }

    #[test]
    fn each_client_has_its_own_object() {
        let server = r#"{"UnityMCP":{"command":"x","args":["a"],"env":{"A":"b"}}}"#;
        let cases = [
            (
                Client::ClaudeDesktop,
                "c.json",
                format!(r#"{{"mcpServers":{server}}}"#),
            ),
            (
                Client::Cursor,
                "mcp.json",
                format!("{{\"mcpServers\":{server},}} // end"),
            ),
            (
                Client::Vscode,
                "mcp.json",
                format!("\u{feff}{{\"servers\":{server}}}"),
            ),
            (
                Client::Vscode,
                "settings.json",
                format!(r#"{{"mcp":{{"servers":{server},}},}}"#),
            ),
            (
                Client::Codex,
                "config.toml",
                "[mcp_servers.UnityMCP]\ncommand = 'x'\nargs = ['a']\nenv = { A = 'b' }\n"
                    .to_owned(),
            ),
        ];
        for (client, name, content) in cases {
            let entries = in_file(client, name, &content).expect("readable");
            let [entry] = &entries[..] else {
                panic!("{client:?}: {entries:?}");
            };
            assert_eq!(entry.command.as_deref(), Some("x"), "{client:?}");
            assert_eq!(
                (&entry.args[..], &*entry.env["A"]),
                (&["a".to_owned()][..], "b")
            );
            assert!(
                entry.faults.is_empty() && entry.misplaced.is_none(),
                "{entry:?}"
            );
        }
        let wrong = format!(r#"{{"mcpServers":{server}}}"#);
        let wrong = in_file(Client::Vscode, "mcp.json", &wrong).expect("readable");
        assert_eq!(wrong[0].misplaced, Some("mcpServers"));
    }

    #[test]
    fn claude_code_has_a_list_for_each_project_too() {
        let content = r#"{"mcpServers":{"a":{"command":"x"}},"projects":{
            "/p/Alpha":{"mcpServers":{"b":{"command":"x"}}},
            "/p/Beta":{"mcpServers":{"c":{"command":"x"}}},"/p":{}}}"#;
        let entries = in_file(Client::ClaudeCode, ".claude.json", content).expect("readable");
        let keys: Vec<&str> = entries.iter().map(|entry| entry.key.as_str()).collect();
        assert_eq!(keys, ["a", "b"]);
        assert_eq!(entries[1].scope, Scope::Local("/p/Alpha".into()));
    }

    #[test]
    fn what_is_broken_is_told() {
        let json = in_file(Client::Cursor, "mcp.json", "{\n  \"mcpServers\": { x }}");
        assert!(json.is_err_and(|why| why.contains("line 2")));
        let comments = in_file(Client::ClaudeCode, ".mcp.json", "{} // no");
        assert!(comments.is_err_and(|why| why.contains("line 1")));
        let toml = in_file(Client::Codex, "config.toml", "a = 1\n[mcp_servers\n");
        assert!(toml.is_err_and(|why| why.contains("line 2")));
        let utf16 = in_file(Client::Cursor, "mcp.json", "").expect("an empty file");
        assert!(utf16.is_empty());
        let odd = r#"{"mcpServers":{"a":5,"b":{},"c":{"command":1,"args":"x","env":{"n":1},"disabled":true},"d":null}}"#;
        let odd = in_file(Client::ClaudeDesktop, "c.json", odd).expect("readable");
        let faults: Vec<usize> = odd.iter().map(|entry| entry.faults.len()).collect();
        assert_eq!(faults, [1, 1, 3, 1]);
        assert!(odd[2].off);
    }
}
