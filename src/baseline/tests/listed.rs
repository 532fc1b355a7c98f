//! What a baseline holds of a tool beside its input.

use crate::baseline::{
    Baseline, BaselineError, CaptureError, Changes, Comparison, ToolChange, ToolText, diff,
};

const TOOL: ToolText<'_> = ToolText {
    name: "tool",
    input_schema: Some(r#"{"type":"object"}"#),
    output_schema: Some(
        r#"{"type":"object","properties":{"result":{"type":"string","description":"Said."}}}"#,
    ),
    annotations: Some(r#"{"readOnlyHint":true,"title":"A Tool"}"#),
    title: Some(r#""A Tool""#),
    description: Some(r#""Does a thing.""#),
};

fn taken(tool: ToolText<'_>) -> Baseline {
    Baseline::capture("1.0", [tool]).unwrap()
}

fn changes(old: ToolText<'_>, new: ToolText<'_>) -> Option<Changes> {
    let report = diff(&taken(old), &taken(new), |_| true);
    assert!(report.listings_compared);
    let tool = report.tools.into_iter().next()?;
    match tool.change {
        ToolChange::Changed(changes) => Some(changes),
        other => panic!("{other:?}"),
    }
}

#[test]
fn it_is_written_and_read_without_prose() {
    let baseline = taken(TOOL);
    let file = baseline.to_json();
    assert_eq!(Baseline::parse(&file).unwrap(), baseline);
    for prose in ["A Tool", "Said", "Does"] {
        assert!(!file.contains(prose), "{file}");
    }
    let listed = baseline.listed("tool").unwrap();
    let places: Vec<&str> = listed.texts.keys().map(String::as_str).collect();
    assert_eq!(
        places,
        [
            "annotations/title",
            "description",
            "outputSchema/properties/result/description",
            "title"
        ]
    );
}

#[test]
fn a_tool_that_has_none_of_it_is_written_and_read() {
    let bare = ToolText {
        name: "tool",
        input_schema: Some("{}"),
        output_schema: Some("null"),
        ..ToolText::default()
    };
    let baseline = taken(bare);
    assert_eq!(Baseline::parse(&baseline.to_json()).unwrap(), baseline);
    assert_eq!(
        changes(
            bare,
            ToolText {
                annotations: Some("{}"),
                ..bare
            }
        ),
        None
    );
    let gained = changes(
        bare,
        ToolText {
            output_schema: Some("{}"),
            ..bare
        },
    )
    .unwrap();
    assert_eq!(gained.output[0].to_string(), "outputSchema: absent → true");
}

#[test]
fn each_difference_is_of_its_kind() {
    assert_eq!(changes(TOOL, TOOL), None);
    let differs = |new| changes(TOOL, new).unwrap();
    let told = differs(ToolText {
        description: Some(r#""Does more.""#),
        ..TOOL
    });
    assert_eq!(
        told,
        Changes {
            wording: vec!["description".to_owned()],
            ..Changes::default()
        }
    );
    let marked = differs(ToolText {
        annotations: Some(r#"{"title":"A Tool"}"#),
        ..TOOL
    });
    assert_eq!(
        marked.annotations[0].to_string(),
        "readOnlyHint: true → absent"
    );
    assert!(marked.wording.is_empty() && marked.contract.is_empty());
    let wrapped = r#"{"type":"object","properties":{"result":{"type":"integer"}}}"#;
    let wrapped = differs(ToolText {
        output_schema: Some(wrapped),
        ..TOOL
    });
    assert_eq!(wrapped.output[0].pointer, "properties/result/type");
    assert_eq!(
        wrapped.wording,
        ["outputSchema/properties/result/description"]
    );
    // Another spelling of the same schema.
    let spelled =
        r#"{"properties":{"result":{"description":"Said.","type":["string"]}},"type":"object"}"#;
    assert_eq!(
        changes(
            TOOL,
            ToolText {
                output_schema: Some(spelled),
                ..TOOL
            }
        ),
        None
    );
}

#[test]
fn a_call_is_not_judged_by_it() {
    let other = ToolText {
        output_schema: None,
        annotations: None,
        ..TOOL
    };
    assert_eq!(
        taken(other).compare("tool", TOOL.input_schema),
        Comparison::Same
    );
    let broken =
        r#"{"server_version":"1","tools":{"tool":{"contract":true,"texts":{},"listed":5}}}"#;
    let error = Baseline::parse(broken).unwrap_err();
    assert!(
        matches!(error, BaselineError::Malformed { place, .. } if place == "tools/tool/listed")
    );
    let relay = Baseline::parse_only(broken, |_| true).unwrap();
    assert_eq!(relay.compare("tool", Some("{}")), Comparison::Same);
}

#[test]
fn only_the_tools_that_are_wanted_are_read() {
    let file = r#"{"server_version":"1","tools":{"a":{"contract":true,"texts":{}},"b":5}}"#;
    let some = Baseline::parse_only(file, |tool| tool == "a").unwrap();
    assert_eq!(some.compare("a", Some("{}")), Comparison::Same);
    assert_eq!(some.compare("b", Some("{}")), Comparison::Unknown);
    assert!(Baseline::parse_only(file, |_| true).is_err());
}

#[test]
fn what_cannot_be_compared_is_not_captured() {
    for (tool, wanted) in [
        (
            ToolText {
                output_schema: Some("[]"),
                ..TOOL
            },
            "outputSchema",
        ),
        (
            ToolText {
                annotations: Some("{"),
                ..TOOL
            },
            "annotations",
        ),
    ] {
        let error = Baseline::capture("1.0", [tool]).unwrap_err();
        assert!(
            matches!(error, CaptureError::Unreadable { part, .. } if part == wanted),
            "{wanted}"
        );
    }
}
