//! The `vrc-mcp-proxy` binary.

fn main() {
    let config = vrc_mcp_proxy::config::Config::from_env(std::env::vars_os());
    std::process::exit(vrc_mcp_proxy::run::relay(config));
}
