//! What holds for every schema: another spelling never drifts, another contract always does.

use proptest::prelude::*;

use super::read;
use super::writer::{Writer, object};
use crate::baseline::diff::differences;
use crate::baseline::json::Json;
use crate::baseline::{Baseline, Comparison};

/// `share`: tests that try every place of a schema take fewer schemas. `PROPTEST_CASES` scales them all.
fn config(share: u32) -> ProptestConfig {
    let config = ProptestConfig::default();
    ProptestConfig {
        cases: config.cases / share,
        failure_persistence: None,
        ..config
    }
}

fn number(value: u8) -> Json {
    Json::Number(value.to_string())
}

/// Names that are keywords elsewhere are the interesting ones.
fn name() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "action",
        "title",
        "description",
        "enum",
        "$ref",
        "a/b",
        "päth",
    ])
    .prop_map(str::to_owned)
}

fn data() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::Bool),
        any::<u8>().prop_map(number),
        name().prop_map(Json::String),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Json::Array),
            prop::collection::btree_map(name(), inner, 0..3).prop_map(Json::Object),
        ]
    })
}

fn type_name() -> impl Strategy<Value = Json> {
    prop::sample::select(vec![
        "string", "integer", "null", "array", "object", "boolean",
    ])
    .prop_map(Json::text)
}

fn leaf_schema() -> impl Strategy<Value = Json> {
    let set = |of: BoxedStrategy<Json>, size| {
        prop::collection::btree_set(of, size).prop_map(|set| Json::Array(set.into_iter().collect()))
    };
    prop_oneof![
        any::<bool>().prop_map(Json::Bool),
        type_name().prop_map(|name| object(vec![("type", name)])),
        (type_name(), data())
            .prop_map(|(name, default)| object(vec![("type", name), ("default", default)])),
        set(data().boxed(), 1..4).prop_map(|values| object(vec![("enum", values)])),
        (set(type_name().boxed(), 2..4), any::<u8>(), data()).prop_map(
            |(types, limit, default)| object(vec![
                ("type", types),
                ("maxLength", number(limit)),
                ("default", default),
            ])
        ),
        (set(type_name().boxed(), 2..4), set(data().boxed(), 1..4))
            .prop_map(|(types, values)| object(vec![("type", types), ("enum", values)])),
    ]
}

fn schema() -> impl Strategy<Value = Json> {
    leaf_schema().prop_recursive(3, 24, 3, |inner| {
        let set = prop::collection::btree_set(inner.clone(), 2..4)
            .prop_map(|set| Json::Array(set.into_iter().collect::<Vec<_>>()));
        let required = prop::collection::btree_set(name(), 1..3)
            .prop_map(|names| Json::Array(names.into_iter().map(Json::String).collect()));
        let combination = prop::sample::select(vec!["anyOf", "allOf", "oneOf"]);
        prop_oneof![
            (
                prop::collection::btree_map(name(), inner.clone(), 1..4),
                required,
                inner.clone()
            )
                .prop_map(|(properties, required, rest)| object(vec![
                    ("type", Json::text("object")),
                    ("properties", Json::Object(properties)),
                    ("required", required),
                    ("additionalProperties", rest),
                ])),
            (combination, set, any::<u8>()).prop_map(|(key, set, limit)| object(vec![
                (key, set),
                ("maxItems", number(limit)),
                ("default", Json::Null),
            ])),
            inner
                .clone()
                .prop_map(|items| object(vec![("type", Json::text("array")), ("items", items)])),
            inner.prop_map(|not| object(vec![("not", not)])),
        ]
    })
}

/// An input schema that is sure to be an object.
fn root() -> impl Strategy<Value = Json> {
    schema().prop_map(|schema| {
        object(vec![
            ("type", Json::text("object")),
            ("additionalProperties", schema),
        ])
    })
}

/// Everything that can be changed: the scalars, and for removal the entries of arrays and objects.
fn places(value: &Json, at: &[usize], leaves: &mut Vec<Vec<usize>>, entries: &mut Vec<Vec<usize>>) {
    let children: Vec<&Json> = match value {
        Json::Array(children) => children.iter().collect(),
        Json::Object(members) => members.values().collect(),
        _ => return leaves.push(at.to_vec()),
    };
    for (index, child) in children.into_iter().enumerate() {
        let at = [at, &[index]].concat();
        places(child, &at, leaves, entries);
        entries.push(at);
    }
}

/// The value with the one at `at` replaced, or removed when the change gives nothing.
fn changed(value: &Json, at: &[usize], change: &dyn Fn(&Json) -> Option<Json>) -> Option<Json> {
    let Some((first, rest)) = at.split_first() else {
        return change(value);
    };
    Some(match value {
        Json::Array(entries) => {
            let each = |(index, entry): (usize, &Json)| {
                if index == *first {
                    changed(entry, rest, change)
                } else {
                    Some(entry.clone())
                }
            };
            Json::Array(entries.iter().enumerate().filter_map(each).collect())
        }
        Json::Object(members) => {
            let each = |(index, (key, value)): (usize, (&String, &Json))| {
                let value = if index == *first {
                    changed(value, rest, change)
                } else {
                    Some(value.clone())
                };
                value.map(|value| (key.clone(), value))
            };
            Json::Object(members.iter().enumerate().filter_map(each).collect())
        }
        other => other.clone(),
    })
}

fn other_scalar(value: &Json) -> Option<Json> {
    Some(match value {
        Json::Null => Json::text("null"),
        Json::Bool(value) => Json::Bool(!value),
        Json::Number(text) => Json::Number((text.parse::<i64>().unwrap() + 1).to_string()),
        Json::String(text) => Json::String(format!("{text}~")),
        other => panic!("{other} is no scalar"),
    })
}

fn drifts(old: &Json, new: &Json) -> bool {
    let baseline = super::taken("1", &[("tool", Some(old.to_string().as_str()))]).unwrap();
    match baseline.compare("tool", Some(&new.to_string())) {
        Comparison::Drift { contract, .. } => {
            assert!(!contract.is_empty());
            true
        }
        _ => false,
    }
}

proptest! {
    #![proptest_config(config(1))]

    #[test]
    fn another_spelling_is_the_same_contract(schema in root(), seed: u64) {
        let spelled = Writer::root(seed, &schema);
        prop_assert_eq!(read(&schema.to_string()).schema, read(&spelled).schema, "{}\n{}", schema, spelled);
    }

    #[test]
    fn the_canonical_spelling_is_its_own(schema in root()) {
        let contract = read(&schema.to_string()).schema;
        prop_assert_eq!(&read(&contract.to_string()).schema, &contract);
    }

    #[test]
    fn there_is_a_difference_to_name_exactly_when_contracts_differ(a in root(), b in root()) {
        prop_assert_eq!(differences(&a, &b).is_empty(), a == b);
        prop_assert!(differences(&a, &a).is_empty());
    }

    #[test]
    fn any_baseline_reads_back(schema in root(), seed: u64) {
        let spelled = Writer::root(seed, &schema);
        let baseline = super::taken("1", &[("tool", Some(spelled.as_str()))]).unwrap();
        prop_assert_eq!(Baseline::parse(&baseline.to_json()).unwrap(), baseline);
    }
}

proptest! {
    #![proptest_config(config(8))]

    #[test]
    fn every_change_of_a_leaf_is_drift(schema in root()) {
        let contract = read(&schema.to_string()).schema;
        let (mut leaves, mut entries) = (Vec::new(), Vec::new());
        places(&contract, &[], &mut leaves, &mut entries);
        for at in leaves {
            let other = changed(&contract, &at, &other_scalar).unwrap();
            prop_assert!(drifts(&contract, &other), "{}\n{}", contract, other);
        }
    }

    #[test]
    fn every_loss_is_drift_and_every_gain_too(schema in root()) {
        let contract = read(&schema.to_string()).schema;
        let (mut leaves, mut entries) = (Vec::new(), Vec::new());
        places(&contract, &[], &mut leaves, &mut entries);
        for at in entries {
            let other = changed(&contract, &at, &|_| None).unwrap();
            prop_assert!(drifts(&contract, &other), "{}\n{}", contract, other);
            prop_assert!(drifts(&other, &contract), "{}\n{}", other, contract);
        }
    }
}
