//! The contract of a tool: what its `inputSchema` accepts, without the words.

use std::collections::{BTreeMap, BTreeSet};

use sha1::{Digest, Sha1};

use super::json::{Json, MAX_DEPTH};
use super::keywords::{ANNOTATIONS, Holds, holds};
use super::schema::{Part, Schema, Visit};
use super::{pointer, spelling};

/// How much one contract may weigh after its references are inlined (see [`Json::weight`]). The largest
/// of 10.1.0 weighs about a twentieth; a chain of definitions can double with every link.
const MAX_WEIGHT: usize = 50_000;

/// Hex digits kept of a text's SHA-1: enough to tell a reworded text, short enough to review.
const DIGEST_DIGITS: usize = 12;

/// Why a schema cannot be compared.
#[derive(Debug, thiserror::Error)]
pub enum Unreadable {
    /// No JSON at all, or a string that is no Unicode.
    #[error("not JSON: {0}")]
    NotJson(#[from] serde_json::Error),
    /// Deeper than 64 levels, as written or once its references are followed.
    #[error("nested deeper than {MAX_DEPTH} levels")]
    TooDeep,
    /// Too large once its references are followed.
    #[error("too large once its references are followed")]
    TooLarge,
    /// An input schema is an object.
    #[error("not an object")]
    NotAnObject,
}

/// What a tool accepts, in the one spelling that contracts are compared in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contract {
    /// The schema without annotations; still a schema, and readable as one.
    pub schema: Json,
    /// Digests of the annotations, by their place in `schema`: `properties/action/description`.
    pub texts: BTreeMap<String, String>,
}

impl Contract {
    /// Reads the raw JSON of an `inputSchema`.
    ///
    /// # Errors
    /// When the schema cannot be compared: no JSON object, too deep, too large.
    pub fn read(input_schema: &str) -> Result<Self, Unreadable> {
        let root = Json::read(input_schema)?;
        if root.as_object().is_none() {
            return Err(Unreadable::NotAnObject);
        }
        let mut reader = Reader::new(&root, Definitions::Inlined);
        let mut schema = reader.schema(&root, 0)?;
        if reader.unresolved {
            // What such a reference means may stand in the definitions: then all of them count.
            schema = Reader::new(&root, Definitions::Kept).schema(&root, 0)?;
        }
        let contract = Self::of(&schema);
        if contract.schema.depth() > MAX_DEPTH {
            Err(Unreadable::TooDeep)
        } else {
            Ok(contract)
        }
    }

    fn of(schema: &Schema) -> Self {
        let mut texts = BTreeMap::new();
        let mut places: BTreeMap<Visit, String> = BTreeMap::new();
        schema.walk("", &mut |at, schema| {
            for (keyword, digests) in &schema.texts {
                let digests: Vec<&str> = digests.iter().map(String::as_str).collect();
                texts.insert(pointer::join(at, keyword), digests.join("+"));
            }
            places.extend(schema.labels.iter().map(|visit| (*visit, at.to_owned())));
        });
        let back = |visit| {
            let place = places.get(&visit).map_or("", String::as_str);
            Json::text(if place.is_empty() {
                "#".to_owned()
            } else {
                format!("#/{place}")
            })
        };
        Self {
            schema: schema.to_json(&back),
            texts,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Definitions {
    /// Every reference into the document is followed, what nothing refers to does not count.
    Inlined,
    /// Something refers to what cannot be found by its place.
    Kept,
}

struct Reader<'a> {
    root: &'a Json,
    definitions: Definitions,
    unresolved: bool,
    weight: usize,
    /// The schemas being read, outermost first: a reference to one of them is a recursion.
    open: Vec<(&'a Json, Visit)>,
    visits: Visit,
    /// The visits that something refers back to.
    recursive: BTreeSet<Visit>,
}

impl<'a> Reader<'a> {
    fn new(root: &'a Json, definitions: Definitions) -> Self {
        Self {
            root,
            definitions,
            unresolved: false,
            weight: 0,
            open: Vec::new(),
            visits: 0,
            recursive: BTreeSet::new(),
        }
    }

    fn charge(&mut self, weight: usize) -> Result<(), Unreadable> {
        self.weight = self.weight.saturating_add(weight);
        if self.weight > MAX_WEIGHT {
            Err(Unreadable::TooLarge)
        } else {
            Ok(())
        }
    }

    /// `value` is a schema: a boolean or an object.
    fn schema(&mut self, value: &'a Json, depth: usize) -> Result<Schema, Unreadable> {
        if depth > MAX_DEPTH {
            return Err(Unreadable::TooDeep);
        }
        self.charge(1)?;
        let mut schema = Schema::default();
        let Json::Object(members) = value else {
            if *value == Json::Bool(false) {
                schema
                    .keys
                    .insert("not".to_owned(), Part::One(Schema::default()));
            }
            return Ok(schema);
        };
        let visit = self.visits;
        self.visits += 1;
        self.open.push((value, visit));
        let mut referred = Vec::new();
        for (key, value) in members {
            self.keyword(key, value, depth, &mut schema, &mut referred)?;
        }
        self.open.pop();
        if !referred.is_empty() {
            // Keywords beside a `$ref` hold as well as what it names: that is what `allOf` says.
            match schema
                .keys
                .entry("allOf".to_owned())
                .or_insert_with(|| Part::Many(Vec::new()))
            {
                Part::Many(all) => all.append(&mut referred),
                _ => drop(schema.keys.insert("$ref".to_owned(), Part::Many(referred))),
            }
        }
        spelling::settle(&mut schema);
        if self.recursive.contains(&visit) {
            schema.labels.push(visit);
        }
        Ok(schema)
    }

    fn keyword(
        &mut self,
        key: &'a str,
        value: &'a Json,
        depth: usize,
        schema: &mut Schema,
        referred: &mut Vec<Schema>,
    ) -> Result<(), Unreadable> {
        self.charge(1 + key.len() / 16)?;
        if key == "$ref"
            && let Some(target) = self.referenced(value, depth)?
        {
            referred.push(target);
            return Ok(());
        }
        if matches!(key, "$ref" | "$dynamicRef" | "$recursiveRef") {
            self.unresolved = true;
        }
        if let Some(annotation) = ANNOTATIONS.iter().find(|annotation| **annotation == key) {
            self.charge(value.weight())?;
            schema
                .texts
                .entry(annotation)
                .or_default()
                .insert(digest(value));
        } else if let Some(part) = self.part(key, value, depth)? {
            schema.keys.insert(key.to_owned(), part);
        }
        Ok(())
    }

    /// What a `$ref` names; `None` when it does not name a schema in this document by its place.
    fn referenced(
        &mut self,
        reference: &'a Json,
        depth: usize,
    ) -> Result<Option<Schema>, Unreadable> {
        let Some(tokens) = reference.as_str().and_then(pointer::local_reference) else {
            return Ok(None);
        };
        let Some(target) = tokens
            .iter()
            .try_fold(self.root, |at, token| at.step(token))
        else {
            return Ok(None);
        };
        if !is_schema(target) {
            return Ok(None);
        }
        if let Some(&(_, visit)) = self
            .open
            .iter()
            .find(|(open, _)| std::ptr::eq(*open, target))
        {
            self.recursive.insert(visit);
            return Ok(Some(Schema {
                back: Some(visit),
                ..Schema::default()
            }));
        }
        self.schema(target, depth + 1).map(Some)
    }

    /// The value of a keyword that is no annotation; `None` when it says nothing.
    fn part(
        &mut self,
        key: &str,
        value: &'a Json,
        depth: usize,
    ) -> Result<Option<Part>, Unreadable> {
        Ok(match (holds(key), value) {
            (Holds::Schema | Holds::SchemaOrTuple, _) if is_schema(value) => {
                Some(Part::One(self.schema(value, depth + 1)?))
            }
            (Holds::Tuple | Holds::SchemaSet | Holds::SchemaOrTuple, Json::Array(all))
                if all.iter().all(is_schema) =>
            {
                Some(Part::Many(
                    all.iter()
                        .map(|each| self.schema(each, depth + 1))
                        .collect::<Result<_, _>>()?,
                ))
            }
            (Holds::Definitions, _) if self.definitions == Definitions::Inlined => None,
            (
                Holds::SchemaMap | Holds::Definitions | Holds::Dependencies,
                Json::Object(members),
            ) => {
                let mut parts = BTreeMap::new();
                for (name, member) in members {
                    parts.insert(name.clone(), self.member(member, depth)?);
                }
                (!parts.is_empty()).then_some(Part::Map(parts))
            }
            (Holds::ValueSet, _) => match self.value_set(value)? {
                Json::Array(none) if none.is_empty() && key == "required" => None,
                Json::Array(mut one) if one.len() == 1 && key == "type" => {
                    one.pop().map(Part::Data)
                }
                set => Some(Part::Data(set)),
            },
            _ => Some(Part::Data(self.data(value)?)),
        })
    }

    /// A member of `properties` and the like; a list in their place is a set of names.
    fn member(&mut self, value: &'a Json, depth: usize) -> Result<Part, Unreadable> {
        Ok(if is_schema(value) {
            Part::One(self.schema(value, depth + 1)?)
        } else {
            Part::Data(self.value_set(value)?)
        })
    }

    fn value_set(&mut self, value: &Json) -> Result<Json, Unreadable> {
        let mut value = self.data(value)?;
        if let Json::Array(values) = &mut value {
            values.sort();
            values.dedup();
        }
        Ok(value)
    }

    fn data(&mut self, value: &Json) -> Result<Json, Unreadable> {
        self.charge(value.weight())?;
        Ok(value.clone())
    }
}

fn is_schema(value: &Json) -> bool {
    matches!(value, Json::Object(_) | Json::Bool(_))
}

pub(super) fn digest(text: &Json) -> String {
    let hash = match text {
        Json::String(text) => Sha1::digest(text),
        other => Sha1::digest(other.to_string()),
    };
    let mut digest = hex::encode(hash);
    digest.truncate(DIGEST_DIGITS);
    digest
}
