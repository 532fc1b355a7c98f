//! Which Editor a call is meant for when it does not say: the default instance, and the project bound to.

use super::finding::{Report, Section, Severity, listed};
use super::heartbeats::shown_age;
use super::{Scene, project};
use crate::binding;
use crate::instances::{Editor, Resolution, Selector, live};
use serde_json::json;

const SECTION: Section = Section::Target;

pub(super) fn examine(scene: &Scene, report: &mut Report) {
    let here = "this environment";
    let bound = std::env::var(binding::VARIABLE)
        .ok()
        .filter(|value| !value.trim().is_empty());
    let default = scene.config.default_instance.as_deref();
    if let Some(value) = default {
        default_instance(value, here, scene, &scene.editors, report);
    }
    if let Some(value) = &bound {
        project::examine(value, here, &scene.here, scene, report);
    }
    let live = scene.live();
    if live.len() > 1 && default.is_none() && bound.is_none() {
        report
            .add(
                SECTION,
                Severity::Info,
                "several_editors",
                format!(
                    "{} Editors are live and nothing says which is meant: calls are refused until the agent pins one \
                     with set_active_instance",
                    live.len()
                ),
            )
            .cure(format!("to spare it that, set UNITY_MCP_DEFAULT_INSTANCE to one of {}", identifiers(&live)))
            .data(json!({ "live": live.iter().map(|editor| editor.identifier()).collect::<Vec<_>>() }));
    }
}

fn identifiers(editors: &[&Editor]) -> String {
    listed(editors.iter().map(|editor| editor.identifier()))
}

/// Judges a value of `UNITY_MCP_DEFAULT_INSTANCE` against the heartbeats that its server would see.
pub(super) fn default_instance(
    value: &str,
    whose: &str,
    scene: &Scene,
    editors: &[Editor],
    report: &mut Report,
) {
    let Some(selector) = Selector::default_instance(value) else {
        return;
    };
    let live: Vec<&Editor> = live(editors, scene.now_ms).collect();
    let (severity, id, verdict) = verdict(
        &selector.resolve(editors, scene.now_ms),
        &live,
        scene.now_ms,
    );
    let text = format!("UNITY_MCP_DEFAULT_INSTANCE is {value:?} ({whose}): {verdict}");
    let finding = report.add(SECTION, severity, id, text);
    finding.data(json!({
        "value": value,
        "where": whose,
        "live": live.iter().map(|editor| editor.identifier()).collect::<Vec<_>>(),
    }));
    if severity == Severity::Problem {
        finding.cure(format!(
            "open that project, set the variable to one of {}, or remove it and let the agent pin one with \
             set_active_instance",
            identifiers(&live)
        ));
    } else if severity == Severity::Warning {
        finding.cure("open that project, or remove the variable");
    }
}

/// What a default instance is worth, by the Editors that it fits.
fn verdict(
    fitting: &Resolution<'_>,
    live: &[&Editor],
    now_ms: i64,
) -> (Severity, &'static str, String) {
    match fitting {
        Resolution::One(editor) if editor.is_live(now_ms) => {
            let text = format!("that is {}, which is live", editor.identifier());
            (Severity::Ok, "default_instance", text)
        }
        Resolution::One(editor) if live.is_empty() => {
            let text = format!(
                "that is {}, which is not live; nor is any other",
                editor.identifier()
            );
            (Severity::Warning, "default_instance_not_live", text)
        }
        Resolution::One(editor) => {
            let (name, open) = (editor.identifier(), identifiers(live));
            let text = format!(
                "a stale pin: that is {name}, {}; open are {open}",
                gone(editor, now_ms)
            );
            (Severity::Problem, "default_instance_not_live", text)
        }
        Resolution::Several(several) => {
            let text = format!("that fits {}", identifiers(several));
            (Severity::Problem, "default_instance_ambiguous", text)
        }
        Resolution::None if live.is_empty() => {
            let text = "whether an Editor of that name exists cannot be told while none is open";
            (
                Severity::Warning,
                "default_instance_fits_nobody",
                text.to_owned(),
            )
        }
        Resolution::None => {
            let text = format!(
                "a stale pin: it fits no Editor; open are {}",
                identifiers(live)
            );
            (Severity::Problem, "default_instance_fits_nobody", text)
        }
    }
}

fn gone(editor: &Editor, now_ms: i64) -> String {
    match editor.age(now_ms) {
        Some(age) => format!("silent for {}", shown_age(age.as_secs_f64())),
        None => "whose heartbeat has no time".to_owned(),
    }
}
