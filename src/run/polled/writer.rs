//! Writing lines to a pipe as it takes them.

use super::credit::Permit;
use super::wide::{LONG, widen};
use bytes::{Buf, Bytes};
use rustix::io::{Errno, write, writev};
use std::collections::VecDeque;
use std::io::IoSlice;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Lines from this length on are written without being copied.
const LARGE: usize = 16 << 10;
/// Short lines are gathered into pieces of about this size, which are freed one by one.
const GATHER: usize = 64 << 10;
/// Pieces that go into one write.
const PIECES: usize = 8;
/// What a descriptor that may keep us waiting takes at once when the system says that it takes something.
const CAREFUL: usize = 4 << 10;

/// What a flush came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    /// More may be handed in.
    On,
    /// All is written, and the pipe is to be closed.
    Ended,
}

/// One side's input.
pub(super) struct Writer {
    fd: OwnedFd,
    /// Whether a write returns at once.
    at_once: bool,
    closing: bool,
    is_wide: bool,
    /// What is to be written first.
    pieces: VecDeque<Bytes>,
    /// What follows it, short lines gathered; its first `sent` bytes are written.
    gathered: Vec<u8>,
    sent: usize,
    /// Credit, with the sum of bytes at which it comes back.
    permits: VecDeque<(u64, Permit)>,
    queued: u64,
    written: u64,
}

impl Writer {
    /// Writes to `fd`; `at_once` tells whether that never has to wait.
    pub(super) fn new(fd: OwnedFd, at_once: bool) -> Self {
        Writer {
            fd,
            at_once,
            closing: false,
            is_wide: false,
            pieces: VecDeque::new(),
            gathered: Vec::new(),
            sent: 0,
            permits: VecDeque::new(),
            queued: 0,
            written: 0,
        }
    }

    /// Hands in lines, and writes what the pipe takes at once.
    ///
    /// # Errors
    /// When the pipe is broken.
    #[inline(always)]
    pub(super) fn send(&mut self, lines: &mut Vec<Bytes>, permit: Permit) -> Result<(), Errno> {
        if self.closing {
            return Ok(());
        }
        let waits = !self.is_empty();
        for line in lines.drain(..) {
            self.queued += line.len() as u64 + 1;
            if line.len() >= LARGE {
                self.cut();
                if line.len() >= LONG && !self.is_wide {
                    self.is_wide = true;
                    widen(&self.fd);
                }
                self.pieces.push_back(line);
            } else {
                self.gathered.extend_from_slice(&line);
            }
            self.gathered.push(b'\n');
            if self.gathered.len() >= GATHER {
                self.cut();
            }
        }
        // What has to wait already is waited for.
        if self.at_once && !waits {
            self.flush()?;
        }
        if !self.is_empty() {
            self.permits.push_back((self.queued, permit));
        }
        Ok(())
    }

    /// Nothing more is handed in.
    pub(super) fn close(&mut self) {
        self.closing = true;
    }

    /// Whether all is written.
    pub(super) fn is_empty(&self) -> bool {
        self.queued == self.written
    }

    /// Bytes that were handed in, newlines included, and bytes that were written.
    pub(super) fn progress(&self) -> (u64, u64) {
        (self.queued, self.written)
    }

    /// What to wait for; `None` while there is nothing to write.
    pub(super) fn wants(&self) -> Option<BorrowedFd<'_>> {
        let wants = !self.is_empty();
        wants.then(|| self.fd.as_fd())
    }

    /// Writes what the pipe takes now.
    ///
    /// # Errors
    /// When the pipe is broken.
    #[inline(always)]
    pub(super) fn flush(&mut self) -> Result<Flow, Errno> {
        while !self.is_empty() {
            match self.write_once() {
                Ok(0) => return Err(Errno::IO),
                Ok(length) => self.advance(length),
                Err(Errno::INTR) => continue,
                Err(Errno::AGAIN) => return Ok(Flow::On),
                Err(error) => return Err(error),
            }
            if !self.at_once {
                break;
            }
        }
        Ok(if self.closing && self.is_empty() {
            Flow::Ended
        } else {
            Flow::On
        })
    }

    #[inline(always)]
    fn write_once(&self) -> Result<usize, Errno> {
        let last = &self.gathered[self.sent..];
        let first = self.pieces.front().map_or(last, |piece| &**piece);
        if !self.at_once {
            return write(&self.fd, &first[..first.len().min(CAREFUL)]);
        }
        if self.pieces.is_empty() {
            return write(&self.fd, last);
        }
        let mut slices = [IoSlice::new(&[]); PIECES];
        let pieces = self.pieces.iter().map(|piece| &**piece);
        for (slice, piece) in slices.iter_mut().zip(pieces.chain([last])) {
            *slice = IoSlice::new(piece);
        }
        writev(&self.fd, &slices)
    }

    fn advance(&mut self, length: usize) {
        self.written += length as u64;
        let mut left = length;
        while let Some(piece) = self.pieces.front_mut() {
            if left < piece.len() {
                piece.advance(left);
                break;
            }
            left -= piece.len();
            self.pieces.pop_front();
        }
        if self.pieces.is_empty() {
            self.sent += left;
        }
        if self.is_empty() {
            self.gathered.clear();
            self.sent = 0;
        }
        let returned = |(at, _): &mut (u64, Permit)| *at <= self.written;
        while self.permits.pop_front_if(returned).is_some() {}
    }

    /// Ends what is gathered, so that a piece can follow.
    fn cut(&mut self) {
        if self.sent < self.gathered.len() {
            let gathered = Bytes::from(std::mem::take(&mut self.gathered));
            self.pieces.push_back(gathered.slice(self.sent..));
        }
        self.gathered.clear();
        self.sent = 0;
    }
}
