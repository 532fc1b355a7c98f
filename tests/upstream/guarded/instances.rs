//! Which Editor a call reaches, and what is said of one that is not found.

use super::*;

scenarios![
    a_pin_is_needed_and_kept,
    an_editor_that_is_not_found_is_explained,
];

/// How often a test tries to be faster than upstream's cache is old.
const TRIES: usize = 5;

fn assets(editor: &Editor) -> String {
    format!("{}/Assets", editor.root().display())
}

fn a_pin_is_needed_and_kept(home: &Home) {
    let (alpha, beta) = (home.editor("Alpha"), home.editor("Beta"));
    let mut client = starting(|| Client::start(home, &Launch::relay()));

    let unpinned = client.code(WHERE);
    let text = refusal(&unpinned, "instance_guard", "editor_not_chosen", false);
    says(
        &text,
        &[
            &alpha.id(),
            &beta.id(),
            &assets(&alpha),
            &assets(&beta),
            "set_active_instance",
        ],
    );
    let search = json!({"action": "search", "path": "Assets"});
    refusal(
        &client.call("manage_asset", &search),
        "instance_guard",
        "editor_not_chosen",
        false,
    );
    assert_eq!(deliveries(&alpha) + deliveries(&beta), 0);
    assert_eq!(
        alpha.deliveries("manage_asset") + beta.deliveries("manage_asset"),
        0
    );

    let pin = json!({"instance": alpha.id()});
    let pinned = client.call("set_active_instance", &pin);
    let root = json!(alpha.root());
    assert_eq!(
        pinned.payload()["proxy_project_root"],
        root,
        "{}",
        pinned.0.raw
    );
    assert_eq!(
        pinned.result()["structuredContent"],
        pinned.payload(),
        "both surfaces"
    );
    starting(|| assert_eq!(client.code(WHERE).value(), assets(&alpha)));
    let there = json!({"action": "execute", "code": WHERE, "unity_instance": beta.id()});
    starting(|| assert_eq!(client.call("execute_code", &there).value(), assets(&beta)));
    // Upstream would keep the Editor of that call as its default.
    client.call("set_active_instance", &pin);
    assert_eq!(client.code(WHERE).value(), assets(&alpha));
    assert_eq!((deliveries(&alpha), deliveries(&beta)), (2, 1));

    drop(alpha);
    a_snippet_for_a_closed_editor_runs_nowhere(home, &beta, &mut client);
}

fn a_snippet_for_a_closed_editor_runs_nowhere(home: &Home, beta: &Editor, client: &mut Client) {
    let tally = Tally::new(home, "strayed");
    let code = execute(&tally.snippet("SessionState.SetInt(\"strayed\", 1); return 1;"));
    let known = beta.session_keys();
    beta.forget();

    // What a crash leaves behind is enough to know which project was meant.
    let (alpha, strayed) = strays(home, &code, client);
    let text = refusal(&strayed, "execute_code_venue_guard", "misrouted", true);
    let (meant, reached) = (assets(&alpha), assets(beta));
    says(&text, &[&meant, &reached, "Nothing ran in this Editor"]);
    let arrived = deliveries(beta);
    assert!(arrived > 0);

    // A clean quit takes the heartbeat file along.
    std::fs::remove_file(alpha.status_file()).unwrap();
    let unknown = client.call_once("execute_code", &code);
    let text = refusal(
        &unknown,
        "execute_code_venue_guard",
        "target_not_resolved",
        false,
    );
    says(&text, &[&alpha.id(), &beta.id()]);
    assert_eq!(deliveries(beta), arrived, "nothing more was delivered");

    assert_eq!(tally.runs(), 0);
    assert_eq!(beta.session_keys(), known, "no trace in the other Editor");
}

/// Calls the pinned Editor when it has just crashed. A pin makes upstream look for Editors, and believe what it saw
/// for five seconds; on a busy machine they may be over when the call comes: then it finds nobody, or nobody to
/// connect to.
fn strays(home: &Home, code: &Value, client: &mut Client) -> (Editor, Answer) {
    let mut attempt = 1;
    loop {
        let alpha = home.editor("Alpha");
        client.call("set_active_instance", &json!({"instance": alpha.id()}));
        alpha.crash();
        let strayed = client.call_once("execute_code", code);
        assert_eq!(deliveries(&alpha), 0);
        if strayed.is_error() || attempt == TRIES {
            return (alpha, strayed);
        }
        attempt += 1;
    }
}

fn an_editor_that_is_not_found_is_explained(home: &Home) {
    let (editor, mut client) = pair(home);
    let pin = json!({"instance": editor.id()});
    let mut miss = |code: &str| {
        let missed = client.call_once("set_active_instance", &pin);
        assert!(missed.missed() && !missed.succeeded(), "{}", missed.0.raw);
        notes(&missed, &[("instance_not_found_note", code)])
    };
    editor.answer_pings(false);
    let said = miss("probe_missed");
    says(&said, &["0.3 s", "very likely missed", &editor.id()]);
    editor.answer_pings(true);

    // Upstream keeps an Editor that reloads for a minute.
    editor.begin_reload("compiling");
    editor.date_heartbeat_back(70);
    let said = miss("editor_reloading");
    says(
        &said,
        &[
            "reloading",
            "`compiling`",
            "in a loop will not help",
            "wait, then pin again",
        ],
    );
    editor.end_reload();
    assert!(client.call("set_active_instance", &pin).succeeded());

    editor.forget();
    editor.crash();
    editor.date_heartbeat_back(70);
    let mut miss = |tool: &str, arguments: &Value| {
        let missed = client.call_once(tool, arguments);
        assert!(missed.missed() && !missed.succeeded(), "{}", missed.0.raw);
        notes(&missed, &[("instance_not_found_note", "editor_silent")])
    };
    let said = miss("set_active_instance", &pin);
    says(&said, &["blocked Editor looks the same as a closed one"]);
    assert!((70..110).contains(&told_age(&said)), "{said}");
    says(
        &miss("execute_code", &execute("return 1;")),
        &["verify on disk"],
    );
    assert_eq!(deliveries(&editor), 0);
}
