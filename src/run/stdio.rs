//! The client's two pipes.
//!
//! `tokio::io::stdin` cannot be cancelled and keeps the process alive after `main`. Where the platform
//! lets a pipe or socket be polled (clients give either), it is; anything else is read on a thread. The
//! writing end is in [`super::output`].

use crate::ready;
use bytes::{Buf, Bytes};
use std::io::{self, IsTerminal, Read};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::mpsc::{Receiver, channel};

/// A readable end.
pub(super) type Input = Pin<Box<dyn AsyncRead + Send>>;

/// Whether nobody but a person can be on the other side.
pub(super) fn stdin_is_terminal() -> bool {
    io::stdin().is_terminal()
}

/// The process's standard input.
pub(super) fn client_input() -> Input {
    #[cfg(unix)]
    if let Some(input) = unix::input() {
        return input;
    }
    Box::pin(ThreadInput::start())
}

/// How the process's pipes stood before they were made ready for polling.
///
/// The flag that does it belongs to the open description, which the process that started this one may
/// share and go on using: it is put back at the end.
pub(super) struct Flags {
    #[cfg(unix)]
    before: [Option<rustix::fs::OFlags>; 2],
}

impl Flags {
    /// Notes how stdin and stdout stand.
    pub(super) fn note() -> Self {
        Flags {
            #[cfg(unix)]
            before: [
                rustix::fs::fcntl_getfl(io::stdin()).ok(),
                rustix::fs::fcntl_getfl(io::stdout()).ok(),
            ],
        }
    }

    /// Puts back what was noted.
    pub(super) fn put_back(&self) {
        #[cfg(unix)]
        {
            let [stdin, stdout] = self.before;
            let _closed = stdin.map(|flags| rustix::fs::fcntl_setfl(io::stdin(), flags));
            let _closed = stdout.map(|flags| rustix::fs::fcntl_setfl(io::stdout(), flags));
        }
    }
}

#[cfg(unix)]
pub(super) mod unix {
    use super::Input;
    use rustix::fs::{FileType, fstat};
    use std::os::fd::{AsFd, OwnedFd};
    use std::os::unix::net::UnixStream;
    use tokio::net::unix::pipe;

    /// What can be polled.
    pub(in crate::run) enum Kind {
        Pipe,
        Socket,
    }

    /// A copy of a standard stream that can be polled.
    pub(in crate::run) fn own(fd: &impl AsFd) -> Option<(OwnedFd, Kind)> {
        let fd = fd.as_fd().try_clone_to_owned().ok()?;
        match FileType::from_raw_mode(fstat(&fd).ok()?.st_mode) {
            FileType::Fifo => Some((fd, Kind::Pipe)),
            FileType::Socket => Some((fd, Kind::Socket)),
            _ => None,
        }
    }

    pub(in crate::run) fn socket(fd: OwnedFd) -> Option<tokio::net::UnixStream> {
        let stream = UnixStream::from(fd);
        stream.set_nonblocking(true).ok()?;
        tokio::net::UnixStream::from_std(stream).ok()
    }

    pub(super) fn input() -> Option<Input> {
        match own(&std::io::stdin())? {
            (fd, Kind::Pipe) => Some(Box::pin(pipe::Receiver::from_owned_fd(fd).ok()?)),
            (fd, Kind::Socket) => Some(Box::pin(socket(fd)?)),
        }
    }
}

/// Standard input, read on a thread that the process's end does not wait for.
struct ThreadInput {
    chunks: Receiver<io::Result<Bytes>>,
    rest: Bytes,
}

impl ThreadInput {
    fn start() -> Self {
        let (sender, chunks) = channel(2);
        let read = move || {
            let mut stdin = io::stdin().lock();
            let mut buffer = vec![0; 64 << 10];
            loop {
                let chunk = match stdin.read(&mut buffer) {
                    Ok(0) => return,
                    Ok(length) => Ok(Bytes::copy_from_slice(&buffer[..length])),
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                        ready::to_read(&io::stdin());
                        continue;
                    }
                    Err(error) => Err(error),
                };
                let failed = chunk.is_err();
                if sender.blocking_send(chunk).is_err() || failed {
                    return;
                }
            }
        };
        // Without the thread the sender is dropped, which reads as the end of input.
        let _thread = std::thread::Builder::new()
            .name("stdin".to_owned())
            .spawn(read);
        ThreadInput {
            chunks,
            rest: Bytes::new(),
        }
    }
}

impl AsyncRead for ThreadInput {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.rest.is_empty() {
            match ready!(self.chunks.poll_recv(context)) {
                Some(chunk) => self.rest = chunk?,
                None => return Poll::Ready(Ok(())),
            }
        }
        let length = self.rest.len().min(buffer.remaining());
        buffer.put_slice(&self.rest[..length]);
        self.rest.advance(length);
        Poll::Ready(Ok(()))
    }
}
