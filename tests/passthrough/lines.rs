//! Lines that nothing changes.

use crate::json::{Choices, as_delivered, as_forwarded, choices, config};
use crate::support::driver::Driver;
use crate::support::surroundings::NoEditors;
use bytes::Bytes;
use proptest::collection::vec;
use proptest::prelude::*;
use vrc_mcp_proxy::behaviors::REGISTRY;
use vrc_mcp_proxy::config::Config;
use vrc_mcp_proxy::relay::Relay;
use vrc_mcp_proxy::wire::envelope::{read_client, read_upstream};

/// Tools that no behaviour changes a call of, nor an answer.
const PLAIN_TOOLS: [&str; 3] = [
    "\"find_gameobjects\"",
    "\"debug_request_context\"",
    "\"unity\\u005freflect\"",
];

fn driver() -> Driver {
    let surroundings = Box::new(NoEditors::default());
    Driver::new(Relay::new(Config::default(), REGISTRY, surroundings))
}

fn text(bytes: &Bytes) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn params(c: &mut Choices) -> String {
    if c.below(5) == 4 {
        return "null".to_owned();
    }
    let members = c.extras(4);
    c.object(members)
}

/// A client's message that is no tool call.
fn client_message(c: &mut Choices) -> String {
    const METHODS: [&str; 6] = [
        "\"ping\"",
        "\"resources/read\"",
        "\"tools\\/list\"",
        "\"\"",
        "\"TOOLS/CALL\"",
        "\"x\\u00e9\"",
    ];
    const NOTICES: [&str; 3] = [
        "\"notifications/initialized\"",
        "\"notifications\\/cancelled\"",
        "\"x\"",
    ];
    let id = c.id();
    let id = c.member("id", id);
    let members = match c.below(3) {
        0 => {
            let (method, params) = (c.pick(&METHODS), params(c));
            vec![id, c.member("method", method), c.member("params", params)]
        }
        1 => {
            let (method, params) = (c.pick(&NOTICES), params(c));
            vec![c.member("method", method), c.member("params", params)]
        }
        _ => {
            let (name, value) = (c.pick(&["result", "error"]), c.value());
            vec![id, c.member(name, value)]
        }
    };
    c.message(members)
}

/// A call of a tool that nothing changes.
fn plain_call(c: &mut Choices) -> String {
    let arguments = match c.below(6) {
        0..4 => {
            let members = c.extras(5);
            c.object(members)
        }
        4 => "null".to_owned(),
        _ => c.value(),
    };
    let mut params = c.extras(2);
    let name = c.pick(&PLAIN_TOOLS);
    params.extend([c.member("name", name), c.member("arguments", arguments)]);
    let params = c.shuffled(params);
    let method = c.pick(&["\"tools/call\"", "\"tools\\/call\""]);
    let members = vec![
        c.member("id", "7"),
        c.member("method", method),
        c.member("params", params),
    ];
    let message = c.message(members);
    // A copy of a key that a later one overrides.
    let (key, value) = match c.below(4) {
        0 => return message,
        1 => c.member("method", "\"ping\""),
        2 => {
            let value = c.value();
            c.member("params", value)
        }
        _ => c.member("id", "null"),
    };
    format!("{{{key}:{value},{}", &message[1..])
}

/// A whole answer to request 7, of any shape.
fn answer(c: &mut Choices) -> String {
    let blocks = (0..c.below(3)).map(|_| {
        let (kind, text) = (c.pick(&["\"text\"", "\"image\""]), c.string());
        let mut members = c.extras(2);
        members.extend([c.member("type", kind), c.member("text", text)]);
        if c.below(5) == 4 {
            c.value()
        } else {
            c.shuffled(members)
        }
    });
    let blocks = blocks.collect();
    let content = if c.below(6) == 5 {
        c.value()
    } else {
        c.array(blocks)
    };
    let mut members = c.extras(2);
    members.push(c.member("content", content));
    let structured = c.value();
    members.push(c.member("structuredContent", structured));
    let result = if c.below(6) == 5 {
        c.value()
    } else {
        c.shuffled(members)
    };
    let outcome = if c.below(5) == 4 {
        let error = c.value();
        c.member("error", error)
    } else {
        c.member("result", result)
    };
    let id = c.member("id", "7");
    c.message(vec![id, outcome])
}

/// Bytes that are nearly a message: some put in, taken out, changed.
fn mutated(c: &mut Choices) -> Vec<u8> {
    const BYTES: [u8; 16] = *b"\"\\{}[],:\r\0\x1f\x80\xff0eu";
    let mut line = match c.below(3) {
        0 => client_message(c),
        1 => plain_call(c),
        _ => answer(c),
    }
    .into_bytes();
    for _ in 0..c.below(4) {
        let (at, byte) = (c.place(line.len() - 1), c.pick(&BYTES));
        match c.below(3) {
            0 => line[at] = byte,
            1 => line.insert(at, byte),
            _ => line.truncate(at.max(1)),
        }
    }
    line.retain(|&byte| byte != b'\n');
    line
}

proptest! {
    #![proptest_config(config(1))]

    #[test]
    fn what_is_no_tool_call_reaches_the_upstream_byte_for_byte(mut c in choices()) {
        let mark = if c.below(4) == 3 { "\u{feff}" } else { "" };
        let message = client_message(&mut c);
        let line = format!("{mark}{}", c.line(&message));
        let mut driver = driver();
        driver.client_sends(line.clone());
        prop_assert!(driver.client.is_empty(), "{line:?}: {:?}", driver.client);
        prop_assert_eq!(driver.child.len(), 1);
        prop_assert_eq!(text(&driver.child[0]), as_forwarded(&line));
    }

    #[test]
    fn what_is_no_tool_calls_answer_reaches_the_client_byte_for_byte(mut c in choices()) {
        let (answer, request) = (answer(&mut c), client_message(&mut c));
        let (answer, request) = (c.line(&answer), c.line(&request));
        let mut driver = driver();
        driver.client_sends(r#"{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":"x"}}"#);
        driver.child_sends(answer.clone());
        prop_assert_eq!(text(&driver.client[0]), as_delivered(&answer));
        // A request or a notification of the server's; what answers nobody is dropped.
        driver.child_sends(request.clone());
        let dropped = driver.log.iter().any(|line| line.starts_with("dropped an answer"));
        prop_assert_eq!(driver.client.len(), if dropped { 1 } else { 2 });
        if let Some(got) = driver.client.get(1) {
            prop_assert_eq!(text(got), as_delivered(&request));
        }
    }

    #[test]
    fn a_tool_call_that_nothing_changes_passes_byte_for_byte_both_ways(mut c in choices()) {
        let (call, answer) = (plain_call(&mut c), answer(&mut c));
        let (call, answer) = (c.line(&call), c.line(&answer));
        let mut driver = driver();
        driver.client_sends(call.clone());
        prop_assert!(driver.client.is_empty(), "{call:?}: {:?}", driver.client);
        prop_assert_eq!(text(&driver.child[0]), as_forwarded(&call));
        driver.child_sends(answer.clone());
        prop_assert_eq!(driver.client.len(), 1);
        prop_assert_eq!(text(&driver.client[0]), as_delivered(&answer));
    }

    #[test]
    fn no_bytes_make_the_reader_panic(bytes in vec(any::<u8>(), 0..200), mut c in choices()) {
        for bytes in [bytes, mutated(&mut c)] {
            let _sorted = read_client(&bytes);
            let _sorted = read_upstream(&bytes);
        }
    }

    #[test]
    fn the_upstream_never_gets_a_byte_at_which_it_would_split_a_line(
        mut lists in vec(choices(), 1..4), bytes in vec(any::<u8>(), 0..60),
    ) {
        let mut driver = driver();
        let mut lines: Vec<_> = lists.iter_mut().map(mutated).collect();
        lines.push(bytes.into_iter().filter(|&byte| byte != b'\n').collect());
        for line in lines {
            driver.client_sends(line.clone());
            driver.child_sends(line);
        }
        for line in &driver.child {
            prop_assert!(!line.contains(&b'\r') && !line.contains(&b'\n'), "{:?}", line);
            prop_assert!(std::str::from_utf8(line).is_ok());
        }
        for line in &driver.client {
            prop_assert!(!line.contains(&b'\n'), "{:?}", line);
        }
    }
}
