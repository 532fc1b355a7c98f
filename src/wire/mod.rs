//! The wire: lines of JSON-RPC, looked at without being taken apart.
//!
//! A message stays the bytes that came. [`scan`] checks that a line is JSON and where its top-level
//! entries stand, [`object`] gives shallow views with byte ranges, [`id`] compares request ids,
//! [`envelope`] sorts a line into request, notification or answer, [`same`] compares values,
//! [`literal`] reads a string without unescaping all of it, [`surrogates`] what a Rust string cannot
//! hold, and [`splice`] replaces byte ranges. Nothing here prints a parsed tree back: that would respell
//! numbers and escapes that no behaviour meant to touch.

pub mod chars;
pub mod envelope;
pub mod id;
mod literal;
pub mod object;
pub mod same;
pub mod scan;
pub mod splice;
pub mod surrogates;

pub use literal::{push_escaped, quote, unescape};
