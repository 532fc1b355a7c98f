//! Comparing a listing with a baseline, and what is said about it.

use crate::baseline::json::is_unprintable;
use crate::baseline::{
    Baseline, BaselineError, CaptureError, Comparison, Difference, MAX_LISTED, ToolChange,
    Unreadable, committed, diff, listed,
};

const SCHEMA: &str = r#"{"type":"object","properties":{
    "action":{"type":"string","enum":["a","b"],"description":"What to do."},
    "count":{"anyOf":[{"type":"integer"},{"type":"null"}],"default":null},
    "points":{"anyOf":[{"type":"array","items":{"type":"number"}},{"type":"null"}]}
},"required":["action"],"additionalProperties":false}"#;

fn baseline() -> Baseline {
    super::taken("1.0", &[("tool", Some(SCHEMA)), ("other", Some("{}"))]).unwrap()
}

/// The schema with one part replaced.
#[track_caller]
fn with(part: &str, replacement: &str) -> String {
    assert!(SCHEMA.contains(part), "{part}");
    SCHEMA.replacen(part, replacement, 1)
}

#[track_caller]
fn drift(schema: &str) -> (Vec<String>, Vec<String>) {
    match baseline().compare("tool", Some(schema)) {
        Comparison::Drift { contract, wording } => (
            contract.iter().map(Difference::to_string).collect(),
            wording,
        ),
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_equal_tool_is_the_same_and_a_strange_one_unknown() {
    assert_eq!(baseline().compare("tool", Some(SCHEMA)), Comparison::Same);
    assert_eq!(
        baseline().compare("Tool", Some(SCHEMA)),
        Comparison::Unknown
    );
    assert_eq!(baseline().compare("stranger", None), Comparison::Unknown);
}

#[test]
fn another_wording_is_no_drift() {
    let at = |pointer: &str| Comparison::Wording(vec![pointer.to_owned()]);
    let compare = |schema: &str| baseline().compare("tool", Some(schema));
    assert_eq!(
        compare(&with("What to do.", "Pick one.")),
        at("properties/action/description")
    );
    assert_eq!(
        compare(&with(r#","description":"What to do.""#, "")),
        at("properties/action/description")
    );
    assert_eq!(
        compare(&with(
            r#""default":null"#,
            r#""default":null,"title":"Count""#
        )),
        at("properties/count/title")
    );
    assert_eq!(
        compare(&with(
            r#"{"type":"object","#,
            r#"{"type":"object","title":"T","#
        )),
        at("title")
    );
}

/// A part of the schema, what replaces it, and what is said of that.
const CHANGES: [(&str, &str, &str); 11] = [
    (
        r#"["a","b"]"#,
        r#"["b","wipe","a"]"#,
        r#"properties/action/enum: ["a", "b"] → ["a", "b", "wipe"]"#,
    ),
    (
        r#"["a","b"]"#,
        r#"["a"]"#,
        r#"properties/action/enum: ["a", "b"] → ["a"]"#,
    ),
    (
        r#""type":"string","enum""#,
        r#""type":["string","null"],"enum""#,
        r#"properties/action/type: "string" → ["null", "string"]"#,
    ),
    (
        r#""default":null"#,
        r#""default":5"#,
        "properties/count/default: null → 5",
    ),
    (
        r#","default":null"#,
        "",
        "properties/count/default: null → absent",
    ),
    (
        r#"{"type":"integer"},"#,
        r#"{"type":"integer"},{"type":"string"},"#,
        r#"properties/count/type: ["integer", "null"] → ["integer", "null", "string"]"#,
    ),
    (
        r#"{"type":"number"}"#,
        r#"{"type":"string"}"#,
        r#"properties/points/anyOf/0/items/type: "number" → "string""#,
    ),
    (
        r#"["action"]"#,
        r#"["action","count"]"#,
        r#"required: ["action"] → ["action", "count"]"#,
    ),
    (
        r#""additionalProperties":false"#,
        r#""additionalProperties":true"#,
        "additionalProperties: false → true",
    ),
    (
        r#""count":"#,
        r#""new/one":true,"count":"#,
        "properties/new~1one: absent → true",
    ),
    (
        r#""points":{"anyOf":[{"type":"array","items":{"type":"number"}},{"type":"null"}]}"#,
        r#""points":true"#,
        r#"properties/points: {"anyOf": [{"items": {"type": "number"}, "type": "array"}, {"type": "null"}]} → true"#,
    ),
];

#[test]
fn drift_says_where_and_from_what_to_what() {
    for (part, replacement, said) in CHANGES {
        let (contract, wording) = drift(&with(part, replacement));
        assert!(
            contract.contains(&said.to_owned()),
            "{contract:?} lacks {said}"
        );
        assert_eq!(wording.len(), 0);
    }
}

#[test]
fn a_drifted_tool_may_be_reworded_too() {
    let (contract, wording) = drift(&with(
        r#"["a","b"],"description":"What to do.""#,
        r#"["a"],"description":"Do.""#,
    ));
    assert_eq!(contract.len(), 1);
    assert_eq!(wording, ["properties/action/description"]);
}

#[test]
fn a_schema_that_cannot_be_compared_is_drift() {
    let said = |schema: Option<&str>| match baseline().compare("tool", schema) {
        Comparison::Drift { contract, .. } => listed(&contract),
        other => panic!("{other:?}"),
    };
    assert_eq!(said(None), "inputSchema: a schema → missing");
    assert_eq!(said(Some("null")), "inputSchema: a schema → not an object");
    assert_eq!(
        said(Some(&"[".repeat(5_000))),
        "inputSchema: a schema → nested deeper than 64 levels"
    );
    assert!(said(Some("{\"a\":")).starts_with("inputSchema: a schema → not JSON: "));
    let doubled: Vec<String> = (0..25)
        .map(|n| {
            format!(
                r##""d{n}":{{"items":{{"$ref":"#/$defs/d{0}"}},"not":{{"$ref":"#/$defs/d{0}"}}}}"##,
                n + 1
            )
        })
        .collect();
    let schema = format!(
        r##"{{"$ref":"#/$defs/d0","$defs":{{{},"d25":true}}}}"##,
        doubled.join(",")
    );
    assert_eq!(
        said(Some(&schema)),
        "inputSchema: a schema → too large once its references are followed"
    );
}

#[test]
fn what_is_said_stays_short_and_on_one_line() {
    let long = "x".repeat(3_000);
    let (contract, _) = drift(&with(
        r#""default":null"#,
        &format!(r#""default":"{long}""#),
    ));
    assert!(contract[0].chars().count() < 130, "{}", contract[0]);
    // The difference itself is never what is cut away.
    let defaults = |tail: &str| format!(r#"{{"default":"{long}{tail}{long}"}}"#);
    let known = super::taken("1.0", &[("tool", Some(defaults("old").as_str()))]).unwrap();
    let Comparison::Drift { contract, .. } = known.compare("tool", Some(&defaults("new"))) else {
        panic!("no drift")
    };
    let said = contract[0].to_string();
    assert!(
        said.contains("xoldx") && said.contains("xnewx") && said.chars().count() < 220,
        "{said}"
    );

    let hostile = format!(r#""default":null}},"a\n\u202e\u2028{long}":{{"default":"b\n\u0007""#);
    let (contract, _) = drift(&with(r#""default":null"#, &hostile));
    let said = listed(&contract);
    assert!(
        said.chars().all(|c| !is_unprintable(c)) && said.chars().count() < 300,
        "{said}"
    );
    assert!(
        said.contains("properties/a\\u000a\\u202e\\u2028x"),
        "{said}"
    );

    let reworded = with(
        r#""default":null"#,
        r#""default":null},"a\nb":{"title":"t""#,
    );
    let Comparison::Drift { wording, .. } = baseline().compare("tool", Some(&reworded)) else {
        panic!("no drift")
    };
    assert_eq!(wording, ["properties/a\\u000ab/title"]);
}

#[test]
fn of_a_long_list_only_what_came_and_went_is_said() {
    let values: Vec<String> = (0..40).map(|n| format!(r#""value_{n}""#)).collect();
    let schema = |values: &[String]| format!(r#"{{"enum":[{}]}}"#, values.join(","));
    let known = super::taken("1.0", &[("tool", Some(schema(&values).as_str()))]).unwrap();
    let said = |values: &[String]| match known.compare("tool", Some(&schema(values))) {
        Comparison::Drift { contract, .. } => contract[0].to_string(),
        other => panic!("{other:?}"),
    };
    let mut more = values;
    more[0] = r#""wipe""#.to_owned();
    assert_eq!(
        said(&more),
        r#"enum: 40 entries → 40 entries (added "wipe"; removed "value_0")"#
    );
    more.truncate(1);
    let said = said(&more);
    assert!(
        said.starts_with(r#"enum: 40 entries → 1 entries (added "wipe"; removed "value_0"; "#),
        "{said}"
    );
    assert!(said.ends_with("and 32 more)"), "{said}");
}

#[test]
fn more_differences_than_can_be_listed_are_counted() {
    let entries: Vec<usize> = (0..MAX_LISTED + 3).collect();
    assert_eq!(listed(&entries[..2]), "0; 1");
    assert!(
        listed(&entries).ends_with("; 7, and 3 more"),
        "{}",
        listed(&entries)
    );
    assert_eq!(listed(&entries[..0]), "");
}

#[test]
fn a_baseline_reads_back_as_it_was_written() {
    let written = baseline().to_json();
    let read = Baseline::parse(&written).unwrap();
    assert_eq!(read, baseline());
    assert_eq!(read.to_json(), written);
    assert_eq!(read.server_version(), "1.0");
    assert_eq!(read.tool_names().collect::<Vec<_>>(), ["other", "tool"]);
    assert_eq!(read.compare("tool", Some(SCHEMA)), Comparison::Same);
    assert!(
        written.ends_with("}\n") && written.lines().all(|line| line.chars().count() <= 110),
        "{written}"
    );
}

#[test]
fn a_deep_contract_reads_back_from_the_file() {
    let deep = format!("{}{{}}{}", r#"{"items":"#.repeat(63), "}".repeat(63));
    let baseline = super::taken("1.0", &[("tool", Some(deep.as_str()))]).unwrap();
    assert_eq!(Baseline::parse(&baseline.to_json()).unwrap(), baseline);
}

#[test]
fn a_broken_baseline_is_an_error_that_says_where() {
    let error = |text: &str| Baseline::parse(text).unwrap_err();
    assert!(matches!(
        error("{"),
        BaselineError::Unreadable(Unreadable::NotJson(_))
    ));
    for (text, place) in [
        ("[]", "server_version"),
        (r#"{"server_version":1,"tools":{}}"#, "server_version"),
        (r#"{"server_version":"1"}"#, "tools"),
        (r#"{"server_version":"1","tools":[]}"#, "tools"),
        (
            r#"{"server_version":"1","tools":{"a/b":{}}}"#,
            "tools/a~1b/contract",
        ),
        (
            r#"{"server_version":"1","tools":{"a":{"contract":5,"texts":{}}}}"#,
            "tools/a/contract",
        ),
        (
            r#"{"server_version":"1","tools":{"a":{"contract":{}}}}"#,
            "tools/a/texts",
        ),
        (
            r#"{"server_version":"1","tools":{"a":{"contract":{},"texts":{"title":5}}}}"#,
            "tools/a/texts/title",
        ),
    ] {
        assert!(
            error(text).to_string().contains(&format!(" {place} ")),
            "{text}: {}",
            error(text)
        );
    }
}

#[test]
fn a_listing_that_cannot_be_vouched_for_is_not_captured() {
    let capture =
        |tools: &[(&'static str, Option<&'static str>)]| super::taken("1.0", tools).unwrap_err();
    assert!(matches!(capture(&[("a", None)]), CaptureError::NoSchema(tool) if tool == "a"));
    assert!(
        matches!(capture(&[("a", Some("[]"))]), CaptureError::Unreadable { tool, .. } if tool == "a")
    );
    assert!(
        matches!(capture(&[("a", Some("{}")), ("a", Some("{}"))]), CaptureError::Twice(tool) if tool == "a")
    );
}

#[test]
fn a_report_names_what_happened_to_each_tool() {
    let old = baseline();
    let changed = with(
        r#"["a","b"],"description":"What to do.""#,
        r#"["a"],"description":"Do.""#,
    );
    let new = super::taken(
        "1.1",
        &[("tool", Some(changed.as_str())), ("fresh", Some("{}"))],
    )
    .unwrap();
    let report = diff(&old, &new, |tool| tool == "tool");
    let names: Vec<&str> = report.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["tool", "fresh", "other"], "the exposed ones first");
    assert_eq!(report.tools[1].change, ToolChange::Added);
    assert_eq!(report.tools[2].change, ToolChange::Removed);
    assert!(report.changes_contracts());
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(
        json["tools"][1],
        serde_json::json!({"name": "fresh", "exposed": false, "change": "added"})
    );
    assert_eq!(json["tools"][0]["contract"][0]["new"], "[\"a\"]");
}

#[test]
fn a_report_on_words_alone_changes_no_contract() {
    let reworded = with("What to do.", "Do.");
    let new = super::taken(
        "1.0",
        &[("tool", Some(reworded.as_str())), ("other", Some("{}"))],
    )
    .unwrap();
    let report = diff(&baseline(), &new, |_| true);
    assert!(report.tools.len() == 1 && !report.changes_contracts());
    let none = diff(&new, &new, |_| true);
    assert!(none.tools.is_empty() && !none.changes_contracts());
}

#[test]
fn the_values_of_an_enum_are_found_in_every_spelling() {
    let schema = r#"{"properties":{"a":{"enum":["y","x"]},"b":{"type":["string","null"],"enum":["y","x",null]},"c":{"const":"x"},"d":{"type":"string"}}}"#;
    let baseline = super::taken("1.0", &[("tool", Some(schema))]).unwrap();
    assert_eq!(baseline.enum_values("tool", "a"), ["x", "y"]);
    assert_eq!(baseline.enum_values("tool", "b"), ["x", "y"]);
    assert_eq!(baseline.enum_values("tool", "c"), ["x"]);
    assert_eq!(baseline.enum_values("tool", "d").len(), 0);
    assert_eq!(baseline.enum_values("none", "a").len(), 0);
}

#[test]
fn only_committed_versions_have_a_baseline() {
    assert!(committed("10.1.0").is_some());
    assert!(committed("10.1").is_none());
}
