//! The faults of upstream, each with how it is measured and which behaviours exist for it.

use super::stand::Stand;
use super::{assets, delivery, scenes};
use crate::commands::Failure;
use serde::Serialize;
use std::time::Duration;

/// A fault that a behaviour exists for.
pub(super) struct Fault {
    /// What `--only` calls it.
    pub(super) name: &'static str,
    /// What upstream does where the fault stands.
    pub(super) about: &'static str,
    /// The behaviours that exist for it.
    pub(super) behaviors: &'static [&'static str],
    /// What stays of them also when the fault is gone.
    pub(super) stays: Option<&'static str>,
    /// Whether a fresh server measures it: one that still has something on its way would disturb the count.
    pub(super) fresh: bool,
    /// How long the measurement may take.
    pub(super) limit: Duration,
    /// Measures it.
    pub(super) measure: fn(&mut Stand) -> Result<Finding, Failure>,
}

/// What a measurement comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Verdict {
    /// The fault was seen.
    StillThere,
    /// The situation was brought about, and the fault was not seen.
    Gone,
    /// Neither.
    NotTold,
}

impl Verdict {
    /// How a reader is told.
    pub(super) fn words(self) -> &'static str {
        match self {
            Verdict::StillThere => "still there",
            Verdict::Gone => "gone",
            Verdict::NotTold => "could not be told",
        }
    }
}

/// A verdict and what it rests on.
#[derive(Debug)]
pub(super) struct Finding {
    pub(super) verdict: Verdict,
    pub(super) seen: String,
}

impl Finding {
    pub(super) fn still_there(seen: impl Into<String>) -> Self {
        Self::of(Verdict::StillThere, seen)
    }

    pub(super) fn gone(seen: impl Into<String>) -> Self {
        Self::of(Verdict::Gone, seen)
    }

    pub(super) fn not_told(seen: impl Into<String>) -> Self {
        Self::of(Verdict::NotTold, seen)
    }

    fn of(verdict: Verdict, seen: impl Into<String>) -> Self {
        let seen = seen.into();
        Finding { verdict, seen }
    }
}

const QUICK: Duration = Duration::from_secs(60);
const ASSET_MOVES: &[&str] = &["manage_asset_mutation_guard"];

/// In the order in which they are measured: those that leave an Editor busy come last.
pub(super) const FAULTS: [Fault; 11] = [
    Fault {
        name: "move_verdict",
        about: "manage_asset reports failure on a move that landed",
        behaviors: ASSET_MOVES,
        stays: None,
        fresh: false,
        limit: QUICK,
        measure: assets::move_verdict,
    },
    Fault {
        name: "bare_destination",
        about: "manage_asset takes a destination without a folder for Assets/<name>",
        behaviors: ASSET_MOVES,
        stays: None,
        fresh: false,
        limit: QUICK,
        measure: assets::bare_destination,
    },
    Fault {
        name: "search_extension",
        about: "an asset search by extension finds nothing",
        behaviors: &["manage_asset_search_pattern_note"],
        stays: None,
        fresh: false,
        limit: QUICK,
        measure: assets::search_extension,
    },
    Fault {
        name: "dropped_scope",
        about: "an asset search in a folder that does not exist covers the whole project",
        behaviors: &["manage_asset_search_scope_note"],
        stays: None,
        fresh: false,
        limit: QUICK,
        measure: assets::dropped_scope,
    },
    Fault {
        name: "console_truncation",
        about: "read_console shows the first line of an entry only",
        behaviors: &["allowlist"],
        stays: Some("all but its refusal of read_console"),
        fresh: false,
        limit: QUICK,
        measure: scenes::console_truncation,
    },
    Fault {
        name: "single_mode_discard",
        about: "manage_scene closes a scene with unsaved changes without a word",
        behaviors: &["manage_scene_discard_guard"],
        stays: None,
        fresh: false,
        limit: QUICK,
        measure: scenes::single_mode_discard,
    },
    Fault {
        name: "ignored_scene_arguments",
        about: "manage_scene get_hierarchy ignores an object given as target",
        behaviors: &["manage_scene_arg_guard"],
        stays: Some("its rules for move_to_scene and scene_view_frame, which are not measured"),
        fresh: false,
        limit: QUICK,
        measure: scenes::ignored_scene_arguments,
    },
    Fault {
        name: "inactive_lookup",
        about: "manage_gameobject does not find an inactive object",
        behaviors: &["manage_gameobject_inactive_note"],
        stays: None,
        fresh: false,
        limit: QUICK,
        measure: scenes::inactive_lookup,
    },
    Fault {
        name: "reload_word",
        about: "an answer with the letters \"reload\" makes the server send the call again and again",
        behaviors: &["execute_code_idempotency_guard"],
        stays: None,
        fresh: true,
        limit: Duration::from_secs(120),
        measure: delivery::reload_word,
    },
    Fault {
        name: "parallel_calls",
        about: "a call beside a slow one makes the slow one run again",
        behaviors: &["eviction_hold", "execute_code_idempotency_guard"],
        stays: None,
        fresh: true,
        limit: Duration::from_secs(180),
        measure: delivery::parallel_calls,
    },
    Fault {
        name: "double_execution",
        about: "a snippet that takes longer than 30 s runs several times",
        behaviors: &["execute_code_idempotency_guard", "timeout_notes"],
        stays: None,
        fresh: true,
        limit: Duration::from_secs(240),
        measure: delivery::double_execution,
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::behaviors::REGISTRY;
    use std::collections::BTreeSet;

    #[test]
    fn every_fault_has_its_own_name_and_behaviours_that_there_are() {
        let names: BTreeSet<&str> = FAULTS.iter().map(|fault| fault.name).collect();
        assert_eq!(names.len(), FAULTS.len());
        for fault in &FAULTS {
            assert!(!fault.behaviors.is_empty(), "{}", fault.name);
            for named in fault.behaviors {
                let known = REGISTRY.iter().any(|behavior| behavior.name == *named);
                assert!(known, "{}: {named}", fault.name);
            }
        }
    }
}
