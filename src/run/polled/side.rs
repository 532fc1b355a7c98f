//! Room for long lines: wider pipes, and a pipe of the relay's own beside each of them.
//!
//! A pipe holds 64 KiB as a rule. With four times as much its ends wait for each other less often (measured with answers of
//! 1 and 20 MB; sixteen times as much is slower again).
//!
//! Whoever reads or writes a pipe holds its lock while bytes are copied, so its two ends take turns. On Linux pages go from
//! one pipe to another without being copied, and the lock is held for a moment. So the relay copies out of its own
//! pipe, or into it, while the other side copies as well: a sixth less time for 20 MB.

use rustix::io::{Errno, writev};
use std::io::IoSlice;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use system::{pipe, splice, widen};

/// What makes a line a long one.
pub(super) const LONG: usize = 64 << 10;

/// A pipe of the relay's own.
pub(super) struct SidePipe {
    start: OwnedFd,
    end: OwnedFd,
    /// Bytes in there that are to be written.
    held: usize,
}

impl SidePipe {
    /// One for the pipe `fd`, which is made wider; `None` where that is no pipe, or where the system has no other to give.
    pub(super) fn beside(fd: impl AsFd) -> Option<Self> {
        let (end, start) = widen(fd).then(pipe).flatten()?;
        widen(&start).then_some(SidePipe {
            start,
            end,
            held: 0,
        })
    }

    /// Moves up to `most` bytes here from the pipe `from`. All of them are to be read from [`SidePipe::end`] then.
    ///
    /// # Errors
    /// Nothing was moved.
    pub(super) fn take(&self, from: impl AsFd, most: usize) -> Result<usize, Errno> {
        splice(from, &self.start, most)
    }

    /// Where what was taken is read from.
    pub(super) fn end(&self) -> BorrowedFd<'_> {
        self.end.as_fd()
    }

    /// How much of what is to be written is in here.
    pub(super) fn held(&self) -> usize {
        self.held
    }

    /// Writes what is in here and then `next` to the pipe `to`. What there was no room for stays in here, as far as it fits.
    ///
    /// # Errors
    /// Nothing was written.
    pub(super) fn write(&mut self, to: impl AsFd, next: &[IoSlice<'_>]) -> Result<usize, Errno> {
        match writev(&self.start, next) {
            Ok(length) => self.held += length,
            Err(Errno::AGAIN) => {}
            Err(error) => return Err(error),
        }
        let moved = splice(&self.end, to, self.held)?;
        self.held -= moved;
        Ok(moved)
    }

    /// One that nothing can be moved through.
    #[cfg(test)]
    pub(super) fn broken() -> Option<Self> {
        let (start, end) = pipe()?;
        Some(SidePipe {
            start,
            end,
            held: 0,
        })
    }
}

#[cfg(target_os = "linux")]
mod system {
    use rustix::io::Errno;
    use rustix::pipe::{PipeFlags, SpliceFlags, fcntl_getpipe_size, fcntl_setpipe_size, pipe_with};
    use std::os::fd::{AsFd, OwnedFd};

    /// Makes a pipe hold more, and tells whether it does. Anything else stays as it is, and so does a pipe whose user has
    /// no more room to give.
    pub(super) fn widen(fd: impl AsFd) -> bool {
        const SIZE: usize = 256 << 10;
        let is_wide = fcntl_getpipe_size(&fd).is_ok_and(|size| size >= SIZE);
        is_wide || fcntl_setpipe_size(&fd, SIZE).is_ok()
    }

    /// A new pipe's end and start.
    pub(super) fn pipe() -> Option<(OwnedFd, OwnedFd)> {
        pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK).ok()
    }

    /// Moves bytes from one pipe to another, and waits for neither.
    pub(super) fn splice(from: impl AsFd, to: impl AsFd, most: usize) -> Result<usize, Errno> {
        rustix::pipe::splice(from, None, to, None, most, SpliceFlags::NONBLOCK)
    }
}

/// Other systems widen their pipes by themselves, if at all.
#[cfg(not(target_os = "linux"))]
mod system {
    use rustix::io::Errno;
    use std::os::fd::{AsFd, OwnedFd};

    pub(super) fn widen(_: impl AsFd) -> bool {
        false
    }

    pub(super) fn pipe() -> Option<(OwnedFd, OwnedFd)> {
        None
    }

    pub(super) fn splice(_: impl AsFd, _: impl AsFd, _: usize) -> Result<usize, Errno> {
        Err(Errno::NOSYS)
    }
}
