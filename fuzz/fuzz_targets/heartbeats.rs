//! Whatever stands in a heartbeat file, and whatever selects one: reading ends, and nothing overflows.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::path::Path;
use vrc_mcp_proxy::instances::{Editor, Selector};

fuzz_target!(|input: (&[u8], &str, i64)| {
    let (content, selector, now_ms) = input;
    let Some(editor) = Editor::parse("0be31597", Path::new("x"), content) else {
        return;
    };
    let _live = (
        editor.is_live(now_ms),
        editor.age(now_ms),
        editor.hash_fits_path(),
    );
    let _paths = (editor.assets(), editor.project_root(), editor.identifier());
    let editors = [editor];
    for selector in [Selector::from_text(selector), Selector::read(selector)]
        .into_iter()
        .flatten()
    {
        let _chosen = selector.resolve(&editors, now_ms);
        let _chosen = selector.resolve_live_first(&editors, now_ms);
    }
});
