//! A thin MCP stdio relay between an MCP client and MCP for Unity.
//!
//! The map of this tree:
//!
//! - [`run`] is the shell: the client's pipes, the upstream's process, one loop, the end.
//! - [`relay`] is the deterministic core: bytes and an instant in, actions out.
//! - [`wire`] reads and splices lines; [`call`] and [`reply`] are its two views for behaviours.
//! - [`behaviors`] holds the behaviours, one file each, and the types of their hooks.
//! - [`csharp`] reads snippets as tokens and writes the lines that travel with them.
//! - [`safety`] classes tools and actions by what they may do, for the modes.
//! - [`contain`] keeps a failing behaviour from taking the relay along.
//! - [`instances`] reads the Editors' heartbeat files; [`binding`] knows the project that calls are bound to.
//! - [`upstream`] finds, starts and ends the server's process tree.
//! - [`baseline`] knows what each tool of the server accepts, and compares listed tools with that.
//! - [`commands`] is the command line: everything that is not the relay.
//! - [`config`] is the environment, read once, [`profile`] which tools it exposes, [`home`] where the user is at home.
//! - [`stderr`] is the log's way out.

pub mod baseline;
pub mod behaviors;
pub mod binding;
pub mod call;
pub mod commands;
pub mod config;
pub mod contain;
pub mod csharp;
pub mod home;
pub mod instances;
pub mod profile;
mod ready;
pub mod relay;
pub mod reply;
pub mod run;
pub mod safety;
pub mod stderr;
pub mod surroundings;
pub mod upstream;
pub mod wire;
