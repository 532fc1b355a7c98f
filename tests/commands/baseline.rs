//! `capture-baseline` and `diff-baseline`.

use super::*;
use vrc_mcp_proxy::baseline;

fn tool(name: &str) -> Value {
    let schema = json!({ "type": "object", "properties": { "count": { "type": "integer" } } });
    json!({ "name": name, "inputSchema": schema })
}

fn list(tools: &[Value]) -> Value {
    json!({ "result": { "tools": tools } })
}

#[test]
fn a_list_that_grows_is_captured_when_it_has_settled() {
    let (one, two) = (tool("alpha"), tool("beta"));
    let short = list(std::slice::from_ref(&one));
    let full = list(&[one, two]);
    let announced = json!({ "notification": "notifications/tools/list_changed" });
    let grows_loudly = json!([
        { "method": "tools/list", "once": true, "say": [short, announced] },
        { "method": "tools/list", "say": [full] },
    ]);
    let grows_silently = json!([
        { "method": "tools/list", "once": true, "say": [short] },
        { "method": "tools/list", "say": [full] },
    ]);
    let in_pages = json!([
        { "method": "tools/list", "once": true, "say": [{ "result": {
            "tools": short["result"]["tools"], "nextCursor": "more" } }] },
        { "method": "tools/list", "once": true, "say": [list(&[tool("beta")])] },
        { "method": "tools/list", "say": [full] },
    ]);
    for rules in [grows_loudly, grows_silently, in_pages] {
        let folder = Folder::new();
        let out = folder.0.path().join("new.json");
        let mut command = command(&["capture-baseline", "--json", "--server-version", "7.7.7"]);
        command.arg("--out").arg(&out);
        let output = run(command.env("VRC_MCP_PROXY_UPSTREAM", folder.upstream(&rules)));
        assert_eq!(status(&output), 0, "{}", stderr(&output));
        assert_eq!(json_of(&output)["tools"], 2, "{rules}");
        let file = std::fs::read_to_string(&out).expect("the baseline");
        let captured = baseline::Baseline::parse(&file).expect("a baseline");
        assert_eq!(captured.server_version(), "7.7.7");
        let names: Vec<&str> = captured.tool_names().collect();
        assert_eq!(names, ["alpha", "beta"]);
    }
}

#[test]
fn without_a_file_the_baseline_goes_to_stdout() {
    let folder = Folder::new();
    let rules = json!([{ "method": "tools/list", "say": [list(&[tool("alpha")])] }]);
    let upstream = folder.upstream(&rules);
    let output = run(command(&["capture-baseline"]).env("VRC_MCP_PROXY_UPSTREAM", upstream));
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    let captured = baseline::Baseline::parse(&stdout(&output)).expect("a baseline");
    assert_eq!(captured.server_version(), "unknown");
    assert!(stderr(&output).contains("unknown"), "{}", stderr(&output));
}

#[test]
fn committed_versions_are_compared_tool_by_tool() {
    let diff = |words: &[&str]| run(&mut command(&[&["diff-baseline"], words].concat()));
    // Measured: of the exposed tools 10.1.2 and later changed the contract of one.
    for version in ["10.1.2", "10.2.0", "10.3.0"] {
        let output = diff(&[UPSTREAM_VERSION, version]);
        assert_eq!(status(&output), 1, "{}", stderr(&output));
        let table = stdout(&output);
        let last = table.lines().last().unwrap_or_default();
        let changed = "Exposed tools whose contract differs: manage_gameobject.";
        assert!(last.ends_with(changed), "{table}");
        assert!(
            table.lines().all(|line| line.chars().count() <= 100),
            "{table}"
        );
    }
    assert_eq!(status(&diff(&["10.1.2", "10.2.0"])), 0);
    let facts = json_of(&diff(&["--json", "10.2.0", "10.3.0"]));
    assert_eq!(facts["contracts_equal"], false);
    assert_eq!(facts["outputs_equal"], false);
    let tools = facts["report"]["tools"].as_array().expect("a list");
    let added: Vec<&Value> = tools
        .iter()
        .filter(|tool| tool["change"] == "added")
        .collect();
    assert_eq!(added.len(), 1);
    assert_eq!(added[0]["name"], "blender_bridge");
    // The version in use is what is compared when nothing is named.
    let folder = Folder::new();
    let rules = json!([{ "method": "tools/list", "say": [list(&[tool("alpha")])] }]);
    let mut command = command(&["diff-baseline", "--json"]);
    command.env("VRC_MCP_PROXY_UPSTREAM_VERSION", "10.3.0");
    let output = run(command.env("VRC_MCP_PROXY_UPSTREAM", folder.upstream(&rules)));
    assert_eq!(json_of(&output)["report"]["old_version"], "10.3.0");
}

#[test]
fn what_cannot_be_captured_is_a_failure_and_writes_nothing() {
    let broken = [
        json!([]),
        json!([{ "method": "tools/list", "say": [{ "exit": 3 }] }]),
        json!([{ "method": "tools/list", "say": [{ "error": { "code": -1, "message": "no" } }] }]),
        json!([{ "method": "tools/list", "say": [list(&[json!({ "name": "bare" })])] }]),
        json!([{ "method": "tools/list", "say": [list(&[tool("twin"), tool("twin")])] }]),
    ];
    for rules in broken {
        let folder = Folder::new();
        let out = folder.0.path().join("new.json");
        let mut command = command(&["capture-baseline", "--out"]);
        command.arg(&out);
        let output = run(command.env("VRC_MCP_PROXY_UPSTREAM", folder.upstream(&rules)));
        assert_eq!(status(&output), 2, "{rules}");
        assert_ne!(stderr(&output), "", "{rules}");
        assert!(!out.exists(), "{rules}");
    }
    let nowhere = json!(["no-such-program-anywhere"]).to_string();
    let output = run(command(&["capture-baseline"]).env("VRC_MCP_PROXY_UPSTREAM", nowhere));
    assert_eq!(status(&output), 2);
    assert!(
        stderr(&output).contains("no-such-program-anywhere"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn baselines_are_compared_by_their_contracts() {
    let folder = Folder::new();
    let committed = baseline::committed(UPSTREAM_VERSION).expect("it is committed");
    let same = folder.file("same.json", committed);
    let mut changed: Value = serde_json::from_str(committed).expect("JSON");
    changed["tools"]["manage_scene"]["contract"]["properties"]["invented"] =
        json!({ "type": "null" });
    let changed = folder.file("changed.json", &changed.to_string());
    let broken = folder.file("broken.json", "{}");
    let diff = |words: &[&str]| run(&mut command(&[&["diff-baseline"], words].concat()));
    let equal = diff(&[UPSTREAM_VERSION, text(&same)]);
    assert_eq!(status(&equal), 0, "{}", stderr(&equal));
    let differs = diff(&[text(&same), text(&changed)]);
    assert_eq!(status(&differs), 1, "{}", stderr(&differs));
    assert!(
        stdout(&differs).contains("properties/invented"),
        "{}",
        stdout(&differs)
    );
    let facts = diff(&["--json", text(&same), text(&changed)]);
    assert_eq!(status(&facts), 1);
    let facts = json_of(&facts);
    assert_eq!(facts["contracts_equal"], false);
    let tool = &facts["report"]["tools"][0];
    assert_eq!(tool["name"], "manage_scene");
    assert_eq!(tool["exposed"], true);
    assert_eq!(tool["contract"][0]["pointer"], "properties/invented");
    for bad in [text(&broken), "no-such-file.json", "99.0.0"] {
        let output = diff(&[text(&same), bad]);
        assert_eq!(
            (status(&output), stdout(&output)),
            (2, String::new()),
            "{bad}"
        );
        assert!(stderr(&output).contains(bad), "{}", stderr(&output));
    }
}

#[test]
fn a_fresh_capture_is_compared_with_the_committed_baseline() {
    let folder = Folder::new();
    let committed = baseline::committed(UPSTREAM_VERSION).expect("it is committed");
    let committed: Value = serde_json::from_str(committed).expect("JSON");
    let mut tools: Vec<Value> = committed["tools"]
        .as_object()
        .expect("tools")
        .iter()
        .map(|(name, tool)| {
            let output = &tool["listed"]["output"];
            json!({ "name": name, "inputSchema": tool["contract"], "outputSchema": output })
        })
        .collect();
    let diff = |tools: &[Value]| {
        let rules = json!([{ "method": "tools/list", "say": [list(tools)] }]);
        let upstream = folder.upstream(&rules);
        run(command(&["diff-baseline"]).env("VRC_MCP_PROXY_UPSTREAM", upstream))
    };
    // Texts and annotations are missing; contracts and output schemas decide.
    let equal = diff(&tools);
    assert_eq!(status(&equal), 0, "{}{}", stdout(&equal), stderr(&equal));
    let whole = tools[0]["outputSchema"].take();
    let wrapped = diff(&tools);
    assert_eq!(status(&wrapped), 1, "{}", stderr(&wrapped));
    assert!(stdout(&wrapped).contains("outputSchema: "), "{whole}");
    tools[0]["outputSchema"] = whole;
    let gone = tools.pop().expect("a tool");
    let differs = diff(&tools);
    assert_eq!(status(&differs), 1, "{}", stderr(&differs));
    let name = gone["name"].as_str().expect("a name");
    assert!(
        stdout(&differs)
            .lines()
            .any(|line| line.split_whitespace().eq([name, "gone"])),
        "{}",
        stdout(&differs)
    );
}
