//! Shallow, ordered views of JSON objects and arrays inside a message.

use super::scan::{self, Entries, Entry};
use super::unescape;
use std::borrow::Cow;
use std::ops::Range;

/// A piece of a message's text together with where it stands in it.
#[derive(Clone, Copy, Debug)]
pub struct Raw<'a> {
    /// The text, without white space around it.
    pub text: &'a str,
    /// The byte offset of its first byte in the message.
    pub at: usize,
}

impl<'a> Raw<'a> {
    /// The whole of a message.
    pub fn whole(text: &'a str) -> Self {
        Raw { text, at: 0 }
    }

    /// The byte range it takes in the message.
    pub fn range(&self) -> Range<usize> {
        self.at..self.at + self.text.len()
    }

    /// The unescaped text of a string value; `None` for any other value and for text with a lone
    /// surrogate escape.
    pub fn as_str(&self) -> Option<Cow<'a, str>> {
        unescape(self.text)
    }

    /// Whether the value is `null`.
    pub fn is_null(&self) -> bool {
        self.text == "null"
    }

    /// The value as an object; `None` for any other value.
    pub fn as_object(&self) -> Option<Object<'a>> {
        Some(Object {
            bytes: self.text.as_bytes(),
            text: Some(self.text),
            at: self.at,
            entries: scan::entries(self.text)?,
        })
    }

    /// The value as an object whose entries were found with the message's own, by their places in the message.
    pub(super) fn with_entries(&self, mut entries: Entries) -> Object<'a> {
        let back = |range: &mut Range<usize>| *range = range.start - self.at..range.end - self.at;
        for Entry { key, value } in entries.iter_mut() {
            back(key);
            back(value);
        }
        Object {
            bytes: self.text.as_bytes(),
            text: Some(self.text),
            at: self.at,
            entries,
        }
    }

    /// As [`Raw::as_object`], with white space allowed around the value.
    pub fn as_object_trimmed(&self) -> Option<Object<'a>> {
        let start = self.text.len() - self.text.trim_start().len();
        let trimmed = self.text.trim();
        self.part(start..start + trimmed.len()).as_object()
    }

    /// The items of an array; `None` for any other value.
    pub fn as_array(&self) -> Option<Vec<Raw<'a>>> {
        let items = scan::items(self.text)?;
        Some(items.into_iter().map(|range| self.part(range)).collect())
    }

    fn part(&self, range: Range<usize>) -> Raw<'a> {
        Raw {
            at: self.at + range.start,
            text: self.text.get(range).unwrap_or_default(),
        }
    }
}

/// An object's entries in their order, equal keys kept, values unread.
///
/// A large answer's text is kept as bytes that are known to be UTF-8: to make a `str` of all of it costs a pass.
#[derive(Clone, Debug)]
pub struct Object<'a> {
    bytes: &'a [u8],
    /// The same, where it is there for nothing.
    text: Option<&'a str>,
    at: usize,
    entries: Entries,
}

impl<'a> Object<'a> {
    /// A view over `text` whose entries [`scan::scan`] already found.
    pub fn scanned(text: &'a str, entries: Entries) -> Self {
        Object {
            text: Some(text),
            ..Object::seen(text.as_bytes(), entries)
        }
    }

    /// A view over a whole line, UTF-8, whose entries [`scan::look`] already found.
    pub fn seen(bytes: &'a [u8], entries: Entries) -> Self {
        Object {
            bytes,
            text: None,
            at: 0,
            entries,
        }
    }

    /// The object's own bytes.
    pub(super) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The object's own text and place.
    pub fn raw(&self) -> Raw<'a> {
        self.part(0..self.bytes.len())
    }

    fn part(&self, range: Range<usize>) -> Raw<'a> {
        let at = self.at + range.start;
        let text = match self.text {
            Some(whole) => whole.get(range),
            None => self.bytes.get(range).map(text),
        };
        Raw {
            text: text.unwrap_or_default(),
            at,
        }
    }

    /// The value of `key`; of equal keys the last counts, as it does upstream.
    #[inline]
    pub fn get(&self, key: &str) -> Option<Raw<'a>> {
        Some(self.part(self.value(key)?))
    }

    /// The value of the entry at this place among all entries.
    pub(super) fn value_at(&self, place: usize) -> Option<Raw<'a>> {
        Some(self.part(self.entries.get(place)?.value.clone()))
    }

    /// The same as bytes, which costs nothing, and its byte offset in the message.
    pub(super) fn bytes_at(&self, place: usize) -> Option<(&'a [u8], usize)> {
        let range = self.entries.get(place)?.value.clone();
        let at = self.at + range.start;
        Some((self.bytes.get(range)?, at))
    }

    /// The literals of the keys, in order.
    pub(super) fn keys(&self) -> impl Iterator<Item = &'a [u8]> + '_ {
        let keys = self.entries.iter();
        keys.map(|entry| self.bytes.get(entry.key.clone()).unwrap_or_default())
    }

    /// Whether there is such a key.
    pub fn has(&self, key: &str) -> bool {
        self.value(key).is_some()
    }

    /// Where [`Object::get`]'s value stands in the object.
    #[inline]
    fn value(&self, key: &str) -> Option<Range<usize>> {
        let entry = self.entries.iter().rev().find(|e| self.is_key(e, key))?;
        Some(entry.value.clone())
    }

    /// The unescaped string under `key`.
    pub fn get_str(&self, key: &str) -> Option<Cow<'a, str>> {
        self.get(key)?.as_str()
    }

    /// Every entry as key literal and value, in order, equal keys included.
    pub fn entries(&self) -> impl Iterator<Item = (Raw<'a>, Raw<'a>)> + '_ {
        self.entries
            .iter()
            .map(|e| (self.part(e.key.clone()), self.part(e.value.clone())))
    }

    /// Whether the object has no entries.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    #[inline(always)]
    fn is_key(&self, entry: &Entry, key: &str) -> bool {
        let literal = self.bytes.get(entry.key.clone());
        let Some([_, inside @ .., _]) = literal else {
            return false;
        };
        // An escape is longer than what it stands for, so only a longer literal can hold one.
        if inside.len() <= key.len() {
            return inside == key.as_bytes();
        }
        let first = inside.first();
        (first == Some(&b'\\') || first == key.as_bytes().first()) && self.is_spelled(entry, key)
    }

    #[cold]
    fn is_spelled(&self, entry: &Entry, key: &str) -> bool {
        let literal = self.bytes.get(entry.key.clone()).unwrap_or_default();
        memchr::memchr(b'\\', literal).is_some()
            && unescape(text(literal)).is_some_and(|text| text == key)
    }

    /// The edits that make `key` stand for `value` (JSON text): the last copy is replaced, a key that
    /// is missing is appended.
    pub fn set(&self, key: &str, value: &str) -> (Range<usize>, String) {
        if let Some(old) = self.get(key) {
            return (old.range(), value.to_owned());
        }
        let end = self.at + self.bytes.len() - 1;
        let comma = if self.is_empty() { "" } else { "," };
        (end..end, format!("{comma}{}:{value}", super::quote(key)))
    }

    /// The byte ranges to delete so that no copy of any of `keys` is left.
    pub fn without(&self, keys: &[&str]) -> Vec<Range<usize>> {
        let mut cuts = Vec::new();
        let mut kept_end = None;
        for (index, entry) in self.entries.iter().enumerate() {
            if !keys.iter().any(|key| self.is_key(entry, key)) {
                kept_end = Some(entry.value.end);
                continue;
            }
            let next = self.entries.get(index + 1).map(|next| next.key.start);
            let cut = match (kept_end, next) {
                // The comma goes with the entry that it follows from.
                (Some(_), _) => self.entries[index - 1].value.end..entry.value.end,
                (None, Some(next)) => entry.key.start..next,
                (None, None) => entry.key.start..entry.value.end,
            };
            cuts.push(self.at + cut.start..self.at + cut.end);
        }
        cuts
    }
}

/// The text of a piece of a message that is known to be UTF-8 and was cut where tokens end.
fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_the_same_key_in_every_spelling() {
        let key = "params";
        for at in 0..key.len() {
            let letter = u32::from(key.as_bytes()[at]);
            let (head, tail) = (&key[..at], &key[at + 1..]);
            for spelled in [
                format!("{head}\\u{letter:04x}{tail}"),
                format!("{head}\\u{letter:04X}{tail}"),
            ] {
                let text = format!(r#"{{"{spelled}":1,"param":2,"paramss":3,"p\\rams":4}}"#);
                let object = Raw::whole(&text).as_object().expect("an object");
                assert_eq!(object.get(key).map(|raw| raw.text), Some("1"), "{text}");
            }
        }
    }

    #[test]
    fn a_key_that_only_looks_alike_is_another() {
        for other in [
            "Params",
            "param",
            "paramss",
            r"param\\",
            r"p\u0061ram",
            r"\tarams",
            "",
            r"\\params",
        ] {
            let text = format!(r#"{{"{other}":1}}"#);
            let object = Raw::whole(&text).as_object().expect("an object");
            assert!(object.get("params").is_none(), "{text}");
        }
    }
}
