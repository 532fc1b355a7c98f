//! C# as text: what the relay reads in a snippet and what it writes around one.
//!
//! Pure functions: no I/O, no clock. The reading side ([`lexer`], [`using`]) tells code from text; the writing side
//! ([`literal`], [`prelude`]) makes the C# that travels with a snippet into the Editor.

pub mod diagnostics;
pub mod lexer;
pub mod literal;
pub mod prelude;
pub mod using;

mod conditional;
mod lines;
mod text;

pub use lines::{line_count, line_of};
