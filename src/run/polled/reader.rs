//! Reading: what is there, split into whole lines.

use super::credit::Credit;
use super::large::{Large, Room};
use super::side::{LONG, SidePipe};
use crate::run::shell::Batch;
use crate::wire::scan::HeadStart;
use bytes::Bytes;
use rustix::buffer::spare_capacity;
use rustix::io::{Errno, read};
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

/// The size of a read buffer for short lines: as much as a pipe holds.
const CHUNK: usize = LONG;
/// A read is not started with less room than this.
const ROOM: usize = 4 << 10;
/// Reads in a row, while each brings a lot and none the end of a line: nobody else waits longer than for these.
const READS: usize = 8;
/// Up to so many bytes of lines are copied, and the buffer stays where it is: to lend a small part of it costs more.
const COPIED: usize = 16 << 10;
/// The size of a buffer for the usual long line, which is kept for the next one. A longer line goes elsewhere.
const KEEP: usize = 2 << 20;

/// One side's stream of lines.
pub(super) struct Reader {
    fd: OwnedFd,
    credit: Credit,
    /// What was read and is no whole line yet; its first `searched` bytes hold no newline.
    buffer: Vec<u8>,
    searched: usize,
    /// A line that has outgrown the buffer, which is empty meanwhile.
    large: Option<Large>,
    room: Room,
    /// Whether such a line may have left memory.
    leaves: bool,
    /// Whether a long line is looked at while it comes in, and what was seen of the one that does.
    looks_ahead: bool,
    head: Option<Box<HeadStart>>,
    is_wide: bool,
    /// What the rest of a long line comes through.
    side: Option<SidePipe>,
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
            large: None,
            room: Room::default(),
            leaves: false,
            looks_ahead: false,
            head: None,
            is_wide: false,
            side: None,
            lent: Bytes::new(),
        }
    }

    /// Looks at a long line while it comes in.
    pub(super) fn looking_ahead(self) -> Self {
        Reader {
            looks_ahead: true,
            ..self
        }
    }

    /// What to wait for; `None` while there is no credit.
    pub(super) fn wants(&self) -> Option<BorrowedFd<'_>> {
        let wants = self.credit.is_there();
        wants.then(|| self.fd.as_fd())
    }

    /// Gives memory back that is no longer kept; how long some is kept still.
    pub(super) fn tend(&mut self) -> Option<Duration> {
        if !self.leaves {
            return None;
        }
        let (kept, at_work) = self.room.tend();
        self.leaves = kept.is_some() || at_work;
        kept
    }

    /// Reads: the lines that are whole now, in `spare`, and whether there may be more. A last line without a newline counts.
    #[inline(always)]
    pub(super) fn read(&mut self, spare: &mut Vec<Bytes>) -> (Option<Batch>, bool) {
        for _ in 0..READS {
            let before = self.read_so_far();
            let (batch, open) = self.read_once(spare);
            // A pipe that a long line comes through fills up again while its last part is looked at.
            if batch.is_some() || !open || self.read_so_far() < before + LONG {
                return (batch, open);
            }
        }
        (None, true)
    }

    fn read_so_far(&self) -> usize {
        self.large
            .as_ref()
            .map_or(&*self.buffer, Large::bytes)
            .len()
    }

    #[inline(always)]
    fn read_once(&mut self, spare: &mut Vec<Bytes>) -> (Option<Batch>, bool) {
        let open = match self.read_some() {
            Ok(length) => length > 0,
            Err(error) => matches!(error, Errno::AGAIN | Errno::INTR),
        };
        let bytes = self.large.as_ref().map_or(&*self.buffer, Large::bytes);
        let whole = match memchr::memrchr(b'\n', &bytes[self.searched..]) {
            _ if !open => bytes.len(),
            Some(at) => self.searched + at + 1,
            None => 0,
        };
        if whole == 0 {
            self.searched = bytes.len();
            if self.looks_ahead && bytes.len() >= LONG {
                self.head.get_or_insert_default().feed(bytes);
            }
            return (None, open);
        }
        let lines = self.take(whole, std::mem::take(spare));
        let permit = self.credit.take(&lines);
        let head = self.head.take();
        let batch = Batch {
            lines,
            permit,
            head,
        };
        (Some(batch), open)
    }

    /// As [`Reader::take`], with the lines copied.
    fn copy(&mut self, whole: usize, lines: &mut Vec<Bytes>) {
        let buffer = &self.buffer[..whole];
        let places = split(buffer, self.searched);
        lines.extend(places.map(|place| Bytes::copy_from_slice(&buffer[place])));
        self.buffer.drain(..whole);
        self.searched = self.buffer.len();
    }

    #[inline(always)]
    fn read_some(&mut self) -> Result<usize, Errno> {
        self.make_room();
        if self.read_so_far() >= LONG - ROOM
            && let Some(side) = self.side.take()
        {
            return self.read_beside(side);
        }
        read_into(&self.fd, &mut self.buffer, self.large.as_mut())
    }

    /// Reads by way of `side`, which stays where it works.
    fn read_beside(&mut self, side: SidePipe) -> Result<usize, Errno> {
        let room = match &mut self.large {
            Some(large) => large.room().ok_or(Errno::NOMEM)?.len(),
            None => self.buffer.capacity() - self.buffer.len(),
        };
        let taken = match side.take(&self.fd, room) {
            Err(error) if !matches!(error, Errno::AGAIN | Errno::INTR) => {
                return read_into(&self.fd, &mut self.buffer, self.large.as_mut());
            }
            taken => taken,
        };
        // As a rule one read brings all.
        let mut left = taken.unwrap_or(0);
        while left > 0 {
            left -= read_into(side.end(), &mut self.buffer, self.large.as_mut())?;
        }
        self.side = Some(side);
        taken
    }

    fn make_room(&mut self) {
        if self.large.is_some() {
            return;
        }
        if self.buffer.capacity() == 0 {
            let mut lent = std::mem::take(&mut self.lent);
            if lent.is_unique() {
                // The conversion moves the bytes that are left to the front; none at all would free it.
                lent.truncate(1);
                self.buffer = lent.into();
                self.buffer.clear();
            }
        }
        let used = self.buffer.len();
        if self.buffer.capacity() - used >= ROOM {
            return;
        }
        if used > 0 && !self.is_wide {
            self.is_wide = true;
            self.side = SidePipe::beside(&self.fd);
        }
        // What is there already is better than a buffer that has to be made.
        if used + ROOM > KEEP || (used >= LONG - ROOM && self.room.has_left()) {
            self.large = self.room.large(&self.buffer);
            self.leaves = true;
        }
        if self.large.is_some() {
            self.buffer = Vec::new();
        } else {
            self.buffer.reserve_exact(size(used) - used);
        }
    }

    /// Takes the lines off the front of what was read, of which `whole` bytes are whole lines.
    fn take(&mut self, whole: usize, mut lines: Vec<Bytes>) -> Vec<Bytes> {
        if whole <= COPIED && self.large.is_none() {
            self.copy(whole, &mut lines);
            return lines;
        }
        let is_large = self.large.is_some();
        let buffer = match self.large.take() {
            Some(large) => large.freeze(),
            None => std::mem::take(&mut self.buffer).into(),
        };
        if let Some(rest @ [_, ..]) = buffer.get(whole..) {
            self.buffer.reserve_exact(size(rest.len()));
            self.buffer.extend_from_slice(rest);
        }
        let places = split(&buffer[..whole], self.searched);
        lines.extend(places.map(|place| buffer.slice(place)));
        self.searched = self.buffer.len();
        if !is_large {
            self.lent = buffer;
        }
        lines
    }
}

/// Reads what has come into `large`, or else into `buffer`.
#[inline(always)]
fn read_into(
    fd: impl AsFd,
    buffer: &mut Vec<u8>,
    large: Option<&mut Large>,
) -> Result<usize, Errno> {
    let Some(large) = large else {
        return read(fd, spare_capacity(buffer));
    };
    // Without memory there is no way to go on with this side.
    let length = read(fd, large.room().ok_or(Errno::NOMEM)?)?;
    large.add(length);
    Ok(length)
}

/// Each line of `lines`, as it begins and ends there; the first `searched` bytes hold no newline.
fn split(lines: &[u8], searched: usize) -> impl Iterator<Item = Range<usize>> {
    let (mut start, mut search) = (0, searched);
    std::iter::from_fn(move || {
        let rest = lines.get(search..).filter(|_| start < lines.len())?;
        let end = memchr::memchr(b'\n', rest).map_or(lines.len(), |at| search + at);
        let line = start..end;
        (start, search) = (end + 1, end + 1);
        Some(line)
    })
}

/// The size of a buffer that holds `used` bytes already.
fn size(used: usize) -> usize {
    let fits = |size: &usize| used + ROOM <= *size;
    [CHUNK, KEEP].into_iter().find(fits).unwrap_or(2 * used)
}

#[cfg(test)]
mod tests;
