//! Tests with real clients: the official Python and TypeScript SDKs and the Inspector start the relay as a
//! user's client would, in front of the real server with a fake Editor, and of small servers made with the
//! Python SDK.
//!
//! They need what `tests/upstream.rs` needs, and `uv`, `node` and `npm`. The scripts under `tests/clients/`
//! tell what they saw; what that has to be stands here only.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test crate: what its tests share fails the test too"
)]
#![allow(
    unreachable_pub,
    reason = "`pub` marks what the rig and the harness offer to the tests"
)]

#[path = "clients/harness.rs"]
mod harness;
#[path = "clients/inspector.rs"]
mod inspector;
#[allow(dead_code, reason = "other tests use what these leave out")]
#[path = "upstream/mod.rs"]
mod rig;
#[path = "clients/small.rs"]
mod small;
#[path = "clients/unity.rs"]
mod unity;
#[path = "clients/unseen.rs"]
mod unseen;
