//! Compiles snippets with mcs in the Editor's own wrapper and runs them with mono.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{fs, io::Write as _, thread};
use tempfile::TempDir;

/// The Editor's lines ahead of a snippet (bridge 10.1.0); the class is `MCPDynamicCode` there.
const HEAD: [&str; 10] = [
    "using System;",
    "using System.Collections.Generic;",
    "using System.Linq;",
    "using System.Reflection;",
    "using UnityEngine;",
    "using UnityEditor;",
    "public static class MCPDynamicCode",
    "{",
    "    public static object Execute()",
    "    {",
];
const TAIL: &str = "\n    }\n}\n";

/// Whether Mono is here; says so when it is not.
#[allow(clippy::print_stderr, reason = "a skipped test must be seen")]
pub(crate) fn is_here(test: &str) -> bool {
    let runs = |program| {
        Command::new(program)
            .arg("--version")
            .output()
            .is_ok_and(|o| o.status.success())
    };
    if runs("mcs") && runs("mono") {
        return true;
    }
    let required = std::env::var("VRC_MCP_PROXY_REQUIRE_REAL").is_ok_and(|v| v == "1");
    assert!(
        !required,
        "VRC_MCP_PROXY_REQUIRE_REAL=1, but mcs and mono cannot be run"
    );
    eprintln!("SKIPPED {test}: it needs mcs and mono");
    false
}

/// What the compiler said.
#[derive(Debug)]
pub(crate) struct Errors {
    /// All of its lines.
    pub(crate) text: String,
    /// The class and line of each error; lines count from the snippet's first, as in the Editor's reports.
    pub(crate) places: Vec<(String, usize)>,
}

/// Snippets that are compiled into one program, each in a class of its own.
pub(crate) struct Program {
    folder: TempDir,
    classes: usize,
}

impl Program {
    pub(crate) fn new() -> Self {
        Self {
            folder: TempDir::new().unwrap(),
            classes: 0,
        }
    }

    fn source(&self, n: usize) -> PathBuf {
        self.folder.path().join(format!("Case{n}.cs"))
    }

    /// Adds a snippet as the Editor would, and gives the name of its class.
    pub(crate) fn add(&mut self, code: &str) -> String {
        let class = format!("Case{}", self.classes);
        let head = HEAD.join("\n").replace("MCPDynamicCode", &class);
        fs::write(self.source(self.classes), format!("{head}\n{code}{TAIL}")).unwrap();
        self.classes += 1;
        class
    }

    fn compile(&self, version: &str) -> Result<PathBuf, Errors> {
        let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/csharp");
        let program = self.folder.path().join("snippets.exe");
        let output = Command::new("mcs")
            .args([
                "-nologo",
                "-codepage:utf8",
                "-r:System.Core",
                "-r:Microsoft.CSharp",
                "-warn:0",
            ])
            .arg(format!("-langversion:{version}"))
            .arg(format!("-out:{}", program.display()))
            .args([ours.join("Unity.cs"), ours.join("Driver.cs")])
            .args((0..self.classes).map(|n| self.source(n)))
            .output()
            .unwrap();
        if output.status.success() {
            return Ok(program);
        }
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        let places = text.lines().filter_map(error_place).collect();
        Err(Errors { text, places })
    }

    /// Compiles everything and gives what the compiler found wrong.
    pub(crate) fn errors(&self, version: &str) -> Errors {
        self.compile(version).expect_err("nothing wrong found")
    }

    /// Compiles everything, runs the driver on `commands`, and gives its answers.
    pub(crate) fn drive(&self, version: &str, commands: &[String]) -> Vec<String> {
        let program = self
            .compile(version)
            .unwrap_or_else(|errors| panic!("{}", errors.text));
        let mut mono = Command::new("mono")
            .arg(program)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = mono.stdin.take().unwrap();
        let lines = commands.join("\n") + "\n";
        let writer = thread::spawn(move || stdin.write_all(lines.as_bytes()));
        let output = mono.wait_with_output().unwrap();
        writer.join().unwrap().unwrap();
        let answers: Vec<_> = String::from_utf8(output.stdout)
            .unwrap()
            .lines()
            .map(str::to_owned)
            .collect();
        assert_eq!(
            answers.len(),
            commands.len(),
            "one answer for each command: {answers:#?}"
        );
        answers
    }
}

/// `/…/Case3.cs(17,5): error CS1525: …` as (Case3, 7).
fn error_place(line: &str) -> Option<(String, usize)> {
    let (place, _) = line.split_once("): error ")?;
    let (file, place) = place.rsplit_once('(')?;
    let line: usize = place.split(',').next()?.parse().ok()?;
    let class = Path::new(file).file_stem()?.to_str()?.to_owned();
    Some((class, line.saturating_sub(HEAD.len())))
}
