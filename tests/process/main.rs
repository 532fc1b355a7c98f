//! The real binary between a client and a scripted server, as processes.
//!
//! [`harness`] starts the relay and plays the client; [`child`] is the server, which is this very
//! executable started a second time. Nothing here waits by sleeping: a test waits for a line, for a
//! pipe to end, or for a lock that a process holds for as long as it lives.
#![allow(clippy::panic, clippy::expect_used, reason = "tests")]

mod child;
mod close;
mod death;
mod editors;
mod faults;
mod harness;
mod passing;
mod pressure;
#[cfg(unix)]
#[path = "../support/program.rs"]
mod program;
#[path = "../support/random.rs"]
mod random;
mod soak;
mod start;
#[cfg(unix)]
mod stdio;
mod tree;
mod turns;
#[cfg(windows)]
mod windows;

/// Where the relay starts its server: this executable, told to run this alone.
#[test]
#[ignore = "the scripted server, which the other tests start"]
fn child_entry() {
    child::main();
}
