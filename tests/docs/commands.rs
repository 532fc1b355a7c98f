//! Every command that a page shows, and where it is run.

use crate::page::{Page, read};
use std::collections::BTreeSet;
use std::process::Command;
use vrc_mcp_proxy::config::VARIABLES;

/// Where a command is run.
enum Run {
    /// Here: these statuses are in order.
    Here(&'static [i32]),
    /// By the test function of this file.
    Test(&'static str, &'static str),
    /// By a line of this script.
    Script(&'static str, &'static str),
    /// Nowhere: another program's, on a system that no test can be sure of.
    NotOurs,
}
use Run::{Here, NotOurs, Script, Test};

const CI: &str = ".ci/run";

/// All of them. What no page shows any more has to go.
const RUNS: &[(&str, Run)] = &[
    ("vrc-mcp-proxy demo", Here(&[0])),
    ("vrc-mcp-proxy behaviors", Here(&[0])),
    ("vrc-mcp-proxy completions bash", Here(&[0])),
    ("vrc-mcp-proxy config claude-code --project", Here(&[0])),
    ("vrc-mcp-proxy doctor", Here(&[0, 1])),
    ("vrc-mcp-proxy diff-baseline OLD NEW", Here(&[0, 1])),
    (
        "vrc-mcp-proxy diff-baseline",
        Test(
            "tests/commands/baseline.rs",
            "a_fresh_capture_is_compared_with_the_committed_baseline",
        ),
    ),
    (
        "vrc-mcp-proxy diff-baseline 10.1.0 baseline/NEW.json",
        Test(
            "tests/commands/baseline.rs",
            "baselines_are_compared_by_their_contracts",
        ),
    ),
    (
        "vrc-mcp-proxy capture-baseline --server-version NEW --out baseline/NEW.json",
        Test(
            "tests/commands/baseline.rs",
            "a_list_that_grows_is_captured_when_it_has_settled",
        ),
    ),
    (
        "vrc-mcp-proxy repro --instance NAME@HASH --project-root PATH",
        Test(
            "tests/upstream/repro.rs",
            "every_fault_of_the_real_server_is_still_there",
        ),
    ),
    (
        "vrc-mcp-proxy warm",
        Test(
            "tests/install.rs",
            "warm_lets_uvx_fetch_and_measures_a_start",
        ),
    ),
    (
        "uvx --from mcpforunityserver==10.1.0 mcp-for-unity --transport stdio",
        Test(
            "tests/process/start.rs",
            "the_selected_server_version_is_what_uvx_is_asked_for",
        ),
    ),
    (
        "uvx --from mcpforunityserver==10.1.0 python -c \"import importlib.metadata as m; print(m.version('fastmcp'), \
         m.version('pydantic'))\"",
        Script(
            CI,
            "python -c \"import importlib.metadata as m; print(m.version('fastmcp'), m.version('pydantic'))\"",
        ),
    ),
    (
        "cargo install --locked --path .",
        Script(CI, "cargo install --locked --path ."),
    ),
    (
        "cargo run --release -- demo",
        Script(CI, "\"$BINARY\" demo"),
    ),
    (
        "cargo build --release",
        Script(CI, "cargo build --locked --release"),
    ),
    ("cargo test", Script(CI, "cargo test --locked\n")),
    (
        "VRC_MCP_PROXY_REQUIRE_REAL=1 cargo test",
        Script(
            CI,
            "export VRC_MCP_PROXY_REQUIRE_REAL=1; fi\n  cargo test --locked",
        ),
    ),
    (
        "cargo bench",
        Script(CI, "cargo test --locked --bench relay"),
    ),
    (
        "cargo deny check",
        Script(".github/workflows/check.yml", "cargo deny --locked check"),
    ),
    (
        "bash .ci/run",
        Script(".github/workflows/check.yml", "bash .ci/run"),
    ),
    (
        "BLESS=1 cargo test --test registry",
        Test(
            "tests/registry.rs",
            "the_tables_in_the_pages_are_those_of_the_registry",
        ),
    ),
    (
        "VRC_MCP_PROXY_FUZZ_LINES=200000 VRC_MCP_PROXY_FUZZ_SEED=7 cargo test --test fuzz -- --nocapture",
        Test(
            "tests/fuzz.rs",
            "nothing_is_smuggled_past_the_guards_and_nothing_is_lost",
        ),
    ),
    (
        "VRC_MCP_PROXY_SOAK_MESSAGES=1000000 cargo test --test process soak -- --nocapture",
        Test(
            "tests/process/soak.rs",
            "a_long_day_loses_nothing_and_keeps_nothing",
        ),
    ),
    ("pip install uv", Script(CI, "python3 -m pip install")),
    (
        "apt-get install mono-mcs mono-runtime",
        Script(CI, "--no-install-recommends mono-mcs mono-runtime"),
    ),
    ("winget install astral-sh.uv", NotOurs),
    ("brew install uv", NotOurs),
    ("claude --debug", NotOurs),
];

fn shown() -> BTreeSet<(String, String)> {
    let pages = Page::all();
    let commands = pages.iter().flat_map(|page| {
        let commands = page.commands().into_iter();
        commands.map(|command| (command, page.name.clone()))
    });
    commands.collect()
}

#[test]
fn every_command_that_is_shown_is_run() {
    let shown = shown();
    for (command, page) in &shown {
        let known = RUNS.iter().any(|(known, _)| known == command);
        assert!(known, "{page} shows `{command}`: who runs it?");
    }
    for (command, run) in RUNS {
        assert!(
            shown.iter().any(|(shown, _)| shown == command),
            "no page shows `{command}`"
        );
        match run {
            Here(_) | NotOurs => {}
            Test(file, function) => {
                let source = read(file);
                let (plain, listed) = (format!("fn {function}("), format!("    {function},"));
                assert!(
                    source.contains(&plain) || source.contains(&listed),
                    "{file} has no test {function}"
                );
            }
            Script(file, line) => assert!(read(file).contains(line), "{file} has no {line:?}"),
        }
    }
}

/// The commands of the program, as its help lists them.
fn own_commands() -> Vec<String> {
    let (status, help) = own("--help");
    assert_eq!(status, Some(0));
    let (_, list) = help.split_once("\nCommands:\n").expect("a list");
    let (list, _) = list.split_once("\n\n").expect("its end");
    let names = list
        .lines()
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    names
        .filter(|name| !matches!(*name, "" | "help"))
        .map(ToOwned::to_owned)
        .collect()
}

#[test]
fn the_readme_has_a_row_for_each_command() {
    let readme = Page::of("README.md");
    let commands = own_commands();
    assert!(commands.len() > 8, "{commands:?}");
    for name in commands {
        let row = |line: &str| {
            let rest = line
                .strip_prefix("| `")
                .and_then(|line| line.strip_prefix(&name));
            rest.is_some_and(|rest| rest.starts_with(['`', ' ']))
        };
        assert!(readme.text.lines().any(row), "README has no row for {name}");
    }
}

/// Runs the program with these words, in a home of its own.
fn own(words: &str) -> (Option<i32>, String) {
    let home = tempfile::tempdir().expect("a folder");
    let mut command = Command::new(env!("CARGO_BIN_EXE_vrc-mcp-proxy"));
    for (name, _) in VARIABLES {
        command.env_remove(name);
    }
    for name in ["HOME", "USERPROFILE"] {
        command.env(name, home.path());
    }
    let output = command
        .args(words.split_whitespace())
        .current_dir(home.path())
        .output()
        .expect("the program starts");
    let stdout = String::from_utf8(output.stdout).expect("UTF-8");
    (output.status.code(), stdout)
}

#[test]
fn the_quick_ones_run_here() {
    for (command, run) in RUNS {
        let Here(statuses) = run else { continue };
        let words = command.strip_prefix("vrc-mcp-proxy ").expect("our own");
        let words = words.replace("OLD NEW", "10.1.0 10.1.2");
        let (status, stdout) = own(&words);
        let in_order = status.is_some_and(|status| statuses.contains(&status));
        assert!(
            in_order && !stdout.is_empty(),
            "{command}: {status:?}: {stdout}"
        );
    }
}
