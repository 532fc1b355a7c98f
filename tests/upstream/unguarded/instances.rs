//! Two Editors, a closed one, a reloading one, a dead one.

use super::*;

/// The `Application.dataPath` that a snippet in this Editor sees.
fn assets(editor: &Editor) -> String {
    format!("{}/Assets", editor.root().display())
}

#[test]
fn two_editors_need_a_pin_and_a_closed_one_is_replaced() {
    need_the_server!();
    let home = Home::new();
    let (alpha, beta) = (home.editor("Alpha"), home.editor("Beta"));
    let mut client = Client::start(&home, &Launch::direct());

    let unpinned = client.code(WHERE);
    assert!(
        unpinned
            .text()
            .contains("Multiple Unity instances are connected"),
        "{}",
        unpinned.text()
    );
    for selector in [
        alpha.id(),
        alpha.hash()[..6].to_uppercase(),
        format!(" {} ", alpha.port()),
    ] {
        if selector.bytes().all(|byte| byte.is_ascii_digit()) {
            continue; // a hash that starts with digits only would be read as a port
        }
        let pinned = client.call("set_active_instance", &json!({"instance": selector}));
        assert_eq!(
            pinned.payload()["data"]["instance"],
            alpha.id(),
            "{selector}: {}",
            pinned.text()
        );
    }
    assert_eq!(client.code(WHERE).value(), assets(&alpha));
    let other = client.call(
        "execute_code",
        &json!({"action": "execute", "code": WHERE, "unity_instance": beta.id()}),
    );
    assert_eq!(other.value(), assets(&beta));

    // A pin makes upstream look for Editors, and believe what it saw for five seconds.
    client.call("set_active_instance", &json!({"instance": alpha.id()}));
    alpha.close();
    assert!(!alpha.status_file().exists());
    let strayed = client.code(WHERE);
    assert_eq!(strayed.value(), assets(&beta), "the pinned one is gone");
    assert!(strayed.succeeded() && !strayed.is_error());
    assert_eq!(alpha.deliveries("execute_code"), 1);
}

#[test]
fn a_call_for_one_editor_leaves_it_behind_as_the_default() {
    need_the_server!();
    let home = Home::new();
    let (alpha, beta) = (home.editor("Alpha"), home.editor("Beta"));
    let mut client = Client::start(&home, &Launch::direct());

    let mut there = |instance: &str| {
        let arguments = json!({"action": "execute", "code": WHERE, "unity_instance": instance});
        client.call("execute_code", &arguments)
    };
    for editor in [&beta, &alpha] {
        // On a busy machine even a call with a target can end up in the other Editor, see below.
        let left = (0..8).any(|_| {
            there(&editor.id()).value() == assets(editor) && there("").value() == assets(editor)
        });
        assert!(left, "no target, no refusal");
    }
    let unknown = there("Gamma@00000000");
    assert!(unknown.is_error(), "{}", unknown.0.raw);
    assert!(unknown.payload().is_null(), "plain text");
    assert!(
        unknown
            .text()
            .contains("Instance 'Gamma@00000000' not found. Available: ")
    );
    assert!(
        !client
            .notifications("notifications/tools/list_changed")
            .is_empty()
    );
}

#[test]
fn a_live_editor_that_misses_one_probe_loses_its_calls_to_another() {
    need_the_server!();
    let home = Home::new();
    let (alpha, beta) = (home.editor("Alpha"), home.editor("Beta"));
    let mut client = Client::start(&home, &Launch::direct());
    // Each has run the snippet before: a re-send is given one second, too little for a first time.
    let pin = json!({"instance": beta.id()});
    assert!(client.call("set_active_instance", &pin).succeeded());
    assert_eq!(client.code(WHERE).value(), assets(&beta));
    let pin = json!({"instance": alpha.id()});
    assert!(client.call("set_active_instance", &pin).succeeded());
    assert_eq!(client.code(WHERE).value(), assets(&alpha));

    // The Editor is there, and busy: its connection breaks once, and it answers no probe.
    alpha.freeze(true);
    alpha.answer_pings(false);
    alpha.arm("execute_code", 1, Fault::DropBefore);
    let strayed = client.code(WHERE);
    assert_eq!(strayed.value(), assets(&beta), "{}", strayed.text());

    assert!(strayed.succeeded(), "and nothing tells");

    // Well again. Until upstream looks anew, the connection that stands for the pinned one may still
    // lead to the other; a pin makes it look.
    alpha.answer_pings(true);
    alpha.freeze(false);
    assert!(client.call("set_active_instance", &pin).succeeded());
    assert_eq!(client.code(WHERE).value(), assets(&alpha));
}

#[test]
fn a_reload_is_waited_for_and_ends_statics_but_not_the_session_state() {
    need_the_server!();
    let home = Home::new();
    let (editor, mut client) = pair(&home);
    assert_eq!(client.code(COUNT).value(), 1);
    editor.forget();
    let port = editor.port();

    editor.begin_reload("reloading");
    let waiting = client.code(COUNT);
    assert!(
        waiting.text().contains("Unity is reloading; please retry"),
        "{}",
        waiting.text()
    );
    assert_eq!(deliveries(&editor), 0, "nothing was delivered meanwhile");
    let beat: Value =
        serde_json::from_slice(&std::fs::read(editor.status_file()).unwrap()).unwrap();
    assert_eq!(
        (&beat["reloading"], &beat["reason"]),
        (&json!(true), &json!("reloading"))
    );

    editor.end_reload();
    assert_eq!(editor.port(), port);
    assert_eq!(
        client.code(COUNT).value(),
        2,
        "SessionState outlives the domain"
    );
    let history = client.call("execute_code", &json!({"action": "get_history"}));
    assert_eq!(history.payload()["data"]["total"], 1, "history does not");
}

#[test]
fn a_dead_editor_is_told_apart_from_a_reloading_one() {
    need_the_server!();
    let home = Home::new();
    let (editor, mut client) = pair(&home);

    editor.crash();
    assert!(editor.status_file().exists(), "a crash leaves the file");
    // A pin makes the server look for Editors anew; it would believe its cache for five seconds.
    let pin = client.call_once("set_active_instance", &json!({"instance": editor.id()}));
    assert!(
        pin.text()
            .contains("No Unity instances are currently connected"),
        "{}",
        pin.text()
    );
    let dead = json!({"action": "execute", "code": COUNT});
    let dead = client.call_once("execute_code", &dead);
    assert!(
        dead.text().contains("No Unity Editor instances found"),
        "{}",
        dead.text()
    );
    assert_eq!(deliveries(&editor), 0);
}

#[test]
fn an_editor_that_answers_no_pings_is_not_found() {
    need_the_server!();
    let home = Home::new();
    let (editor, mut client) = pair(&home);

    editor.answer_pings(false);
    let deaf = client.call_once("set_active_instance", &json!({"instance": editor.id()}));
    assert!(!deaf.succeeded(), "{}", deaf.text());
    editor.answer_pings(true);
    assert!(
        client
            .call("set_active_instance", &json!({"instance": editor.id()}))
            .succeeded()
    );
}
