//! `repro`: measures against a scratch Editor whether the faults of upstream are still there that behaviours exist for.
//!
//! No verdict is written down here: each measurement brings the situation about in a bare server, looks at the Editor's
//! side of it, and says what it saw. What it could not bring about, it says it could not tell.

mod assets;
mod delivery;
mod faults;
mod scenes;
mod stand;
mod target;

use super::text::wrap;
use super::{Failure, NOT_AS_IT_SHOULD_BE, baseline, complain, config, print, print_json};
use crate::config::named_version;
use clap::builder::PossibleValuesParser;
use faults::{FAULTS, Fault, Finding, Verdict};
use serde::Serialize;
use stand::Stand;
use std::path::PathBuf;
use std::time::Instant;

/// Columns of the account.
const WIDTH: usize = 100;

/// The arguments.
#[derive(clap::Args)]
pub(super) struct Options {
    /// The scratch Editor, as Name@hash. Nothing else should be using it
    #[arg(long, value_name = "NAME@HASH")]
    instance: String,
    /// The root of its project. A folder is made in its Assets, and taken away again
    #[arg(long, value_name = "PATH")]
    project_root: PathBuf,
    /// Measure this fault only; may be given several times
    #[arg(long, value_name = "FAULT", value_parser = PossibleValuesParser::new(FAULTS.map(|fault| fault.name)))]
    only: Vec<String>,
    /// Print what was measured as JSON
    #[arg(long)]
    json: bool,
}

/// A fault and what was found.
#[derive(Serialize)]
struct Measured {
    fault: &'static str,
    about: &'static str,
    verdict: Verdict,
    seen: String,
    behaviors: &'static [&'static str],
    seconds: f64,
}

/// A behaviour whose faults are all gone.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Retiring {
    behavior: &'static str,
    /// What of it stays all the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    stays: Option<&'static str>,
}

pub(super) fn run(options: &Options) -> Result<u8, Failure> {
    let config = config();
    let target = target::find(&config, &options.instance, &options.project_root)?;
    let command = baseline::server_command(&config)?;
    let version = named_version(&command).map(str::to_owned);
    let server = version.as_deref().unwrap_or("of an unknown version");
    complain(&format!(
        "this starts a server of its own (mcpforunityserver {server}), which throws the client that {} serves now out \
         in the middle of its command. Other Editors are left alone. All measurements together take some minutes",
        target.identifier
    ));
    let editor = target.identifier.clone();
    let mut stand = Stand::set_up(target, command)?;
    let measured = measure_all(&mut stand, options);
    // Whatever failed: what was made goes first.
    let cleaned = stand.clean_up();
    let measured = measured?;
    let retires = retiring(&measured);
    let all_told = measured.iter().all(|one| one.verdict != Verdict::NotTold);
    if options.json {
        print_json(&serde_json::json!({
            "instance": editor,
            "server_version": version,
            "all_told": all_told,
            "faults": measured,
            "retires": retires,
        }))?;
    } else {
        print(&ending(&measured, &retires))?;
    }
    cleaned?;
    Ok(if all_told { 0 } else { NOT_AS_IT_SHOULD_BE })
}

fn measure_all(stand: &mut Stand, options: &Options) -> Result<Vec<Measured>, Failure> {
    let wanted = |fault: &&Fault| {
        options.only.is_empty() || options.only.iter().any(|name| name == fault.name)
    };
    let mut measured = Vec::new();
    for fault in FAULTS.iter().filter(wanted) {
        complain(&format!("measuring {}", fault.name));
        let result = measure(stand, fault);
        if !options.json {
            print(&row(&result))?;
        }
        measured.push(result);
    }
    Ok(measured)
}

fn measure(stand: &mut Stand, fault: &Fault) -> Measured {
    let began = Instant::now();
    if fault.fresh {
        stand.leave();
    }
    stand.within(fault.limit);
    let found = (fault.measure)(stand);
    let finding = found.unwrap_or_else(|failure| {
        // Whatever is on its way in this server must not reach into the next measurement.
        stand.leave();
        Finding::not_told(failure.to_string())
    });
    Measured {
        fault: fault.name,
        about: fault.about,
        verdict: finding.verdict,
        seen: finding.seen,
        behaviors: fault.behaviors,
        seconds: began.elapsed().as_secs_f64(),
    }
}

/// The behaviours that have nothing left to do: every fault that they exist for was measured, and is gone.
fn retiring(measured: &[Measured]) -> Vec<Retiring> {
    let gone = |fault: &Fault| {
        let of = measured.iter().find(|one| one.fault == fault.name);
        of.is_some_and(|one| one.verdict == Verdict::Gone)
    };
    let mut retiring: Vec<Retiring> = Vec::new();
    for behavior in FAULTS.iter().flat_map(|fault| fault.behaviors) {
        let of = || {
            FAULTS
                .iter()
                .filter(|fault| fault.behaviors.contains(behavior))
        };
        if of().all(gone) && retiring.iter().all(|known| known.behavior != *behavior) {
            let stays = of().find_map(|fault| fault.stays);
            retiring.push(Retiring { behavior, stays });
        }
    }
    retiring
}

fn row(one: &Measured) -> String {
    let mut row = format!("{:24} {}\n", one.fault, one.verdict.words());
    let behaviors = format!("Behaviours: {}.", one.behaviors.join(", "));
    let about = format!("Fault: {}.", one.about);
    let seen = format!("Seen: {} ({:.0} s).", one.seen, one.seconds);
    for text in [about, seen, behaviors] {
        for line in wrap(&text, WIDTH - 4) {
            row.push_str(&format!("    {line}\n"));
        }
    }
    row
}

fn ending(measured: &[Measured], retires: &[Retiring]) -> String {
    let count = |verdict| measured.iter().filter(|one| one.verdict == verdict).count();
    let mut text = format!(
        "\n{} still there, {} gone, {} could not be told.\n",
        count(Verdict::StillThere),
        count(Verdict::Gone),
        count(Verdict::NotTold)
    );
    if retires.is_empty() {
        text.push_str("No behaviour has all its faults measured as gone: none can be retired.\n");
    }
    for Retiring { behavior, stays } in retires {
        let stays = stays.map_or_else(String::new, |stays| format!("; what stays: {stays}"));
        text.push_str(&format!(
            "{behavior} can be retired: every fault it exists for is gone{stays}.\n"
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(verdict_of: impl Fn(&str) -> Option<Verdict>) -> Vec<Measured> {
        let one = |fault: &Fault| {
            Some(Measured {
                fault: fault.name,
                about: fault.about,
                verdict: verdict_of(fault.name)?,
                seen: "something".to_owned(),
                behaviors: fault.behaviors,
                seconds: 1.0,
            })
        };
        FAULTS.iter().filter_map(one).collect()
    }

    #[test]
    fn a_behaviour_retires_when_every_fault_it_exists_for_is_gone() {
        let all = measured(|_| Some(Verdict::Gone));
        let all = retiring(&all);
        let name = |behavior| all.iter().filter(|one| one.behavior == behavior).count();
        for fault in &FAULTS {
            for behavior in fault.behaviors {
                assert_eq!(name(*behavior), 1, "{behavior}");
            }
        }
        assert!(
            all.iter()
                .any(|one| one.behavior == "allowlist" && one.stays.is_some())
        );

        for left in [Some(Verdict::StillThere), Some(Verdict::NotTold), None] {
            let verdict = |name: &str| {
                if name == "reload_word" {
                    left
                } else {
                    Some(Verdict::Gone)
                }
            };
            let retires = retiring(&measured(verdict));
            let retires = |behavior| retires.iter().any(|one| one.behavior == behavior);
            assert!(!retires("execute_code_idempotency_guard"), "{left:?}");
            assert!(retires("timeout_notes"), "{left:?}");
        }
        assert_eq!(retiring(&[]), []);
    }

    #[test]
    fn the_account_says_what_was_seen_and_what_follows() {
        let some = measured(|name| (name == "move_verdict").then_some(Verdict::StillThere));
        let row = row(&some[0]);
        for part in [
            "move_verdict",
            "still there",
            "Seen: something (1 s).",
            "manage_asset_mutation_guard",
        ] {
            assert!(row.contains(part), "{row}");
        }
        assert!(ending(&some, &[]).contains("1 still there, 0 gone, 0 could not be told"));
        let gone = measured(|_| Some(Verdict::Gone));
        let text = ending(&gone, &retiring(&gone));
        assert!(text.contains("allowlist can be retired") && text.contains("what stays: all but"));
    }
}
