//! Ends: of a call, of the client, of the relay.

use super::*;

scenarios![
    a_client_that_leaves_ends_the_re_sends,
    a_client_may_leave_a_hung_call,
    a_killed_relay_leaves_no_server_behind,
    a_cancelled_call_is_not_answered,
    the_watchdog_answers_once,
];

fn a_client_that_leaves_ends_the_re_sends(home: &Home) {
    let (editor, client) = pair(home);
    editor.arm("execute_code", 1000, Fault::reloading());
    leave_with_a_call(home, &editor, client, 3);
}

fn a_client_may_leave_a_hung_call(home: &Home) {
    let (editor, client) = pair(home);
    editor.freeze(true);
    leave_with_a_call(home, &editor, client, 1);
}

/// Closes the relay's input when a call has been delivered so often and is not answered.
fn leave_with_a_call(home: &Home, editor: &Editor, mut client: Client, delivered: usize) {
    let tree = server_tree(home);
    let hung = client.begin("execute_code", &execute("return 1;"));
    editor.wait_deliveries("execute_code", delivered, PATIENCE);

    let left = Instant::now();
    client.leave();
    let status = client.exit_within(PATIENCE);
    let took = left.elapsed();
    assert_eq!(status.and_then(|status| status.code()), Some(0));
    assert!(took < seconds(6), "the relay stayed for {took:?}");
    // Its parent has seen the relay's end a moment ago.
    assert_eq!(tree.left_after(seconds(1)), Vec::<&str>::new());
    assert_eq!(home.server_processes(), []);
    assert!(editor.quiet_for("execute_code", seconds(2)));
    let last = editor.delivered("execute_code").pop().unwrap();
    assert!(last.at.saturating_duration_since(left) < seconds(7));

    let told = &client.answers(hung)[..];
    assert_eq!(told.len(), 1, "{told:?}");
    let text = refusal(&Answer(told[0].clone()), "relay", "upstream_ended", true);
    says(&text, &["may have run"]);
    // Nearly always it hangs and is ended. Seldom it gives up by itself just before that.
    let ways = ["the client closed its stream", "ended with status 0"];
    assert!(ways.iter().any(|how| text.contains(how)), "{text}");
}

/// The relay, uvx and Python.
fn server_tree(home: &Home) -> Tree {
    let tree = Tree::of(home);
    let lines = tree.lines();
    assert!(!cfg!(target_os = "linux") || lines.len() >= 3, "{lines:?}");
    tree
}

fn a_killed_relay_leaves_no_server_behind(home: &Home) {
    let (editor, mut client) = pair(home);
    let tree = server_tree(home);
    editor.freeze(true);
    client.begin("execute_code", &execute("return 1;"));
    editor.wait_deliveries("execute_code", 1, PATIENCE);

    client.kill();
    assert_eq!(tree.left_after(seconds(10)), Vec::<&str>::new());
    if cfg!(target_os = "linux") {
        assert_eq!(home.server_processes(), []);
    }
    assert_eq!(deliveries(&editor), 1);
}

fn a_cancelled_call_is_not_answered(home: &Home) {
    let (editor, mut client) = pair(home);
    let tally = Tally::new(home, "cancelled");
    editor.arm("execute_code", 1, Fault::Delay(seconds(3)));
    let cancelled = client.begin("execute_code", &execute(&tally.snippet("return 1;")));
    editor.wait_deliveries("execute_code", 1, PATIENCE);
    client.cancel(cancelled);
    // It names its Editor, so it waits. One that goes out beside the cancelled call may come back as its record: the
    // server looks for Editors at the end of a command too.
    let next = json!({"action": "execute", "code": "return 5;", "unity_instance": editor.id()});
    assert_eq!(client.call("execute_code", &next).value(), 5);
    let dropped = format!("dropped the answer to {cancelled}: the client cancelled it");
    client.wait_stderr(&dropped, PATIENCE);
    assert!(client.answers(cancelled).is_empty());
    assert_eq!(tally.runs(), 1, "a cancellation does not stop the Editor");
}

fn the_watchdog_answers_once(home: &Home) {
    let launch = Launch::relay().env("VRC_MCP_PROXY_EXECUTE_TIMEOUT_S", "8");
    let (editor, mut client) = pair_with(home, &launch);
    let tally = Tally::new(home, "late");
    editor.arm("execute_code", 1, Fault::Delay(seconds(12)));
    let late = client.begin("execute_code", &execute(&tally.snippet("return 1;")));
    let answer = client.answer(late);
    let text = refusal(&answer, "execute_code_watchdog", "no_answer_in_time", true);
    says(
        &text,
        &["for 8 s", "compiler:\"codedom\"", "verify on disk"],
    );
    let dropped = format!("dropped the answer to {late}: it came after the time limit");
    client.wait_stderr(&dropped, PATIENCE);
    assert_eq!(client.answers(late).len(), 1);
    assert_eq!(tally.runs(), 1);
    assert_eq!(client.code("return 5;").value(), 5);
}
