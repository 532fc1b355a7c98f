//! `--probe`: the only place that connects to an Editor.

use super::Scene;
use super::finding::{Report, Section, Severity, listed};
use crate::commands::complain;
use crate::instances::Editor;
use serde_json::json;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

const SECTION: Section = Section::Probe;

/// How the bridge greets whoever connects (10.1.0; the line goes on with the protocol's version).
const GREETING: &[u8] = b"WELCOME UNITY-MCP";
/// The port of upstream's server when its transport is HTTP (its default, 10.1.0).
const HTTP_PORT: u16 = 8080;
/// What its `/health` says (10.1.0).
const HTTP_SERVER: &[u8] = b"MCP for Unity server is running";
/// The bridge greets at once, on a thread of its own.
const LIMIT: Duration = Duration::from_secs(2);

/// Says what a probe does, before it is done.
pub(super) fn announce() {
    complain(
        "--probe connects to the port of every Editor that has a heartbeat. The bridge serves one client: the one that \
         it serves now is thrown out in the middle of its command, which is then delivered again",
    );
}

/// What is behind a port.
#[derive(Debug, PartialEq, Eq)]
enum Behind {
    Bridge(String),
    Http,
    /// Something that neither greets nor answers.
    Silent(String),
    /// Something that took the connection and ended it without a word.
    HangsUp,
    Nobody(String),
}

/// What a visitor was told.
#[derive(Default)]
struct Said {
    bytes: Vec<u8>,
    /// Whether the other side ended the connection.
    hung_up: bool,
}

pub(super) fn examine(scene: &Scene, report: &mut Report) {
    let mut ports: Vec<u16> = scene
        .editors
        .iter()
        .filter_map(|editor| editor.port)
        .collect();
    ports.sort_unstable();
    ports.dedup();
    for port in ports {
        let of_port = |editor: &&Editor| editor.port == Some(port);
        let editors: Vec<&Editor> = scene.editors.iter().filter(of_port).collect();
        let live = editors.iter().any(|editor| editor.is_live(scene.now_ms));
        tell(port, &editors, live, &knock(port), report);
    }
    let answer = talk(HTTP_PORT, Some("/health"));
    if answer.is_ok_and(|said| contains(&said.bytes, HTTP_SERVER)) {
        report
            .add(
                SECTION,
                if scene.live().is_empty() { Severity::Problem } else { Severity::Info },
                "http_server",
                format!(
                    "an MCP for Unity server answers on port {HTTP_PORT} over HTTP: an Editor whose transport is HTTP \
                     talks to that one"
                ),
            )
            .cure("choose stdio in Window > MCP for Unity and start the session")
            .data(json!({ "port": HTTP_PORT }));
    }
    if scene.editors.iter().all(|editor| editor.port.is_none()) {
        report.add(
            SECTION,
            Severity::Info,
            "nothing_to_probe",
            "no heartbeat names a port",
        );
    }
}

fn tell(port: u16, editors: &[&Editor], live: bool, behind: &Behind, report: &mut Report) {
    let names = listed(editors.iter().map(|editor| editor.identifier()));
    // A port of a ghost may be anyone's by now.
    let severity = [Severity::Info, Severity::Problem][usize::from(live)];
    let (severity, id, text, cure) = match behind {
        Behind::Bridge(greeting) if live => (
            Severity::Ok,
            "port_greets",
            format!("port {port} ({names}) greets as the bridge does: {greeting}"),
            None,
        ),
        Behind::Bridge(greeting) => (
            Severity::Warning,
            "ghost_greets",
            format!(
                "port {port} ({names}) greets as the bridge does ({greeting}), though its heartbeat is old"
            ),
            Some(
                "look at that Editor: its main thread is blocked, or another one has taken the port",
            ),
        ),
        Behind::Http => (
            severity,
            "port_speaks_http",
            format!("port {port} ({names}) speaks HTTP, not the bridge's protocol"),
            Some("choose stdio as the transport in Window > MCP for Unity and start the session"),
        ),
        Behind::Silent(why) => (
            severity,
            "port_silent",
            format!("port {port} ({names}) is open and does not greet as the bridge does: {why}"),
            Some(
                "end the other program on that port, or start the session anew in Window > MCP for Unity",
            ),
        ),
        Behind::HangsUp => (
            severity.min(Severity::Warning),
            "port_hangs_up",
            format!(
                "port {port} ({names}) took the connection and ended it before any greeting, as the bridge does \
                 when the client that it served is back at once, and as another program may"
            ),
            Some("probe again while no client works with that Editor"),
        ),
        Behind::Nobody(why) => (
            severity,
            "port_closed",
            format!("nobody listens on port {port} ({names}): {why}"),
            Some(
                "start the session in Window > MCP for Unity; while it reloads or when it has crashed nobody listens",
            ),
        ),
    };
    let editors: Vec<String> = editors.iter().map(|editor| editor.identifier()).collect();
    let finding = report.add(SECTION, severity, id, text);
    finding.data(json!({ "port": port, "editors": editors }));
    if let Some(cure) = cure {
        finding.cure(cure);
    }
}

fn knock(port: u16) -> Behind {
    let Said {
        bytes: said,
        hung_up,
    } = match talk(port, None) {
        Ok(said) => said,
        Err(error) => return Behind::Nobody(error.to_string()),
    };
    if hung_up && said.is_empty() {
        return Behind::HangsUp;
    }
    let first = said.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let shown = String::from_utf8_lossy(&first[..first.len().min(80)]).into_owned();
    if said.starts_with(GREETING) {
        return Behind::Bridge(shown);
    }
    if said.starts_with(b"HTTP/")
        || talk(port, Some("/")).is_ok_and(|said| said.bytes.starts_with(b"HTTP/"))
    {
        return Behind::Http;
    }
    Behind::Silent(if said.is_empty() {
        format!("it said nothing within {} s", LIMIT.as_secs())
    } else {
        format!("it said {shown:?}")
    })
}

/// Connects and takes what is said, after a request where there is one: until a whole line of a greeting, or the end
/// of an answer, or the limit.
fn talk(port: u16, get: Option<&str>) -> io::Result<Said> {
    const MOST: usize = 4096;
    let until = Instant::now() + LIMIT;
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let mut said = Said::default();
    let mut stream = match TcpStream::connect_timeout(&address, LIMIT) {
        // Somebody was there: a port without a listener refuses.
        Err(error) if is_hang_up(&error) => {
            said.hung_up = true;
            return Ok(said);
        }
        stream => stream?,
    };
    if let Some(path) = get {
        stream.write_all(format!("GET {path} HTTP/1.0\r\nHost: localhost\r\n\r\n").as_bytes())?;
    }
    let mut piece = [0; 512];
    while said.bytes.len() < MOST && (get.is_some() || !said.bytes.contains(&b'\n')) {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break;
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut piece) {
            Ok(length @ 1..) => said.bytes.extend_from_slice(&piece[..length]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            // A port that hangs up, or a limit that ran out: what was said until then counts.
            end => {
                said.hung_up = end.map_or_else(|error| is_hang_up(&error), |_| true);
                break;
            }
        }
    }
    Ok(said)
}

fn is_hang_up(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted
    )
}

fn contains(said: &[u8], part: &[u8]) -> bool {
    memchr::memmem::find(said, part).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    /// A port where `answer` is said to each of `times` visitors, at once or when they have said something.
    fn port(answer: &'static [u8], after_request: bool, times: usize) -> u16 {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let port = listener.local_addr().expect("an address").port();
        std::thread::spawn(move || {
            for _ in 0..times {
                let (mut stream, _) = listener.accept().expect("a visitor");
                let mut heard = [0; 16];
                if !after_request || stream.read(&mut heard).is_ok_and(|length| length > 0) {
                    let _gone = stream.write_all(answer);
                }
            }
        });
        port
    }

    #[test]
    fn what_is_behind_a_port() {
        let bridge = port(b"WELCOME UNITY-MCP 1 FRAMING=1\n", false, 1);
        assert_eq!(
            knock(bridge),
            Behind::Bridge("WELCOME UNITY-MCP 1 FRAMING=1".to_owned())
        );
        assert_eq!(
            knock(port(b"HTTP/1.1 404 Not Found\r\n\r\n", true, 2)),
            Behind::Http
        );
        assert_eq!(
            knock(port(b"SSH-2.0-x\r\n", false, 2)),
            Behind::Silent("it said \"SSH-2.0-x\\r\"".to_owned())
        );
        assert_eq!(knock(port(b"", false, 1)), Behind::HangsUp);
        let closed = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let number = closed.local_addr().expect("an address").port();
        drop(closed);
        assert!(matches!(knock(number), Behind::Nobody(_)));
    }
}
