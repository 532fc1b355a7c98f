//! The bridge's side of the wire: greeting, frames, one client at a time.
//!
//! A frame is eight bytes of length, most significant first, and that many bytes of JSON. `ping` is
//! the one frame that is no command; the socket's own thread answers it, so a blocked main thread
//! does not stop pings.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::net::sockopt::set_socket_linger;
use serde_json::{Value, json};

use super::state::{Command, Fault, Shared, Verdict};

/// The bridge's limit for an idle read and for an answer alike.
const IO_LIMIT: Duration = Duration::from_secs(30);
const GREETING: &[u8] = b"WELCOME UNITY-MCP 1 FRAMING=1\n";
const PONG: &[u8] = br#"{"status":"success","result":{"message":"pong"}}"#;

/// A listening port. Dropping it ends the listener; the port is then free for the same Editor again.
pub struct Door {
    /// The accepting thread polls the other end, which sees this one go.
    wake: Option<UnixStream>,
    thread: Option<JoinHandle<()>>,
}

impl Door {
    /// Listens on `port` of 127.0.0.1 (0: any free one) and returns the port taken.
    pub fn open(shared: &Arc<Shared>, port: u16) -> (Self, u16) {
        let listener = TcpListener::bind(("127.0.0.1", port)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let (wake, asleep) = UnixStream::pair().unwrap();
        let shared = Arc::clone(shared);
        let thread = std::thread::spawn(move || accept(&shared, &listener, &asleep));
        (
            Self {
                wake: Some(wake),
                thread: Some(thread),
            },
            port,
        )
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.wake = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn accept(shared: &Arc<Shared>, listener: &TcpListener, asleep: &UnixStream) {
    loop {
        let mut ready = [
            PollFd::new(listener, PollFlags::IN),
            PollFd::new(asleep, PollFlags::IN),
        ];
        if poll(&mut ready, None).is_err() {
            continue; // interrupted by a signal
        }
        if !ready[1].revents().is_empty() {
            return;
        }
        if let Ok((socket, _)) = listener.accept() {
            let shared = Arc::clone(shared);
            std::thread::spawn(move || {
                let socket = Arc::new(socket);
                // An error here is the peer going away or being thrown out: the end of the connection either way.
                let _ = serve(&shared, &socket);
                shared.state().forget_client(&socket);
            });
        }
    }
}

/// Ends a connection from outside its thread, which notices at its next read or wait.
pub fn hang_up(socket: &TcpStream) {
    let _ = socket.shutdown(Shutdown::Read);
}

fn serve(shared: &Shared, socket: &Arc<TcpStream>) -> io::Result<()> {
    // As in the bridge, a closed connection is reset, not ended in good order.
    set_socket_linger(socket, Some(Duration::ZERO))?;
    socket.set_read_timeout(Some(IO_LIMIT))?;
    let Some(evicted) = shared.state().admit_client(socket) else {
        return Ok(());
    };
    socket.as_ref().write_all(GREETING)?;
    // One client at a time: whoever comes, even to look, throws the one before out in the middle of its command.
    if let Some(old) = evicted {
        hang_up(&old);
    }
    shared.changed.notify_all();
    loop {
        let frame = read_frame(socket)?;
        if frame.trim_ascii() == b"ping" {
            if shared.state().answer_pings {
                write_frame(socket, PONG)?;
            }
            continue;
        }
        let Some(number) = admit(shared, &frame) else {
            return Ok(());
        };
        match answer(shared, socket, number) {
            Some(answer) => write_frame(socket, answer.to_string().as_bytes())?,
            None => return Ok(()),
        }
    }
}

/// Queues a command and returns its number, or `None` where an armed fault drops it instead.
fn admit(shared: &Shared, frame: &[u8]) -> Option<u64> {
    let body: Value = serde_json::from_slice(frame).unwrap_or_default();
    let kind = body["type"].as_str().unwrap_or("?").to_owned();
    let mut state = shared.state();
    let number = state.delivered(&kind, &body["params"]);
    let dropped = state
        .take_fault(&kind, |fault| matches!(fault, Fault::DropBefore))
        .is_some();
    if !dropped {
        state.queue.push_back(Command {
            number,
            kind,
            params: body["params"].clone(),
        });
    }
    shared.changed.notify_all();
    (!dropped).then_some(number)
}

/// Waits for the main thread's answer. `None`: hang up without one.
fn answer(shared: &Shared, socket: &Arc<TcpStream>, number: u64) -> Option<Value> {
    let until = Instant::now() + IO_LIMIT;
    let mut state = shared.state();
    loop {
        if let Some(verdict) = state.verdicts.remove(&number) {
            return match verdict {
                Verdict::Send(answer) => Some(answer),
                Verdict::Drop => None,
            };
        }
        if !state.is_client(socket) {
            return None;
        }
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            let limit = IO_LIMIT.as_millis();
            return Some(
                json!({"status": "error", "error": format!("Command processing timed out after {limit} ms")}),
            );
        }
        state = shared.wait(state, left);
    }
}

/// Reads a frame's body.
pub fn read_frame(mut socket: &TcpStream) -> io::Result<Vec<u8>> {
    let mut length = [0; 8];
    socket.read_exact(&mut length)?;
    let mut frame = vec![0; usize::try_from(u64::from_be_bytes(length)).unwrap()];
    socket.read_exact(&mut frame)?;
    Ok(frame)
}

/// Writes a frame with this body.
pub fn write_frame(mut socket: &TcpStream, body: &[u8]) -> io::Result<()> {
    let mut frame = u64::try_from(body.len()).unwrap().to_be_bytes().to_vec();
    frame.extend_from_slice(body);
    socket.write_all(&frame)
}
