//! The scanner against `serde_json`, and against a slower and simpler reading of the same rules.

use crate::json::{Choices, choices, config};
use proptest::prelude::*;
use serde::Deserializer;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use vrc_mcp_proxy::wire::object::Raw;
use vrc_mcp_proxy::wire::scan::{HeadStart, look, look_ahead, scan};

/// Whether `serde_json` takes a text for JSON. Ignoring a value, it knows no limit of depth and no
/// range of numbers, and lets lone surrogates pass, as the scanner does.
fn serde_takes(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// The entries of an object in their order, equal keys among them.
pub(crate) fn entries(text: &str) -> Option<Vec<(String, String)>> {
    struct Entries;
    impl<'de> Visitor<'de> for Entries {
        type Value = Vec<(String, String)>;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut entries = Vec::new();
            while let Some((key, value)) = map.next_entry::<String, Box<RawValue>>()? {
                entries.push((key, value.get().to_owned()));
            }
            Ok(entries)
        }
    }
    serde_json::Deserializer::from_str(text)
        .deserialize_map(Entries)
        .ok()
}

/// What a text's tokens say of depth, digits and surrogates, read the plain way.
#[derive(Debug, Default, PartialEq)]
struct Facts {
    depth: usize,
    integer_digits: usize,
    lone_surrogate: bool,
}

fn facts(text: &str) -> Facts {
    let mut facts = Facts::default();
    let mut open = 0;
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' => {
                let end = literal_end(rest);
                facts.lone_surrogate |= serde_json::from_str::<String>(&rest[..end]).is_err();
                end
            }
            '-' | '0'..='9' => {
                let is_number = |c: char| c.is_ascii_digit() || "+-.eE".contains(c);
                let end = rest.find(|c| !is_number(c)).unwrap_or(rest.len());
                let token = &rest[..end];
                if !token.contains(['.', 'e', 'E']) {
                    let digits = token.trim_start_matches('-').len();
                    facts.integer_digits = facts.integer_digits.max(digits);
                }
                end
            }
            '{' | '[' => {
                open += 1;
                if !rest[1..].trim_start().starts_with(['}', ']']) {
                    facts.depth = facts.depth.max(open);
                }
                1
            }
            '}' | ']' => {
                open -= 1;
                1
            }
            other => other.len_utf8(),
        };
        rest = rest[length..].trim_start();
    }
    facts
}

/// Where the string literal at the start of a text ends.
fn literal_end(text: &str) -> usize {
    let mut escaped = true;
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// The string literals of a JSON text.
fn strings(text: &str) -> Vec<&str> {
    let mut strings = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('"') {
        let end = at + literal_end(&rest[at..]);
        strings.push(&rest[at..end]);
        rest = &rest[end..];
    }
    strings
}

/// A document on its line.
fn document(c: &mut Choices) -> String {
    let value = c.value();
    c.line(&value)
}

/// A document with changes that leave it text, lone surrogates among them.
fn mutated(c: &mut Choices) -> String {
    const PARTS: [&str; 36] = [
        "\"",
        "\\",
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\r",
        "\t",
        "\0",
        "\u{1f}",
        "é",
        "-",
        "+",
        ".",
        "e",
        "E5",
        "0",
        "00",
        "1",
        "\\u",
        "\\ud800",
        "\\udc00",
        "\\ud83d\\ude00",
        "\\u12",
        "\\x",
        "\\/",
        "null",
        "nul",
        "NaN",
        "\u{feff}",
        "\u{a0}",
        "\"k\":1",
        "[]",
        "{}",
    ];
    let mut text = document(c);
    for _ in 0..c.below(4) {
        let places = text.char_indices().map(|(at, _)| at).chain([text.len()]);
        let places: Vec<usize> = places.collect();
        let at = c.place(places.len() - 1);
        let (start, end) = (places[at], *places.get(at + 1).unwrap_or(&text.len()));
        let part = c.pick(&PARTS);
        match c.below(3) {
            0 => text.insert_str(start, part),
            1 => text.replace_range(start..end, part),
            _ => text.replace_range(start..end, ""),
        }
    }
    text
}

fn trimmed(text: &str) -> &str {
    text.trim_matches([' ', '\t', '\r', '\n'])
}

proptest! {
    #![proptest_config(config(4))]

    #[test]
    fn both_take_what_is_json(mut c in choices()) {
        let text = document(&mut c);
        prop_assert!(serde_takes(&text), "{text:?}");
        prop_assert!(scan(&text).is_ok(), "{text:?}");
    }

    #[test]
    fn both_refuse_what_is_not_json(mut c in choices()) {
        let text = mutated(&mut c);
        match scan(&text) {
            Ok(scanned) => {
                prop_assert!(serde_takes(&text), "only the scanner takes {text:?}");
                let told = Facts {
                    depth: scanned.depth,
                    integer_digits: scanned.integer_digits,
                    lone_surrogate: scanned.lone_surrogate,
                };
                prop_assert_eq!(told, facts(&text), "{}", text);
            }
            Err(broken) => {
                prop_assert!(!serde_takes(&text), "only serde_json takes {text:?}");
                prop_assert!(broken.at <= text.len());
            }
        }
    }

    #[test]
    fn a_quick_look_sees_the_same(mut c in choices()) {
        // Blocks of 64 bytes: what a document looks like depends on where it stands.
        let pad = "p".repeat(c.below(64));
        // Lines of up to 4 KiB are looked at in one way, longer ones in another.
        let behind = c.pick(&[256, 4096]);
        let text = mutated(&mut c) + &" ".repeat(behind);
        for text in [format!(r#"{{"{pad}":[{text}],"k":{text}}}"#), [&" ".repeat(pad.len()), text.as_str()].concat(), text] {
            match (scan(&text), look(text.as_bytes())) {
                (Ok(slow), Ok(quick)) => {
                    prop_assert_eq!(quick.top, slow.top);
                    prop_assert_eq!(quick.entries, slow.entries, "{}", text);
                }
                (Err(slow), Err(quick)) => {
                    prop_assert_eq!(quick.at, slow.at, "{}", text);
                    prop_assert_eq!(quick.entries, slow.entries, "{}", text);
                }
                (slow, quick) => prop_assert!(false, "{text:?}: {slow:?} {quick:?}"),
            }
        }
    }

    #[test]
    fn a_head_start_changes_nothing_of_that(mut c in choices()) {
        // A thousand bytes are needed for one.
        let pad = "p".repeat(960 + c.below(128));
        let cuts: Vec<usize> = (0..4).map(|_| c.below(256) * 256 + c.below(256)).collect();
        let text = mutated(&mut c);
        for text in [
            format!(r#"{{"id":1,"k":["{pad}",{text},[{text}]],"l":{text}}}"#),
            format!(r#"{{"id":{text},"k":{{"{pad}":[{text}],"l":{text}}},"m":[{text}]}}"#),
            format!(r#"{{"k":["success\":{text}","{pad}","success",{text}],"id":{{"isError":{text}}}}}"#),
            [text, pad].concat(),
        ] {
            let mut ends: Vec<usize> = cuts.iter().map(|cut| cut % (text.len() + 1)).collect();
            ends.sort_unstable();
            let mut head = HeadStart::default();
            for end in ends {
                head.feed(&text.as_bytes()[..end]);
            }
            match (look(text.as_bytes()), look_ahead(text.as_bytes(), Some(&head))) {
                (Ok(without), Ok(with)) => {
                    prop_assert_eq!(with.top, without.top);
                    prop_assert_eq!(with.entries, without.entries, "{}", text);
                    prop_assert_eq!(with.clues, without.clues, "{}", text);
                }
                (Err(without), Err(with)) => {
                    prop_assert_eq!(with.at, without.at, "{}", text);
                    prop_assert_eq!(with.entries, without.entries, "{}", text);
                }
                (without, with) => prop_assert!(false, "{text:?}: {without:?} {with:?}"),
            }
        }
    }

    #[test]
    fn a_quick_look_misses_no_clue(mut c in choices()) {
        let text = format!("[{}]{}", document(&mut c), " ".repeat(256));
        let clues = look(text.as_bytes()).unwrap().clues;
        let strings: Vec<&str> = strings(&text);
        let any = |part: &str| strings.iter().any(|string| string.contains(part));
        prop_assert!(clues.spaces || !any(" "), "{}", text);
        prop_assert!(clues.non_ascii || text.is_ascii(), "{}", text);
        prop_assert!(clues.odd_escapes || !(any("\\u") || any("\\/")), "{}", text);
    }

    #[test]
    fn both_find_the_same_entries(mut c in choices()) {
        let text = mutated(&mut c);
        let text = trimmed(&text);
        if let Some(wanted) = entries(text).filter(|_| scan(text).is_ok()) {
            let object = Raw::whole(text).as_object().unwrap();
            let found: Vec<_> = object
                .entries()
                .map(|(key, value)| (key.as_str().unwrap().into_owned(), value.text.to_owned()))
                .collect();
            prop_assert_eq!(&found, &wanted);
            for (key, value) in object.entries() {
                prop_assert_eq!(&text[key.range()], key.text);
                prop_assert_eq!(&text[value.range()], value.text);
            }
            // Of equal keys the last counts.
            for (key, _) in &wanted {
                let last = wanted.iter().rfind(|(other, _)| other == key);
                prop_assert_eq!(object.get(key).map(|raw| raw.text), last.map(|(_, value)| value.as_str()));
            }
        }
    }

    #[test]
    fn what_broke_off_shows_the_entries_before_it(mut c in choices()) {
        let members = c.extras(5);
        let text = c.object(members);
        let cut = c.place(text.len());
        let cut = (0..=cut).rev().find(|at| text.is_char_boundary(*at)).unwrap();
        let whole = entries(&text).unwrap();
        if let Err(broken) = scan(&text[..cut]) {
            prop_assert!(broken.entries.len() <= whole.len());
            for (entry, (_, value)) in broken.entries.iter().zip(&whole) {
                prop_assert_eq!(&text[entry.value.clone()], value);
            }
        }
    }
}

#[test]
fn no_depth_is_too_deep() {
    let text = format!("{}1{}", "[{\"k\":".repeat(100_000), "}]".repeat(100_000));
    assert_eq!(scan(&text).unwrap().depth, 200_000);
    assert!(scan(&text[..text.len() - 1]).is_err());
}
