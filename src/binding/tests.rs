use super::*;

const NOW: i64 = 1_000_000_000;

fn editor(hash: &str, path: &str, age_ms: i64) -> Editor {
    let body = serde_json::json!({ "project_path": path, "project_name": "Mine" }).to_string();
    let mut editor = Editor::parse(hash, Path::new("f"), body.as_bytes()).expect("a usable file");
    editor.last_heartbeat_ms = Some(NOW - age_ms);
    editor
}

fn binding(roots: &[&str]) -> Binding {
    Binding::new(roots.iter().map(ToString::to_string).collect(), true)
}

fn hashes(binding: &Binding, editors: &[Editor], links: &[(&str, &str)]) -> Vec<String> {
    let real = |path: &Path| {
        let link = links.iter().find(|(link, _)| Path::new(link) == path);
        link.map(|(_, real)| (*real).to_owned())
    };
    let fitting = binding.fitting(editors, NOW, real);
    fitting.iter().map(|editor| editor.hash.clone()).collect()
}

#[test]
fn the_assets_folder_of_the_root_fits_and_no_other() {
    let bound = binding(&["/p/Mine"]);
    for path in ["/p/Mine/Assets", "/p/Mine/Assets/", "/p//Mine/./Assets"] {
        assert_eq!(
            hashes(&bound, &[editor("aa", path, 0)], &[]),
            ["aa"],
            "{path}"
        );
    }
    for path in [
        "/p/Mine",
        "/p/Mine/",
        "/p/Mine2/Assets",
        "/p/Mine/Assets/Assets",
        "/p/Assets",
        "Mine/Assets",
        "/q/p/Mine/Assets",
        "/p/Mine/Assets2",
    ] {
        assert!(
            hashes(&bound, &[editor("aa", path, 0)], &[]).is_empty(),
            "{path}"
        );
    }
    let top = binding(&[""]);
    assert_eq!(hashes(&top, &[editor("aa", "/Assets", 0)], &[]), ["aa"]);
}

#[test]
fn either_spelling_of_a_link_fits_and_the_last_to_write_is_the_one() {
    let bound = binding(&["/p/link", "/p/real"]);
    let editors = [
        editor("aa", "/p/link/Assets", 90_000),
        editor("bb", "/p/real/Assets", 500),
        editor("cc", "/p/else/Assets", 0),
    ];
    assert_eq!(hashes(&bound, &editors, &[]), ["bb", "aa"]);
    let mut timeless = editors[1].clone();
    timeless.last_heartbeat_ms = None;
    let editors = [timeless, editors[0].clone()];
    assert_eq!(hashes(&bound, &editors, &[]), ["aa", "bb"]);
}

#[test]
fn a_live_editor_behind_a_link_of_its_own_fits() {
    let bound = binding(&["/p/real"]);
    let links = [("/p/mine", "/p/real"), ("/p/else", "/p/other")];
    let behind = editor("aa", "/p/mine/Assets", 500);
    assert_eq!(
        hashes(&bound, std::slice::from_ref(&behind), &links),
        ["aa"]
    );
    // What is left of an opening by the other spelling does not hide it.
    let ghost = editor("bb", "/p/real/Assets", 900_000);
    assert_eq!(hashes(&bound, &[ghost, behind], &links), ["aa", "bb"]);
    let other = editor("cc", "/p/else/Assets", 500);
    assert!(hashes(&bound, &[other], &links).is_empty());
    let no_assets = editor("dd", "/p/mine/Other", 500);
    assert!(hashes(&bound, &[no_assets], &links).is_empty());
}

#[test]
fn no_disk_is_asked_about_closed_editors_or_beside_a_live_fit() {
    let bound = binding(&["/p/real"]);
    let never = |path: &Path| -> Option<String> { panic!("asked about {}", path.display()) };
    let closed = editor("aa", "/dead/disk/Assets", 181_000);
    assert!(
        bound
            .fitting(std::slice::from_ref(&closed), NOW, never)
            .is_empty()
    );
    let editors = [
        closed,
        editor("bb", "/p/real/Assets", 0),
        editor("cc", "/x/Assets", 0),
    ];
    assert_eq!(bound.fitting(&editors, NOW, never).len(), 1);
}

#[test]
fn an_explanation_tells_fit_and_hash_of_each() {
    let bound = binding(&["/p/link", "/p/real"]);
    let own = hash8("/p/real/Assets");
    let editors = [
        editor("aaaa0000", "/p/link/Assets", 500),
        editor(&own, "/p/real/Assets", 90_000),
        editor("cc", "/p/else/Assets", 0),
    ];
    let told = bound.explain(&editors, NOW, |_| None);
    let fits: Vec<Fit> = told.iter().map(|one| one.fit).collect();
    assert_eq!(fits, [Fit::Bound, Fit::Older, Fit::Other]);
    let agree: Vec<bool> = told.iter().map(|one| one.hash_agrees).collect();
    assert_eq!(agree, [false, true, false]);
    assert_eq!(told[0].computed_hash, hash8("/p/link/Assets"));
    assert_eq!(told[1].spelling.map(Spelling::hash), Some(own));
    assert_eq!(told[2].spelling, None);
    let expected: Vec<String> = bound.spellings().iter().map(Spelling::data_path).collect();
    assert_eq!(expected, ["/p/link/Assets", "/p/real/Assets"]);
}

#[test]
fn the_identifier_is_the_one_that_the_server_knows() {
    let mut editor = editor("aaaa0000", "/p/Folder/Assets", 0);
    assert_eq!(identifier(&editor), "Mine@aaaa0000");
    editor.project_name = None;
    assert_eq!(identifier(&editor), "Folder@aaaa0000");
}
