//! However often upstream delivers a snippet, it runs once, and the client is told what is known.

use super::*;

scenarios![
    a_snippet_of_35_s_runs_once,
    a_blocked_main_thread_runs_a_snippet_once_after_the_thaw,
    broken_exchanges_run_a_snippet_once,
    what_comes_beside_a_slow_snippet_leaves_it_its_value,
];

fn broken_exchanges_run_a_snippet_once(home: &Home) {
    let (editor, mut client) = pair(home);

    let tally = Tally::new(home, "lost");
    editor.arm("execute_code", 1, Fault::DropAfter);
    let lost = client.code(&tally.snippet("return 41;"));
    assert_eq!((deliveries(&editor), tally.runs()), (2, 1));
    assert!(lost.succeeded());
    let told = lost.value();
    says(
        told.as_str().unwrap(),
        &[DUPLICATE, "succeeded", "exactly once", ": 41"],
    );

    editor.forget();
    let tally = Tally::new(home, "error");
    let error = json!({"status": "error", "error": "Custom failure"});
    editor.arm("execute_code", 6, Fault::RunThenReply(error));
    let failed = client.code(&tally.snippet("return 41;"));
    assert_eq!((deliveries(&editor), tally.runs()), (6, 1));
    assert!(!failed.succeeded());
    says(&failed.text(), &["Custom failure"]);

    // The record of the exception is a value, which upstream does not search for that word.
    editor.forget();
    let tally = Tally::new(home, "reload");
    let thrown = client.code(&tally.snippet(r#"throw new Exception("cannot Reload");"#));
    assert_eq!((deliveries(&editor), tally.runs()), (2, 1));
    let told = refusal(
        &thrown,
        "execute_code_suppressed_verdict",
        "earlier_run_failed",
        true,
    );
    says(
        &told,
        &[DUPLICATE, "failed", "did not land", "cannot Reload"],
    );

    editor.forget();
    let tally = Tally::new(home, "storm");
    let named = json!({"success": true, "message": "Opened Preload.unity."});
    let named = json!({"status": "success", "result": named});
    editor.arm("execute_code", 1000, Fault::RunThenReply(named));
    let stormy = client.code(&tally.snippet("return 41;"));
    says(&stormy.text(), &["Unity is reloading; please retry"]);
    assert!(deliveries(&editor) > 6, "{}", deliveries(&editor));
    assert_eq!(tally.runs(), 1);
}

fn a_snippet_of_35_s_runs_once(home: &Home) {
    let (editor, mut client) = pair(home);
    let tally = Tally::new(home, "slow");
    let began = Instant::now();
    let slow = client.code(&tally.snippet("System.Threading.Thread.Sleep(35000);\nreturn 41;"));
    let took = began.elapsed();
    assert!(took >= seconds(34), "{took:?}: {}", slow.text());
    editor.wait_executions("execute_code", 6, PATIENCE);
    assert_eq!((deliveries(&editor), tally.runs()), (6, 1));
    truth_about_a_run(&slow, ": 41");
}

/// After such a time the client either gets the record or is told that the outcome is unknown.
fn truth_about_a_run(answer: &Answer, record: &str) {
    if answer.succeeded() {
        let told = answer.value();
        says(told.as_str().unwrap(), &[DUPLICATE, "succeeded", record]);
    } else {
        says(
            &notes(answer, &[("timeout_notes", "outcome_unknown")]),
            &["verify on disk"],
        );
    }
}

fn a_blocked_main_thread_runs_a_snippet_once_after_the_thaw(home: &Home) {
    let (editor, mut client) = pair(home);
    let tally = Tally::new(home, "frozen");
    editor.freeze(true);
    let answer = client.code(&tally.snippet("return 41;"));
    says(&answer.text(), &["Timeout receiving Unity response"]);
    let said = notes(&answer, &[("timeout_notes", "outcome_unknown")]);
    says(
        &said,
        &["does not mean that the work did not run", "verify on disk"],
    );
    // Six as a rule; fewer where upstream's probe of 0.3 s misses the Editor in between.
    let delivered = deliveries(&editor);
    assert!(delivered > 0);
    assert_eq!(tally.runs(), 0);

    editor.freeze(false);
    editor.wait_executions("execute_code", delivered, PATIENCE);
    assert_eq!(tally.runs(), 1);
}

fn what_comes_beside_a_slow_snippet_leaves_it_its_value(home: &Home) {
    let (editor, mut client) = pair(home);
    let tally = Tally::new(home, "beside");
    let code = tally.snippet("System.Threading.Thread.Sleep(9000);\nreturn 41;");
    let slow = client.begin("execute_code", &execute(&code));
    editor.wait_deliveries("execute_code", 1, PATIENCE);
    // Past the five seconds for which discovery is cached: the next request would look for Editors anew.
    assert!(editor.quiet_for("execute_code", seconds(6)));
    let read = client.request(
        "resources/read",
        &json!({"uri": "mcpforunity://project/info"}),
    );
    let call = client.begin("manage_scene", &json!({"action": "get_active"}));
    let slow = client.answer(slow);
    assert_eq!(slow.value(), 41, "{}", slow.0.raw);
    untouched(&slow);
    let (read, call) = (client.answer(read), client.answer(call));
    assert!(
        read.missed() || read.read().contains("Alpha"),
        "{}",
        read.0.raw
    );
    assert!(call.missed() || call.succeeded(), "{}", call.0.raw);
    assert_eq!((deliveries(&editor), tally.runs()), (1, 1));
}
