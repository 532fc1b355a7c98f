//! The tables of the docs are those of the source. `BLESS=1` writes them anew.
#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a test's helper fails the test"
)]

use std::path::Path;
use vrc_mcp_proxy::commands::behaviors::{markdown_codes, markdown_table};

/// The text between the markers of `name`, as a range.
fn between(text: &str, name: &str) -> std::ops::Range<usize> {
    let (begin, end) = (
        format!("<!-- {name}:begin -->\n"),
        format!("<!-- {name}:end -->"),
    );
    let find = |marker: &str| {
        assert_eq!(text.matches(marker).count(), 1, "{marker:?} stands once");
        text.find(marker).expect("it stands there")
    };
    let (start, stop) = (find(&begin) + begin.len(), find(&end));
    assert!(start <= stop, "the markers of {name} stand in order");
    start..stop
}

fn holds(file: &str, name: &str, table: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    // A checkout on Windows may have given it other line ends.
    let mut text = std::fs::read_to_string(&path)
        .expect(file)
        .replace("\r\n", "\n");
    let place = between(&text, name);
    if text[place.clone()] == *table {
        return;
    }
    assert!(
        std::env::var_os("BLESS").is_some(),
        "the table `{name}` of {file} is not the source's; BLESS=1 cargo test writes it anew:\n{table}"
    );
    text.replace_range(place, table);
    std::fs::write(&path, text).expect(file);
}

// One test, so that no two write the same file at once.
#[test]
fn the_docs_hold_the_tables_of_the_source() {
    holds("README.md", "behaviors", &markdown_table());
    holds("docs/behaviors.md", "behaviors", &markdown_table());
    holds("docs/behaviors.md", "codes", &markdown_codes());
}

#[test]
fn a_table_is_found_between_its_markers() {
    let text = "a\n<!-- x:begin -->\ntable\n<!-- x:end -->\nb";
    assert_eq!(&text[between(text, "x")], "table\n");
    let missing = std::panic::catch_unwind(|| between("no markers", "x"));
    assert!(missing.is_err());
}
