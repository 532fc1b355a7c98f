//! Whose answer a damaged line was to be.

use crate::wire::id::Id;
use crate::wire::object::Object;
use crate::wire::scan;

/// The request id that a damaged answer shows, if it shows one and no method.
pub(super) fn damaged_id(text: &str) -> Option<Id> {
    let is_damage = |c: char| c.is_control() || matches!(c, ' ' | '\u{feff}' | '\u{fffd}');
    let text = text.trim_start_matches(is_damage);
    let entries = match scan::look(text.as_bytes()) {
        Ok(seen) => seen.entries,
        Err(broken) => broken.entries,
    };
    let object = Object::scanned(text, entries);
    if !text.starts_with('{') || object.get("method").is_some() {
        return None;
    }
    match object.get("id") {
        Some(raw) => Id::read(raw),
        None => trailing_id(text),
    }
}

/// The id of `…,"id":7}`: it may stand behind the part that is damaged. Only an id that entries of the
/// message itself follow, up to its end, is the message's: a result may hold ids of its own.
fn trailing_id(text: &str) -> Option<Id> {
    let at = text.rfind("\"id\"")?;
    let tail = format!("{{{}", text.get(at..)?);
    let scanned = scan::scan(&tail).ok()?;
    Id::read(Object::scanned(&tail, scanned.entries).get("id")?)
}
