//! Links the release binary on Linux so that it starts fast and little of it is resident (docs/performance.md).
//!
//! - The C library is linked in, where its archives are at hand. The switch that Rust has for it, `crt-static`, cannot
//!   be set for a package: it would break every procedural macro. What that switch changes is the last link alone, and
//!   that can be said from here: the libraries that rustc asks for are found as archives first.
//! - Relocations are packed: a C library that is linked in is known to read them.
//! - What a relay runs lies side by side (`src/placement.ld`).
//!
//! Each is tried with a small program, linked as the binary will be, and left out where that does not link or run:
//! without archives (some distributions leave them out) or with another linker. With flags of the user's own and in
//! debug builds the link stays as it is.

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

const PLACEMENT: &str = "src/placement.ld";

/// Unwinds and comes back, as containment has to.
const PROBE: &str = "fn main() {
    std::panic::set_hook(Box::new(|_| ()));
    assert!(std::panic::catch_unwind(|| panic!()).is_err());
}
";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={PLACEMENT}");
    if !is_meant() {
        return;
    }
    let Some(out) = env::var_os("OUT_DIR").map(PathBuf::from) else {
        return;
    };
    for argument in arguments(&out) {
        println!("cargo::rustc-link-arg-bins={argument}");
    }
}

/// All arguments for the linker that work here.
fn arguments(out: &Path) -> Vec<String> {
    let mut taken = Vec::new();
    let mut take = |more: &[String]| {
        let all = [taken.as_slice(), more].concat();
        let works = works(out, &all);
        if works {
            taken = all;
        }
        works
    };
    let archives = out.join("archives");
    let is_static = gather(&archives).is_some()
        && take(&["-static-pie".into(), format!("-L{}", archives.display())]);
    if is_static {
        take(&["-Wl,-z,pack-relative-relocs".into()]);
    }
    if let Some(package) = env::var_os("CARGO_MANIFEST_DIR") {
        let script = Path::new(&package).join(PLACEMENT);
        take(&[format!("-T{}", script.display())]);
    }
    taken
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

/// Whether a program that is linked like this runs here. It is rustc that links it, so by the same linker.
fn works(out: &Path, arguments: &[String]) -> bool {
    let (source, program) = (out.join("probe.rs"), out.join("probe"));
    let Some(rustc) = env::var_os("RUSTC") else {
        return false;
    };
    let mut build = Command::new(rustc);
    build.args(["--edition=2024", "--crate-name=probe", "-Cstrip=symbols"]);
    for argument in arguments {
        build.arg(format!("-Clink-arg={argument}"));
    }
    build.arg("-o").args([&program, &source]);
    fs::write(&source, PROBE).is_ok()
        && succeeds(&mut build)
        && succeeds(&mut Command::new(&program))
}

fn succeeds(command: &mut Command) -> bool {
    let quiet = command.stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}
