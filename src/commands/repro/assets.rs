//! Moves and searches of assets.

use super::faults::Finding;
use super::stand::Stand;
use crate::commands::Failure;
use crate::csharp::literal::string_literal;
use serde_json::{Value, json};

/// A move to a full path, looked at on the disk.
pub(super) fn move_verdict(stand: &mut Stand) -> Result<Finding, Failure> {
    let (from, to) = (stand.asset("move_from.txt"), stand.asset("move_to.txt"));
    imported(stand, &from)?;
    let call = json!({ "action": "move", "path": from, "destination": to });
    let answer = stand.call("manage_asset", &call)?;
    let landed = stand.on_disk(&to).exists() && !stand.on_disk(&from).exists();
    let told = answer.quoted();
    Ok(match (landed, answer.succeeded()) {
        (true, false) => {
            Finding::still_there(format!("the move landed, and the client was told {told}"))
        }
        (true, true) => Finding::gone("the move landed, and was reported as done"),
        (false, _) => Finding::not_told(format!("the move did not land: {told}")),
    })
}

/// A rename to a name without a folder.
pub(super) fn bare_destination(stand: &mut Stand) -> Result<Finding, Failure> {
    let from = stand.asset("bare_from.txt");
    imported(stand, &from)?;
    let name = format!("repro_{}_bare.txt", stand.word());
    let (stray, beside) = (format!("Assets/{name}"), stand.asset(&name));
    let call = json!({ "action": "rename", "path": from, "destination": name });
    let answer = stand.call("manage_asset", &call)?;
    if stand.on_disk(&stray).exists() {
        let delete = format!(
            "return AssetDatabase.DeleteAsset({});",
            string_literal(&stray)
        );
        let deleted = stand.value(&delete);
        if stand.on_disk(&stray).exists() {
            deleted?;
            return Err(Failure::Told(format!("{stray} is left and can be deleted")));
        }
        return Ok(Finding::still_there(format!(
            "an asset of {} went to Assets/ itself",
            stand.asset("")
        )));
    }
    Ok(if stand.on_disk(&beside).exists() {
        Finding::gone("the asset stayed in its folder under the new name")
    } else {
        Finding::not_told(format!("the rename did not land: {}", answer.quoted()))
    })
}

/// A search for `*.txt` where there is a text asset that a search by its name finds.
pub(super) fn search_extension(stand: &mut Stand) -> Result<Finding, Failure> {
    let asset = findable(stand)?;
    let scope = stand.asset("");
    let found = search(stand, &scope, "*.txt")?;
    Ok(if found.contains(&asset) {
        Finding::gone("the asset was found by its extension")
    } else if found.is_empty() {
        Finding::still_there("no hit for *.txt in a folder with an asset of that extension")
    } else {
        Finding::not_told(format!("the search found something else: {found:?}"))
    })
}

/// A search in a folder that does not exist, for an asset that lies elsewhere.
pub(super) fn dropped_scope(stand: &mut Stand) -> Result<Finding, Failure> {
    let asset = findable(stand)?;
    let nowhere = stand.asset("Nowhere");
    let name = findable_name(stand);
    let call = json!({ "action": "search", "path": nowhere, "search_pattern": name });
    let answer = stand.call("manage_asset", &call)?;
    let hits = hits(&answer.payload());
    Ok(if hits.contains(&asset) {
        Finding::still_there(format!("a search in {nowhere} found {asset}"))
    } else if hits.is_empty() && !answer.text().is_empty() {
        Finding::gone(format!("nothing was found outside: {}", answer.quoted()))
    } else {
        Finding::not_told(format!("the search was answered with {}", answer.quoted()))
    })
}

fn findable_name(stand: &Stand) -> String {
    format!("findable{}", stand.word())
}

/// An asset that a search by its name finds: the control without which an empty search says nothing.
fn findable(stand: &mut Stand) -> Result<String, Failure> {
    let name = findable_name(stand);
    let asset = stand.asset(&format!("{name}.txt"));
    if !stand.on_disk(&asset).exists() {
        imported(stand, &asset)?;
    }
    let scope = stand.asset("");
    let found = search(stand, &scope, &name)?;
    if found.contains(&asset) {
        Ok(asset)
    } else {
        Err(Failure::Told(format!(
            "{asset} is not found by its own name either: {found:?}"
        )))
    }
}

/// The paths of what a search finds.
fn search(stand: &mut Stand, scope: &str, pattern: &str) -> Result<Vec<String>, Failure> {
    let call = json!({ "action": "search", "path": scope, "search_pattern": pattern });
    let answer = stand.call("manage_asset", &call)?;
    if answer.succeeded() {
        Ok(hits(&answer.payload()))
    } else {
        let told = answer.quoted();
        Err(Failure::Told(format!("the search failed: {told}")))
    }
}

fn hits(payload: &Value) -> Vec<String> {
    let assets = payload["data"]["assets"].as_array().into_iter().flatten();
    let paths = assets.filter_map(|asset| asset["path"].as_str());
    paths.map(str::to_owned).collect()
}

/// Makes a text asset that the Editor knows of.
fn imported(stand: &mut Stand, asset: &str) -> Result<(), Failure> {
    let file = stand.on_disk(asset);
    std::fs::write(&file, "scratch\n").map_err(Failure::io(file.display().to_string()))?;
    let path = string_literal(asset);
    let known = stand.value(&format!(
        "AssetDatabase.Refresh(); return AssetDatabase.AssetPathToGUID({path}) != \"\";"
    ))?;
    if known == true {
        Ok(())
    } else {
        Err(Failure::Told(format!("the Editor does not import {asset}")))
    }
}
