//! Standard input.
//!
//! `tokio::io::stdin` cannot be cancelled and keeps the process alive after `main`, so it is read on a thread
//! that nobody waits for.

use bytes::{Buf, Bytes};
use std::io::{self, IsTerminal, Read};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::mpsc::{Receiver, channel};

/// Whether nobody but a person can be on the other side.
pub(in crate::run) fn stdin_is_terminal() -> bool {
    io::stdin().is_terminal()
}

/// The process's standard input.
pub(super) fn client_input() -> impl AsyncRead + Unpin {
    ThreadInput::start()
}

/// What other systems have to put back at the end.
pub(in crate::run) struct Flags;

impl Flags {
    /// Notes nothing.
    pub(in crate::run) fn note() -> Self {
        Flags
    }

    /// Puts nothing back.
    #[allow(clippy::unused_self, reason = "the other system's needs it")]
    pub(in crate::run) fn put_back(&self) {}
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
