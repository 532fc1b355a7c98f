//! How often the Editor gets one call when something goes wrong on the way.

use super::*;

#[test]
fn a_connection_lost_after_the_run_makes_a_second_delivery() {
    need_the_server!();
    let home = Home::new();
    let (editor, mut client) = pair(&home);

    editor.arm("execute_code", 1, Fault::DropAfter);
    let answer = client.code(COUNT);
    assert_eq!(answer.value(), 2, "reported as a plain success");
    assert_eq!((deliveries(&editor), runs(&editor)), (2, 2));
    assert_eq!(editor.session("runs").as_deref(), Some("2"));
}

#[test]
fn a_connection_lost_before_the_run_is_sent_again_until_upstream_gives_up() {
    need_the_server!();
    let home = Home::new();
    let (editor, mut client) = pair(&home);

    editor.arm("execute_code", 20, Fault::DropBefore);
    let answer = client.code(COUNT);
    assert!(!answer.succeeded(), "{}", answer.text());
    assert_eq!((deliveries(&editor), runs(&editor)), (6, 0));
}

#[test]
fn an_error_status_is_sent_again_up_to_six_times() {
    need_the_server!();
    let home = Home::new();
    let (editor, mut client) = pair(&home);

    let error = json!({"status": "error", "error": "Custom failure"});
    editor.arm("execute_code", 20, Fault::RunThenReply(error.clone()));
    let answer = client.code(COUNT);
    assert!(!answer.succeeded(), "{}", answer.text());
    assert_eq!((deliveries(&editor), runs(&editor)), (6, 6));
    let last = editor.executed("execute_code").pop().unwrap();
    assert_eq!(
        last.answer, error,
        "run, and answered with the error all the same"
    );
    assert_eq!(editor.session("runs").as_deref(), Some("6"));
}

#[test]
fn a_canned_reply_stands_for_a_run() {
    need_the_server!();
    let home = Home::new();
    let (editor, mut client) = pair(&home);

    let canned = json!({"status": "success", "result": {"success": true, "message": "Canned.", "data": {"result": "x"}}});
    editor.arm("execute_code", 1, Fault::Reply(canned));
    assert_eq!(client.code(COUNT).value(), "x");
    assert_eq!((deliveries(&editor), runs(&editor)), (1, 0));
    assert_eq!(client.code(COUNT).value(), 1, "once only");
}

#[test]
fn the_word_reload_in_an_exception_makes_forty_deliveries() {
    need_the_server!();
    let home = Home::new();
    let (editor, mut client) = pair(&home);

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
#[test]
fn a_slow_snippet_runs_six_times() {
    need_the_server!();
    let home = Home::new();
    let (editor, mut client) = pair(&home);

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

#[test]
fn a_blocked_main_thread_runs_all_six_after_the_thaw() {
    need_the_server!();
    let home = Home::new();
    let (editor, mut client) = pair(&home);

    editor.freeze(true);
    let answer = client.code(COUNT);
    assert!(!answer.succeeded(), "{}", answer.text());
    assert_eq!((deliveries(&editor), runs(&editor)), (6, 0));
    editor.freeze(false);
    editor.wait_executions("execute_code", 6, PATIENCE);
    assert_eq!(editor.session("runs").as_deref(), Some("6"));
}

#[test]
fn two_calls_at_once_throw_each_other_out() {
    need_the_server!();
    let home = Home::new();
    let (editor, mut client) = pair(&home);

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

#[test]
fn a_server_left_with_a_hung_call_goes_on_sending_it() {
    need_the_server!();
    let home = Home::new();
    let (editor, mut client) = pair(&home);

    editor.freeze(true);
    client.begin("execute_code", &json!({"action": "execute", "code": COUNT}));
    editor.wait_deliveries("execute_code", 1, PATIENCE);
    client.leave();
    assert!(
        client.exit_within(seconds(15)).is_none(),
        "it stays after its client has left"
    );
    editor.wait_deliveries("execute_code", 2, PATIENCE);
    assert!(client.exit_within(PATIENCE).is_some());
}

#[test]
fn nothing_is_left_of_a_test_that_panics() {
    need_the_server!();
    let home = Home::new();
    let crashed = std::panic::catch_unwind(|| {
        let (editor, mut client) = pair(&home);
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
