//! Programs that a test makes and starts.
//!
//! Another process writes them. A file that is open for writing cannot be started ("text file busy"), and a child that
//! another test's thread starts meanwhile holds all files that this process has open until it is a program of its own.

use std::path::Path;
use std::process::Command;

/// Writes a shell script that may be run.
pub(crate) fn script(path: &Path, text: &str) {
    let mut write = Command::new("/bin/sh");
    write.args([
        "-c",
        "printf %s \"$1\" > \"$2\" && chmod 755 \"$2\"",
        "sh",
        text,
    ]);
    assert!(write.arg(path).status().expect("a shell").success());
}
