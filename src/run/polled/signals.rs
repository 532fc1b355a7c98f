//! What the system sends, as bytes in a socket that can be waited for.

use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};
use signal_hook::{flag, low_level};
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// SIGTERM, SIGINT and SIGHUP, which ask for the end, and SIGCHLD, which says that a child has ended.
pub(super) struct Signals {
    wake: UnixStream,
    /// The last signal that asked for the end; 0 for none.
    asked: Arc<AtomicUsize>,
}

impl Signals {
    /// Watches them as long as the process lives.
    pub(super) fn watch() -> io::Result<Self> {
        let (wake, woken) = UnixStream::pair()?;
        wake.set_nonblocking(true)?;
        let asked = Arc::new(AtomicUsize::new(0));
        for signal in [SIGTERM, SIGINT, SIGHUP] {
            let number = usize::try_from(signal).unwrap_or_default();
            // Ahead of the wake-up: what was registered first runs first.
            flag::register_usize(signal, Arc::clone(&asked), number)?;
            low_level::pipe::register(signal, woken.try_clone()?)?;
        }
        low_level::pipe::register(SIGCHLD, woken)?;
        Ok(Signals { wake, asked })
    }

    /// The signal that asked for the end since the last look.
    pub(super) fn take(&mut self) -> Option<i32> {
        let mut bytes = [0; 64];
        while matches!(self.wake.read(&mut bytes), Ok(1..)) {}
        let asked = self.asked.swap(0, Ordering::Relaxed);
        i32::try_from(asked).ok().filter(|&number| number != 0)
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }
}
