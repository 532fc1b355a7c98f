//! Two Editors, a closed one, a reloading one, a dead one.

use super::*;

scenarios![
    an_editor_reloads_is_deaf_and_dies,
    two_editors_need_a_pin_and_a_closed_one_is_replaced,
];

/// How often a test tries to be faster than upstream's cache is old.
const TRIES: usize = 5;

/// The `Application.dataPath` that a snippet in this Editor sees.
fn assets(editor: &Editor) -> String {
    format!("{}/Assets", editor.root().display())
}

fn two_editors_need_a_pin_and_a_closed_one_is_replaced(home: &Home) {
    let (alpha, beta) = (home.editor("Alpha"), home.editor("Beta"));
    let mut client = starting(|| {
        let mut client = Client::start(home, &Launch::direct());
        let unpinned = client.code(WHERE).text();
        let several = "Multiple Unity instances are connected";
        assert!(unpinned.contains(several), "{unpinned}");
        client
    });
    a_call_for_one_editor_opens_the_way_for_calls_to_none(&alpha, &beta, &mut client);

    for selector in [
        alpha.id(),
        alpha.hash()[..6].to_uppercase(),
        format!(" {} ", alpha.port()),
    ] {
        if selector.bytes().all(|byte| byte.is_ascii_digit()) {
            continue; // a hash that starts with digits only would be read as a port
        }
        let pinned = client.call("set_active_instance", &json!({"instance": selector}));
        let text = pinned.text();
        assert_eq!(
            pinned.payload()["data"]["instance"],
            alpha.id(),
            "{selector}: {text}"
        );
    }
    assert_eq!(client.code(WHERE).value(), assets(&alpha));
    let other = json!({"action": "execute", "code": WHERE, "unity_instance": beta.id()});
    assert_eq!(client.call("execute_code", &other).value(), assets(&beta));

    alpha.close();
    assert!(!alpha.status_file().exists());
    let strayed = strays(home, &mut client);
    let text = strayed.text();
    assert_eq!(
        strayed.value(),
        assets(&beta),
        "the pinned one is gone: {text}"
    );
    assert!(strayed.succeeded() && !strayed.is_error());
}

/// Calls the pinned Editor when it has just been closed. A pin makes upstream look for Editors, and believe what it
/// saw for five seconds; on a busy machine they may be over when the call comes.
fn strays(home: &Home, client: &mut Client) -> Answer {
    let mut attempt = 1;
    loop {
        let alpha = home.editor("Alpha");
        client.call("set_active_instance", &json!({"instance": alpha.id()}));
        alpha.close();
        let strayed =
            client.call_once("execute_code", &json!({"action": "execute", "code": WHERE}));
        assert_eq!(deliveries(&alpha), 0);
        if !strayed.missed() || attempt == TRIES {
            return strayed;
        }
        attempt += 1;
    }
}

/// After a call for one Editor, calls for none are no longer refused: they go to one of the two, mostly the last.
fn a_call_for_one_editor_opens_the_way_for_calls_to_none(
    alpha: &Editor,
    beta: &Editor,
    client: &mut Client,
) {
    let mut there = |instance: &str| {
        let arguments = json!({"action": "execute", "code": WHERE, "unity_instance": instance});
        client.call("execute_code", &arguments)
    };
    let lands = |answer: &Answer, editor: &Editor| {
        assert_eq!(answer.value(), assets(editor), "{}", answer.0.raw);
    };
    let answers = |answer: &Answer| {
        let (value, known) = (answer.value(), [assets(alpha), assets(beta)]);
        assert!(known.iter().any(|path| value == **path), "{}", answer.0.raw);
    };
    lands(&there(&beta.id()), beta);
    answers(&there(""));
    lands(&there(&alpha.id()), alpha);
    answers(&there(""));

    let unknown = there("Gamma@00000000");
    assert!(unknown.is_error(), "{}", unknown.0.raw);
    assert!(unknown.payload().is_null(), "plain text");
    let says = "Instance 'Gamma@00000000' not found. Available: ";
    assert!(unknown.text().contains(says), "{}", unknown.text());
    let changed = client.notifications("notifications/tools/list_changed");
    assert!(!changed.is_empty());
}

fn an_editor_reloads_is_deaf_and_dies(home: &Home) {
    let (editor, mut client) = pair(home);
    let pin = json!({"instance": editor.id()});
    a_reload_ends_statics_but_not_the_session_state(&editor, &mut client);

    editor.answer_pings(false);
    let deaf = client.call_once("set_active_instance", &pin);
    assert!(!deaf.succeeded(), "{}", deaf.text());
    editor.answer_pings(true);
    assert!(client.call("set_active_instance", &pin).succeeded());

    editor.forget();
    editor.crash();
    assert!(editor.status_file().exists(), "a crash leaves the file");
    // A pin makes the server look for Editors anew; it would believe its cache for five seconds.
    let dead = client.call_once("set_active_instance", &pin).text();
    let none = "No Unity instances are currently connected";
    assert!(dead.contains(none), "{dead}");
    let count = json!({"action": "execute", "code": COUNT});
    let dead = client.call_once("execute_code", &count).text();
    assert!(dead.contains("No Unity Editor instances found"), "{dead}");
    assert_eq!(deliveries(&editor), 0);
}

fn a_reload_ends_statics_but_not_the_session_state(editor: &Editor, client: &mut Client) {
    assert_eq!(client.code(COUNT).value(), 1);
    editor.forget();
    let port = editor.port();

    editor.begin_reload("reloading");
    let waiting = client.code(COUNT).text();
    let retry = "Unity is reloading; please retry";
    assert!(waiting.contains(retry), "{waiting}");
    assert_eq!(deliveries(editor), 0, "nothing was delivered meanwhile");
    let beat = std::fs::read(editor.status_file()).unwrap();
    let beat: Value = serde_json::from_slice(&beat).unwrap();
    assert_eq!(beat["reloading"], true);
    assert_eq!(beat["reason"], "reloading");

    editor.end_reload();
    assert_eq!(editor.port(), port);
    let counted = client.code(COUNT).value();
    assert_eq!(counted, 2, "SessionState outlives the domain");
    let history = client.call("execute_code", &json!({"action": "get_history"}));
    assert_eq!(history.payload()["data"]["total"], 1, "history does not");
}
