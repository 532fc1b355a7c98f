//! The upstream's process tree on Unix: a process group of its own, and on Linux a signal when the
//! relay dies.

use super::{StartError, Upstream};
use rustix::process::{Pid, Signal, kill_process_group};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// The upstream and all it started, as a process group. Dropping it kills what is left.
#[derive(Debug)]
pub struct Tree {
    group: Option<Pid>,
}

impl Tree {
    /// Asks every process of the tree to end. Measured: uvx passes SIGTERM on to the Python server.
    pub fn terminate(&self) {
        if let Some(group) = self.group {
            // The group may be empty by now.
            let _gone = kill_process_group(group, Signal::TERM);
        }
    }

    /// Ends every process of the tree. Once only: the number of an empty group may be given to another.
    pub fn kill(&mut self) {
        if let Some(group) = self.group.take() {
            let _gone = kill_process_group(group, Signal::KILL);
        }
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Starts the upstream. On Linux the calling thread must live as long as the process: the parent-death
/// signal is tied to the thread.
///
/// # Errors
/// [`StartError::Spawn`] when the system would not start it.
pub fn spawn(program: &Path, arguments: &[String]) -> Result<Upstream, StartError> {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    die_with_parent(&mut command);
    let fail = |source| StartError::Spawn {
        program: program.to_owned(),
        source,
    };
    let mut child = command.spawn().map_err(fail)?;
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
        return Err(fail(std::io::Error::other("its pipes are missing")));
    };
    Ok(Upstream {
        stdin,
        stdout,
        stderr,
        tree: Tree { group },
        process: child,
    })
}

/// SIGTERM for the child when the relay dies, however it dies. Not SIGKILL: a killed uvx leaves its
/// Python server behind, re-sending (measured).
#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
fn die_with_parent(command: &mut Command) {
    use rustix::process::{getpid, getppid, set_parent_process_death_signal};
    let relay = getpid();
    let in_child = move || {
        set_parent_process_death_signal(Some(Signal::TERM))?;
        // The relay may have died before the signal was asked for.
        if getppid() != Some(relay) {
            return Err(std::io::Error::other("the relay is gone"));
        }
        Ok(())
    };
    // SAFETY: between fork and exec the closure makes three system calls through rustix, which are
    // async-signal-safe, and takes no lock; the error path allocates only when the relay is gone.
    unsafe {
        command.pre_exec(in_child);
    }
}

/// No such signal exists here: when the relay itself is killed, the server sees its input end, and an
/// idle one leaves within a second.
#[cfg(not(target_os = "linux"))]
fn die_with_parent(_: &mut Command) {}
