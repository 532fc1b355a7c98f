//! The behaviours: one file, one name, one switch each.
//!
//! A behaviour is a list of hooks; a hook is a function from what was seen to a value, and only the
//! core edits messages. The kind of a hook says when it runs and what its failure costs
//! ([`Hook::class`]). The next one is a new file here and its two lines below.

use crate::config::Config;
use crate::instances::Editor;
use crate::relay::witness::Snippets;
use once_cell::unsync::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::RefUnwindSafe;
use std::path::Path;

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
mod hook;
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

pub use hook::{
    Check, DeadlineHook, EditHook, Expiry, Guard, HoldHook, Hook, ListedTool, Listing, ListingEdit,
    ListingHook, Note, NoteHook, PayloadEdit, Refusal, RewriteHook, Rewriting, Step, ToolKey,
    VerdictHook, WitnessHook,
};
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
    /// The one tool whose calls, and answers to them, its hooks are asked about; `None` for any.
    pub tool: Option<&'static str>,
    /// Where it acts.
    pub hooks: &'static [Hook],
    /// The stable codes of its facts, each with what it says.
    pub codes: &'static [(&'static str, &'static str)],
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
    editors: OnceCell<Vec<Editor>>,
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
            editors: OnceCell::new(),
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
