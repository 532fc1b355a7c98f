//! The tools' own faults: moves, searches, lookups.

use super::*;

scenarios![assets_searches_and_lookups];

fn assets_searches_and_lookups(home: &Home) {
    let (editor, mut client) = pair(home);
    a_search_scope_is_dropped_and_lookups_miss(&editor, &mut client);
    moves_land_and_are_reported_as_failed(&editor, &mut client);
}

const SAMPLE: &str = "Assets/Scenes/SampleScene.unity";

fn moves_land_and_are_reported_as_failed(editor: &Editor, client: &mut Client) {
    let on_disk = |path: &str| editor.root().join(path).exists();
    let one = "Assets/Levels/One.unity";

    let folder = json!({"action": "create_folder", "path": "Levels"});
    assert!(client.call("manage_asset", &folder).succeeded());
    let moved = json!({"action": "move", "path": SAMPLE, "destination": one});
    let moved = client.call("manage_asset", &moved);
    assert!(!moved.succeeded(), "{}", moved.text());
    assert!(moved.text().contains("failed unexpectedly"));
    assert!(on_disk(one) && !on_disk(SAMPLE));
    let renamed = json!({"action": "rename", "path": one, "destination": "Two.unity"});
    assert!(!client.call("manage_asset", &renamed).succeeded());
    assert!(on_disk("Assets/Two.unity") && !on_disk(one), "a bare name");

    let delete = json!({"action": "delete", "path": "Assets/Two.unity"});
    assert!(client.call("manage_asset", &delete).succeeded());
    assert!(!on_disk("Assets/Two.unity"));
    let again = client.call("manage_asset", &delete);
    assert!(again.text().contains("not found"), "{}", again.text());
}

fn a_search_scope_is_dropped_and_lookups_miss(editor: &Editor, client: &mut Client) {
    std::fs::create_dir_all(editor.root().join("Assets/Levels")).unwrap();

    let search = |path: &str, pattern: &str| json!({"action": "search", "path": path, "search_pattern": pattern});
    let scoped = client.call("manage_asset", &search("Assets/Levels", "t:Scene"));
    assert_eq!(scoped.payload()["data"]["totalAssets"], 0);
    let dropped = client.call("manage_asset", &search("Assets/Nowhere", "t:Scene"));
    assert_eq!(
        dropped.payload()["data"]["assets"][0]["path"],
        "Assets/Scenes/SampleScene.unity"
    );
    let typed = client.call("manage_asset", &search("Assets", "*.unity"));
    assert_eq!(
        typed.payload()["data"]["totalAssets"],
        0,
        "names are compared without extension"
    );
    let filter = json!({"action": "search", "path": "Assets", "filter_type": "Scene"});
    assert_eq!(
        client.call("manage_asset", &filter).payload()["data"]["totalAssets"],
        1
    );

    let missed = client.call(
        "manage_gameobject",
        &json!({"action": "modify", "target": "Nobody"}),
    );
    assert!(
        missed.text().contains("not found using method"),
        "{}",
        missed.text()
    );
    let children = client.call(
        "manage_scene",
        &json!({"action": "get_hierarchy", "parent": "Nobody"}),
    );
    assert!(children.text().contains("not found"), "{}", children.text());
    let shot = client.call("manage_camera", &json!({"action": "screenshot", "output_folder": "Assets/Shots", "screenshot_file_name": "one"}));
    assert!(shot.succeeded(), "{}", shot.text());
    assert_eq!(
        std::fs::read_dir(editor.root().join("Assets/Shots"))
            .unwrap()
            .count(),
        1
    );
    assert!(client.call("refresh_unity", &json!({})).succeeded());
}
