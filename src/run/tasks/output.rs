//! Where bytes go.

use bytes::Buf;
use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::process::ChildStdin;

/// A writable end.
pub(super) enum Output {
    /// The upstream's input.
    Child(ChildStdin),
    /// Standard output, written on a blocking thread.
    Stdout,
}

impl Output {
    /// Writes all of `bytes`, and adds what is written to `sum`.
    pub(super) async fn write(
        &mut self,
        mut bytes: impl Buf + Send + 'static,
        sum: &AtomicU64,
    ) -> io::Result<()> {
        while bytes.has_remaining() {
            let written = match self {
                Output::Child(stdin) => {
                    tokio::io::AsyncWriteExt::write_buf(stdin, &mut bytes).await
                }
                Output::Stdout => {
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
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
        }
        Ok(())
    }
}

fn to_stdout(mut bytes: impl Buf) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    while bytes.has_remaining() {
        match stdout.write(bytes.chunk()) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(length) => bytes.advance(length),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    stdout.flush()
}
