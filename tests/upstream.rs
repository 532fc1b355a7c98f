//! Tests against the real upstream server, with a fake Editor behind it.
//!
//! They need `uvx`, `mcs` and `mono`. How they share the time is told in `upstream/together.rs`.
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

#[path = "upstream/guarded/mod.rs"]
mod guarded;
#[path = "upstream/repro.rs"]
mod repro;
#[path = "upstream/mod.rs"]
mod rig;
#[path = "upstream/together.rs"]
mod together;
#[path = "upstream/unguarded/mod.rs"]
mod unguarded;

/// Where a relay starts the server without faults: this executable, told to run this alone.
#[test]
#[ignore = "a server, which other tests start"]
fn plain_server() {
    rig::plain_server::main();
}

/// All scenarios, the long ones first.
fn all() -> impl Iterator<Item = together::Scenario> {
    let lists = [
        guarded::outcome::ALL,
        repro::ALL,
        unguarded::delivery::ALL,
        guarded::delivery::ALL,
        guarded::binding::ALL,
        guarded::ends::ALL,
        guarded::turns::ALL,
        guarded::doctor::ALL,
        unguarded::instances::ALL,
        guarded::instances::ALL,
        guarded::session::ALL,
        guarded::versions::ALL,
        guarded::modes::ALL,
        unguarded::snippets::ALL,
        unguarded::assets::ALL,
        unguarded::actions::ALL,
    ];
    lists.into_iter().flatten().copied()
}
