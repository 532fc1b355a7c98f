//! A thin MCP stdio relay between an MCP client and MCP for Unity.

pub mod baseline;
