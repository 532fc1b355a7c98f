//! What the environment says at the start.

use crate::harness::{MY_ARGUMENTS, relay};
use serde_json::json;
use std::path::{Path, PathBuf};

#[test]
fn each_bad_value_is_one_line_and_the_relay_runs() {
    let mut session = relay()
        .env("VRC_MCP_PROXY_DISABLE", "manage_asset_truth")
        .env("VRC_MCP_PROXY_EXECUTE_TIMEOUT_S", "soon")
        .env("VRC_MCP_PROXY_LOG", "=loud=")
        .env("VRC_MCP_PROXY_DENY", "no_such_tool")
        .env("VRC_MCP_PROXY_COLOUR", "blue")
        .env("VRC_MCP_PROXY_UPSTREAM_VERSION", "9.9.9")
        .start();
    session.ask(1, &json!([["answer"]]));
    assert_eq!(session.message()["id"], 1);
    session.close();
    let log = session.log();
    for (name, value) in [
        ("VRC_MCP_PROXY_DISABLE", "manage_asset_truth"),
        ("VRC_MCP_PROXY_EXECUTE_TIMEOUT_S", "soon"),
        ("VRC_MCP_PROXY_LOG", "=loud="),
        ("VRC_MCP_PROXY_DENY", "no_such_tool"),
        ("VRC_MCP_PROXY_COLOUR", ""),
        ("VRC_MCP_PROXY_UPSTREAM_VERSION", "9.9.9"),
        (
            "VRC_MCP_PROXY_UPSTREAM_VERSION",
            "10.1.0, 10.1.2, 10.2.0, 10.3.0",
        ),
        ("VRC_MCP_PROXY_UPSTREAM_VERSION", "10.1.0 is used"),
    ] {
        let start = format!("[vrc-mcp-proxy] WARN {name}");
        let about: Vec<&str> = log
            .lines()
            .filter(|line| line.starts_with(&start))
            .collect();
        assert_eq!(about.len(), 1, "{name}:\n{log}");
        assert!(about[0].contains(value), "{}", about[0]);
    }
    assert_eq!(session.code(), 0);
}

/// Writes a uvx into `folder` that says with which words it was started and is the scripted server.
pub(crate) fn fake_uvx(folder: &Path) {
    std::fs::create_dir_all(folder).expect("a folder");
    let me = std::env::current_exe().expect("this executable");
    let me = me.display();
    let arguments = MY_ARGUMENTS.join(" ");
    #[cfg(unix)]
    {
        let script = format!("#!/bin/sh\necho \"uvx: $*\" >&2\nexec '{me}' {arguments}\n");
        crate::program::script(&folder.join("uvx"), &script);
    }
    #[cfg(windows)]
    {
        let script = format!("@echo uvx: %* 1>&2\r\n@\"{me}\" {arguments}\r\n");
        std::fs::write(folder.join("uvx.cmd"), script).expect("a file");
    }
}

#[test]
fn the_selected_server_version_is_what_uvx_is_asked_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().join("path");
    fake_uvx(&place);
    for (selected, started) in [("10.3.0", "10.3.0"), ("10.3", "10.1.0")] {
        let session = with_uvx_at(folder.path(), &place)
            .env("VRC_MCP_PROXY_UPSTREAM_VERSION", selected)
            .start();
        let line = session.says("uvx: ");
        assert!(
            line.contains(&format!("mcpforunityserver=={started}")),
            "{line}"
        );
    }
}

/// Starts a relay with this home folder and PATH, and expects it to find the fake uvx.
pub(crate) fn finds_uvx(home: &Path, path: &Path) {
    let session = with_uvx_at(home, path).start();
    let line = session.says("uvx: ");
    assert_eq!(
        // A batch file gets some words in quotes.
        line.trim().replace('"', ""),
        "uvx: --from mcpforunityserver==10.1.0 mcp-for-unity --transport stdio"
    );
    session.says("server up");
}

pub(crate) fn with_uvx_at(home: &Path, path: &Path) -> crate::harness::Builder {
    let builder = relay()
        .without_env("VRC_MCP_PROXY_UPSTREAM")
        .without_env("UV_INSTALL_DIR")
        .without_env("XDG_BIN_HOME")
        .env("HOME", home)
        .env("USERPROFILE", home)
        .env("LOCALAPPDATA", home.join("local"))
        .env("PATH", path);
    // A script that is not a program needs its interpreter.
    match std::env::var_os("COMSPEC") {
        Some(interpreter) => builder.env("COMSPEC", interpreter),
        None => builder,
    }
}

#[test]
fn uvx_is_found_on_path_and_where_its_installers_put_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let home = |name: &str| folder.path().join(name);
    let nothing: PathBuf = home("nothing");

    fake_uvx(&home("path"));
    finds_uvx(&home("empty"), &home("path"));
    fake_uvx(&home("one").join(".local").join("bin"));
    finds_uvx(&home("one"), &nothing);
    fake_uvx(&home("two").join(".cargo").join("bin"));
    finds_uvx(&home("two"), &nothing);
}

#[test]
fn without_uvx_the_text_says_what_to_install() {
    let fixed = [
        "/opt/homebrew/bin",
        "/usr/local/bin",
        "/home/linuxbrew/.linuxbrew/bin",
    ];
    let folder = tempfile::tempdir().expect("a folder");
    let home = folder.path();
    if fixed
        .iter()
        .any(|place| Path::new(place).join("uvx").exists())
    {
        // On such a machine uvx is always found.
        fake_uvx(&home.join("path"));
        return finds_uvx(home, &home.join("path"));
    }
    let mut session = with_uvx_at(home, home).start();
    session.send(r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#);
    let answer = session.message();
    let text = answer["error"]["message"].as_str().expect("a text");
    assert!(text.contains("uvx") && text.contains("nstall uv"), "{text}");
    assert_eq!(session.code(), 127);
}
