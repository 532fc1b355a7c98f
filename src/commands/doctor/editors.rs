//! What the heartbeats and the processes tell about each Editor.

use super::Scene;
use super::finding::{Report, Section, Severity, count, listed};
use super::heartbeats::{shown_age, window};
use super::processes::{Processes, Unity};
use crate::instances::{self, Editor, Heartbeats, status_folder};
use serde_json::json;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

const SECTION: Section = Section::Editors;

/// Seconds that a heartbeat may lie in the future before the clocks must differ.
const AHEAD_S: f64 = 5.0;
/// Seconds after which an Editor that writes twice a second has fallen silent. Upstream believes a reload for 60 s.
const SILENT_S: f64 = 60.0;
/// Seconds that a file's own time and the time in it may be apart.
const APART_S: f64 = 60.0;

/// Where the bridge's settings are.
const WINDOW: &str = "Window > MCP for Unity";

pub(super) fn examine(scene: &Scene, report: &mut Report) {
    for editor in &scene.editors {
        match editor.age(scene.now_ms).map(|age| age.as_secs_f64()) {
            None => no_time(editor, report),
            Some(age_s) if editor.is_live(scene.now_ms) => running(editor, age_s, report),
            Some(age_s) => ghost(editor, age_s, report),
        }
    }
    shared_ports(&scene.live(), report);
    match &scene.processes {
        Ok(processes) => {
            without_heartbeat(scene, processes, report);
            servers(scene, processes, report);
        }
        Err(why) => {
            report.add(
                SECTION,
                Severity::Info,
                "processes_unknown",
                format!("whether a Unity Editor runs is not known: {why}"),
            );
        }
    }
    if scene.live().is_empty() {
        nobody(scene, report);
    }
}

fn running(editor: &Editor, age_s: f64, report: &mut Report) {
    let name = editor.identifier();
    let data =
        json!({ "editor": name, "age_s": age_s, "reason": editor.reason, "file": editor.file });
    let age = shown_age(age_s);
    let mut add = |severity, id, message: String, cure: &str| {
        let finding = report
            .add(SECTION, severity, id, message)
            .data(data.clone());
        if !cure.is_empty() {
            finding.cure(cure);
        }
    };
    let reason = editor.reason.as_deref();
    if age_s < -AHEAD_S {
        let text = format!(
            "the heartbeat of {name} lies {age}: the clocks differ, and it counts as live however old it is"
        );
        add(
            Severity::Warning,
            "clock",
            text,
            "set the clocks of this machine and of the Editor's right",
        );
    } else if mtime_age_s(&editor.file).is_some_and(|file_s| age_s - file_s > APART_S) {
        clock_behind(editor, age_s, report);
    } else if age_s > SILENT_S {
        let text = format!(
            "{name} has been silent for {age}; it writes twice a second while it is not busy"
        );
        let cure = "look at that Editor: it is blocked (a dialog, a long import), reloads for long, or has crashed";
        add(Severity::Warning, "silent", text, cure);
    } else if matches!(reason, Some("port_busy" | "start_failed" | "stopped")) && !editor.reloading
    {
        let text = format!(
            "the bridge of {name} does not listen: it says {}",
            reason.unwrap_or_default()
        );
        let cure = format!(
            "start the session in its {WINDOW}; with port_busy end the other program on its port first"
        );
        add(Severity::Problem, "bridge_down", text, &cure);
    } else if editor.reloading {
        let why = reason.unwrap_or("no reason given");
        let text = format!("{name} is reloading ({why}) since {age}: calls wait until it is done");
        add(Severity::Info, "reloading", text, "");
    } else {
        let port = editor
            .port
            .map_or("no port".to_owned(), |port| format!("port {port}"));
        add(
            Severity::Ok,
            "live",
            format!("{name} is live, {port}, {}", editor.project_path),
            "",
        );
    }
    if !editor.hash_fits_path() {
        wrong_hash(editor, report);
    }
}

fn wrong_hash(editor: &Editor, report: &mut Report) {
    let computed = instances::hash8(&editor.project_path);
    report
        .add(
            SECTION,
            Severity::Warning,
            "hash_does_not_fit",
            format!(
                "the file of {} says {}, whose hash is {computed}: the file was copied or edited, or its bridge is of \
                 another version",
                editor.identifier(),
                editor.project_path
            ),
        )
        .cure("delete the file; a running Editor writes its own anew")
        .data(json!({ "editor": editor.identifier(), "computed_hash": computed, "file": editor.file }));
}

fn no_time(editor: &Editor, report: &mut Report) {
    let name = editor.identifier();
    report
        .add(
            SECTION,
            Severity::Warning,
            "no_time",
            format!(
                "the heartbeat of {name} has no readable last_heartbeat: it never counts as live"
            ),
        )
        .cure(format!(
            "install the bridge 10.1.0 in that project, or delete {}",
            editor.file.display()
        ))
        .data(json!({ "editor": name, "file": editor.file }));
}

fn ghost(editor: &Editor, age_s: f64, report: &mut Report) {
    if mtime_age_s(&editor.file).is_some_and(|file_s| file_s < SILENT_S && age_s - file_s > APART_S)
    {
        return clock_behind(editor, age_s, report);
    }
    let name = editor.identifier();
    let age = shown_age(age_s);
    report
        .add(
            SECTION,
            Severity::Info,
            "ghost",
            format!("{name} is a ghost: its heartbeat is {age} old (live up to {}), as a crash leaves it", window()),
        )
        .cure(format!("nothing has to be done; to tidy up delete {}", editor.file.display()))
        .data(json!({ "editor": name, "age_s": age_s, "file": editor.file }));
}

/// A file that was written just now holds a time long gone.
fn clock_behind(editor: &Editor, age_s: f64, report: &mut Report) {
    let name = editor.identifier();
    report
        .add(
            SECTION,
            Severity::Problem,
            "clock",
            format!(
                "the file of {name} was written just now, and the time in it is {} old: the clocks differ, and the \
                 Editor counts as a ghost",
                shown_age(age_s)
            ),
        )
        .cure("set the clock of the machine that the Editor runs on right (it writes UTC)")
        .data(json!({ "editor": name, "age_s": age_s, "file": editor.file }));
}

fn mtime_age_s(file: &Path) -> Option<f64> {
    let modified = std::fs::metadata(file).ok()?.modified().ok()?;
    let age = SystemTime::now()
        .duration_since(modified)
        .unwrap_or_default();
    Some(age.as_secs_f64())
}

fn shared_ports(live: &[&Editor], report: &mut Report) {
    for (at, editor) in live.iter().enumerate() {
        let same = |other: &&&Editor| other.port.is_some() && other.port == editor.port;
        if live[..at].iter().any(|other| same(&other)) {
            continue;
        }
        let fellows: Vec<String> = live.iter().filter(same).map(|e| e.identifier()).collect();
        if let (Some(port), true) = (editor.port, fellows.len() > 1) {
            report
                .add(
                    SECTION,
                    Severity::Problem,
                    "shared_port",
                    format!(
                        "{} all name port {port}: a call reaches whichever of them has it",
                        listed(&fellows)
                    ),
                )
                .cure(format!(
                    "end and start the session in {WINDOW} of all but one, and look here again"
                ))
                .data(json!({ "port": port, "editors": fellows }));
        }
    }
}

/// Editors that run and have no heartbeat here.
fn without_heartbeat(scene: &Scene, processes: &Processes, report: &mut Report) {
    let live = scene.live();
    let same = |project: &str, editor: &Editor| {
        let root = editor.project_root().unwrap_or_default();
        root == project || (cfg!(windows) && root.eq_ignore_ascii_case(project))
    };
    for unity in &processes.unity {
        let project = unity.project.as_deref();
        let beats = project.is_some_and(|project| live.iter().any(|editor| same(project, editor)));
        // An Editor without a path on its command line may be any of the live ones.
        if beats || (project.is_none() && !live.is_empty()) {
            continue;
        }
        let severity = if live.is_empty() {
            Severity::Problem
        } else {
            Severity::Info
        };
        let of = project.map_or_else(String::new, |project| format!(", {project}"));
        let folder = scene.folder.as_deref().unwrap_or(Path::new("-")).display();
        let pid = unity.pid;
        report
            .add(
                SECTION,
                severity,
                "editor_without_heartbeat",
                format!(
                    "a Unity Editor runs (pid {pid}{of}) and has no live heartbeat in {folder}"
                ),
            )
            .cure(why_silent(scene, unity))
            .data(json!({ "pid": pid, "project": project, "folder": scene.folder }));
    }
}

/// Why a running Editor has no heartbeat, as far as that can be seen from outside.
fn why_silent(scene: &Scene, unity: &Unity) -> String {
    if let Some(folder) = writes_elsewhere(scene, unity) {
        return format!(
            "its heartbeat is in {}: give client and Editor the same UNITY_MCP_STATUS_DIR, or neither",
            folder.display()
        );
    }
    if let Some(project) = &unity.project
        && lacks_package(Path::new(project)) == Some(true)
    {
        return format!(
            "install the MCP for Unity package there: nothing in {project}/Packages names it"
        );
    }
    format!(
        "in that Editor, {WINDOW}: the transport has to be stdio (set to HTTP it writes no heartbeat), and the session \
         has to be started"
    )
}

/// The folder that an Editor really writes to, when it is another than the one looked in.
fn writes_elsewhere(scene: &Scene, unity: &Unity) -> Option<PathBuf> {
    let variable = unity.status_dir.as_ref()?.as_deref().map(OsStr::new);
    let folder = status_folder(variable, crate::home::folder().as_deref())?;
    let project = unity.project.as_deref()?;
    let there = Heartbeats::new(Some(folder.clone())).read();
    let beats = instances::live(&there, scene.now_ms)
        .any(|editor| editor.project_root().as_deref() == Some(project));
    (beats && Some(&folder) != scene.folder.as_ref()).then_some(folder)
}

/// Whether a project has no bridge; `None` when that cannot be seen.
fn lacks_package(project: &Path) -> Option<bool> {
    const PACKAGE: &str = "unity-mcp";
    let packages = project.join("Packages");
    let manifest = std::fs::read_to_string(packages.join("manifest.json")).ok()?;
    let mut embedded = packages.read_dir().ok()?.flatten();
    let named = |name: std::ffi::OsString| name.to_string_lossy().contains(PACKAGE);
    let copied = project.join("Assets/MCPForUnity").is_dir();
    Some(!copied && !manifest.contains(PACKAGE) && !embedded.any(|entry| named(entry.file_name())))
}

/// Servers that run now.
fn servers(scene: &Scene, processes: &Processes, report: &mut Report) {
    let http: Vec<u32> = processes
        .servers
        .iter()
        .filter(|s| s.http)
        .map(|s| s.pid)
        .collect();
    if !http.is_empty() {
        let silent = scene.live().is_empty();
        let severity = if silent {
            Severity::Problem
        } else {
            Severity::Info
        };
        report
            .add(
                SECTION,
                severity,
                "http_server",
                format!(
                    "an MCP for Unity server runs with the transport HTTP (pid {}): an Editor that talks to it writes \
                     no heartbeat, and this proxy does not reach it",
                    listed(http.iter().map(u32::to_string))
                ),
            )
            .cure(format!("choose stdio in {WINDOW} and start the session"))
            .data(json!({ "pids": http }));
    }
    let stdio = processes.servers.iter().filter(|server| !server.http);
    let (behind, past): (Vec<_>, Vec<_>) = stdio.partition(|server| server.behind_proxy);
    if behind.len() + past.len() < 2 && past.is_empty() {
        return;
    }
    report
        .add(
            SECTION,
            Severity::Warning,
            "servers_running",
            format!(
                "{} of MCP for Unity run now, {} of them past this proxy: those that talk to the same Editor throw \
                 each other out",
                count(behind.len() + past.len(), "server"),
                past.len()
            ),
        )
        .cure("close the clients that are not needed, and see the entries below")
        .data(json!({
            "behind_proxy": behind.iter().map(|server| server.pid).collect::<Vec<_>>(),
            "past_proxy": past.iter().map(|server| server.pid).collect::<Vec<_>>(),
        }));
}

/// No Editor can be reached: the causes in the order of how usual they are.
fn nobody(scene: &Scene, report: &mut Report) {
    let folder = scene.folder.as_deref().unwrap_or(Path::new("-")).display();
    let ghosts = scene.editors.len();
    let only = if ghosts == 0 {
        "no usable heartbeat".to_owned()
    } else {
        format!("none that is live, {}", count(ghosts, "ghost"))
    };
    report
        .add(
            SECTION,
            Severity::Problem,
            "no_live_editor",
            format!("no Editor can be reached: {folder} has {only}"),
        )
        .cure(format!(
            "the usual causes in order: the Editor is closed; its session is not started ({WINDOW}); its transport is \
             set to HTTP instead of stdio (same window): then it writes no heartbeat; it has another \
             UNITY_MCP_STATUS_DIR"
        ))
        .data(json!({ "folder": scene.folder, "ghosts": ghosts }));
}
