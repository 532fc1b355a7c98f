//! Surroundings without files: no Editor is open, and keys are counted.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use vrc_mcp_proxy::behaviors::Surroundings;
use vrc_mcp_proxy::instances::Editor;

/// No Editor, no folder.
#[derive(Default)]
pub(crate) struct NoEditors {
    keys: AtomicU64,
}

impl Surroundings for NoEditors {
    fn editors(&self) -> Vec<Editor> {
        Vec::new()
    }

    fn holds_folder(&self, _: &Path, _: &str) -> Option<bool> {
        None
    }

    fn fresh_key(&self) -> String {
        format!("{:032x}", self.keys.fetch_add(1, Ordering::Relaxed))
    }
}
