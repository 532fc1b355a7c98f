use crate::behaviors::{REGISTRY, Surroundings};
use crate::config::Config;
use crate::instances::Editor;
use crate::relay::{Action, Now, Relay};
use std::path::Path;

/// One live Editor.
struct Alone;

impl Surroundings for Alone {
    fn editors(&self) -> Vec<Editor> {
        let body =
            r#"{"project_path":"C:/Unity/Alpha/Assets","last_heartbeat":"1970-01-01T00:00:00Z"}"#;
        Editor::parse("0be31597", Path::new("f"), body.as_bytes())
            .into_iter()
            .collect()
    }

    fn holds_folder(&self, _: &Path, _: &str) -> Option<bool> {
        None
    }

    fn fresh_key(&self) -> String {
        "0".repeat(32)
    }
}

/// What becomes of a snippet of this length: the refusal's text, or `None` when it is forwarded.
fn refusal(length: usize, disabled: &[&'static str]) -> Option<String> {
    let config = Config {
        disabled: disabled.iter().copied().collect(),
        ..Config::default()
    };
    let mut relay = Relay::new(config, REGISTRY, Box::new(Alone));
    let code = format!("{:length$}", "return 1;");
    let call = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"execute_code","arguments":{{"action":"execute","code":"{code}"}}}}}}"#
    );
    let mut out = Vec::new();
    relay.on_client_line(call.into(), Now::default(), &mut out);
    out.iter().find_map(|action| match action {
        Action::ToClient(line) => Some(String::from_utf8_lossy(line).into_owned()),
        _ => None,
    })
}

#[test]
fn a_snippet_that_is_shortened_as_told_fits() {
    let (idempotency, venue) = ("execute_code_idempotency_guard", "execute_code_venue_guard");
    for (disabled, told_by) in [
        (&[][..], idempotency),
        (&[venue], idempotency),
        (&[idempotency], venue),
    ] {
        let text = refusal(50_000, disabled).expect("it is refused");
        assert!(text.contains(told_by), "{text}");
        let (_, rest) = text.split_once("Shorten it by ").expect("a number");
        let (number, _) = rest.split_once(' ').expect("a number");
        let longest = 50_000 - number.parse::<usize>().expect("a number");
        assert_eq!(refusal(longest, disabled), None);
        assert!(refusal(longest + 1, disabled).is_some());
        // The Editor refuses it by itself.
        assert_eq!(refusal(50_001, disabled), None);
    }
}
