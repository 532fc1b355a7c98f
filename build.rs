//! Links the C library into the release binary on Linux, where its archives are at hand.
//!
//! A program without shared libraries starts in two thirds of the time and takes less memory
//! (docs/performance.md). The switch that Rust has for it, `crt-static`, cannot be set for a package: it would break
//! every procedural macro. What that switch changes is the last link alone, and that can be said from here: the
//! libraries that rustc asks for are found as archives first. Without archives (some distributions leave them out), for
//! another linker, with flags of the user's own and in debug builds the link stays as it is.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What rustc asks the linker for, and the archive that stands in for it.
const LIBRARIES: [(&str, &str); 7] = [
    ("gcc_s", "gcc_eh"),
    ("c", "c"),
    ("m", "m"),
    ("rt", "rt"),
    ("util", "util"),
    ("pthread", "pthread"),
    ("dl", "dl"),
];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if !is_meant() {
        return;
    }
    let Some(folder) = env::var_os("OUT_DIR").map(|out| Path::new(&out).join("archives")) else {
        return;
    };
    if gather(&folder).is_some() && works(&folder) {
        println!("cargo::rustc-link-arg-bins=-static-pie");
        println!("cargo::rustc-link-arg-bins=-L{}", folder.display());
    }
}

/// Whether this is the build for which it was measured, with nobody's own idea of linking.
fn is_meant() -> bool {
    let is = |name: &str, value: &str| env::var(name).as_deref() == Ok(value);
    let unset = |name: &str| env::var_os(name).is_none_or(|value| value.is_empty());
    is("CARGO_CFG_TARGET_OS", "linux")
        && is("CARGO_CFG_TARGET_ENV", "gnu")
        && is("CARGO_CFG_TARGET_ARCH", "x86_64")
        && is("PROFILE", "release")
        && env::var_os("HOST") == env::var_os("TARGET")
        && unset("RUSTC_LINKER")
        && unset("CARGO_ENCODED_RUSTFLAGS")
}

/// Links to all archives in `folder`.
fn gather(folder: &Path) -> Option<()> {
    let _not_there = fs::remove_dir_all(folder);
    fs::create_dir_all(folder).ok()?;
    for (asked, given) in LIBRARIES {
        link(&archive(given)?, &folder.join(format!("lib{asked}.a")))?;
    }
    Some(())
}

/// Where the C compiler has an archive.
fn archive(name: &str) -> Option<PathBuf> {
    let file = format!("lib{name}.a");
    let said = Command::new("cc")
        .arg(format!("-print-file-name={file}"))
        .output()
        .ok()?;
    let path = PathBuf::from(String::from_utf8(said.stdout).ok()?.trim());
    // It says the bare name where it has none.
    (path.is_absolute() && path.exists()).then_some(path)
}

#[cfg(unix)]
fn link(from: &Path, to: &Path) -> Option<()> {
    std::os::unix::fs::symlink(from, to).ok()
}

#[cfg(not(unix))]
fn link(_: &Path, _: &Path) -> Option<()> {
    None
}

/// Whether a program that is linked like this runs here.
fn works(folder: &Path) -> bool {
    let (source, program) = (folder.join("probe.c"), folder.join("probe"));
    let built = fs::write(&source, "int main(void) { return 0; }\n").is_ok()
        && succeeds(
            Command::new("cc")
                .args(["-pie", "-static-pie", "-o"])
                .args([&program, &source]),
        );
    built && succeeds(&mut Command::new(&program))
}

fn succeeds(command: &mut Command) -> bool {
    let quiet = command.stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}
