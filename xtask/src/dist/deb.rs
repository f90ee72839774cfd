//! The package for Debian and its derivatives: the static program, its manual pages and completions, and the licences.
//!
//! Policy:
//!   1. cargo-deb packs it. `[package.metadata.deb]` in `crates/diskperf/Cargo.toml` lists its fields and files;
//!   2. the files that only the program can print are written to `target/package` first;
//!   3. the same commit, program and version of cargo-deb give the same bytes: all times are that of the commit;
//!   4. an incomplete package is an error. These checks are here and not in a test, because `cargo xtask test` makes no
//!      package: it would have to compile cargo-deb.

use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use super::TARGET;
use crate::process;
use crate::tools::CARGO_DEB;

/// The folder of the printed files (2), as the manifest of `diskperf` names it.
const PRINTED: &str = "target/package";

/// The shells for which there are completions, and the file of each.
const COMPLETIONS: [(&str, &str); 3] = [("bash", "diskperf"), ("fish", "diskperf.fish"), ("zsh", "_diskperf")];

/// Files that are in every complete package, apart from the program and the manual pages of its commands.
const FILES: [&str; 8] = [
    "usr/share/bash-completion/completions/diskperf",
    "usr/share/fish/vendor_completions.d/diskperf.fish",
    "usr/share/zsh/vendor-completions/_diskperf",
    "usr/share/doc/diskperf/README.md",
    "usr/share/doc/diskperf/changelog.gz",
    "usr/share/doc/diskperf/copyright",
    "usr/share/doc/diskperf/licences-of-parts.gz",
    "usr/share/man/man7/diskperf-words.7.gz",
];

/// Builds the package at `package`, and checks it.
pub fn pack(program: &Path, version: &str, licences: &str, package: &Path) -> Result<(), String> {
    let tool = CARGO_DEB.provide()?;
    // 2
    print(program, licences)?;
    // 1
    let mut deb = Command::new(tool);
    deb.current_dir(process::root())
        .args(["--no-build", "--no-strip", "--locked", "--quiet", "--package", "diskperf", "--profile", "dist"])
        .args(["--target", TARGET, "--deb-version", version, "--output"])
        .arg(package);
    // 3
    let time = process::output(Command::new("git").args(["log", "-1", "--format=%ct"]).current_dir(process::root()));
    // A source archive has no commit.
    if let Ok(time) = time {
        deb.env("SOURCE_DATE_EPOCH", time.trim());
    }
    process::run(&mut deb)?;
    // 4
    check(program, version, package)
}

/// Writes the files that the program prints, and the texts of licences.
fn print(program: &Path, licences: &str) -> Result<(), String> {
    let folder = process::root().join(PRINTED);
    let failed = |error: io::Error| format!("cannot write to {}: {error}", folder.display());
    // A page of a command that no longer exists would be packed too.
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(failed)?;
    }
    fs::create_dir_all(&folder).map_err(failed)?;
    process::run(Command::new(program).arg("man").arg("--out").arg(folder.join("man")))?;
    for (shell, file) in COMPLETIONS {
        let text = process::output(Command::new(program).args(["completions", shell]))?;
        fs::write(folder.join(file), text).map_err(failed)?;
    }
    let mit = fs::read_to_string(process::root().join("LICENSE-MIT")).map_err(failed)?;
    fs::write(folder.join("copyright"), copyright(&mit)).map_err(failed)?;
    // cargo-deb compresses manual pages and the changelog, and nothing else.
    fs::write(folder.join("licences-of-parts"), licences).map_err(failed)?;
    process::run(Command::new("gzip").args(["-9", "--no-name"]).arg(folder.join("licences-of-parts")))
}

fn copyright(mit: &str) -> String {
    format!(
        "diskperf is licensed under the MIT licence, which follows, or the Apache License 2.0, which is in\n\
         /usr/share/common-licenses/Apache-2.0, as you choose. What it is built from has licences of its own,\n\
         which licences-of-parts.gz in this folder holds.\n\n{mit}"
    )
}

/// Checks the fields, the permissions and the files of the package.
fn check(program: &Path, version: &str, package: &Path) -> Result<(), String> {
    let dpkg = |arguments: &[&str]| {
        process::output(Command::new("dpkg-deb").arg(arguments[0]).arg(package).args(&arguments[1..]))
    };
    let expected = [("Package", "diskperf"), ("Version", version), ("Architecture", super::MACHINE.0), ("Depends", "")];
    for (name, value) in expected {
        let found = dpkg(&["--field", name])?;
        if found.trim() != value {
            return Err(format!("the package has {name}: {}, not {value}", found.trim()));
        }
    }
    if let Some(line) = dpkg(&["--contents"])?.lines().find(|line| !is_protected(line)) {
        return Err(format!("a user may change a file of the package, or not read it: {line}"));
    }
    let folder = TempDir::with_prefix("diskperf-deb-").map_err(|error| format!("no temporary folder: {error}"))?;
    dpkg(&["--extract", &folder.path().to_string_lossy()])?;
    let unpacked = fs::read(folder.path().join("usr/bin/diskperf")).ok();
    if unpacked.is_none() || unpacked != fs::read(program).ok() {
        return Err("the program in the package is not the one that was built".to_owned());
    }
    let is_short = |name: &&str| fs::metadata(folder.path().join(name)).map_or(0, |file| file.len()) <= 100;
    if let Some(name) = FILES.iter().find(|name| is_short(name)) {
        return Err(format!("the package has no {name}, or it has hardly any content"));
    }
    let count = |folder: &Path| fs::read_dir(folder).map_or(0, Iterator::count);
    let packed: usize = ["man1", "man7"].map(|man| count(&folder.path().join("usr/share/man").join(man))).iter().sum();
    let printed = count(&process::root().join(PRINTED).join("man"));
    if packed == printed { Ok(()) } else { Err(format!("the package has {packed} manual pages of {printed}")) }
}

/// Returns whether a line of `dpkg-deb --contents` is of a file that belongs to root, that only root may write, and
/// that everyone may read: `-rw-r--r-- 0/0 512 2026-01-01 00:00 ./usr/share/doc/diskperf/copyright`.
fn is_protected(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let (rights, owner) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let rights = if line.ends_with('/') || line.ends_with("/usr/bin/diskperf") {
        rights.ends_with("rwxr-xr-x")
    } else {
        rights == "-rw-r--r--"
    };
    rights && matches!(owner, "0/0" | "root/root")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_users_may_change_are_not_protected() {
        for line in [
            "drwxr-xr-x 0/0         0 2026-01-01 00:00 ./usr/",
            "-rwxr-xr-x root/root 512 2026-01-01 00:00 ./usr/bin/diskperf",
            "-rw-r--r-- 0/0       512 2026-01-01 00:00 ./usr/share/doc/diskperf/copyright",
        ] {
            assert!(is_protected(line), "{line}");
        }
        for line in [
            "drwxrwxr-x 0/0         0 2026-01-01 00:00 ./usr/",
            "-rw-r--r-- 0/0       512 2026-01-01 00:00 ./usr/bin/diskperf",
            "-rwxr-xr-x 0/0       512 2026-01-01 00:00 ./usr/share/doc/diskperf/copyright",
            "-rw-r--r-- user/root 512 2026-01-01 00:00 ./usr/share/doc/diskperf/copyright",
            "",
        ] {
            assert!(!is_protected(line), "{line}");
        }
    }

    #[test]
    fn the_copyright_names_both_licences_and_those_of_parts() {
        let text = copyright("the text");
        for part in ["MIT", "Apache License 2.0", "licences-of-parts.gz", "the text"] {
            assert!(text.contains(part), "{part}");
        }
    }
}
