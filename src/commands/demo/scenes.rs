//! The demo's scenes as data: what the client asks, and what is claimed to come of it without the proxy and with it.
//! The claims are checked when a scene is played.

use super::check::{Claim, Verdict};
use super::unity::HANGS;
use serde_json::{Value, json};

/// Project name and Assets folder of the Editors. No such folder has to exist.
pub(super) const ALPHA: (&str, &str) = ("Alpha", "C:/Unity/Alpha/Assets");
pub(super) const BETA: (&str, &str) = ("Beta", "C:/Unity/Beta/Assets");

/// What the Editors are called; the digits follow from the folders.
const ALPHA_ID: &str = "Alpha@0be31597";
const BETA_ID: &str = "Beta@1824ae67";

/// A part of a scene.
pub(super) enum Step {
    /// A call of this tool with these arguments.
    Call(&'static str, Value),
    /// The user closes this Editor.
    Close((&'static str, &'static str)),
}

/// A lie, and what becomes of it.
pub(super) struct Scene {
    /// The lie in plain words.
    pub(super) title: &'static str,
    /// What else there is to know.
    pub(super) about: &'static str,
    /// The behaviour that this is about.
    pub(super) behavior: &'static str,
    /// Whether that one states a fact in the answer's `_meta`: a rewrite of the call needs none.
    pub(super) stated: bool,
    /// The Editors that are open at first.
    pub(super) editors: Vec<(&'static str, &'static str)>,
    /// What goes before the call that counts.
    pub(super) before: Vec<Step>,
    /// The call that counts.
    pub(super) call: (&'static str, Value),
    /// Whether the client leaves after it.
    pub(super) leaves: bool,
    /// What comes of the call without the proxy.
    pub(super) without: Claim,
    /// The same with the proxy.
    pub(super) with: Claim,
}

impl Scene {
    /// A scene in one Editor, of one call.
    fn of(title: &'static str, behavior: &'static str, call: (&'static str, Value)) -> Self {
        Scene {
            title,
            about: "",
            behavior,
            stated: true,
            editors: vec![ALPHA],
            before: Vec::new(),
            call,
            leaves: false,
            without: Claim::default(),
            with: Claim::default(),
        }
    }
}

/// All scenes, in the order in which they are told.
pub(super) fn all() -> Vec<Scene> {
    vec![
        slow_snippet(),
        closed_editor(),
        asset_move(),
        scene_load(),
        reload_word(),
        search(),
        nobody_named(),
        console(),
        client_leaves(),
    ]
}

fn slow_snippet() -> Scene {
    let code = "new GameObject(\"Lamp\");\nLightmapping.Bake();\nreturn \"baked\";";
    Scene {
        about: "It takes 35 s. The server sends it again after 30, 31, 33, 34 and 35 s (here at once).",
        stated: false,
        without: Claim {
            editor: "Alpha got it 6 times: 6 times made a Lamp and baked for 35 s",
            verdict: Verdict::Failure,
            told: &["Timeout receiving Unity response"],
        },
        with: Claim {
            editor: "Alpha got it 6 times: once made a Lamp and baked for 35 s, 5 times found it done and ran nothing",
            verdict: Verdict::Success,
            told: &[
                "already ran exactly once",
                "The record is the value's ToString(), not the value. Record: completed: baked",
            ],
        },
        ..Scene::of(
            "A slow snippet runs six times, and the agent is told of a time-out",
            "execute_code_idempotency_guard",
            ("execute_code", json!({ "action": "execute", "code": code })),
        )
    }
}

fn closed_editor() -> Scene {
    Scene {
        about: "Alpha and Beta are open, the session is pinned to Alpha, and the call comes within 5 s.",
        editors: vec![ALPHA, BETA],
        before: vec![
            Step::Call("set_active_instance", json!({ "instance": ALPHA_ID })),
            Step::Close(ALPHA),
        ],
        without: Claim {
            editor: "Beta deleted Assets/Old",
            verdict: Verdict::Success,
            told: &["deleted successfully"],
        },
        with: Claim {
            editor: "",
            verdict: Verdict::Failure,
            told: &["nothing ran", BETA_ID, "Open that project"],
        },
        ..Scene::of(
            "The pinned Editor is closed: another project gets the call, reported as success",
            "pinned_editor_guard",
            (
                "manage_asset",
                json!({ "action": "delete", "path": "Assets/Old" }),
            ),
        )
    }
}

fn asset_move() -> Scene {
    Scene {
        without: Claim {
            editor: "Alpha moved Assets/Lamp.prefab to Assets/Props/Lamp.prefab",
            verdict: Verdict::Failure,
            told: &["MoveAsset call failed unexpectedly"],
        },
        with: Claim {
            editor: "",
            verdict: Verdict::Failure,
            told: &["was not forwarded", "Move and rename through execute_code"],
        },
        ..Scene::of(
            "A move that landed is reported as failed",
            "manage_asset_mutation_guard",
            (
                "manage_asset",
                json!({
                    "action": "move", "path": "Assets/Lamp.prefab",
                    "destination": "Assets/Props/Lamp.prefab",
                }),
            ),
        )
    }
}

fn scene_load() -> Scene {
    Scene {
        about: "Main and Lighting are loaded. Lighting has unsaved changes, but Main is the active one.",
        without: Claim {
            editor: "Alpha opened Assets/Menu.unity and closed Main and Lighting, whose unsaved changes are lost",
            verdict: Verdict::Success,
            told: &["loaded successfully"],
        },
        with: Claim {
            editor: "",
            verdict: Verdict::Failure,
            told: &[
                "closes every loaded scene",
                "Run manage_scene get_loaded_scenes",
            ],
        },
        ..Scene::of(
            "Loading a scene throws away another one's unsaved work",
            "manage_scene_discard_guard",
            (
                "manage_scene",
                json!({ "action": "load", "path": "Assets/Menu.unity" }),
            ),
        )
    }
}

fn reload_word() -> Scene {
    Scene {
        about: "An answer with the letters \"reload\" in it passes for a domain reload, and the call is sent again for 10 to \
                20 s (here at once).",
        without: Claim {
            editor: "Alpha got it 40 times: 40 times made a Preloader",
            verdict: Verdict::Failure,
            told: &["Unity is reloading; please retry"],
        },
        with: Claim {
            editor: "Alpha got it 40 times: 40 times made a Preloader",
            verdict: Verdict::Failure,
            told: &[
                "Unity is reloading; please retry",
                "heartbeat",
                "up to 40 times",
            ],
        },
        ..Scene::of(
            "A call is made forty times over, and the agent is told to repeat it",
            "delivery_outcome_note",
            (
                "manage_gameobject",
                json!({ "action": "create", "name": "Preloader" }),
            ),
        )
    }
}

fn search() -> Scene {
    Scene {
        about: "The project has no Assets/Lamps.",
        without: Claim {
            editor: "Alpha searched all of Assets",
            verdict: Verdict::Success,
            told: &["Found 2 asset(s)", "Assets/Characters/Skin.mat"],
        },
        with: Claim {
            editor: "Alpha searched all of Assets",
            verdict: Verdict::Success,
            told: &[
                "Found 2 asset(s)",
                "was dropped and the whole project was searched",
            ],
        },
        ..Scene::of(
            "A search in a folder that does not exist covers the whole project",
            "manage_asset_search_scope_note",
            (
                "manage_asset",
                json!({ "action": "search", "path": "Assets/Lamps", "filter_type": "Material" }),
            ),
        )
    }
}

fn nobody_named() -> Scene {
    let name = json!({ "action": "search", "path": "Assets", "unity_instance": BETA_ID });
    Scene {
        about: "Nothing is pinned. An earlier call was meant for Beta.",
        editors: vec![ALPHA, BETA],
        before: vec![Step::Call("manage_asset", name)],
        without: Claim {
            editor: "Beta made a Lamp",
            verdict: Verdict::Success,
            told: &["created successfully"],
        },
        with: Claim {
            editor: "",
            verdict: Verdict::Failure,
            told: &[
                "2 Unity Editors are live",
                ALPHA_ID,
                "Pin one for the session",
            ],
        },
        ..Scene::of(
            "Two Editors are open, a call names neither, and one of them gets it",
            "instance_guard",
            (
                "manage_gameobject",
                json!({ "action": "create", "name": "Lamp" }),
            ),
        )
    }
}

fn console() -> Scene {
    Scene {
        without: Claim {
            editor: "Alpha read the first line of each entry",
            verdict: Verdict::Success,
            told: &["Build failed with 2 errors:"],
        },
        with: Claim {
            editor: "",
            verdict: Verdict::Failure,
            told: &[
                "first line of each console entry",
                "Two doors through execute_code",
            ],
        },
        ..Scene::of(
            "The console is read, and of each error only the headline comes",
            "allowlist",
            ("read_console", json!({ "types": ["error"] })),
        )
    }
}

fn client_leaves() -> Scene {
    let code = format!("return {HANGS}(LightType.Spot, 0).Length;");
    Scene {
        about: "Here the proxy gives up after 0.3 s instead of 120 s, and the server after one more time instead of \
                20 s and more.",
        leaves: true,
        without: Claim {
            editor: "Alpha never came back from compiling it. After the client left: it was sent again",
            verdict: Verdict::Silence,
            told: &[],
        },
        with: Claim {
            editor: "Alpha never came back from compiling it. After the client left: the server is gone",
            verdict: Verdict::Failure,
            told: &["No response", "if it mutates, verify on disk first"],
        },
        ..Scene::of(
            "A snippet hangs, the client leaves, and the server goes on sending it",
            "execute_code_watchdog",
            ("execute_code", json!({ "action": "execute", "code": code })),
        )
    }
}
