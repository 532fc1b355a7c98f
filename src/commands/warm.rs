//! The `warm` command: fetches and unpacks the pinned server, so that the first real start is quick.

use super::folder::TemporaryFolder;
use super::session::Session;
use super::{Failure, complain, config, print, print_json};
use crate::upstream;
use serde_json::json;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How long a start with everything there may take before something is wrong.
const START: Duration = Duration::from_secs(120);

/// The arguments.
#[derive(clap::Args)]
pub(super) struct Options {
    /// Print what was measured as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(options: &Options) -> Result<u8, Failure> {
    let config = config();
    if let Some(words) = &config.upstream {
        let text = format!(
            "VRC_MCP_PROXY_UPSTREAM names the server ({}), which is started as it is: there is nothing to warm",
            words.join(" ")
        );
        if options.json {
            print_json(&json!({ "warmed": false, "reason": text, "upstream": words }))?;
        } else {
            print(&format!("{text}\n"))?;
        }
        return Ok(0);
    }
    let version = config.upstream_version;
    let fetch_s = fetch(version)?;
    let start_s = start(version)?;
    if options.json {
        print_json(&json!({
            "warmed": true, "server_version": version, "fetch_s": fetch_s, "start_s": start_s,
        }))
    } else {
        print(&format!(
            "mcpforunityserver {version} is there ({fetch_s:.1} s). A start now takes about {start_s:.1} s \
             until the client's hello is answered (measured).\n"
        ))
    }?;
    Ok(0)
}

/// Lets uvx fetch, unpack and run the server once; the seconds that took.
fn fetch(version: &str) -> Result<f64, Failure> {
    let (uvx, mut words) =
        upstream::command(None, version).map_err(|error| Failure::Told(error.to_string()))?;
    words.push("--help".to_owned());
    complain(&format!("{} {}", uvx.display(), words.join(" ")));
    let begun = Instant::now();
    // uvx shows its progress on stderr.
    let status = Command::new(&uvx)
        .args(&words)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()
        .map_err(Failure::io(format!("{} cannot be started", uvx.display())))?;
    if !status.success() {
        let end = upstream::describe(status);
        return Err(Failure::Told(format!(
            "{} {end}; what it said stands above. Without a network nothing can be fetched",
            uvx.display()
        )));
    }
    Ok(begun.elapsed().as_secs_f64())
}

/// Starts a relay as a client does; the seconds until its hello is answered. The server looks for Editors in an empty
/// folder: a running one would be torn from its client.
fn start(version: &str) -> Result<f64, Failure> {
    let no_editors = TemporaryFolder::new()?;
    let begun = Instant::now();
    let mut session = Session::start(vec![
        ("UNITY_MCP_STATUS_DIR", no_editors.path().into()),
        ("VRC_MCP_PROXY_UPSTREAM_VERSION", version.into()),
    ])?;
    session.initialize(1, begun + START)?;
    let took = begun.elapsed().as_secs_f64();
    session.end(&mut Vec::new())?;
    Ok(took)
}
