//! The `demo` command: what the server tells a client, and what the proxy makes of it. Each call is made twice, to a
//! simulated server and to the real relay in front of one, and every claim of the account is checked meanwhile.

mod check;
mod scenes;
pub(super) mod server;
mod show;
mod stage;
mod unity;

use super::{Failure, NOT_AS_IT_SHOULD_BE, print, print_json};
use check::Check;
use scenes::Scene;
use serde::Serialize;
use serde_json::Value;
use show::Page;
use stage::Side;
use std::thread::{ScopedJoinHandle, scope};
use std::time::Instant;

/// The arguments.
#[derive(clap::Args)]
pub(super) struct Options {
    /// Print the account as JSON, with every message in full
    #[arg(long)]
    json: bool,
}

/// What happened in a scene.
#[derive(Debug, Serialize)]
struct Played {
    title: &'static str,
    about: &'static str,
    behavior: &'static str,
    /// The client's calls, and in words what happens between them.
    sent: Vec<Value>,
    without: Side,
    with: Side,
    checks: Vec<Check>,
}

/// The whole account.
#[derive(Debug, Serialize)]
struct Account {
    as_told: bool,
    seconds: f64,
    scenes: Vec<Played>,
}

pub(super) fn run(options: &Options) -> Result<u8, Failure> {
    let started = Instant::now();
    let page = Page::new();
    let tell = |text: String| if options.json { Ok(()) } else { print(&text) };
    tell(page.opening())?;
    let scenes = scenes::all();
    let mut account = Account {
        as_told: true,
        seconds: 0.0,
        scenes: Vec::new(),
    };
    scope(|scope| {
        // They wait rather than work, so they are played beside each other, and told one after the other.
        let start = |scene, with_proxy| scope.spawn(move || stage::play(scene, with_proxy));
        let start = |scene| (scene, start(scene, false), start(scene, true));
        let playing: Vec<_> = scenes.iter().map(start).collect();
        for (scene, without, with) in playing {
            let played = played(scene, joined(without)?, joined(with)?);
            tell(page.scene(account.scenes.len() + 1, scene, &played))?;
            account.add(played);
        }
        Ok::<(), Failure>(())
    })?;
    account.seconds = started.elapsed().as_secs_f64();
    if options.json {
        print_json(&account)?;
    }
    tell(page.closing(&account))?;
    Ok(status(&account))
}

impl Played {
    fn went_as_told(&self) -> bool {
        self.checks.iter().all(|check| check.holds)
    }
}

impl Account {
    fn add(&mut self, played: Played) {
        self.as_told &= played.went_as_told();
        self.scenes.push(played);
    }
}

fn joined(side: ScopedJoinHandle<'_, Result<Side, Failure>>) -> Result<Side, Failure> {
    let broken = |_| Err(Failure::Told("a scene broke off".to_owned()));
    side.join().unwrap_or_else(broken)
}

fn played(scene: &Scene, without: Side, with: Side) -> Played {
    Played {
        title: scene.title,
        about: scene.about,
        behavior: scene.behavior,
        sent: stage::sent(scene),
        checks: check::scene(scene, &without, &with),
        without,
        with,
    }
}

/// The exit status.
fn status(account: &Account) -> u8 {
    if account.as_told {
        0
    } else {
        NOT_AS_IT_SHOULD_BE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_that_does_not_hold_is_told_and_ends_with_1() {
        let page = Page { width: 100 };
        let mut account = Account {
            as_told: true,
            seconds: 0.0,
            scenes: Vec::new(),
        };
        assert_eq!(status(&account), 0);
        assert!(page.closing(&account).contains("went as told"));
        // Nothing came of the call on either side.
        let scenes = scenes::all();
        let played = played(&scenes[0], Side::default(), Side::default());
        let told = page.scene(1, &scenes[0], &played);
        assert!(
            told.contains("NOT AS TOLD: with the proxy: the Editor"),
            "{told}"
        );
        account.add(played);
        assert_eq!(status(&account), NOT_AS_IT_SHOULD_BE);
        assert!(
            page.closing(&account)
                .contains("1 of 1 scenes did NOT go as told")
        );
    }
}
