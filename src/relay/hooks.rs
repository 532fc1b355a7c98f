//! The hooks at work, sorted by kind once: a call and its answer go past some forty of them.

use crate::behaviors::{
    Behavior, DeadlineHook, EditHook, Guard, HoldHook, Hook, ListingHook, NoteHook, RewriteHook,
    VerdictHook, WitnessHook,
};
use crate::contain::{Class, Contained, contain_one_of};
use std::panic::RefUnwindSafe;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A hook with its behaviour's name.
pub(super) type Named<H> = (&'static str, H);

/// Hooks by kind, each kind in the registry's order.
#[derive(Default)]
pub(super) struct Hooks {
    pub(super) listings: Vec<Named<ListingHook>>,
    pub(super) holds: Vec<Named<HoldHook>>,
    /// The guards that are asked when a call comes and has to wait; those that want a yes stand last.
    pub(super) arrival: Vec<Named<Guard>>,
    /// The guards that are asked when it goes out. Those of the arrival are asked again: that keeps the order of
    /// refusals, and a tool may have drifted meanwhile.
    pub(super) departure: Vec<Named<Guard>>,
    pub(super) rewrites: Vec<Named<RewriteHook>>,
    pub(super) deadlines: Vec<Named<DeadlineHook>>,
    pub(super) witnesses: Vec<Named<WitnessHook>>,
    pub(super) verdicts: Vec<Named<VerdictHook>>,
    pub(super) edits: Vec<Named<EditHook>>,
    pub(super) notes: Vec<Named<NoteHook>>,
}

impl Hooks {
    /// The hooks of these behaviours.
    pub(super) fn of(behaviors: &[Behavior]) -> Self {
        let mut hooks = Hooks::default();
        let mut consents = Vec::new();
        for behavior in behaviors {
            let name = behavior.name;
            for hook in behavior.hooks {
                match *hook {
                    Hook::Listing(run) => hooks.listings.push((name, run)),
                    Hook::Hold(run) => hooks.holds.push((name, run)),
                    Hook::Guard(run) => {
                        hooks.arrival.push((name, run));
                        hooks.departure.push((name, run));
                    }
                    Hook::DepartureGuard(run) => hooks.departure.push((name, run)),
                    Hook::Consent(run) => consents.push((name, run)),
                    Hook::Rewrite(run) => hooks.rewrites.push((name, run)),
                    Hook::Deadline(run) => hooks.deadlines.push((name, run)),
                    Hook::Witness(run) => hooks.witnesses.push((name, run)),
                    Hook::Verdict(run) => hooks.verdicts.push((name, run)),
                    Hook::Edit(run) => hooks.edits.push((name, run)),
                    Hook::Note(run) => hooks.notes.push((name, run)),
                }
            }
        }
        hooks.arrival.extend(&consents);
        hooks.departure.extend(&consents);
        hooks
    }
}

/// Asks the hooks from the place `from` on, in their order, until one has something to say: its place, and what it says.
/// All of them are one region, since most have nothing to say; the one that fails is the one that is named.
///
/// # Errors
/// [`Contained`] when one of them panics.
pub(super) fn ask<H: Copy + RefUnwindSafe, T>(
    hooks: &[Named<H>],
    from: usize,
    class: Class,
    question: impl Fn(H) -> Option<T> + RefUnwindSafe,
) -> Result<Option<(usize, T)>, Contained> {
    let at = AtomicUsize::new(from);
    let name = || {
        hooks
            .get(at.load(Ordering::Relaxed))
            .map_or("", |hook| hook.0)
    };
    contain_one_of(name, class, || {
        for (place, (_, hook)) in hooks.iter().enumerate().skip(from) {
            at.store(place, Ordering::Relaxed);
            if let Some(said) = question(*hook) {
                return Ok(Some((place, said)));
            }
        }
        Ok(None)
    })
}
