//! Which schemas are one contract, and which are not.

use super::{differ, read, same};

#[test]
fn the_order_of_keys_does_not_count() {
    same(
        r#"{"type":"object","properties":{"a":{"type":"string","default":"x"},"b":true}}"#,
        r#"{"properties":{"b":true,"a":{"default":"x","type":"string"}},"type":"object"}"#,
    );
    same(
        r#"{"default":{"a":1,"b":{"c":2,"d":3}}}"#,
        r#"{"default":{"b":{"d":3,"c":2},"a":1}}"#,
    );
}

#[test]
fn the_order_of_what_is_a_set_does_not_count() {
    same(
        r#"{"enum":["a","b",1,null]}"#,
        r#"{"enum":[null,1,"b","a"]}"#,
    );
    same(r#"{"required":["a","b"]}"#, r#"{"required":["b","a"]}"#);
    same(
        r#"{"type":["string","integer","null"]}"#,
        r#"{"type":["null","string","integer"]}"#,
    );
    for key in ["anyOf", "oneOf", "allOf"] {
        same(
            &format!(r#"{{"{key}":[{{"minLength":1}},{{"pattern":"x"}}]}}"#),
            &format!(r#"{{"{key}":[{{"pattern":"x"}},{{"minLength":1}}]}}"#),
        );
    }
    same(
        r#"{"dependentRequired":{"a":["b","c"]}}"#,
        r#"{"dependentRequired":{"a":["c","b"]}}"#,
    );
    same(
        r#"{"dependencies":{"a":["b","c"]}}"#,
        r#"{"dependencies":{"a":["c","b"]}}"#,
    );
}

#[test]
fn the_order_of_data_and_of_a_tuple_counts() {
    differ(r#"{"default":["a","b"]}"#, r#"{"default":["b","a"]}"#);
    differ(r#"{"enum":[["a","b"],1]}"#, r#"{"enum":[["b","a"],1]}"#);
    differ(
        r#"{"default":{"required":["a","b"]}}"#,
        r#"{"default":{"required":["b","a"]}}"#,
    );
    differ(
        r#"{"prefixItems":[{"type":"string"},{"type":"integer"}]}"#,
        r#"{"prefixItems":[{"type":"integer"},{"type":"string"}]}"#,
    );
    differ(
        r#"{"items":[{"type":"string"},{"type":"integer"}]}"#,
        r#"{"items":[{"type":"integer"},{"type":"string"}]}"#,
    );
    differ(r#"{"x-order":["a","b"]}"#, r#"{"x-order":["b","a"]}"#);
}

#[test]
fn what_the_contract_says_counts() {
    let whole = r#"{"type":"object","properties":{"a":{"type":"string","enum":["x","y"],"default":"x"}},
        "required":["a"],"additionalProperties":false}"#;
    for changed in [
        r#"{"type":"object","properties":{"a":{"type":"string","enum":["x","z"],"default":"x"}},"required":["a"],"additionalProperties":false}"#,
        r#"{"type":"object","properties":{"a":{"type":"string","enum":["x","y","z"],"default":"x"}},"required":["a"],"additionalProperties":false}"#,
        r#"{"type":"object","properties":{"a":{"type":"string","enum":["x","y"],"default":"y"}},"required":["a"],"additionalProperties":false}"#,
        r#"{"type":"object","properties":{"a":{"type":"string","enum":["x","y"]}},"required":["a"],"additionalProperties":false}"#,
        r#"{"type":"object","properties":{"a":{"type":"string","enum":["x","y"],"default":null}},"required":["a"],"additionalProperties":false}"#,
        r#"{"type":"object","properties":{"a":{"type":"integer","enum":["x","y"],"default":"x"}},"required":["a"],"additionalProperties":false}"#,
        r#"{"type":"object","properties":{"a":{"enum":["x","y"],"default":"x"}},"required":["a"],"additionalProperties":false}"#,
        r#"{"type":"object","properties":{"a":{"type":"string","enum":["x","y"],"default":"x"},"b":{}},"required":["a"],"additionalProperties":false}"#,
        r#"{"type":"object","properties":{"b":{"type":"string","enum":["x","y"],"default":"x"}},"required":["a"],"additionalProperties":false}"#,
        r#"{"type":"object","properties":{"a":{"type":"string","enum":["x","y"],"default":"x"}},"required":["a","b"],"additionalProperties":false}"#,
        r#"{"type":"object","properties":{"a":{"type":"string","enum":["x","y"],"default":"x"}},"additionalProperties":false}"#,
        r#"{"type":"object","properties":{"a":{"type":"string","enum":["x","y"],"default":"x"}},"required":["a"],"additionalProperties":true}"#,
        r#"{"type":"object","properties":{"a":{"type":"string","enum":["x","y"],"default":"x"}},"required":["a"]}"#,
        r#"{"type":"object","properties":{"a":{"type":"string","enum":["x","y"],"default":"x"}},"required":["a"],"additionalProperties":{"type":"string"}}"#,
        r#"{"properties":{"a":{"type":"string","enum":["x","y"],"default":"x"}},"required":["a"],"additionalProperties":false}"#,
        "{}",
    ] {
        differ(whole, changed);
    }
    // No annotation, whatever a reader may think of them.
    differ("{}", r#"{"deprecated":true}"#);
    differ("{}", r#"{"x-unknown":{"description":"data"}}"#);
    differ(
        r#"{"x-unknown":{"description":"data"}}"#,
        r#"{"x-unknown":{"description":"other"}}"#,
    );
}

#[test]
fn a_nullable_type_has_one_contract_in_every_spelling() {
    same(
        r#"{"type":["string","null"]}"#,
        r#"{"anyOf":[{"type":"string"},{"type":"null"}]}"#,
    );
    same(
        r#"{"type":["null","string"],"default":null}"#,
        r#"{"anyOf":[{"type":"string"},{"type":"null"}],"default":null}"#,
    );
    same(r#"{"type":["string"]}"#, r#"{"type":"string"}"#);
    same(
        r#"{"type":["string","string","null"]}"#,
        r#"{"type":["null","string"]}"#,
    );
    differ(r#"{"type":["string","null"]}"#, r#"{"type":"string"}"#);
    differ(
        r#"{"type":["string","null"]}"#,
        r#"{"oneOf":[{"type":"string"},{"type":"integer"}]}"#,
    );
    differ(r#"{"type":[]}"#, r#"{"anyOf":[]}"#);
}

#[test]
fn a_constraint_on_one_type_belongs_to_the_branch_of_that_type() {
    let branch = r#"{"anyOf":[{"type":"array","items":{"type":"number"},"maxItems":3},{"type":"null"}],"default":null}"#;
    same(
        branch,
        r#"{"type":["array","null"],"items":{"type":"number"},"maxItems":3,"default":null}"#,
    );
    same(
        branch,
        r#"{"anyOf":[{"type":"array"},{"type":"null"}],"items":{"type":"number"},"maxItems":3,"default":null}"#,
    );
    same(
        r#"{"anyOf":[{"type":"string","maxLength":5,"format":"uri"},{"type":"integer","minimum":1},{"type":"number","minimum":1}]}"#,
        r#"{"type":["number","string","integer"],"minimum":1,"maxLength":5,"format":"uri"}"#,
    );
    same(
        r#"{"anyOf":[{"type":"integer","format":"int32"},{"type":"null"}]}"#,
        r#"{"type":["integer","null"],"format":"int32"}"#,
    );
    same(
        r#"{"anyOf":[{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false},{"type":"null"}]}"#,
        r#"{"type":["object","null"],"properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}"#,
    );
    differ(
        branch,
        r#"{"type":["array","null"],"items":{"type":"string"},"maxItems":3,"default":null}"#,
    );
}

#[test]
fn an_enum_beside_a_choice_of_types_belongs_to_the_branches() {
    let branches = r#"{"anyOf":[{"type":"string","enum":["a","b"]},{"type":"null"}]}"#;
    same(
        branches,
        r#"{"type":["string","null"],"enum":["a","b",null]}"#,
    );
    same(
        branches,
        r#"{"anyOf":[{"type":"string"},{"type":"null"}],"enum":[null,"b","a"]}"#,
    );
    same(
        r#"{"type":["string","integer"],"enum":["a",1,2]}"#,
        r#"{"anyOf":[{"type":"integer","enum":[1,2]},{"type":"string","const":"a"}]}"#,
    );
    // Without null among the values, null is not accepted.
    differ(branches, r#"{"type":["string","null"],"enum":["a","b"]}"#);
    differ(
        r#"{"type":["string","null"],"enum":["a"]}"#,
        r#"{"type":"string","enum":["a"]}"#,
    );
    differ(
        r#"{"type":["string","null"],"enum":["a"]}"#,
        r#"{"type":["string","null"],"enum":["a",5]}"#,
    );

    differ(
        r#"{"type":["string","null"],"enum":["a",null]}"#,
        r#"{"type":["string","null"],"enum":["a",null,5]}"#,
    );
    // A branch with an `enum` of its own keeps it.
    differ(
        r#"{"anyOf":[{"type":"string","enum":["b"]},{"type":"null"}],"enum":["a",null]}"#,
        r#"{"anyOf":[{"type":"string","enum":["a"]},{"type":"null"}]}"#,
    );
}

#[test]
fn what_cannot_be_moved_into_a_branch_stays_and_counts() {
    // `additionalProperties` means other members in each place.
    differ(
        r#"{"anyOf":[{"type":"object","properties":{"a":true}},{"type":"null"}],"additionalProperties":false}"#,
        r#"{"anyOf":[{"type":"object","properties":{"a":true},"additionalProperties":false},{"type":"null"}]}"#,
    );
    // Both limits hold; neither may swallow the other.
    differ(
        r#"{"anyOf":[{"type":"string","maxLength":5},{"type":"null"}],"maxLength":9}"#,
        r#"{"anyOf":[{"type":"string","maxLength":5},{"type":"null"}]}"#,
    );
    // A constraint on a type that cannot come still counts when it changes.
    differ(
        r#"{"type":["integer","null"],"maxLength":5}"#,
        r#"{"type":["integer","null"],"maxLength":6}"#,
    );
    // Not every branch is a type.
    differ(
        r#"{"anyOf":[{"type":"string"},{"pattern":"x"}],"maxLength":5}"#,
        r#"{"anyOf":[{"type":"string","maxLength":5},{"pattern":"x"}]}"#,
    );
    differ(
        r#"{"type":["object","null"],"unevaluatedProperties":false,"allOf":[{"properties":{"a":true}},{"required":["a"]}]}"#,
        r#"{"anyOf":[{"type":"object","unevaluatedProperties":false},{"type":"null"}],"allOf":[{"properties":{"a":true}},{"required":["a"]}]}"#,
    );

    // What looks through its neighbours sees others elsewhere.
    differ(
        r#"{"anyOf":[{"properties":{"a":true}},{"required":["b"]}],"allOf":[{"unevaluatedProperties":false}]}"#,
        r#"{"anyOf":[{"properties":{"a":true}},{"required":["b"]}],"unevaluatedProperties":false}"#,
    );
    // A type list beside an `anyOf` of its own.
    let beside = r#"{"type":["string","null"],"anyOf":[{"minLength":1},{"pattern":"x"}]}"#;
    differ(
        beside,
        r#"{"type":["string","null"],"anyOf":[{"minLength":2},{"pattern":"x"}]}"#,
    );
    differ(beside, r#"{"type":["string","null"]}"#);
}

#[test]
fn a_single_value_enum_is_a_const() {
    same(r#"{"enum":["a"]}"#, r#"{"const":"a"}"#);
    same(
        r#"{"enum":["a"],"type":"string"}"#,
        r#"{"const":"a","type":"string","enum":["a"]}"#,
    );
    same(r#"{"enum":[null]}"#, r#"{"const":null}"#);
    same(r#"{"type":"null"}"#, r#"{"const":null,"type":"null"}"#);
    same(
        r#"{"enum":[{"b":1,"a":[1]}]}"#,
        r#"{"const":{"a":[1.0],"b":1}}"#,
    );
    differ(r#"{"enum":["a"]}"#, r#"{"const":"b"}"#);
    differ(r#"{"enum":["a","b"]}"#, r#"{"const":"a"}"#);
    differ(r#"{"enum":["a","b"],"const":"a"}"#, r#"{"enum":["a","b"]}"#);
    differ(r#"{"const":["a"]}"#, r#"{"enum":["a"]}"#);
    differ(r#"{"const":null,"type":"string"}"#, r#"{"type":"null"}"#);
}

#[test]
fn nested_and_single_combinations_are_flattened() {
    let flat = r#"{"anyOf":[{"type":"string"},{"type":"integer"},{"type":"null"}]}"#;
    same(
        flat,
        r#"{"anyOf":[{"anyOf":[{"type":"string"},{"type":"integer"}]},{"type":"null"}]}"#,
    );
    same(
        flat,
        r#"{"anyOf":[{"type":["string","integer"]},{"type":"null"}]}"#,
    );
    same(
        flat,
        r#"{"anyOf":[{"type":"string"},{"type":"string"},{"type":["integer","null"]}]}"#,
    );
    for key in ["anyOf", "oneOf", "allOf"] {
        same(
            &format!(r#"{{"{key}":[{{"type":"string"}}],"default":"x"}}"#),
            r#"{"type":"string","default":"x"}"#,
        );
        same(&format!(r#"{{"{key}":[true]}}"#), "{}");
    }
    same(
        r#"{"allOf":[{"allOf":[{"minLength":1},{"pattern":"x"}]},{}]}"#,
        r#"{"allOf":[{"pattern":"x"},{"minLength":1}]}"#,
    );
    // `oneOf` counts its matches.
    differ(
        r#"{"oneOf":[{"minLength":1},{"minLength":1}]}"#,
        r#"{"oneOf":[{"minLength":1}]}"#,
    );
    differ(
        r#"{"oneOf":[{"oneOf":[{"minLength":1},{"pattern":"x"}]},{"maxLength":2}]}"#,
        r#"{"oneOf":[{"minLength":1},{"pattern":"x"},{"maxLength":2}]}"#,
    );
    differ(
        flat,
        r#"{"oneOf":[{"type":"string"},{"type":"integer"},{"type":"null"}]}"#,
    );
    // Each `additionalProperties` goes with its own `properties`.
    differ(
        r#"{"properties":{"a":true},"allOf":[{"additionalProperties":false}]}"#,
        r#"{"properties":{"a":true},"additionalProperties":false}"#,
    );
    differ(
        r#"{"maxLength":1,"allOf":[{"maxLength":2}]}"#,
        r#"{"maxLength":2,"allOf":[{"maxLength":1},{"minLength":1}]}"#,
    );
    differ(
        r#"{"anyOf":[{"anyOf":[{"minLength":1}],"not":{}}]}"#,
        r#"{"minLength":1}"#,
    );

    differ(
        r#"{"patternProperties":{"^a":true},"allOf":[{"additionalProperties":false}]}"#,
        r#"{"patternProperties":{"^a":true},"additionalProperties":false}"#,
    );
    differ(
        r#"{"prefixItems":[true],"allOf":[{"items":false}]}"#,
        r#"{"prefixItems":[true],"items":false}"#,
    );
    differ(
        r#"{"if":{"minLength":1},"allOf":[{"then":false}]}"#,
        r#"{"if":{"minLength":1},"then":false}"#,
    );
}

#[test]
fn what_says_nothing_does_not_count() {
    same(
        r#"{"type":"object","properties":{}}"#,
        r#"{"type":"object","required":[]}"#,
    );
    same(r#"{"items":{}}"#, r#"{"items":true}"#);
    same(r#"{"items":{"not":{}}}"#, r#"{"items":false}"#);
    differ(r#"{"items":true}"#, r#"{"items":false}"#);
    differ("{}", r#"{"additionalProperties":true}"#);
    differ(r#"{"enum":[]}"#, "{}");

    differ(r#"{"anyOf":[]}"#, "{}");
    differ(
        r#"{"items":{"not":{},"type":"string"}}"#,
        r#"{"items":{"not":{},"type":"integer"}}"#,
    );
}

#[test]
fn numbers_compare_by_value() {
    same(
        r#"{"minimum":1,"default":10}"#,
        r#"{"minimum":1.0,"default":1e1}"#,
    );
    differ(r#"{"default":10}"#, r#"{"default":10.5}"#);
    differ(
        r#"{"maximum":18446744073709551614}"#,
        r#"{"maximum":18446744073709551615}"#,
    );
    differ(r#"{"default":1}"#, r#"{"default":true}"#);
    differ(r#"{"default":0}"#, r#"{"default":false}"#);
}

#[test]
fn malformed_keywords_are_data() {
    for (a, b) in [
        (r#"{"properties":["a"]}"#, r#"{"properties":["b"]}"#),
        (r#"{"properties":{"a":5}}"#, r#"{"properties":{"a":6}}"#),
        (r#"{"anyOf":{"a":1}}"#, r#"{"anyOf":{"a":2}}"#),
        (r#"{"anyOf":[5]}"#, r#"{"anyOf":[6]}"#),
        (
            r##"{"allOf":5,"$ref":"#/$defs/a","$defs":{"a":{"type":"string"}}}"##,
            r#"{"allOf":5}"#,
        ),
        (r#"{"required":true}"#, r#"{"required":false}"#),
        (r#"{"type":{"a":1}}"#, r#"{"type":{"a":2}}"#),
        (r#"{"type":["string",5]}"#, r#"{"type":["string",6]}"#),
        (r#"{"enum":"a"}"#, r#"{"enum":"b"}"#),
        (r#"{"items":null}"#, r#"{"items":"x"}"#),
    ] {
        differ(a, b);
    }
}

#[test]
fn the_canonical_spelling_reads_well() {
    let schema = |text| read(text).schema.to_string();
    assert_eq!(
        schema(r#"{"anyOf":[{"type":"string"},{"type":"null"}],"default":null,"title":"A"}"#),
        r#"{"default": null, "type": ["null", "string"]}"#
    );
    assert_eq!(
        schema(r#"{"properties":{"a":{"const":"x"},"b":{},"c":false}}"#),
        r#"{"properties": {"a": {"enum": ["x"]}, "b": true, "c": false}}"#
    );
    assert_eq!(
        schema(r#"{"type":["array","null"],"items":{"type":"string"}}"#),
        r#"{"anyOf": [{"items": {"type": "string"}, "type": "array"}, {"type": "null"}]}"#
    );
}
