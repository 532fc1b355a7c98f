//! Snippets: values, failures, line numbers, history.

use super::*;

scenarios![snippets_run_and_fail_as_in_an_editor];

fn snippets_run_and_fail_as_in_an_editor(home: &Home) {
    let (editor, mut client) = pair(home);
    lists_its_tools_and_runs_snippets(&editor, &mut client);
    compile_errors_name_the_snippets_lines(&mut client);
    kits_and_inactive_objects_are_there(&mut client);
}

fn lists_its_tools_and_runs_snippets(editor: &Editor, client: &mut Client) {
    let id = client.request("tools/list", &json!({}));
    let listing = client.answer(id);
    let tools = listing.result()["tools"].as_array().unwrap();
    assert_eq!(tools.len(), 47);
    assert!(tools.iter().any(|tool| tool["name"] == "execute_code"));

    let value =
        client.code(r#"return new Dictionary<string, object> { { "a", 1.5 }, { "b", "é\n" } };"#);
    assert_eq!(value.value(), json!({"a": 1.5, "b": "é\n"}));
    assert_eq!(
        value.result()["structuredContent"],
        value.payload(),
        "both surfaces"
    );
    assert!(
        client.code("return null;").payload()["data"]
            .get("result")
            .is_none()
    );
    assert_eq!(
        client.code(WHERE).value(),
        format!("{}/Assets", editor.root().display())
    );

    let thrown = client.code(r#"throw new InvalidOperationException("boom");"#);
    assert_eq!(thrown.payload()["message"], "Runtime error: boom");
    assert_eq!(
        thrown.payload()["data"]["exceptionType"],
        "InvalidOperationException"
    );
    let loose = "while (true) { break; } return 3;";
    let blocked = json!({"action": "execute", "code": loose});
    let blocked = client.call("execute_code", &blocked);
    assert!(blocked.text().contains("Blocked pattern detected"));
    let freed = json!({"action": "execute", "code": loose, "safety_checks": false});
    assert_eq!(client.call("execute_code", &freed).value(), 3);
    let arrived = editor.delivered("execute_code").pop().unwrap();
    assert_eq!(arrived.params["code"], loose);
    assert_eq!(arrived.params["safety_checks"], false);

    assert_eq!(client.code(COUNT).value(), 1);
    let history = json!({"action": "get_history", "limit": 1});
    let history = client.call("execute_code", &history).payload();
    let last = &history["data"]["entries"][0];
    assert_eq!(last["codePreview"], COUNT);
    let replay = json!({"action": "replay", "index": last["index"]});
    assert_eq!(client.call("execute_code", &replay).value(), 2);
}

fn compile_errors_name_the_snippets_lines(client: &mut Client) {
    let failed = client.code("var a = 1;\nint b = \"x\";\nreturn foo;");
    assert_eq!(failed.payload()["message"], "Compilation failed");
    assert_eq!(lines_named(&failed), ["Line 2", "Line 3"]);
    assert!(
        failed
            .text()
            .contains("does not exist in the current context")
    );
    // Found at the method's own head, above the snippet: the floor is 1.
    assert_eq!(lines_named(&client.code("int a = 1;\na++;")), ["Line 1"]);
    assert_eq!(
        lines_named(&client.code("#line 41\nint b = \"x\";\nreturn b;")),
        ["Line 31"],
        "#line is honoured"
    );

    let traps = [
        ("return new Object();", "is an ambiguous reference"),
        (
            "var a = Math; return a;",
            "is a `type' but a `variable' was expected",
        ),
        (
            "return Ryan6Vrc.AgentTools.Editor.ReportConsole.Execute();",
            "does not contain a definition for",
        ),
    ];
    for (code, says) in traps {
        let text = client.code(code).text();
        assert!(text.contains(says), "{text}");
    }
}

fn kits_and_inactive_objects_are_there(client: &mut Client) {
    let kit =
        client.code(r#"return Ryan6Vrc.AgentTools.Editor.ReportConsole.Run("error", "x", 5);"#);
    assert_eq!(kit.value(), "error|x|5");
    let hidden = client.code(
        r#"var top = new GameObject("Top"); new GameObject("Low").transform.SetParent(top.transform);
           top.SetActive(false);
           return new object[] { GameObject.Find("Low") == null, top.transform.Find("Low") != null };"#,
    );
    assert_eq!(hidden.value(), json!([true, true]));
}
