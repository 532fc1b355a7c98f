//! Makes hostile lines out of seeds: messages with members doubled, renamed, nested, respelled, glued together,
//! and then damaged byte by byte.

use crate::support::random::Random;
use serde_json::Value;

impl Random {
    /// True once in so many times.
    fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }
}

/// A JSON value whose spelling is still open, and whose objects may hold equal keys.
#[derive(Clone)]
enum Node {
    Text(String),
    /// A number, a literal, or what stands for one.
    Raw(String),
    List(Vec<Node>),
    Map(Vec<(String, Node)>),
}

/// Values that readers take in different ways.
const RAW: [&str; 22] = [
    "null",
    "true",
    "false",
    "0",
    "-0",
    "1",
    "7",
    "1.0",
    "1e0",
    "1e3",
    "1.50",
    "NaN",
    "Infinity",
    "-Infinity",
    "1e999",
    "01",
    "+1",
    "123456789012345678901234567890",
    "9007199254740993",
    "\"\\ud800\"",
    "\"\\udc00\\ud800\"",
    "\"\\u0000\"",
];

/// Texts that mean something to somebody.
const TEXTS: [&str; 40] = [
    "",
    " ",
    "2.0",
    "2.0 ",
    "1.0",
    "tools/call",
    "tools/list",
    "TOOLS/CALL",
    "tools/call ",
    "notifications/cancelled",
    "execute_code",
    "Execute_Code",
    "execute_code ",
    "run_tests",
    "batch_execute",
    "read_console",
    "manage_script",
    "manage_asset",
    "manage_scene",
    "set_active_instance",
    "execute",
    "Execute",
    " execute",
    "replay",
    "move",
    "MOVE",
    "rename",
    "load",
    "return 1;",
    "using System.IO;\nreturn 1;",
    "global using X;\nreturn 1;",
    "return \"\u{2028}\";",
    "}} finally {{ }} //",
    "*/ return 2; /*",
    "/* vrc-mcp-proxy key 00000000000000000000000000000000 */ return 1;",
    "Alpha@0be31597",
    "alpha@0be31597",
    "0BE3",
    "6401",
    "\u{feff}x\u{0}\u{85}é😀",
];

const KEYS: [&str; 16] = [
    "jsonrpc",
    "id",
    "method",
    "params",
    "result",
    "error",
    "name",
    "arguments",
    "action",
    "code",
    "unity_instance",
    "safety_checks",
    "additive",
    "instance",
    "Method",
    "id ",
];

/// Bytes that decide how a line is read.
const BYTES: [&[u8]; 26] = [
    b"\r",
    b"\r\r",
    b"\"",
    b"\\",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"\0",
    b"\t",
    b" ",
    b"\x1f",
    b"\x7f",
    b"\xff",
    b"\xc3",
    b"\xed\xa0\x80",
    b"\xc0\xaf",
    b"\xef\xbb\xbf",
    b"\xe2\x80\xa8",
    b"\xc2\x85",
    b"\x0b",
    b"\x0c",
    b"//",
    b"\\u000d",
];

fn tree(value: &Value) -> Node {
    match value {
        Value::String(text) => Node::Text(text.clone()),
        Value::Array(items) => Node::List(items.iter().map(tree).collect()),
        Value::Object(fields) => {
            let members = fields.iter().map(|(key, value)| (key.clone(), tree(value)));
            Node::Map(members.collect())
        }
        other => Node::Raw(other.to_string()),
    }
}

impl Node {
    /// How many values stand here, this one included.
    fn size(&self) -> usize {
        match self {
            Node::Text(_) | Node::Raw(_) => 1,
            Node::List(items) => 1 + items.iter().map(Node::size).sum::<usize>(),
            Node::Map(members) => 1 + members.iter().map(|(_, node)| node.size()).sum::<usize>(),
        }
    }

    /// The value at this place, counted as [`Node::size`] does.
    fn at(&mut self, place: usize) -> &mut Node {
        if place == 0 {
            return self;
        }
        let mut left = place - 1;
        let inside: Vec<&mut Node> = match self {
            Node::List(items) => items.iter_mut().collect(),
            Node::Map(members) => members.iter_mut().map(|(_, node)| node).collect(),
            Node::Text(_) | Node::Raw(_) => Vec::new(),
        };
        for node in inside {
            let size = node.size();
            if left < size {
                return node.at(left);
            }
            left -= size;
        }
        unreachable!("a place behind the last value")
    }
}

/// Seeds, and what is made of them.
pub(crate) struct Grower {
    seeds: Vec<Node>,
}

impl Grower {
    pub(crate) fn new(messages: &[Value]) -> Self {
        Grower {
            seeds: messages.iter().map(tree).collect(),
        }
    }

    /// One line, without a newline.
    pub(crate) fn line(&self, random: &mut Random) -> Vec<u8> {
        let mut line = self.message(random);
        // Two messages on what one side takes for a line.
        if random.one_in(12) {
            line.extend_from_slice(random.pick(&[
                &b"\r"[..],
                b" ",
                b"",
                b"\r\n",
                b",",
                b"\xef\xbb\xbf",
            ]));
            line.extend(self.message(random));
        }
        if random.one_in(20) {
            let ahead = random.pick(&[&b"\xef\xbb\xbf"[..], b"\r", b" ", b"[", b"\0"]);
            line.splice(0..0, ahead.iter().copied());
        }
        if random.one_in(3) {
            for _ in 0..=random.below(3) {
                damage(&mut line, random);
            }
        }
        line.retain(|&byte| byte != b'\n');
        line
    }

    fn seed(&self, random: &mut Random) -> &Node {
        &self.seeds[random.below(self.seeds.len())]
    }

    fn message(&self, random: &mut Random) -> Vec<u8> {
        let mut message = self.seed(random).clone();
        for _ in 0..random.below(5) {
            let place = random.below(message.size());
            self.change(message.at(place), random);
        }
        let mut line = String::new();
        let spelled = random.one_in(2);
        print(&message, spelled, random, &mut line);
        line.into_bytes()
    }

    fn change(&self, node: &mut Node, random: &mut Random) {
        if let Node::Map(members) = node
            && !members.is_empty()
            && !random.one_in(4)
        {
            return self.change_members(members, random);
        }
        *node = match random.below(8) {
            0 | 1 => Node::Raw(random.pick(&RAW).to_owned()),
            2..5 => Node::Text(random.pick(&TEXTS).to_owned()),
            5 => self.seed(random).clone(),
            6 => Node::List(vec![node.clone()]),
            _ => {
                // Around the level at which the server gives up.
                let levels = 190 + random.below(14);
                let (open, close) = random.pick(&[("[", "]"), ("{\"a\":", "}")]);
                let inside = random.pick(&["1", "[]", "{}", "\"x\""]);
                Node::Raw(format!(
                    "{}{inside}{}",
                    open.repeat(levels),
                    close.repeat(levels)
                ))
            }
        };
    }

    fn change_members(&self, members: &mut Vec<(String, Node)>, random: &mut Random) {
        let at = random.below(members.len());
        match random.below(6) {
            0 => {
                members.remove(at);
            }
            1 | 2 => {
                // Equal keys: the last one counts, on whichever side this lands.
                let (key, mut value) = members[at].clone();
                self.change(&mut value, random);
                let to = random.below(members.len() + 1);
                members.insert(to, (key, value));
            }
            3 => members[at].0 = random.pick(&KEYS).to_owned(),
            4 => {
                let key = random.pick(&KEYS).to_owned();
                let value = Node::Text(random.pick(&TEXTS).to_owned());
                members.insert(at, (key, value));
            }
            _ => {
                let with = random.below(members.len());
                members.swap(at, with);
            }
        }
    }
}

fn damage(line: &mut Vec<u8>, random: &mut Random) {
    if line.is_empty() {
        return;
    }
    let (at, bytes) = (random.below(line.len()), random.pick(&BYTES));
    match random.below(5) {
        0 => line[at] = bytes[0],
        1 => line.truncate(at),
        2 => {
            line.remove(at);
        }
        _ => {
            line.splice(at..at, bytes.iter().copied());
        }
    }
}

fn print(node: &Node, spelled: bool, random: &mut Random, out: &mut String) {
    match node {
        Node::Raw(text) => out.push_str(text),
        Node::Text(text) => literal(text, spelled, random, out),
        Node::List(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                separate(at, spelled, random, out);
                print(item, spelled, random, out);
            }
            out.push(']');
        }
        Node::Map(members) => {
            out.push('{');
            for (at, (key, value)) in members.iter().enumerate() {
                separate(at, spelled, random, out);
                literal(key, spelled, random, out);
                out.push(':');
                blank(spelled, random, out);
                print(value, spelled, random, out);
            }
            blank(spelled, random, out);
            out.push('}');
        }
    }
}

fn separate(at: usize, spelled: bool, random: &mut Random, out: &mut String) {
    if at > 0 {
        out.push(',');
    }
    blank(spelled, random, out);
}

fn blank(spelled: bool, random: &mut Random, out: &mut String) {
    if spelled && random.one_in(6) {
        out.push_str(random.pick(&[" ", "\t", "\r", " \r "]));
    }
}

fn literal(text: &str, spelled: bool, random: &mut Random, out: &mut String) {
    out.push('"');
    for unit in text.chars() {
        if spelled && random.one_in(12) {
            let mut units = [0; 2];
            for unit in unit.encode_utf16(&mut units) {
                let upper = random.one_in(2);
                out.push_str(&if upper {
                    format!("\\u{unit:04X}")
                } else {
                    format!("\\u{unit:04x}")
                });
            }
            continue;
        }
        match unit {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '/' if spelled && random.one_in(4) => out.push_str("\\/"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            unit if unit < ' ' => out.push_str(&format!("\\u{:04x}", u32::from(unit))),
            unit => out.push(unit),
        }
    }
    out.push('"');
}
