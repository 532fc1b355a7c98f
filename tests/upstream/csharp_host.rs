//! A script domain: one mono process that compiles and runs `execute_code` snippets.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::OnceLock;

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;
use sha1::{Digest, Sha1};

/// The assemblies in build order, each against those before it; the last one is the program.
const SOURCES: [(&str, &str); 4] = [
    ("UnityEngine", include_str!("csharp/UnityEngine.cs")),
    ("UnityEditor", include_str!("csharp/UnityEditor.cs")),
    ("Kit", include_str!("csharp/Kit.cs")),
    ("Host", include_str!("csharp/Host.cs")),
];

/// `SessionState`, which outlives a script domain.
pub type Session = BTreeMap<String, String>;

/// A running host. Statics of its scripts live as long as it does.
pub struct Host {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Host {
    /// Starts a domain for the project whose Assets folder is `data_path`, with the values of `session`.
    pub fn start(data_path: &Path, home: &Path, session: &Session) -> io::Result<Self> {
        let mut child = Command::new("mono")
            .arg(program())
            .arg(data_path)
            .env("HOME", home)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()?;
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let mut host = Self {
            child,
            input,
            output: BufReader::new(output),
        };
        for (key, value) in session {
            writeln!(
                host.input,
                "keep {} {}",
                hex::encode(key),
                hex::encode(value)
            )?;
        }
        Ok(host)
    }

    /// The process group that [`kill`] ends, the compiler's process included.
    pub fn group(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Compiles and runs a snippet. The answer's keys are those `Host.cs` writes.
    ///
    /// # Errors
    /// When the process has ended, which is how a killed snippet comes back.
    pub fn run(&mut self, code: &str) -> io::Result<Value> {
        writeln!(self.input, "run {}", hex::encode(code))?;
        let mut line = String::new();
        if self.output.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(serde_json::from_str(&line)?)
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        kill(self.group());
        let _ = self.child.wait();
    }
}

/// Ends a host's processes; one that has already gone is fine.
pub fn kill(group: Pid) {
    let _ = kill_process_group(group, Signal::KILL);
}

/// The built host, made on first use and kept under the target folder for as long as its sources stay the same.
fn program() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let mut digest = Sha1::new();
        for (_, source) in SOURCES {
            digest.update(source);
        }
        let key = hex::encode(digest.finalize());
        let shelf = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let kept = shelf.join(format!("csharp-host-{}", &key[..12]));
        if !kept.join("Host.exe").exists() {
            let fresh = tempfile::tempdir_in(shelf).unwrap();
            build(fresh.path());
            // A rename, so that nobody sees half a build; another test process may have been first.
            if std::fs::rename(fresh.path(), &kept).is_ok() {
                let _ = fresh.keep();
            }
        }
        kept.join("Host.exe")
    })
}

fn build(folder: &Path) {
    let mut references: Vec<String> = Vec::new();
    for (name, source) in SOURCES {
        let (kind, extension) = if name == "Host" {
            ("exe", "exe")
        } else {
            ("library", "dll")
        };
        let file = folder.join(format!("{name}.cs"));
        let target = folder.join(format!("{name}.{extension}"));
        std::fs::write(&file, source).unwrap();
        let output = Command::new("mcs")
            .args([
                "-nologo",
                "-warnaserror",
                &format!("-target:{kind}"),
                &format!("-out:{}", target.display()),
            ])
            .args(&references)
            .arg(&file)
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "mcs {name}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        references.push(format!("-r:{}", target.display()));
    }
}
