//! The hooks at work, sorted by tool and kind once: there are some fifty, of which about a dozen have to do with a call
//! of most tools and its answer.

use crate::behaviors::{
    Behavior, DeadlineHook, EditHook, Guard, HoldHook, Hook, ListingHook, NoteHook, RewriteHook,
    VerdictHook, WitnessHook,
};
use crate::contain::{Class, Contained, contain_one_of};
use std::collections::BTreeSet;
use std::panic::RefUnwindSafe;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A hook with its behaviour's name.
pub(super) type Named<H> = (&'static str, H);

/// The hooks of all behaviours at work.
pub(super) struct Hooks {
    pub(super) listings: Vec<Named<ListingHook>>,
    /// Those that are asked about a call of any tool, and about what is no call.
    any: Asked,
    /// Those that are asked about the calls of one tool, those of any tool among them.
    by_tool: Vec<(&'static str, Asked)>,
}

/// Where the hooks stand that are asked about a call: found once, used until its answer is there.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place(Option<usize>);

/// Hooks that are asked about a request and its answer by kind, each kind in the registry's order.
#[derive(Default)]
pub(super) struct Asked {
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
        let mut listings = Vec::new();
        for behavior in behaviors {
            listings.extend(behavior.hooks.iter().filter_map(|hook| match hook {
                Hook::Listing(run) => Some((behavior.name, *run)),
                _ => None,
            }));
        }
        let tools: BTreeSet<&str> = behaviors.iter().filter_map(|b| b.tool).collect();
        let for_tool = |tool| (tool, Asked::of(behaviors, Some(tool)));
        Hooks {
            listings,
            any: Asked::of(behaviors, None),
            by_tool: tools.into_iter().map(for_tool).collect(),
        }
    }

    /// Where those stand that are asked about a call of `tool` and its answer.
    pub(super) fn place(&self, tool: &str) -> Place {
        Place(self.by_tool.iter().position(|(name, _)| *name == tool))
    }

    /// Those at a place.
    #[inline]
    pub(super) fn at(&self, place: Place) -> &Asked {
        let own = place.0.and_then(|place| self.by_tool.get(place));
        own.map_or(&self.any, |(_, asked)| asked)
    }

    /// Those that are asked about a call of `tool` and its answer.
    pub(super) fn about(&self, tool: &str) -> &Asked {
        self.at(self.place(tool))
    }

    /// Those that say when a request has to wait, whatever it is.
    pub(super) fn holds(&self) -> &[Named<HoldHook>] {
        &self.any.holds
    }
}

impl Asked {
    fn of(behaviors: &[Behavior], tool: Option<&str>) -> Self {
        let mut asked = Asked::default();
        let mut consents = Vec::new();
        let meant = |behavior: &&Behavior| behavior.tool.is_none() || behavior.tool == tool;
        for behavior in behaviors.iter().filter(meant) {
            let name = behavior.name;
            for hook in behavior.hooks {
                match *hook {
                    Hook::Listing(_) => {}
                    Hook::Hold(run) => asked.holds.push((name, run)),
                    Hook::Guard(run) => {
                        asked.arrival.push((name, run));
                        asked.departure.push((name, run));
                    }
                    Hook::DepartureGuard(run) => asked.departure.push((name, run)),
                    Hook::Consent(run) => consents.push((name, run)),
                    Hook::Rewrite(run) => asked.rewrites.push((name, run)),
                    Hook::Deadline(run) => asked.deadlines.push((name, run)),
                    Hook::Witness(run) => asked.witnesses.push((name, run)),
                    Hook::Verdict(run) => asked.verdicts.push((name, run)),
                    Hook::Edit(run) => asked.edits.push((name, run)),
                    Hook::Note(run) => asked.notes.push((name, run)),
                }
            }
        }
        asked.arrival.extend(&consents);
        asked.departure.extend(&consents);
        asked
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
    if from >= hooks.len() {
        return Ok(None);
    }
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

/// Asks all hooks in their order, and hands on what each has to say, with its behaviour's name. What it changes of the
/// state is seen by those behind it.
///
/// # Errors
/// [`Contained`] when a hook panics, and what `take` gives up with.
pub(super) fn ask_each<H: Copy + RefUnwindSafe, S: RefUnwindSafe, T, E: From<Contained>>(
    hooks: &[Named<H>],
    class: Class,
    state: &mut S,
    question: impl Fn(H, &S) -> Option<T> + RefUnwindSafe,
    mut take: impl FnMut(&mut S, &'static str, T) -> Result<(), E>,
) -> Result<(), E> {
    let mut from = 0;
    loop {
        let view = &*state;
        let Some((at, said)) = ask(hooks, from, class, |hook| question(hook, view))? else {
            return Ok(());
        };
        take(state, hooks[at].0, said)?;
        from = at + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::behaviors::REGISTRY;

    /// The behaviours that are asked about a call of `tool` or its answer.
    fn asked(hooks: &Hooks, tool: &str) -> BTreeSet<&'static str> {
        fn names<H>(hooks: &[Named<H>]) -> impl Iterator<Item = &'static str> {
            hooks.iter().map(|hook| hook.0)
        }
        let asked = hooks.about(tool);
        names(&asked.holds)
            .chain(names(&asked.arrival))
            .chain(names(&asked.departure))
            .chain(names(&asked.rewrites))
            .chain(names(&asked.deadlines))
            .chain(names(&asked.witnesses))
            .chain(names(&asked.verdicts))
            .chain(names(&asked.edits))
            .chain(names(&asked.notes))
            .collect()
    }

    #[test]
    fn a_behaviour_with_a_tool_is_asked_about_that_one_alone() {
        let hooks = Hooks::of(REGISTRY);
        let own: BTreeSet<&str> = REGISTRY.iter().filter_map(|b| b.tool).collect();
        assert!(own.len() > 3, "{own:?}");
        // A tool of nobody's, one whose name is another case of one, no tool at all, a read.
        let others = ["apply_text_edits", "Manage_Scene", "", "resources/read"];
        for tool in own.into_iter().chain(others) {
            let meant = REGISTRY
                .iter()
                .filter(|b| b.tool.is_none_or(|own| own == tool));
            let meant: BTreeSet<&str> = meant.map(|behavior| behavior.name).collect();
            assert_eq!(asked(&hooks, tool), meant, "{tool}");
        }
    }

    /// A list is no call of a tool, and whether anything makes requests wait is asked once for all of them.
    #[test]
    fn a_behaviour_with_a_tool_neither_holds_nor_looks_at_lists() {
        for behavior in REGISTRY.iter().filter(|b| b.tool.is_some()) {
            let elsewhere = |hook: &Hook| matches!(hook, Hook::Listing(_) | Hook::Hold(_));
            assert!(!behavior.hooks.iter().any(elsewhere), "{}", behavior.name);
        }
    }
}
