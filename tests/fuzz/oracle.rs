//! The other side: the SDK that the server is made with, reading what was sent, forwarded and answered.

use serde_json::{Value, json};
use std::io::{BufWriter, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};

/// The SDK's version that the pinned server 10.1.0 runs with.
const SDK: &str = "mcp==1.30.0";
/// When this is set, the test may not be passed over.
const REQUIRED: &str = "VRC_MCP_PROXY_REQUIRE_REAL";

/// One line of a client and what became of it.
pub(crate) struct Record {
    pub(crate) sent: Vec<u8>,
    pub(crate) forwarded: Vec<Vec<u8>>,
    pub(crate) answered: Vec<Vec<u8>>,
}

/// A running `oracle.py`.
pub(crate) struct Oracle {
    process: Child,
    records: BufWriter<ChildStdin>,
}

impl Oracle {
    /// Starts it; `None` when it cannot be had here and need not.
    pub(crate) fn start() -> Option<Self> {
        let line = [
            "run",
            "--quiet",
            "--no-project",
            "--with",
            SDK,
            "--python",
            ">=3.10",
            "python",
        ];
        let mut probe = Command::new("uv");
        probe.args(line).args(["-c", "pass"]).stdin(Stdio::null());
        if !probe.output().is_ok_and(|output| output.status.success()) {
            assert!(
                std::env::var_os(REQUIRED).is_none(),
                "{REQUIRED} is set, and uv cannot get {SDK}"
            );
            tell(&format!("SKIPPED: hostile lines, without uv and {SDK}"));
            return None;
        }
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fuzz/oracle.py");
        let mut process = Command::new("uv")
            .args(line)
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("uv starts");
        let records = BufWriter::new(process.stdin.take().expect("a pipe"));
        Some(Oracle { process, records })
    }

    /// Hands it one line's record.
    pub(crate) fn look_at(&mut self, record: &Record) {
        let list = |lines: &[Vec<u8>]| lines.iter().map(hex::encode).collect::<Vec<_>>();
        let record = json!([
            hex::encode(&record.sent),
            list(&record.forwarded),
            list(&record.answered)
        ]);
        writeln!(self.records, "{record}").expect("the oracle reads");
    }

    /// Waits for its verdict.
    pub(crate) fn finish(mut self) -> Value {
        drop(self.records);
        let mut verdict = String::new();
        let mut stdout = self.process.stdout.take().expect("a pipe");
        stdout.read_to_string(&mut verdict).expect("a verdict");
        assert!(self.process.wait().expect("it ends").success());
        serde_json::from_str(&verdict).expect("a verdict")
    }
}

/// A line that the test harness does not keep to itself.
pub(crate) fn tell(line: &str) {
    let _nobody_reads = writeln!(std::io::stderr(), "{line}");
}
