//! The wire: lines of JSON-RPC, looked at without being taken apart.
//!
//! A message stays the bytes that came. [`scan`] checks that a line is JSON and where its top-level
//! entries stand, [`object`] gives shallow views with byte ranges, [`id`] compares request ids,
//! [`envelope`] sorts a line into request, notification or answer, [`same`] compares values,
//! [`literal`] reads a string without unescaping all of it, [`surrogates`] what a Rust string cannot
//! hold, and [`splice`] replaces byte ranges. Nothing here prints a parsed tree back: that would respell
//! numbers and escapes that no behaviour meant to touch.

pub mod envelope;
pub mod id;
pub mod literal;
pub mod object;
pub mod same;
pub mod scan;
pub mod splice;
pub mod surrogates;

use std::borrow::Cow;

/// The text of a JSON string literal (quotes included) after unescaping.
///
/// `None` when the literal is no string, or when it holds a lone surrogate escape, which no Rust
/// string can represent.
pub fn unescape(literal: &str) -> Option<Cow<'_, str>> {
    let inner = literal.strip_prefix('"')?.strip_suffix('"')?;
    if memchr::memchr(b'\\', inner.as_bytes()).is_none() {
        return Some(Cow::Borrowed(inner));
    }
    serde_json::from_str::<String>(literal).ok().map(Cow::Owned)
}

/// A JSON string literal for `text`, quotes included.
pub fn quote(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
