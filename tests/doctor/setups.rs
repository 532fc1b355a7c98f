//! Whole set-ups, each broken differently: the doctor alone has to explain why it does not work.

use super::*;

/// uvx lies where every user finds it, so no test can take it away.
#[cfg(unix)]
fn uvx_is_everywhere() -> bool {
    let fixed = [
        "/opt/homebrew/bin",
        "/usr/local/bin",
        "/home/linuxbrew/.linuxbrew/bin",
        "/usr/bin",
        "/bin",
    ];
    fixed
        .iter()
        .any(|folder| Path::new(folder).join("uvx").exists())
}

#[cfg(unix)]
#[test]
fn nothing_is_wrong_with_a_whole_set_up() {
    let home = Home::new();
    home.uvx(".local/bin/uvx");
    let alpha = home.editor("Alpha", 0, 6400);
    home.entry(&json!({}));
    let said = home.doctor();
    assert_eq!(
        (said.problems(), said.status),
        (Vec::new(), 0),
        "{}",
        said.text
    );
    said.finds("uvx", "ok", &["uvx 9.9.9", "not on PATH", ".local/bin/uvx"]);
    said.finds("server_cached", "ok", &["10.1.0", "fastmcp 3.99"]);
    said.finds("baseline", "ok", &["47 tools", "execute_code"]);
    said.finds("live", "ok", &[&alpha, "6400", "C:/Unity/Alpha/Assets"]);
    said.finds("entry", "ok", &["Claude Code", "starts this program"]);
    said.lacks("uvx_only_on_this_path");
    assert!(said.text.contains("No problem found"), "{}", said.text);
}

#[cfg(unix)]
#[test]
fn no_uv_on_the_clients_path() {
    // It is nowhere.
    let home = Home::new();
    home.editor("Alpha", 0, 6400);
    home.entry(&json!({}));
    if uvx_is_everywhere() {
        return;
    }
    let said = home.doctor();
    assert_eq!(said.problems(), ["uvx_missing"], "{}", said.text);
    said.finds(
        "uvx_missing",
        "problem",
        &["uvx was not found", "PATH", "127"],
    );
    assert!(said.cure("uvx_missing").contains("install uv"));

    // It is where the proxy does not look.
    let stray = home.uvx(".pyenv/shims/uvx");
    let said = home.doctor();
    let cure = said.cure("uvx_missing");
    assert!(
        cure.contains(text(&stray)) && cure.contains("VRC_MCP_PROXY_UPSTREAM"),
        "{cure}"
    );

    // The shell has it, and a client with a window has not.
    let mine = home.uvx("bin/uvx");
    let said = home.doctor();
    assert_eq!(said.problems(), Vec::<&str>::new(), "{}", said.text);
    said.finds(
        "uvx_only_on_this_path",
        "warning",
        &[text(&mine), "bare PATH"],
    );
    // What the cure says is an entry's line as it has to be.
    let cure = said.cure("uvx_only_on_this_path");
    let (_, line) = cure.split_once("entry ").expect("a line to add");
    let env: Value =
        serde_json::from_str(&format!("{{{line}}}")).unwrap_or_else(|e| panic!("{e}: {line}"));
    home.entry(&env);
    let said = home.doctor();
    assert_eq!(said.problems(), Vec::<&str>::new(), "{}", said.text);

    // The client's entry sets a PATH of its own.
    home.entry(&json!({ "PATH": "/usr/bin:/bin" }));
    let said = home.doctor();
    assert_eq!(said.problems(), ["entry_uvx_missing"], "{}", said.text);
    said.finds(
        "entry_uvx_missing",
        "problem",
        &["Claude Code", ".mcp.json", "PATH without uvx"],
    );
    assert!(said.cure("entry_uvx_missing").contains(text(&mine)));
}

#[test]
fn an_editor_whose_bridge_is_set_to_http_writes_nothing() {
    let home = Home::new();
    home.file(
        "work/.cursor/mcp.json",
        r#"{ "mcpServers": { "UnityMCP": { "url": "http://localhost:8080/mcp" } } }"#,
    );
    let said = home.doctor();
    assert_eq!(said.status, 1);
    said.finds(
        "no_live_editor",
        "problem",
        &["no Editor can be reached", ".unity-mcp"],
    );
    let cure = said.cure("no_live_editor");
    let order = [
        "Editor is closed",
        "Window > MCP for Unity",
        "HTTP instead of stdio",
        "UNITY_MCP_STATUS_DIR",
    ];
    let places: Vec<_> = order
        .iter()
        .map(|cause| cure.find(cause).expect(cause))
        .collect();
    assert!(places.is_sorted(), "{cure}");
    said.finds(
        "http_entry",
        "problem",
        &["Cursor", "http://localhost:8080/mcp", "HTTP"],
    );
    assert!(said.cure("http_entry").contains("stdio"));
}

/// A process with this command line, which waits until its input ends.
#[cfg(target_os = "linux")]
fn process(line: &[&str], variables: &[(&str, &Path)]) -> std::process::Child {
    use std::os::unix::process::CommandExt;
    let mut command = Command::new("/bin/sh");
    command
        .arg0(line[0])
        .args(["-c", "read wait"])
        .args(&line[1..]);
    command
        .envs(variables.iter().copied())
        .stdin(std::process::Stdio::piped());
    command.spawn().expect("a shell")
}

#[cfg(target_os = "linux")]
#[test]
fn a_running_editor_without_a_heartbeat_is_seen() {
    let home = Home::new();
    let (folder, project) = (home.path(".unity-mcp"), home.path("Häuser am See"));
    let line = [
        "/opt/Unity/Editor/Unity",
        "-projectpath",
        text(&project),
        "-useHub",
    ];
    let mut unity = process(&line, &[]);
    let mut server = process(&["/u/uvx", "mcp-for-unity", "--transport", "http"], &[]);
    let (pid, server_pid) = (unity.id(), server.id());
    let said = home.doctor();
    let is = |name: &str| format!("pid {pid}, {name}");
    said.finds(
        "editor_without_heartbeat",
        "problem",
        &[&is(text(&project)), text(&folder)],
    );
    let of_pid = |finding: &&Value| finding["data"]["pid"] == pid;
    let cure = |said: &Said| {
        let finding = said
            .findings()
            .iter()
            .find(of_pid)
            .expect("the Editor's finding");
        finding["cure"].as_str().expect("a cure").to_owned()
    };
    let said_cure = cure(&said);
    assert!(
        said_cure.contains("HTTP") && said_cure.contains("Window > MCP for Unity"),
        "{said_cure}"
    );
    let http = said.finds("http_server", "problem", &["HTTP"]);
    let pids = http["data"]["pids"].as_array().expect("a list");
    assert!(pids.contains(&json!(server_pid)), "{http}");

    // A project whose packages are known not to hold the bridge.
    std::fs::create_dir_all(project.join("Packages")).expect("folders");
    std::fs::write(
        project.join("Packages/manifest.json"),
        r#"{"dependencies":{}}"#,
    )
    .expect("a file");
    let missing = cure(&home.doctor());
    assert!(
        missing.contains("install the MCP for Unity package"),
        "{missing}"
    );
    for child in [&mut unity, &mut server] {
        drop(child.stdin.take());
        child.wait().expect("it ends");
    }
    let after = home.doctor();
    assert!(
        !after.findings().iter().any(|finding| of_pid(&finding)),
        "{}",
        after.text
    );
}

#[cfg(target_os = "linux")]
#[test]
fn an_editor_that_writes_elsewhere_is_found_there() {
    let home = Home::new();
    let there = home.path("elsewhere");
    let project = home.path("Alpha");
    let hash = hash8(&format!("{}/Assets", project.display()));
    let now = format!("{:.7}", jiff::Timestamp::now());
    let beat = json!({ "project_path": project.join("Assets"), "project_name": "Alpha", "last_heartbeat": now });
    home.file(
        &format!("elsewhere/unity-mcp-status-{hash}.json"),
        &beat.to_string(),
    );
    let line = ["/opt/Unity", "-projectPath", text(&project)];
    let mut unity = process(&line, &[("UNITY_MCP_STATUS_DIR", &there)]);
    let said = home.doctor();
    drop(unity.stdin.take());
    unity.wait().expect("it ends");
    let own = |finding: &&Value| finding["data"]["pid"] == unity.id();
    let finding = said
        .findings()
        .iter()
        .find(own)
        .unwrap_or_else(|| panic!("{}", said.text));
    let cure = finding["cure"].as_str().expect("a cure");
    assert!(
        cure.contains(text(&there)) && cure.contains("UNITY_MCP_STATUS_DIR"),
        "{cure}"
    );
}

#[test]
fn a_stale_pin_beside_two_open_projects() {
    let mut home = Home::new().set("UNITY_MCP_DEFAULT_INSTANCE", "Gamma@1a2b3c4d");
    let (alpha, beta) = (home.editor("Alpha", 0, 6400), home.editor("Beta", 0, 6401));
    let both = |said: &Said, whose: &str| {
        said.finds(
            "default_instance_fits_nobody",
            "problem",
            &["Gamma@1a2b3c4d", "stale pin", whose, &alpha, &beta],
        );
        let cure = said.cure("default_instance_fits_nobody");
        assert!(
            cure.contains(&alpha) && cure.contains("set_active_instance"),
            "{cure}"
        );
    };
    both(&home.doctor(), "this environment");

    // The pin stands in the client's entry.
    home.variables.clear();
    home.entry(&json!({ "UNITY_MCP_DEFAULT_INSTANCE": "Gamma@1a2b3c4d" }));
    let said = home.doctor();
    both(&said, ".mcp.json");
    said.finds("several_editors", "info", &["2 Editors are live"]);

    // The Editor that is meant has crashed.
    let gamma = home.editor("Gamma", 4000, 6402);
    home.entry(&json!({ "UNITY_MCP_DEFAULT_INSTANCE": gamma }));
    let said = home.doctor();
    said.finds(
        "default_instance_not_live",
        "problem",
        &[&gamma, "stale pin", "1.1 h", &alpha, &beta],
    );

    for (value, id, severity) in [
        ("Beta", "default_instance", "ok"),
        (&beta, "default_instance", "ok"),
        ("9999", "default_instance_fits_nobody", "problem"),
    ] {
        home.entry(&json!({ "UNITY_MCP_DEFAULT_INSTANCE": value }));
        home.doctor().finds(id, severity, &[value]);
    }
}

/// A line with its ages taken out: they are the only thing that time changes.
fn ageless(line: &str) -> String {
    let is_age = |word: &&str| word.parse::<f64>().is_ok_and(|_| word.contains('.'));
    let words = line.split_whitespace().filter(|word| !is_age(word));
    words.collect::<Vec<_>>().join(" ")
}

#[test]
fn the_readme_shows_what_is_said() {
    let readme = include_str!("../../README.md").replace("\r\n", "\n");
    let (_, from) = readme
        .split_once("\n    Unity Editors\n")
        .expect("the example");
    let (example, _) = from.split_once("\n\nIt ends with 1").expect("its end");
    let home = Home::new().set("UNITY_MCP_DEFAULT_INSTANCE", "Gamma@4f59146f");
    home.editor("Alpha", 0, 6400);
    home.editor("Beta", 0, 6401);
    let said = home.doctor();
    let lines: Vec<String> = said.text.lines().map(ageless).collect();
    let mut shown = 0;
    for line in example.lines().map(ageless).filter(|line| !line.is_empty()) {
        shown += 1;
        assert!(lines.contains(&line), "{line}\n{}", said.text);
    }
    assert!(shown > 5, "{shown}");
}
