//! Where clients keep their lists of servers.

use super::Client;
use std::path::{Path, PathBuf};

/// The folders that such files lie in.
pub(in crate::commands) struct Places {
    home: Option<PathBuf>,
    /// Where programs keep a user's settings.
    settings: Option<PathBuf>,
    /// The folder of Claude Code's own file.
    claude: Option<PathBuf>,
    /// Codex' own folder.
    codex: Option<PathBuf>,
    /// The working directory, and so the nearest place for a project's files.
    pub(in crate::commands) here: PathBuf,
}

/// Whom an entry is started for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::commands) enum Scope {
    /// Whatever the client is started for.
    User,
    /// The project in this folder, through a file in it.
    Project(PathBuf),
    /// The project in this folder, through the user's own file.
    Local(PathBuf),
}

/// How a file is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::commands) enum Form {
    Json,
    /// With comments and commas ahead of a closing bracket.
    JsonWithComments,
    Toml,
}

/// A file that may hold entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::commands) struct Place {
    pub(in crate::commands) client: Client,
    pub(in crate::commands) file: PathBuf,
    pub(in crate::commands) scope: Scope,
}

impl Places {
    /// The places of this user on this platform.
    pub(in crate::commands) fn of_this_user(here: PathBuf) -> Self {
        let home = crate::home::folder();
        let named = |name: &str| {
            let value = std::env::var_os(name).filter(|value| !value.is_empty());
            value.map(PathBuf::from)
        };
        let below = |name: &str| home.as_ref().map(|home| home.join(name));
        let settings = if cfg!(windows) {
            named("APPDATA").or_else(|| below("AppData/Roaming"))
        } else if cfg!(target_os = "macos") {
            below("Library/Application Support")
        } else {
            named("XDG_CONFIG_HOME").or_else(|| below(".config"))
        };
        Places {
            settings,
            claude: named("CLAUDE_CONFIG_DIR").or_else(|| home.clone()),
            codex: named("CODEX_HOME").or_else(|| below(".codex")),
            here,
            home,
        }
    }

    /// The client's file in a project's folder, when it has one.
    pub(in crate::commands) fn project_file(client: Client) -> Option<&'static str> {
        match client {
            Client::ClaudeCode => Some(".mcp.json"),
            Client::ClaudeDesktop => None,
            Client::Cursor => Some(".cursor/mcp.json"),
            Client::Vscode => Some(".vscode/mcp.json"),
            Client::Codex => Some(".codex/config.toml"),
        }
    }

    /// The client's files for all of the user's projects, the usual one first.
    pub(in crate::commands) fn user_files(&self, client: Client) -> Vec<PathBuf> {
        let (base, names): (&Option<PathBuf>, &[&str]) = match client {
            Client::ClaudeCode => (&self.claude, &[".claude.json"]),
            Client::ClaudeDesktop => (&self.settings, &["Claude/claude_desktop_config.json"]),
            Client::Cursor => (&self.home, &[".cursor/mcp.json"]),
            Client::Vscode => (
                &self.settings,
                &[
                    "Code/User/mcp.json",
                    "Code/User/settings.json",
                    "Code - Insiders/User/mcp.json",
                ],
            ),
            Client::Codex => (&self.codex, &["config.toml"]),
        };
        let base = base.iter();
        base.flat_map(|base| names.iter().map(|name| join(base, name)))
            .collect()
    }

    /// Every file that may concern a client started here: the user's, and those of this folder and of each above
    /// it, the nearest first.
    pub(in crate::commands) fn all(&self) -> Vec<Place> {
        let mut places: Vec<Place> = Vec::new();
        for client in Client::ALL {
            for file in self.user_files(client) {
                let scope = Scope::User;
                places.push(Place {
                    client,
                    file,
                    scope,
                });
            }
            let Some(name) = Self::project_file(client) else {
                continue;
            };
            for folder in self.here.ancestors() {
                let file = join(folder, name);
                // The home folder's `.cursor/mcp.json` is the user's, not a project's.
                if places.iter().all(|place| place.file != file) {
                    let scope = Scope::Project(folder.to_owned());
                    places.push(Place {
                        client,
                        file,
                        scope,
                    });
                }
            }
        }
        places
    }
}

impl Place {
    /// How the client reads it.
    pub(in crate::commands) fn form(&self) -> Form {
        match self.client {
            Client::Codex => Form::Toml,
            Client::Vscode | Client::Cursor => Form::JsonWithComments,
            Client::ClaudeCode | Client::ClaudeDesktop => Form::Json,
        }
    }
}

/// A relative path that is written with `/`, in the platform's own spelling.
pub(in crate::commands) fn join(folder: &Path, relative: &str) -> PathBuf {
    let mut path = folder.to_owned();
    path.extend(relative.split('/'));
    path
}
