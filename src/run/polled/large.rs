//! Where a very large line is kept while it comes in: memory of the system's own, which goes back to it at once.
//!
//! On Linux it asks for huge pages. Measured with an answer of 20 MB: 18 ms for the faults of ordinary pages, 2 ms for
//! those of huge ones, and all the rest of such an answer takes about 10.

use bytes::Bytes;
use memmap2::MmapMut;

/// Room for the usual line that does not fit a reader's own buffer. What is not written to costs nothing.
const SIZE: usize = 64 << 20;
/// What one read takes in at the most.
const READ: usize = 1 << 20;

/// A line that has outgrown its reader's buffer.
pub(super) struct Large {
    map: MmapMut,
    used: usize,
}

impl Large {
    /// A copy of `bytes`, with room for more. `None` when the system has no more memory.
    pub(super) fn from(bytes: &[u8]) -> Option<Self> {
        Large::with(SIZE.max(4 * bytes.len()), bytes)
    }

    fn with(size: usize, bytes: &[u8]) -> Option<Self> {
        let mut map = MmapMut::map_anon(size).ok()?;
        #[cfg(target_os = "linux")]
        // A kernel without them does without.
        let _asked = map.advise(memmap2::Advice::HugePage);
        map.get_mut(..bytes.len())?.copy_from_slice(bytes);
        let used = bytes.len();
        Some(Large { map, used })
    }

    /// Where the next read goes to. `None` when the system has no more memory.
    pub(super) fn room(&mut self) -> Option<&mut [u8]> {
        if self.used == self.map.len() {
            *self = Large::from(self.bytes())?;
        }
        let end = self.map.len().min(self.used + READ);
        self.map.get_mut(self.used..end)
    }

    /// So much was read.
    pub(super) fn add(&mut self, length: usize) {
        self.used += length;
    }

    /// What was read so far.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.map[..self.used]
    }

    /// All of it, given back with the last slice of it.
    pub(super) fn freeze(self) -> Bytes {
        Bytes::from_owner(self)
    }
}

impl AsRef<[u8]> for Large {
    fn as_ref(&self) -> &[u8] {
        self.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::Large;

    #[test]
    fn it_grows_as_it_is_read_into() {
        let mut large = Large::with(8, b"abc").expect("memory");
        for more in [&b"defgh"[..], b"ijk"] {
            let room = large.room().expect("memory");
            assert!(room.len() >= more.len());
            room[..more.len()].copy_from_slice(more);
            large.add(more.len());
        }
        assert_eq!(&*large.freeze(), b"abcdefghijk");
    }
}
