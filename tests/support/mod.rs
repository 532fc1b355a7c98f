//! What the tests of the core share. Each test file uses its own part of it.
#![allow(
    dead_code,
    reason = "each test file compiles this and uses its own part"
)]

pub(crate) mod case;
pub(crate) mod driver;
mod looks;
pub(crate) mod pattern;
pub(crate) mod random;
pub(crate) mod rig;
pub(crate) mod steps;
pub(crate) mod surroundings;

/// A text for a failure's message: its beginning and, when it is long, its end.
pub(crate) fn clip(text: &str) -> String {
    const HEAD: usize = 400;
    const TAIL: usize = 100;
    let length = text.chars().count();
    if length <= HEAD + TAIL {
        return text.to_owned();
    }
    let head: String = text.chars().take(HEAD).collect();
    let tail: String = text.chars().skip(length - TAIL).collect();
    format!("{head} … {tail}")
}
