//! Calls sent beside each other are delivered once each, and a call for a closed Editor to nobody.

use super::*;

scenarios![
    what_comes_beside_a_slow_write_waits_for_it,
    a_cancelled_write_is_not_sent_again,
    a_call_for_a_closed_editor_reaches_nobody,
];

/// How often a test bears with a probe of upstream's that missed the Editor on a busy machine.
const TRIES: usize = 5;

fn folder(name: &str) -> Value {
    json!({"action": "create_folder", "path": format!("Assets/{name}")})
}

fn created(editor: &Editor, name: &str) -> usize {
    let path = format!("Assets/{name}");
    let delivered = editor.delivered("manage_asset");
    let of_it = |params: &Value| params["path"] == path;
    delivered.iter().filter(|one| of_it(&one.params)).count()
}

/// A write that takes 9 s and has been at it for 6: past the five seconds for which upstream knows its Editors.
fn slow_write(editor: &Editor, client: &mut Client, name: &str) -> u64 {
    editor.forget();
    editor.arm("manage_asset", 1, Fault::Delay(seconds(9)));
    let slow = client.begin("manage_asset", &folder(name));
    editor.wait_deliveries("manage_asset", 1, PATIENCE);
    assert!(editor.quiet_for("manage_asset", seconds(6)));
    slow
}

fn what_comes_beside_a_slow_write_waits_for_it(home: &Home) {
    let (editor, mut client) = pair(home);
    let mut seen = (0..TRIES).map(|round| beside_a_slow_write(&editor, &mut client, round));
    assert!(seen.any(|seen| seen), "the Editor was missed every time");
}

/// Whether upstream saw the Editor each time that it looked.
fn beside_a_slow_write(editor: &Editor, client: &mut Client, round: usize) -> bool {
    let name = |what: &str| format!("{what}{round}");
    let slow = slow_write(editor, client, &name("Slow"));
    let read = client.request(
        "resources/read",
        &json!({"uri": "mcpforunity://project/info"}),
    );
    let late = client.begin("manage_asset", &folder(&name("Late")));
    let scene = json!({"action": "get_active", "unity_instance": editor.id()});
    let named = client.begin("manage_scene", &scene);
    let pin = client.begin("set_active_instance", &json!({"instance": editor.id()}));
    let cancelled = client.begin("manage_asset", &folder(&name("Cancelled")));
    client.cancel(cancelled);
    let last = client.begin("manage_asset", &folder(&name("Last")));

    let slow = client.answer(slow);
    assert!(slow.succeeded(), "{}", slow.0.raw);
    says(&slow.text(), &[&name("Slow")]);
    let read = client.answer(read);
    assert!(
        read.missed() || read.read().contains("Alpha"),
        "{}",
        read.0.raw
    );
    let answers = [(late, name("Late")), (last, name("Last"))].map(|(id, name)| {
        let answer = client.answer(id);
        assert!(
            answer.missed() || answer.text().contains(&name),
            "{}",
            answer.0.raw
        );
        answer
    });
    let (named, pin) = (client.answer(named), client.answer(pin));
    assert!(
        named.missed() || named.payload()["data"]["name"] == "SampleScene",
        "{}",
        named.0.raw
    );
    assert!(
        pin.missed() || pin.payload()["data"]["instance"] == editor.id(),
        "{}",
        pin.0.raw
    );
    assert!(client.answers(cancelled).is_empty());

    assert_eq!(created(editor, &name("Slow")), 1);
    assert_eq!(created(editor, &name("Cancelled")), 0);
    let [late, last] = &answers;
    for (answer, what) in [(late, "Late"), (last, "Last")] {
        let times = usize::from(!answer.missed());
        assert_eq!(created(editor, &name(what)), times, "{}", answer.0.raw);
    }
    ![&read, late, last, &named, &pin]
        .iter()
        .any(|answer| answer.missed())
}

fn a_cancelled_write_is_not_sent_again(home: &Home) {
    let (editor, mut client) = pair(home);
    let cancelled = slow_write(&editor, &mut client, "Cancelled");
    client.cancel(cancelled);
    let next = client.call("manage_asset", &folder("Next"));
    says(&next.text(), &["Next"]);
    let dropped = format!("dropped the answer to {cancelled}: the client cancelled it");
    client.wait_stderr(&dropped, PATIENCE);
    assert!(client.answers(cancelled).is_empty());
    // Upstream would send it again at 8 and at 17 s.
    assert!(editor.quiet_for("manage_asset", seconds(10)));
    assert_eq!(
        (created(&editor, "Cancelled"), created(&editor, "Next")),
        (1, 1)
    );
}

fn a_call_for_a_closed_editor_reaches_nobody(home: &Home) {
    let (alpha, beta) = (home.editor("Alpha"), home.editor("Beta"));
    let mut client = starting(|| {
        let mut client = Client::start(home, &Launch::relay());
        let pin = json!({"instance": alpha.id()});
        assert!(client.call("set_active_instance", &pin).succeeded());
        client
    });
    let create = json!({"action": "create", "name": "Cube"});
    let refused = |client: &mut Client, code: &str| {
        let answer = client.call_once("manage_gameobject", &create);
        let text = refusal(&answer, "pinned_editor_guard", code, false);
        says(&text, &[&alpha.id(), &beta.id(), "set_active_instance"]);
        assert_eq!(beta.deliveries("manage_gameobject"), 0);
        text
    };

    // What a crash leaves behind is believed for three minutes.
    alpha.crash();
    alpha.date_heartbeat_back(200);
    let text = refused(&mut client, "target_silent");
    // Not a second too little; how much more depends on how busy the machine is.
    assert!((200..240).contains(&told_age(&text)), "{text}");
    std::fs::remove_file(alpha.status_file()).unwrap();
    refused(&mut client, "target_not_found");

    let pin = json!({"instance": beta.id()});
    assert!(client.call("set_active_instance", &pin).succeeded());
    client.call("manage_gameobject", &create);
    assert!(beta.deliveries("manage_gameobject") > 0);
}
