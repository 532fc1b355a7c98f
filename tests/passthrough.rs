//! What nothing changes passes byte for byte, what is changed keeps every other byte, and every
//! request gets exactly one answer: over generated messages and sessions.
#![allow(clippy::panic, clippy::unwrap_used, reason = "tests")]

#[path = "passthrough/clock.rs"]
mod clock;
#[path = "passthrough/edits.rs"]
mod edits;
#[path = "passthrough/json.rs"]
mod json;
#[path = "passthrough/lines.rs"]
mod lines;
#[path = "passthrough/scanner.rs"]
mod scanner;
#[path = "passthrough/sessions.rs"]
mod sessions;
mod support;
#[path = "passthrough/turns.rs"]
mod turns;
