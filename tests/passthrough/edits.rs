//! A message that is changed keeps every byte of what the change does not mean.

use crate::json::{Choices, Member, as_delivered, choices, config};
use crate::scanner::entries;
use crate::support::driver::Driver;
use crate::support::surroundings::NoEditors;
use proptest::prelude::*;
use serde_json::{Value, json};
use vrc_mcp_proxy::behaviors::{Behavior, Cx, Hook, Note, PayloadEdit, Rewriting, Step};
use vrc_mcp_proxy::call::{Call, Rewrite};
use vrc_mcp_proxy::config::Config;
use vrc_mcp_proxy::relay::Relay;
use vrc_mcp_proxy::relay::inflight::InFlight;
use vrc_mcp_proxy::reply::{META_KEY, NOTE_KEY, Reply};

fn driver(hooks: &'static [Hook]) -> Driver {
    let probe = Behavior {
        name: "probe",
        summary: "Changes things.",
        tool: None,
        hooks,
        codes: &[("probed", "it was probed")],
    };
    let surroundings = Box::new(NoEditors::default());
    Driver::new(Relay::new(Config::default(), &[probe], surroundings))
}

/// Sets `a` and `c`, in two steps that build on each other, and removes `b`.
const REWRITES: &[Hook] = &[Hook::Rewrite(first_rewrite), Hook::Rewrite(second_rewrite)];

fn first_rewrite(_: &Call<'_>, _: &Cx<'_>) -> Rewriting {
    Rewriting::Change(Rewrite {
        set: vec![("a", "[1.50]".to_owned()), ("c", "0".to_owned())],
        remove: vec!["b"],
        ..Rewrite::default()
    })
}

fn second_rewrite(call: &Call<'_>, _: &Cx<'_>) -> Rewriting {
    assert_eq!(call.argument("a"), Some("[1.50]"));
    assert_eq!(call.argument("b"), None);
    let c = format!("{{\"was\":{}}}", call.argument("c").unwrap());
    Rewriting::Change(Rewrite {
        set: vec![("c", c)],
        ..Rewrite::default()
    })
}

/// Arguments with any number of `a`, `b` and `c`, spelled either way, among others.
fn arguments(c: &mut Choices) -> String {
    let members = (0..c.below(7)).map(|_| {
        let value = c.value();
        match c.below(4) {
            3 => (format!("\"x-{}", &c.string()[1..]), value),
            which => c.member(["a", "b", "c"][which], value),
        }
    });
    let members = members.collect();
    c.object(members)
}

fn rewritten(arguments: &str) -> Vec<(String, String)> {
    let mut wanted = entries(arguments).unwrap();
    wanted.retain(|(key, _)| key != "b");
    for (key, value) in [("a", "[1.50]"), ("c", r#"{"was":0}"#)] {
        match wanted.iter_mut().rfind(|(other, _)| other == key) {
            Some((_, old)) => value.clone_into(old),
            None => wanted.push((key.to_owned(), value.to_owned())),
        }
    }
    wanted
}

const NOTES: &[Hook] = &[Hook::Note(notes)];
/// A note with everything that has to be escaped.
const NOTE: &str = "say \"it\"\\\nagain \u{1} é😀";

fn notes(_: &InFlight, _: &Reply<'_>, _: &Cx<'_>) -> Vec<Note> {
    let note = |text: &str| Note {
        code: "probed",
        text: text.to_owned(),
    };
    vec![note(NOTE), note("second")]
}

const KEYS: &[Hook] = &[Hook::Edit(edit)];
const BOTH: &[Hook] = &[Hook::Edit(edit), Hook::Note(notes)];

fn edit(_: &InFlight, _: &Reply<'_>, _: &Cx<'_>) -> Option<PayloadEdit> {
    Some(PayloadEdit {
        set: vec![(vec![Step::Key("added")], "\"ü \\\"x\\\"\"".to_owned())],
        code: "probed",
    })
}

fn quote(text: &str) -> String {
    Value::from(text).to_string()
}

/// Takes a part out of a text that must hold it once: with its comma where it follows something.
fn take_out(text: &mut String, part: &str) {
    let found = text.matches(part).count();
    assert_eq!(found, 1, "{part} stands {found} times in {text}");
    let with_comma = format!(",{part}");
    let part = if text.contains(&with_comma) {
        &with_comma
    } else {
        part
    };
    *text = text.replacen(part, "", 1);
}

/// How a surface of an answer may come.
#[derive(Clone, Debug)]
enum Surface {
    Absent,
    Object(String),
    Other(&'static str),
}

impl Surface {
    fn choose(c: &mut Choices) -> Self {
        match c.below(5) {
            0 => Surface::Absent,
            1 => Surface::Other(c.pick(&["null", "[1.50]", "\"x\"", "1e2", "true"])),
            _ => {
                let members = c.extras(3);
                Surface::Object(c.object(members))
            }
        }
    }

    fn member(&self, name: &str) -> Option<Member> {
        let text = match self {
            Surface::Absent => return None,
            Surface::Object(text) => text,
            Surface::Other(text) => *text,
        };
        Some((format!("\"{name}\""), text.to_owned()))
    }
}

/// The line of an answer with this result.
fn answer(c: &mut Choices, result: String) -> String {
    let members = vec![
        ("\"id\"".to_owned(), "7".to_owned()),
        ("\"result\"".to_owned(), result),
    ];
    let message = c.message(members);
    c.line(&message)
}

/// A content list.
fn content(c: &mut Choices) -> String {
    let blocks = (0..c.below(3)).map(|_| {
        let text = ("\"text\"".to_owned(), c.string());
        if c.below(4) == 3 {
            return c.value();
        }
        c.shuffled(vec![("\"type\"".to_owned(), "\"text\"".to_owned()), text])
    });
    let blocks = blocks.collect();
    c.array(blocks)
}

fn play(hooks: &'static [Hook], answer: &str) -> (String, Driver) {
    let mut driver = driver(hooks);
    driver.client_sends(
        r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"x","arguments":{}}}"#,
    );
    driver.child_sends(answer.to_owned());
    let got = driver.client.pop_front().unwrap();
    assert!(driver.client.is_empty());
    (String::from_utf8(got.to_vec()).unwrap(), driver)
}

proptest! {
    #![proptest_config(config(1))]

    #[test]
    fn a_rewrite_changes_the_arguments_it_means_and_nothing_else(mut c in choices()) {
        let arguments = arguments(&mut c);
        let mut extras = || -> String {
            let members = c.extras(2);
            members.into_iter().map(|(key, value)| format!("{key}:{value},")).collect()
        };
        let head = format!(r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call",{}"params":{{"arguments": "#, extras());
        let tail = format!(r#" ,{}"name":"x"}} }}"#, extras());
        let mut driver = driver(REWRITES);
        driver.client_sends(format!("{head}{arguments}{tail}\r"));
        let got = driver.child.pop_front().unwrap();
        let got = std::str::from_utf8(&got).unwrap();
        // The carriage returns become spaces, here as everywhere.
        let (head, tail) = (head.replace('\r', " "), tail.replace('\r', " "));
        let inner = got.strip_prefix(&head).and_then(|rest| rest.strip_suffix(&tail));
        prop_assert!(inner.is_some(), "{got}");
        let wanted = rewritten(&arguments.replace('\r', " "));
        prop_assert_eq!(entries(inner.unwrap()), Some(wanted));
    }

    #[test]
    fn an_answer_without_its_notes_is_the_answer(mut c in choices()) {
        let (structured, meta) = (Surface::choose(&mut c), Surface::choose(&mut c));
        let mut members = c.extras(2);
        members.push(("\"content\"".to_owned(), content(&mut c)));
        members.extend(structured.member("structuredContent"));
        members.extend(meta.member("_meta"));
        let result = c.shuffled(members);
        let answer = answer(&mut c, result);
        let (mut got, driver) = play(NOTES, &answer);
        if let Ok(read) = serde_json::from_str::<Value>(&got) {
            let blocks = read["result"]["content"].as_array().unwrap();
            let texts = [NOTE, "second"].map(|text| json!({"type":"text","text":text}));
            prop_assert!(blocks.ends_with(&texts), "{got}");
        }
        let fact = r#"{"behavior":"probe","code":"probed","forwarded":true}"#;
        let facts = format!(r#""{META_KEY}":[{fact},{fact}]"#);
        for text in [NOTE, "second"] {
            take_out(&mut got, &format!(r#"{{"type":"text","text":{}}}"#, quote(text)));
        }
        match structured {
            Surface::Object(_) => {
                let both = quote(&format!("{NOTE}\nsecond"));
                take_out(&mut got, &format!(r#""{NOTE_KEY}":{both}"#));
            }
            Surface::Other(_) => {
                prop_assert!(driver.log.iter().any(|line| line.contains("structuredContent")));
            }
            Surface::Absent => {}
        }
        match meta {
            Surface::Absent => take_out(&mut got, &format!(r#""_meta":{{{facts}}}"#)),
            Surface::Object(_) => take_out(&mut got, &facts),
            Surface::Other("null") => {
                prop_assert!(got.contains(&facts), "{got}");
                got = got.replacen(&format!("{{{facts}}}"), "null", 1);
            }
            Surface::Other(_) => prop_assert!(!got.contains(META_KEY)),
        }
        prop_assert_eq!(got, as_delivered(&answer));
    }

    #[test]
    fn an_answer_that_takes_no_note_passes_byte_for_byte(mut c in choices()) {
        let mut members = c.extras(3);
        if c.flag() {
            members.push(c.member("content", "{}"));
        }
        let result = if c.flag() { c.string() } else { c.shuffled(members) };
        let answer = answer(&mut c, result);
        let (got, driver) = play(NOTES, &answer);
        prop_assert_eq!(got, as_delivered(&answer));
        prop_assert!(driver.log.iter().any(|line| line.contains("a note was dropped")), "{:?}", driver.log);
    }

    #[test]
    fn an_error_takes_a_note_behind_its_message_when_that_is_a_text(mut c in choices()) {
        let (text, space, rest) = (c.value(), c.space(), c.extras(2));
        let extras: String = rest.iter().map(|(key, value)| format!("{key}:{value},")).collect();
        let head = format!(r#"{{"jsonrpc":"2.0","id":7,"error":{{"message":{space}"#);
        let tail = format!(r#"{space},{extras}"code":1}}}}"#);
        let (got, driver) = play(NOTES, &format!("{head}{text}{tail}"));
        if text.starts_with('"') {
            let note = quote(&format!("\n{NOTE}\nsecond"));
            prop_assert_eq!(got, format!("{head}{}{}{tail}", &text[..text.len() - 1], &note[1..]));
        } else {
            prop_assert_eq!(got, format!("{head}{text}{tail}"));
            prop_assert!(driver.log.iter().any(|line| line.contains("a note was dropped")));
        }
    }

    #[test]
    fn a_key_stands_on_both_surfaces_or_on_none(mut c in choices()) {
        let (which, space, members) = (c.below(4), c.space(), c.extras(3));
        let noted = c.flag() && which != 3;
        let payload = c.object(members);
        prop_assume!(serde_json::from_str::<Value>(&payload).is_ok());
        let structured = match which {
            0 => String::new(),
            1 => format!(r#","structuredContent":{payload}"#),
            2 => format!(r#","structuredContent":{{ "result" : {payload}}}"#),
            _ => r#","structuredContent":{"other":1}"#.to_owned(),
        };
        let text = quote(&format!("{space}{payload}{space}"));
        let answer = format!(r#" {{"jsonrpc":"2.0","id":7,"result":{{"content":[{{"type":"text","text":{text}}}]{structured},"n":1.50}}}}"#);
        let (got, driver) = play(if noted { BOTH } else { KEYS }, &answer);
        if which == 3 {
            prop_assert_eq!(got, answer);
            prop_assert!(driver.log.iter().any(|line| line.contains("probe: the payload was left as it is")));
            return Ok(());
        }
        let read: Value = serde_json::from_str(&got).unwrap();
        let mut wanted: Value = serde_json::from_str(&payload).unwrap();
        wanted["added"] = json!("ü \"x\"");
        let text = read["result"]["content"][0]["text"].as_str().unwrap();
        prop_assert_eq!(&serde_json::from_str::<Value>(text).unwrap(), &wanted);
        prop_assert_eq!(read["result"]["content"].as_array().unwrap().len(), if noted { 3 } else { 1 });
        let mut structured = read["result"]["structuredContent"].clone();
        if noted && which > 0 {
            let note = structured.as_object_mut().unwrap().remove(NOTE_KEY);
            prop_assert_eq!(note, Some(json!(format!("{NOTE}\nsecond"))));
        }
        match which {
            0 => prop_assert_eq!(read["result"].get("structuredContent"), None),
            1 => prop_assert_eq!(&structured, &wanted),
            _ => prop_assert_eq!(&structured, &json!({ "result": wanted })),
        }
        // Nothing of the payload is spelled anew.
        let inner = &payload[1..payload.len() - 1];
        prop_assert!(text.contains(inner), "{text}");
        prop_assert!(which == 0 || got.contains(inner), "{got}");
        prop_assert!(got.contains("\"n\":1.50"));
    }
}
