//! MCP clients and their configuration files: what `config` writes entries for and `doctor` reads.

pub(super) mod entries;
pub(super) mod places;

use clap::ValueEnum;

/// The key that an entry has to have: agents' permissions and instructions name tools by it.
pub(super) const KEY: &str = "UnityMCP";

/// A client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(super) enum Client {
    ClaudeCode,
    ClaudeDesktop,
    Cursor,
    Vscode,
    Codex,
}

impl Client {
    /// All of them, in the order in which they are shown.
    pub(super) const ALL: [Client; 5] = [
        Client::ClaudeCode,
        Client::ClaudeDesktop,
        Client::Cursor,
        Client::Vscode,
        Client::Codex,
    ];

    /// Its name on the command line and in JSON.
    pub(super) fn slug(self) -> &'static str {
        match self {
            Client::ClaudeCode => "claude-code",
            Client::ClaudeDesktop => "claude-desktop",
            Client::Cursor => "cursor",
            Client::Vscode => "vscode",
            Client::Codex => "codex",
        }
    }

    /// Its name in a sentence.
    pub(super) fn title(self) -> &'static str {
        match self {
            Client::ClaudeCode => "Claude Code",
            Client::ClaudeDesktop => "Claude Desktop",
            Client::Cursor => "Cursor",
            Client::Vscode => "VS Code",
            Client::Codex => "Codex",
        }
    }

    /// The key of the object that holds its servers.
    pub(super) fn servers_key(self) -> &'static str {
        match self {
            Client::ClaudeCode | Client::ClaudeDesktop | Client::Cursor => "mcpServers",
            Client::Vscode => "servers",
            Client::Codex => "mcp_servers",
        }
    }

    /// Whether it has a window and so starts programs with the PATH of the desktop, not of a shell.
    pub(super) fn has_window(self) -> bool {
        matches!(
            self,
            Client::ClaudeDesktop | Client::Cursor | Client::Vscode
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_knows_them_by_their_slugs() {
        for client in Client::ALL {
            let value = client.to_possible_value().expect("none is hidden");
            assert_eq!(value.get_name(), client.slug());
        }
        assert_eq!(Client::value_variants(), Client::ALL);
    }
}
