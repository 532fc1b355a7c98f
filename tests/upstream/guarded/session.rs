//! A whole session with one Editor, from the handshake on.

use super::*;

scenarios![an_everyday_session, searches_moves_and_lookups];

/// What is left of the server's 47 tools, in its order.
pub(super) const TOOLS: [&str; 13] = [
    "debug_request_context",
    "execute_code",
    "execute_menu_item",
    "find_gameobjects",
    "manage_asset",
    "manage_camera",
    "manage_editor",
    "manage_gameobject",
    "manage_packages",
    "manage_scene",
    "refresh_unity",
    "set_active_instance",
    "unity_reflect",
];
const SAMPLE: &str = "Assets/Scenes/SampleScene.unity";

fn an_everyday_session(home: &Home) {
    let mut client = Client::spawn(home, &Launch::relay());
    starting(|| handshake_and_listing(&mut client));
    without_an_editor(home, &mut client);

    let editor = starting(|| {
        let editor = home.editor("Alpha");
        assert_eq!(client.code("return 0;").value(), 0);
        editor
    });
    refused_tools(&editor, &mut client);
    values(&editor, &mut client);
    compile_failures(&mut client);
    doors(&editor, &mut client);
    client.leave();
    let status = client.exit_within(PATIENCE);
    assert_eq!(status.and_then(|status| status.code()), Some(0));
}

fn handshake_and_listing(client: &mut Client) {
    let hello = client.shake_hands();
    assert_eq!(hello.result()["serverInfo"]["name"], "mcp-for-unity-server");
    assert_eq!(hello.result()["capabilities"]["tools"]["listChanged"], true);

    let id = client.request("tools/list", &json!({}));
    let listing = client.answer(id);
    let tools = listing.result()["tools"].as_array().unwrap();
    let names: Vec<&str> = tools
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    assert_eq!(names, TOOLS);
    let schemas = tools
        .iter()
        .filter(|tool| tool["inputSchema"]["properties"].is_object());
    assert_eq!(schemas.count(), TOOLS.len());
    assert!(!client.stderr().contains("baseline"), "{}", client.stderr());
}

fn without_an_editor(home: &Home, client: &mut Client) {
    let folder = format!("`{}`", home.path(".unity-mcp").display());
    let explained = |answer: &Answer| {
        let said = notes(answer, &[("no_editor_note", "no_heartbeat")]);
        says(
            &said,
            &[&folder, "is closed", "Window > MCP for Unity", "stdio"],
        );
    };
    let nobody = client.call_once("execute_code", &execute("return 1;"));
    says(&nobody.text(), &["No Unity Editor instances found"]);
    assert!(!nobody.succeeded());
    explained(&nobody);
    let pin = client.call_once(
        "set_active_instance",
        &json!({"instance": "Alpha@00000000"}),
    );
    says(&pin.text(), &["No Unity instances are currently connected"]);
    explained(&pin);
}

fn refused_tools(editor: &Editor, client: &mut Client) {
    editor.forget();
    let console = client.call("read_console", &json!({}));
    let text = refusal(&console, "allowlist", "console_lines_cut", false);
    let batch = client.call(
        "batch_execute",
        &json!({"commands": [{"tool": "manage_asset", "params": {}}]}),
    );
    refusal(&batch, "allowlist", "batch_hides_calls", false);
    let shader = client.call(
        "manage_shader",
        &json!({"action": "read", "name": "x", "path": "y"}),
    );
    says(
        &refusal(&shader, "allowlist", "tool_not_exposed", false),
        &["VRC_MCP_PROXY_ALLOW=manage_shader"],
    );
    let load = client.call("manage_scene", &json!({"action": "load", "path": SAMPLE}));
    refusal(
        &load,
        "manage_scene_discard_guard",
        "additive_not_declared",
        false,
    );
    let directive = client.code("using System.IO;\nreturn 1;");
    refusal(
        &directive,
        "execute_code_using_refusal",
        "using_directive",
        false,
    );
    for tool in [
        "read_console",
        "batch_execute",
        "manage_shader",
        "manage_scene",
        "execute_code",
    ] {
        assert_eq!(editor.deliveries(tool), 0, "{tool}");
    }

    // The door that the refusal names, as it stands there.
    let written = client.code(r#"Debug.Log("first\nsecond"); return null;"#);
    assert!(written.succeeded(), "{}", written.text());
    let (first, last) = (
        "var asm = ",
        "return string.Join(\"\\n---\\n\", lines.ToArray());",
    );
    let snippet = between(&text, first, last);
    assert_eq!(client.code(snippet).value(), "first\nsecond");
}

/// The part of a text from one mark through another.
fn between<'t>(text: &'t str, first: &str, last: &str) -> &'t str {
    let start = text.find(first).unwrap();
    let end = start + text[start..].find(last).unwrap() + last.len();
    &text[start..end]
}

fn values(editor: &Editor, client: &mut Client) {
    editor.forget();
    let code = "return new object[] { 1.5, 7, true, \"é\\n\", new Dictionary<string, object> { { \"a\", null } } };";
    let value = client.code(code);
    assert_eq!(value.value(), json!([1.5, 7, true, "é\n", {"a": null}]));
    assert_eq!(
        value.result()["structuredContent"],
        value.payload(),
        "both surfaces"
    );
    untouched(&value);
    let number = client.code("return 41;");
    assert_eq!(number.value(), 41, "its own type");
    let null = client.code("return null;");
    assert!(null.succeeded() && null.payload()["data"].get("result").is_none());
    untouched(&null);
    // What the Editor's pattern list would have blocked.
    assert_eq!(client.code("while (true) { break; } return 3;").value(), 3);
    assert_eq!(
        (deliveries(editor), editor.executions("execute_code")),
        (4, 4)
    );

    let first = &editor.delivered("execute_code")[0].params;
    assert_eq!(first["safety_checks"], false);
    let sent = first["code"].as_str().unwrap();
    assert!(sent.starts_with("/* vrc-mcp-proxy key "), "{sent}");
    assert_eq!(
        sent.lines().nth(11),
        Some(code),
        "verbatim, on a line of its own"
    );

    let thrown = client.code(r#"throw new InvalidOperationException("boom");"#);
    assert_eq!(thrown.payload()["message"], "Runtime error: boom");
    untouched(&thrown);
}

fn compile_failures(client: &mut Client) {
    let (notes_of, lines_of) = (
        "execute_code_compile_notes",
        "execute_code_prelude_offset_note",
    );
    let failed = client.code("var a = 1;\nint b = \"x\";\nreturn foo;");
    assert_eq!(failed.payload()["message"], "Compilation failed");
    let errors = failed.payload()["data"]["errors"].to_string();
    says(&errors, &["\"Line 13: ", "\"Line 14: "]);
    let said = notes(
        &failed,
        &[(notes_of, "name_unknown"), (lines_of, "lines_offset")],
    );
    says(
        &said,
        &[
            "13 → your line 2",
            "14 → your line 3",
            "UnityEditor.SceneManagement",
        ],
    );

    let open = client.code("if (true) {");
    assert!(!open.succeeded());
    says(
        &notes(&open, &[(lines_of, "lines_offset")]),
        &["the trailer"],
    );

    let traps = [
        ("return new Object();", "ambiguous_name"),
        ("return Math;", "type_as_value"),
        (
            "return Ryan6Vrc.AgentTools.Editor.ReportConsole.Execute();",
            "kit_door_is_run",
        ),
    ];
    for (code, fact) in traps {
        let failed = client.code(code);
        let said = notes(&failed, &[(notes_of, fact), (lines_of, "lines_offset")]);
        says(&said, &["12 → your line 1"]);
    }
}

fn doors(editor: &Editor, client: &mut Client) {
    let shot = client.call(
        "manage_camera",
        &json!({"action": "screenshot", "screenshot_file_name": "one"}),
    );
    assert!(shot.succeeded(), "{}", shot.text());
    let there = "Assets/Agent/Scratch/Screenshots/one.png";
    assert!(editor.root().join(there).exists(), "{}", shot.text());

    let kit = r#"return Ryan6Vrc.AgentTools.Editor.ReportConsole.Run("error", "x", 5);"#;
    assert_eq!(client.code(kit).value(), "error|x|5");
    let history = client.call(
        "execute_code",
        &json!({"action": "get_history", "limit": 1}),
    );
    let index = &history.payload()["data"]["entries"][0]["index"];
    let replay = client.call("execute_code", &json!({"action": "replay", "index": index}));
    let told = replay.value();
    says(
        told.as_str().unwrap(),
        &[DUPLICATE, "succeeded", "error|x|5"],
    );
}

fn searches_moves_and_lookups(home: &Home) {
    let (editor, mut client) = pair(home);
    searches(&mut client);
    moves(&editor, &mut client);
    let lookup = json!({"action": "modify", "target": "Nobody"});
    let missed = client.call("manage_gameobject", &lookup);
    let fact = ("manage_gameobject_inactive_note", "lookup_skips_inactive");
    says(&notes(&missed, &[fact]), &["inactive", "transform.Find"]);
    assert!(!missed.succeeded());
    untouched(&client.call("refresh_unity", &json!({})));
}

fn searches(client: &mut Client) {
    let search = |path: &str, pattern: &str| json!({"action": "search", "path": path, "search_pattern": pattern});
    let dropped = client.call("manage_asset", &search("Assets/Nowhere", "t:Scene"));
    assert_eq!(dropped.payload()["data"]["assets"][0]["path"], SAMPLE);
    let scope = ("manage_asset_search_scope_note", "scope_dropped");
    says(
        &notes(&dropped, &[scope]),
        &["`Assets/Nowhere`", "whole project", "1 of 1"],
    );
    let packages = client.call("manage_asset", &search("Packages", "t:Prefab"));
    assert_eq!(packages.payload()["data"]["totalAssets"], 0);
    says(&notes(&packages, &[scope]), &["`Assets/Packages`"]);

    let typed = client.call("manage_asset", &search("Assets", "*.unity"));
    assert_eq!(typed.payload()["data"]["totalAssets"], 0);
    let pattern = ("manage_asset_search_pattern_note", "extension_not_matched");
    says(&notes(&typed, &[pattern]), &["`.unity`", "filter_type"]);
    let filter = json!({"action": "search", "path": "Assets/Scenes", "filter_type": "Scene"});
    let found = client.call("manage_asset", &filter);
    assert_eq!(found.payload()["data"]["totalAssets"], 1);
    untouched(&found);
}

fn moves(editor: &Editor, client: &mut Client) {
    let guid = |client: &mut Client, path: &str| {
        let info = client.call("manage_asset", &json!({"action": "get_info", "path": path}));
        info.payload()["data"]["guid"].as_str().unwrap().to_owned()
    };
    let on_disk = |path: &str| editor.root().join(path).exists();
    let to = "Assets/Scenes/Moved.unity";
    let before = guid(client, SAMPLE);
    editor.forget();

    let moved = json!({"action": "move", "path": SAMPLE, "destination": to});
    let moved = client.call("manage_asset", &moved);
    let text = refusal(
        &moved,
        "manage_asset_mutation_guard",
        "move_outcome_lost",
        false,
    );
    assert_eq!(editor.deliveries("manage_asset"), 0);
    assert!(on_disk(SAMPLE) && !on_disk(to));

    let snippet = between(&text, "var from", "return to;")
        .replace("Assets/Old.mat", SAMPLE)
        .replace("Assets/Folder/New.mat", to);
    let landed = client.code(&snippet);
    assert_eq!(landed.value(), to, "{}", landed.text());
    assert!(on_disk(to) && !on_disk(SAMPLE));
    assert_eq!(guid(client, to), before);
    let again = client.code(&snippet);
    assert!(!again.succeeded(), "a move that fails is no success");
    says(&again.text(), &["Runtime error: ", "could not be found"]);
}
