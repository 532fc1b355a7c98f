//! The `vrc-mcp-proxy` binary.
fn main() {}
