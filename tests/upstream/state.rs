//! What the Editor's threads share: the bridge's state, the armed faults, the log.

use std::collections::{HashMap, VecDeque};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::Pid;
use serde_json::{Value, json};
use sha1::{Digest, Sha1};

use super::csharp_host::{self, Session};
use super::socket::{self, Door};

/// The Unity version that the fake reports.
pub const UNITY: &str = "6000.0.30f1";

/// What goes wrong with a command; see [`Editor::arm`].
#[derive(Clone, Debug)]
pub enum Fault {
    /// The main thread is blocked for so long before it runs the command.
    Delay(Duration),
    /// The connection is reset instead of taking the command in: it never runs.
    DropBefore,
    /// The command runs, and the connection is reset instead of answering.
    DropAfter,
    /// The command does not run; this is answered (a whole `{"status": …}` object).
    Reply(Value),
    /// The command runs, and this is answered instead of its outcome.
    RunThenReply(Value),
}

impl Fault {
    /// An answer at which upstream sends the command again at once, for 10 to 20 s.
    pub fn reloading() -> Self {
        let answer = json!({"success": false, "error": "Unity is reloading"});
        Self::Reply(json!({"status": "success", "result": answer}))
    }
}

struct Armed {
    kind: String,
    left: usize,
    fault: Fault,
}

/// A command that has arrived and waits for the main thread.
pub struct Command {
    pub number: u64,
    pub kind: String,
    pub params: Value,
}

/// What becomes of a command's connection once the main thread is through with it.
pub enum Verdict {
    Send(Value),
    Drop,
}

/// One command as it arrived. More of these than calls: the server sent a command again.
#[derive(Clone, Debug)]
pub struct Delivery {
    pub at: Instant,
    pub kind: String,
    pub params: Value,
}

/// One command as the main thread ran it.
#[derive(Clone, Debug)]
pub struct Execution {
    pub kind: String,
    pub answer: Value,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Life {
    Up,
    Reloading,
    Gone,
}

/// Where things are; fixed for an Editor's life.
pub struct Site {
    pub name: String,
    pub hash: String,
    /// The project's root, the parent of Assets.
    pub root: PathBuf,
    pub home: PathBuf,
    pub status_file: PathBuf,
}

impl Site {
    /// The site of the project `root` (made if missing), for a server whose home folder is `home`.
    pub fn new(home: &Path, root: &Path) -> Self {
        std::fs::create_dir_all(root.join("Assets/Scenes")).unwrap();
        let status = home.join(".unity-mcp");
        std::fs::create_dir_all(&status).unwrap();
        let root = root.canonicalize().unwrap();
        let digest = hex::encode(Sha1::digest(root.join("Assets").to_str().unwrap()));
        let hash = digest[..8].to_owned();
        Self {
            name: root.file_name().unwrap().to_str().unwrap().to_owned(),
            status_file: status.join(format!("unity-mcp-status-{hash}.json")),
            hash,
            root,
            home: home.to_owned(),
        }
    }

    /// `Application.dataPath`: the Assets folder.
    pub fn data_path(&self) -> PathBuf {
        self.root.join("Assets")
    }
}

pub struct State {
    pub life: Life,
    pub reason: String,
    pub port: u16,
    pub starts: u64,
    last_number: u64,
    pub frozen: bool,
    pub answer_pings: bool,
    /// How often somebody has connected.
    pub connections: usize,
    /// Whether the tools are without their known faults.
    pub mended: bool,
    pub queue: VecDeque<Command>,
    pub verdicts: HashMap<u64, Verdict>,
    pub client: Option<Arc<TcpStream>>,
    /// Counts script domains: history, statics and queued commands belong to one.
    pub domain: u64,
    pub session: Session,
    pub host_group: Option<Pid>,
    pub executions: Vec<Execution>,
    deliveries: Vec<Delivery>,
    armed: Vec<Armed>,
    door: Option<Door>,
}

impl State {
    /// Notes an arrival and gives it its number.
    pub fn delivered(&mut self, kind: &str, params: &Value) -> u64 {
        self.deliveries.push(Delivery {
            at: Instant::now(),
            kind: kind.to_owned(),
            params: params.clone(),
        });
        self.last_number += 1;
        self.last_number
    }

    /// Uses up one count of the first armed fault for this kind of command that is `wanted`.
    pub fn take_fault(&mut self, kind: &str, wanted: impl Fn(&Fault) -> bool) -> Option<Fault> {
        let place = self
            .armed
            .iter()
            .position(|armed| armed.kind == kind && wanted(&armed.fault))?;
        self.armed[place].left -= 1;
        let fault = self.armed[place].fault.clone();
        if self.armed[place].left == 0 {
            self.armed.remove(place);
        }
        Some(fault)
    }

    /// Makes this socket the one client. Outer `None`: the bridge is down; inner: whom it replaces.
    #[allow(
        clippy::option_option,
        reason = "the two answers differ: refused, and nobody to throw out"
    )]
    pub fn admit_client(&mut self, socket: &Arc<TcpStream>) -> Option<Option<Arc<TcpStream>>> {
        self.connections += 1;
        (self.life == Life::Up).then(|| self.client.replace(Arc::clone(socket)))
    }

    pub fn is_client(&self, socket: &Arc<TcpStream>) -> bool {
        self.client
            .as_ref()
            .is_some_and(|client| Arc::ptr_eq(client, socket))
    }

    pub fn forget_client(&mut self, socket: &Arc<TcpStream>) {
        if self.is_client(socket) {
            self.client = None;
        }
    }

    /// Writes the heartbeat file, in place as the bridge does: a reader may see half of it.
    pub fn write_heartbeat(&self, site: &Site) {
        let beat = json!({
            "unity_port": self.port,
            "reloading": self.life == Life::Reloading,
            "reason": self.reason,
            "seq": self.starts,
            "project_path": site.data_path(),
            "project_name": site.name,
            "unity_version": UNITY,
            "last_heartbeat": stamp(),
            "project_scoped_tools": false,
        });
        std::fs::write(&site.status_file, beat.to_string()).unwrap();
    }

    /// Arms a fault for the next `times` commands of this type.
    pub fn arm(&mut self, kind: &str, times: usize, fault: Fault) {
        let kind = kind.to_owned();
        self.armed.push(Armed {
            kind,
            left: times,
            fault,
        });
    }

    /// The commands of this type that arrived, in order.
    pub fn deliveries(&self, kind: &str) -> impl Iterator<Item = &Delivery> {
        self.deliveries
            .iter()
            .filter(move |delivery| delivery.kind == kind)
    }

    /// The commands that arrived, in order.
    pub fn all_deliveries(&self) -> &[Delivery] {
        &self.deliveries
    }

    /// The commands of this type that ran, in order.
    pub fn executions(&self, kind: &str) -> impl Iterator<Item = &Execution> {
        self.executions
            .iter()
            .filter(move |execution| execution.kind == kind)
    }

    pub fn forget(&mut self) {
        self.deliveries.clear();
        self.executions.clear();
    }

    /// Brings the bridge up behind this listener.
    pub fn open(&mut self, door: Door, port: u16) {
        self.door = Some(door);
        self.port = port;
        self.life = Life::Up;
        self.reason = "ready".to_owned();
        self.starts += 1;
    }

    /// Takes the bridge down: nobody gets in, the client is out, the script domain ends. The listener
    /// is handed out because its thread must be waited for without holding this state.
    pub fn shut(&mut self, life: Life) -> Option<Door> {
        self.life = life;
        self.domain += 1;
        self.queue.clear();
        if let Some(client) = self.client.take() {
            socket::hang_up(&client);
        }
        if let Some(group) = self.host_group.take() {
            csharp_host::kill(group);
        }
        self.door.take()
    }
}

/// UTC with seven fraction digits and a `Z`, as .NET's "O" format writes it.
pub fn stamp() -> String {
    format!("{:.7}", jiff::Timestamp::now())
}

/// What the Editor's threads share. Every change is told through `changed`.
pub struct Shared {
    state: Mutex<State>,
    pub changed: Condvar,
    pub site: Site,
}

impl Shared {
    /// An Editor that is not up yet.
    pub fn new(site: Site) -> Self {
        let state = State {
            life: Life::Reloading,
            reason: "starting".to_owned(),
            port: 0,
            starts: 0,
            last_number: 0,
            frozen: false,
            answer_pings: true,
            connections: 0,
            mended: false,
            queue: VecDeque::new(),
            verdicts: HashMap::new(),
            client: None,
            domain: 0,
            session: Session::new(),
            host_group: None,
            executions: Vec::new(),
            deliveries: Vec::new(),
            armed: Vec::new(),
            door: None,
        };
        Self {
            state: Mutex::new(state),
            changed: Condvar::new(),
            site,
        }
    }

    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a change, at most so long; may wake early.
    pub fn wait<'a>(&self, state: MutexGuard<'a, State>, limit: Duration) -> MutexGuard<'a, State> {
        self.changed
            .wait_timeout(state, limit)
            .unwrap_or_else(PoisonError::into_inner)
            .0
    }

    /// Waits until `seen` says so; `false` when the limit passed first.
    pub fn wait_until(&self, limit: Duration, mut seen: impl FnMut(&State) -> bool) -> bool {
        let until = Instant::now() + limit;
        let mut state = self.state();
        while !seen(&state) {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            state = self.wait(state, left);
        }
        true
    }
}
