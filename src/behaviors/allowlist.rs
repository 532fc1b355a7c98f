//! Only tools that were looked at reach the Editor.
//!
//! The server offers 47 tools (measured against 10.1.0). Thirteen are exposed; each of them either
//! tells the truth or has a behaviour that mends it.

use super::{Behavior, Check, Cx, Hook, Listing, ListingEdit, Refusal};
use crate::call::Call;
use crate::config::nearest;
use crate::profile::known_tools;
use std::collections::BTreeSet;

/// The behaviour's entry.
pub(super) const BEHAVIOR: Behavior = Behavior {
    name: "allowlist",
    summary: "Lists thirteen tools and refuses calls to any other.",
    tool: None,
    hooks: &[Hook::Listing(hide), Hook::Guard(check)],
    codes: &[
        ("tool_not_exposed", "the tool is not on the list"),
        ("tool_unknown", "the server has no such tool"),
        (
            "tool_not_registered",
            "the server has no such tool while no Editor is connected",
        ),
        ("tool_name_missing", "the call names no tool"),
        (
            "tests_run_headless",
            "EditMode tests belong in the headless runner",
        ),
        ("console_lines_cut", "read_console returns first lines only"),
        (
            "batch_hides_calls",
            "batch_execute carries calls past every guard",
        ),
    ],
};

fn hide(listing: &Listing<'_>, cx: &Cx<'_>) -> Result<ListingEdit, String> {
    let exposed = |name: Option<&str>| name.is_some_and(|n| cx.config.exposed.contains(n));
    let tools = listing.tools.iter().enumerate();
    let names = listing.tools.iter().filter_map(|tool| tool.name.as_deref());
    Ok(ListingEdit {
        listed: names.map(ToOwned::to_owned).collect(),
        hide: tools
            .filter(|(_, tool)| !exposed(tool.name.as_deref()))
            .map(|(at, _)| at)
            .collect(),
        ..ListingEdit::default()
    })
}

fn check(call: &Call<'_>, cx: &Cx<'_>) -> Check {
    if cx.config.exposed.contains(&call.tool) {
        return Check::Pass;
    }
    let (code, text) = match &*call.tool {
        "" => (
            "tool_name_missing",
            "This tools/call names no tool: `params.name` is missing or no string. Nothing was \
             forwarded."
                .to_owned(),
        ),
        name @ ("run_tests" | "get_test_job") => ("tests_run_headless", tests(name)),
        "read_console" => ("console_lines_cut", CONSOLE.to_owned()),
        "batch_execute" => ("batch_hides_calls", BATCH.to_owned()),
        name => hidden(name, cx),
    };
    Check::Refuse(Refusal { code, text })
}

/// Which of three it is: hidden here, unknown to the server, or not registered there so far. A project's own tools
/// are registered when its Editor is connected, so without one an unknown name proves nothing.
fn hidden(name: &str, cx: &Cx<'_>) -> (&'static str, String) {
    if let Some(entry) = cx.config.exposed.denied_by(name) {
        return ("tool_not_exposed", denied(name, entry));
    }
    let version = cx.config.upstream_version;
    let known = known_tools(version);
    if cx.listings.names.contains(name) {
        return ("tool_not_exposed", generic(name));
    }
    if known.contains(name) {
        let mut text = generic(name);
        if !cx.listings.names.is_empty() {
            text.push_str(
                " The server's own lists did not have it in this session either: its group is switched off in Unity, \
                 or the Editor that brings it was not connected.",
            );
        }
        return ("tool_not_exposed", text);
    }
    let nearest = closest(name, &known, cx);
    if cx.live_editors().is_empty() {
        let text = format!(
            "`{name}` is unknown: no tool of mcpforunityserver {version} has that name{nearest} A project's \
             own tools are registered while its Editor is connected, and no live Editor is visible, so it may not be \
             registered yet. The call was not forwarded, since the name is not on vrc-mcp-proxy's allowlist \
             either: {}",
            fix(name)
        );
        return ("tool_not_registered", text);
    }
    let listed = if cx.listings.names.is_empty() {
        "and no list of its tools was asked for in this session (tools/list) that could show another one"
    } else {
        "and it has not listed one in this session"
    };
    let text = format!(
        "`{name}` is unknown to the server: no tool of mcpforunityserver {version} has that name, {listed}\
         {nearest} The call was not forwarded. Should the project itself add a tool of that name, it also has to be put \
         on vrc-mcp-proxy's allowlist: {}",
        fix(name)
    );
    ("tool_unknown", text)
}

/// A full stop, or a question that names the most similar tool that can be called.
fn closest(name: &str, known: &BTreeSet<String>, cx: &Cx<'_>) -> String {
    let exposed = |tool: &&String| cx.config.exposed.contains(tool);
    let tools = known.iter().chain(&cx.listings.names).filter(exposed);
    match nearest(name, tools.map(String::as_str)) {
        none if none.is_empty() => ".".to_owned(),
        question => question,
    }
}

fn generic(name: &str) -> String {
    format!(
        "`{name}` is hidden by vrc-mcp-proxy: it is not on its allowlist, so the call was not forwarded. {}",
        fix(name)
    )
}

fn fix(name: &str) -> String {
    format!(
        "Whether to expose it is the user's choice: VRC_MCP_PROXY_ALLOW={name} in the `env` of this server's entry in \
         the client's configuration, and a restart; or, in a build of one's own, its name in EXPOSED_TOOLS in \
         src/config.rs."
    )
}

fn denied(name: &str, entry: &str) -> String {
    let entry = if entry == name {
        String::new()
    } else {
        format!(" (`{entry}`)")
    };
    format!(
        "`{name}` is hidden: VRC_MCP_PROXY_DENY{entry} keeps it off vrc-mcp-proxy's allowlist, so the call was not \
         forwarded. Whether to expose it is the user's choice: take that entry out of the variable, in the `env` of this \
         server's entry in the client's configuration, and restart."
    )
}

fn tests(name: &str) -> String {
    format!(
        "`{name}` is not exposed: EditMode tests belong in the headless runner, not in a live Editor \
         over MCP. Run tools/run-editmode-tests.ps1 of the vrc-unity-tools repository in a shell."
    )
}

const CONSOLE: &str = "`read_console` is not exposed: it returns only the first line of each console \
entry, so a diagnostic of several lines has lost its payload inside Unity. Two doors through \
execute_code have all of it. With the package com.ryan6vrc.agent-tools installed: \
Ryan6Vrc.AgentTools.Editor.ReportConsole.Run(types, filterText, count). Without it, \
UnityEditor.LogEntries by reflection:\n\
var asm = typeof(UnityEditor.Editor).Assembly;\n\
var log = asm.GetType(\"UnityEditor.LogEntries\");\n\
var type = asm.GetType(\"UnityEditor.LogEntry\");\n\
var entry = System.Activator.CreateInstance(type);\n\
var lines = new System.Collections.Generic.List<string>();\n\
int count = (int)log.GetMethod(\"StartGettingEntries\").Invoke(null, null);\n\
try {\n\
for (int i = System.Math.Max(0, count - 50); i < count; i++) {\n\
log.GetMethod(\"GetEntryInternal\").Invoke(null, new object[] { i, entry });\n\
lines.Add((string)type.GetField(\"message\").GetValue(entry));\n\
}\n\
} finally { log.GetMethod(\"EndGettingEntries\").Invoke(null, null); }\n\
return string.Join(\"\\n---\\n\", lines.ToArray());\n\
To clear the console: typeof(UnityEditor.Editor).Assembly.GetType(\"UnityEditor.LogEntries\")\
.GetMethod(\"Clear\").Invoke(null, null); return null;";

const BATCH: &str = "`batch_execute` is not exposed: it would carry other tools' calls past every guard. \
Nothing was forwarded. Make the calls one by one.";
