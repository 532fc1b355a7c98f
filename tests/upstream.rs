//! Tests against the real upstream server, with a fake Editor behind it.
//!
//! They need `uvx`, `mcs` and `mono`, and time rather than the machine: the server's own waits are
//! 10 to 36 s, so more test threads than processors (`-- --test-threads 8`) is the fast way.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test crate: what its tests share fails the test too"
)]
#![allow(
    unreachable_pub,
    reason = "`pub` marks what the rig offers to the tests"
)]

#[path = "upstream/mod.rs"]
mod rig;
#[path = "upstream/unguarded/mod.rs"]
mod unguarded;

/// Ends the test early where the rig has no ground to stand on.
#[macro_export]
macro_rules! need_the_server {
    () => {
        if !$crate::rig::available() {
            return;
        }
    };
}
