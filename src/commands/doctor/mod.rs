//! The `doctor` command: what would go wrong here, and what to do about it.
//!
//! It reads files, variables and the list of processes, and asks uv without a network. It opens no connection to an
//! Editor: the bridge would throw out the client that it serves. Only `--probe` does, and says so first.

mod clients;
mod conflicts;
mod editors;
mod entry;
mod environment;
mod finding;
mod heartbeats;
mod launch;
mod probe;
mod processes;
mod project;
mod server;
mod show;
mod target;

use super::clients::places::Places;
use super::{Failure, NOT_AS_IT_SHOULD_BE, print, print_json};
use crate::config::Config;
use crate::instances::{Editor, Heartbeats};
use finding::{Report, Severity};
use std::path::PathBuf;

/// The arguments.
#[derive(clap::Args)]
pub(super) struct Options {
    /// Connect to the Editors' ports. This cuts off the session of the client that an Editor serves
    #[arg(long)]
    probe: bool,
    /// Print everything as JSON
    #[arg(long)]
    json: bool,
}

/// What is looked at, read once.
struct Scene {
    config: Config,
    /// The working directory.
    here: PathBuf,
    /// The heartbeat folder.
    folder: Option<PathBuf>,
    editors: Vec<Editor>,
    /// Unix milliseconds.
    now_ms: i64,
    /// The processes that matter here; the reason where they cannot be listed.
    processes: Result<processes::Processes, String>,
}

impl Scene {
    fn look() -> Result<Self, Failure> {
        let config = Config::from_env(std::env::vars_os());
        let folder = config.status_folder();
        Ok(Scene {
            editors: Heartbeats::new(folder.clone()).read(),
            now_ms: jiff::Timestamp::now().as_millisecond(),
            here: std::env::current_dir().map_err(Failure::io("the working directory"))?,
            processes: processes::look(),
            config,
            folder,
        })
    }

    /// The Editors that run, by their heartbeats.
    fn live(&self) -> Vec<&Editor> {
        crate::instances::live(&self.editors, self.now_ms).collect()
    }
}

pub(super) fn run(options: &Options) -> Result<u8, Failure> {
    if options.probe {
        probe::announce();
    }
    let scene = Scene::look()?;
    let mut report = Report {
        upstream_version: scene.config.upstream_version,
        ..Report::default()
    };
    server::examine(&scene, &mut report);
    environment::examine(&scene, &mut report);
    heartbeats::examine(&scene, &mut report);
    editors::examine(&scene, &mut report);
    target::examine(&scene, &mut report);
    let places = Places::of_this_user(scene.here.clone());
    clients::examine(&scene, &places, &mut report);
    if options.probe {
        probe::examine(&scene, &mut report);
    }
    let status = match report.count(Severity::Problem) {
        0 => 0,
        _ => NOT_AS_IT_SHOULD_BE,
    };
    if options.json {
        print_json(&show::facts(&report, status))?;
    } else {
        print(&show::text(&report, show::colours()))?;
    }
    Ok(status)
}
