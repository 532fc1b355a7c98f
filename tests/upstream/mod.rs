//! The rig for tests against the real upstream server: a fake Unity Editor, a home that server and
//! Editor share, and an MCP client that speaks lines.
//!
//! ```text
//! Client ──stdio──> (relay ──stdio──>) real server ──TCP──> Editor ──stdio──> C# host (mono)
//!                                          └── reads ~/.unity-mcp <── heartbeat ──┘
//! ```
//!
//! Nothing here sleeps to be in step: every wait is a condition variable with a limit. Whatever a
//! test starts is ended by `Drop`, so a panicking test leaves no process behind.

pub mod assets;
pub mod client;
pub mod csharp_host;
pub mod editor;
pub mod home;
pub mod main_thread;
pub mod plain_server;
pub mod scenes;
pub mod socket;
pub mod state;
pub mod tools;
pub mod tree;

use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// What the tests need on PATH beside the toolchain: uv's runner, the C# compiler and its runtime.
const NEEDED: [&str; 3] = ["uvx", "mcs", "mono"];

/// Whether the test of this name can run; see [`skip`].
pub fn available(test: &str) -> bool {
    static MISSING: OnceLock<Vec<&str>> = OnceLock::new();
    let missing = MISSING.get_or_init(|| {
        NEEDED
            .into_iter()
            .filter(|program| !runs(program))
            .collect()
    });
    missing.is_empty() || skip(test, &format!("not on PATH: {missing:?}"))
}

/// Says that a test is skipped, and why, in a line that libtest does not swallow; always `false`.
/// With `VRC_MCP_PROXY_REQUIRE_REAL=1` that is a failure instead.
pub fn skip(test: &str, why: &str) -> bool {
    assert!(
        std::env::var("VRC_MCP_PROXY_REQUIRE_REAL").as_deref() != Ok("1"),
        "VRC_MCP_PROXY_REQUIRE_REAL=1, but {why}"
    );
    // Not `eprintln!`: the test harness keeps that to itself for a test that passes.
    let line = format!("SKIPPED {test}: {why}\n");
    std::io::stderr().write_all(line.as_bytes()).unwrap();
    false
}

/// Whether this program is on PATH and says its version.
pub fn runs(program: &str) -> bool {
    let version = Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    version.is_ok_and(|status| status.success())
}
