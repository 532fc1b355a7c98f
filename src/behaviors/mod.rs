//! The behaviours: one file, one name, one switch each.
//!
//! A behaviour is a list of hooks; a hook is a function from what was seen to a value, and only the
//! core edits messages. The kind of a hook says when it runs and what its failure costs
//! ([`Hook::class`]). The next one is a new file here and its two lines below.

use crate::call::{Call, Rewrite, Target};
use crate::config::Config;
use crate::contain::Class;
use crate::instances::Editor;
use crate::relay::hold::{Passage, Traffic, UnityBound};
use crate::relay::inflight::InFlight;
use crate::relay::witness::{Seen, Snippets};
use crate::reply::Reply;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::RefUnwindSafe;
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

mod allowlist;
mod canary;
mod delivery_outcome_note;
mod eviction_hold;
mod execute_code_compile_notes;
mod execute_code_history_preview;
mod execute_code_idempotency_guard;
mod execute_code_prelude_offset_note;
mod execute_code_replay_note;
mod execute_code_safety_off;
mod execute_code_suppressed_verdict;
mod execute_code_using_refusal;
mod execute_code_venue_guard;
mod execute_code_watchdog;
mod instance_guard;
mod instance_not_found_note;
mod manage_asset_mutation_guard;
mod manage_asset_search_pattern_note;
mod manage_asset_search_scope_note;
mod manage_camera_screenshot_output;
mod manage_gameobject_inactive_note;
mod manage_scene_arg_guard;
mod manage_scene_discard_guard;
mod no_editor_note;
mod pinned_editor_guard;
mod project_binding;
mod proxy_project_root;
mod safety_modes;
mod shared;
mod timeout_notes;

pub(crate) use shared::snippet::fits as snippet_fits;

/// Every behaviour, in the order in which their hooks run within a phase: guards, then rewrites,
/// then the deadline, then witnesses on the way to upstream; verdicts, edits, then notes on the way back.
pub const REGISTRY: &[Behavior] = &[
    allowlist::BEHAVIOR,
    canary::BEHAVIOR,
    safety_modes::BEHAVIOR,
    eviction_hold::BEHAVIOR,
    // Ahead of the guards that look at the target.
    project_binding::BEHAVIOR,
    instance_guard::BEHAVIOR,
    pinned_editor_guard::BEHAVIOR,
    // The idempotency guard wraps first, then the venue check is put ahead of it: a misrouted snippet must
    // leave no state behind.
    execute_code_idempotency_guard::BEHAVIOR,
    execute_code_venue_guard::BEHAVIOR,
    execute_code_using_refusal::BEHAVIOR,
    execute_code_safety_off::BEHAVIOR,
    manage_scene_arg_guard::BEHAVIOR,
    manage_scene_discard_guard::BEHAVIOR,
    manage_asset_mutation_guard::BEHAVIOR,
    manage_camera_screenshot_output::BEHAVIOR,
    execute_code_watchdog::BEHAVIOR,
    proxy_project_root::BEHAVIOR,
    manage_gameobject_inactive_note::BEHAVIOR,
    execute_code_compile_notes::BEHAVIOR,
    execute_code_prelude_offset_note::BEHAVIOR,
    manage_asset_search_pattern_note::BEHAVIOR,
    manage_asset_search_scope_note::BEHAVIOR,
    instance_not_found_note::BEHAVIOR,
    timeout_notes::BEHAVIOR,
    // Behind the two notes that it leaves the word to.
    delivery_outcome_note::BEHAVIOR,
    execute_code_suppressed_verdict::BEHAVIOR,
    execute_code_replay_note::BEHAVIOR,
    execute_code_history_preview::BEHAVIOR,
    no_editor_note::BEHAVIOR,
];

/// A named behaviour.
#[derive(Clone, Copy, Debug)]
pub struct Behavior {
    /// The name: that of its file, its switch and its facts.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub summary: &'static str,
    /// Where it acts.
    pub hooks: &'static [Hook],
    /// The stable codes of its facts, each with what it says.
    pub codes: &'static [(&'static str, &'static str)],
}

/// [`Hook::Listing`]'s function.
pub type ListingHook = fn(&Listing<'_>, &Cx<'_>) -> Result<ListingEdit, String>;
/// The function of [`Hook::Guard`], [`Hook::DepartureGuard`] and [`Hook::Consent`].
pub type Guard = fn(&Call<'_>, &Cx<'_>) -> Check;
/// [`Hook::Hold`]'s function.
pub type HoldHook = fn(UnityBound<'_>, &Traffic, &Cx<'_>) -> Passage;
/// [`Hook::Rewrite`]'s function.
pub type RewriteHook = fn(&Call<'_>, &Cx<'_>) -> Rewriting;
/// [`Hook::Deadline`]'s function.
pub type DeadlineHook = fn(&Call<'_>, &Cx<'_>) -> Option<Expiry>;
/// [`Hook::Witness`]'s function.
pub type WitnessHook = fn(&Call<'_>, &Cx<'_>) -> Option<Seen>;
/// [`Hook::Edit`]'s function.
pub type EditHook = fn(&InFlight, &Reply<'_>, &Cx<'_>) -> Option<PayloadEdit>;
/// [`Hook::Verdict`]'s function.
pub type VerdictHook = fn(&InFlight, &Reply<'_>, &Cx<'_>) -> Option<Refusal>;
/// [`Hook::Note`]'s function.
pub type NoteHook = fn(&InFlight, &Reply<'_>, &Cx<'_>) -> Vec<Note>;

/// A point at which a behaviour acts.
#[derive(Clone, Copy, Debug)]
pub enum Hook {
    /// Looks at an answer to `tools/list`.
    Listing(ListingHook),
    /// Lets a call pass or refuses it. May be asked on arrival, long before the call goes out, and again then: it
    /// reads neither pins nor heartbeats nor the target, which is not worked out yet.
    Guard(Guard),
    /// The same for a guard that does read them: asked when the call goes out, of the state of that moment.
    DepartureGuard(Guard),
    /// A guard that asks for a yes: it runs when all others of the moment have let the call pass, so that nobody says
    /// yes to a call that is seen to be refused anyway. Like [`Hook::Guard`] it answers on arrival: a call that is to
    /// be sent again must not wait first.
    Consent(Guard),
    /// Says whether a Unity-bound request goes out now or waits. Asked when it arrives, and again when it goes out
    /// after a wait.
    Hold(HoldHook),
    /// Changes a call's arguments. Runs when all guards have passed.
    Rewrite(RewriteHook),
    /// Sets a limit to how long a forwarded call may take.
    Deadline(DeadlineHook),
    /// Takes down, of a call that goes out, what its answer or a later one is to be judged by.
    Witness(WitnessHook),
    /// Sets values in an answer's payload, on both surfaces.
    Edit(EditHook),
    /// Turns an answer into a refusal.
    Verdict(VerdictHook),
    /// Adds notes to an answer.
    Note(NoteHook),
}

impl Hook {
    /// What a failure of this hook costs.
    pub fn class(&self) -> Class {
        match self {
            Hook::Listing(_) => Class::Listing,
            Hook::Guard(_)
            | Hook::DepartureGuard(_)
            | Hook::Consent(_)
            | Hook::Hold(_)
            | Hook::Rewrite(_)
            | Hook::Deadline(_) => Class::Request,
            Hook::Verdict(_) => Class::Verdict,
            Hook::Witness(_) | Hook::Edit(_) | Hook::Note(_) => Class::Advisory,
        }
    }

    /// The hook's point, as the tables call it.
    pub fn point(&self) -> &'static str {
        match self {
            Hook::Listing(_) => "listing",
            Hook::Guard(_) | Hook::Consent(_) => "guard",
            Hook::DepartureGuard(_) => "guard at departure",
            Hook::Hold(_) => "hold",
            Hook::Rewrite(_) => "rewrite",
            Hook::Deadline(_) => "deadline",
            Hook::Witness(_) => "witness",
            Hook::Edit(_) => "edit",
            Hook::Verdict(_) => "verdict",
            Hook::Note(_) => "note",
        }
    }
}

/// A guard's answer.
#[derive(Clone, Debug)]
pub enum Check {
    /// Go on.
    Pass,
    /// Go on; the guards after this one see the call with this target. For guards at departure.
    Aim(Target),
    /// Answer the client with this and forward nothing.
    Refuse(Refusal),
}

/// A rewrite's answer.
#[derive(Clone, Debug)]
pub enum Rewriting {
    /// Leave the call as it is.
    Keep,
    /// Change it.
    Change(Rewrite),
}

/// A refusal's fact and text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// A stable code, one of the behaviour's `codes`.
    pub code: &'static str,
    /// What the model reads.
    pub text: String,
}

/// A note's fact and text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// A stable code, one of the behaviour's `codes`.
    pub code: &'static str,
    /// What the model reads.
    pub text: String,
}

/// A limit on a call's time.
#[derive(Clone, Debug)]
pub struct Expiry {
    /// How long after forwarding.
    pub after: Duration,
    /// What the client is told then, of that time: most calls are answered, and need no text.
    pub refusal: fn(Duration) -> Refusal,
}

/// Values for an answer's payload.
#[derive(Clone, Debug)]
pub struct PayloadEdit {
    /// Where each value goes, and the value as JSON text. A key at the end of a path need not be there
    /// yet.
    pub set: Vec<(Vec<Step>, String)>,
    /// The fact that goes with them.
    pub code: &'static str,
}

/// A step into a JSON value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// To the value of this key.
    Key(&'static str),
    /// To the item at this place.
    Item(usize),
}

/// A tool of a listing.
#[derive(Clone, Debug)]
pub struct ListedTool<'a> {
    /// Its name; `None` when it has none or it is no string.
    pub name: Option<Cow<'a, str>>,
    /// The JSON text of its `inputSchema`.
    pub input_schema: Option<&'a str>,
}

/// An answer to `tools/list`.
#[derive(Clone, Debug)]
pub struct Listing<'a> {
    /// The tools, in upstream's order.
    pub tools: Vec<ListedTool<'a>>,
}

/// A key to set in a listed tool.
#[derive(Clone, Debug)]
pub struct ToolKey {
    /// The tool's place.
    pub at: usize,
    /// The keys that lead to it, its own last. Objects on the way that are missing are made;
    /// where something else stands in the way, nothing is set.
    pub path: &'static [&'static str],
    /// Its value, as JSON text.
    pub value: String,
}

/// What is to be done about a listing.
#[derive(Clone, Debug, Default)]
pub struct ListingEdit {
    /// The places of tools to hide.
    pub hide: Vec<usize>,
    /// Keys of tools to set. Every hook sees the listing as upstream sent it.
    pub set: Vec<ToolKey>,
    /// Tools with an argument `confirm` of their own.
    pub own_confirm: Vec<String>,
    /// The tools' names.
    pub listed: Vec<String>,
    /// Tools whose contract is not the baseline's: name and what changed.
    pub drifted: Vec<(String, String)>,
    /// Lines for stderr.
    pub log: Vec<String>,
}

/// What the session knows of pins.
#[derive(Clone, Debug, Default)]
pub struct Pins {
    /// The Editor that the session is pinned to, as a selector text.
    pub pin: Option<String>,
    /// The selector of the last attempt, when that one failed.
    pub failed: Option<String>,
}

/// What the listings of a session told.
#[derive(Clone, Debug, Default)]
pub struct Listings {
    /// The names of all tools that were listed.
    pub names: BTreeSet<String>,
    /// Tools that drifted, with what changed.
    pub drifted: BTreeMap<String, String>,
    /// Tools that were listed with an argument `confirm` of their own.
    pub own_confirm: BTreeSet<String>,
}

/// What is outside of the core.
pub trait Surroundings: RefUnwindSafe {
    /// The Editors whose heartbeat files can be read, in a stable order.
    fn editors(&self) -> Vec<Editor>;
    /// Whether the folder `root` holds a folder `below` (`/` between its names, letter case ignored);
    /// `None` when that cannot be told.
    fn holds_folder(&self, root: &Path, below: &str) -> Option<bool>;
    /// A folder's path with its links resolved and forward slashes; `None` when that cannot be told, as without files.
    fn real_path(&self, _folder: &Path) -> Option<String> {
        None
    }
    /// A random key of 32 hexadecimal digits.
    fn fresh_key(&self) -> String;
}

/// The state that hooks see: a snapshot, shared references only.
///
/// The heartbeats are read at the first use, at most once for a snapshot: most answers need none, and
/// fifty files cost more than all the rest of a call. The cell is written once, by a read that holds
/// no other state, so a panic cannot leave it half done.
pub struct Cx<'a> {
    /// The configuration.
    pub config: &'a Config,
    /// The behaviours that are not switched off.
    at_work: &'a [Behavior],
    /// The pins.
    pub pins: &'a Pins,
    /// What the listings so far told.
    pub listings: &'a Listings,
    /// The time, in milliseconds since 1970 UTC.
    pub now_ms: i64,
    /// Files, keys.
    pub surroundings: &'a dyn Surroundings,
    /// The callers' own words of the last snippets that were wrapped.
    pub snippets: &'a Snippets,
    /// The behaviours that have put notes on this answer so far.
    pub said: Vec<&'static str>,
    editors: OnceLock<Vec<Editor>>,
}

impl<'a> Cx<'a> {
    /// A snapshot of the moment.
    #[allow(
        clippy::too_many_arguments,
        reason = "one caller, which owns all of it"
    )]
    pub fn new(
        config: &'a Config,
        at_work: &'a [Behavior],
        pins: &'a Pins,
        listings: &'a Listings,
        now_ms: i64,
        surroundings: &'a dyn Surroundings,
        snippets: &'a Snippets,
    ) -> Self {
        Cx {
            config,
            at_work,
            pins,
            listings,
            now_ms,
            surroundings,
            snippets,
            said: Vec::new(),
            editors: OnceLock::new(),
        }
    }

    /// Whether a behaviour is at work: for another one that leaves calls to it. None asks for itself.
    pub fn is_at_work(&self, behavior: &Behavior) -> bool {
        self.at_work.iter().any(|other| other.name == behavior.name)
    }

    /// All Editors with a readable heartbeat, stale ones too.
    pub fn editors(&self) -> &[Editor] {
        self.editors.get_or_init(|| self.surroundings.editors())
    }

    /// The live Editors.
    pub fn live_editors(&self) -> Vec<&Editor> {
        let live = |editor: &&Editor| editor.is_live(self.now_ms);
        self.editors().iter().filter(live).collect()
    }
}
