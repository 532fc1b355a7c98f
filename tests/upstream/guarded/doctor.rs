//! The doctor beside a session: it reads, and leaves the Editor's client alone unless it is told to probe.

use super::*;

scenarios![a_doctor_leaves_a_running_snippet_alone];

/// A snippet that is at work until a file is there.
fn until(file: &std::path::Path) -> String {
    let file = file.display();
    format!(
        "for (int i = 0; i < 1000 && !System.IO.File.Exists(\"{file}\"); i++) System.Threading.Thread.Sleep(20);\n\
         return \"done\";"
    )
}

/// What the doctor of this home finds.
fn doctor(home: &Home, arguments: &[&str]) -> Value {
    let mut command = home.command(env!("CARGO_BIN_EXE_vrc-mcp-proxy"));
    let output = command
        .args(["doctor", "--json"])
        .args(arguments)
        .output()
        .unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

fn finding<'f>(facts: &'f Value, id: &str) -> Option<&'f Value> {
    let mut findings = facts["findings"].as_array().unwrap().iter();
    findings.find(|finding| finding["id"] == id)
}

fn a_doctor_leaves_a_running_snippet_alone(home: &Home) {
    let (editor, mut client) = pair(home);
    let (tally, file) = (Tally::new(home, "looked at"), home.path("go on"));
    let id = client.begin("execute_code", &execute(&tally.snippet(&until(&file))));
    editor.wait_deliveries("execute_code", 1, PATIENCE);
    let facts = doctor(home, &[]);
    let row = &facts["editors"][0];
    assert_eq!(row["identifier"], editor.id(), "{facts}");
    assert_eq!(
        (&row["live"], &row["hash_fits_path"]),
        (&json!(true), &json!(true))
    );
    assert_eq!(row["port"], editor.port());
    std::fs::write(&file, "").unwrap();
    let answer = client.answer(id);
    assert_eq!(answer.value(), "done", "{}", answer.0.raw);
    assert_eq!((deliveries(&editor), tally.runs()), (1, 1));

    // What a connection would have done to it.
    editor.forget();
    let (tally, file) = (Tally::new(home, "probed"), home.path("go on again"));
    client.begin("execute_code", &execute(&tally.snippet(&until(&file))));
    editor.wait_deliveries("execute_code", 1, PATIENCE);
    let facts = doctor(home, &["--probe"]);
    // The server may be back, and throw the doctor out in its turn, before the greeting was read.
    let said = ["port_greets", "port_hangs_up"].map(|id| finding(&facts, id));
    let said = said.into_iter().flatten().next();
    let said = said.unwrap_or_else(|| panic!("no greeting: {facts}"));
    says(said["message"].as_str().unwrap(), &[&editor.id()]);
    editor.wait_deliveries("execute_code", 2, PATIENCE);
    std::fs::write(&file, "").unwrap();
}
