//! Entries that would fight for the same Editor: the bridge serves one session and throws it out for the next.

use super::clients::{Judged, Kind, precedence};
use super::finding::{Report, Section, Severity, listed};
use crate::commands::clients::Client;
use crate::commands::clients::places::Scope;
use serde_json::json;
use std::path::Path;

const SECTION: Section = Section::Clients;

pub(super) fn examine(all: &[Judged], report: &mut Report) {
    let started = started(all);
    let mut clients: Vec<Client> = Vec::new();
    for client in Client::ALL {
        let own: Vec<&Judged> = started
            .iter()
            .copied()
            .filter(|one| one.entry.client == client)
            .collect();
        if own.is_empty() {
            continue;
        }
        clients.push(client);
        if fight(&own) {
            report
                .add(
                    SECTION,
                    Severity::Problem,
                    "two_entries",
                    format!(
                        "{} starts {} servers for the same Editor at once: they throw each other out in the middle of \
                         commands, which are then delivered again",
                        client.title(),
                        own.len()
                    ),
                )
                .cure(format!("keep one of them and remove the others: {}", listed(own.iter().map(|one| one.whose()))))
                .data(data(&own));
        }
    }
    let between = clients.len() > 1
        && started.iter().any(|one| {
            let other = |two: &&Judged| two.entry.client != one.entry.client;
            let others: Vec<&Judged> = started.iter().copied().filter(other).collect();
            others.iter().any(|two| fight(&[*one, *two]))
        });
    if between {
        let past = started.iter().any(|one| !one.is_behind_proxy());
        let but = if past {
            "; not all of them go through this proxy"
        } else {
            ""
        };
        report
            .add(
                SECTION,
                Severity::Warning,
                "two_clients",
                format!(
                    "{} each start a server for the same Editor{but}: used at the same time they throw each other out \
                     in the middle of commands",
                    listed(clients.iter().map(|client| client.title()))
                ),
            )
            .cure("use one of them at a time for an Editor, or bind each to its own project")
            .data(data(&started));
    }
}

fn data(entries: &[&Judged]) -> serde_json::Value {
    let entries = entries.iter().map(|one| {
        let entry = &one.entry;
        json!({ "client": entry.client.slug(), "file": entry.file, "key": entry.key })
    });
    json!({ "entries": entries.collect::<Vec<_>>() })
}

/// Whether any two of them can be meant for the same Editor.
fn fight(entries: &[&Judged]) -> bool {
    entries.iter().enumerate().any(|(at, one)| {
        entries[..at]
            .iter()
            .any(|two| match (one.bound_to(), two.bound_to()) {
                (Some(one), Some(two)) => one == two,
                _ => true,
            })
    })
}

/// The entries that clients started here would really start.
fn started(all: &[Judged]) -> Vec<&Judged> {
    let works = |one: &&Judged| {
        let starts = matches!(one.kind, Kind::This | Kind::OtherProxy(_) | Kind::Server);
        starts && !one.entry.off && one.entry.misplaced.is_none() && one.entry.faults.is_empty()
    };
    let mut works: Vec<&Judged> = all.iter().filter(works).collect();
    // The nearest folder stays ahead of those above it.
    works.sort_by_key(|one| {
        (
            one.entry.client,
            precedence(one.entry.client, &one.entry.scope),
        )
    });
    let mut started: Vec<&Judged> = Vec::new();
    for one in works {
        let shadowed = started.iter().any(|other| {
            let same_client = other.entry.client == one.entry.client;
            same_client && (other.entry.key == one.entry.key || in_another_folder(other, one))
        });
        if !shadowed {
            started.push(one);
        }
    }
    started
}

/// Whether a client that reads the one file does not read the other: those with a window know one folder.
fn in_another_folder(one: &Judged, two: &Judged) -> bool {
    let root = |judged: &Judged| match &judged.entry.scope {
        Scope::Project(root) => Some(Path::new(root).to_owned()),
        Scope::User | Scope::Local(_) => None,
    };
    match (root(one), root(two)) {
        (Some(a), Some(b)) => a != b && one.entry.client != Client::ClaudeCode,
        _ => false,
    }
}
