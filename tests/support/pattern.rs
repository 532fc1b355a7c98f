//! Patterns of the case format: plain JSON is compared exactly, `{"$operator": …}` looks looser.

use serde_json::{Map, Value};

/// Whether `value` fits `pattern`.
///
/// # Errors
/// Where it does not, and what stands there instead.
pub(crate) fn check(pattern: &Value, value: &Value, place: &str) -> Result<(), String> {
    match pattern {
        Value::Object(fields) => match operator(fields) {
            Some((name, operand)) => operate(name, operand, value, place),
            None => check_object(fields, value, place),
        },
        Value::Array(items) => {
            let found = value.as_array().filter(|found| found.len() == items.len());
            let found =
                found.ok_or_else(|| differs(place, &format!("{} items", items.len()), value))?;
            let mut pairs = items.iter().zip(found).enumerate();
            pairs.try_for_each(|(at, (item, found))| check(item, found, &format!("{place}[{at}]")))
        }
        _ if pattern == value => Ok(()),
        _ => Err(differs(place, &pattern.to_string(), value)),
    }
}

/// Whether `text` holds a fact; `a|b` means either spelling. Case does not count.
pub(crate) fn says(text: &str, fact: &str) -> bool {
    let text = text.to_lowercase();
    fact.split('|')
        .any(|part| text.contains(&part.to_lowercase()))
}

fn operator(fields: &Map<String, Value>) -> Option<(&str, &Value)> {
    let (name, operand) = fields.iter().next().filter(|_| fields.len() == 1)?;
    Some((name.strip_prefix('$')?, operand))
}

fn check_object(fields: &Map<String, Value>, value: &Value, place: &str) -> Result<(), String> {
    let same = |found: &&Map<String, Value>| {
        found.len() == fields.len() && fields.keys().all(|key| found.contains_key(key))
    };
    let found = value.as_object().filter(same).ok_or_else(|| {
        let keys: Vec<_> = fields.keys().collect();
        differs(place, &format!("the keys {keys:?}"), value)
    })?;
    fields
        .iter()
        .try_for_each(|(key, pattern)| check(pattern, &found[key], &format!("{place}.{key}")))
}

fn operate(name: &str, operand: &Value, value: &Value, place: &str) -> Result<(), String> {
    let text = value.as_str();
    match name {
        "any" => Ok(()),
        "contains" => parts(operand)?.into_iter().try_for_each(|part| {
            let holds = text.is_some_and(|text| text.contains(part));
            held(holds, || {
                differs(place, &format!("a text with {part:?}"), value)
            })
        }),
        "lacks" => parts(operand)?.into_iter().try_for_each(|part| {
            let holds = text.is_some_and(|text| text.contains(part));
            held(!holds, || differs(place, &format!("no {part:?}"), value))
        }),
        "starts" => parts(operand)?.into_iter().try_for_each(|part| {
            let starts = text.is_some_and(|text| text.starts_with(part));
            held(starts, || {
                differs(place, &format!("a text that starts with {part:?}"), value)
            })
        }),
        "all" => {
            let patterns = operand.as_array().ok_or("$all wants a list")?;
            patterns
                .iter()
                .try_for_each(|pattern| check(pattern, value, place))
        }
        "partial" => check_partial(operand, value, place),
        "json" => {
            let inner = text.and_then(|text| serde_json::from_str(text).ok());
            let inner: Value = inner.ok_or_else(|| differs(place, "a text with JSON", value))?;
            check(operand, &inner, &format!("{place}(json)"))
        }
        "regex" => Err("$regex is not known here: use $starts, $contains or $lacks".to_owned()),
        other => Err(format!("there is no operator ${other}")),
    }
}

fn check_partial(operand: &Value, value: &Value, place: &str) -> Result<(), String> {
    let fields = operand.as_object().ok_or("$partial wants an object")?;
    let found = value
        .as_object()
        .ok_or_else(|| differs(place, "an object", value))?;
    for (key, pattern) in fields {
        let place = format!("{place}.{key}");
        let absent = operator_is(pattern, "absent");
        match found.get(key) {
            None if absent => {}
            None => return Err(differs(&place, "a value", &Value::from("nothing"))),
            Some(value) if absent => return Err(differs(&place, "nothing", value)),
            Some(value) => check(pattern, value, &place)?,
        }
    }
    Ok(())
}

fn operator_is(pattern: &Value, wanted: &str) -> bool {
    let name = pattern.as_object().and_then(operator).map(|(name, _)| name);
    name == Some(wanted)
}

fn parts(operand: &Value) -> Result<Vec<&str>, String> {
    let one = std::slice::from_ref(operand);
    let list = operand.as_array().map_or(one, Vec::as_slice);
    let texts = list.iter().map(Value::as_str).collect::<Option<_>>();
    texts.ok_or_else(|| format!("an operator wants a text or a list of texts, not {operand}"))
}

fn held(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise()) }
}

fn differs(place: &str, wanted: &str, value: &Value) -> String {
    format!(
        "{place}: wanted {wanted}, got {}",
        super::clip(&value.to_string())
    )
}
