//! `cargo xtask dist`: the program as it is handed out, one static file, and a package for Debian with it.
//!
//! Policy:
//!   1. built for musl, so that it needs nothing of the machine that is to be measured: no library, no interpreter,
//!      no Rust. SQLite is in it, which wants a C compiler for the same target (musl-gcc);
//!   2. what is not static, or larger than it may be, is not handed out;
//!   3. manual pages and completions of the package are those that the program itself prints;
//!   4. what is made lies in `target/dist` under names with version and machine; nothing is installed.

mod deb;
mod elf;
mod licences;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{built, process, targets};

/// What it is built for.
const TARGET: &str = "x86_64-unknown-linux-musl";

/// The compiler for the C in it, of the package musl-tools.
const COMPILER: &str = "musl-gcc";

/// At one place in memory: a program that can be moved has a table of 300 KB of what to change then.
const FIXED: &str = "relocation-model=static";

/// What SQLite is built with and the store never asks for: search in texts and in space, functions of JSON and of
/// sounds, statistics for plans.
const UNUSED_IN_SQLITE: &str = "-USQLITE_ENABLE_FTS3 -USQLITE_ENABLE_FTS3_PARENTHESIS -USQLITE_ENABLE_FTS5 \
    -USQLITE_ENABLE_RTREE -DSQLITE_OMIT_JSON -USQLITE_SOUNDEX -USQLITE_ENABLE_STAT4 -USQLITE_ENABLE_DBSTAT_VTAB";

/// A panic ends the program at once, and nobody finds a way out of a function: what the linker leaves out for that is
/// 635 KB (568 of tables, 68 of an index of them), measured. A panic says where it was all the same.
const NO_WAY_OUT: &str = "xtask/src/dist/no_way_out.ld";

/// C has no panics: it needs no tables by which one finds its way out.
const C_FLAGS: &str = "-fno-unwind-tables -fno-asynchronous-unwind-tables";

/// The most bytes that it may have: six megabytes.
const MOST: u64 = 6_000_000;

/// The machine it is for, as Debian calls it, and as everybody does.
const MACHINE: (&str, &str) = ("amd64", "x86_64");

/// What was made.
pub struct Made {
    /// The program.
    pub program: PathBuf,
    /// The package.
    pub package: PathBuf,
}

/// Makes everything, and says what.
pub fn run() -> Result<(), String> {
    possible()?;
    let made = make()?;
    for path in [&made.program, &made.package] {
        let bytes = fs::metadata(path).map_err(|error| format!("{}: {error}", path.display()))?.len();
        println!("{bytes:>10} bytes  {}", path.display());
    }
    Ok(())
}

/// Whether it can be made here; says why not, and how to change that.
pub fn possible() -> Result<(), String> {
    if std::env::consts::ARCH != "x86_64" {
        return Err("it is made on x86-64 only".to_owned());
    }
    if !testkit::has_tool(COMPILER) {
        return Err(format!("there is no {COMPILER}; to install it: apt-get install musl-tools"));
    }
    if !testkit::has_tool("dpkg-deb") {
        return Err("there is no dpkg-deb; to install it: apt-get install dpkg".to_owned());
    }
    targets::provide(TARGET)
}

/// Builds the program and packs it.
pub fn make() -> Result<Made, String> {
    let built = build()?;
    let bytes = fs::read(&built).map_err(|error| format!("cannot read {}: {error}", built.display()))?;
    // 2
    if !elf::is_static(&bytes) {
        return Err(format!("{} asks for an interpreter: it is not static", built.display()));
    }
    if bytes.len() as u64 > MOST {
        return Err(format!("{} has {} bytes, more than {MOST}", built.display(), bytes.len()));
    }
    // 4
    let version = version(&built)?;
    let folder = process::root().join("target/dist");
    let failed = |error| format!("cannot write to {}: {error}", folder.display());
    fs::create_dir_all(&folder).map_err(failed)?;
    let program = folder.join(format!("diskperf-{version}-{}-linux-musl", MACHINE.1));
    fs::copy(&built, &program).map_err(failed)?;
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).map_err(failed)?;
    let package = folder.join(format!("diskperf_{version}_{}.deb", MACHINE.0));
    deb::pack(&program, &version, &licences::of(TARGET)?, &package)?;
    Ok(Made { program, package })
}

/// Builds it, and asks cargo where it is.
fn build() -> Result<PathBuf, String> {
    let mut command = process::cargo(&["rustc", "--quiet", "--profile", "dist", "--package", "diskperf"]);
    command.args(["--bin", "diskperf", "--target", TARGET]);
    // 1
    command.env("CC_x86_64_unknown_linux_musl", COMPILER).env("CFLAGS_x86_64_unknown_linux_musl", C_FLAGS);
    command.env("LIBSQLITE3_FLAGS", UNUSED_IN_SQLITE);
    let script = format!("link-arg=-Wl,-T,{}", process::root().join(NO_WAY_OUT).display());
    let built = built::build(command, &["--", "-C", FIXED, "-C", &script, "-C", "link-arg=-Wl,--no-eh-frame-hdr"])?;
    built.program.ok_or_else(|| "cargo has not built the program diskperf".to_owned())
}

/// As it says itself: `diskperf 0.1.0`.
fn version(program: &Path) -> Result<String, String> {
    let said = process::output(Command::new(program).arg("--version"))?;
    let version = said.split_whitespace().last().map(str::to_owned);
    version.ok_or_else(|| format!("{} does not say its version", program.display()))
}
