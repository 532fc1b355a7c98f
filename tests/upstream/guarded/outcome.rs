//! What is said of a call that failed, beside how often the Editor really got it.

use super::*;

scenarios![
    what_was_delivered_is_not_called_safe_to_repeat,
    safe_to_repeat_is_said_of_what_was_not_delivered,
    a_scene_named_preload_is_explained,
    history_and_replay_show_the_callers_own_words,
];

const OUTCOME: &str = "delivery_outcome_note";
const RELOADING: &str = "Unity is reloading; please retry";

/// How often a test asks again where a busy machine can get another answer than the one that is meant.
const TRIES: usize = 4;

fn create(name: &str) -> Value {
    json!({"action": "create", "name": name, "path": "Assets/Scenes", "additive": false})
}

/// Calls until the answer holds `text`. Each call starts with an empty log of the Editor's.
fn until(editor: &Editor, text: &str, mut call: impl FnMut() -> Answer) -> Answer {
    for _ in 1..TRIES {
        editor.forget();
        let answer = call();
        if answer.text().contains(text) {
            return answer;
        }
    }
    editor.forget();
    let answer = call();
    assert!(answer.text().contains(text), "{}", answer.0.raw);
    answer
}

fn a_scene_named_preload_is_explained(home: &Home) {
    let (editor, mut client) = pair(home);
    let arguments = create("Preload");
    let stormy = until(&editor, RELOADING, || {
        client.call("manage_scene", &arguments)
    });
    let said = notes(&stormy, &[(OUTCOME, "delivered_up_to_40_times")]);
    says(
        &said,
        &["up to 40 times", "Preload", "Verify", &editor.id()],
    );
    let delivered = editor.deliveries("manage_scene");
    assert!((7..=42).contains(&delivered), "{delivered} deliveries");
    assert!(
        editor.root().join("Assets/Scenes/Preload.unity").exists(),
        "it was done all the same"
    );
}

fn safe_to_repeat_is_said_of_what_was_not_delivered(home: &Home) {
    let (editor, mut client) = pair(home);
    let refresh = json!({"wait_for_ready": false});
    let calls = [
        ("refresh_unity", refresh),
        ("execute_menu_item", json!({"menu_path": "File/Save"})),
        ("manage_scene", json!({"action": "get_active"})),
    ];
    for (tool, arguments) in calls {
        // Upstream drops an Editor that has been silent for a minute.
        editor.begin_reload("reloading");
        let waited = until(&editor, RELOADING, || client.call(tool, &arguments));
        let said = notes(&waited, &[(OUTCOME, "not_delivered")]);
        says(&said, &["safe to repeat", &editor.id()]);
        assert_eq!(editor.deliveries(tool), 0, "{tool}");
    }
    editor.end_reload();
    let done = client.call("manage_scene", &json!({"action": "get_active"}));
    assert!(done.succeeded(), "{}", done.0.raw);
    untouched(&done);
}

fn what_was_delivered_is_not_called_safe_to_repeat(home: &Home) {
    let (editor, mut client) = pair(home);
    delivered_and_lost(&editor, &mut client);
    a_reload_in_the_middle(&editor, &mut client);
}

fn delivered_and_lost(editor: &Editor, client: &mut Client) {
    let active = json!({"action": "get_active"});
    let timed_out =
        json!({"status": "error", "error": "Command processing timed out after 30000 ms"});
    for fault in [
        Fault::DropAfter,
        Fault::DropBefore,
        Fault::RunThenReply(timed_out),
    ] {
        editor.forget();
        editor.arm("manage_scene", 6, fault.clone());
        let lost = client.call_once("manage_scene", &active);
        let said = notes(&lost, &[(OUTCOME, "delivered_up_to_6_times")]);
        says(&said, &["up to 6 times", "unknown", "Verify"]);
        // Six as a rule; fewer where upstream's probe of 0.3 s misses the Editor in between.
        let delivered = editor.deliveries("manage_scene");
        assert!(
            (1..=6).contains(&delivered),
            "{delivered} deliveries, {fault:?}"
        );
        // What is left armed would meet the next call.
        while editor.deliveries("manage_scene") < 6 {
            client.call_once("manage_scene", &active);
        }
    }
}

/// The Editor begins to reload while it is at the call: nobody may say that the call was not delivered.
fn a_reload_in_the_middle(editor: &Editor, client: &mut Client) {
    editor.forget();
    editor.freeze(true);
    let broken_off = client.begin("manage_scene", &json!({"action": "get_active"}));
    editor.wait_deliveries("manage_scene", 1, PATIENCE);
    editor.begin_reload("reloading");
    editor.freeze(false);
    let broken_off = client.answer(broken_off);
    editor.end_reload();
    assert!(!broken_off.succeeded(), "{}", broken_off.0.raw);
    assert!(editor.deliveries("manage_scene") > 0);
    let text = broken_off.text();
    assert!(!text.contains("safe to repeat"), "{text}");
    says(&text, &["Verify"]);
}

fn history_and_replay_show_the_callers_own_words(home: &Home) {
    let (editor, mut client) = pair(home);
    let short = "var mine = \"é\\n\"; // 😀 \"\nreturn 7;";
    let long = format!("return 8;\n// {}", "long ".repeat(200));
    assert_eq!(client.code(short).value(), 7);
    assert_eq!(client.code(&long).value(), 8);
    let last = |limit: u64| json!({"action": "get_history", "limit": limit});
    let previews = |history: &Answer| -> Vec<Value> {
        let payload = history.payload();
        let entries = payload["data"]["entries"].as_array().unwrap();
        let previews = entries.iter().map(|entry| entry["codePreview"].clone());
        previews.collect()
    };

    let history = client.call("execute_code", &last(2));
    let restored = ("execute_code_history_preview", "preview_restored");
    let restored = json!([{"behavior": restored.0, "code": restored.1, "forwarded": true}]);
    assert_eq!(facts(&history), &restored);
    assert_eq!(history.texts().len(), 1, "no note");
    let cut = format!("{}...", &long[..500]);
    assert_eq!(previews(&history), [json!(short), json!(cut)]);
    assert_eq!(
        history.result()["structuredContent"],
        history.payload(),
        "both surfaces"
    );

    editor.forget();
    let first = json!({"action": "replay", "index": 1});
    let replay = client.call("execute_code", &first);
    says(
        replay.value().as_str().unwrap(),
        &[DUPLICATE, "succeeded", ": 7"],
    );
    let said = notes(
        &replay,
        &[("execute_code_replay_note", "replay_did_not_run")],
    );
    says(&said, &["did not run again", "`execute`"]);
    let stored = &editor.delivered("execute_code")[0].params;
    assert_eq!(stored["action"], "replay");
    let history = client.call("execute_code", &last(1));
    assert_eq!(previews(&history), [json!(short)], "a replay is one more");

    // Another relay knows nothing of those keys.
    drop(client);
    let mut client = starting(|| Client::start(home, &Launch::relay()));
    let history = client.call("execute_code", &last(50));
    let unknown = ("execute_code_history_preview", "preview_unknown");
    let said = notes(&history, &[unknown]);
    says(&said, &["4 entries", "prelude"]);
    let previews = previews(&history);
    let own = |preview: &Value| {
        preview
            .as_str()
            .unwrap()
            .starts_with("/* vrc-mcp-proxy key ")
    };
    assert!(
        previews.len() == 4 && previews.iter().all(own),
        "{previews:?}"
    );
}
