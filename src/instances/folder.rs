//! Reading the heartbeat folder afresh at each use, and cheaply.
//!
//! Crashed Editors leave their files behind for good, so a folder may hold dozens of old ones. Such a
//! file costs one `stat`: its content is kept by name, modification time, size and (on Unix) inode and change time.
//! What a running Editor writes is never taken from there: a content is only kept when the file had already
//! rested for [`SETTLED`] when it was read, longer than the coarsest file times are apart, and every rewrite after
//! that changes the time.

use std::collections::HashMap;
use std::fs::{self, DirEntry, File, Metadata, OpenOptions};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use super::{Editor, Moved, heartbeat};
use presence::Presence;

mod presence;

/// A file modified more recently than this is always read again. FAT keeps times to two seconds.
pub const SETTLED: Duration = Duration::from_secs(3);

/// A heartbeat has a few hundred bytes; a file over this size is none, and its content is not read.
pub const MAX_BYTES: u64 = 64 * 1024;

/// How often a file that was touched just now and is not whole is read again at once.
///
/// The bridge rewrites its file in place, so a reader can catch it empty or half there, and an Editor that is missed
/// is one that a guard does not see. Mostly that state lasts some microseconds.
const ATTEMPTS: usize = 3;

/// How long one look at the folder waits in all for files that are half written.
///
/// On a busy machine the writer loses its processor between the two steps, and an Editor writes just when it has
/// answered, which is when the proxy reads. Measured with more work than processors: up to 11 ms, at one call in
/// seventy.
const PATIENCE: Duration = Duration::from_millis(50);

/// The time between two looks meanwhile. It is the writer that needs the processor.
const PAUSE: Duration = Duration::from_millis(1);

/// The reader of one heartbeat folder, to be shared by reference.
#[derive(Debug)]
pub struct Heartbeats {
    folder: Option<PathBuf>,
    presence: Presence,
    seen: Mutex<HashMap<String, Seen>>,
    /// The ports that Editors had, by hash, those of files that are gone too.
    ports: Mutex<HashMap<String, (u16, Option<Moved>)>>,
    patience: Duration,
}

/// A file as it was when it was last read.
#[derive(Debug)]
struct Seen {
    stamp: Stamp,
    settled: bool,
    /// Whether it was empty or broke off, as while it is being written.
    half: bool,
    editor: Option<Editor>,
}

/// What tells one state of a file from another without opening it.
#[derive(Debug, PartialEq, Eq)]
struct Stamp {
    modified: SystemTime,
    bytes: u64,
    #[cfg(unix)]
    identity: [i64; 4],
}

impl Heartbeats {
    /// A reader of `folder`, which need not exist; `None` reads as an empty folder.
    pub fn new(folder: Option<PathBuf>) -> Self {
        Self {
            folder,
            presence: Presence::default(),
            seen: Mutex::default(),
            ports: Mutex::default(),
            patience: PATIENCE,
        }
    }

    /// The folder that is looked in.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// The Editors of all usable files, running or not, by identifier. Whatever cannot be read counts for nothing
    /// and hides nothing; a folder that cannot be read is empty.
    pub fn read(&self) -> Vec<Editor> {
        // Where no Editor has ever run there is no folder, and to look for it costs less than to open it.
        let is_there = |folder: &&Path| self.presence.is_there(folder);
        let Some(folder) = self.folder.as_deref().filter(is_there) else {
            return Vec::new();
        };
        // A panic elsewhere cannot leave half an entry behind: the map is replaced whole, below.
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let before = std::mem::take(&mut *seen);
        *seen = self.scan(folder, before);
        let found = seen.values().filter_map(|file| file.editor.as_ref());
        let mut found: Vec<&Editor> = found.collect();
        found.sort_unstable_by(|one, other| one.by_identifier(other));
        let mut editors: Vec<Editor> = found.into_iter().cloned().collect();
        drop(seen);
        self.compare_ports(&mut editors);
        editors
    }

    /// Has the next look follow the folder's path again. To be said now and then: that a folder is not there is told by
    /// the one that would hold it, and somebody may have put another in that one's place.
    pub fn look_anew(&self) {
        self.presence.look_anew();
    }

    /// Tells of each Editor whether its port is another one than it was.
    fn compare_ports(&self, editors: &mut [Editor]) {
        let mut ports = self.ports.lock().unwrap_or_else(PoisonError::into_inner);
        for editor in editors {
            let Some(port) = editor.port else {
                continue;
            };
            let Some(known) = ports.get_mut(&editor.hash) else {
                ports.insert(editor.hash.clone(), (port, None));
                continue;
            };
            if let Some(at_ms) = editor.last_heartbeat_ms.filter(|_| known.0 != port) {
                let from = known.0;
                *known = (port, Some(Moved { from, at_ms }));
            }
            editor.moved = known.1;
        }
    }

    fn scan(&self, folder: &Path, mut before: HashMap<String, Seen>) -> HashMap<String, Seen> {
        let now = SystemTime::now();
        let Ok(entries) = fs::read_dir(folder) else {
            return HashMap::new();
        };
        let mut after = HashMap::with_capacity(before.len());
        let mut patience = Patience {
            span: self.patience,
            until: None,
        };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let Some(hash) = name.to_str().and_then(hash_of) else {
                continue;
            };
            let Some(stamp) = regular_file(&entry).and_then(|metadata| Stamp::of(&metadata)) else {
                continue;
            };
            let known = before.remove(hash);
            let file = match known {
                Some(file) if file.settled && file.stamp == stamp => Some(file),
                known => load(&entry.path(), hash, now, known.as_ref(), &mut patience),
            };
            after.extend(file.map(|file| (hash.to_owned(), file)));
        }
        after
    }
}

/// The hash in a heartbeat file's name.
fn hash_of(name: &str) -> Option<&str> {
    let hash = name
        .strip_prefix("unity-mcp-status-")?
        .strip_suffix(".json")?;
    (!hash.is_empty()).then_some(hash)
}

/// The metadata of a regular file or of one that a link leads to. A directory entry's own metadata costs nothing
/// extra on Windows, and no path look-up on Unix.
fn regular_file(entry: &DirEntry) -> Option<Metadata> {
    let metadata = if entry.file_type().ok()?.is_symlink() {
        fs::metadata(entry.path()).ok()?
    } else {
        entry.metadata().ok()?
    };
    metadata.is_file().then_some(metadata)
}

impl Stamp {
    fn of(metadata: &Metadata) -> Option<Self> {
        Some(Self {
            modified: metadata.modified().ok()?,
            bytes: metadata.len(),
            #[cfg(unix)]
            identity: identity(metadata),
        })
    }
}

/// A file put in another's place with the other's time and size, and one whose time was set back.
#[cfg(unix)]
fn identity(metadata: &Metadata) -> [i64; 4] {
    use std::os::unix::fs::MetadataExt;
    let [device, inode] = [metadata.dev(), metadata.ino()].map(u64::cast_signed);
    [device, inode, metadata.ctime(), metadata.ctime_nsec()]
}

/// What is left of the time that one look at the folder may wait.
struct Patience {
    span: Duration,
    /// Set by the first wait.
    until: Option<Instant>,
}

impl Patience {
    /// Lets the writer work for a moment; `false` when there is no more time for that.
    fn pause(&mut self) -> bool {
        let now = Instant::now();
        let more = now < *self.until.get_or_insert(now + self.span);
        if more {
            // With nobody to unpark it this is a pause. The lock is held on purpose: who else looks would wait too.
            std::thread::park_timeout(PAUSE);
        }
        more
    }
}

/// Reads a file; `None` when it cannot be opened or is gone. `known` is what was read of it before: a state that was
/// waited for in vain is not waited for again.
fn load(
    path: &Path,
    hash: &str,
    now: SystemTime,
    known: Option<&Seen>,
    patience: &mut Patience,
) -> Option<Seen> {
    let mut attempt = 1;
    loop {
        let file = load_once(path, hash, now);
        // A file that has rested will not get better; one that cannot be opened at all may just be being replaced.
        if file
            .as_ref()
            .is_some_and(|file| file.settled || file.editor.is_some())
        {
            return file;
        }
        if attempt < ATTEMPTS {
            std::thread::yield_now();
        } else {
            let half = file.as_ref().filter(|file| file.half);
            let new = half.is_some_and(|file| known.is_none_or(|known| known.stamp != file.stamp));
            if !new || !patience.pause() {
                return file;
            }
        }
        attempt += 1;
    }
}

fn load_once(path: &Path, hash: &str, now: SystemTime) -> Option<Seen> {
    let file = open(path).ok()?;
    let metadata = file.metadata().ok()?;
    let stamp = Stamp::of(&metadata).filter(|_| metadata.is_file())?;
    let settled = now
        .duration_since(stamp.modified)
        .is_ok_and(|age| age >= SETTLED);
    let content = content(file, stamp.bytes);
    let editor = content
        .as_deref()
        .and_then(|content| Editor::parse(hash, path, content));
    let half = editor.is_none() && content.as_deref().is_some_and(heartbeat::breaks_off);
    Some(Seen {
        stamp,
        settled,
        half,
        editor,
    })
}

/// Opens without waiting, should the file have become a pipe since it was looked at. On Windows std's own share mode
/// already lets the Editor write and delete meanwhile.
fn open(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
    }
    options.open(path)
}

fn content(file: File, bytes: u64) -> Option<Vec<u8>> {
    if bytes > MAX_BYTES {
        return None;
    }
    let mut content = Vec::with_capacity(usize::try_from(bytes).ok()? + 1);
    file.take(MAX_BYTES + 1).read_to_end(&mut content).ok()?;
    (content.len() as u64 <= MAX_BYTES).then_some(content)
}

#[cfg(test)]
mod tests;
