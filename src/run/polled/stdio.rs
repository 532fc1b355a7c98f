//! The client's two pipes, or whatever stands in their place.

use super::writer::Writer;
use rustix::fs::{FileType, OFlags, fcntl_getfl, fcntl_setfl, fstat};
use rustix::stdio;
use std::io::{self, IsTerminal};
use std::os::fd::{BorrowedFd, OwnedFd};

/// Whether nobody but a person can be on the other side.
pub(in crate::run) fn stdin_is_terminal() -> bool {
    io::stdin().is_terminal()
}

/// How the process's pipes stood before they were told not to wait.
///
/// The flag that does it belongs to the open description, which the process that started this one may
/// share and go on using: it is put back at the end.
pub(in crate::run) struct Flags {
    before: [Option<OFlags>; 2],
}

impl Flags {
    /// Notes how stdin and stdout stand.
    pub(in crate::run) fn note() -> Self {
        Flags {
            before: [stdio::stdin(), stdio::stdout()].map(|fd| fcntl_getfl(fd).ok()),
        }
    }

    /// Puts back what was noted.
    pub(in crate::run) fn put_back(&self) {
        for (fd, flags) in [stdio::stdin(), stdio::stdout()]
            .into_iter()
            .zip(self.before)
        {
            let _closed = flags.map(|flags| fcntl_setfl(fd, flags));
        }
    }
}

/// A copy of standard input. `None` when it cannot be read.
///
/// A file or a terminal is read as it is: the system says when something is there.
pub(super) fn stdin() -> Option<OwnedFd> {
    let fd = stdio::stdin();
    if matches!(kind(fd), FileType::Fifo | FileType::Socket) {
        unblock(fd);
    }
    fd.try_clone_to_owned().ok()
}

/// The writer to standard output. `None` when there is none.
pub(super) fn stdout() -> Option<Writer> {
    let fd = stdio::stdout();
    let at_once = match kind(fd) {
        FileType::Fifo | FileType::Socket => unblock(fd),
        // Never keeps anybody waiting for a reader.
        FileType::RegularFile => true,
        _ => false,
    };
    Some(Writer::new(fd.try_clone_to_owned().ok()?, at_once))
}

fn kind(fd: BorrowedFd<'_>) -> FileType {
    fstat(fd).map_or(FileType::Unknown, |stat| {
        FileType::from_raw_mode(stat.st_mode)
    })
}

/// Whether reads and writes return at once from now on.
fn unblock(fd: BorrowedFd<'_>) -> bool {
    fcntl_getfl(fd)
        .and_then(|flags| fcntl_setfl(fd, flags | OFlags::NONBLOCK))
        .is_ok()
}
