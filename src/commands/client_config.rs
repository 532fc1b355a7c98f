//! The `config` command: the entry that a client needs, ready to be pasted.

use super::clients::places::{Places, join};
use super::clients::{Client, KEY};
use super::session::this_program;
use super::{Failure, complain, print, print_json};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// Seconds that Codex has to be told to wait for the start: 10 unless told, and a first start takes longer.
const CODEX_STARTUP_S: u32 = 60;
/// Seconds that Codex has to be told to wait for a tool: 60 unless told, and a call's own deadline is 90 and more.
const CODEX_TOOL_S: u32 = 240;

/// The arguments.
#[derive(clap::Args)]
pub(super) struct Options {
    /// The client; without one, all of them
    #[arg(value_enum)]
    client: Option<Client>,
    /// Bind the proxy to this Unity project; without a path, to the one that the client is started in
    #[arg(long, value_name = "PATH", require_equals = true, num_args = 0..=1, default_missing_value = "auto")]
    project: Option<String>,
    /// Print the entries as JSON
    #[arg(long)]
    json: bool,
}

/// What a client needs.
struct Ready {
    client: Client,
    /// What to paste.
    text: String,
    /// The files it may go into, in the order of preference, with what that means.
    files: Vec<(String, &'static str)>,
    /// A command that does it all.
    command_line: Option<String>,
    /// What else to know.
    hint: &'static str,
}

pub(super) fn run(options: &Options) -> Result<u8, Failure> {
    let program = this_program()?;
    let program = program.to_str().ok_or_else(|| {
        Failure::Told(format!(
            "the path of this program is not Unicode: {program:?}"
        ))
    })?;
    if Path::new(program)
        .components()
        .any(|part| part.as_os_str() == "target")
    {
        complain(
            "this is the program in a build folder; `cargo install --path .` puts one where it stays",
        );
    }
    let here = std::env::current_dir().map_err(Failure::io("the working directory"))?;
    let places = Places::of_this_user(here);
    let wanted = options
        .client
        .map_or(Client::ALL.to_vec(), |client| vec![client]);
    let mut all = Vec::new();
    for client in wanted {
        all.push(ready(client, program, options.project.as_deref(), &places)?);
    }
    if options.json {
        let facts: Vec<Value> = all.iter().map(Ready::facts).collect();
        print_json(&json!({ "key": KEY, "program": program, "clients": facts }))?;
    } else {
        let texts: Vec<String> = all.iter().map(Ready::shown).collect();
        print(&texts.join("\n"))?;
    }
    Ok(0)
}

fn ready(
    client: Client,
    program: &str,
    project: Option<&str>,
    places: &Places,
) -> Result<Ready, Failure> {
    let project = match (client, project) {
        // It starts programs in no project's folder.
        (Client::ClaudeDesktop, Some("auto")) => None,
        (Client::Cursor | Client::Vscode, Some("auto")) => Some("${workspaceFolder}"),
        (_, project) => project,
    };
    let text = match client {
        Client::Codex => codex(program, project),
        _ => entry(client, program, project)?,
    };
    Ok(Ready {
        client,
        text,
        files: files(client, places),
        command_line: command_line(client, program, project),
        hint: hint(client),
    })
}

/// The entry of a client that reads JSON, with its keys in the usual order.
#[derive(serde::Serialize)]
struct Entry<'a> {
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    kind: Option<&'a str>,
    command: &'a str,
    args: [&'a str; 0],
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    env: BTreeMap<&'a str, &'a str>,
}

fn entry(client: Client, program: &str, project: Option<&str>) -> Result<String, Failure> {
    let entry = Entry {
        kind: (client == Client::Vscode).then_some("stdio"),
        command: program,
        args: [],
        env: project
            .map(|project| ("VRC_MCP_PROXY_PROJECT", project))
            .into_iter()
            .collect(),
    };
    let servers = BTreeMap::from([(client.servers_key(), BTreeMap::from([(KEY, entry)]))]);
    let text = serde_json::to_string_pretty(&servers);
    let text = text.map_err(|error| Failure::Told(error.to_string()))?;
    Ok(format!("{text}\n"))
}

fn codex(program: &str, project: Option<&str>) -> String {
    let mut text = format!(
        "[mcp_servers.{KEY}]\ncommand = {}\nstartup_timeout_sec = {CODEX_STARTUP_S}\ntool_timeout_sec = \
         {CODEX_TOOL_S}\n",
        toml_text(program)
    );
    if let Some(project) = project {
        let project = toml_text(project);
        text.push_str(&format!("env = {{ VRC_MCP_PROXY_PROJECT = {project} }}\n"));
    }
    text
}

/// A basic string of TOML: as in JSON, but for the one control character that JSON takes as it is.
fn toml_text(text: &str) -> String {
    json!(text).to_string().replace('\u{7f}', "\\u007F")
}

fn files(client: Client, places: &Places) -> Vec<(String, &'static str)> {
    let in_project = Places::project_file(client).map(|name| {
        let file = join(&places.here, name).display().to_string();
        (file, "for the project in this folder")
    });
    let of_user = places
        .user_files(client)
        .into_iter()
        .next()
        .map(|file| (file.display().to_string(), "for all projects of this user"));
    // A project's file of Codex counts only where the project is trusted.
    let mut files: Vec<_> = in_project.into_iter().chain(of_user).collect();
    if client == Client::Codex {
        files.reverse();
    }
    files
}

fn command_line(client: Client, program: &str, project: Option<&str>) -> Option<String> {
    let bound = |flag: &str| {
        project.map_or_else(String::new, |project| {
            let variable = quoted(&format!("VRC_MCP_PROXY_PROJECT={project}"));
            format!(" {flag} {variable}")
        })
    };
    let program = quoted(program);
    match client {
        Client::ClaudeCode => {
            let bound = bound("--env");
            Some(format!(
                "claude mcp add --scope project {KEY}{bound} -- {program}"
            ))
        }
        Client::Codex => Some(format!(
            "codex mcp add {KEY}{} -- {program}",
            bound("--env")
        )),
        Client::ClaudeDesktop | Client::Cursor | Client::Vscode => None,
    }
}

fn hint(client: Client) -> &'static str {
    match client {
        Client::ClaudeCode => {
            "It asks once whether a project's servers may be started. MCP_TIMEOUT (milliseconds) is how long it waits \
             for a start."
        }
        Client::ClaudeDesktop => {
            "Quit it and start it again after the change. It starts programs in no project's folder."
        }
        Client::Cursor => "After the change switch the server off and on in Settings > MCP.",
        Client::Vscode => {
            "It asks once whether the server is trusted. The command MCP: List Servers shows it."
        }
        Client::Codex => {
            "Without startup_timeout_sec it waits 10 s for the start, which a first one exceeds (`vrc-mcp-proxy warm` \
             makes it once); without tool_timeout_sec 60 s for a call. `codex mcp add` sets neither."
        }
    }
}

/// A word for the command line of the platform's usual shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/\\:._-=@+".contains(c);
    let plain = |c: char| plain(c) && (cfg!(windows) || c != '\\');
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else if cfg!(windows) {
        format!("\"{word}\"")
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

impl Ready {
    fn shown(&self) -> String {
        let mut text = format!("{}\n", self.client.title());
        for (file, meaning) in &self.files {
            text.push_str(&format!("  {file} ({meaning})\n"));
        }
        text.push_str(&format!("\n{}\n", self.text));
        if let Some(line) = &self.command_line {
            text.push_str(&format!("  or: {line}\n"));
        }
        text.push_str(&format!("  {}\n", self.hint));
        text
    }

    fn facts(&self) -> Value {
        let files = self.files.iter();
        let files = files.map(|(file, meaning)| json!({ "file": file, "meaning": meaning }));
        json!({
            "client": self.client.slug(),
            "title": self.client.title(),
            "files": files.collect::<Vec<_>>(),
            "text": self.text,
            "command_line": self.command_line,
            "hint": self.hint,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOWS: &str = r"C:\Users\Zoë O'Neil\bin\vrc-mcp-proxy.exe";

    #[test]
    fn odd_paths_survive_both_languages() {
        for program in [WINDOWS, "/a \"b\"\n\t\u{7f}/c", "/plain"] {
            for project in [None, Some("C:\\Unity\\Ä \"x\"")] {
                let table: Value = toml::from_str(&codex(program, project)).expect("TOML");
                let server = &table["mcp_servers"][KEY];
                assert_eq!(server["command"], program);
                assert_eq!(server["startup_timeout_sec"], CODEX_STARTUP_S);
                let variable = |server: &Value| server["env"]["VRC_MCP_PROXY_PROJECT"].clone();
                assert_eq!(variable(server).as_str(), project);
                let json = entry(Client::Vscode, program, project).expect("JSON");
                let json: Value = serde_json::from_str(&json).expect("JSON");
                let json = &json["servers"][KEY];
                assert_eq!(
                    (&json["command"], &json["type"]),
                    (&json!(program), &json!("stdio"))
                );
                assert_eq!(variable(json).as_str(), project);
            }
        }
    }

    #[test]
    fn a_shell_reads_the_path_as_one_word() {
        if cfg!(windows) {
            assert_eq!(quoted(WINDOWS), format!("\"{WINDOWS}\""));
            assert_eq!(quoted(r"C:\x.exe"), r"C:\x.exe");
        } else {
            assert_eq!(quoted("/a b/it's"), r"'/a b/it'\''s'");
            assert_eq!(quoted("/usr/bin/x-1.2"), "/usr/bin/x-1.2");
            assert_eq!(quoted("a\\b"), "'a\\b'");
            assert_eq!(quoted("$(x)"), "'$(x)'");
        }
        assert!(!quoted("").is_empty());
    }
}
