//! JSON texts in all the spellings that a parser and a printer would not keep.
//!
//! A text is made from a list of choices, one byte each. Choices that have run out are zero, and zero
//! is always the plainest: so a list that proptest shortens makes a simpler text.

use proptest::collection::vec;
use proptest::prelude::*;

/// An entry of an object: the key literal and the value.
pub(crate) type Member = (String, String);

/// Choices, one byte each.
#[derive(Clone)]
pub(crate) struct Choices {
    bytes: Vec<u8>,
    at: usize,
}

impl std::fmt::Debug for Choices {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Choices({})", hex::encode(&self.bytes))
    }
}

/// Enough choices for a message or two.
pub(crate) fn choices() -> impl Strategy<Value = Choices> {
    vec(any::<u8>(), 0..250).prop_map(|bytes| Choices { bytes, at: 0 })
}

/// How a list of properties is checked: so many times as often as by default, which is 256 or
/// `PROPTEST_CASES`.
pub(crate) fn config(times: u32) -> ProptestConfig {
    let default = ProptestConfig::default();
    ProptestConfig {
        cases: default.cases * times,
        failure_persistence: None,
        ..default
    }
}

impl Choices {
    /// One of `count` (256 at the most), 0 when the choices have run out.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        let byte = self.bytes.get(self.at).copied().unwrap_or_default();
        self.at += 1;
        usize::from(byte) % count
    }

    pub(crate) fn flag(&mut self) -> bool {
        self.below(2) == 1
    }

    pub(crate) fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }

    /// A place in a list of this length, or behind it.
    pub(crate) fn place(&mut self, length: usize) -> usize {
        (self.below(256) * 256 + self.below(256)) % (length + 1)
    }

    pub(crate) fn shuffle<T>(&mut self, list: &mut [T]) {
        for at in 1..list.len() {
            let with = at - self.below(at + 1);
            list.swap(at, with);
        }
    }

    /// White space between tokens, the carriage return among it.
    pub(crate) fn space(&mut self) -> &'static str {
        self.pick(&[
            "", "", "", "", "", "", " ", " ", "\t", "  ", " \t ", "\r", "\r\r ",
        ])
    }

    fn number(&mut self) -> String {
        const ODD: [&str; 14] = [
            "0",
            "-0",
            "1.50",
            "-1.0",
            "1e2",
            "1E+02",
            "1.5e-3",
            "0.0000",
            "1e999",
            "-1e-999",
            "123456789012345678901234567890",
            "-98765432109876543210",
            "9007199254740993",
            "1e0",
        ];
        match self.below(4) {
            0 => self.pick(&ODD).to_owned(),
            1 => self.below(256).to_string(),
            2 => format!("-{}.{:03}", self.below(256), self.below(256)),
            _ => "7".repeat(1 + self.below(60)),
        }
    }

    /// A string literal without lone surrogates.
    pub(crate) fn string(&mut self) -> String {
        const ESCAPES: [&str; 17] = [
            "\\n",
            "\\r",
            "\\t",
            "\\b",
            "\\f",
            "\\/",
            "\\\\",
            "\\\"",
            "\\u0000",
            "\\u00e9",
            "\\u00E9",
            "\\uD83D\\uDE00",
            "\\ud83d\\ude00",
            "\\uffff",
            "\\u2028",
            "\\\\ud800",
            "\\u000d",
        ];
        const PLAIN: [&str; 16] = [
            "a", "B", "0", "{", "}", "[", "]", ",", ":", "'", "\u{7f}", "\u{2028}", "\u{85}",
            "\u{feff}", "é", "😀",
        ];
        let mut literal = "\"".to_owned();
        for _ in 0..self.below(5) {
            match self.below(8) {
                0..3 => literal.push_str(self.pick(&PLAIN)),
                3..6 => literal.push_str(self.pick(&ESCAPES)),
                6 => literal.push(self.letter()),
                // Long enough for the search that looks at many bytes at once.
                _ => literal.push_str(&"x".repeat(28 + self.below(60))),
            }
        }
        literal.push('"');
        literal
    }

    /// A character that stands for itself, from far and wide.
    fn letter(&mut self) -> char {
        let code = u32::try_from(self.place(0xd7df)).unwrap_or_default() + 0x20;
        let letter = char::from_u32(code).filter(|c| !matches!(c, '"' | '\\'));
        letter.unwrap_or('a')
    }

    /// Any value. Objects may hold equal keys.
    pub(crate) fn value(&mut self) -> String {
        self.value_within(4)
    }

    fn value_within(&mut self, levels: usize) -> String {
        match self.below(if levels == 0 { 6 } else { 10 }) {
            0 => self.pick(&["null", "true", "false"]).to_owned(),
            1..3 => self.number(),
            3..6 => self.string(),
            6..8 => {
                let items = (0..self.below(4)).map(|_| self.value_within(levels - 1));
                let items = items.collect();
                self.array(items)
            }
            _ => {
                let members = (0..self.below(4)).map(|_| {
                    let key = match self.below(4) {
                        0 => "\"k\"".to_owned(),
                        1 => "\"\\u006b\"".to_owned(),
                        _ => self.string(),
                    };
                    (key, self.value_within(levels - 1))
                });
                let members = members.collect();
                self.object(members)
            }
        }
    }

    /// An array of these items.
    pub(crate) fn array(&mut self, items: Vec<String>) -> String {
        if items.is_empty() {
            return format!("[{}]", self.space());
        }
        let spaced = items
            .into_iter()
            .map(|item| format!("{}{item}{}", self.space(), self.space()));
        format!("[{}]", spaced.collect::<Vec<_>>().join(","))
    }

    /// An object of these members, in this order.
    pub(crate) fn object(&mut self, members: Vec<Member>) -> String {
        if members.is_empty() {
            return format!("{{{}}}", self.space());
        }
        let spaced = members.into_iter().map(|(key, value)| {
            let (a, b, c, d) = (self.space(), self.space(), self.space(), self.space());
            format!("{a}{key}{b}:{c}{value}{d}")
        });
        format!("{{{}}}", spaced.collect::<Vec<_>>().join(","))
    }

    /// An object of these members in any order.
    pub(crate) fn shuffled(&mut self, mut members: Vec<Member>) -> String {
        self.shuffle(&mut members);
        self.object(members)
    }

    /// A member, its key plain or with one letter escaped.
    pub(crate) fn member(&mut self, name: &str, value: impl Into<String>) -> Member {
        let at = self.below(4 * name.len());
        let key = if at < 3 * name.len() {
            format!("\"{name}\"")
        } else {
            let (head, tail) = name.split_at(at - 3 * name.len());
            let letter = tail.chars().next().map(u32::from).unwrap_or_default();
            format!("\"{head}\\u{letter:04x}{}\"", &tail[1..])
        };
        (key, value.into())
    }

    /// Members that no reader of a message looks for, fewer than `count`.
    pub(crate) fn extras(&mut self, count: usize) -> Vec<Member> {
        let count = self.below(count);
        let extra = |_| (format!("\"x-{}", &self.string()[1..]), self.value());
        (0..count).map(extra).collect()
    }

    /// A usable id.
    pub(crate) fn id(&mut self) -> String {
        match self.below(3) {
            0 => self.below(256).to_string(),
            1 => self
                .pick(&[
                    "-0",
                    "\"\"",
                    "\"a\\u0062\"",
                    "-5",
                    "\"1\"",
                    "123456789012345678901234567890",
                ])
                .to_owned(),
            _ => self.string(),
        }
    }

    /// A message of these members and some that nobody looks for, in any order.
    pub(crate) fn message(&mut self, mut members: Vec<Member>) -> String {
        let version = self.pick(&["\"2.0\"", "\"2.\\u0030\""]);
        members.push(self.member("jsonrpc", version));
        members.extend(self.extras(3));
        self.shuffled(members)
    }

    /// A message with what may stand around it on its line.
    pub(crate) fn line(&mut self, message: &str) -> String {
        let start = self.space();
        format!(
            "{start}{message}{}",
            self.pick(&["", "", " ", "\t", "\r", " \r"])
        )
    }
}

/// The bytes that the upstream gets for a line that nothing changes.
pub(crate) fn as_forwarded(line: &str) -> String {
    let line = line.strip_prefix('\u{feff}').unwrap_or(line);
    line.strip_suffix('\r').unwrap_or(line).replace('\r', " ")
}

/// The bytes that the client gets for a line that nothing changes.
pub(crate) fn as_delivered(line: &str) -> &str {
    line.strip_suffix('\r').unwrap_or(line)
}
