//! Where a very large line is kept while it comes in: memory of the system's own, which goes back to it soon.
//!
//! On Linux it asks for huge pages. Measured with an answer of 20 MB: 18 ms for the faults of ordinary pages, 2 ms for
//! those of huge ones, and all the rest of such an answer takes about 10.

use bytes::Bytes;
use memmap2::MmapMut;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Room for the usual line that does not fit a reader's own buffer. What is not written to costs nothing.
const SIZE: usize = 64 << 20;
/// What one read takes in at the most.
const READ: usize = 1 << 20;

/// How long memory that a line has left is kept: where one answer of this size follows on another, the next one does
/// not have to wait for pages that are zeroed anew (a sixth of the time that it takes).
const KEPT: Duration = Duration::from_millis(5);

/// Where a very large line can be put, and the memory that the last one has left.
#[derive(Clone, Default)]
pub(super) struct Room(Arc<Mutex<Option<(MmapMut, Instant)>>>);

impl Room {
    /// A copy of `bytes`, with room for more. `None` when the system has no more memory.
    pub(super) fn large(&self, bytes: &[u8]) -> Option<Large> {
        self.with(SIZE.max(4 * bytes.len()), bytes)
    }

    fn with(&self, size: usize, bytes: &[u8]) -> Option<Large> {
        let left = self.left().take().map(|(map, _)| map);
        let mut map = match left.filter(|map| map.len() >= size) {
            Some(map) => map,
            None => new_map(size)?,
        };
        map.get_mut(..bytes.len())?.copy_from_slice(bytes);
        Some(Large {
            map: Some(map),
            used: bytes.len(),
            room: self.clone(),
        })
    }

    /// Whether a line has left memory that is kept.
    pub(super) fn has_left(&self) -> bool {
        self.left().is_some()
    }

    /// Gives back what was left longer ago than it is kept. How long something is kept still, and whether a line is
    /// under way that may leave something.
    pub(super) fn tend(&self) -> (Option<Duration>, bool) {
        let mut left = self.left();
        let age = left.as_ref().map(|(_, since)| since.elapsed());
        let rest = age.and_then(|age| KEPT.checked_sub(age));
        if rest.is_none() {
            *left = None;
        }
        (rest, Arc::strong_count(&self.0) > 1)
    }

    fn left(&self) -> MutexGuard<'_, Option<(MmapMut, Instant)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn new_map(size: usize) -> Option<MmapMut> {
    let map = MmapMut::map_anon(size).ok()?;
    #[cfg(target_os = "linux")]
    // A kernel without them does without.
    let _asked = map.advise(memmap2::Advice::HugePage);
    Some(map)
}

/// A line that has outgrown its reader's buffer.
pub(super) struct Large {
    map: Option<MmapMut>,
    used: usize,
    room: Room,
}

impl Large {
    /// Where the next read goes to. `None` when the system has no more memory.
    pub(super) fn room(&mut self) -> Option<&mut [u8]> {
        if self.map.as_ref()?.len() == self.used {
            let mut larger = self.room.large(self.bytes())?;
            self.map = larger.map.take();
        }
        let map = self.map.as_mut()?;
        let end = map.len().min(self.used + READ);
        map.get_mut(self.used..end)
    }

    /// So much was read.
    pub(super) fn add(&mut self, length: usize) {
        self.used += length;
    }

    /// What was read so far.
    pub(super) fn bytes(&self) -> &[u8] {
        self.map.as_ref().map_or(&[], |map| &map[..self.used])
    }

    /// All of it, which leaves its memory with the last slice of it.
    pub(super) fn freeze(self) -> Bytes {
        Bytes::from_owner(self)
    }
}

impl Drop for Large {
    fn drop(&mut self) {
        if let Some(map) = self.map.take() {
            *self.room.left() = Some((map, Instant::now()));
        }
    }
}

impl AsRef<[u8]> for Large {
    fn as_ref(&self) -> &[u8] {
        self.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_grows_as_it_is_read_into() {
        let mut large = Room::default().with(8, b"abc").expect("memory");
        for more in [&b"defgh"[..], b"ijk"] {
            let room = large.room().expect("memory");
            assert!(room.len() >= more.len());
            room[..more.len()].copy_from_slice(more);
            large.add(more.len());
        }
        assert_eq!(&*large.freeze(), b"abcdefghijk");
    }

    #[test]
    fn what_a_line_has_left_is_for_the_next_one_and_goes_back_soon() {
        let room = Room::default();
        let place = |line: &Large| line.bytes().as_ptr();
        let first = room.large(b"first").expect("memory");
        let second = room.large(b"second").expect("memory");
        let (kept, at_work) = room.tend();
        assert!(kept.is_none() && at_work);
        assert_ne!(place(&first), place(&second));
        let was = place(&first);
        let frozen = first.freeze();
        let slice = frozen.slice(1..);
        drop(frozen);
        assert!(!room.has_left(), "somebody holds a slice of it");
        drop(slice);
        assert!(room.has_left());
        let third = room.large(b"3").expect("memory");
        assert_eq!((place(&third), third.bytes()), (was, &b"3"[..]));
        drop((second, third));
        if let Some((_, since)) = &mut *room.left() {
            *since += Duration::from_secs(60);
        }
        assert!(matches!(room.tend(), (Some(_), false)));
        if let Some((_, since)) = &mut *room.left() {
            *since -= Duration::from_secs(60) + KEPT * 2;
        }
        assert!(matches!(room.tend(), (None, false)));
        assert!(!room.has_left());
    }
}
