//! The processes that matter: Unity Editors, and MCP for Unity servers with who started them.

use std::collections::HashMap;

/// What runs.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Processes {
    pub(super) unity: Vec<Unity>,
    pub(super) servers: Vec<Server>,
}

/// A Unity Editor's process; its helpers are none.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unity {
    pub(super) pid: u32,
    /// The project's root as the command line names it, with forward slashes and none at its end.
    pub(super) project: Option<String>,
    /// Its `UNITY_MCP_STATUS_DIR`, where that can be known: `Some(None)` means that it has none.
    pub(super) status_dir: Option<Option<String>>,
}

/// A server's process, or the uvx that started it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Server {
    pub(super) pid: u32,
    /// Whether it speaks HTTP and not stdio.
    pub(super) http: bool,
    /// Whether this proxy started it.
    pub(super) behind_proxy: bool,
}

/// A process as the system lists it.
struct Listed {
    pid: u32,
    parent: u32,
    words: Vec<String>,
}

/// Looks at what runs now.
///
/// # Errors
/// Why that cannot be known.
pub(super) fn look() -> Result<Processes, String> {
    list().map(|all| sort_out(&all))
}

fn sort_out(all: &[Listed]) -> Processes {
    let by_pid: HashMap<u32, &Listed> = all.iter().map(|one| (one.pid, one)).collect();
    let parent = |one: &Listed| by_pid.get(&one.parent).copied();
    let unity = all.iter().filter(|one| one.is_unity()).map(|one| Unity {
        pid: one.pid,
        project: one.project(),
        status_dir: status_dir(one.pid),
    });
    // uvx and the Python that it starts are one server.
    let first = |one: &&Listed| one.is_server() && !parent(one).is_some_and(Listed::is_server);
    // A launcher may stand between; numbers that were given anew could make a circle.
    let above = |one| std::iter::successors(parent(one), |one| parent(one)).take(16);
    let servers = all.iter().filter(first).map(|one| Server {
        pid: one.pid,
        http: one.option("--transport").as_deref() == Some("http"),
        behind_proxy: above(one).any(|above| above.program() == "vrc-mcp-proxy"),
    });
    Processes {
        unity: unity.collect(),
        servers: servers.collect(),
    }
}

impl Listed {
    /// The program's name in small letters, without folder and `.exe`.
    fn program(&self) -> String {
        base_name(self.words.first().map_or("", String::as_str))
    }

    fn is_unity(&self) -> bool {
        // An Editor starts others of itself to import assets.
        let helper = self
            .words
            .iter()
            .any(|word| word.eq_ignore_ascii_case("-batchMode"));
        self.program() == "unity" && !helper
    }

    fn is_server(&self) -> bool {
        let program = self.program();
        if program == "mcp-for-unity" {
            return true;
        }
        let words = self.words.get(1..).unwrap_or_default();
        match &*program {
            "uvx" | "uv" => words.iter().any(|word| {
                base_name(word) == "mcp-for-unity" || word.starts_with("mcpforunityserver")
            }),
            python if python.starts_with("python") => words
                .first()
                .is_some_and(|word| base_name(word) == "mcp-for-unity"),
            _ => false,
        }
    }

    /// The value behind a word in any case, or in it behind a `=`. A path with blanks that the system does not show as
    /// one word ends at the next option.
    fn option(&self, name: &str) -> Option<String> {
        let at = self.words.iter().position(|word| {
            let word = word.split('=').next().unwrap_or_default();
            word.eq_ignore_ascii_case(name)
        })?;
        if let Some((_, value)) = self.words[at].split_once('=') {
            return Some(value.to_owned());
        }
        let behind = self.words.get(at + 1..)?.iter();
        let value: Vec<&str> = behind
            .take_while(|word| !word.starts_with('-'))
            .map(String::as_str)
            .collect();
        (!value.is_empty()).then(|| value.join(" "))
    }

    fn project(&self) -> Option<String> {
        let path = self.option("-projectPath")?.replace('\\', "/");
        Some(path.trim_end_matches('/').to_owned())
    }
}

fn base_name(path: &str) -> String {
    let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
    let name = name.to_ascii_lowercase();
    name.strip_suffix(".exe").unwrap_or(&name).to_owned()
}

#[cfg(target_os = "linux")]
fn list() -> Result<Vec<Listed>, String> {
    let entries = std::fs::read_dir("/proc").map_err(|error| format!("/proc: {error}"))?;
    let pids = entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    Ok(pids.filter_map(of_proc).collect())
}

#[cfg(target_os = "linux")]
fn of_proc(pid: u32) -> Option<Listed> {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let words = line.split(|byte| *byte == 0).map(String::from_utf8_lossy);
    let mut words: Vec<String> = words.map(std::borrow::Cow::into_owned).collect();
    // Each word ends with a NUL.
    words.pop();
    // The name in parentheses may hold anything; behind it stand the state and the parent.
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, behind) = stat.rsplit_once(')')?;
    let parent = behind.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(Listed { pid, parent, words })
}

#[cfg(target_os = "linux")]
fn status_dir(pid: u32) -> Option<Option<String>> {
    let environment = std::fs::read(format!("/proc/{pid}/environ")).ok()?;
    let mut variables = environment.split(|byte| *byte == 0);
    let value = variables.find_map(|variable| variable.strip_prefix(b"UNITY_MCP_STATUS_DIR="));
    let value = value.map(|value| String::from_utf8_lossy(value).into_owned());
    Some(value.filter(|value| !value.trim().is_empty()))
}

/// The environment of another process cannot be read here.
#[cfg(not(target_os = "linux"))]
fn status_dir(_: u32) -> Option<Option<String>> {
    None
}

#[cfg(not(target_os = "linux"))]
fn list() -> Result<Vec<Listed>, String> {
    use std::process::Command;
    /// Windows takes about a second to start PowerShell.
    const LIMIT: std::time::Duration = std::time::Duration::from_secs(8);
    let mut command = if cfg!(windows) {
        let script = "[Console]::OutputEncoding = [Text.Encoding]::UTF8; Get-CimInstance Win32_Process | \
                      Where-Object CommandLine | \
                      ForEach-Object { \"$($_.ProcessId) $($_.ParentProcessId) $($_.CommandLine)\" }";
        let mut command = Command::new("powershell");
        command.args(["-NoProfile", "-NonInteractive", "-Command", script]);
        command
    } else {
        let mut command = Command::new("ps");
        command.args(["-axww", "-o", "pid=,ppid=,command="]);
        command
    };
    let program = command.get_program().to_string_lossy().into_owned();
    let said = super::super::limited::run(&mut command, LIMIT)
        .map_err(|error| format!("{program}: {error}"))?;
    if !said.status.success() {
        return Err(format!("{program} failed"));
    }
    Ok(table(&String::from_utf8_lossy(&said.stdout)))
}

/// Lines of a process's number, its parent's, and its command line.
#[cfg(any(test, not(target_os = "linux")))]
fn table(text: &str) -> Vec<Listed> {
    let line = |line: &str| {
        let (pid, rest) = line.trim().split_once(char::is_whitespace)?;
        let (parent, rest) = rest.trim_start().split_once(char::is_whitespace)?;
        Some(Listed {
            pid: pid.parse().ok()?,
            parent: parent.parse().ok()?,
            words: words(rest),
        })
    };
    text.lines().filter_map(line).collect()
}

/// The words of a command line; what stands in double quotes is one. A Mac's Unity may lie in a folder with blanks.
#[cfg(any(test, not(target_os = "linux")))]
fn words(line: &str) -> Vec<String> {
    const OF_A_MAC: &str = ".app/Contents/MacOS/Unity ";
    let line = line.trim();
    let program = line.find(OF_A_MAC).map(|at| at + OF_A_MAC.len() - 1);
    let (program, rest) = line.split_at(program.unwrap_or(0));
    let mut words: Vec<String> = Vec::new();
    if !program.is_empty() {
        words.push(program.to_owned());
    }
    let (mut word, mut quoted, mut begun) = (String::new(), false, false);
    for letter in rest.chars() {
        match letter {
            '"' => (quoted, begun) = (!quoted, true),
            blank if blank.is_whitespace() && !quoted => {
                if begun {
                    words.push(std::mem::take(&mut word));
                }
                begun = false;
            }
            letter => {
                word.push(letter);
                begun = true;
            }
        }
    }
    if begun {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn editors_are_told_from_their_helpers_and_servers_from_what_starts_them() {
        let text = r#"
            10    1 /Applications/Unity Hub/2022.3.22f1/Unity.app/Contents/MacOS/Unity -projectpath /Users/me/My Game -useHub
            11   10 /Applications/Unity/Unity.app/Contents/MacOS/Unity -adb2 -batchMode -projectPath /Users/me/My Game
            12    1 "C:\Program Files\Unity\Editor\Unity.exe" -projectPath "D:\Unity\My - Game\" -useHub
            13    1 /opt/Unity/Editor/Unity
            14    1 /opt/unityhub/unityhub --x
            20    5 /home/me/.local/bin/uvx --from mcpforunityserver==10.1.0 mcp-for-unity --transport stdio
            21   20 /c/bin/python /c/bin/mcp-for-unity --transport stdio
            30   31 C:\uv\uvx.exe --from mcpforunityserver==10.1.0 mcp-for-unity --transport http --http-url http://x
            31   32 cmd /c uvx
            32    1 C:\Tools\vrc-mcp-proxy.exe
            40    1 grep mcp-for-unity
            41    1 python -c mcp-for-unity
            42    1 sh -c uvx --from mcpforunityserver
            50    1 python3.11 /c/bin/mcp-for-unity --transport=http
            no process
        "#;
        let found = sort_out(&table(text));
        let unity: Vec<_> = found
            .unity
            .iter()
            .map(|u| (u.pid, u.project.as_deref()))
            .collect();
        let expected = [
            (10, Some("/Users/me/My Game")),
            (12, Some("D:/Unity/My - Game")),
            (13, None),
        ];
        assert_eq!(unity, expected);
        let servers: Vec<_> = found
            .servers
            .iter()
            .map(|server| (server.pid, server.http, server.behind_proxy))
            .collect();
        assert_eq!(
            servers,
            [(20, false, false), (30, true, true), (50, true, false)]
        );
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_very_process_is_listed() {
        let me = std::process::id();
        let all = list().expect("/proc");
        let own = all.iter().find(|one| one.pid == me).expect("this process");
        let words: Vec<String> = std::env::args().collect();
        assert_eq!(own.words, words);
        assert_ne!(own.parent, 0);
        assert!(status_dir(me).is_some());
    }
}
