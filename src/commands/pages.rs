//! The `completions` and `man` commands: what shells and `man` are to know of this program.

use super::{Cli, Failure, print};
use clap::CommandFactory;
use std::path::PathBuf;

/// The arguments of `completions`.
#[derive(clap::Args)]
pub(super) struct CompletionsOptions {
    /// The shell
    #[arg(value_enum)]
    shell: clap_complete::Shell,
}

/// The arguments of `man`.
#[derive(clap::Args)]
pub(super) struct ManOptions {
    /// Write this page and one for each command into the folder instead of this page to stdout
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
}

/// Prints the completions of a shell.
pub(super) fn completions(options: &CompletionsOptions) -> Result<u8, Failure> {
    let full = Cli::command();
    // The generators offer hidden commands too.
    let shown = full
        .get_subcommands()
        .filter(|command| !command.is_hide_set());
    let mut command = clap::Command::new("vrc-mcp-proxy")
        .version(env!("CARGO_PKG_VERSION"))
        .subcommands(shown.cloned());
    let mut script = Vec::new();
    clap_complete::generate(options.shell, &mut command, "vrc-mcp-proxy", &mut script);
    let script = String::from_utf8_lossy(&script);
    // clap_complete 4.6.12 writes a program's dashes in two ways into the script for bash, which then completes no
    // command's arguments. Where it writes them in one, this changes nothing.
    print(&script.replace("vrc__subcmd__mcp__subcmd__proxy", "vrc__mcp__proxy"))?;
    Ok(0)
}

/// Prints or writes the manual's pages.
pub(super) fn man(options: &ManOptions) -> Result<u8, Failure> {
    let command = Cli::command();
    if let Some(folder) = &options.out {
        std::fs::create_dir_all(folder)
            .and_then(|()| clap_mangen::generate_to(command, folder))
            .map_err(Failure::io(folder.display().to_string()))?;
        return Ok(0);
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(command)
        .render(&mut page)
        .map_err(Failure::io("the page"))?;
    print(&String::from_utf8_lossy(&page))?;
    Ok(0)
}
