//! The injected C# against a real compiler and runtime, Mono's, in the method that the Editor puts a snippet in.
//!
//! Without `mcs` and `mono` these tests say that they are skipped; with `VRC_MCP_PROXY_REQUIRE_REAL=1` they fail.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

#[path = "csharp/mono.rs"]
mod mono;
#[path = "csharp/shapes.rs"]
mod shapes;

use mono::Program;
use shapes::{BROKEN, OPEN_ENDED, RUNS, WHOLE, WHOLE_7};
use std::collections::BTreeSet;
use vrc_mcp_proxy::csharp::line_count;
use vrc_mcp_proxy::csharp::prelude::{
    DUPLICATE_MARKER, IDEMPOTENCY_LINES, VENUE_LINES, VENUE_MARKER, idempotency, venue,
};

const PATH: &str = "C:/Unity/Ünï \"x\" 😀/Assets";

fn key(n: usize) -> String {
    format!("0123abcd-{n}")
}

fn checked(code: &str) -> String {
    venue(PATH, None).around(code)
}

fn wrapped(code: &str, n: usize) -> String {
    idempotency(&key(n)).around(code)
}

fn guarded(code: &str, n: usize) -> String {
    venue(PATH, Some(&key(n))).around(&wrapped(code, n))
}

/// Delivers each snippet bare, checked, wrapped and both: that must show in nothing but a second delivery.
fn assert_transparent(version: &str, snippets: &[&str]) {
    let mut program = Program::new();
    let mut commands = vec![format!("path {PATH}")];
    for (n, code) in snippets.iter().enumerate() {
        let bare = program.add(code);
        let checked = program.add(&checked(code));
        let wrapped = program.add(&wrapped(code, 2 * n));
        let guarded = program.add(&guarded(code, 2 * n + 1));
        for class in [&bare, &checked, &wrapped, &guarded, &wrapped, &guarded] {
            commands.extend([format!("run {class}"), "runs".to_owned()]);
        }
    }
    let answers = program.drive(version, &commands);
    for (code, answers) in snippets.iter().zip(answers[1..].chunks(12)) {
        let (bare, others) = answers.split_at(2);
        let (first, later) = others.split_at(6);
        assert!(first.chunks(2).all(|a| a == bare), "{code}\n{answers:#?}");
        let outcome = if bare[0].starts_with('!') {
            "failed"
        } else {
            "succeeded"
        };
        let record = format!("= String {DUPLICATE_MARKER} {outcome}: ");
        assert!(
            later
                .chunks(2)
                .all(|a| a[0].starts_with(&record) && a[1] == "0"),
            "{code}\n{answers:#?}"
        );
    }
}

#[test]
fn what_compiles_by_itself_compiles_wrapped_and_gives_the_same() {
    if mono::is_here("what_compiles_by_itself_compiles_wrapped_and_gives_the_same") {
        assert_transparent("6", WHOLE);
        assert_transparent("7", WHOLE_7);
    }
}

#[test]
fn a_snippet_without_a_return_gives_null() {
    if !mono::is_here("a_snippet_without_a_return_gives_null") {
        return;
    }
    let mut program = Program::new();
    let mut commands = vec![format!("path {PATH}")];
    for (n, code) in OPEN_ENDED.iter().enumerate() {
        let classes = [
            program.add(&wrapped(code, 2 * n)),
            program.add(&guarded(code, 2 * n + 1)),
        ];
        commands.extend(classes.map(|class| format!("run {class}")));
    }
    let answers = program.drive("6", &commands);
    assert!(answers[1..].iter().all(|a| a == "= null"), "{answers:#?}");
}

#[test]
fn the_wrapper_does_not_complete_broken_snippets() {
    if !mono::is_here("the_wrapper_does_not_complete_broken_snippets") {
        return;
    }
    let mut program = Program::new();
    let mut classes = BTreeSet::new();
    for (n, code) in BROKEN.iter().enumerate() {
        for code in [
            (*code).to_owned(),
            checked(code),
            wrapped(code, n),
            guarded(code, n),
        ] {
            classes.insert(program.add(&code));
        }
    }
    let errors = program.errors("7");
    let reported: BTreeSet<_> = errors.places.into_iter().map(|(class, _)| class).collect();
    assert_eq!(
        classes.difference(&reported).count(),
        0,
        "completed: {}",
        errors.text
    );
}

#[test]
fn errors_keep_their_lines_behind_the_prelude() {
    if !mono::is_here("errors_keep_their_lines_behind_the_prelude") {
        return;
    }
    let ahead = [
        0,
        VENUE_LINES,
        IDEMPOTENCY_LINES,
        VENUE_LINES + IDEMPOTENCY_LINES,
    ];
    for code in ["var a = 1;\nreturn a + ;\n", "var a = 1;\nreturn b;\n"] {
        let mut program = Program::new();
        for code in [
            code.to_owned(),
            checked(code),
            wrapped(code, 0),
            guarded(code, 0),
        ] {
            program.add(&code);
        }
        let errors = program.errors("7");
        for (n, ahead) in ahead.iter().enumerate() {
            let own: Vec<_> = errors
                .places
                .iter()
                .filter(|(class, _)| *class == format!("Case{n}"))
                .collect();
            assert!(
                own.first().is_some_and(|(_, line)| *line == ahead + 2),
                "{}",
                errors.text
            );
        }
    }

    // A brace too few shows past the caller's last line, in the trailer.
    let mut program = Program::new();
    let code = "if (Probe.Yes) {\nreturn 1;";
    program.add(&guarded(code, 0));
    let errors = program.errors("7");
    let last = VENUE_LINES + IDEMPOTENCY_LINES + line_count(code);
    assert!(
        !errors.places.is_empty() && errors.places.iter().all(|(_, line)| *line > last),
        "{}",
        errors.text
    );
}

#[test]
fn the_record_tells_how_the_one_run_ended() {
    if !mono::is_here("the_record_tells_how_the_one_run_ended") {
        return;
    }
    let mut program = Program::new();
    let mut commands = Vec::new();
    for (n, run) in RUNS.iter().enumerate() {
        let class = program.add(&wrapped(&format!("Probe.Run(); {}", run.code), n));
        commands.extend((0..3).map(|_| format!("run {class}")));
        commands.extend(["runs".to_owned(), "state".to_owned()]);
    }
    let answers = program.drive("6", &commands);
    for (run, answers) in RUNS.iter().zip(answers.chunks(5)) {
        let case = format!("{}\n{answers:#?}", run.code);
        let (outcome, text) = run.later;
        let later = format!(
            "= String {DUPLICATE_MARKER} {outcome}: this snippet already ran exactly once under its key"
        );
        assert!(answers[0].starts_with(run.first), "{case}");
        assert!(
            answers[1].starts_with(&later) && answers[1].contains(text),
            "{case}"
        );
        assert_eq!(answers[1], answers[2], "the key is never cleared: {case}");
        assert_eq!(answers[3], "1", "it ran once: {case}");
        assert!(answers[4].starts_with(run.stored), "{case}");
    }
}

#[test]
fn a_delivery_while_it_runs_says_so_and_runs_nothing() {
    if !mono::is_here("a_delivery_while_it_runs_says_so_and_runs_nothing") {
        return;
    }
    let mut program = Program::new();
    let class = program.add(&wrapped("Probe.Run(); return Probe.Again();", 0));
    let commands = [
        format!("run {class}"),
        "runs".to_owned(),
        format!("run {class}"),
    ];
    let answers = program.drive("6", &commands);
    assert!(
        answers[0].starts_with(&format!("= String {DUPLICATE_MARKER} running: ")),
        "{answers:#?}"
    );
    for part in [
        "exactly once",
        "outcome is unknown",
        "only reads",
        "verify on disk",
    ] {
        assert!(answers[0].contains(part), "{answers:#?}");
    }
    assert_eq!(answers[1], "1");
    assert!(
        answers[2].starts_with(&format!("= String {DUPLICATE_MARKER} succeeded: ")),
        "{answers:#?}"
    );
}

/// Delivers a guarded and a merely checked snippet to the Editor at each of `paths`, and gives for each delivery what
/// it returned, how often the snippet ran, and what SessionState then held.
fn deliver_at(paths: &[String], expected: &str) -> Vec<[String; 3]> {
    let mut program = Program::new();
    let mut commands = Vec::new();
    let code = "Probe.Run(); return 1;";
    for (n, path) in paths.iter().enumerate() {
        let both = venue(expected, Some(&key(n))).around(&wrapped(code, n));
        for code in [both, venue(expected, None).around(code)] {
            let class = program.add(&code);
            commands.extend([
                format!("path {path}"),
                format!("run {class}"),
                "runs".to_owned(),
                "state".to_owned(),
            ]);
        }
    }
    let answers = program.drive("6", &commands);
    answers
        .chunks(4)
        .map(|a| [a[1].clone(), a[2].clone(), a[3].clone()])
        .collect()
}

#[test]
fn the_expected_project_runs_a_guarded_snippet() {
    if !mono::is_here("the_expected_project_runs_a_guarded_snippet") {
        return;
    }
    let spellings = [
        PATH.to_owned(),
        PATH.to_lowercase(),
        PATH.to_uppercase().replace('/', "\\"),
        format!("{PATH}/"),
        PATH.replace('/', "\\") + "\\\\",
    ];
    for expected in [PATH, &spellings[4]] {
        for answers in deliver_at(&spellings, expected).chunks(2) {
            assert_eq!(
                answers,
                [["= Int32 1", "1", "completed: 1"], ["= Int32 1", "1", ""]]
            );
        }
    }
}

#[test]
fn no_other_project_runs_a_guarded_snippet_or_keeps_a_trace() {
    if !mono::is_here("no_other_project_runs_a_guarded_snippet_or_keeps_a_trace") {
        return;
    }
    let others = [
        "D:/Other/Assets".to_owned(),
        format!("{PATH}/Sub"),
        PATH.replace("Unity", "Unıty"),
        PATH.replace("/Assets", ""),
        String::new(),
    ];
    for (path, answers) in others.iter().zip(deliver_at(&others, PATH).chunks(2)) {
        for [result, runs, state] in answers {
            let told = format!(
                "= String {VENUE_MARKER} expected the project at {PATH}, reached the one at {path}. Nothing ran"
            );
            assert!(result.starts_with(&told), "{result}");
            for part in [
                "in this Editor",
                "may have run",
                "verify on disk",
                "set_active_instance",
                "unity_instance",
            ] {
                assert!(result.contains(part), "{result}");
            }
            assert_eq!((runs.as_str(), state.as_str()), ("0", ""), "{path}");
        }
    }
}
