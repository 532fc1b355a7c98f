//! Reading: lines in batches, each on credit of the writer that it is bound for.

use super::writer::Credit;
use crate::run::shell::{Batch, Event};
use crate::stderr::Stderr;
use bytes::{Bytes, BytesMut};
use std::io;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::mpsc::Sender;

/// The size of a read buffer for short lines.
const CHUNK: usize = 16 << 10;
/// A read is not started with less room than this.
const ROOM: usize = 4 << 10;
/// A read buffer that grew beyond this is given back after its line.
const KEEP: usize = 256 << 10;

/// Reads the client's lines until its stream ends, and says so.
pub(super) async fn client(input: impl AsyncRead + Unpin, events: Sender<Event>, credit: Credit) {
    lines(input, &events, &credit, Event::Client).await;
    let _loop_over = events.send(Event::ClientClosed).await;
}

/// Reads the upstream's lines until its output ends, and says so.
pub(super) async fn child(input: impl AsyncRead + Unpin, events: Sender<Event>, credit: Credit) {
    lines(input, &events, &credit, Event::Child).await;
    let _loop_over = events.send(Event::ChildClosed).await;
}

/// Passes the upstream's stderr on as it comes.
pub(super) async fn stderr(mut input: impl AsyncRead + Unpin) {
    let mut buffer = vec![0; 8 << 10];
    while let Ok(length @ 1..) = input.read(&mut buffer).await {
        Stderr::get().pass_on(buffer[..length].to_vec());
    }
}

/// A last line without a newline counts.
async fn lines(
    mut input: impl AsyncRead + Unpin,
    events: &Sender<Event>,
    credit: &Credit,
    wrap: fn(Batch) -> Event,
) {
    let mut buffer = BytesMut::new();
    let mut searched = 0;
    let mut open = true;
    while open {
        if buffer.capacity() - buffer.len() < ROOM {
            buffer.reserve(CHUNK.max(buffer.len()));
        }
        open = match input.read_buf(&mut buffer).await {
            Ok(length) => length > 0,
            Err(error) => error.kind() == io::ErrorKind::Interrupted,
        };
        let mut lines = split(&mut buffer, &mut searched);
        if !open && !buffer.is_empty() {
            lines.push(buffer.split().freeze());
        }
        if lines.is_empty() {
            continue;
        }
        if buffer.capacity() > KEEP {
            buffer = BytesMut::from(&buffer[..]);
        }
        let permit = credit.take(&lines).await;
        let batch = Batch {
            lines,
            permit,
            head: None,
        };
        if events.send(wrap(batch)).await.is_err() {
            return;
        }
    }
}

/// Takes the whole lines off the front of `buffer`, whose first `searched` bytes hold no newline.
fn split(buffer: &mut BytesMut, searched: &mut usize) -> Vec<Bytes> {
    let mut lines = Vec::new();
    while let Some(at) = memchr::memchr(b'\n', &buffer[*searched..]) {
        let mut line = buffer.split_to(*searched + at + 1);
        line.truncate(*searched + at);
        lines.push(line.freeze());
        *searched = 0;
    }
    *searched = buffer.len();
    lines
}
