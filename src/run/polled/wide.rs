//! Room in the pipes that long lines pass.
//!
//! A pipe holds 64 KiB, and both of its ends take turns at that. With four times as much a long line takes a fifth
//! less time (measured with answers of 1 and 20 MB; sixteen times as much is slower again).

use std::os::fd::AsFd;

/// A line from this length on makes its pipe wider.
pub(super) const LONG: usize = 64 << 10;

/// Makes a pipe hold more. Anything else stays as it is, and so does a pipe whose user has no more room to give.
#[cfg(target_os = "linux")]
pub(super) fn widen(fd: impl AsFd) {
    use rustix::pipe::{fcntl_getpipe_size, fcntl_setpipe_size};
    const SIZE: usize = 256 << 10;
    if fcntl_getpipe_size(&fd).is_ok_and(|size| size < SIZE) {
        let _as_it_was = fcntl_setpipe_size(&fd, SIZE);
    }
}

/// Other systems widen their pipes by themselves, if at all.
#[cfg(not(target_os = "linux"))]
pub(super) fn widen(_: impl AsFd) {}
