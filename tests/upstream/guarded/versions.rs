//! The other server versions that a baseline is committed of.

use super::session::TOOLS;
use super::*;
use crate::rig::skip;
use vrc_mcp_proxy::baseline::committed_versions;
use vrc_mcp_proxy::config::UPSTREAM_VERSION;

scenarios![each_committed_version_starts_without_drift];

fn each_committed_version_starts_without_drift(home: &Home) {
    for version in committed_versions().filter(|version| *version != UPSTREAM_VERSION) {
        if !fetched(home, version) {
            skip(
                "versions",
                &format!("uvx cannot get {version} (no network?)"),
            );
            continue;
        }
        let mut client = starting(|| {
            let selected = Launch::relay().env("VRC_MCP_PROXY_UPSTREAM_VERSION", version);
            Client::start(home, &selected)
        });
        let started = format!("mcpforunityserver=={version}");
        if cfg!(target_os = "linux") {
            let lines = home.server_processes();
            let uvx = lines.iter().any(|(_, line)| line.contains(&started));
            assert!(uvx, "{started}: {lines:?}");
        }
        let id = client.request("tools/list", &json!({}));
        let listing = client.answer(id);
        let tools = listing.result()["tools"].as_array().unwrap();
        let names = tools.iter().filter_map(|tool| tool["name"].as_str());
        assert_eq!(names.collect::<Vec<_>>(), TOOLS, "{version}");
        // Neither drift nor wording: the baseline is that of this very server.
        let stderr = client.stderr();
        assert!(!stderr.contains("baseline"), "{version}: {stderr}");
        let call = json!({"action": "create", "name": "Probe"});
        let answer = client.call_once("manage_gameobject", &call);
        says(&answer.text(), &["No Unity Editor instances found"]);
        client.leave();
        assert!(client.exit_within(PATIENCE).is_some(), "{version}");
    }
}

/// Whether uvx has this version, or gets it.
fn fetched(home: &Home, version: &str) -> bool {
    let from = format!("mcpforunityserver=={version}");
    let output = home
        .command("uvx")
        .args(["--from", &from, "python", "-c", ""])
        .output();
    output.is_ok_and(|output| output.status.success())
}
