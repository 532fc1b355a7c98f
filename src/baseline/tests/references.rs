//! References inside a schema, and what hostile ones can do.

use super::{differ, read, same};
use crate::baseline::json::MAX_DEPTH;
use crate::baseline::{Contract, Unreadable};

#[test]
fn an_inlined_definition_is_its_reference() {
    let inlined = r#"{"properties":{"mode":{"type":"string","enum":["a","b"],"default":"a"}}}"#;
    for spelled in [
        r##"{"properties":{"mode":{"$ref":"#/$defs/Mode","default":"a"}},"$defs":{"Mode":{"type":"string","enum":["b","a"]}}}"##,
        r##"{"properties":{"mode":{"$ref":"#/definitions/Mode","default":"a"}},"definitions":{"Mode":{"type":"string","enum":["b","a"]}}}"##,
        r##"{"properties":{"mode":{"allOf":[{"$ref":"#/$defs/Mode"}],"default":"a"}},"$defs":{"Mode":{"type":"string","enum":["b","a"]}}}"##,
        r##"{"properties":{"mode":{"$ref":"#/$defs/A"}},"$defs":{"A":{"$ref":"#/$defs/B","default":"a"},"B":{"type":"string","enum":["b","a"]}}}"##,
        r##"{"properties":{"mode":{"$ref":"#/$defs/a~1b~0c","default":"a"}},"$defs":{"a/b~c":{"type":"string","enum":["b","a"]}}}"##,
        r##"{"properties":{"mode":{"$ref":"#/%24defs/a%20b"}},"$defs":{"a b":{"type":"string","enum":["b","a"],"default":"a"}}}"##,
        r##"{"properties":{"mode":{"$ref":"#/$defs/list/prefixItems/0","default":"a"}},"$defs":{"list":{"prefixItems":[{"type":"string","enum":["b","a"]}]}}}"##,
        r##"{"$ref":"#/$defs/Root","$defs":{"Root":{"properties":{"mode":{"type":"string","enum":["a","b"],"default":"a"}}}}}"##,
    ] {
        same(inlined, spelled);
    }
    differ(
        inlined,
        r##"{"properties":{"mode":{"$ref":"#/$defs/Mode","default":"a"}},"$defs":{"Mode":{"type":"string","enum":["b"]}}}"##,
    );
}

#[test]
fn a_reference_in_a_choice_is_inlined_too() {
    same(
        r##"{"anyOf":[{"$ref":"#/$defs/E"},{"type":"null"}],"$defs":{"E":{"title":"E","enum":["a","b"],"type":"string"}}}"##,
        r#"{"type":["string","null"],"enum":["a",null,"b"]}"#,
    );
    same(
        r##"{"anyOf":[{"$ref":"#/$defs/N"},{"$ref":"#/$defs/N"}],"$defs":{"N":{"type":["string","null"]}}}"##,
        r#"{"type":["string","null"]}"#,
    );
}

#[test]
fn keywords_beside_a_reference_hold_as_well() {
    let reference = r##"{"properties":{"a":{"$ref":"#/$defs/S","maxLength":3}},"$defs":{"S":{"type":"string","maxLength":5}}}"##;
    same(
        reference,
        r#"{"properties":{"a":{"allOf":[{"type":"string","maxLength":5}],"maxLength":3}}}"#,
    );
    differ(
        reference,
        r#"{"properties":{"a":{"type":"string","maxLength":5}}}"#,
    );
    differ(
        reference,
        r#"{"properties":{"a":{"type":"string","maxLength":3}}}"#,
    );
}

#[test]
fn an_unused_definition_does_not_count() {
    same(
        r#"{"type":"object"}"#,
        r#"{"type":"object","$defs":{"A":{"type":"string"}},"definitions":{"B":{}}}"#,
    );
    // A property that is called so does.
    differ(
        r#"{"properties":{"$defs":true}}"#,
        r#"{"properties":{"definitions":true}}"#,
    );
}

#[test]
fn what_cannot_be_resolved_counts_as_written_and_definitions_with_it() {
    let anchored = |limit| {
        format!(r##"{{"$ref":"#node","$defs":{{"N":{{"$anchor":"node","maxLength":{limit}}}}}}}"##)
    };
    same(&anchored(1), &anchored(1));
    differ(&anchored(1), &anchored(2));
    differ(r##"{"$ref":"#/$defs/A"}"##, r##"{"$ref":"#/$defs/B"}"##);
    differ(r#"{"$ref":"https://example.com/a.json"}"#, "{}");
    differ(
        r##"{"$ref":"#/properties/a/default","properties":{"a":{"default":5}}}"##,
        r#"{"properties":{"a":{"default":5}}}"#,
    );
    differ(
        r##"{"$dynamicRef":"#a","$defs":{"A":{"minimum":1}}}"##,
        r##"{"$dynamicRef":"#a","$defs":{"A":{"minimum":2}}}"##,
    );
    differ(r#"{"$ref":5}"#, r#"{"$ref":6}"#);
}

#[test]
fn a_reference_is_a_keyword_only_where_a_schema_stands() {
    differ(
        r##"{"default":{"$ref":"#/$defs/A"},"$defs":{"A":{"type":"string"}}}"##,
        r#"{"default":{"type":"string"}}"#,
    );
    differ(
        r#"{"properties":{"$ref":{"type":"string"}}}"#,
        r#"{"properties":{"$ref":{"type":"integer"}}}"#,
    );
}

#[test]
fn recursive_definitions_terminate_and_compare_by_shape() {
    let tree = |name: &str, leaf: &str| {
        format!(
            r##"{{"properties":{{"root":{{"$ref":"#/$defs/{name}"}}}},"$defs":{{"{name}":{{"type":"object","properties":{{"leaf":{leaf},"next":{{"$ref":"#/$defs/{name}"}}}}}}}}}}"##
        )
    };
    same(&tree("A", "true"), &tree("Other", "{}"));
    differ(&tree("A", "true"), &tree("A", "false"));
    assert_eq!(
        read(&tree("A", "true")).schema.to_string(),
        r##"{"properties": {"root": {"properties": {"leaf": true, "next": {"$ref": "#/properties/root"}}, "type": "object"}}}"##
    );
    same(
        r##"{"properties":{"again":{"$ref":"#"}}}"##,
        r##"{"$ref":"#/$defs/R","$defs":{"R":{"properties":{"again":{"$ref":"#/$defs/R"}}}}}"##,
    );
    for looping in [
        r##"{"$ref":"#"}"##,
        r##"{"$ref":"#/$defs/A","$defs":{"A":{"$ref":"#/$defs/A"}}}"##,
        r##"{"$ref":"#/$defs/A","$defs":{"A":{"$ref":"#/$defs/B"},"B":{"allOf":[{"$ref":"#/$defs/A"}]}}}"##,
        r##"{"anyOf":[{"$ref":"#"},{"anyOf":[{"$ref":"#"},{"type":"null"}]}]}"##,
    ] {
        differ(looping, "{}");
    }
}

#[test]
fn a_definition_between_makes_no_difference_to_a_recursion() {
    same(
        r##"{"$ref":"#/$defs/N","$defs":{"N":{"properties":{"w":{"$ref":"#/$defs/W"}}},"W":{"properties":{"n":{"$ref":"#/$defs/N"}}}}}"##,
        r##"{"$ref":"#/$defs/N","$defs":{"N":{"properties":{"w":{"properties":{"n":{"$ref":"#/$defs/N"}}}}}}}"##,
    );
}

#[test]
fn where_a_recursion_leads_counts() {
    let to = |target: &str| {
        format!(r##"{{"properties":{{"a":{{"properties":{{"b":{{"$ref":"{target}"}}}}}}}}}}"##)
    };
    differ(&to("#"), &to("#/properties/a"));
    differ(
        r##"{"properties":{"a":{"anyOf":[{"items":{"$ref":"#"}},{"items":{"$ref":"#/properties/a"}}]}}}"##,
        r##"{"properties":{"a":{"anyOf":[{"items":{"$ref":"#"}}]}}}"##,
    );

    // In which order the recursive branches stand does not.
    let branches = |first: &str, second: &str| {
        let list = |name: &str, least| {
            format!(r##""{name}":{{"items":{{"$ref":"#/$defs/{name}"}},"minItems":{least}}}"##)
        };
        let definitions = [list("A", 1), list("B", 2)].join(",");
        format!(
            r##"{{"anyOf":[{{"$ref":"#/$defs/{first}"}},{{"$ref":"#/$defs/{second}"}}],"$defs":{{{definitions}}}}}"##
        )
    };
    same(&branches("A", "B"), &branches("B", "A"));
    // What refers back to a combination keeps it from being flattened away.
    differ(
        r##"{"anyOf":[{"type":"null"},{"anyOf":[{"type":"string"},{"items":{"$ref":"#/anyOf/1"}}]}]}"##,
        r##"{"anyOf":[{"type":"null"},{"type":"string"},{"items":{"$ref":"#"}}]}"##,
    );

    // The default is the property's, not the definition's.
    differ(
        r##"{"properties":{"a":{"$ref":"#/$defs/N","default":null}},"$defs":{"N":{"properties":{"n":{"$ref":"#/$defs/N"}}}}}"##,
        r##"{"properties":{"a":{"properties":{"n":{"$ref":"#/properties/a"}},"default":null}}}"##,
    );
}

#[test]
fn deep_schemas_are_refused_and_not_followed() {
    let nested = |depth: usize| {
        format!(
            r#"{}{{}}{}"#,
            r#"{"items":"#.repeat(depth),
            "}".repeat(depth)
        )
    };
    assert!(Contract::read(&nested(MAX_DEPTH - 1)).is_ok());
    assert!(matches!(
        Contract::read(&nested(MAX_DEPTH)),
        Err(Unreadable::TooDeep)
    ));
    assert!(matches!(
        Contract::read(&nested(200_000)),
        Err(Unreadable::TooDeep)
    ));
    let combined = format!(
        "{}true{}",
        r#"{"anyOf":["#.repeat(31),
        r#",{"not":true}]}"#.repeat(31)
    );
    assert!(Contract::read(&combined).is_ok());
}

#[test]
fn a_chain_of_references_cannot_run_away() {
    let chain = |link: fn(usize) -> String, length: usize| {
        let definitions: Vec<String> = (0..length)
            .map(|n| format!(r#""d{n}":{}"#, link(n + 1)))
            .collect();
        format!(
            r##"{{"$ref":"#/$defs/d0","$defs":{{{},"d{length}":{{}}}}}}"##,
            definitions.join(",")
        )
    };
    let long = chain(
        |next| format!(r##"{{"items":{{"$ref":"#/$defs/d{next}"}}}}"##),
        5_000,
    );
    assert!(matches!(Contract::read(&long), Err(Unreadable::TooDeep)));
    let doubling = chain(
        |next| {
            format!(
                r##"{{"properties":{{"a":{{"$ref":"#/$defs/d{next}"}},"b":{{"$ref":"#/$defs/d{next}"}}}}}}"##
            )
        },
        25,
    );
    assert!(matches!(
        Contract::read(&doubling),
        Err(Unreadable::TooLarge)
    ));
    let heavy = format!(
        r##"{{"allOf":[{}],"$defs":{{"d":{{"description":"{}"}}}}}}"##,
        vec![r##"{"$ref":"#/$defs/d"}"##; 5_000].join(","),
        "x".repeat(100_000)
    );
    assert!(matches!(Contract::read(&heavy), Err(Unreadable::TooLarge)));

    // Each part is within the limit, together they are not.
    let data = format!("{}{}", "[".repeat(50), "]".repeat(50));
    let ends_in_data = chain(
        |next| format!(r##"{{"properties":{{"a":{{"$ref":"#/$defs/d{next}"}}}}}}"##),
        10,
    );
    assert!(Contract::read(&ends_in_data).is_ok());
    let ends_in_data =
        ends_in_data.replace(r#""d10":{}"#, &format!(r#""d10":{{"default":{data}}}"#));
    assert!(matches!(
        Contract::read(&ends_in_data),
        Err(Unreadable::TooDeep)
    ));
}

#[test]
fn only_an_object_is_an_input_schema() {
    for text in ["null", "true", "[]", "5", "\"{}\""] {
        assert!(
            matches!(Contract::read(text), Err(Unreadable::NotAnObject)),
            "{text}"
        );
    }
    for text in ["", "{", "{\"a\":NaN}", "{}{}"] {
        assert!(
            matches!(Contract::read(text), Err(Unreadable::NotJson(_))),
            "{text}"
        );
    }
}
