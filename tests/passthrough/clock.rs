//! The wall clock may jump, and heartbeats may carry any time: calls pass or are refused by rules, deadlines keep to
//! the clock that never goes back.

use crate::json::config;
use bytes::Bytes;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use std::path::Path;
use std::time::Duration;
use vrc_mcp_proxy::behaviors::{REGISTRY, Surroundings};
use vrc_mcp_proxy::config::Config;
use vrc_mcp_proxy::instances::Editor;
use vrc_mcp_proxy::relay::{Action, Now, Relay};

/// One Editor with this heartbeat.
struct OneEditor(Option<i64>);

impl Surroundings for OneEditor {
    fn editors(&self) -> Vec<Editor> {
        vec![Editor {
            hash: "0be31597".to_owned(),
            project_name: Some("Alpha".to_owned()),
            project_path: "C:/Unity/Alpha/Assets".to_owned(),
            port: Some(6400),
            reloading: true,
            reason: Some("reloading".to_owned()),
            last_heartbeat_ms: self.0,
            file: Path::new("unity-mcp-status-0be31597.json").to_owned(),
            moved: None,
        }]
    }

    fn holds_folder(&self, _: &Path, _: &str) -> Option<bool> {
        None
    }

    fn fresh_key(&self) -> String {
        "0".repeat(32)
    }
}

/// Milliseconds since 1970, some of them odd.
fn moment() -> impl Strategy<Value = i64> {
    prop_oneof![
        select(vec![
            i64::MIN,
            i64::MIN + 1,
            -1,
            0,
            1,
            1_767_225_600_000,
            i64::MAX - 1,
            i64::MAX
        ]),
        any::<i64>(),
        1_767_225_000_000..1_767_226_000_000_i64,
    ]
}

const ANSWERS: [&str; 4] = [
    r#"{"success":false,"error":"Unity is reloading; please retry","hint":"retry","data":{"reason":"reloading"}}"#,
    r#"{"success":false,"error":"Instance 'Alpha@0be31597' not found."}"#,
    r#"{"success":false,"error":"No Unity Editor instances found."}"#,
    r#"{"success":false,"error":"Timeout receiving Unity response"}"#,
];

fn line(value: &serde_json::Value) -> Bytes {
    value.to_string().into()
}

proptest! {
    #![proptest_config(config(1))]

    #[test]
    fn jumps_of_the_wall_clock_cost_nothing(
        heartbeat in proptest::option::of(moment()),
        clock in vec((moment(), 0..4_usize, any::<bool>()), 1..20),
    ) {
        let surroundings = Box::new(OneEditor(heartbeat));
        let mut relay = Relay::new(Config::default(), REGISTRY, surroundings);
        let mut since_start = Duration::ZERO;
        for (id, (unix_ms, answer, executes)) in clock.into_iter().enumerate() {
            since_start += Duration::from_secs(1);
            let now = Now { since_start, unix_ms };
            let mut out = Vec::new();
            let (tool, action) = if executes { ("execute_code", "execute") } else { ("manage_editor", "play") };
            let arguments = serde_json::json!({
                "action": action, "code": "return 1;", "unity_instance": "Alpha@0be31597",
            });
            relay.on_client_line(line(&serde_json::json!({
                "jsonrpc": "2.0", "id": id, "method": "tools/call",
                "params": { "name": tool, "arguments": arguments },
            })), now, &mut out);
            if let Some(at) = relay.next_deadline() {
                prop_assert!(at > since_start && at <= since_start + Duration::from_secs(200));
            }
            let text = ANSWERS[answer];
            relay.on_child_line(line(&serde_json::json!({
                "jsonrpc": "2.0", "id": id,
                "result": { "content": [{ "type": "text", "text": text }], "isError": false },
            })), now, &mut out);
            let answers = out.iter().filter(|action| matches!(action, Action::ToClient(_))).count();
            prop_assert_eq!(answers, 1);
            let failed = out.iter().any(|action| {
                matches!(action, Action::Log(_, text) if text.contains("contained failure"))
            });
            prop_assert!(!failed, "{:?}", out);
            prop_assert_eq!(relay.waiting(), 0);
        }
    }
}
