//! The upstream's process tree on Windows: a Job Object that dies with its owner.

use super::{StartError, Upstream};
use process_wrap::tokio::{CommandWrap, CreationFlags, JobObject, KillOnDrop};
use std::path::Path;
use std::process::Stdio;
use tokio::sync::{mpsc, oneshot};
use windows::Win32::System::Threading::CREATE_NO_WINDOW;

/// The upstream and all it started, as a Job Object.
#[derive(Clone, Debug)]
pub struct Tree {
    kill: mpsc::UnboundedSender<()>,
}

impl Tree {
    /// Windows knows no polite signal for a process without a window: its closed input is the request.
    pub fn terminate(&self) {}

    /// Ends every process of the tree.
    pub fn kill(&self) {
        let _gone = self.kill.send(());
    }
}

/// Starts the upstream inside a kill-on-close job, without a console window.
///
/// # Errors
/// [`StartError::Spawn`] when the system would not start it.
pub fn spawn(program: &Path, arguments: &[String]) -> Result<Upstream, StartError> {
    let mut command = CommandWrap::with_new(program, |command| {
        command
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
    });
    // KillOnDrop is what makes the job kill-on-close; JobObject must see the flags set before it.
    command
        .wrap(CreationFlags(CREATE_NO_WINDOW))
        .wrap(KillOnDrop)
        .wrap(JobObject);
    let fail = |source| StartError::Spawn {
        program: program.to_owned(),
        source,
    };
    let mut child = command.spawn().map_err(fail)?;
    let pipes = (
        child.stdin().take(),
        child.stdout().take(),
        child.stderr().take(),
    );
    let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
        return Err(fail(std::io::Error::other("its pipes are missing")));
    };
    let (end, ended) = oneshot::channel();
    let (kill, mut kills) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        let status = loop {
            tokio::select! {
                status = child.wait() => break status,
                Some(()) = kills.recv() => {
                    let _already_gone = child.start_kill();
                }
            }
        };
        if let Ok(status) = status {
            let _nobody_waits = end.send(status);
        }
    });
    Ok(Upstream {
        stdin,
        stdout,
        stderr,
        tree: Tree { kill },
        ended,
    })
}
