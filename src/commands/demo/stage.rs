//! Where a scene is played: a client, and the simulated server, with the relay between them or without.

use super::check::Verdict;
use super::scenes::{Scene, Step};
use super::server::{Entry, Place};
use crate::commands::Failure;
use crate::commands::folder::TemporaryFolder;
use crate::commands::session::{Session, command_json, request, this_program};
use crate::instances::hash8;
use serde::Serialize;
use serde_json::{Value, json};
use std::fs::File;
use std::path::Path;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

/// How long anything may take. Only the snippet that hangs takes long, and it has a limit of its own.
const PATIENCE: Duration = Duration::from_secs(20);
/// The watchdog's seconds where a snippet hangs.
const WATCHDOG_S: &str = "0.3";
/// The id of the first call.
const FIRST_ID: u64 = 2;
/// The id of the ping.
const PING: u64 = 1000;

/// What came of a call on one side.
#[derive(Debug, Default, Serialize)]
pub(super) struct Side {
    /// What the Editors got and did, in words; empty when nothing arrived.
    pub(super) editor: String,
    /// The same in figures.
    pub(super) deliveries: Vec<Delivery>,
    /// What arrived at the client.
    pub(super) told: Vec<Value>,
    /// Whether the calls that went before succeeded.
    #[serde(skip)]
    pub(super) prepared: bool,
}

/// What an Editor did, and how many deliveries in a row made it do so.
#[derive(Debug, Serialize)]
pub(super) struct Delivery {
    editor: String,
    did: String,
    times: usize,
}

/// The messages that a scene's client sends, and in words what happens between them.
pub(super) fn sent(scene: &Scene) -> Vec<Value> {
    let step = |step: &Step| match step {
        Step::Call(tool, arguments) => json!({ "name": tool, "arguments": arguments }),
        Step::Close((name, _)) => json!(format!("({name} is closed)")),
    };
    let (tool, arguments) = &scene.call;
    let mut sent: Vec<Value> = scene.before.iter().map(step).collect();
    sent.push(json!({ "name": tool, "arguments": arguments }));
    if scene.leaves {
        sent.push(json!("(the client leaves)"));
    }
    sent
}

/// Plays a scene on one side.
pub(super) fn play(scene: &Scene, with_proxy: bool) -> Result<Side, Failure> {
    let folder = TemporaryFolder::new()?;
    let place = Place(folder.path().to_owned());
    let heartbeats = place.heartbeats();
    std::fs::create_dir(&heartbeats).map_err(Failure::io("the heartbeat folder"))?;
    for (number, editor) in scene.editors.iter().enumerate() {
        heartbeat(&heartbeats, 6400 + number, *editor)?;
    }
    let mut session = start(scene, &place, with_proxy)?;
    session.initialize(1, Instant::now() + PATIENCE)?;
    let (id, prepared) = prepare(scene, &mut session, &heartbeats)?;
    let before = entries(&place)?.len();
    let (tool, arguments) = &scene.call;
    session.send(&call_line(id, tool, arguments))?;
    let mut told = if scene.leaves && !with_proxy {
        // No answer will come. A ping's says that the server has got the call.
        session.send(&request(PING, "ping", &json!({})))?;
        let mut told = heard(&mut session, PING)?;
        told.pop();
        told
    } else {
        heard(&mut session, id)?
    };
    told.extend(end(session, &place)?);
    let entries = entries(&place)?.split_off(before);
    let deliveries = deliveries(&entries);
    let after = if scene.leaves {
        how_it_left(&entries)
    } else {
        ""
    };
    Ok(Side {
        editor: in_words(&deliveries) + after,
        deliveries,
        told,
        prepared,
    })
}

/// Does what goes before the call that counts. Returns that call's id, and whether all went well.
fn prepare(
    scene: &Scene,
    session: &mut Session,
    heartbeats: &Path,
) -> Result<(u64, bool), Failure> {
    let (mut id, mut well) = (FIRST_ID, true);
    for step in &scene.before {
        match step {
            Step::Call(tool, arguments) => {
                session.send(&call_line(id, tool, arguments))?;
                well &= Verdict::of(&heard(session, id)?) == Verdict::Success;
                id += 1;
            }
            Step::Close((_, assets)) => {
                let file = heartbeats.join(heartbeat_name(assets));
                std::fs::remove_file(file).map_err(Failure::io("a heartbeat"))?;
            }
        }
    }
    Ok((id, well))
}

fn start(scene: &Scene, place: &Place, with_proxy: bool) -> Result<Session, Failure> {
    let status = place.heartbeats().into_os_string();
    let server = [Path::new("simulated-unity"), &place.0];
    if !with_proxy {
        return Session::start_as(&server, vec![("UNITY_MCP_STATUS_DIR", status)]);
    }
    let program = this_program()?;
    let mut variables = vec![
        (
            "VRC_MCP_PROXY_UPSTREAM",
            command_json(&[&program, server[0], server[1]])?,
        ),
        ("UNITY_MCP_STATUS_DIR", status),
    ];
    if scene.leaves {
        variables.push(("VRC_MCP_PROXY_EXECUTE_TIMEOUT_S", WATCHDOG_S.into()));
    }
    Session::start(variables)
}

fn call_line(id: u64, tool: &str, arguments: &Value) -> String {
    request(
        id,
        "tools/call",
        &json!({ "name": tool, "arguments": arguments }),
    )
}

/// What the client is told until request `id` is answered.
fn heard(session: &mut Session, id: u64) -> Result<Vec<Value>, Failure> {
    let mut told = Vec::new();
    session.answer(id, Instant::now() + PATIENCE, &mut told)?;
    Ok(values(&told))
}

/// Closes the client's stream, waits until the server is gone too, and hands out what still came.
fn end(session: Session, place: &Place) -> Result<Vec<Value>, Failure> {
    let mut told = Vec::new();
    let status = session.end(&mut told)?;
    let left = |what: String| Err(Failure::Told(what));
    if !status.success() {
        return left(format!("the session ended with {status}"));
    }
    let alive = place.alive();
    let (sender, unlocked) = channel();
    std::thread::spawn(move || {
        let lock = File::open(alive).and_then(|file| file.lock());
        let _too_late = sender.send(lock.is_ok());
    });
    if unlocked.recv_timeout(PATIENCE) != Ok(true) {
        return left("the server's process is still there".to_owned());
    }
    Ok(values(&told))
}

fn entries(place: &Place) -> Result<Vec<Entry>, Failure> {
    let text = std::fs::read_to_string(place.journal()).map_err(Failure::io("the journal"))?;
    let lines = text.lines().map(serde_json::from_str);
    lines
        .collect::<Result<_, _>>()
        .map_err(|error| Failure::Told(error.to_string()))
}

/// Whether the server sent anything again when its client had left.
fn how_it_left(entries: &[Entry]) -> &'static str {
    let end = entries.iter().position(|entry| *entry == Entry::End);
    match end.map(|end| entries.len() - end - 1) {
        None | Some(0) => ". After the client left: the server is gone",
        Some(_) => ". After the client left: it was sent again",
    }
}

/// What went to the Editors while the client was there.
fn deliveries(entries: &[Entry]) -> Vec<Delivery> {
    let mut deliveries: Vec<Delivery> = Vec::new();
    for entry in entries {
        let Entry::Delivery { editor, did } = entry else {
            break;
        };
        match deliveries.last_mut() {
            Some(last) if last.editor == *editor && last.did == *did => last.times += 1,
            _ => deliveries.push(Delivery {
                editor: editor.clone(),
                did: did.clone(),
                times: 1,
            }),
        }
    }
    deliveries
}

fn in_words(deliveries: &[Delivery]) -> String {
    let times = |delivery: &Delivery| match delivery.times {
        1 => format!("once {}", delivery.did),
        times => format!("{times} times {}", delivery.did),
    };
    match deliveries {
        [] => String::new(),
        [only] if only.times == 1 => format!("{} {}", only.editor, only.did),
        [first, ..] => {
            let count: usize = deliveries.iter().map(|delivery| delivery.times).sum();
            let parts: Vec<String> = deliveries.iter().map(times).collect();
            format!(
                "{} got it {count} times: {}",
                first.editor,
                parts.join(", ")
            )
        }
    }
}

/// Lines as JSON where they are, and as strings where not.
fn values(lines: &[String]) -> Vec<Value> {
    let value = |line: &String| serde_json::from_str(line).unwrap_or_else(|_| json!(line));
    lines.iter().map(value).collect()
}

/// Writes a heartbeat file as an Editor does.
fn heartbeat(folder: &Path, port: usize, (name, assets): (&str, &str)) -> Result<(), Failure> {
    let file = folder.join(heartbeat_name(assets));
    let body = json!({
        "unity_port": port,
        "reloading": false,
        "reason": "ready",
        "seq": 1,
        "project_path": assets,
        "project_name": name,
        "unity_version": "2022.3.22f1",
        "last_heartbeat": jiff::Timestamp::now().to_string(),
    });
    std::fs::write(&file, body.to_string()).map_err(Failure::io(file.display().to_string()))
}

fn heartbeat_name(assets: &str) -> String {
    format!("unity-mcp-status-{}.json", hash8(assets))
}
