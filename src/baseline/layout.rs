//! The layout of a baseline file: made to be reviewed as a change in git.

use super::json::{Json, quoted};

/// A value that fits into this many columns stands on one line, any other has a line for each entry.
const COLUMNS: usize = 110;

/// The whole file, with its final line feed.
pub(super) fn laid_out(value: &Json) -> String {
    let mut out = String::new();
    lay_out(value, 0, 0, &mut out);
    out.push('\n');
    out
}

/// `taken`: columns used on the first line, by the indentation, the key and the comma that may follow.
fn lay_out(value: &Json, indent: usize, taken: usize, out: &mut String) {
    let line = value.to_string();
    if taken + line.chars().count() <= COLUMNS {
        out.push_str(&line);
        return;
    }
    let margin = " ".repeat(indent + 2);
    let entry = |out: &mut String, index: usize, key: &str, value: &Json| {
        out.push_str(if index == 0 { "\n" } else { ",\n" });
        out.push_str(&margin);
        out.push_str(key);
        lay_out(
            value,
            indent + 2,
            margin.len() + key.chars().count() + 1,
            out,
        );
    };
    match value {
        Json::Array(entries) => {
            out.push('[');
            entries
                .iter()
                .enumerate()
                .for_each(|(index, value)| entry(out, index, "", value));
        }
        Json::Object(members) => {
            out.push('{');
            let members = members.iter().enumerate();
            members.for_each(|(index, (key, value))| {
                entry(out, index, &format!("{}: ", quoted(key)), value);
            });
        }
        _ => return out.push_str(&line),
    }
    out.push('\n');
    out.push_str(&" ".repeat(indent));
    out.push(if matches!(value, Json::Array(_)) {
        ']'
    } else {
        '}'
    });
}
