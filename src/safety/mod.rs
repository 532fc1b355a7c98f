//! What a call may do to the project, and the modes that hold some of it back.
//!
//! [`judge`] reads a call as widely as the server does: an action in any letter case is that action (`manage_packages`
//! and the other tools without an `enum` lower-case theirs, measured against 10.1.0), and so is one with white space
//! around it. What nothing is known of is destructive.

mod table;
#[cfg(test)]
mod tests;

use crate::call::{Call, normalize};
use crate::wire::object::{Object, Raw};
use table::{ALONE, RAISED, TOOLS};

/// The behaviour that applies the modes.
pub const SAFETY_MODES: &str = "safety_modes";

/// How much a session may do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Everything: the behaviour is idle.
    #[default]
    Full,
    /// Reads, pins and refreshes.
    ReadOnly,
    /// Everything, but what is destructive only with a yes.
    Confirm,
}

impl Mode {
    /// The modes' names, as the environment gives them.
    pub const NAMES: [(&'static str, Mode); 3] = [
        ("full", Mode::Full),
        ("read_only", Mode::ReadOnly),
        ("confirm", Mode::Confirm),
    ];

    /// The mode of this name, in any letter case, with white space around it; `None` when there is none.
    pub fn parse(name: &str) -> Option<Mode> {
        let name = normalize(name);
        let mut known = Mode::NAMES.into_iter();
        known
            .find(|(known, _)| *known == name)
            .map(|(_, mode)| mode)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        let mut known = Mode::NAMES.into_iter();
        known
            .find(|(_, mode)| *mode == self)
            .map_or("", |(name, _)| name)
    }
}

/// What a call may do, from the least to the most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// It looks at something.
    Read,
    /// It steers the Editor or the session: play mode, pins, refreshes.
    Control,
    /// It changes something.
    Write,
    /// It deletes, overwrites or discards, or nothing is known of what it does.
    Destructive,
}

/// What is known of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// What it may do.
    pub effect: Effect,
    /// What that is, to be read after "it"; empty where the table says no more than the effect.
    pub does: &'static str,
}

/// A tool or an action that the table does not hold.
const UNKNOWN: Judgement = Judgement {
    effect: Effect::Destructive,
    does: "is not in the table of known actions, so it counts as destructive",
};

/// What a call may do.
pub fn judge(call: &Call<'_>) -> Judgement {
    if call.tool == "batch_execute" {
        return batch(call);
    }
    let action = match call.argument("action") {
        None | Some("null") => None,
        Some(_) => Some(call.normalized_action()),
    };
    judge_action(&call.tool, action.as_deref(), |when| when(call))
}

/// Whether a tool has a call that counts as destructive.
pub fn can_destroy(tool: &str) -> bool {
    let destroys = |effect| effect == Effect::Destructive;
    let Some(rows) = rows(tool) else {
        return true;
    };
    let mut raised = RAISED.iter().filter(|raised| raised.tool == tool);
    rows.iter().any(|row| destroys(row.0)) || raised.any(|raised| destroys(raised.effect))
}

/// The actions of a tool that the table holds; none for a tool without actions.
pub fn actions(tool: &str) -> impl Iterator<Item = &'static str> {
    let rows = rows(tool).unwrap_or_default().iter();
    rows.flat_map(|row| row.1.split_whitespace())
        .filter(|action| *action != ALONE)
}

/// The tools that the table holds.
pub fn tools() -> impl Iterator<Item = &'static str> {
    TOOLS.iter().map(|(name, _)| *name)
}

fn rows(tool: &str) -> Option<&'static [table::Row]> {
    let (_, rows) = TOOLS.iter().find(|(name, _)| *name == tool)?;
    Some(rows)
}

/// `applies` tells whether a condition of [`RAISED`] holds.
fn judge_action(
    tool: &str,
    action: Option<&str>,
    applies: impl Fn(fn(&Call<'_>) -> bool) -> bool,
) -> Judgement {
    let action = match action {
        // Upstream refuses an argument that the tool does not have.
        _ if actions(tool).next().is_none() => ALONE,
        None => ALONE,
        Some(ALONE) => return UNKNOWN,
        Some(action) => action,
    };
    let mut rows = rows(tool).unwrap_or_default().iter();
    let Some(row) = rows.find(|row| row.1.split_whitespace().any(|known| known == action)) else {
        return UNKNOWN;
    };
    let plain = Judgement {
        effect: row.0,
        does: row.2,
    };
    let raised = RAISED
        .iter()
        .filter(|raised| raised.tool == tool && raised.action == action && applies(raised.when));
    let raised = raised.map(|raised| Judgement {
        effect: raised.effect,
        does: raised.does,
    });
    raised.fold(plain, worse)
}

fn worse(one: Judgement, other: Judgement) -> Judgement {
    if other.effect > one.effect {
        other
    } else {
        one
    }
}

/// As much as the worst of its commands may do. They go to the Editor without the server's checks, so every
/// condition on an argument counts as met.
fn batch(call: &Call<'_>) -> Judgement {
    let commands = call.argument("commands").map(Raw::whole);
    let commands = commands.and_then(|raw| raw.as_array()).unwrap_or_default();
    let commands = commands.iter().map(Raw::as_object);
    let judged = commands.map(|command| command.as_ref().map_or(UNKNOWN, judge_command));
    judged.reduce(worse).unwrap_or(UNKNOWN)
}

fn judge_command(command: &Object<'_>) -> Judgement {
    let tool = command.get_str("tool").unwrap_or_default();
    let params = command.get("params").filter(|raw| !raw.is_null());
    let params = params.map(|raw| raw.as_object());
    if tool == "batch_execute" || matches!(params, Some(None)) {
        return UNKNOWN;
    }
    let params = params.flatten();
    // What the Editor makes of keys here is not the server's to check: one that is nearly `action` may count.
    let disguised = |key: Raw<'_>| {
        key.as_str()
            .is_none_or(|key| key != "action" && normalize(&key.replace('_', "")) == "action")
    };
    if let Some(params) = &params
        && params.entries().any(|(key, _)| disguised(key))
    {
        return UNKNOWN;
    }
    let action = params.and_then(|params| params.get("action"));
    let action = action.filter(|raw| !raw.is_null());
    let action = action.map(|raw| raw.as_str().as_deref().map(normalize).unwrap_or_default());
    judge_action(&tool, action.as_deref(), |_| true)
}
