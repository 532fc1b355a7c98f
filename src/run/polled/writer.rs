//! Writing lines to a pipe as it takes them.

use super::credit::Permit;
use super::side::{LONG, SidePipe};
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
    /// What a long line goes through.
    side: Option<SidePipe>,
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
            side: None,
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
                    self.side = SidePipe::beside(&self.fd).filter(|_| self.at_once);
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
    fn write_once(&mut self) -> Result<usize, Errno> {
        let last = &self.gathered[self.sent..];
        let first = self.pieces.front().map_or(last, |piece| &**piece);
        if !self.at_once {
            return write(&self.fd, &first[..first.len().min(CAREFUL)]);
        }
        let is_much = self.queued - self.written >= LONG as u64;
        if let Some(side) = &mut self.side
            && (is_much || side.held() > 0)
        {
            let written = side.write(&self.fd, &slices(&self.pieces, last, side.held()));
            if matches!(written, Ok(_) | Err(Errno::AGAIN | Errno::INTR)) {
                return written;
            }
            // What it holds counts as not written.
            self.side = None;
        }
        if self.pieces.is_empty() {
            return write(&self.fd, last);
        }
        writev(&self.fd, &slices(&self.pieces, last, 0))
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

/// The first of `pieces` and what follows them, without the first `skip` bytes.
fn slices<'a>(pieces: &'a VecDeque<Bytes>, last: &'a [u8], skip: usize) -> [IoSlice<'a>; PIECES] {
    let mut slices = [IoSlice::new(&[]); PIECES];
    let mut skip = skip;
    let pieces = pieces.iter().map(|piece| &**piece).chain([last]);
    let left = pieces.filter_map(|piece| {
        let left = piece.get(skip..);
        skip = skip.saturating_sub(piece.len());
        left
    });
    for (slice, piece) in slices.iter_mut().zip(left) {
        *slice = IoSlice::new(piece);
    }
    slices
}

#[cfg(test)]
mod tests {
    use super::super::credit::Credit;
    use super::*;
    use rustix::io::{ioctl_fionbio, ioctl_fionread};
    use std::io::{PipeReader, Read, pipe};

    /// Lines of these lengths, each of a letter of its own.
    fn lines(lengths: &[usize]) -> Vec<Bytes> {
        let letters = (b'a'..=b'z').cycle();
        let line = |(length, letter): (&usize, u8)| Bytes::from(vec![letter; *length]);
        lengths.iter().zip(letters).map(line).collect()
    }

    /// Reads `most` of what has come.
    fn read_some(from: &mut PipeReader, most: usize) -> Vec<u8> {
        let there = usize::try_from(ioctl_fionread(&*from).expect("a pipe")).expect("few");
        let mut bytes = vec![0; there.min(most)];
        from.read_exact(&mut bytes).expect("so many");
        bytes
    }

    /// Lines come through as they were handed in, and what counts as written has arrived; `meddle` gets the writer
    /// before each write.
    fn pass(meddle: impl Fn(&mut Writer)) {
        for steps in [&[1, 300_000, 4097, 65_536, 7][..], &[5000, 40_000, 1]] {
            pass_in(steps, &meddle);
        }
    }

    /// As that, with a reader that takes so many bytes at once, in turns.
    fn pass_in(steps: &[usize], meddle: impl Fn(&mut Writer)) {
        let lengths = [
            3, 70_000, 0, 300_000, 5, 17_000, 65_536, 2_000_000, 1, 30_000, 262_144, 40_000,
            40_000, 40_000, 262_143, 9, 9, 65_535,
        ];
        let (mut theirs, ours) = pipe().expect("a pipe");
        ioctl_fionbio(&ours, true).expect("a pipe");
        let mut writer = Writer::new(ours.into(), true);
        let (credit, mut wanted, mut got) = (Credit::default(), Vec::new(), Vec::new());
        let mut steps = steps.iter().copied().cycle();
        let mut turn = |writer: &mut Writer, got: &mut Vec<u8>| {
            let there = ioctl_fionread(&theirs).expect("a pipe");
            assert_eq!(writer.progress().1, got.len() as u64 + there);
            got.extend(read_some(&mut theirs, steps.next().expect("endless")));
        };
        // The second time finds what the first one may have left.
        for _ in 0..2 {
            for mut some in lines(&lengths).chunks(3).map(<[Bytes]>::to_vec) {
                wanted.extend(some.iter().flat_map(|line| [line, &b"\n"[..]].concat()));
                let permit = credit.take(&some);
                meddle(&mut writer);
                writer.send(&mut some, permit).expect("a reader");
                turn(&mut writer, &mut got);
            }
            while !writer.is_empty() {
                meddle(&mut writer);
                writer.flush().expect("a reader");
                turn(&mut writer, &mut got);
            }
        }
        writer.close();
        assert_eq!(writer.flush(), Ok(Flow::Ended));
        while got.len() < wanted.len() {
            turn(&mut writer, &mut got);
        }
        assert!(writer.permits.is_empty());
        assert!(got == wanted, "the bytes differ");
    }

    #[test]
    fn lines_come_through_by_way_of_a_pipe_of_our_own() {
        let is_used = std::cell::Cell::new(false);
        pass(|writer| {
            let held = writer.side.as_ref().is_some_and(|side| side.held() > 0);
            is_used.set(is_used.get() || held);
        });
        assert_eq!(is_used.get(), cfg!(target_os = "linux"));
    }

    #[test]
    fn what_a_pipe_of_our_own_held_is_written_when_it_fails() {
        pass(|writer| {
            if writer.side.as_ref().is_some_and(|side| side.held() > 0) {
                writer.side = SidePipe::broken();
            }
        });
        pass(|writer| writer.side = None);
    }

    #[test]
    fn a_broken_pipe_is_told() {
        let (theirs, ours) = pipe().expect("a pipe");
        ioctl_fionbio(&ours, true).expect("a pipe");
        let mut writer = Writer::new(ours.into(), true);
        let line = Bytes::from(vec![b'x'; 1 << 20]);
        writer.send(&mut vec![line], None).expect("a reader");
        drop(theirs);
        assert_eq!(writer.flush(), Err(Errno::PIPE));
    }
}
