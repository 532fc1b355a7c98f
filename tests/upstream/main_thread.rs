//! The Editor's main thread: the heartbeat and the commands share it, so a command that takes long
//! also silences the heartbeat.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::state::{Command, Execution, Fault, Life, Shared, Verdict};
use super::tools::Tools;

const BEAT: Duration = Duration::from_millis(500);
/// For waits that end with a change only.
const LONG: Duration = Duration::from_secs(3600);

/// Starts the thread; it ends when the Editor is gone.
pub fn start(shared: &Arc<Shared>) -> JoinHandle<()> {
    let shared = Arc::clone(shared);
    std::thread::spawn(move || {
        let mut tools = Tools::new(Arc::clone(&shared));
        while let Some(command) = next(&shared) {
            run(&shared, &mut tools, &command);
        }
    })
}

/// Keeps the heartbeat until a command is there; `None` at the end.
fn next(shared: &Shared) -> Option<Command> {
    let mut beat = Instant::now();
    let mut state = shared.state();
    loop {
        match state.life {
            Life::Gone => return None,
            Life::Up if !state.frozen => {}
            _ => {
                state = shared.wait(state, LONG);
                continue;
            }
        }
        let now = Instant::now();
        if now >= beat {
            state.write_heartbeat(&shared.site);
            beat = now + BEAT;
        }
        if let Some(command) = state.queue.pop_front() {
            return Some(command);
        }
        state = shared.wait(state, beat - now);
    }
}

fn run(shared: &Shared, tools: &mut Tools, command: &Command) {
    let (domain, delay, canned) = {
        let mut state = shared.state();
        let delay = state.take_fault(&command.kind, |fault| matches!(fault, Fault::Delay(_)));
        let canned = state.take_fault(&command.kind, |fault| {
            matches!(fault, Fault::Reply(_) | Fault::RunThenReply(_))
        });
        (state.domain, delay, canned)
    };
    if let Some(Fault::Delay(span)) = delay {
        // Blocked, and yet gone at once when the domain ends.
        shared.wait_until(span, |state| state.domain != domain);
    }
    if shared.state().domain != domain {
        return;
    }
    let ran = !matches!(canned, Some(Fault::Reply(_)));
    let outcome = if ran {
        status(tools.run(&command.kind, &command.params))
    } else {
        Value::Null
    };
    let answer = match canned {
        Some(Fault::Reply(answer) | Fault::RunThenReply(answer)) => answer,
        _ => outcome,
    };
    let mut state = shared.state();
    if ran {
        state.executions.push(Execution {
            kind: command.kind.clone(),
            answer: answer.clone(),
        });
    }
    let verdict = match state.take_fault(&command.kind, |fault| matches!(fault, Fault::DropAfter)) {
        Some(_) => Verdict::Drop,
        None => Verdict::Send(answer),
    };
    state.verdicts.insert(command.number, verdict);
    drop(state);
    shared.changed.notify_all();
}

/// The bridge's envelope around a tool's result or a handler's exception.
fn status(outcome: Result<Value, String>) -> Value {
    match outcome {
        Ok(result) => json!({"status": "success", "result": result}),
        Err(error) => {
            json!({"status": "error", "error": error, "command": "Unknown (error during processing)"})
        }
    }
}
