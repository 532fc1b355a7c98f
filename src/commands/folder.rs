//! A folder for a while.

use super::Failure;
use std::path::{Path, PathBuf};

/// A fresh folder among the system's temporary ones; it goes with the value.
pub(super) struct TemporaryFolder(PathBuf);

impl TemporaryFolder {
    /// Makes one.
    pub(super) fn new() -> Result<Self, Failure> {
        let name = format!("vrc-mcp-proxy-{}", uuid::Uuid::new_v4().simple());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path).map_err(Failure::io(format!("{path:?} cannot be made")))?;
        Ok(TemporaryFolder(path))
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        // Nothing better can be done about a folder that will not go.
        let _left_behind = std::fs::remove_dir_all(&self.0);
    }
}
