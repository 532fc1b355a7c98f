//! Writes a contract in another spelling: what the rules have to see through.

use std::collections::BTreeMap;

use crate::baseline::json::{Json, quoted};
use crate::baseline::keywords::{Holds, holds};

/// A source of choices.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }

    fn pick(&mut self, length: usize) -> usize {
        usize::try_from(self.roll(u64::try_from(length).unwrap())).unwrap()
    }

    fn shuffle<T>(&mut self, list: &mut [T]) {
        for index in (1..list.len()).rev() {
            let other = self.pick(index + 1);
            list.swap(index, other);
        }
    }
}

/// Prints with the keys of every object in any order.
fn print(value: &Json, dice: &mut Dice) -> String {
    match value {
        Json::Object(members) => {
            let mut members: Vec<String> = members
                .iter()
                .map(|(key, value)| format!("{}:{}", quoted(key), print(value, dice)))
                .collect();
            dice.shuffle(&mut members);
            format!("{{{}}}", members.join(" , "))
        }
        Json::Array(entries) => {
            let entries: Vec<String> = entries.iter().map(|entry| print(entry, dice)).collect();
            format!("[{}]", entries.join(","))
        }
        Json::Number(text) if dice.roll(2) == 0 => format!("{text}.0"),
        other => other.to_string(),
    }
}

/// Writes the same contract differently: sets in another order, with words, by reference, in other spellings.
pub(super) struct Writer {
    dice: Dice,
    definitions: BTreeMap<String, Json>,
}

impl Writer {
    pub(super) fn root(seed: u64, schema: &Json) -> String {
        let mut writer = Self {
            dice: Dice(seed),
            definitions: BTreeMap::new(),
        };
        let Json::Object(mut members) = writer.schema(schema) else {
            panic!("no object")
        };
        members.insert("$defs".to_owned(), Json::Object(writer.definitions));
        print(&Json::Object(members), &mut writer.dice)
    }

    fn schema(&mut self, schema: &Json) -> Json {
        let mut members = match schema {
            Json::Object(members) => members
                .iter()
                .map(|(key, value)| (key.clone(), self.keyword(key, value)))
                .collect(),
            Json::Bool(true) => BTreeMap::new(),
            other => return other.clone(),
        };
        self.respell(&mut members);
        if self.dice.roll(3) == 0 {
            members.insert("title".to_owned(), Json::text("words"));
        }
        match self.dice.roll(6) {
            0 => {
                let name = format!("D/{}", self.definitions.len());
                let reference = format!("#/$defs/{}", name.replace('/', "~1"));
                // Beside the reference or in the definition, that makes no difference to a default, unless
                // there is another in a combination: which of the two is meant then hangs on the place.
                let combined = ["allOf", "anyOf", "oneOf"]
                    .iter()
                    .any(|key| members.contains_key(*key));
                let default = if combined {
                    None
                } else {
                    members.remove("default")
                };
                self.definitions.insert(name, Json::Object(members));
                let mut members = BTreeMap::from([("$ref".to_owned(), Json::String(reference))]);
                members.extend(default.map(|default| ("default".to_owned(), default)));
                Json::Object(members)
            }
            1 => object(vec![("allOf", Json::Array(vec![Json::Object(members)]))]),
            _ => Json::Object(members),
        }
    }

    fn keyword(&mut self, key: &str, value: &Json) -> Json {
        match (holds(key), value) {
            (Holds::SchemaMap, Json::Object(members)) => Json::Object(
                members
                    .iter()
                    .map(|(name, member)| (name.clone(), self.schema(member)))
                    .collect(),
            ),
            (Holds::SchemaSet, Json::Array(members)) => {
                let mut members: Vec<Json> =
                    members.iter().map(|member| self.schema(member)).collect();
                self.dice.shuffle(&mut members);
                if key != "oneOf" && members.len() > 2 && self.dice.roll(2) == 0 {
                    let inner = members.split_off(1);
                    members.push(object(vec![(key, Json::Array(inner))]));
                }
                Json::Array(members)
            }
            (Holds::ValueSet, Json::Array(values)) => {
                let mut values = values.clone();
                self.dice.shuffle(&mut values);
                Json::Array(values)
            }
            (Holds::Schema | Holds::SchemaOrTuple, _) => self.schema(value),
            _ => value.clone(),
        }
    }

    fn respell(&mut self, members: &mut BTreeMap<String, Json>) {
        if let Some(Json::Array(types)) = members.get("type").cloned()
            && !members.contains_key("anyOf")
            && self.dice.roll(2) == 0
        {
            members.remove("type");
            let branches = types
                .into_iter()
                .map(|name| object(vec![("type", name)]))
                .collect();
            members.insert("anyOf".to_owned(), Json::Array(branches));
        } else if let Some(name @ Json::String(_)) = members.get("type").cloned()
            && self.dice.roll(2) == 0
        {
            members.insert("type".to_owned(), Json::Array(vec![name]));
        }
        if let Some(Json::Array(values)) = members.get("enum").cloned()
            && let [only] = values.as_slice()
            && self.dice.roll(2) == 0
        {
            members.remove("enum");
            members.insert("const".to_owned(), only.clone());
        }
    }
}

/// An object of these members.
pub(super) fn object(members: Vec<(&str, Json)>) -> Json {
    Json::Object(
        members
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value))
            .collect(),
    )
}
