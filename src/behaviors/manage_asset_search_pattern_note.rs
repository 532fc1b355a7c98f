//! A file extension in a search term selects nothing.
//!
//! The search compares each term with the asset's name without its extension (10.1.0), so `*.mat`
//! finds assets with `.mat` inside their name, or none.

use super::shared::search;
use super::{Behavior, Cx, Hook, Note};
use crate::call::is_space;
use crate::relay::inflight::InFlight;
use crate::reply::Reply;

/// The behaviour's entry.
pub(super) const BEHAVIOR: Behavior = Behavior {
    name: "manage_asset_search_pattern_note",
    summary: "Says that a file extension in search_pattern does not select by type.",
    tool: Some("manage_asset"),
    hooks: &[Hook::Note(note)],
    codes: &[(
        "extension_not_matched",
        "a search term ends in a file extension, which names are searched without",
    )],
};

/// How many terms a note names.
const NAMED: usize = 5;

/// What marks a term as a filter of the asset database.
const FILTERS: [&str; 4] = ["t:", "l:", "a:", "b:"];

/// How the ids of packages begin.
const PACKAGES: [&str; 8] = [
    "com.", "net.", "org.", "io.", "dev.", "jp.", "nadena.", "lyuma.",
];

/// Extensions of assets. Others (`v1.2`, `Body.L`) are parts of names more often than extensions.
const EXTENSIONS: &str = "anim asmdef asmref asset blend compute controller cs cubemap dll exr fbx flare \
fontsettings guiskin hlsl cginc inputactions jpeg jpg json lighting mask mat mesh mixer mov mp3 mp4 obj ogg \
otf overrideController physicmaterial physicsmaterial2d playable png prefab preset psd rendertexture shader \
shadergraph signal spriteatlas tga terrainlayer tif ttf txt unity unitypackage uss uxml vrca wav aif";

fn note(call: &InFlight, reply: &Reply<'_>, _: &Cx<'_>) -> Vec<Note> {
    if !search::is_search(call) {
        return Vec::new();
    }
    let call = call.call();
    let pattern = call.as_ref().and_then(|call| call.string("search_pattern"));
    let terms = pattern.as_deref().map(with_extension).unwrap_or_default();
    if terms.is_empty() {
        return Vec::new();
    }
    let Some(results) = search::results(reply) else {
        return Vec::new();
    };
    let seen = if results.hits.is_empty() {
        "This answer shows no hits, and nothing follows from that about assets of that type."
    } else {
        "The hits shown matched that text inside a name."
    };
    vec![Note {
        code: "extension_not_matched",
        text: format!(
            "{} in search_pattern selects nothing by type: each term is compared with the asset's name \
             without its extension. {seen} To select by type use filter_type, such as \
             filter_type=\"Material\".",
            named(&terms)
        ),
    }]
}

/// The terms of a pattern that end in an asset's extension, each once, and no more than tell that
/// there are more than are named.
fn with_extension(pattern: &str) -> Vec<&str> {
    let mut terms = Vec::new();
    for term in pattern.split(|c| c == '*' || is_space(c)) {
        let is = |starts: &[&str]| starts.iter().any(|start| term.starts_with(start));
        let ends = term.rsplit_once('.').is_some_and(|(_, end)| {
            let mut known = EXTENSIONS.split(' ');
            known.any(|extension| extension.eq_ignore_ascii_case(end))
        });
        if ends && !is(&FILTERS) && !is(&PACKAGES) && !terms.contains(&term) {
            terms.push(term);
        }
        if terms.len() > NAMED {
            break;
        }
    }
    terms
}

/// The first few terms for a reader.
fn named(terms: &[&str]) -> String {
    let first = terms.iter().take(NAMED);
    let list: Vec<String> = first.map(|term| format!("`{term}`")).collect();
    let list = list.join(", ");
    if terms.len() > NAMED {
        format!("{list} and others")
    } else {
        list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_that_end_in_an_extension() {
        let cases: [(&str, &[&str]); 12] = [
            ("*.MAT", &[".MAT"]),
            ("foo.mat*bar", &["foo.mat"]),
            ("a.mat b.PNG\u{1c}c.wav", &["a.mat", "b.PNG", "c.wav"]),
            ("x.mat x.mat", &["x.mat"]),
            ("v1.2.prefab", &["v1.2.prefab"]),
            ("..mat", &["..mat"]),
            ("Hat.OVERRIDECONTROLLER", &["Hat.OVERRIDECONTROLLER"]),
            ("t:Material.mat l:x.png a:x.cs b:x.unity", &[]),
            ("com.foo.json nadena.dev.asset lyuma.x.shader", &[]),
            ("mat .ma mat. .mats foo.mat?", &[]),
            ("x.", &[]),
            ("", &[]),
        ];
        for (pattern, terms) in cases {
            assert_eq!(with_extension(pattern), terms, "{pattern}");
        }
    }

    #[test]
    fn a_long_list_is_cut() {
        let terms = with_extension("a.cs b.cs c.cs d.cs e.cs f.cs g.cs");
        assert_eq!(
            named(&terms),
            "`a.cs`, `b.cs`, `c.cs`, `d.cs`, `e.cs` and others"
        );
        assert_eq!(named(&terms[..1]), "`a.cs`");
    }
}
