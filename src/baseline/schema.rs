//! A schema taken apart: contract and texts side by side, so that rearranging one carries the other along.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use super::json::Json;
use super::pointer;

/// The number of a visit to a schema, for the definitions that contain themselves.
pub(super) type Visit = usize;

/// One schema. No keys: everything is allowed, which is also what `true` says.
#[derive(Debug, Clone, Default)]
pub(super) struct Schema {
    /// The contract, by keyword.
    pub(super) keys: BTreeMap<String, Part>,
    /// Digests of the annotations that stood here; two when an annotated definition was inlined.
    pub(super) texts: BTreeMap<&'static str, BTreeSet<String>>,
    /// Not empty when something below refers back to this schema.
    pub(super) labels: Vec<Visit>,
    /// Set when this is nothing but such a reference back.
    pub(super) back: Option<Visit>,
}

/// What stands behind a keyword.
#[derive(Debug, Clone)]
pub(super) enum Part {
    Data(Json),
    One(Schema),
    /// Also for the sets, which are kept sorted.
    Many(Vec<Schema>),
    Map(BTreeMap<String, Part>),
}

/// How references back are compared.
#[derive(Clone, Copy)]
enum Back {
    Named,
    Alike,
}

/// How a reference back is printed.
type Name<'a> = &'a dyn Fn(Visit) -> Json;

impl Schema {
    /// Neither keys nor a reference: allows everything.
    pub(super) fn is_blank(&self) -> bool {
        self.keys.is_empty() && self.back.is_none()
    }

    /// A schema that can be taken apart without changing what anything refers to.
    pub(super) fn is_free(&self) -> bool {
        self.labels.is_empty() && self.back.is_none()
    }

    /// The single `type`, when there is exactly one.
    pub(super) fn single_type(&self) -> Option<&str> {
        match self.keys.get("type")? {
            Part::Data(Json::String(name)) => Some(name),
            _ => None,
        }
    }

    /// Takes over another schema's annotations; equal texts become one.
    pub(super) fn absorb_texts(&mut self, other: &Self) {
        for (keyword, digests) in &other.texts {
            self.texts
                .entry(keyword)
                .or_default()
                .extend(digests.iter().cloned());
        }
    }

    /// Orders by contract; equal only when the contracts are.
    pub(super) fn compare(&self, other: &Self) -> Ordering {
        self.compare_by(other, Back::Named)
    }

    /// Orders by contract, all references back alike first: their numbers depend on the order in which
    /// the schemas were met, which must not decide where a member stands.
    pub(super) fn compare_for_order(&self, other: &Self) -> Ordering {
        self.compare_by(other, Back::Alike)
            .then_with(|| self.compare(other))
    }

    fn compare_by(&self, other: &Self, back: Back) -> Ordering {
        let backs = match back {
            Back::Named => self.back.cmp(&other.back),
            Back::Alike => self.back.is_some().cmp(&other.back.is_some()),
        };
        backs.then_with(|| compare_maps(&self.keys, &other.keys, back))
    }

    /// The contract as JSON.
    pub(super) fn to_json(&self, name: Name<'_>) -> Json {
        if let Some(visit) = self.back {
            return Json::Object(BTreeMap::from([("$ref".to_owned(), name(visit))]));
        }
        match self.keys.get("not") {
            None if self.keys.is_empty() => return Json::Bool(true),
            Some(Part::One(not)) if self.keys.len() == 1 && not.is_blank() => {
                return Json::Bool(false);
            }
            _ => {}
        }
        if let Some(types) = self.bare_union() {
            let mut members = self.members_to_json(name);
            members.remove("anyOf");
            members.insert("type".to_owned(), Json::Array(types));
            return Json::Object(members);
        }
        Json::Object(self.members_to_json(name))
    }

    fn members_to_json(&self, name: Name<'_>) -> BTreeMap<String, Json> {
        self.keys
            .iter()
            .map(|(key, part)| (key.clone(), part.to_json(name)))
            .collect()
    }

    /// The types of an `anyOf` of nothing but types: printed as a type list, which reads better.
    fn bare_union(&self) -> Option<Vec<Json>> {
        let Some(Part::Many(branches)) = self.keys.get("anyOf") else {
            return None;
        };
        if branches.is_empty() || self.keys.contains_key("type") {
            return None;
        }
        branches
            .iter()
            .map(|branch| match branch.single_type() {
                Some(name) if branch.keys.len() == 1 => Some(Json::text(name)),
                _ => None,
            })
            .collect()
    }

    /// Calls `visit` for this schema and every one below it, each with its pointer.
    pub(super) fn walk(&self, at: &str, visit: &mut dyn FnMut(&str, &Self)) {
        visit(at, self);
        for (key, part) in &self.keys {
            part.walk(&pointer::join(at, key), visit);
        }
    }
}

impl Part {
    fn to_json(&self, name: Name<'_>) -> Json {
        match self {
            Self::Data(value) => value.clone(),
            Self::One(schema) => schema.to_json(name),
            Self::Many(schemas) => {
                Json::Array(schemas.iter().map(|schema| schema.to_json(name)).collect())
            }
            Self::Map(parts) => Json::Object(
                parts
                    .iter()
                    .map(|(key, part)| (key.clone(), part.to_json(name)))
                    .collect(),
            ),
        }
    }

    /// Equal only when the contracts are.
    pub(super) fn agrees_with(&self, other: &Self) -> bool {
        self.compare_by(other, Back::Named) == Ordering::Equal
    }

    fn compare_by(&self, other: &Self, back: Back) -> Ordering {
        match (self, other) {
            (Self::Data(a), Self::Data(b)) => a.cmp(b),
            (Self::One(a), Self::One(b)) => a.compare_by(b, back),
            (Self::Many(a), Self::Many(b)) => {
                let pairs = a.iter().zip(b).map(|(a, b)| a.compare_by(b, back));
                first_difference(pairs).then(a.len().cmp(&b.len()))
            }
            (Self::Map(a), Self::Map(b)) => compare_maps(a, b, back),
            _ => self.rank().cmp(&other.rank()),
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Data(_) => 0,
            Self::One(_) => 1,
            Self::Many(_) => 2,
            Self::Map(_) => 3,
        }
    }

    fn walk(&self, at: &str, visit: &mut dyn FnMut(&str, &Schema)) {
        match self {
            Self::Data(_) => {}
            Self::One(schema) => schema.walk(at, visit),
            Self::Many(schemas) => {
                for (index, schema) in schemas.iter().enumerate() {
                    schema.walk(&pointer::join(at, &index.to_string()), visit);
                }
            }
            Self::Map(parts) => {
                for (name, part) in parts {
                    part.walk(&pointer::join(at, name), visit);
                }
            }
        }
    }
}

fn compare_maps(a: &BTreeMap<String, Part>, b: &BTreeMap<String, Part>, back: Back) -> Ordering {
    let pairs = a
        .iter()
        .zip(b)
        .map(|((a_key, a), (b_key, b))| a_key.cmp(b_key).then_with(|| a.compare_by(b, back)));
    first_difference(pairs).then(a.len().cmp(&b.len()))
}

fn first_difference(mut pairs: impl Iterator<Item = Ordering>) -> Ordering {
    pairs.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}
