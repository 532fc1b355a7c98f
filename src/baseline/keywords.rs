//! What a JSON Schema keyword holds, and which type of value it constrains.

/// What stands behind a keyword of a schema object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holds {
    /// Words for the reader; no part of the contract.
    Annotation,
    /// One schema.
    Schema,
    /// Schemas whose order counts.
    Tuple,
    /// Schemas whose order does not count.
    SchemaSet,
    /// One schema, or a tuple of them (`items` before 2020-12).
    SchemaOrTuple,
    /// Schemas by name. A name is data: a property may be called `title`.
    SchemaMap,
    /// Schemas by name that matter only where a `$ref` names them.
    Definitions,
    /// Values whose order does not count.
    ValueSet,
    /// By name, a schema or a set of values (`dependencies`, `dependentRequired`).
    Dependencies,
    /// Anything else, unknown keywords included: compared as it is.
    Data,
}

/// The annotation-only keywords, whose texts the baseline keeps as digests.
pub(super) const ANNOTATIONS: [&str; 4] = ["$comment", "description", "examples", "title"];

/// What `keyword` holds, by the drafts from 4 to 2020-12 together: servers mix them.
pub(super) fn holds(keyword: &str) -> Holds {
    match keyword {
        _ if ANNOTATIONS.contains(&keyword) => Holds::Annotation,
        "additionalItems"
        | "additionalProperties"
        | "contains"
        | "contentSchema"
        | "else"
        | "if"
        | "not"
        | "propertyNames"
        | "then"
        | "unevaluatedItems"
        | "unevaluatedProperties" => Holds::Schema,
        "items" => Holds::SchemaOrTuple,
        "prefixItems" => Holds::Tuple,
        "allOf" | "anyOf" | "oneOf" => Holds::SchemaSet,
        "dependentSchemas" | "patternProperties" | "properties" => Holds::SchemaMap,
        "$defs" | "definitions" => Holds::Definitions,
        "enum" | "required" | "type" => Holds::ValueSet,
        "dependencies" | "dependentRequired" => Holds::Dependencies,
        _ => Holds::Data,
    }
}

/// The types of value that `keyword` looks at, where it looks at some only: it says nothing about any
/// other type, so in a choice between types it belongs to the branches of these alone.
pub(super) fn constrains(keyword: &str) -> &'static [&'static str] {
    match keyword {
        "contentEncoding" | "contentMediaType" | "contentSchema" | "format" | "maxLength"
        | "minLength" | "pattern" => &["string"],
        "exclusiveMaximum" | "exclusiveMinimum" | "maximum" | "minimum" | "multipleOf" => {
            &["integer", "number"]
        }
        "maxItems" | "minItems" | "uniqueItems" => &["array"],
        "dependencies" | "dependentRequired" | "dependentSchemas" | "maxProperties"
        | "minProperties" | "propertyNames" | "required" => &["object"],
        // These look at what their neighbours have looked at, so they stay beside them.
        "unevaluatedItems" | "unevaluatedProperties" => &[],
        _ => match family(keyword) {
            Some(Family::Members) => &["object"],
            Some(Family::Entries) => &["array"],
            _ => &[],
        },
    }
}

/// Keywords that are read together with their neighbours in the same schema object. They can be moved to
/// another object only as a whole: `additionalProperties` means "besides the `properties` beside me".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    /// Of an object's members.
    Members,
    /// Of an array's entries.
    Entries,
    /// `if`, `then`, `else`.
    Conditional,
}

/// The family of `keyword`, if it has one.
pub(super) fn family(keyword: &str) -> Option<Family> {
    match keyword {
        "additionalProperties" | "patternProperties" | "properties" | "unevaluatedProperties" => {
            Some(Family::Members)
        }
        "additionalItems" | "contains" | "items" | "maxContains" | "minContains"
        | "prefixItems" | "unevaluatedItems" => Some(Family::Entries),
        "else" | "if" | "then" => Some(Family::Conditional),
        _ => None,
    }
}
