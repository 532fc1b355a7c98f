//! What only Windows has: programs by extension, batch files, statuses of 32 bits, the job.
//!
//! Ctrl-C, Ctrl-Break and the closing of a console are not tested: std cannot send them.

use crate::harness::{Builder, MY_ARGUMENTS, relay};
use crate::start::{fake_uvx, finds_uvx, with_uvx_at};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// A batch file that says what its first word is and is the scripted server.
fn batch(path: &Path) {
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    let me = std::env::current_exe().expect("this executable");
    let (me, arguments) = (me.display(), MY_ARGUMENTS.join(" "));
    let script = format!("@echo batch: %~1 1>&2\r\n@\"{me}\" {arguments}\r\n");
    std::fs::write(path, script).expect("a file");
}

/// Serves, tells its end, and leaves nothing.
fn serves(relay: Builder) {
    let mut session = relay.start();
    let line = session.says("batch: ");
    assert_eq!(line.trim(), "batch: two words");
    session.says("server up");
    session.ask(1, &json!([["answer"], ["exit", 3]]));
    assert_eq!(session.message()["id"], 1);
    session.gone("server");
    assert_eq!(session.code(), 3);
}

fn upstream(program: &str) -> String {
    json!([program, "two words"]).to_string()
}

#[test]
fn a_batch_file_is_found_by_its_name_alone() {
    for (file, name) in [("my server.cmd", "my server"), ("v1.2.bat", "v1.2")] {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path().join("Zoë's tools");
        batch(&folder.join(file));
        let relay = || {
            relay()
                .env("VRC_MCP_PROXY_UPSTREAM", upstream(name))
                .env("PATH", &folder)
        };
        serves(relay());
        serves(relay().without_env("PATHEXT"));
        serves(relay().env("PATHEXT", ""));
    }
}

#[test]
fn a_batch_file_is_found_by_its_path() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("Zoë's tools").join("my server.bat");
    batch(&file);
    let whole = file.to_str().expect("a path in UTF-8");
    for path in [
        whole.to_owned(),
        whole.replace('\\', "/"),
        whole.replace(".bat", ""),
    ] {
        serves(relay().env("VRC_MCP_PROXY_UPSTREAM", upstream(&path)));
    }
}

/// Puts a `uvx.exe` there: the relay's own program, which refuses the words that uvx would get and ends
/// with status 2.
fn uvx_exe(folder: &Path) {
    std::fs::create_dir_all(folder).expect("a folder");
    let program = env!("CARGO_BIN_EXE_vrc-mcp-proxy");
    std::fs::copy(program, folder.join("uvx.exe")).expect("a copy");
}

fn finds_uvx_exe(relay: Builder) {
    let mut session = relay.start();
    session.says("'--from'");
    assert_eq!(session.code(), 2);
}

#[test]
fn uvx_exe_is_found_where_its_installers_put_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let nothing = folder.path().join("nothing");
    let places: [&[&str]; 5] = [
        &[".local", "bin"],
        &["scoop", "shims"],
        &["local", "Microsoft", "WinGet", "Links"],
        &["local", "Programs", "uv"],
        &["AppData", "Local", "Microsoft", "WinGet", "Links"],
    ];
    for (number, place) in places.into_iter().enumerate() {
        let home = folder.path().join(format!("Zoë {number}"));
        uvx_exe(
            &place
                .iter()
                .fold(home.clone(), |path, name| path.join(name)),
        );
        let mut relay = with_uvx_at(&home, &nothing);
        if place[0] == "AppData" {
            relay = relay.without_env("LOCALAPPDATA");
        }
        finds_uvx_exe(relay.without_env("PATHEXT"));
    }
}

#[test]
fn on_path_the_folder_counts_before_the_extension() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = |name: &str| folder.path().join(name);
    fake_uvx(&place("cmd"));
    uvx_exe(&place("exe"));
    let path = |names: [&str; 2]| -> PathBuf {
        let path = std::env::join_paths(names.map(place));
        path.expect("folders without quotes").into()
    };
    finds_uvx(&place("home"), &path(["cmd", "exe"]));
    finds_uvx_exe(with_uvx_at(&place("home"), &path(["exe", "cmd"])));
    // Both in one: the program comes first.
    fake_uvx(&place("exe"));
    finds_uvx_exe(with_uvx_at(&place("home"), &place("exe")));
    finds_uvx_exe(with_uvx_at(&place("home"), &place("exe")).without_env("PATHEXT"));
}

#[test]
fn a_status_of_32_bits_is_passed_on_whole() {
    // As after an access violation.
    let status = 0xc000_0005_u32.cast_signed();
    let mut session = relay().start_up();
    session.call(1, &json!([["exit", status]]));
    let answers = session.rest();
    assert_eq!(answers.len(), 1, "{answers:?}");
    assert_eq!(answers[0]["result"]["isError"], true);
    assert_eq!(session.code(), status);
}

#[test]
fn variables_are_known_in_any_case() {
    let session = relay().env("vrc_mcp_proxy_Deny", "no_such_tool").start();
    session.says("WARN VRC_MCP_PROXY_DENY");
}

#[test]
fn a_killed_relay_takes_along_what_nothing_else_ties_to_it() {
    let mut session = relay().start_up();
    session.ask(1, &json!([["orphan"], ["answer"]]));
    session.message();
    session.says("orphan up");
    session.process.kill().expect("it runs");
    session.end();
    session.gone("server");
    session.gone("orphan");
}

#[test]
fn what_outlives_its_parent_ends_with_the_relay_all_the_same() {
    let mut session = relay().start_up();
    session.ask(1, &json!([["orphan"], ["answer"]]));
    session.message();
    session.says("orphan up");
    session.ask(2, &json!([["exit", 7]]));
    assert_eq!(
        session
            .rest()
            .iter()
            .map(|a| &a["id"])
            .collect::<Vec<&Value>>(),
        [2]
    );
    assert_eq!(session.code(), 7);
    session.gone("orphan");
}
