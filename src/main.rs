//! The `vrc-mcp-proxy` binary.

fn main() {
    std::process::exit(vrc_mcp_proxy::commands::run());
}
