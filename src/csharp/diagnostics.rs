//! Compile errors as the Editor reports them.

use serde_json::Value;

/// One entry of `data.errors`: `Line <n>: <text>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Diagnostic<'a> {
    /// The line, counted from 1 in the code that the Editor got.
    pub line: u64,
    /// The compiler's text.
    pub text: &'a str,
}

/// The compile errors of a failure payload; empty when it reports none.
///
/// Entries of another form are passed over: only a compile failure has lines (read from the bridge's source,
/// 10.1.0).
pub fn diagnostics(payload: &Value) -> Vec<Diagnostic<'_>> {
    if payload.get("success") != Some(&Value::Bool(false)) {
        return Vec::new();
    }
    let errors = payload
        .get("data")
        .and_then(|data| data.get("errors"))
        .and_then(Value::as_array);
    let entries = errors.into_iter().flatten().filter_map(Value::as_str);
    entries.filter_map(diagnostic).collect()
}

fn diagnostic(entry: &str) -> Option<Diagnostic<'_>> {
    let (line, text) = entry.strip_prefix("Line ")?.split_once(':')?;
    Some(Diagnostic {
        line: line.parse().ok()?,
        text: text.trim_start(),
    })
}

#[cfg(test)]
mod tests {
    use super::{Diagnostic, diagnostics};
    use serde_json::json;

    #[test]
    fn only_lines_of_a_failure_count() {
        let failure = json!({ "success": false, "data": { "errors": [
            "Line 12: ; expected", "Line x: no", "Error without a line", 7, "Line 3:bare", "Line -1: no"
        ] } });
        let found = diagnostics(&failure);
        let expected = [(12, "; expected"), (3, "bare")];
        let expected = expected.map(|(line, text)| Diagnostic { line, text });
        assert_eq!(found, expected);
        for silent in [
            json!({ "success": true, "data": { "errors": ["Line 1: x"] } }),
            json!({ "success": 0, "data": { "errors": ["Line 1: x"] } }),
            json!({ "success": false, "data": { "stackTrace": "Line 1: x" } }),
            json!({ "success": false, "data": "Line 1: x" }),
            json!([false]),
        ] {
            assert_eq!(diagnostics(&silent), [], "{silent}");
        }
    }
}
