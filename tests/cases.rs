//! Every behaviour against its cases: `tests/cases/<behaviour>/fires.json` and `silent.json`, the
//! wire's and the core's own in `wire.json` and `relay.json`. `tests/cases/README.md` has the format.
//!
//! A firing case must fail when the behaviour is switched off: that proves the switch, and that the
//! case looks at this behaviour and not at another one. A silent case passes either way.
#![allow(clippy::panic, reason = "tests")]

mod support;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use support::case::{Case, load};
use support::rig::{Facts, Failure, play};
use vrc_mcp_proxy::behaviors::REGISTRY;
use vrc_mcp_proxy::relay::{RELAY, codes};

/// What all runs came to.
#[derive(Default)]
struct Outcome {
    faults: Vec<String>,
    facts: Facts,
}

impl Outcome {
    fn run(&mut self, file: &Path, case: &Case, off: Option<&str>) -> Result<(), Failure> {
        let (outcome, facts) = play(case, off);
        for (behavior, code) in &facts {
            if !is_declared(behavior, code) {
                let fault = format!("the fact {behavior}/{code} is not declared");
                self.fault(file, case, off, &fault);
            }
        }
        self.facts.extend(facts);
        outcome
    }

    fn fault(&mut self, file: &Path, case: &Case, off: Option<&str>, what: &str) {
        let file = file.strip_prefix(folder()).unwrap_or(file).display();
        let off = off.map_or_else(String::new, |name| format!(" (with {name} off)"));
        self.faults
            .push(format!("{file}: {:?}{off}: {what}", case.name));
    }

    /// Plays the cases of a file as they stand. Returns those that passed.
    fn must_pass(&mut self, file: &Path) -> Vec<Case> {
        let cases = load(file).unwrap_or_else(|fault| {
            self.faults.push(fault);
            Vec::new()
        });
        let passes = |case: &Case| match self.run(file, case, None) {
            Ok(()) => true,
            Err(failure) => {
                self.fault(file, case, None, &failure.to_string());
                false
            }
        };
        cases.into_iter().filter(passes).collect()
    }

    fn fires(&mut self, name: &str) {
        let file = folder().join(name).join("fires.json");
        for case in self.must_pass(&file) {
            match self.run(&file, &case, Some(name)) {
                Err(Failure::Mismatch(_)) => {}
                Err(Failure::Broken(what)) => self.fault(&file, &case, Some(name), &what),
                Ok(()) => {
                    let what =
                        "it passes all the same, so it does not show what the behaviour does";
                    self.fault(&file, &case, Some(name), what);
                }
            }
        }
    }

    fn stays_silent(&mut self, name: &str) {
        let file = folder().join(name).join("silent.json");
        for case in self.must_pass(&file) {
            if let Err(failure) = self.run(&file, &case, Some(name)) {
                self.fault(&file, &case, Some(name), &failure.to_string());
            }
        }
    }
}

/// All cases, played once for all tests, those of each behaviour on a thread of their own.
fn outcome() -> &'static Outcome {
    static OUTCOME: OnceLock<Outcome> = OnceLock::new();
    OUTCOME.get_or_init(|| {
        let mut outcome = Outcome::default();
        for file in ["wire.json", "relay.json"] {
            outcome.must_pass(&folder().join(file));
        }
        let of_behavior = |name: &'static str| {
            let mut outcome = Outcome::default();
            outcome.fires(name);
            outcome.stays_silent(name);
            outcome
        };
        std::thread::scope(|scope| {
            let threads: Vec<_> = REGISTRY
                .iter()
                .map(|behavior| scope.spawn(move || of_behavior(behavior.name)))
                .collect();
            for (thread, behavior) in threads.into_iter().zip(REGISTRY) {
                match thread.join() {
                    Ok(own) => {
                        outcome.faults.extend(own.faults);
                        outcome.facts.extend(own.facts);
                    }
                    Err(_) => outcome
                        .faults
                        .push(format!("{}: a case panicked", behavior.name)),
                }
            }
        });
        outcome
    })
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases")
}

/// The declared codes of everything that states facts.
fn declared() -> impl Iterator<Item = (&'static str, &'static [(&'static str, &'static str)])> {
    let behaviors = REGISTRY.iter().map(|entry| (entry.name, entry.codes));
    behaviors.chain([(RELAY, codes::ALL)])
}

fn is_declared(behavior: &str, code: &str) -> bool {
    let mut own = declared().filter(|(name, _)| *name == behavior);
    own.any(|(_, codes)| codes.iter().any(|(declared, _)| *declared == code))
}

#[test]
fn every_case_goes_as_it_says_and_every_switch_switches() {
    let faults = &outcome().faults;
    assert!(
        faults.is_empty(),
        "{} faults\n\n{}\n",
        faults.len(),
        faults.join("\n\n")
    );
}

#[test]
fn every_declared_code_is_produced_by_a_case() {
    // No case can make a behaviour fail: `tests/containment.rs` does.
    let elsewhere = (RELAY.to_owned(), codes::CONTAINED_FAILURE.to_owned());
    let facts = declared().flat_map(|(name, codes)| {
        let codes = codes.iter();
        codes.map(move |(code, _)| (name.to_owned(), (*code).to_owned()))
    });
    let seen = &outcome().facts;
    let missing: Vec<_> = facts
        .filter(|fact| !seen.contains(fact) && *fact != elsewhere)
        .collect();
    assert!(
        missing.is_empty(),
        "no case produces these facts: {missing:?}"
    );
}

#[test]
fn every_file_of_cases_is_one_that_is_played() {
    let mut known: BTreeSet<PathBuf> = ["README.md", "wire.json", "relay.json"]
        .map(|name| folder().join(name))
        .into();
    for behavior in REGISTRY {
        known.extend(
            ["fires.json", "silent.json"].map(|name| folder().join(behavior.name).join(name)),
        );
    }
    let stray: Vec<_> = files(&folder())
        .into_iter()
        .filter(|file| !known.contains(file))
        .collect();
    assert!(stray.is_empty(), "nothing plays these files: {stray:?}");
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let inside = entries.flat_map(|entry| {
        let path = entry.path();
        if path.is_dir() {
            files(&path)
        } else {
            vec![path]
        }
    });
    inside.collect()
}
