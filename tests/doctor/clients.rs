//! The entries of clients.

use super::*;

fn servers(key: &str, server: &Value) -> String {
    json!({ "mcpServers": { key: server } }).to_string()
}

fn proxy() -> Value {
    json!({ "command": *BINARY })
}

/// What looks like the server itself; that program is there, and is never started.
fn bare_server() -> Value {
    let program = std::env::current_exe().expect("this test");
    json!({ "command": program, "args": ["--from", "mcpforunityserver==10.1.0", "mcp-for-unity"] })
}

/// A user's settings folder, below the home folder.
fn settings() -> &'static str {
    if cfg!(windows) {
        "AppData/Roaming"
    } else if cfg!(target_os = "macos") {
        "Library/Application Support"
    } else {
        ".config"
    }
}

/// An entry in every place but Cursor's and Codex' for a project and Claude Code's for all.
fn entries_everywhere(home: &Home) {
    let entry = servers("UnityMCP", &proxy());
    let vscode = entry.replace("mcpServers", "servers");
    let local = json!({ "mcpServers": { "UnityMCP": proxy() } });
    let other = servers("UnityMCP", &json!({ "command": "never" }));
    let other: Value = serde_json::from_str(&other).expect("JSON");
    let projects = json!({ "projects": { text(&home.path("work")): local, "/other": other } });
    let settings = settings();
    home.file(".mcp.json", &entry);
    home.file(".claude.json", &projects.to_string());
    home.file(
        &format!("{settings}/Claude/claude_desktop_config.json"),
        &entry,
    );
    home.file(".cursor/mcp.json", &entry);
    home.file("work/.vscode/mcp.json", &vscode);
    let commented = format!("{{ /* mine */ \"mcp\": {vscode},}}");
    home.file(&format!("{settings}/Code/User/settings.json"), &commented);
    let codex = format!("[mcp_servers.UnityMCP]\ncommand = {}\n", json!(*BINARY));
    home.file(".codex/config.toml", &codex);
}

#[test]
fn every_usual_place_is_looked_in() {
    let home = Home::new();
    home.editor("Alpha", 0, 6400);
    entries_everywhere(&home);
    let said = home.doctor();
    let rows = said.facts["clients"].as_array().expect("rows");
    let found: Vec<&str> = rows
        .iter()
        .filter_map(|row| row["client"].as_str())
        .collect();
    let expected = "claude-code claude-code claude-desktop cursor vscode vscode codex";
    assert_eq!(found.join(" "), expected, "{}", said.text);
    assert!(
        rows.iter().all(|row| row["kind"] == "this proxy"),
        "{}",
        said.text
    );
    assert_eq!(rows[0]["scope"], text(&home.path("work")));
    said.lacks("two_entries");
    said.lacks("client_file_broken");
    let all = "Claude Code, Claude Desktop, Cursor, VS Code, Codex";
    said.finds("two_clients", "warning", &[all]);
    said.finds("entry_impatient", "warning", &["Codex", "10 s"]);
}

#[test]
fn each_kind_of_entry_is_told_apart() {
    let home = Home::new();
    let other = home.file("Other Tools/vrc-mcp-proxy.exe", "");
    #[cfg(unix)]
    std::fs::set_permissions(&other, std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .expect("its rights are set");
    let entries = json!({ "mcpServers": {
        "UnityMCP": { "command": "~/bin/vrc-mcp-proxy" },
        "copy": { "command": other },
        "unity": bare_server(),
        "unity-mcp": { "type": "http", "url": "http://127.0.0.1:8080/mcp" },
        "unityMCP2": { "command": "${SURELY_NOT_SET_2}/x" },
        "unityMCP3": { "command": *BINARY, "disabled": true },
        "unityMCP4": { "command": *BINARY, "args": "none", "env": { "A": 1 } },
        "unityMCP5": { "command": *BINARY, "args": ["--transport", "stdio"] },
        "unityMCP6": { "command": *BINARY, "env": { "VRC_MCP_PROXY_DISABEL": "canary", "VRC_MCP_PROXY_DISABLE": "canary" } },
        "else": { "command": "npx" },
    }});
    home.file("work/.mcp.json", &entries.to_string());
    home.file("work/.vscode/mcp.json", &servers("UnityMCP", &proxy()));
    let said = home.doctor();
    said.finds(
        "command_missing",
        "problem",
        &["\"UnityMCP\"", "~/bin/vrc-mcp-proxy"],
    );
    said.finds("other_copy", "warning", &["\"copy\"", "Other Tools"]);
    said.finds("past_proxy", "problem", &["\"unity\"", "past this proxy"]);
    said.finds("http_entry", "problem", &["\"unity-mcp\"", "8080"]);
    said.finds(
        "entry_unresolved",
        "info",
        &["\"unityMCP2\"", "SURELY_NOT_SET_2"],
    );
    said.finds("entry_off", "info", &["\"unityMCP3\""]);
    said.finds(
        "entry_faulty",
        "problem",
        &[
            "\"unityMCP4\"",
            "args is no list of texts",
            "env.A is no text",
        ],
    );
    said.finds(
        "entry_arguments",
        "problem",
        &["\"unityMCP5\"", "--transport"],
    );
    said.finds("entry_key", "warning", &["\"unityMCP6\"", "UnityMCP"]);
    said.finds(
        "unknown_variable",
        "problem",
        &["VRC_MCP_PROXY_DISABEL", "\"unityMCP6\""],
    );
    said.finds("entry_behaviours_off", "info", &["canary"]);
    said.finds("entry_misplaced", "problem", &["VS Code reads \"servers\""]);
    assert_eq!(said.facts["clients"].as_array().map(Vec::len), Some(10));
    said.finds("two_entries", "problem", &["Claude Code starts 4 servers"]);
    said.lacks("two_clients");
}

#[test]
fn values_that_may_be_secrets_stay_where_they_are() {
    let home = Home::new();
    home.entry(&json!({ "API_KEY": "hunter2", "VRC_MCP_PROXY_LOG": "debug" }));
    let said = home.doctor();
    let env = &said.facts["clients"][0]["env"];
    assert_eq!(
        *env,
        json!({ "API_KEY": null, "VRC_MCP_PROXY_LOG": "debug" })
    );
    let shown = format!("{}{}", said.text, said.facts);
    assert!(!shown.contains("hunter2"), "{shown}");
}

#[test]
fn broken_files_are_findings() {
    let home = Home::new();
    home.file(
        "work/.mcp.json",
        "{ \"mcpServers\": {} } // not for Claude Code",
    );
    home.file("work/.cursor/mcp.json", "{ // fine\n}");
    home.file(".codex/config.toml", "[mcp_servers");
    let said = home.doctor();
    said.finds(
        "client_file_broken",
        "problem",
        &[".mcp.json", "Claude Code", "line 1"],
    );
    said.finds("client_file_broken", "problem", &["config.toml", "Codex"]);
    said.finds("no_entry", "warning", &["no client has an entry"]);
    let broken = said
        .findings()
        .iter()
        .filter(|finding| finding["id"] == "client_file_broken");
    assert_eq!(broken.count(), 2, "{}", said.text);
}

#[test]
fn what_fights_for_an_editor_and_what_does_not() {
    let home = Home::new();
    // Of equal keys a client starts one; another client with one of its own is a matter of use.
    home.file("work/.mcp.json", &servers("UnityMCP", &proxy()));
    home.file(".claude.json", &servers("UnityMCP", &bare_server()));
    let said = home.doctor();
    said.lacks("two_entries");
    said.lacks("two_clients");
    // A second key is a second server.
    home.file(".claude.json", &servers("unity", &bare_server()));
    let said = home.doctor();
    let both = said.finds("two_entries", "problem", &["Claude Code starts 2 servers"]);
    assert_eq!(both["data"]["entries"].as_array().map(Vec::len), Some(2));
    // One client through the proxy, one past it.
    home.file(".claude.json", "{}");
    home.file(
        "work/.cursor/mcp.json",
        &servers("unityMCP", &bare_server()),
    );
    let said = home.doctor();
    said.finds(
        "two_clients",
        "warning",
        &[
            "Claude Code, Cursor",
            "not all of them go through this proxy",
        ],
    );
    // Each is bound to a project of its own.
    for (name, project) in [
        ("work/.mcp.json", "/p/Alpha"),
        ("work/.cursor/mcp.json", "/p/Beta"),
    ] {
        let bound = json!({ "command": *BINARY, "env": { "VRC_MCP_PROXY_PROJECT": project } });
        home.file(name, &servers("UnityMCP", &bound));
    }
    home.doctor().lacks("two_clients");
}

#[test]
fn an_entry_that_looks_for_editors_elsewhere() {
    let home = Home::new();
    home.editor("Alpha", 0, 6400);
    let there = home.path("empty");
    home.entry(&json!({ "UNITY_MCP_STATUS_DIR": text(&there) }));
    let said = home.doctor();
    said.finds(
        "entry_other_folder",
        "problem",
        &[text(&there), "1 live Editor"],
    );
    home.entry(&json!({ "UNITY_MCP_STATUS_DIR": "${SURELY_NOT_SET_3:-}" }));
    home.doctor().lacks("entry_other_folder");
}
