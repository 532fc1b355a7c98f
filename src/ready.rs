//! Waiting for a standard stream that does not block.
//!
//! Whether it blocks is a matter of the open description, which other processes may share and may have
//! changed.

/// Waits until `stream` can be written.
#[cfg(unix)]
pub(crate) fn to_write(stream: &impl std::os::fd::AsFd) {
    use rustix::event::{PollFd, PollFlags, poll};
    // An error shows again in what is tried next.
    let _ready = poll(&mut [PollFd::new(stream, PollFlags::OUT)], None);
}

/// Windows has no such streams.
#[cfg(not(unix))]
pub(crate) fn to_write<T>(_: &T) {
    std::thread::yield_now();
}
