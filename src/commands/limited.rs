//! Running a program that must not take longer than it may.

use std::io;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

/// Why a program gave no answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum NoAnswer {
    /// It could not be started.
    #[error("it cannot be started: {0}")]
    NotStarted(#[from] io::Error),
    /// It was ended after so long.
    #[error("it did not answer within {0:?}")]
    TooLong(Duration),
}

/// Runs `command` without input and takes what it prints. What still runs after `limit` is killed, with all that it
/// started.
pub(super) fn run(command: &mut Command, limit: Duration) -> Result<Output, NoAnswer> {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    let child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let id = child.id();
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let _too_late = sender.send(child.wait_with_output());
    });
    match receiver.recv_timeout(limit) {
        Ok(output) => Ok(output?),
        Err(_) => {
            kill_tree(id);
            Err(NoAnswer::TooLong(limit))
        }
    }
}

#[cfg(unix)]
fn kill_tree(id: u32) {
    use rustix::process::{Pid, Signal, kill_process_group};
    // Nobody has waited for the leader yet, so its number still is the group's.
    if let Some(group) = i32::try_from(id).ok().and_then(Pid::from_raw) {
        let _gone = kill_process_group(group, Signal::KILL);
    }
}

#[cfg(windows)]
fn kill_tree(id: u32) {
    let mut taskkill = Command::new("taskkill");
    taskkill.args(["/T", "/F", "/PID", &id.to_string()]);
    let _gone = taskkill
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::time::Instant;

    fn shell(script: &str, limit: Duration) -> Result<Output, NoAnswer> {
        run(Command::new("sh").args(["-c", script]), limit)
    }

    #[test]
    fn a_quick_one_is_heard_out_and_a_slow_one_is_ended() {
        let quick = shell("echo said; exit 3", Duration::from_secs(60)).expect("an answer");
        assert_eq!(
            (quick.status.code(), &*quick.stdout),
            (Some(3), &b"said\n"[..])
        );
        let begun = Instant::now();
        // The pipes stay open in a process that the first one started.
        let slow = shell("sleep 600 & wait", Duration::from_millis(200));
        assert!(matches!(slow, Err(NoAnswer::TooLong(_))));
        assert!(begun.elapsed() < Duration::from_secs(60));
        let none = run(
            &mut Command::new("/no/such/program"),
            Duration::from_secs(1),
        );
        assert!(matches!(none, Err(NoAnswer::NotStarted(_))));
    }
}
