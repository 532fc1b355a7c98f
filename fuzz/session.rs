//! The core with nothing around it.
#![allow(dead_code, reason = "each target uses its own part")]

use bytes::Bytes;
use serde_json::Value;
use std::path::Path;
use std::time::Duration;
use vrc_mcp_proxy::behaviors::{REGISTRY, Surroundings};
use vrc_mcp_proxy::config::{Config, EXPOSED_TOOLS};
use vrc_mcp_proxy::instances::Editor;
use vrc_mcp_proxy::relay::{Action, Now, Relay};

struct Nothing;

impl Surroundings for Nothing {
    fn editors(&self) -> Vec<Editor> {
        Vec::new()
    }

    fn holds_folder(&self, _: &Path, _: &str) -> Option<bool> {
        None
    }

    fn fresh_key(&self) -> String {
        "0123456789abcdef0123456789abcdef".to_owned()
    }
}

/// A relay, a client and a server.
pub struct Session {
    relay: Relay,
    clock: u64,
    actions: Vec<Action>,
}

impl Session {
    pub fn new() -> Self {
        Session {
            relay: Relay::new(Config::default(), REGISTRY, Box::new(Nothing)),
            clock: 0,
            actions: Vec::new(),
        }
    }

    fn now(&mut self) -> Now {
        self.clock += 1;
        Now {
            since_start: Duration::from_millis(self.clock),
            unix_ms: 1_767_225_600_000,
        }
    }

    pub fn client_sends(&mut self, line: &[u8]) {
        let now = self.now();
        self.relay
            .on_client_line(Bytes::copy_from_slice(line), now, &mut self.actions);
    }

    pub fn server_sends(&mut self, line: &[u8]) {
        let now = self.now();
        self.relay
            .on_child_line(Bytes::copy_from_slice(line), now, &mut self.actions);
    }

    pub fn end(&mut self) {
        self.relay
            .on_child_end("ended with status 0", "", &mut self.actions);
    }

    pub fn waiting(&self) -> usize {
        self.relay.waiting()
    }

    /// Takes the lines for the server.
    pub fn take_forwarded(&mut self) -> Vec<Bytes> {
        self.take(|action| match action {
            Action::ToChild(line) => Some(line.clone()),
            _ => None,
        })
    }

    /// Takes the lines for the client.
    pub fn take_delivered(&mut self) -> Vec<Bytes> {
        self.take(|action| match action {
            Action::ToClient(line) => Some(line.clone()),
            _ => None,
        })
    }

    fn take(&mut self, wanted: fn(&Action) -> Option<Bytes>) -> Vec<Bytes> {
        let taken = self.actions.iter().filter_map(wanted).collect();
        for action in self.actions.drain(..) {
            if let Action::Log(_, text) = action {
                assert!(!text.contains("contained failure"), "{text}");
            }
        }
        taken
    }
}

/// What may not reach the server.
pub fn judge(message: &Value) {
    assert_eq!(message["jsonrpc"], "2.0");
    if message["method"] != "tools/call" {
        return;
    }
    assert!(
        message["id"].is_i64()
            || message["id"].is_u64()
            || message["id"].is_number()
            || message["id"].is_string()
    );
    let name = message["params"]["name"].as_str().expect("a name");
    assert!(EXPOSED_TOOLS.contains(&name), "{name}");
    let arguments = &message["params"]["arguments"];
    let action = arguments["action"].as_str().unwrap_or_default();
    if let ("execute_code", "execute", Some(code)) = (name, action, arguments["code"].as_str())
        && !code.trim().is_empty()
    {
        assert!(
            code.contains("/* vrc-mcp-proxy key "),
            "not wrapped: {code}"
        );
    }
    assert!(!(name == "manage_asset" && ["move", "rename"].contains(&action)));
}
