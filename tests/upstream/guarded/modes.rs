//! The safety modes: what they hold back reaches no Editor, and the server never sees a yes.

use super::*;

scenarios![
    read_only_reaches_the_editor_with_reads_alone,
    a_destructive_call_is_run_once_it_is_confirmed
];

const ACTIVE: &str = "get_active";
const SAMPLE: &str = "Assets/Scenes/SampleScene.unity";

/// A relay in this mode with one Editor, warm by a read.
fn pair_in(home: &Home, mode: &str) -> (Editor, Client) {
    starting(|| {
        let editor = home.editor("Alpha");
        let launch = Launch::relay().env("VRC_MCP_PROXY_MODE", mode);
        let mut client = Client::start(home, &launch);
        let read = client.call("manage_scene", &json!({"action": ACTIVE}));
        untouched(&read);
        editor.forget();
        (editor, client)
    })
}

fn tools(client: &mut Client) -> Vec<Value> {
    let id = client.request("tools/list", &json!({}));
    let tools = client.answer(id).result()["tools"].clone();
    assert!(!client.stderr().contains("baseline"), "{}", client.stderr());
    tools.as_array().unwrap().clone()
}

fn read_only_reaches_the_editor_with_reads_alone(home: &Home) {
    let (editor, mut client) = pair_in(home, "read_only");
    for tool in tools(&mut client) {
        let marked = tool["annotations"]["readOnlyHint"] == true;
        let steers =
            ["set_active_instance", "refresh_unity"].contains(&tool["name"].as_str().unwrap());
        assert_eq!(marked, !steers, "{tool}");
    }
    for (tool, arguments) in [
        (
            "manage_gameobject",
            json!({"action": "create", "name": "A"}),
        ),
        ("manage_asset", json!({"action": "delete", "path": SAMPLE})),
        (
            "manage_scene",
            json!({"action": "validate", "auto_repair": "true"}),
        ),
        ("execute_code", execute("return 1;")),
    ] {
        let held = client.call(tool, &arguments);
        let text = refusal(&held, "safety_modes", "not_a_read", false);
        says(&text, &["VRC_MCP_PROXY_MODE", tool]);
        assert_eq!(editor.deliveries(tool), 0, "{tool}");
    }
    assert!(
        client
            .call("manage_scene", &json!({"action": ACTIVE}))
            .succeeded()
    );
    let search = json!({"action": "search", "path": "Assets", "filter_type": "Scene"});
    assert!(client.call("manage_asset", &search).succeeded());
    let history = json!({"action": "get_history"});
    assert!(client.call("execute_code", &history).succeeded());
    assert!(client.call("refresh_unity", &json!({})).succeeded());
    let pin = client.call("set_active_instance", &json!({"instance": editor.id()}));
    assert!(pin.succeeded(), "{}", pin.text());
    assert!(editor.root().join(SAMPLE).exists());
}

fn a_destructive_call_is_run_once_it_is_confirmed(home: &Home) {
    let (editor, mut client) = pair_in(home, "confirm");
    for tool in tools(&mut client) {
        let shown = tool["inputSchema"]["properties"].get("confirm").is_some();
        let name = tool["name"].as_str().unwrap();
        assert_eq!(shown, vrc_mcp_proxy::safety::can_destroy(name), "{name}");
    }
    let delete = json!({"action": "delete", "path": SAMPLE});
    let asked = client.call("manage_asset", &delete);
    let text = refusal(&asked, "safety_modes", "not_confirmed", false);
    says(&text, &["deletes the asset", SAMPLE, "`confirm`: true"]);
    assert_eq!(editor.deliveries("manage_asset"), 0);

    // The server would refuse the argument.
    let confirmed = json!({"action": "delete", "path": SAMPLE, "confirm": true});
    let deleted = client.call("manage_asset", &confirmed);
    assert!(deleted.succeeded(), "{}", deleted.text());
    untouched(&deleted);
    assert!(!editor.root().join(SAMPLE).exists());
    let [delivery] = &editor.delivered("manage_asset")[..] else {
        panic!("one delivery: {:?}", editor.delivered("manage_asset"));
    };
    assert!(delivery.params.get("confirm").is_none());
    let needless =
        json!({"action": "search", "path": "Assets", "filter_type": "Scene", "confirm": true});
    assert!(client.call("manage_asset", &needless).succeeded());

    let mut snippet = execute("return 41;");
    refusal(
        &client.call("execute_code", &snippet),
        "safety_modes",
        "not_confirmed",
        false,
    );
    snippet["confirm"] = json!("true");
    assert_eq!(client.call("execute_code", &snippet).value(), 41);
    assert_eq!(deliveries(&editor), 1);
}
