//! The real surroundings of the core: heartbeat files, folders, random keys.

use crate::behaviors::Surroundings;
use crate::binding::path::{Platform, slashed};
use crate::call::fold;
use crate::instances::{Editor, Heartbeats};
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Surroundings on the file system.
pub struct Files {
    heartbeats: Heartbeats,
    moment: Option<Moment>,
    keys: Mutex<Keys>,
}

/// How many keys are made of what the system gives at once: asking it takes longer than all the rest of a key.
const BLOCK: usize = 64;
/// A key's random bytes.
const KEY: usize = 16;

/// Random bytes for keys. None is used twice.
struct Keys {
    block: [u8; BLOCK * KEY],
    used: usize,
}

impl Default for Keys {
    fn default() -> Self {
        let block = [0; BLOCK * KEY];
        Keys {
            used: block.len(),
            block,
        }
    }
}

impl Keys {
    /// The next key; `None` when the system gives no random bytes.
    fn next(&mut self) -> Option<String> {
        if self.used == self.block.len() {
            getrandom::fill(&mut self.block).ok()?;
            self.used = 0;
        }
        let bytes = self.block.get(self.used..self.used + KEY)?;
        self.used += KEY;
        let mut digits = [0; 2 * KEY];
        hex::encode_to_slice(bytes, &mut digits).ok()?;
        std::str::from_utf8(&digits).ok().map(str::to_owned)
    }
}

/// A moment, in which the heartbeats are looked at once: lines that came with one read share the look. A client that
/// changes something and then sends a line sends it after that read.
#[derive(Clone, Default)]
pub struct Moment(Arc<Look>);

#[derive(Default)]
struct Look {
    /// Whether somebody may ask again in this moment. Fifty Editors are not copied for nobody.
    shared: AtomicBool,
    /// Whether the next look relies on nothing that an earlier one saw.
    anew: AtomicBool,
    seen: Mutex<Option<Vec<Editor>>>,
}

impl Moment {
    /// The next look is a new one, for so many lines.
    pub fn pass(&self, lines: usize) {
        let shares = |shared| self.0.shared.store(shared, Ordering::Relaxed);
        // Most moments are one line's, and nothing is kept of them.
        if lines > 1 {
            *self.seen() = None;
            shares(true);
        } else {
            shares(false);
        }
    }

    /// The next look relies on nothing that an earlier one saw (see [`Heartbeats::look_anew`]).
    pub fn look_anew(&self) {
        self.0.anew.store(true, Ordering::Relaxed);
    }

    fn seen(&self) -> MutexGuard<'_, Option<Vec<Editor>>> {
        // Replaced whole, so a panic leaves nothing half done.
        let seen = self.0.seen.lock();
        seen.unwrap_or_else(PoisonError::into_inner)
    }
}

impl Files {
    /// Reads heartbeats through `heartbeats`, afresh each time.
    pub fn new(heartbeats: Heartbeats) -> Self {
        Files {
            heartbeats,
            moment: None,
            keys: Mutex::default(),
        }
    }

    /// Reads heartbeats through `heartbeats`, once in a moment. The moment is the caller's to pass.
    pub fn by_moments(heartbeats: Heartbeats) -> (Self, Moment) {
        let moment = Moment::default();
        let files = Files {
            heartbeats,
            moment: Some(moment.clone()),
            keys: Mutex::default(),
        };
        (files, moment)
    }
}

impl Surroundings for Files {
    fn editors(&self) -> Vec<Editor> {
        let moment = self.moment.as_ref();
        let read = || {
            if let Some(Moment(look)) = moment
                && look.anew.load(Ordering::Relaxed)
            {
                look.anew.store(false, Ordering::Relaxed);
                self.heartbeats.look_anew();
            }
            self.heartbeats.read()
        };
        let is_shared = |moment: &&Moment| moment.0.shared.load(Ordering::Relaxed);
        match moment.filter(is_shared) {
            Some(moment) => moment.seen().get_or_insert_with(read).clone(),
            None => read(),
        }
    }

    fn holds_folder(&self, root: &Path, below: &str) -> Option<bool> {
        // The file system's own idea of equal names, such as composed and decomposed letters.
        if root.join(below).is_dir() {
            return Some(true);
        }
        let mut folders = vec![root.to_owned()];
        for name in below.split('/').filter(|name| !matches!(*name, "" | ".")) {
            let name = fold(name);
            let mut next = Vec::new();
            for folder in &folders {
                next.extend(folders_named(folder, &name).ok()?);
            }
            folders = next;
        }
        Some(!folders.is_empty())
    }

    fn real_path(&self, folder: &Path) -> Option<String> {
        let real = folder.canonicalize().ok()?;
        Some(slashed(&real.to_string_lossy(), Platform::HERE))
    }

    fn fresh_key(&self) -> String {
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        let key = keys.next();
        key.unwrap_or_else(|| uuid::Uuid::new_v4().simple().to_string())
    }
}

/// The folders in `folder` with this name, which is folded; links to folders count.
fn folders_named(folder: &Path, name: &str) -> Result<Vec<PathBuf>, Error> {
    let mut found = Vec::new();
    for entry in folder.read_dir()? {
        let entry = entry?;
        if entry.file_name().to_str().map(fold).as_deref() != Some(name) {
            continue;
        }
        let path = entry.path();
        match path.metadata() {
            Ok(metadata) if metadata.is_dir() => found.push(path),
            Ok(_) => {}
            // A link to nothing.
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn holds(root: &Path, below: &str) -> Option<bool> {
        Files::new(Heartbeats::new(None)).holds_folder(root, below)
    }

    #[test]
    fn no_two_keys_are_alike() {
        let files = Files::new(Heartbeats::new(None));
        let keys: std::collections::BTreeSet<_> =
            (0..3 * BLOCK + 1).map(|_| files.fresh_key()).collect();
        assert_eq!(keys.len(), 3 * BLOCK + 1);
        let digit = |b: u8| matches!(b, b'0'..=b'9' | b'a'..=b'f');
        assert!(
            keys.iter()
                .all(|key| key.len() == 32 && key.bytes().all(digit))
        );
        // Random in every place: no digit is the same in all of them.
        for at in 0..32 {
            let digits: std::collections::BTreeSet<_> =
                keys.iter().map(|key| key.as_bytes()[at]).collect();
            assert!(digits.len() > 8, "{at}: {digits:?}");
        }
    }

    #[test]
    fn a_moment_has_one_look_and_the_next_another() {
        let folder = tempfile::tempdir().expect("a folder");
        let heartbeats = || Heartbeats::new(Some(folder.path().to_owned()));
        let (files, moment) = Files::by_moments(heartbeats());
        moment.pass(2);
        assert_eq!(files.editors().len(), 0);
        let heartbeat = r#"{"unity_port":6400,"project_path":"/p/Assets","last_heartbeat":"2026-01-01T00:00:00Z"}"#;
        fs::write(folder.path().join("unity-mcp-status-abc.json"), heartbeat).expect("a file");
        assert_eq!(Files::new(heartbeats()).editors().len(), 1);
        assert_eq!(files.editors().len(), 0);
        moment.pass(1);
        assert_eq!(files.editors().len(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_new_look_sees_another_folder_further_up() {
        let above = tempfile::tempdir().expect("a folder");
        let home = above.path().join("home");
        let heartbeats = Heartbeats::new(Some(home.join("status")));
        let (files, moment) = Files::by_moments(heartbeats);
        // One that was made long ago and does not change, so that it alone is looked at.
        let old = concat!(env!("CARGO_MANIFEST_DIR"), "/src");
        std::os::unix::fs::symlink(old, &home).expect("a link");
        assert_eq!(files.editors().len(), 0);
        fs::remove_file(&home).expect("no link");
        fs::create_dir_all(home.join("status")).expect("a folder");
        let heartbeat = r#"{"unity_port":6400,"project_path":"/p/Assets"}"#;
        let file = home.join("status/unity-mcp-status-abc.json");
        fs::write(file, heartbeat).expect("a file");
        moment.look_anew();
        assert_eq!(files.editors().len(), 1);
    }

    #[test]
    fn a_folder_in_any_case_is_held() {
        let root = tempfile::tempdir().expect("a folder");
        let root = root.path();
        fs::create_dir_all(root.join("Assets/Übung/Leer")).expect("folders");
        // On a disk where case counts, only one of the two has the folder below.
        let _one_on_others = fs::create_dir_all(root.join("Assets/übung/Other"));
        fs::write(root.join("Assets/file"), "").expect("a file");
        for below in [
            "Assets",
            "assets",
            "Assets/übung/leer",
            "ASSETS/ÜBUNG/OTHER",
            "Assets/./Übung//Leer",
        ] {
            assert_eq!(holds(root, below), Some(true), "{below}");
        }
        for below in [
            "Assets/file",
            "Assets/file/x",
            "Assets/Nope",
            "Assets/Übun",
            "Assets/t:x",
            "Assets/\0",
        ] {
            assert_eq!(holds(root, below), Some(false), "{below}");
        }
    }

    #[test]
    fn nothing_is_said_of_a_root_that_is_not_there() {
        let root = tempfile::tempdir().expect("a folder");
        assert_eq!(holds(&root.path().join("gone"), "Assets"), None);
    }

    #[cfg(unix)]
    #[test]
    fn links_count_as_what_they_lead_to() {
        use std::os::unix::fs::symlink;
        let root = tempfile::tempdir().expect("a folder");
        let root = root.path();
        fs::create_dir_all(root.join("Real/Below")).expect("folders");
        symlink(root.join("Real"), root.join("Link")).expect("a link");
        symlink(root.join("gone"), root.join("Dangling")).expect("a link");
        symlink(root.join("Loop"), root.join("Loop")).expect("a link");
        assert_eq!(holds(root, "link/below"), Some(true));
        assert_eq!(holds(root, "Dangling"), Some(false));
        assert_eq!(holds(root, "Loop"), None);
    }
}
