//! The table of what each tool and action may do.
//!
//! All 47 tools of 10.1.0 are here, and what later versions with a baseline added, since the environment can expose
//! any. Where a tool's schema has no `enum` of its actions, they are those that the server names when it is asked for an
//! unknown one (measured against 10.1.0); what each does is what the tool's description says. Where that leaves a
//! doubt, the more harmful reading counts.

use super::Effect::{self, Control, Destructive, Read, Write};
use crate::call::Call;

/// Effect, actions, and what they do (see [`super::Judgement::does`]).
pub(super) type Row = (Effect, &'static str, &'static str);

/// In a row: a call without an action.
pub(super) const ALONE: &str = "-";

/// An action that does more when an argument says so.
pub(super) struct Raised {
    pub(super) tool: &'static str,
    pub(super) action: &'static str,
    pub(super) effect: Effect,
    pub(super) does: &'static str,
    pub(super) when: fn(&Call<'_>) -> bool,
}

/// The tools, in the order of the server's list.
#[rustfmt::skip]
pub(super) const TOOLS: &[(&str, &[Row])] = &[
    // As much as its worst command, see `batch`.
    ("batch_execute", &[(Destructive, ALONE, "carries other calls")]),
    // New in 10.3.0.
    ("blender_bridge", &[
        (Read, "status scene_info object_info", ""),
        (Write, "screenshot compare_screenshot import_model setup_bloom check_updates", ""),
        (Destructive, "run_python", "runs Python in Blender that can do anything"),
        (Destructive, "sync_addon", "overwrites Blender's installed addon"),
    ]),
    ("debug_request_context", &[(Read, ALONE, "")]),
    ("execute_code", &[
        (Read, "get_history", ""),
        (Write, "clear_history", ""),
        (Destructive, "execute", "runs C# that can do anything"),
        (Destructive, "replay", "runs a stored snippet, which can do anything"),
    ]),
    ("execute_menu_item", &[(Destructive, ALONE, "runs a menu command that can do anything")]),
    ("find_gameobjects", &[(Read, ALONE, "")]),
    ("find_in_file", &[(Read, ALONE, "")]),
    ("generate_audio", &[
        (Read, "status list_providers list_models", ""),
        (Control, "cancel refresh_models", ""),
        (Write, "generate", ""),
    ]),
    ("generate_image", &[
        (Read, "status list_providers list_models", ""),
        (Control, "cancel refresh_models", ""),
        (Write, "generate remove_background", ""),
    ]),
    ("generate_model", &[
        (Read, "status list_providers list_models", ""),
        (Control, "cancel refresh_models", ""),
        (Write, "generate", ""),
    ]),
    ("import_model", &[
        (Read, "search preview status list_providers", ""),
        (Control, "cancel", ""),
        (Write, "import", ""),
    ]),
    ("import_model_file", &[(Write, ALONE, "")]),
    ("manage_animation", &[
        (Read, "animator_get_info animator_get_parameter controller_get_info clip_get_info", ""),
        (Control, "animator_play animator_crossfade", ""),
        (Write, "animator_set_parameter animator_set_speed animator_set_enabled", ""),
        (Write, "controller_create controller_add_state controller_add_transition controller_add_parameter \
            controller_assign controller_add_layer controller_set_layer_weight controller_create_blend_tree_1d \
            controller_create_blend_tree_2d controller_add_blend_tree_child", ""),
        (Write, "clip_create clip_add_curve clip_set_curve clip_set_vector_curve clip_create_preset clip_assign \
            clip_add_event", ""),
        (Destructive, "controller_remove_layer", "deletes a layer of an animator controller"),
        (Destructive, "clip_remove_event", "deletes an event of an animation clip"),
    ]),
    ("manage_asset", &[
        (Read, "search get_info get_components", ""),
        (Write, "import create modify duplicate move rename create_folder", ""),
        (Destructive, "delete", "deletes the asset, or the folder with all that is in it"),
    ]),
    ("manage_build", &[
        // Without the argument that names something new, see `RAISED`.
        (Read, "status platform settings scenes profiles", ""),
        (Control, "cancel", ""),
        (Destructive, "build batch", "builds players over what stands at the output path"),
    ]),
    ("manage_camera", &[
        (Read, "ping get_brain_status list_cameras", ""),
        (Write, "ensure_brain create_camera set_target set_priority set_lens set_body set_aim set_noise \
            add_extension set_blend force_camera release_override", ""),
        (Write, "screenshot screenshot_multiview", "writes image files"),
        (Destructive, "remove_extension", "deletes a camera's extension with its settings"),
    ]),
    ("manage_components", &[
        (Write, "add set_property", ""),
        (Destructive, "remove", "deletes a component with its settings"),
    ]),
    ("manage_editor", &[
        (Read, "telemetry_status telemetry_ping", ""),
        (Control, "play pause stop set_active_tool", ""),
        (Write, "add_tag add_layer undo redo", ""),
        (Destructive, "remove_tag", "deletes a tag of the project"),
        (Destructive, "remove_layer", "deletes a layer of the project"),
        (Destructive, "deploy_package restore_package", "overwrites the installed MCP for Unity package"),
    ]),
    ("manage_gameobject", &[
        (Write, "create modify duplicate move_relative look_at", ""),
        (Destructive, "delete", "deletes GameObjects with all that is below them"),
    ]),
    ("manage_graphics", &[
        (Read, "ping volume_get_info volume_list_effects bake_status bake_get_settings stats_get \
            stats_list_counters stats_get_memory pipeline_get_info pipeline_get_settings feature_list skybox_get", ""),
        (Control, "bake_cancel stats_set_scene_debug", ""),
        (Write, "volume_create volume_add_effect volume_set_effect volume_set_properties volume_create_profile", ""),
        (Write, "bake_reflection_probe bake_set_settings bake_create_light_probe_group \
            bake_create_reflection_probe bake_set_probe_positions", ""),
        (Write, "pipeline_set_quality pipeline_set_settings feature_add feature_configure feature_toggle \
            feature_reorder", ""),
        (Write, "skybox_set_material skybox_set_properties skybox_set_ambient skybox_set_fog \
            skybox_set_reflection skybox_set_sun", ""),
        (Destructive, "volume_remove_effect", "deletes an effect with its settings"),
        (Destructive, "bake_start", "overwrites the baked lighting"),
        (Destructive, "bake_clear", "deletes the baked lighting"),
        (Destructive, "feature_remove", "deletes a renderer feature with its settings"),
    ]),
    ("manage_material", &[
        (Read, "ping get_material_info", ""),
        (Write, "create set_material_shader_property set_material_color assign_material_to_renderer \
            set_renderer_color", ""),
    ]),
    ("manage_packages", &[
        (Read, "list_packages search_packages get_package_info ping status list_registries", ""),
        (Write, "add_package embed_package resolve_packages add_registry", ""),
        (Destructive, "remove_package", "removes a package from the project"),
        (Destructive, "remove_registry", "removes a package registry from the project"),
    ]),
    ("manage_physics", &[
        (Read, "ping get_settings get_collision_matrix raycast raycast_all linecast shapecast overlap validate \
            get_rigidbody", ""),
        (Write, "set_settings set_collision_matrix create_physics_material configure_physics_material \
            assign_physics_material add_joint configure_joint simulate_step apply_force configure_rigidbody", ""),
        (Destructive, "remove_joint", "deletes a joint with its settings"),
    ]),
    ("manage_prefabs", &[
        (Read, "get_info get_hierarchy", ""),
        (Control, "open_prefab_stage", ""),
        (Write, "create_from_gameobject modify_contents save_prefab_stage", ""),
        (Destructive, "close_prefab_stage", "closes the prefab stage, with what was not saved in it"),
    ]),
    ("manage_probuilder", &[
        (Read, "ping get_mesh_info select_faces validate_mesh", ""),
        (Write, "create_shape create_poly_shape extrude_faces extrude_edges bevel_edges subdivide bridge_edges \
            connect_elements flip_normals merge_faces duplicate_and_flip create_polygon merge_vertices \
            weld_vertices split_vertices move_vertices insert_vertex append_vertices_to_edge", ""),
        (Write, "set_face_material set_face_color set_face_uvs convert_to_probuilder set_smoothing auto_smooth \
            center_pivot freeze_transform set_pivot repair_mesh", ""),
        (Destructive, "delete_faces", "deletes faces of a mesh"),
        (Destructive, "detach_faces", "can delete the faces that it detaches"),
        (Destructive, "combine_meshes merge_objects", "makes one object of several"),
    ]),
    ("manage_profiler", &[
        (Read, "ping profiler_status get_frame_timing get_counters get_object_memory memory_list_snapshots \
            memory_compare_snapshots frame_debugger_get_events", ""),
        (Control, "profiler_start profiler_stop profiler_set_areas frame_debugger_enable \
            frame_debugger_disable", ""),
        (Write, "memory_take_snapshot", "writes a snapshot file"),
    ]),
    ("manage_scene", &[
        (Read, "get_hierarchy get_active get_build_settings get_loaded_scenes scene_view_frame validate", ""),
        (Write, "load save set_active_scene move_to_scene", ""),
        (Destructive, "create", "closes every loaded scene, with what was not saved in them"),
        (Destructive, "close_scene", "closes a scene, with what was not saved in it"),
    ]),
    ("refresh_unity", &[(Control, ALONE, "")]),
    ("apply_text_edits", &[(Write, ALONE, "")]),
    ("create_script", &[(Write, ALONE, "")]),
    ("delete_script", &[(Destructive, ALONE, "deletes a script")]),
    ("validate_script", &[(Read, ALONE, "")]),
    ("manage_script", &[
        (Read, "read", ""),
        (Write, "create", ""),
        (Destructive, "delete", "deletes a script"),
    ]),
    ("manage_script_capabilities", &[(Read, ALONE, "")]),
    ("get_sha", &[(Read, ALONE, "")]),
    ("manage_scriptable_object", &[(Write, "create modify", "")]),
    ("manage_shader", &[
        (Read, "read", ""),
        (Write, "create", ""),
        (Destructive, "update", "overwrites the shader's file"),
        (Destructive, "delete", "deletes a shader"),
    ]),
    ("manage_texture", &[
        (Write, "create modify create_sprite apply_pattern apply_gradient apply_noise set_import_settings", ""),
        (Destructive, "delete", "deletes a texture"),
    ]),
    ("manage_tools", &[
        (Read, "list_groups", ""),
        (Control, "activate deactivate sync reset", ""),
    ]),
    ("manage_ui", &[
        (Read, "ping read get_visual_tree list", ""),
        (Write, "create attach_ui_document create_panel_settings update_panel_settings link_stylesheet \
            modify_visual_element", ""),
        (Write, "render_ui", "writes an image file"),
        (Destructive, "update", "overwrites the document's file"),
        (Destructive, "delete", "deletes a document"),
        (Destructive, "detach_ui_document", "deletes a UIDocument component with its settings"),
    ]),
    ("manage_vfx", &[
        (Read, "ping particle_get_info vfx_list_templates vfx_list_assets vfx_get_info line_get_info \
            trail_get_info", ""),
        (Control, "particle_play particle_stop particle_pause particle_restart particle_clear vfx_send_event \
            vfx_play vfx_stop vfx_pause vfx_reinit trail_clear trail_emit", ""),
        (Write, "particle_create particle_set_main particle_set_emission particle_set_shape \
            particle_set_color_over_lifetime particle_set_size_over_lifetime particle_set_velocity_over_lifetime \
            particle_set_noise particle_set_renderer particle_enable_module particle_add_burst", ""),
        (Write, "vfx_create_asset vfx_assign_asset vfx_set_float vfx_set_int vfx_set_bool vfx_set_vector2 \
            vfx_set_vector3 vfx_set_vector4 vfx_set_color vfx_set_gradient vfx_set_texture vfx_set_mesh \
            vfx_set_curve vfx_set_playback_speed vfx_set_seed", ""),
        (Write, "line_set_positions line_add_position line_set_position line_set_width line_set_color \
            line_set_material line_set_properties line_create_line line_create_circle line_create_arc \
            line_create_bezier", ""),
        (Write, "trail_set_time trail_set_width trail_set_color trail_set_material trail_set_properties", ""),
        (Destructive, "particle_clear_bursts", "deletes a particle system's bursts"),
        (Destructive, "line_clear", "deletes a line's positions"),
    ]),
    ("read_console", &[
        // `get` is what the server takes for none.
        (Read, "- get", ""),
        (Write, "clear", ""),
    ]),
    ("run_tests", &[(Destructive, ALONE, "runs the project's tests, which can do anything")]),
    ("get_test_job", &[(Read, ALONE, "")]),
    ("script_apply_edits", &[(Write, ALONE, "")]),
    ("set_active_instance", &[(Control, ALONE, "")]),
    ("unity_docs", &[(Read, "get_doc get_manual get_package_doc lookup", "")]),
    ("unity_reflect", &[(Read, "get_type get_member search", "")]),
];

/// What an argument makes of an action.
#[rustfmt::skip]
pub(super) const RAISED: &[Raised] = &[
    Raised { tool: "manage_build", action: "platform", effect: Write, does: "switches the build platform",
        when: |call| given(call, "target") || given(call, "subtarget") },
    Raised { tool: "manage_build", action: "settings", effect: Write, does: "changes a build setting",
        when: |call| given(call, "value") },
    Raised { tool: "manage_build", action: "scenes", effect: Write, does: "changes the list of scenes to build",
        when: |call| given(call, "scenes") },
    Raised { tool: "manage_build", action: "profiles", effect: Write, does: "activates a build profile",
        when: |call| not_off(call, "activate") },
    Raised { tool: "manage_gameobject", action: "create", effect: Destructive,
        does: "saves a prefab, over one that stands at its path", when: |call| not_off(call, "save_as_prefab") },
    Raised { tool: "manage_gameobject", action: "modify", effect: Destructive,
        does: "deletes components with their settings", when: |call| names_some(call, "components_to_remove") },
    Raised { tool: "manage_prefabs", action: "create_from_gameobject", effect: Destructive,
        does: "overwrites a prefab", when: |call| not_off(call, "allow_overwrite") },
    Raised { tool: "manage_prefabs", action: "modify_contents", effect: Destructive,
        does: "deletes parts of a prefab",
        when: |call| names_some(call, "components_to_remove") || names_some(call, "delete_child") },
    Raised { tool: "manage_profiler", action: "profiler_start", effect: Write, does: "records to a file",
        when: |call| given(call, "log_file") },
    // Anything but a declared additive load by name or path opens Single (see `manage_scene_discard_guard`).
    Raised { tool: "manage_scene", action: "load", effect: Destructive,
        does: "closes every loaded scene, with what was not saved in them",
        when: |call| call.flag("additive") != Some(true) || !(call.supplied("name") || call.supplied("path")) },
    Raised { tool: "manage_scene", action: "save", effect: Destructive,
        does: "saves the scene over the file that it names", when: |call| given(call, "name") || given(call, "path") },
    Raised { tool: "manage_scene", action: "validate", effect: Write, does: "repairs what it finds",
        when: |call| not_off(call, "auto_repair") },
    Raised { tool: "manage_scriptable_object", action: "create", effect: Destructive, does: "overwrites an asset",
        when: |call| not_off(call, "overwrite") },
];

fn given(call: &Call<'_>, name: &str) -> bool {
    call.argument(name).is_some_and(|raw| raw != "null")
}

/// Whether a boolean argument may be on: it stands there and is not off for certain.
fn not_off(call: &Call<'_>, name: &str) -> bool {
    call.supplied(name) && call.flag(name) != Some(false)
}

/// Whether a list names something: the server takes a list as such, a text for one name or for JSON.
fn names_some(call: &Call<'_>, name: &str) -> bool {
    let text = call.string(name);
    let text = text.as_deref().or(call.argument(name)).unwrap_or_default();
    let bare: String = text.split_whitespace().collect();
    !matches!(&*bare, "" | "null" | "[]")
}
