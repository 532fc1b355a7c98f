//! A behaviour that panics costs what its class says, and the next call works.
//!
//! Every hook of every behaviour is swapped for one that panics once. A first and a last behaviour
//! of the test's own, with hooks of all kinds, see to it that every kind is there.
#![allow(clippy::panic, clippy::unwrap_used, reason = "tests")]

#[path = "containment/hooks.rs"]
mod hooks;
mod support;

use hooks::{ARMED, Literal, Other, Payload, Text, note_places, once, panicking, probe, registry};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;
use support::driver::Driver;
use support::surroundings::NoEditors;
use vrc_mcp_proxy::behaviors::{
    Behavior, Check, Cx, Hook, Listing, ListingEdit, REGISTRY, Refusal, Surroundings,
};
use vrc_mcp_proxy::call::Call;
use vrc_mcp_proxy::config::Config;
use vrc_mcp_proxy::contain::Class;
use vrc_mcp_proxy::instances::Editor;
use vrc_mcp_proxy::relay::Relay;
use vrc_mcp_proxy::reply::META_KEY;
use vrc_mcp_proxy::safety::Mode;

const A_LONG_TIME: Duration = Duration::from_secs(100_000);

/// A relay in which one hook panics, once it is armed.
struct Broken {
    driver: Driver,
    region: &'static str,
    class: Class,
    /// Whether the hook runs when the call goes out, and not when its answer comes.
    outward: bool,
    shown: &'static str,
}

impl Broken {
    fn new<P: Payload>(at: usize, which: usize) -> Self {
        let mut registry = registry();
        let mut hooks = registry[at].hooks.to_vec();
        let class = hooks[which].class();
        let outward = matches!(hooks[which], Hook::Witness(_));
        hooks[which] = panicking::<P>(&hooks[which]);
        registry[at].hooks = Box::leak(hooks.into_boxed_slice());
        // Asked about whatever call comes.
        registry[at].tool = None;
        Broken {
            driver: driver(&registry, Box::new(NoEditors::default())),
            region: registry[at].name,
            class,
            outward,
            shown: P::SHOWN,
        }
    }

    fn run(mut self) {
        match self.class {
            Class::Request => self.request(),
            Class::Verdict => self.verdict(),
            Class::Listing => self.listing(),
            Class::Advisory if self.outward => self.witness(),
            Class::Advisory => self.advisory(),
        }
    }

    /// The call is refused, nothing is forwarded.
    fn request(&mut self) {
        ARMED.set(true);
        self.driver.client_sends(snippet(1));
        assert!(
            self.driver.child.is_empty(),
            "{}: it was forwarded",
            self.region
        );
        let facts = [
            "itself failed",
            "nothing ran",
            "identical call",
            "same fault",
            self.region,
        ];
        self.refused(1, false, &facts);
        self.settled(1);
        self.next_call_works();
    }

    /// The same when the call has waited for its turn; the one behind it goes on.
    fn released(&mut self) {
        for id in 1..=3 {
            self.driver.client_sends(named(id));
        }
        assert_eq!(self.driver.child.len(), 1, "{}: they wait", self.region);
        self.driver.child.pop_front().unwrap();
        ARMED.set(true);
        self.driver.child_sends(answer(1));
        assert!(!ARMED.get(), "{}: the hook was not reached", self.region);
        assert_eq!(self.driver.client.pop_front().unwrap(), answer(1));
        self.refused(2, false, &["nothing ran", self.region]);
        let next = message(&self.driver.child.pop_front().unwrap());
        assert_eq!(next["id"], 3, "{}: {next}", self.region);
        self.driver.child_sends(answer(3));
        assert_eq!(self.driver.client.pop_front().unwrap(), answer(3));
        assert!(self.driver.client.is_empty() && self.driver.child.is_empty());
        self.settled(2);
    }

    /// The answer is withheld: the work may have run.
    fn verdict(&mut self) {
        self.driver.client_sends(snippet(1));
        self.driver.child.pop_front().unwrap();
        ARMED.set(true);
        self.driver.child_sends(answer(1));
        self.refused(
            1,
            true,
            &["itself failed", "withheld", "may have run", self.region],
        );
        self.settled(1);
        self.next_call_works();
    }

    /// The call goes out and its answer comes back, as if there were no such hook.
    fn witness(&mut self) {
        ARMED.set(true);
        self.driver.client_sends(snippet(1));
        let forwarded = message(&self.driver.child.pop_front().unwrap());
        assert_eq!(forwarded["id"], 1, "{}: {forwarded}", self.region);
        assert!(self.driver.client.is_empty(), "{}", self.region);
        self.driver.child_sends(answer(1));
        let got = self.driver.client.pop_front().unwrap();
        assert_eq!(got, answer(1), "{}", self.region);
        self.logged();
        self.settled(1);
        self.next_call_works();
    }

    /// Upstream's own bytes go out.
    fn advisory(&mut self) {
        self.driver.client_sends(snippet(1));
        self.driver.child.pop_front().unwrap();
        ARMED.set(true);
        // One that earns a note of another behaviour, so that bytes added half-way would show.
        let line = r#" { "id":1,"result" : {"content":[{"type":"text","text":"Timeout receiving Unity response"}],"n":1.50},"jsonrpc":"2.0"} "#;
        self.driver.child_sends(format!("{line}\r"));
        let got = self.driver.client.pop_front().unwrap();
        assert_eq!(String::from_utf8_lossy(&got), line, "{}", self.region);
        self.logged();
        self.settled(1);
        self.next_call_works();
    }

    /// The list is not shown.
    fn listing(&mut self) {
        let request = r#"{"jsonrpc":"2.0","id":"l","method":"tools/list"}"#;
        let list = r#"{"jsonrpc":"2.0","id":"l","result":{"tools":[]} }"#;
        self.driver.client_sends(request);
        self.driver.child.pop_front().unwrap();
        ARMED.set(true);
        self.driver.child_sends(list);
        let got = message(&self.driver.client.pop_front().unwrap());
        assert_eq!(
            (&got["id"], &got["error"]["code"]),
            (&json!("l"), &json!(-32603)),
            "{got}"
        );
        self.logged();
        self.settled(1);
        self.driver.client_sends(request);
        self.driver.child.pop_front().unwrap();
        self.driver.child_sends(list);
        assert_eq!(
            self.driver.client.pop_front().unwrap(),
            list,
            "{}",
            self.region
        );
        self.next_call_works();
    }

    fn refused(&mut self, id: u32, forwarded: bool, says: &[&str]) {
        let got = message(&self.driver.client.pop_front().unwrap());
        let fact = json!([{"behavior":"relay","code":"contained_failure","forwarded":forwarded}]);
        assert_eq!(got["id"], id, "{got}");
        assert_eq!(got["result"]["isError"], true, "{got}");
        assert_eq!(got["result"]["_meta"][META_KEY], fact, "{got}");
        assert_eq!(got["result"].get("structuredContent"), None, "{got}");
        let text = got["result"]["content"][0]["text"].as_str().unwrap();
        for part in says {
            assert!(
                text.contains(part),
                "{}: the refusal lacks {part:?}: {text}",
                self.region
            );
        }
        self.logged();
    }

    /// One line on stderr with region, class, message and place.
    fn logged(&self) {
        let (region, class, shown) = (self.region, self.class, self.shown);
        let start = format!("contained failure in {region} (class {class}): {shown} at ");
        let lines = self
            .driver
            .log
            .iter()
            .filter(|line| line.contains("contained failure"));
        let lines: Vec<_> = lines.collect();
        let [line] = lines[..] else {
            panic!("{region}: one line was to be logged, not {lines:?}");
        };
        let place = line.strip_prefix(&start);
        let place = place.unwrap_or_else(|| panic!("{line:?} does not start with {start:?}"));
        assert!(place.contains("hooks.rs:"), "{line}");
    }

    /// Nothing is left of the call: no entry, no timer, no answer to come.
    fn settled(&mut self, id: u32) {
        assert_eq!(self.driver.relay.waiting(), 0, "{}", self.region);
        assert_eq!(self.driver.relay.next_deadline(), None, "{}", self.region);
        self.driver.advance(A_LONG_TIME);
        self.driver.child_sends(answer(id));
        assert!(
            self.driver.client.is_empty(),
            "{}: {:?}",
            self.region,
            self.driver.client
        );
    }

    fn next_call_works(&mut self) {
        assert!(!ARMED.get(), "{}: the hook was not reached", self.region);
        self.driver.client_sends(snippet(2));
        let forwarded = message(&self.driver.child.pop_front().unwrap());
        assert_eq!(forwarded["id"], 2, "{}: {forwarded}", self.region);
        assert!(
            self.driver.client.is_empty(),
            "{}: {:?}",
            self.region,
            self.driver.client
        );
        self.driver.child_sends(answer(2));
        assert_eq!(
            self.driver.client.pop_front().unwrap(),
            answer(2),
            "{}",
            self.region
        );
        assert!(self.driver.client.is_empty() && self.driver.child.is_empty());
    }
}

fn driver(registry: &[Behavior], surroundings: Box<dyn Surroundings + Send>) -> Driver {
    note_places();
    // A mode in which every behaviour is at work; the snippets carry the yes that it asks for.
    let config = Config {
        mode: Mode::Confirm,
        ..Config::default()
    };
    Driver::new(Relay::new(config, registry, surroundings))
}

fn snippet(id: u32) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"execute_code","arguments":{{"action":"execute","code":"return 1;","confirm":true}}}}}}"#
    )
}

/// One that goes out alone, and that others wait for.
fn named(id: u32) -> String {
    snippet(id).replace(r#""code":"#, r#""unity_instance":"Alpha@0be31597","code":"#)
}

fn answer(id: u32) -> String {
    let payload = r#"{\"success\":true,\"data\":{\"result\":1}}"#;
    format!(
        r#"{{"jsonrpc":"2.0", "id":{id},"result":{{"content":[{{"type":"text","text":"{payload}"}}],"isError":false}}}}"#
    )
}

fn message(line: &[u8]) -> Value {
    serde_json::from_slice(line).unwrap()
}

fn every_hook_with<P: Payload>() {
    for (at, behavior) in registry().iter().enumerate() {
        for which in 0..behavior.hooks.len() {
            let broken = Broken::new::<P>(at, which);
            // Without its own hook nothing waits; the hooks of the probes stand in for it.
            if broken.class == Class::Request && broken.region != "eviction_hold" {
                Broken::new::<P>(at, which).released();
            }
            broken.run();
        }
    }
}

#[test]
fn a_panic_with_a_literal_costs_what_the_class_says() {
    every_hook_with::<Literal>();
}

#[test]
fn a_panic_with_a_text_costs_what_the_class_says() {
    every_hook_with::<Text>();
}

#[test]
fn a_panic_with_something_else_costs_what_the_class_says() {
    every_hook_with::<Other>();
}

/// Fails by itself, without a panic.
fn gives_up(_: &Listing<'_>, _: &Cx<'_>) -> Result<ListingEdit, String> {
    Err("the baseline is broken".to_owned())
}

/// Takes `manage_editor` for drifted, and refuses what is drifted.
fn drifts(_: &Listing<'_>, _: &Cx<'_>) -> Result<ListingEdit, String> {
    Ok(ListingEdit {
        drifted: vec![("manage_editor".to_owned(), "something".to_owned())],
        ..ListingEdit::default()
    })
}

fn refuse_drifted(call: &Call<'_>, cx: &Cx<'_>) -> Check {
    match cx.listings.drifted.get(&*call.tool) {
        None => Check::Pass,
        Some(_) => Check::Refuse(Refusal {
            code: "probed",
            text: "drifted".to_owned(),
        }),
    }
}

#[test]
fn a_listing_that_is_not_shown_leaves_nothing_behind() {
    const DRIFTS: &[Hook] = &[Hook::Listing(drifts), Hook::Guard(refuse_drifted)];
    const GIVES_UP: &[Hook] = &[Hook::Listing(gives_up)];
    let call = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"manage_editor","arguments":{}}}"#;
    for (registry, shown) in [
        (
            vec![probe("drifts", DRIFTS), probe("gives_up", GIVES_UP)],
            false,
        ),
        (vec![probe("drifts", DRIFTS)], true),
    ] {
        let mut driver = driver(&registry, Box::new(NoEditors::default()));
        driver.client_sends(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
        driver.child_sends(r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}"#);
        let got = message(&driver.client.pop_front().unwrap());
        assert_eq!(got.get("result").is_some(), shown, "{got}");
        if !shown {
            let text = got["error"]["message"].as_str().unwrap();
            assert!(
                text.contains("gives_up") && text.contains("the baseline is broken"),
                "{text}"
            );
            let line = "contained failure in gives_up (class listing): the baseline is broken";
            assert_eq!(driver.log, [line]);
        }
        driver.client_sends(call);
        // What a list that was shown said counts; what a withheld one said does not.
        assert_eq!(driver.client.is_empty(), !shown);
    }
}

/// Two Editors, unless the folder cannot be read.
struct Unreadable;

impl Surroundings for Unreadable {
    fn editors(&self) -> Vec<Editor> {
        once::<Text>();
        let now = support::driver::START_UNIX_MS;
        let written = jiff::Timestamp::from_millisecond(now).unwrap();
        let editor = |name: &str| {
            let body = json!({"project_path": format!("C:/{name}/Assets"), "project_name": name, "last_heartbeat": written.to_string()});
            Editor::parse(name, Path::new("file"), body.to_string().as_bytes()).unwrap()
        };
        vec![editor("aa"), editor("bb")]
    }

    fn holds_folder(&self, _: &Path, _: &str) -> Option<bool> {
        None
    }

    fn fresh_key(&self) -> String {
        "0".repeat(32)
    }
}

#[test]
fn heartbeats_that_cannot_be_read_fail_in_the_guard_that_wanted_them() {
    let mut driver = driver(REGISTRY, Box::new(Unreadable));
    ARMED.set(true);
    driver.client_sends(snippet(1));
    assert!(driver.child.is_empty());
    let got = message(&driver.client.pop_front().unwrap());
    assert_eq!(
        got["result"]["_meta"][META_KEY][0]["code"], "contained_failure",
        "{got}"
    );
    driver.client_sends(snippet(2));
    let got = message(&driver.client.pop_front().unwrap());
    assert_eq!(
        got["result"]["_meta"][META_KEY][0]["behavior"], "instance_guard",
        "{got}"
    );
}

#[test]
fn a_pin_is_committed_before_anything_that_can_fail() {
    // Alone with the guard that reads the pin: another behaviour may add something to the answer.
    let guard = REGISTRY.iter().find(|b| b.name == "instance_guard");
    let mut driver = driver(&[*guard.unwrap()], Box::new(Unreadable));
    driver.client_sends(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"set_active_instance","arguments":{"instance":"aa"}}}"#);
    driver.child.pop_front().unwrap();
    ARMED.set(true);
    driver.child_sends(answer(1));
    assert_eq!(driver.client.pop_front().unwrap(), answer(1));
    let log = driver.log.join("\n");
    assert!(
        log.contains("contained failure in session_pin (class advisory): a text"),
        "{log}"
    );
    driver.client_sends(r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"manage_editor","arguments":{}}}"#);
    assert_eq!(driver.child.len(), 1, "{:?}", driver.client);
}
