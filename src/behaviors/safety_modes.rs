//! A session may do no more than its user set it to.
//!
//! The server marks whole tools as destructive (10.1.0), so a client can only ask about all calls of a tool or about
//! none. Here each action counts by itself (`src/safety/table.rs`).

use super::{Behavior, Check, Cx, Hook, Listing, ListingEdit, Refusal, Rewriting, ToolKey};
use crate::call::{Call, Rewrite};
use crate::safety::{Effect, Judgement, Mode, can_destroy, judge};
use crate::wire::object::Raw;

/// The behaviour's entry.
pub(super) const BEHAVIOR: Behavior = Behavior {
    name: "safety_modes",
    summary: "Holds writes back in mode read_only, and what is destructive until it is confirmed in mode confirm.",
    tool: None,
    hooks: &[
        Hook::Listing(mark),
        Hook::Guard(only_reads),
        Hook::Consent(confirmed),
        Hook::Rewrite(consume),
    ],
    codes: &[
        (
            "not_a_read",
            "the mode is read_only and the call is no read",
        ),
        (
            "not_confirmed",
            "the mode is confirm and a destructive call carries no yes",
        ),
    ],
};

/// What is no read and passes in mode `read_only` all the same: a pin and a refresh.
const PASSING: [&str; 2] = ["set_active_instance", "refresh_unity"];

const CONFIRM: &str = "confirm";

/// The argument as `tools/list` shows it.
const CONFIRM_SCHEMA: &str = r#"{"type":"boolean","default":false,"description":"For the proxy in front of the server: true says yes to a call that deletes, overwrites or discards. Without it such a call is refused."}"#;

/// Characters of an argument that a refusal quotes.
const SHOWN_VALUE: usize = 100;
/// Arguments that a refusal quotes.
const SHOWN_ARGUMENTS: usize = 6;

fn mark(listing: &Listing<'_>, cx: &Cx<'_>) -> Result<ListingEdit, String> {
    let mut edit = ListingEdit::default();
    for (at, tool) in listing.tools.iter().enumerate() {
        let Some(name) = tool.name.as_deref() else {
            continue;
        };
        match cx.config.mode {
            Mode::Full => {}
            Mode::ReadOnly if PASSING.contains(&name) => {}
            Mode::ReadOnly => edit.set.push(ToolKey {
                at,
                path: &["annotations", "readOnlyHint"],
                value: "true".to_owned(),
            }),
            // A tool without a schema gets none from here.
            Mode::Confirm if tool.input_schema.is_none_or(|schema| schema == "null") => {}
            Mode::Confirm if has_own_confirm(tool.input_schema) => {
                edit.own_confirm.push(name.to_owned());
            }
            Mode::Confirm if can_destroy(name) => {
                edit.set.push(ToolKey {
                    at,
                    path: &["inputSchema", "properties", CONFIRM],
                    value: CONFIRM_SCHEMA.to_owned(),
                });
            }
            Mode::Confirm => {}
        }
    }
    Ok(edit)
}

fn has_own_confirm(input_schema: Option<&str>) -> bool {
    let schema = input_schema.and_then(|text| Raw::whole(text).as_object());
    let properties = schema
        .and_then(|schema| schema.get("properties"))
        .and_then(|raw| raw.as_object());
    properties.is_some_and(|properties| properties.get(CONFIRM).is_some())
}

fn only_reads(call: &Call<'_>, cx: &Cx<'_>) -> Check {
    if cx.config.mode != Mode::ReadOnly {
        return Check::Pass;
    }
    let judgement = judge(call);
    match judgement.effect {
        Effect::Read => return Check::Pass,
        Effect::Control if PASSING.contains(&&*call.tool) => return Check::Pass,
        _ => {}
    }
    let Judgement { effect, does } = judgement;
    let does = match (effect, does) {
        (Effect::Control, "") => "steers the Editor or the session",
        (_, "") => "changes the project or the Editor",
        (_, does) => does,
    };
    Check::Refuse(Refusal {
        code: "not_a_read",
        text: format!(
            "{} was not forwarded: this session's mode is read_only (VRC_MCP_PROXY_MODE), and this call is no \
             read: it {does}. Calls that only read pass, and so do set_active_instance and refresh_unity. \
             Another mode is the user's choice: VRC_MCP_PROXY_MODE=full, or confirm, in the `env` of this \
             server's entry in the client's configuration, and a restart.",
            named(call)
        ),
    })
}

fn confirmed(call: &Call<'_>, cx: &Cx<'_>) -> Check {
    if cx.config.mode != Mode::Confirm || says_yes(call) {
        return Check::Pass;
    }
    let Judgement { effect, does } = judge(call);
    if effect != Effect::Destructive {
        return Check::Pass;
    }
    let given = match call.argument(CONFIRM) {
        None | Some("null") => String::new(),
        Some(raw) => format!(" Its `confirm` is {}, which is no yes.", cut(raw)),
    };
    Check::Refuse(Refusal {
        code: "not_confirmed",
        text: format!(
            "{} was not forwarded, nothing ran: it {does}, and this session's mode is confirm \
             (VRC_MCP_PROXY_MODE).{given} Its arguments: {}. If the user wants exactly this, send the same call \
             again with one more argument, `confirm`: true; if that is not certain, ask first.",
            named(call),
            quoted_arguments(call)
        ),
    })
}

fn says_yes(call: &Call<'_>) -> bool {
    call.argument(CONFIRM) == Some("true") || call.string(CONFIRM).as_deref() == Some("true")
}

/// The yes was for this proxy: the server refuses an argument that it does not know. One that a listing showed as the
/// tool's own stays. On calls that need no yes it goes too, since the listing offers it on the whole tool.
fn consume(call: &Call<'_>, cx: &Cx<'_>) -> Rewriting {
    let ours = cx.config.mode == Mode::Confirm
        && call.argument(CONFIRM).is_some()
        && can_destroy(&call.tool)
        && !cx.listings.own_confirm.contains(&*call.tool);
    if !ours {
        return Rewriting::Keep;
    }
    Rewriting::Change(Rewrite {
        remove: vec![CONFIRM],
        ..Rewrite::default()
    })
}

/// Tool and action, for a text.
fn named(call: &Call<'_>) -> String {
    let action = call.action().unwrap_or_default();
    [&*call.tool, &*cut(&action)]
        .join(" ")
        .trim_end()
        .to_owned()
}

fn quoted_arguments(call: &Call<'_>) -> String {
    let arguments = call.raw_arguments().and_then(|raw| raw.as_object());
    let mut shown: Vec<String> = Vec::new();
    for (key, value) in arguments.iter().flat_map(|all| all.entries()) {
        let key = key.as_str().unwrap_or_default();
        if !matches!(&*key, "action" | CONFIRM) {
            shown.push(format!("{}={}", cut(&key), cut(value.text)));
        }
    }
    let rest = shown.len().saturating_sub(SHOWN_ARGUMENTS);
    shown.truncate(SHOWN_ARGUMENTS);
    match (shown.is_empty(), rest) {
        (true, _) => "none".to_owned(),
        (_, 0) => shown.join(", "),
        _ => format!("{}, and {rest} more", shown.join(", ")),
    }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(SHOWN_VALUE) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
