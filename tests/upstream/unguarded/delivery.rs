//! How often the Editor gets one call when something goes wrong on the way.

use super::*;

scenarios![
    a_slow_snippet_runs_six_times,
    a_blocked_main_thread_runs_every_delivery_after_the_thaw,
    a_server_left_with_a_hung_call_goes_on_sending_it,
    the_word_reload_makes_up_to_forty_deliveries,
    two_calls_at_once_throw_each_other_out,
    a_broken_exchange_is_repeated,
    nothing_is_left_of_a_test_that_panics,
];

fn a_broken_exchange_is_repeated(home: &Home) {
    let (editor, mut client) = pair(home);

    let canned = json!({"status": "success", "result": {"success": true, "message": "Canned.", "data": {"result": "x"}}});
    editor.arm("execute_code", 1, Fault::Reply(canned));
    assert_eq!(client.code(COUNT).value(), "x");
    assert_eq!((deliveries(&editor), runs(&editor)), (1, 0));

    editor.forget();
    editor.arm("execute_code", 1, Fault::DropAfter);
    let answer = client.code(COUNT);
    assert_eq!(answer.value(), 2, "reported as a plain success");
    assert_eq!((deliveries(&editor), runs(&editor)), (2, 2));

    editor.forget();
    let error = json!({"status": "error", "error": "Custom failure"});
    editor.arm("execute_code", 6, Fault::RunThenReply(error.clone()));
    let answer = client.code(COUNT);
    assert!(!answer.succeeded(), "{}", answer.text());
    assert_eq!((deliveries(&editor), runs(&editor)), (6, 6));
    let last = editor.executed("execute_code").pop().unwrap();
    assert_eq!(
        last.answer, error,
        "run, and answered with the error all the same"
    );
    assert_eq!(editor.session("runs").as_deref(), Some("8"));

    editor.forget();
    editor.arm("execute_code", 20, Fault::DropBefore);
    let answer = client.code(COUNT);
    assert!(!answer.succeeded(), "{}", answer.text());
    assert_eq!((deliveries(&editor), runs(&editor)), (6, 0));
}

fn the_word_reload_makes_up_to_forty_deliveries(home: &Home) {
    let (editor, mut client) = pair(home);

    let code = COUNT.replace("return n;", r#"throw new Exception("cannot Reload");"#);
    let answer = client.code(&code);
    assert!(
        answer.text().contains("Unity is reloading; please retry"),
        "{}",
        answer.text()
    );
    assert!(
        deliveries(&editor) > 6,
        "{} deliveries",
        deliveries(&editor)
    );
    assert_eq!(runs(&editor), deliveries(&editor));

    client.call(
        "manage_scene",
        &json!({"action": "create", "name": "Preload"}),
    );
    assert!(
        editor.deliveries("manage_scene") > 6,
        "{} deliveries",
        editor.deliveries("manage_scene")
    );
}

// What the client is told hangs on how fast the queue runs after the 35 s, so only the Editor is asked.
fn a_slow_snippet_runs_six_times(home: &Home) {
    let (editor, mut client) = pair(home);

    let began = Instant::now();
    editor.arm("execute_code", 1, Fault::Delay(seconds(35)));
    client.code(COUNT);
    editor.wait_executions("execute_code", 6, PATIENCE);
    let at = editor
        .delivered("execute_code")
        .into_iter()
        .map(|delivery| (delivery.at - began).as_secs());
    let at: Vec<u64> = at.collect();
    assert_eq!(at.len(), 6, "{at:?}");
    assert!(
        at[0] <= 1 && at[1..].iter().all(|second| (30..=37).contains(second)),
        "{at:?}"
    );
    assert_eq!(editor.session("runs").as_deref(), Some("6"));
}

fn a_blocked_main_thread_runs_every_delivery_after_the_thaw(home: &Home) {
    let (editor, mut client) = pair(home);

    editor.freeze(true);
    let answer = client.code(COUNT);
    assert!(!answer.succeeded(), "{}", answer.text());
    // Six as a rule; fewer where upstream's probe of 0.3 s misses the Editor in between.
    let delivered = deliveries(&editor);
    assert!(delivered > 0);
    assert_eq!(runs(&editor), 0);
    editor.freeze(false);
    editor.wait_executions("execute_code", delivered, PATIENCE);
    assert_eq!(editor.session("runs"), Some(delivered.to_string()));
}

fn two_calls_at_once_throw_each_other_out(home: &Home) {
    let (editor, mut client) = pair(home);

    editor.arm("execute_code", 1, Fault::Delay(seconds(9)));
    let slow = client.begin("execute_code", &json!({"action": "execute", "code": COUNT}));
    editor.wait_deliveries("execute_code", 1, PATIENCE);
    // Past the five seconds for which discovery is cached: the next call looks for Editors anew.
    assert!(editor.quiet_for("execute_code", seconds(6)));
    client.call("read_console", &json!({}));
    client.answer(slow);
    editor.wait_executions("execute_code", editor.deliveries("execute_code"), PATIENCE);
    assert!(
        (2..=6).contains(&deliveries(&editor)),
        "{} deliveries",
        deliveries(&editor)
    );
    assert_eq!(runs(&editor), deliveries(&editor));
}

fn a_server_left_with_a_hung_call_goes_on_sending_it(home: &Home) {
    let (editor, mut client) = pair(home);

    editor.arm("execute_code", 1000, Fault::reloading());
    client.begin("execute_code", &json!({"action": "execute", "code": COUNT}));
    editor.wait_deliveries("execute_code", 3, PATIENCE);
    let left = Instant::now();
    client.leave();
    assert!(client.exit_within(PATIENCE).is_some());
    let last = editor.delivered("execute_code").pop().unwrap();
    let after = last.at - left;
    assert!(
        after > seconds(7),
        "the last one {after:?} after its client left"
    );
}

fn nothing_is_left_of_a_test_that_panics(home: &Home) {
    let crashed = std::panic::catch_unwind(|| {
        let (editor, mut client) = pair(home);
        editor.arm("execute_code", 1, Fault::Delay(seconds(600)));
        client.begin("execute_code", &json!({"action": "execute", "code": COUNT}));
        editor.wait_deliveries("execute_code", 1, PATIENCE);
        assert!(
            !cfg!(target_os = "linux") || home.processes().len() >= 3,
            "uvx, Python, mono"
        );
        std::panic::resume_unwind(Box::new(()));
    });
    assert!(crashed.is_err());
    assert_eq!(home.processes(), []);
}
