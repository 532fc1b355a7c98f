//! The real surroundings of the core: heartbeat files, folders, random keys.

use crate::behaviors::Surroundings;
use crate::instances::{Editor, Heartbeats};
use std::path::Path;

/// Surroundings on the file system.
pub struct Files {
    heartbeats: Heartbeats,
}

impl Files {
    /// Reads heartbeats through `heartbeats`.
    pub fn new(heartbeats: Heartbeats) -> Self {
        Files { heartbeats }
    }
}

impl Surroundings for Files {
    fn editors(&self) -> Vec<Editor> {
        self.heartbeats.read()
    }

    fn is_folder(&self, path: &Path) -> Option<bool> {
        match std::fs::metadata(path) {
            Ok(found) => Some(found.is_dir()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Some(false),
            Err(_) => None,
        }
    }

    fn fresh_key(&self) -> String {
        uuid::Uuid::new_v4().simple().to_string()
    }
}
