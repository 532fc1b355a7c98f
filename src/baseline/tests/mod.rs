mod committed;
mod compare;
mod listed;
mod properties;
mod references;
mod spellings;
mod words;
mod writer;

use super::{Baseline, CaptureError, Contract, ToolText};

/// The baseline of tools that have an input schema and nothing else.
fn taken(version: &str, tools: &[(&str, Option<&str>)]) -> Result<Baseline, CaptureError> {
    let text = |(name, input_schema)| ToolText {
        name,
        input_schema,
        ..ToolText::default()
    };
    Baseline::capture(version, tools.iter().copied().map(text))
}

/// Asserts that both schemas are one contract.
#[track_caller]
fn same(a: &str, b: &str) {
    let (a, b) = (read(a), read(b));
    assert_eq!(a.schema, b.schema, "\n{}\n{}", a.schema, b.schema);
}

/// Asserts that the schemas are different contracts.
#[track_caller]
fn differ(a: &str, b: &str) {
    let (a, b) = (read(a), read(b));
    assert_ne!(a.schema, b.schema, "{}", a.schema);
}

#[track_caller]
fn read(schema: &str) -> Contract {
    Contract::read(schema).unwrap()
}
