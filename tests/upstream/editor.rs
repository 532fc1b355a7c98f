//! A fake Unity Editor: what a test starts, steers and asks. The wire is in `socket.rs`, the main
//! thread in `main_thread.rs`, the tools in `tools.rs` and `assets.rs`.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use super::main_thread;
use super::socket::Door;
pub use super::state::{Delivery, Execution, Fault};
use super::state::{Life, Shared, Site, State};

/// A running Editor. Dropping it closes it.
pub struct Editor {
    shared: Arc<Shared>,
    main: Mutex<Option<JoinHandle<()>>>,
}

impl Editor {
    /// Opens the project `root` (made if missing) under the given home folder, on this port (0: any free one).
    pub fn start(home: &Path, root: &Path, port: u16) -> Self {
        let shared = Arc::new(Shared::new(Site::new(home, root)));
        std::fs::write(
            shared.site.root.join("Assets/Scenes/SampleScene.unity"),
            "%YAML 1.1\n",
        )
        .unwrap();
        shared.state().port = port;
        let editor = Self {
            main: Mutex::new(Some(main_thread::start(&shared))),
            shared,
        };
        editor.end_reload();
        editor
    }

    /// `Name@hash`, as upstream names an Editor.
    pub fn id(&self) -> String {
        format!("{}@{}", self.shared.site.name, self.shared.site.hash)
    }

    /// The first eight hex digits of the SHA-1 of `Application.dataPath`.
    pub fn hash(&self) -> &str {
        &self.shared.site.hash
    }

    pub fn port(&self) -> u16 {
        self.shared.state().port
    }

    /// The project's root folder.
    pub fn root(&self) -> &Path {
        &self.shared.site.root
    }

    pub fn status_file(&self) -> &Path {
        &self.shared.site.status_file
    }

    /// Lets the next `times` commands of this type go wrong.
    pub fn arm(&self, kind: &str, times: usize, fault: Fault) {
        self.shared.state().arm(kind, times, fault);
    }

    /// Blocks the main thread: the heartbeat stops, commands pile up, pings are still answered.
    pub fn freeze(&self, on: bool) {
        self.shared.state().frozen = on;
        self.shared.changed.notify_all();
    }

    pub fn answer_pings(&self, on: bool) {
        self.shared.state().answer_pings = on;
    }

    /// Takes the known faults out of the tools: an Editor as a later bridge may be.
    pub fn mend(&self) {
        self.shared.state().mended = true;
    }

    /// A domain reload begins: the file says so once and is then left alone, sockets are closed;
    /// queue, history and script statics are gone.
    pub fn begin_reload(&self, reason: &str) {
        let mut state = self.shared.state();
        state.reason = reason.to_owned();
        let door = state.shut(Life::Reloading);
        state.write_heartbeat(&self.shared.site);
        drop(state);
        drop(door);
        self.shared.changed.notify_all();
    }

    /// The reload is over: the Editor listens again, on the same port.
    pub fn end_reload(&self) {
        let wanted = self.port();
        let (door, port) = Door::open(&self.shared, wanted);
        let mut state = self.shared.state();
        state.open(door, port);
        state.write_heartbeat(&self.shared.site);
        drop(state);
        self.shared.changed.notify_all();
    }

    /// A clean quit: the heartbeat file is deleted.
    pub fn close(&self) {
        self.quit();
        let _ = std::fs::remove_file(&self.shared.site.status_file);
    }

    /// A crash: the heartbeat file stays as it was last written.
    pub fn crash(&self) {
        self.quit();
    }

    fn quit(&self) {
        let door = self.shared.state().shut(Life::Gone);
        drop(door);
        self.shared.changed.notify_all();
        let main = self
            .main
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(main) = main {
            let _ = main.join();
        }
    }

    /// Dates the heartbeat of an Editor that no longer beats so many seconds back.
    pub fn date_heartbeat_back(&self, seconds: i64) {
        let file = &self.shared.site.status_file;
        let mut beat: serde_json::Value =
            serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
        let then = jiff::Timestamp::now() - jiff::SignedDuration::from_secs(seconds);
        beat["last_heartbeat"] = format!("{then:.7}").into();
        std::fs::write(file, beat.to_string()).unwrap();
    }

    /// How often somebody has connected.
    pub fn connections(&self) -> usize {
        self.shared.state().connections
    }

    /// Every command of this type that arrived, in order.
    pub fn delivered(&self, kind: &str) -> Vec<Delivery> {
        self.shared.state().deliveries(kind).cloned().collect()
    }

    /// How often a command of this type arrived.
    pub fn deliveries(&self, kind: &str) -> usize {
        self.shared.state().deliveries(kind).count()
    }

    /// Every command of this type that ran, in order.
    pub fn executed(&self, kind: &str) -> Vec<Execution> {
        self.shared.state().executions(kind).cloned().collect()
    }

    /// Every command that arrived, of any type, in order.
    pub fn all_delivered(&self) -> Vec<Delivery> {
        self.shared.state().all_deliveries().to_vec()
    }

    /// How often a command of this type ran.
    pub fn executions(&self, kind: &str) -> usize {
        self.shared.state().executions(kind).count()
    }

    /// Waits until commands of this type have arrived so often; the test fails when they do not.
    pub fn wait_deliveries(&self, kind: &str, count: usize, limit: Duration) {
        self.demand(&format!("{count} deliveries of {kind}"), limit, |state| {
            state.deliveries(kind).count() >= count
        });
    }

    /// Waits until commands of this type have run so often; the test fails when they do not.
    pub fn wait_executions(&self, kind: &str, count: usize, limit: Duration) {
        self.demand(&format!("{count} runs of {kind}"), limit, |state| {
            state.executions(kind).count() >= count
        });
    }

    fn demand(&self, what: &str, limit: Duration, seen: impl FnMut(&State) -> bool) {
        assert!(
            self.shared.wait_until(limit, seen),
            "not within {limit:?}: {what}"
        );
    }

    /// Whether no command of this type arrives for so long from now on.
    pub fn quiet_for(&self, kind: &str, span: Duration) -> bool {
        let before = self.deliveries(kind);
        let another = |state: &State| state.deliveries(kind).count() > before;
        !self.shared.wait_until(span, another)
    }

    /// Empties the log, so that counting starts here.
    pub fn forget(&self) {
        self.shared.state().forget();
    }

    /// The keys of `SessionState` as of the last snippet.
    pub fn session_keys(&self) -> Vec<String> {
        self.shared.state().session.keys().cloned().collect()
    }

    /// A value of `SessionState` as of the last snippet.
    pub fn session(&self, key: &str) -> Option<String> {
        self.shared.state().session.get(key).cloned()
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        self.close();
    }
}
