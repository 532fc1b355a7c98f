//! A session in one project does not reach into another one.
//!
//! Upstream's pin is a word about the session; this is one about the project: `VRC_MCP_PROXY_PROJECT` names it, and
//! each call carries the identifier of the Editor that has it open. Upstream takes `unity_instance` from any tool's
//! arguments before it validates them, and ignores a blank one (measured against 10.1.0).

use super::{Behavior, Check, Cx, Hook, Refusal, Rewriting};
use crate::binding::{self, Binding};
use crate::call::{Call, Rewrite, Target, TargetSource};
use crate::instances::{Editor, Resolution, Selector};
use crate::wire::quote;

/// The behaviour's entry.
pub(super) const BEHAVIOR: Behavior = Behavior {
    name: "project_binding",
    summary: "Keeps all calls to the project of VRC_MCP_PROXY_PROJECT.",
    tool: None,
    hooks: &[Hook::DepartureGuard(check), Hook::Rewrite(name_editor)],
    codes: &[
        (
            "project_not_open",
            "no Editor's heartbeat names the project",
        ),
        (
            "other_project",
            "the call names an Editor of another project",
        ),
        (
            "instance_not_resolved",
            "the call names no Editor that is visible, or several",
        ),
        (
            "port_taken_over",
            "another Editor is on the port that the server would take for the project's",
        ),
    ],
};

/// An Editor writes twice a second. One that shares a port with another that wrote so much later, in milliseconds, does
/// not have that port any more.
const TAKEN_OVER_MS: i64 = 5_000;

/// For so long, in milliseconds, the server may still take an Editor's old port for its own: when a connection breaks
/// (and each look for Editors breaks it), it asks a register of its own, which is up to 5 s old (measured against 10.1.0).
const REMEMBERED_MS: i64 = 6_000;

fn check(call: &Call<'_>, cx: &Cx<'_>) -> Check {
    let Some(binding) = &cx.config.binding else {
        return Check::Pass;
    };
    let real_path = |path: &std::path::Path| cx.surroundings.real_path(path);
    let fitting = binding.fitting(cx.editors(), cx.now_ms, real_path);
    let Some(bound) = fitting.first() else {
        return refuse("project_not_open", not_open(binding, cx));
    };
    let pins = call.tool == "set_active_instance";
    let keys: &[&str] = if pins {
        &["unity_instance", "instance"]
    } else {
        &["unity_instance"]
    };
    let named = |key: &&str| call.argument(key).and_then(Selector::read);
    for selector in keys.iter().filter_map(named) {
        match selector.resolve(cx.editors(), cx.now_ms) {
            Resolution::One(editor) if fitting.contains(&editor) => {}
            Resolution::One(editor) => {
                return refuse("other_project", other(binding, bound, &selector, editor));
            }
            Resolution::None => {
                let fits = "fits no visible Editor".to_owned();
                return refuse(
                    "instance_not_resolved",
                    unclear(binding, bound, &selector, &fits),
                );
            }
            Resolution::Several(editors) => {
                let names: Vec<String> = editors.iter().map(|one| one.identifier()).collect();
                let fits = format!("fits several Editors ({})", names.join(", "));
                return refuse(
                    "instance_not_resolved",
                    unclear(binding, bound, &selector, &fits),
                );
            }
        }
    }
    if let Some(text) = taken_over(binding, bound, cx) {
        return refuse("port_taken_over", text);
    }
    if pins || named(&"unity_instance").is_some() {
        return Check::Pass;
    }
    let target = Selector::from_text(&binding::identifier(bound));
    target.map_or(Check::Pass, |selector| {
        Check::Aim(Target {
            selector,
            source: TargetSource::Binding,
        })
    })
}

fn name_editor(call: &Call<'_>, _: &Cx<'_>) -> Rewriting {
    let bound = |target: &&Target| target.source == TargetSource::Binding;
    let Some(target) = call.target.as_ref().filter(bound) else {
        return Rewriting::Keep;
    };
    Rewriting::Change(Rewrite {
        set: vec![("unity_instance", quote(target.selector.text()))],
        ..Rewrite::default()
    })
}

/// Another Editor that listens, as far as its file says, on this port.
fn another_on<'e>(
    port: u16,
    bound: &Editor,
    cx: &'e Cx<'_>,
    is_heir: impl Fn(&Editor) -> bool,
) -> Option<&'e Editor> {
    let listens = |editor: &Editor| {
        let reason = editor.reason.as_deref();
        !matches!(reason, Some("port_busy" | "start_failed" | "stopped"))
    };
    let fits = |editor: &&Editor| {
        editor.port == Some(port) && editor.hash != bound.hash && listens(editor) && is_heir(editor)
    };
    cx.editors().iter().find(fits)
}

/// What speaks against sending a call to the port that upstream would choose.
fn taken_over(binding: &Binding, bound: &Editor, cx: &Cx<'_>) -> Option<String> {
    let (port, written) = (bound.port?, bound.last_heartbeat_ms?);
    let later = |editor: &Editor| {
        let wrote = editor.last_heartbeat_ms;
        wrote.is_some_and(|wrote| wrote.saturating_sub(written) > TAKEN_OVER_MS)
    };
    // Upstream probes that port for the old Editor's sake, gets an answer, and takes it for that Editor's.
    if let Some(heir) = another_on(port, bound, cx, later) {
        return Some(lost(binding, bound, port, heir));
    }
    let moved = bound
        .moved
        .filter(|moved| cx.now_ms.saturating_sub(moved.at_ms) < REMEMBERED_MS)?;
    let heir = another_on(moved.from, bound, cx, |editor| editor.is_live(cx.now_ms))?;
    Some(just_moved(binding, bound, moved.from, heir))
}

fn refuse(code: &'static str, text: String) -> Check {
    Check::Refuse(Refusal { code, text })
}

fn bound_to(binding: &Binding) -> String {
    format!(
        "This call was not forwarded. The session is bound to the Unity project {} ({})",
        binding.root(),
        binding::VARIABLE
    )
}

const CHANGE: &str = "To work in another project, the user changes that variable in the `env` of this server's \
entry in the client's configuration and restarts the server.";

fn not_open(binding: &Binding, cx: &Cx<'_>) -> String {
    let looked_for: Vec<String> = binding
        .spellings()
        .iter()
        .map(|spelling| format!("{} (hash {})", spelling.data_path(), spelling.hash()))
        .collect();
    let folder = cx.config.status_folder();
    let folder = folder.map_or_else(|| "(none)".to_owned(), |path| path.display().to_string());
    let mut text = format!(
        "{}, and no Editor has it open: no heartbeat in {folder} names {}.",
        bound_to(binding),
        looked_for.join(" or ")
    );
    if cx.editors().is_empty() {
        text.push_str(" That folder holds no heartbeat of any Editor.");
    } else {
        text.push_str(" The Editors there:");
    }
    for editor in cx.editors() {
        let age = match editor.age(cx.now_ms) {
            Some(age) if editor.is_live(cx.now_ms) => format!("live, {} s old", age.as_secs()),
            Some(age) => format!("not live, {} s old", age.as_secs()),
            None => "not live, no readable time".to_owned(),
        };
        text.push_str(&format!(
            "\n- {} ({}; {age})",
            editor.identifier(),
            editor.project_path
        ));
    }
    if !binding.is_project() {
        text.push_str(
            "\nWhen the proxy started, that path held no Unity project (no Assets and ProjectSettings in it): it may \
             be mistyped.",
        );
    }
    text.push_str(&format!(
        "\nOpen the project in Unity and start the session in Window > MCP for Unity, then repeat the call. {CHANGE}"
    ));
    text
}

fn other(binding: &Binding, bound: &Editor, selector: &Selector, editor: &Editor) -> String {
    format!(
        "{}, whose Editor is {}. `{}` is {}, the Editor of another project: {}. Leave the instance out: each call goes \
         to {} by itself. {CHANGE}",
        bound_to(binding),
        binding::identifier(bound),
        selector.text(),
        editor.identifier(),
        editor.project_path,
        binding::identifier(bound),
    )
}

fn unclear(binding: &Binding, bound: &Editor, selector: &Selector, fits: &str) -> String {
    format!(
        "{}, whose Editor is {}. `{}` {fits}. Leave the instance out: each call goes to {} by itself.",
        bound_to(binding),
        binding::identifier(bound),
        selector.text(),
        binding::identifier(bound),
    )
}

fn lost(binding: &Binding, bound: &Editor, port: u16, heir: &Editor) -> String {
    format!(
        "{}. The heartbeat of its Editor {} names port {port}, and {} ({}), which wrote later, names the same port: the \
         call would reach that one. If the project is open in Unity, its bridge is on no port of its own: restart the \
         session in Window > MCP for Unity. If it is not, open it. Then repeat the call.",
        bound_to(binding),
        binding::identifier(bound),
        heir.identifier(),
        heir.project_path,
    )
}

fn just_moved(binding: &Binding, bound: &Editor, from: u16, heir: &Editor) -> String {
    format!(
        "{}. Its Editor {} has just changed from port {from} to {}, and {} ({}) is on port {from} now. The server \
         remembers ports for 5 s, so the call could reach that one: repeat it in {} s.",
        bound_to(binding),
        binding::identifier(bound),
        bound.port.unwrap_or_default(),
        heir.identifier(),
        heir.project_path,
        REMEMBERED_MS / 1000,
    )
}
