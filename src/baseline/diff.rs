//! What changed between two contracts, for a person to read.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Serialize;

use super::json::{Json, is_unprintable, push_escape};
use super::keywords::{Holds, holds};
use super::pointer;

/// Characters of a value that are shown; a longer one is cut around its first difference.
const MAX_VALUE: usize = 80;
/// Characters of a pointer that are shown.
const MAX_POINTER: usize = 120;
/// Entries that a log line or a refusal lists before it says "and N more".
pub const MAX_LISTED: usize = 8;

/// One difference between two contracts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Where, as a JSON pointer without its leading slash; empty for the schema itself.
    pub pointer: String,
    /// The old value as JSON, cut short; `None` when there was none.
    pub old: Option<String>,
    /// The new value as JSON, cut short; `None` when there is none.
    pub new: Option<String>,
    /// What a list gained or lost, where the lists are too long to show.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.pointer.is_empty() {
            "inputSchema"
        } else {
            &self.pointer
        };
        let side = |value: &Option<String>| value.clone().unwrap_or_else(|| "absent".to_owned());
        write!(
            f,
            "{}: {} → {}",
            printable(place, MAX_POINTER),
            side(&self.old),
            side(&self.new)
        )?;
        match &self.detail {
            Some(detail) => write!(f, " ({detail})"),
            None => Ok(()),
        }
    }
}

/// One line of at most [`MAX_LISTED`] entries; what is left out is counted.
pub fn listed(entries: &[impl fmt::Display]) -> String {
    let shown: Vec<String> = entries
        .iter()
        .take(MAX_LISTED)
        .map(ToString::to_string)
        .collect();
    let rest = entries.len() - shown.len();
    let more = if rest == 0 {
        String::new()
    } else {
        format!(", and {rest} more")
    };
    shown.join("; ") + &more
}

/// Every difference, by pointer. Empty exactly when the contracts are equal.
pub(super) fn differences(old: &Json, new: &Json) -> Vec<Difference> {
    let mut found = Vec::new();
    compare_schema("", old, new, &mut found);
    found
}

/// What was added, lost or changed among values by name, none of which is a schema.
pub(super) fn values(
    old: &BTreeMap<String, Json>,
    new: &BTreeMap<String, Json>,
) -> Vec<Difference> {
    let changed = keys(old, new)
        .into_iter()
        .filter(|key| old.get(*key) != new.get(*key));
    changed
        .map(|key| difference(&pointer::join("", key), old.get(key), new.get(key)))
        .collect()
}

/// A value as JSON, cut short.
pub(super) fn printed(value: &Json) -> String {
    cut(&value.to_string(), 0)
}

/// The pointers of the texts that were added, removed or changed.
pub(super) fn reworded(
    old: &BTreeMap<String, String>,
    new: &BTreeMap<String, String>,
) -> Vec<String> {
    let places: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let changed = places
        .into_iter()
        .filter(|place| old.get(*place) != new.get(*place));
    changed.map(|place| printable(place, MAX_POINTER)).collect()
}

fn compare_schema(at: &str, old: &Json, new: &Json, found: &mut Vec<Difference>) {
    let (Json::Object(old_members), Json::Object(new_members)) = (old, new) else {
        return compare_value(at, old, new, found);
    };
    for key in keys(old_members, new_members) {
        let at = pointer::join(at, key);
        match (old_members.get(key), new_members.get(key)) {
            (Some(old), Some(new)) => compare_keyword(&at, holds(key), old, new, found),
            (old, new) => found.push(difference(&at, old, new)),
        }
    }
}

fn compare_keyword(at: &str, held: Holds, old: &Json, new: &Json, found: &mut Vec<Difference>) {
    match (held, old, new) {
        _ if old == new => {}
        (Holds::Schema | Holds::SchemaOrTuple, Json::Object(_), Json::Object(_)) => {
            compare_schema(at, old, new, found);
        }
        (
            Holds::SchemaMap | Holds::Definitions | Holds::Dependencies,
            Json::Object(olds),
            Json::Object(news),
        ) => {
            for name in keys(olds, news) {
                let at = pointer::join(at, name);
                match (olds.get(name), news.get(name)) {
                    (Some(old), Some(new)) if old == new => {}
                    (Some(old), Some(new)) => compare_schema(&at, old, new, found),
                    (old, new) => found.push(difference(&at, old, new)),
                }
            }
        }
        (Holds::Tuple | Holds::SchemaOrTuple, Json::Array(olds), Json::Array(news))
            if olds.len() == news.len() =>
        {
            for (index, (old, new)) in olds
                .iter()
                .zip(news)
                .enumerate()
                .filter(|(_, (old, new))| old != new)
            {
                compare_schema(&pointer::join(at, &index.to_string()), old, new, found);
            }
        }
        (Holds::SchemaSet, Json::Array(olds), Json::Array(news)) => {
            compare_set(at, olds, news, true, found);
        }
        (Holds::ValueSet, Json::Array(olds), Json::Array(news)) => {
            compare_set(at, olds, news, false, found);
        }
        _ => compare_value(at, old, new, found),
    }
}

/// Lists whose order does not count: what came and what went. Where one schema was changed, the
/// difference is looked for inside it.
fn compare_set(
    at: &str,
    old: &[Json],
    new: &[Json],
    of_schemas: bool,
    found: &mut Vec<Difference>,
) {
    let lost = without(old, new);
    let gained = without(new, old);
    if let ([(index, old @ Json::Object(_))], [(_, new @ Json::Object(_))], true) =
        (lost.as_slice(), gained.as_slice(), of_schemas)
    {
        return compare_schema(&pointer::join(at, &index.to_string()), old, new, found);
    }
    let (old, new) = (Json::Array(old.to_vec()), Json::Array(new.to_vec()));
    let mut difference = difference(at, Some(&old), Some(&new));
    if old
        .to_string()
        .chars()
        .count()
        .max(new.to_string().chars().count())
        > MAX_VALUE
    {
        let size = |list: &Json| format!("{} entries", list.as_array().map_or(0, <[Json]>::len));
        let named = |what: &str, entries: &[(usize, &Json)]| {
            let entries: Vec<String> = entries
                .iter()
                .map(|(_, entry)| cut(&entry.to_string(), 0))
                .collect();
            (!entries.is_empty()).then(|| format!("{what} {}", listed(&entries)))
        };
        let parts = [named("added", &gained), named("removed", &lost)];
        let detail = parts.into_iter().flatten().collect::<Vec<_>>().join("; ");
        if !detail.is_empty() {
            difference.old = Some(size(&old));
            difference.new = Some(size(&new));
            difference.detail = Some(detail);
        }
    }
    found.push(difference);
}

/// The entries of `list` that `other` has not, each with its place.
fn without<'a>(list: &'a [Json], other: &[Json]) -> Vec<(usize, &'a Json)> {
    let other: BTreeSet<&Json> = other.iter().collect();
    list.iter()
        .enumerate()
        .filter(|(_, entry)| !other.contains(entry))
        .collect()
}

fn compare_value(at: &str, old: &Json, new: &Json, found: &mut Vec<Difference>) {
    if old != new {
        found.push(difference(at, Some(old), Some(new)));
    }
}

fn difference(at: &str, old: Option<&Json>, new: Option<&Json>) -> Difference {
    let (old, new) = (old.map(Json::to_string), new.map(Json::to_string));
    let start = match (&old, &new) {
        (Some(old), Some(new)) => old
            .chars()
            .zip(new.chars())
            .take_while(|(a, b)| a == b)
            .count(),
        _ => 0,
    };
    let shorten = |text: &String| cut(text, start);
    Difference {
        pointer: at.to_owned(),
        old: old.as_ref().map(shorten),
        new: new.as_ref().map(shorten),
        detail: None,
    }
}

/// At most [`MAX_VALUE`] characters of `text`, with `difference` (an index in characters) among them.
fn cut(text: &str, difference: usize) -> String {
    let length = text.chars().count();
    if length <= MAX_VALUE {
        return text.to_owned();
    }
    // Some of what comes before the difference shows where in the value it is.
    let start = difference
        .saturating_sub(MAX_VALUE / 2)
        .min(length - MAX_VALUE);
    let shown: String = text.chars().skip(start).take(MAX_VALUE).collect();
    let (head, tail) = (
        if start == 0 { "" } else { "…" },
        if start + MAX_VALUE == length {
            ""
        } else {
            "…"
        },
    );
    format!("{head}{shown}{tail}")
}

/// A text from upstream as it may stand in a log line: printable, and not longer than `limit` characters.
fn printable(text: &str, limit: usize) -> String {
    let mut out = String::new();
    for (index, c) in text.chars().enumerate() {
        match c {
            _ if index == limit => {
                out.push('…');
                break;
            }
            c if is_unprintable(c) => push_escape(&mut out, c),
            c => out.push(c),
        }
    }
    out
}

fn keys<'a>(
    old: &'a BTreeMap<String, Json>,
    new: &'a BTreeMap<String, Json>,
) -> BTreeSet<&'a String> {
    old.keys().chain(new.keys()).collect()
}
