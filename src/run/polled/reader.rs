//! Reading: what is there, split into whole lines.

use super::credit::Credit;
use crate::run::shell::Batch;
use bytes::Bytes;
use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags};
use rustix::io::{Errno, read};
use std::os::fd::OwnedFd;

/// The sizes of a read buffer: as much as a pipe holds; the usual large answer, kept for the next one; and more than
/// what glibc ever serves from its heap, so that it goes back to the system when its line is written. Memory that
/// nothing is read into costs nothing.
const SIZES: [usize; 3] = [64 << 10, KEEP, 33 << 20];
/// A read is not started with less room than this.
const ROOM: usize = 4 << 10;
/// A buffer that grew beyond this is given back after its line.
const KEEP: usize = 2 << 20;

/// One side's stream of lines.
pub(super) struct Reader {
    fd: OwnedFd,
    credit: Credit,
    /// What was read and is no whole line yet; its first `searched` bytes hold no newline.
    buffer: Vec<u8>,
    searched: usize,
    /// The last batch's buffer, to be read into again when nobody holds a line of it any more.
    lent: Bytes,
}

impl Reader {
    /// Reads lines from `fd`, on `credit`.
    pub(super) fn new(fd: OwnedFd, credit: Credit) -> Self {
        Reader {
            fd,
            credit,
            buffer: Vec::new(),
            searched: 0,
            lent: Bytes::new(),
        }
    }

    /// What to wait for; `None` while there is no credit.
    pub(super) fn wants(&self) -> Option<PollFd<'_>> {
        let wants = self.credit.is_there();
        wants.then(|| PollFd::new(&self.fd, PollFlags::IN))
    }

    /// Reads once: the lines that are whole now, and whether there may be more. A last line without a
    /// newline counts.
    pub(super) fn read(&mut self) -> (Option<Batch>, bool) {
        self.make_room();
        let open = match read(&self.fd, spare_capacity(&mut self.buffer)) {
            Ok(length) => length > 0,
            Err(error) => matches!(error, Errno::AGAIN | Errno::INTR),
        };
        let whole = match memchr::memrchr(b'\n', &self.buffer[self.searched..]) {
            _ if !open => self.buffer.len(),
            Some(at) => self.searched + at + 1,
            None => 0,
        };
        if whole == 0 {
            self.searched = self.buffer.len();
            return (None, open);
        }
        let lines = self.take(whole);
        let permit = self.credit.take(&lines);
        (Some(Batch { lines, permit }), open)
    }

    fn make_room(&mut self) {
        if self.buffer.capacity() == 0 {
            let mut lent = std::mem::take(&mut self.lent);
            if lent.is_unique() {
                // Without its bytes the conversion copies nothing.
                lent.truncate(0);
                self.buffer = lent.into();
            }
        }
        let used = self.buffer.len();
        if self.buffer.capacity() - used < ROOM {
            self.buffer.reserve_exact(size(used) - used);
        }
    }

    /// Takes the lines off the front of the buffer, of which `whole` bytes are whole lines.
    fn take(&mut self, whole: usize) -> Vec<Bytes> {
        let buffer = std::mem::take(&mut self.buffer);
        if let Some(rest @ [_, ..]) = buffer.get(whole..) {
            self.buffer.reserve_exact(size(rest.len()));
            self.buffer.extend_from_slice(rest);
        }
        let keep = buffer.capacity() <= KEEP;
        let buffer = Bytes::from(buffer);
        let mut lines = Vec::new();
        let (mut start, mut search) = (0, self.searched);
        while start < whole {
            let newline = memchr::memchr(b'\n', &buffer[search..whole]);
            let end = newline.map_or(whole, |at| search + at);
            lines.push(buffer.slice(start..end));
            (start, search) = (end + 1, end + 1);
        }
        self.searched = self.buffer.len();
        if keep {
            self.lent = buffer;
        }
        lines
    }
}

/// The size of a buffer that holds `used` bytes already.
fn size(used: usize) -> usize {
    let fits = |size: &usize| used + ROOM <= *size;
    SIZES.into_iter().find(fits).unwrap_or(2 * used)
}
