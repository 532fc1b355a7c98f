//! The words of a schema: not part of the contract, but not lost either.

use super::{differ, read, same};

fn texts(schema: &str) -> Vec<String> {
    read(schema).texts.into_keys().collect()
}

#[test]
fn words_do_not_count_wherever_a_schema_stands() {
    let words = r#""description":"d","title":"t","examples":["e"],"$comment":"c""#;
    for (keyword, plain) in [
        ("properties", r#"{"a":{X"type":"string"}}"#),
        ("patternProperties", r#"{"^a":{X"type":"string"}}"#),
        ("dependentSchemas", r#"{"a":{X"type":"string"}}"#),
        ("dependencies", r#"{"a":{X"type":"string"}}"#),
        ("additionalProperties", r#"{X"type":"string"}"#),
        ("unevaluatedProperties", r#"{X"type":"string"}"#),
        ("propertyNames", r#"{X"type":"string"}"#),
        ("items", r#"{X"type":"string"}"#),
        ("items", r#"[{X"type":"string"},true]"#),
        ("prefixItems", r#"[{X"type":"string"},true]"#),
        ("additionalItems", r#"{X"type":"string"}"#),
        ("unevaluatedItems", r#"{X"type":"string"}"#),
        ("contains", r#"{X"type":"string"}"#),
        ("contentSchema", r#"{X"type":"string"}"#),
        ("anyOf", r#"[{X"type":"string"},{"type":"integer"}]"#),
        ("oneOf", r#"[{X"type":"string"},{"type":"integer"}]"#),
        ("allOf", r#"[{X"type":"string"},{"minLength":1}]"#),
        ("not", r#"{X"type":"string"}"#),
        ("if", r#"{X"type":"string"}"#),
        ("then", r#"{X"type":"string"}"#),
        ("else", r#"{X"type":"string"}"#),
    ] {
        let schema = |words: &str| format!(r#"{{"{keyword}":{}}}"#, plain.replace('X', words));
        let annotated = schema(&format!("{words},"));
        same(&schema(""), &annotated);
        assert_eq!(texts(&schema("")).len(), 0, "{keyword}");
        assert_eq!(texts(&annotated).len(), 4, "{keyword}");
        assert!(
            texts(&annotated).iter().all(|at| at.starts_with(keyword)),
            "{keyword}"
        );
    }
}

#[test]
fn words_count_where_no_schema_stands() {
    // As the name of a property …
    differ(
        r#"{"properties":{"title":{"type":"string"}}}"#,
        r#"{"properties":{}}"#,
    );
    differ(
        r#"{"properties":{"description":true}}"#,
        r#"{"properties":{"description":false}}"#,
    );
    differ(r#"{"patternProperties":{"title":true}}"#, "{}");
    differ(r#"{"dependentRequired":{"title":["a"]}}"#, "{}");
    // … and inside data.
    for keyword in ["default", "const"] {
        let data = |text: &str| format!(r#"{{"{keyword}":{{"description":"{text}"}}}}"#);
        differ(&data("a"), &data("b"));
        assert_eq!(texts(&data("a")).len(), 0);
    }
    differ(
        r#"{"enum":[{"title":"a"},1]}"#,
        r#"{"enum":[{"title":"b"},1]}"#,
    );
    differ(
        r#"{"required":["title"]}"#,
        r#"{"required":["description"]}"#,
    );
    differ(
        r#"{"default":[{"properties":{"a":{"title":"x"}}}]}"#,
        r#"{"default":[{"properties":{"a":{}}}]}"#,
    );
    // A property called `title` may still be described.
    assert_eq!(
        texts(r#"{"properties":{"title":{"title":"t"}}}"#),
        ["properties/title/title"]
    );
}

#[test]
fn a_text_is_kept_as_its_digest_only() {
    let contract = read(r#"{"properties":{"action":{"description":"abc","type":"string"}}}"#);
    // SHA-1 of `abc` begins so.
    assert_eq!(
        contract.texts["properties/action/description"],
        "a9993e364706"
    );
    assert!(!contract.schema.to_string().contains("abc"));
}

#[test]
fn a_text_that_is_no_string_has_a_digest_too() {
    let examples = |text: &str| read(&format!(r#"{{"examples":{text}}}"#)).texts;
    assert_ne!(examples(r#"["a"]"#), examples(r#"["b"]"#));
    assert_eq!(
        examples(r#"[{"a":1,"b":2}]"#),
        examples(r#"[{"b":2,"a":1.0}]"#)
    );
    same(r#"{"title":{"type":"string"},"description":5}"#, "{}");
}

#[test]
fn an_escaped_key_is_the_same_key() {
    same(r#"{"\u0064escription":"x"}"#, "{}");
    assert_eq!(
        texts(r#"{"properties":{"a/b":{"\u0074itle":"x"}}}"#),
        ["properties/a~1b/title"]
    );
}

#[test]
fn words_move_with_what_they_describe() {
    // Reordering branches moves no text.
    assert_eq!(
        read(r#"{"anyOf":[{"type":"string","title":"s"},{"type":"array","title":"a"}]}"#).texts,
        read(r#"{"anyOf":[{"type":"array","title":"a"},{"type":"string","title":"s"}]}"#).texts
    );
    // A described definition reads like the same words inlined.
    assert_eq!(
        read(r##"{"properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"title":"A","type":"string"}}}"##).texts,
        read(r#"{"properties":{"a":{"title":"A","type":"string"}}}"#).texts
    );
    // Words on both the reference and the definition: neither is lost.
    let both = read(
        r##"{"properties":{"a":{"$ref":"#/$defs/A","title":"B"}},"$defs":{"A":{"title":"A","type":"string"}}}"##,
    );
    assert_eq!(both.texts["properties/a/title"].split('+').count(), 2);
    // Flattening keeps the words of what it takes apart.
    assert_eq!(
        texts(
            r#"{"anyOf":[{"anyOf":[{"type":"string"},{"type":"integer"}],"title":"inner"},{"type":"null"}]}"#
        ),
        ["title"]
    );
}

#[test]
fn words_do_not_change_the_canonical_spelling() {
    let plain =
        read(r#"{"anyOf":[{"type":"string"},{"type":"null"}],"allOf":[{"minLength":1},{}]}"#);
    let worded = read(
        r#"{"anyOf":[{"type":"string","title":"z"},{"type":"null","description":"n"}],"allOf":[{"minLength":1},{"title":"t"}]}"#,
    );
    assert_eq!(plain.schema, worded.schema);
    assert_eq!(worded.texts.len(), 3);
}
