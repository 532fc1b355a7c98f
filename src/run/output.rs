//! Where bytes go: a pipe, or whatever else stands in its place.

use crate::ready;
use bytes::Buf;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::process::ChildStdin;

/// A writable end.
pub(super) enum Output {
    /// A pipe or socket that reports when it can take more.
    #[cfg(unix)]
    Pollable(Arc<unix::Pollable>),
    /// The upstream's input on Windows.
    #[cfg(windows)]
    Child(ChildStdin),
    /// Any other stdout (a file, a terminal, all of them on Windows), written on a blocking thread.
    Blocking,
}

/// Takes bytes if it can do so without waiting.
pub(super) trait TryWrite: Send + Sync {
    /// How many bytes it took.
    fn try_write(&self, bytes: &[u8]) -> io::Result<usize>;
}

impl Output {
    /// The process's standard output.
    pub(super) fn to_client() -> Self {
        #[cfg(unix)]
        if let Some(stdout) = unix::stdout() {
            return Output::Pollable(Arc::new(stdout));
        }
        Output::Blocking
    }

    /// The upstream's standard input.
    #[cfg(unix)]
    pub(super) fn to_child(stdin: ChildStdin) -> io::Result<Self> {
        Ok(Output::Pollable(Arc::new(unix::pipe(
            stdin.into_owned_fd()?,
        )?)))
    }

    /// The upstream's standard input.
    #[cfg(windows)]
    #[allow(clippy::unnecessary_wraps, reason = "the other system's can fail")]
    pub(super) fn to_child(stdin: ChildStdin) -> io::Result<Self> {
        Ok(Output::Child(stdin))
    }

    /// The way past the writer's task, where there is one.
    pub(super) fn direct(&self) -> Option<Arc<dyn TryWrite>> {
        match self {
            #[cfg(unix)]
            Output::Pollable(pipe) => Some(pipe.clone()),
            _ => None,
        }
    }

    /// Writes all of `bytes`, and adds what is written to `sum`.
    pub(super) async fn write(
        &mut self,
        mut bytes: impl Buf + Send + 'static,
        sum: &AtomicU64,
    ) -> io::Result<()> {
        while bytes.has_remaining() {
            let written = match self {
                #[cfg(unix)]
                Output::Pollable(pipe) => pipe.write_some(&mut bytes).await,
                #[cfg(windows)]
                Output::Child(stdin) => {
                    tokio::io::AsyncWriteExt::write_buf(stdin, &mut bytes).await
                }
                Output::Blocking => {
                    let length = bytes.remaining() as u64;
                    tokio::task::spawn_blocking(move || to_stdout(bytes))
                        .await
                        .unwrap_or_else(|error| Err(io::Error::other(error)))?;
                    sum.fetch_add(length, Ordering::Relaxed);
                    return Ok(());
                }
            };
            match written {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(length) => sum.fetch_add(length as u64, Ordering::Relaxed),
                Err(error) if is_temporary(&error) => continue,
                Err(error) => return Err(error),
            };
        }
        Ok(())
    }
}

fn is_temporary(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
    )
}

fn to_stdout(mut bytes: impl Buf) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    while bytes.has_remaining() {
        match stdout.write(bytes.chunk()) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(length) => bytes.advance(length),
            // Whoever shares the description may have made it so.
            Err(error) if is_temporary(&error) => ready::to_write(&io::stdout()),
            Err(error) => return Err(error),
        }
    }
    loop {
        match stdout.flush() {
            Err(error) if is_temporary(&error) => ready::to_write(&io::stdout()),
            done => return done,
        }
    }
}

#[cfg(unix)]
pub(super) mod unix {
    use super::TryWrite;
    use crate::run::stdio::unix::{Kind, own, socket};
    use bytes::Buf;
    use std::io::{self, IoSlice};
    use std::os::fd::OwnedFd;
    use tokio::net::UnixStream;
    use tokio::net::unix::pipe;

    /// What can be asked whether it takes more.
    pub(in crate::run) enum Pollable {
        Pipe(pipe::Sender),
        Socket(UnixStream),
    }

    pub(super) fn stdout() -> Option<Pollable> {
        match own(&io::stdout())? {
            (fd, Kind::Pipe) => pipe(fd).ok(),
            (fd, Kind::Socket) => Some(Pollable::Socket(socket(fd)?)),
        }
    }

    pub(super) fn pipe(fd: OwnedFd) -> io::Result<Pollable> {
        Ok(Pollable::Pipe(pipe::Sender::from_owned_fd(fd)?))
    }

    impl TryWrite for Pollable {
        fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
            match self {
                Pollable::Pipe(pipe) => pipe.try_write(bytes),
                Pollable::Socket(socket) => socket.try_write(bytes),
            }
        }
    }

    impl Pollable {
        /// Waits until some of `bytes` can be written, and writes it.
        pub(super) async fn write_some(&self, bytes: &mut impl Buf) -> io::Result<usize> {
            match self {
                Pollable::Pipe(pipe) => pipe.writable().await?,
                Pollable::Socket(socket) => socket.writable().await?,
            }
            let chunk = bytes.chunk();
            let written = if chunk.len() == bytes.remaining() {
                self.try_write(chunk)?
            } else {
                let mut slices = [IoSlice::new(&[]); 4];
                let used = bytes.chunks_vectored(&mut slices);
                let slices = slices.get(..used).unwrap_or_default();
                match self {
                    Pollable::Pipe(pipe) => pipe.try_write_vectored(slices)?,
                    Pollable::Socket(socket) => socket.try_write_vectored(slices)?,
                }
            };
            bytes.advance(written);
            Ok(written)
        }
    }
}
