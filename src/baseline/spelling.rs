//! One spelling for each contract: schema objects that say the same are rewritten to the same form.
//!
//! Every rule keeps exactly what the schema accepts. Where a rewrite would need knowledge that the schema
//! does not carry, or would hide a change (a constraint on a type that the schema excludes), the spelling
//! stays and counts: a false alarm costs a look at the runbook, a missed change costs the user's work.

use std::collections::BTreeMap;

use super::json::Json;
use super::keywords::{Family, constrains, family};
use super::schema::{Part, Schema};

/// Rewrites a schema whose subschemas are settled already.
pub(super) fn settle(schema: &mut Schema) {
    loop {
        const_as_enum(schema);
        flatten(schema, "allOf");
        if absorb_single(schema) {
            continue;
        }
        types_as_union(schema);
        flatten(schema, "anyOf");
        if !absorb_single(schema) {
            break;
        }
    }
    null_as_type(schema);
    distribute_keywords(schema);
    distribute_enum(schema);
    for key in ["allOf", "anyOf", "oneOf"] {
        if let Some(Part::Many(members)) = schema.keys.get_mut(key) {
            members.sort_by(Schema::compare_for_order);
        }
    }
}

/// `const: x` is `enum: [x]`; older pydantic writes both.
fn const_as_enum(schema: &mut Schema) {
    let Some(Part::Data(value)) = schema.keys.get("const") else {
        return;
    };
    let list = Json::Array(vec![value.clone()]);
    let same = match schema.keys.get("enum") {
        Some(Part::Data(values)) => *values == list,
        _ => true,
    };
    if same {
        schema.keys.remove("const");
        schema.keys.insert("enum".to_owned(), Part::Data(list));
    }
}

/// `enum: [null]` is `type: "null"`: there is one null. Beside other types it is not: there it contradicts them.
fn null_as_type(schema: &mut Schema) {
    let only_null = matches!(schema.keys.get("enum"), Some(Part::Data(Json::Array(values))) if *values == [Json::Null]);
    let untyped = !schema.keys.contains_key("type") && !schema.keys.contains_key("anyOf");
    if only_null && (untyped || schema.single_type() == Some("null")) {
        schema.keys.remove("enum");
        schema
            .keys
            .insert("type".to_owned(), Part::Data(Json::text("null")));
    }
}

/// `type: [a, b]` is `anyOf` of the two. Beside an `anyOf` of its own the list stays.
fn types_as_union(schema: &mut Schema) {
    let Some(Part::Data(Json::Array(types))) = schema.keys.get("type") else {
        return;
    };
    if types.len() < 2
        || schema.keys.contains_key("anyOf")
        || types.iter().any(|name| name.as_str().is_none())
    {
        return;
    }
    let branch = |name: &Json| Schema {
        keys: BTreeMap::from([("type".to_owned(), Part::Data(name.clone()))]),
        ..Schema::default()
    };
    let branches = types.iter().map(branch).collect();
    schema.keys.remove("type");
    schema.keys.insert("anyOf".to_owned(), Part::Many(branches));
}

/// Members that are nothing but the same combination again become members here; equal members become
/// one. Not for `oneOf`, which counts its matches.
fn flatten(schema: &mut Schema, key: &str) {
    if !matches!(schema.keys.get(key), Some(Part::Many(_))) {
        return;
    }
    let Some(Part::Many(members)) = schema.keys.remove(key) else {
        return;
    };
    let was_empty = members.is_empty();
    let mut kept: Vec<Schema> = Vec::new();
    let mut pending = members;
    while let Some(mut member) = pending.pop() {
        if member.is_free()
            && member.keys.len() == 1
            && matches!(member.keys.get(key), Some(Part::Many(_)))
        {
            schema.absorb_texts(&member);
            if let Some(Part::Many(inner)) = member.keys.remove(key) {
                pending.extend(inner);
            }
        } else if key == "allOf" && member.is_blank() {
            schema.absorb_texts(&member);
        } else {
            kept.push(member);
        }
    }
    kept.sort_by(Schema::compare);
    kept.dedup_by(|next, first| {
        let twins = first.compare(next).is_eq();
        if twins {
            first.absorb_texts(next);
        }
        twins
    });
    // An `anyOf` of nothing matches nothing, an `allOf` whose members all allow everything says nothing.
    if was_empty || !kept.is_empty() {
        schema.keys.insert(key.to_owned(), Part::Many(kept));
    }
}

/// A combination of one is that one: its keywords move up, unless they would meet others there that they
/// are read together with. True when something moved.
fn absorb_single(schema: &mut Schema) -> bool {
    for key in ["allOf", "anyOf", "oneOf"] {
        let Some(Part::Many(members)) = schema.keys.get(key) else {
            continue;
        };
        let [member] = members.as_slice() else {
            continue;
        };
        let alone = schema.keys.len() == 1;
        let movable =
            alone || member.is_blank() || (member.is_free() && can_merge(schema, key, member));
        if !movable {
            continue;
        }
        let member = member.clone();
        schema.absorb_texts(&member);
        schema.keys.remove(key);
        schema.keys.extend(member.keys);
        schema.labels.extend(member.labels);
        schema.back = member.back;
        return true;
    }
    false
}

fn can_merge(schema: &Schema, without: &str, member: &Schema) -> bool {
    let own = || schema.keys.iter().filter(|(key, _)| *key != without);
    let agrees = |(key, part): (&String, &Part)| {
        own().all(|(mine, value)| mine != key || value.agrees_with(part))
    };
    let family_fits = |wanted: Family| {
        let in_family = |key: &&String| family(key) == Some(wanted);
        let mine: Vec<&String> = own().map(|(key, _)| key).filter(in_family).collect();
        let theirs: Vec<&String> = member.keys.keys().filter(in_family).collect();
        mine.is_empty() || theirs.is_empty() || mine == theirs
    };
    // These look through their neighbours: among new ones they would see more.
    let looks_around = ["unevaluatedItems", "unevaluatedProperties"]
        .iter()
        .any(|key| member.keys.contains_key(*key));
    let families = [Family::Members, Family::Entries, Family::Conditional];
    !looks_around && member.keys.iter().all(agrees) && families.into_iter().all(family_fits)
}

/// The branches of a choice between types: each has one type and nothing that looks at the whole value.
fn typed_branches(schema: &Schema) -> Option<&Vec<Schema>> {
    let Some(Part::Many(branches)) = schema.keys.get("anyOf") else {
        return None;
    };
    let plain = |branch: &Schema| {
        let whole = [
            "$ref", "allOf", "anyOf", "const", "else", "if", "not", "oneOf", "then",
        ];
        branch.is_free()
            && branch.single_type().is_some()
            && whole.iter().all(|key| !branch.keys.contains_key(*key))
    };
    (!schema.keys.contains_key("type") && branches.len() > 1 && branches.iter().all(plain))
        .then_some(branches)
}

/// Moves what constrains one type, and stands beside a choice between types, into the branches of that
/// type: `type: ["array", "null"], items: X` is `anyOf: [{type: "array", items: X}, {type: "null"}]`.
fn distribute_keywords(schema: &mut Schema) {
    let Some(branches) = typed_branches(schema) else {
        return;
    };
    let mut moves: Vec<(String, Vec<usize>)> = Vec::new();
    for (key, part) in &schema.keys {
        let targets = targets(key, branches);
        let taken = |index: &usize| {
            let branch = &branches[*index];
            match family(key) {
                Some(kin) => branch.keys.keys().any(|other| family(other) == Some(kin)),
                None => branch
                    .keys
                    .get(key)
                    .is_some_and(|other| !other.agrees_with(part)),
            }
        };
        if !targets.is_empty() && !targets.iter().any(taken) {
            moves.push((key.clone(), targets));
        }
    }
    for (key, targets) in moves {
        let part = schema.keys.remove(&key);
        if let (Some(part), Some(Part::Many(branches))) = (part, schema.keys.get_mut("anyOf")) {
            for index in targets {
                branches[index].keys.insert(key.clone(), part.clone());
            }
        }
    }
}

fn targets(key: &str, branches: &[Schema]) -> Vec<usize> {
    let of_types = |types: &[&str]| -> Vec<usize> {
        let fits = |branch: &Schema| {
            branch
                .single_type()
                .is_some_and(|name| types.contains(&name))
        };
        (0..branches.len())
            .filter(|index| fits(&branches[*index]))
            .collect()
    };
    match of_types(constrains(key)) {
        // Some writers say `format: int32`, which only numbers can mean.
        none if none.is_empty() && key == "format" => of_types(&["integer", "number"]),
        found => found,
    }
}

/// Splits an `enum` that stands beside a choice between types: each branch takes the values of its type.
/// When a value or a branch would come away empty-handed, the `enum` stays where it is.
fn distribute_enum(schema: &mut Schema) {
    let Some(Part::Data(Json::Array(values))) = schema.keys.get("enum") else {
        return;
    };
    let Some(branches) = typed_branches(schema) else {
        return;
    };
    let share = |branch: &Schema| -> Vec<Json> {
        let own_type = branch.single_type().unwrap_or_default();
        values
            .iter()
            .filter(|value| is_of_type(value, own_type))
            .cloned()
            .collect()
    };
    let shares: Vec<Vec<Json>> = branches.iter().map(share).collect();
    let every_value_fits = values
        .iter()
        .all(|value| shares.iter().any(|share| share.contains(value)));
    let free = branches
        .iter()
        .all(|branch| !branch.keys.contains_key("enum"));
    if !free || !every_value_fits || shares.iter().any(Vec::is_empty) {
        return;
    }
    schema.keys.remove("enum");
    if let Some(Part::Many(branches)) = schema.keys.get_mut("anyOf") {
        for (branch, share) in branches.iter_mut().zip(shares) {
            if share != [Json::Null] {
                branch
                    .keys
                    .insert("enum".to_owned(), Part::Data(Json::Array(share)));
            }
        }
    }
}

fn is_of_type(value: &Json, name: &str) -> bool {
    match value {
        Json::Null => name == "null",
        Json::Bool(_) => name == "boolean",
        Json::Number(text) => name == "number" || (name == "integer" && !text.contains(['.', 'e'])),
        Json::String(_) => name == "string",
        Json::Array(_) => name == "array",
        Json::Object(_) => name == "object",
    }
}
