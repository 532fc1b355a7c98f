//! The pumps: they read a pipe to its end and hand its lines in.

use super::shell::Event;
use super::stdio::Input;
use super::writer::{Batch, Credit};
use crate::stderr::Stderr;
use bytes::BytesMut;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::mpsc::Sender;

/// What a read asks for at least.
const CHUNK: usize = 16 << 10;
/// A read buffer that grew beyond this is given back after its line.
const KEEP: usize = 256 << 10;

/// Reads the client's lines until its stream ends.
pub(super) async fn pump_client(input: Input, events: Sender<Event>, credit: Credit) {
    let wrap: fn(Batch) -> Event = Event::Client;
    pump(input, events.clone(), credit, wrap).await;
    let _loop_over = events.send(Event::ClientClosed).await;
}

/// Reads lines and hands them in, batch by batch, on credit. A last line without a newline counts.
pub(super) async fn pump(
    mut input: impl AsyncRead + Unpin,
    events: Sender<Event>,
    credit: Credit,
    wrap: fn(Batch) -> Event,
) {
    let mut buffer = BytesMut::new();
    let mut searched = 0;
    loop {
        buffer.reserve(CHUNK.max(buffer.len()));
        let open = matches!(input.read_buf(&mut buffer).await, Ok(length) if length > 0);
        let mut lines = Vec::new();
        let mut bytes = 0;
        while let Some(at) = memchr::memchr(b'\n', &buffer[searched..]) {
            let mut line = buffer.split_to(searched + at + 1);
            line.truncate(searched + at);
            bytes += line.len();
            lines.push(line.freeze());
            searched = 0;
        }
        searched = buffer.len();
        if !open && !buffer.is_empty() {
            bytes += buffer.len();
            lines.push(buffer.split().freeze());
        }
        if !lines.is_empty() {
            if buffer.capacity() > KEEP {
                buffer = BytesMut::from(&buffer[..]);
            }
            let permit = credit.take(bytes).await;
            if events.send(wrap(Batch { lines, permit })).await.is_err() {
                return;
            }
        }
        if !open {
            return;
        }
    }
}

/// Passes the upstream's stderr on as it comes.
pub(super) async fn pass_stderr(mut stderr: impl AsyncRead + Unpin) {
    let mut buffer = vec![0; 8 << 10];
    while let Ok(length) = stderr.read(&mut buffer).await {
        if length == 0 {
            return;
        }
        Stderr::get().send(buffer[..length].to_vec());
    }
}
