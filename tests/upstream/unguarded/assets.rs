//! The tools' own faults: moves, searches, lookups.

use super::*;

const SAMPLE: &str = "Assets/Scenes/SampleScene.unity";

fn guid(client: &mut Client, path: &str) -> Value {
    let known = client.call("manage_asset", &json!({"action": "get_info", "path": path}));
    known.payload()["data"]["guid"].clone()
}

#[test]
fn moves_land_and_are_reported_as_failed() {
    need_the_server!();
    let home = Home::new();
    let (editor, mut client) = pair(&home);
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

#[test]
fn the_snippet_for_a_move_tells_the_truth() {
    need_the_server!();
    let home = Home::new();
    let (editor, mut client) = pair(&home);
    let relocate = |from: &str, to: &str| {
        format!(
            r#"var why = AssetDatabase.MoveAsset("{from}", "{to}");
               if (why != "") throw new Exception(why);
               return "moved";"#
        )
    };

    let before = guid(&mut client, SAMPLE);
    let moved = client.code(&relocate(SAMPLE, "Assets/Two.unity"));
    assert_eq!(moved.value(), "moved");
    assert!(editor.root().join("Assets/Two.unity").exists());
    assert!(!editor.root().join(SAMPLE).exists());
    assert_eq!(guid(&mut client, "Assets/Two.unity"), before);
    let refused = client.code(&relocate("Assets/Nowhere.unity", SAMPLE));
    assert!(refused.text().contains("could not be found"));
}

#[test]
fn a_search_scope_is_dropped_and_lookups_miss() {
    need_the_server!();
    let home = Home::new();
    let (editor, mut client) = pair(&home);
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
