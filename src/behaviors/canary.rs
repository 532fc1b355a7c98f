//! A tool whose contract is not the one that was looked at is not called.
//!
//! The server is pinned, its dependencies are not (measured against 10.1.0), and its listing may change while a
//! session lasts. Each listing is compared with the committed baseline.

use super::{Behavior, Check, Cx, Hook, Listing, ListingEdit, Refusal};
use crate::baseline::{Baseline, Comparison, committed, listed};
use crate::call::Call;

/// The behaviour's entry.
pub(super) const BEHAVIOR: Behavior = Behavior {
    name: "canary",
    summary: "Refuses calls to a tool whose listed contract differs from the committed baseline.",
    tool: None,
    hooks: &[Hook::Listing(compare), Hook::Guard(check)],
    codes: &[(
        "contract_drifted",
        "the tool's contract is not the baseline's",
    )],
};

/// The usual cause beside a moved pin, and what a user can do.
const WAY_OUT: &str = "The usual cause beside a moved pin: the server's own dependencies (FastMCP, pydantic) are \
not pinned and write schemas differently. See docs/bump-runbook.md. Ways out: set VRC_MCP_PROXY_DISABLE=canary \
for now, or pin the dependency with uvx's --with in VRC_MCP_PROXY_UPSTREAM.";

fn compare(listing: &Listing<'_>, cx: &Cx<'_>) -> Result<ListingEdit, String> {
    let version = cx.config.upstream_version;
    let text =
        committed(version).ok_or_else(|| format!("no baseline is committed for {version}"))?;
    let exposed = &cx.config.exposed;
    let baseline = Baseline::parse_only(text, |tool| exposed.contains(tool))
        .map_err(|error| error.to_string())?;
    let mut edit = ListingEdit::default();
    for tool in &listing.tools {
        let Some(name) = tool.name.as_deref() else {
            continue;
        };
        if !exposed.contains(name) {
            continue;
        }
        match baseline.compare(name, tool.input_schema) {
            Comparison::Same => {}
            Comparison::Unknown => edit.log.push(format!(
                "{name} is exposed by configuration and unknown to the baseline: its contract is not vetted"
            )),
            Comparison::Wording(pointers) => edit.log.push(reworded(name, &pointers)),
            Comparison::Drift { contract, wording } => {
                let what = listed(&contract);
                edit.log.push(format!(
                    "{name} is not what the baseline says, so its calls are refused: {what}. {WAY_OUT}"
                ));
                if !wording.is_empty() {
                    edit.log.push(reworded(name, &wording));
                }
                edit.drifted.push((name.to_owned(), what));
            }
        }
    }
    Ok(edit)
}

fn reworded(name: &str, pointers: &[String]) -> String {
    format!(
        "{name}: texts differ from the baseline (no refusal): {}",
        listed(pointers)
    )
}

fn check(call: &Call<'_>, cx: &Cx<'_>) -> Check {
    let Some(what) = cx.listings.drifted.get(&*call.tool) else {
        return Check::Pass;
    };
    let version = cx.config.upstream_version;
    Check::Refuse(Refusal {
        code: "contract_drifted",
        text: format!(
            "`{}` was not called: its contract differs from the baseline of mcpforunityserver \
             {version} (baseline/{version}.json): {what}. {WAY_OUT}",
            call.tool
        ),
    })
}
