//! The upstream's process tree on Windows: a Job Object that dies with its owner.

use super::{StartError, Upstream};
use process_wrap::tokio::{CommandWrap, CreationFlags, JobObject, KillOnDrop};
use std::path::Path;
use std::process::Stdio;
use tokio::sync::oneshot;
use windows::Win32::System::Threading::CREATE_NO_WINDOW;

/// The upstream and all it started, as a Job Object. Dropping it kills what is left.
#[derive(Debug)]
pub struct Tree {
    kill: Option<oneshot::Sender<()>>,
}

impl Tree {
    /// Windows knows no polite signal for a process without a window: its closed input is the request.
    pub fn terminate(&self) {}

    /// Ends every process of the tree.
    pub fn kill(&mut self) {
        if let Some(kill) = self.kill.take() {
            let _gone = kill.send(());
        }
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
    // JobObject starts the process suspended, adding that to the flags, and lets it run once it is in the job.
    // It alone would leave the job's processes behind when the relay is killed: KillOnDrop makes the job
    // kill-on-close. (process-wrap 10.0; the order of the three does not matter.)
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
    let (kill, mut killed) = oneshot::channel();
    tokio::spawn(async move {
        // The first process alone: the job's own wait goes on until nothing of the tree is left.
        let by_itself = tokio::select! {
            status = child.inner_mut().wait() => Some(status),
            _told_or_dropped = &mut killed => None,
        };
        let told = by_itself.is_none();
        let status = match by_itself {
            Some(status) => status,
            None => {
                let _already_gone = child.start_kill();
                child.inner_mut().wait().await
            }
        };
        if let Ok(status) = status {
            let _nobody_waits = end.send(status);
        }
        if !told {
            // What the first process left behind lives in the job until the tree is killed.
            let _told_or_dropped = killed.await;
            let _nothing_left = child.start_kill();
        }
    });
    Ok(Upstream {
        stdin,
        stdout,
        stderr,
        tree: Tree { kill: Some(kill) },
        process: ended,
    })
}
