//! Heartbeats, the folder they lie in, and the environment.

use super::*;
use std::io::Write;
use std::net::TcpListener;

#[test]
fn each_editor_has_its_row_and_what_is_odd_about_it() {
    let home = Home::new();
    let live = home.editor("Alpha", 0, 6400);
    let reloading = json!({ "reloading": true, "reason": "reloading", "unity_port": 6401 });
    let reloading = home.heartbeat("Beta", 5, &reloading);
    let ghost = home.editor("Gamma", 300_000, 6402);
    let silent = home.editor("Delta", 100, 6403);
    let ahead = home.editor("Epsilon", -3600, 6404);
    let down = home.heartbeat(
        "Zeta",
        0,
        &json!({ "reason": "port_busy", "unity_port": 6405 }),
    );
    let timeless = home.heartbeat(
        "Eta",
        0,
        &json!({ "last_heartbeat": "soon", "unity_port": null }),
    );
    let moved = json!({ "project_path": "C:/Unity/Moved/Assets", "unity_port": 6406 });
    let moved = home.heartbeat("Theta", 0, &moved);
    let said = home.doctor();
    said.finds("live", "ok", &[&live, "6400"]);
    said.finds("reloading", "info", &[&reloading, "reloading"]);
    said.finds("ghost", "info", &[&ghost, "3 days", "180 s"]);
    said.finds("silent", "warning", &[&silent]);
    said.finds("clock", "warning", &[&ahead, "ahead", "clocks differ"]);
    said.finds("bridge_down", "problem", &[&down, "port_busy"]);
    said.finds("no_time", "warning", &[&timeless]);
    said.finds(
        "hash_does_not_fit",
        "warning",
        &[&moved, "C:/Unity/Moved/Assets"],
    );
    said.lacks("shared_port");
    let rows = said.facts["editors"].as_array().expect("rows");
    assert_eq!(rows.len(), 8);
    let row = |id: &str| rows.iter().find(|row| row["identifier"] == id).expect(id);
    assert_eq!(
        (&row(&live)["live"], &row(&live)["hash_fits_path"]),
        (&json!(true), &json!(true))
    );
    assert_eq!(
        (&row(&ghost)["life"], &row(&ghost)["age"]),
        (&json!("ghost"), &json!("3 days"))
    );
    assert_eq!(row(&moved)["hash_fits_path"], false);
    assert_eq!(
        (&row(&timeless)["age"], &row(&timeless)["port"]),
        (&Value::Null, &Value::Null)
    );
}

#[test]
fn the_table_shows_each_editor() {
    let home = Home::new();
    home.editor("Gamma", 300_000, 6402);
    let text = home.doctor().text;
    let line = text.lines().find(|line| line.starts_with("  Gamma"));
    let line = line.unwrap_or_else(|| panic!("{text}"));
    let path = "C:/Unity/Gamma/Assets";
    let hash = hash8(path);
    for cell in [&*hash, "6402", "3 days", "ready", "ghost", "yes", path] {
        assert!(line.contains(cell), "{line}");
    }
}

#[test]
fn a_file_written_now_with_an_old_time_means_that_the_clocks_differ() {
    let home = Home::new();
    let then = jiff::Timestamp::now() - jiff::SignedDuration::from_hours(2);
    let beat = json!({ "last_heartbeat": format!("{then:.7}") });
    let editor = home.heartbeat("Alpha", 0, &beat);
    home.doctor()
        .finds("clock", "problem", &[&editor, "written just now"]);
}

#[test]
fn two_editors_on_one_port_and_broken_files_are_told() {
    let home = Home::new();
    let (alpha, beta) = (home.editor("Alpha", 0, 6400), home.editor("Beta", 1, 6400));
    home.editor("Gamma", 9000, 6400);
    for (name, content) in [
        ("aa", ""),
        ("bb", "{\"project_path\":"),
        ("cc", "{}"),
        ("dd", "[1]"),
    ] {
        home.file(&format!(".unity-mcp/unity-mcp-status-{name}.json"), content);
    }
    home.file(
        ".unity-mcp/unity-mcp-port-aa.json",
        "what the bridge also writes",
    );
    let said = home.doctor();
    let shared = said.finds("shared_port", "problem", &["6400", &alpha, &beta]);
    assert_eq!(shared["data"]["editors"], json!([alpha, beta]));
    for (name, why) in [
        ("aa", "empty"),
        ("bb", "no JSON (EOF"),
        ("cc", "project_path is missing"),
        ("dd", "no JSON object"),
    ] {
        said.finds(
            "heartbeat_unusable",
            "warning",
            &[&format!("status-{name}.json"), why],
        );
    }
    let broken = said
        .findings()
        .iter()
        .filter(|finding| finding["id"] == "heartbeat_unusable");
    assert_eq!(broken.count(), 4, "{}", said.text);
}

#[test]
fn the_configuration_tells_where_each_value_is_from() {
    let home = Home::new()
        .set("VRC_MCP_PROXY_DISABLE", "canary instance_gard")
        .set("VRC_MCP_PROXY_EXECUTE_TIMEOUT_S", "soon")
        .set("VRC_MCP_PROXY_ALOW", "x")
        .set("VRC_MCP_PROXY_ALLOW", "read_consol")
        .set("VRC_MCP_PROXY_MODE", "readonly")
        .set("VRC_MCP_PROXY_LOG", "debug");
    let said = home.doctor();
    said.finds(
        "bad_value",
        "problem",
        &["instance_gard", "\"instance_guard\"", "this environment"],
    );
    said.finds(
        "bad_value",
        "problem",
        &["VRC_MCP_PROXY_EXECUTE_TIMEOUT_S", "soon"],
    );
    said.finds(
        "unknown_variable",
        "problem",
        &["VRC_MCP_PROXY_ALOW", "VRC_MCP_PROXY_ALLOW"],
    );
    said.finds("bad_value", "warning", &["read_consol", "\"read_console\""]);
    said.finds("behaviours_off", "info", &["canary"]);
    let rows = said.facts["configuration"].as_array().expect("rows");
    assert_eq!(rows.len(), VARIABLES.len());
    for (name, value, source) in [
        ("VRC_MCP_PROXY_DISABLE", "canary", "environment"),
        ("VRC_MCP_PROXY_LOG", "debug", "environment"),
        (
            "VRC_MCP_PROXY_MODE",
            "read_only",
            "fallback, since the variable's value is bad",
        ),
        (
            "VRC_MCP_PROXY_EXECUTE_TIMEOUT_S",
            "120",
            "fallback, since the variable's value is bad",
        ),
        (
            "UNITY_MCP_STATUS_DIR",
            text(&home.path(".unity-mcp")),
            "default",
        ),
    ] {
        let row = rows.iter().find(|row| row["variable"] == name).expect(name);
        assert_eq!(
            (row["value"].as_str(), row["source"].as_str()),
            (Some(value), Some(source))
        );
    }
}

#[test]
fn another_server_and_a_folder_that_is_a_file() {
    let mut home = Home::new().set(
        "VRC_MCP_PROXY_UPSTREAM",
        r#"["no-such-server","mcpforunityserver==99.0.0"]"#,
    );
    home.file(".unity-mcp", "a file");
    let said = home.doctor();
    said.finds("upstream_missing", "problem", &["no-such-server"]);
    said.finds(
        "bad_value",
        "problem",
        &["VRC_MCP_PROXY_UPSTREAM", "99.0.0"],
    );
    said.lacks("uvx");
    said.lacks("uvx_missing");
    let words = json!([*BINARY, "simulated-upstream"]).to_string();
    let file = home.path(".unity-mcp");
    home.variables.clear();
    let home = home
        .set("VRC_MCP_PROXY_UPSTREAM", &words)
        .set("UNITY_MCP_STATUS_DIR", text(&file));
    let said = home.doctor();
    said.finds("upstream_replaced", "info", &["another server"]);
    said.finds(
        "bad_value",
        "problem",
        &["UNITY_MCP_STATUS_DIR", "no folder"],
    );
}

#[test]
fn the_project_bound_to_is_compared_with_what_is_open() {
    let mut home = Home::new();
    for name in ["work/Assets/Deep", "work/ProjectSettings"] {
        std::fs::create_dir_all(home.path(name)).expect("folders");
    }
    let root = home.path("work");
    let shown = text(&root).replace('\\', "/");
    let shown = shown.strip_prefix("//?/").unwrap_or(&shown).to_owned();
    let hash = hash8(&format!("{shown}/Assets"));
    let other = home.editor("Alpha", 0, 6400);
    home = home.set("VRC_MCP_PROXY_PROJECT", "auto");
    let said = home.doctor();
    let missed = said.finds(
        "project_not_open",
        "problem",
        &[&format!("work@{hash}"), &other],
    );
    assert_eq!(missed["data"]["computed"][0], format!("work@{hash}"));
    let open = |hash: &str| {
        let now = format!("{:.7}", jiff::Timestamp::now());
        let beat = json!({ "project_path": format!("{shown}/Assets"), "project_name": "work", "last_heartbeat": now });
        home.file(
            &format!(".unity-mcp/unity-mcp-status-{hash}.json"),
            &beat.to_string(),
        )
    };
    let foreign = open("0badcafe");
    home.doctor()
        .finds("project_hash_differs", "info", &["work@0badcafe", &hash]);
    std::fs::remove_file(foreign).expect("the file goes");
    open(&hash);
    home.doctor()
        .finds("project", "ok", &[&format!("work@{hash}")]);
    home.variables.clear();
    let home = home.set("VRC_MCP_PROXY_PROJECT", "..");
    home.doctor()
        .finds("project_is_none", "problem", &["Assets"]);
}

#[test]
fn only_a_probe_connects_and_says_so_first() {
    let home = Home::new();
    let bridge = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = bridge.local_addr().expect("an address").port();
    let editor = home.editor("Alpha", 0, port);
    home.doctor();
    bridge.set_nonblocking(true).expect("a setting");
    assert!(
        bridge.accept().is_err(),
        "a plain doctor connects to nobody"
    );
    bridge.set_nonblocking(false).expect("a setting");
    let greeter = std::thread::spawn(move || {
        // One for the text, one for the JSON.
        for _ in 0..2 {
            let (mut client, _) = bridge.accept().expect("a visitor");
            client
                .write_all(b"WELCOME UNITY-MCP 1 FRAMING=1\n")
                .expect("a greeting");
        }
    });
    let said = home.doctor_with(&["--probe"]);
    greeter.join().expect("both came");
    said.finds("port_greets", "ok", &[&editor, "WELCOME UNITY-MCP"]);
    let output = home
        .command(&["doctor", "--probe"])
        .output()
        .expect("the binary starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        stderr.contains("thrown out in the middle of its command"),
        "{stderr}"
    );
    home.doctor_with(&["--probe"])
        .finds("port_closed", "problem", &[&port.to_string()]);
}
