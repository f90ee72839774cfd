//! `cargo xtask dist`: the distributed program, one static file, and a Debian package that contains it.
//!
//! Policy:
//!   1. the program is built for musl, so that the measured machine needs no library, no interpreter and no Rust. It
//!      contains SQLite, which needs a C compiler for the same target (musl-gcc);
//!   2. a program that is not static, exceeds the size limit, or has a dependency that `deny.toml` does not permit, is
//!      not distributed;
//!   3. the manual pages and completions of the package are those that the program itself prints;
//!   4. the results are in `target/dist` under names with version and machine; nothing is installed;
//!   5. `cargo xtask test` does not build it, because it would compile everything for another target. This task checks
//!      size and package. `cargo xtask prove` runs tests on the program (experiments `dist` and `commands`).

mod deb;
mod elf;
mod licences;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{deny, executables, process, rust_targets};

/// The target of the build.
const TARGET: &str = "x86_64-unknown-linux-musl";

/// The compiler for its C code, from the package musl-tools.
const COMPILER: &str = "musl-gcc";

/// A fixed address: a position-independent program has a table of relocations of 300 KB.
const FIXED: &str = "relocation-model=static";

/// Disables parts of SQLite that the store never uses: full-text search, R-trees, JSON, soundex, statistics for the
/// query planner; then extensions, calls that the store does not make, and the checks for wrong calls. The second part
/// and `-fno-pic` (`C_FLAGS`) save 26 KB, measured.
const UNUSED_IN_SQLITE: &str = "-USQLITE_ENABLE_FTS3 -USQLITE_ENABLE_FTS3_PARENTHESIS -USQLITE_ENABLE_FTS5 \
    -USQLITE_ENABLE_RTREE -DSQLITE_OMIT_JSON -USQLITE_SOUNDEX -USQLITE_ENABLE_STAT4 -USQLITE_ENABLE_DBSTAT_VTAB \
    -USQLITE_ENABLE_LOAD_EXTENSION -DSQLITE_OMIT_LOAD_EXTENSION -DSQLITE_OMIT_DEPRECATED -DSQLITE_OMIT_SHARED_CACHE \
    -DSQLITE_OMIT_TRACE -DSQLITE_OMIT_PROGRESS_CALLBACK -DSQLITE_OMIT_GET_TABLE -DSQLITE_OMIT_COMPILEOPTION_DIAGS \
    -DSQLITE_UNTESTABLE -USQLITE_ENABLE_COLUMN_METADATA -USQLITE_ENABLE_MEMORY_MANAGEMENT -USQLITE_ENABLE_API_ARMOR";

/// A linker script that drops the unwinding tables: 635 KB (568 of tables, 68 of an index), measured; and the unwinder
/// that would read them: 66 KB. A panic ends the program at once and needs no unwinding. It still prints its location.
const NO_WAY_OUT: &str = "xtask/src/dist/no_way_out.ld";

/// C has no panics, so its code needs no unwinding tables. Its address is fixed (`FIXED`). SQLite compares addresses of
/// functions: in one section, `FOLDED` does not fold them.
const C_FLAGS: &str = "-fno-unwind-tables -fno-asynchronous-unwind-tables -fno-pic -fno-function-sections";

/// The linker that folds functions (`FOLDED`), as gcc calls it.
const LINKER: &str = "link-arg=-fuse-ld=lld";

/// Folds functions with the same machine code into one: 109 KB, measured. Rust does not promise that functions have
/// different addresses.
const FOLDED: &str = "link-arg=-Wl,--icf=all";

/// The maximum size of the program in bytes. It was 6,000,000 before `probe`, `predict`, workloads of users and hosts.
/// With them, the program has 7.1 million bytes, which this task prints.
const MOST: u64 = 7_200_000;

/// The machine that builds, as Rust names it (`possible`).
const HOST: &str = "x86_64-unknown-linux-gnu";

/// The machine in Debian's terms, and in general terms.
const MACHINE: (&str, &str) = ("amd64", "x86_64");

/// The folder in `target` with the program and its package.
const FOLDER: &str = "dist";

/// Builds the program and its package, and prints their sizes and paths.
pub fn run() -> Result<(), String> {
    possible()?;
    if !testkit::has_tool("dpkg-deb") {
        return Err("there is no dpkg-deb to check the package; to install it: apt-get install dpkg".to_owned());
    }
    deny::run()?;
    let program = make()?;
    let version = version(&program)?;
    let package = program.with_file_name(format!("diskperf_{version}_{}.deb", MACHINE.0));
    deb::pack(&program, &version, &licences::list(TARGET)?, &package)?;
    for path in [&program, &package] {
        let bytes = fs::metadata(path).map_err(|error| format!("{}: {error}", path.display()))?.len();
        println!("{bytes:>10} bytes  {}", path.display());
    }
    Ok(())
}

/// Checks whether the build is possible here. The error has the reason and the remedy.
pub fn possible() -> Result<(), String> {
    if std::env::consts::ARCH != "x86_64" {
        return Err("it is made on x86-64 only".to_owned());
    }
    if !testkit::has_tool(COMPILER) {
        return Err(format!("there is no {COMPILER}; to install it: apt-get install musl-tools"));
    }
    rust_targets::provide(TARGET)
}

/// Builds the program. Returns its path in `target/dist`.
pub fn make() -> Result<PathBuf, String> {
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
    let folder = process::root().join("target").join(FOLDER);
    let failed = |error| format!("cannot write to {}: {error}", folder.display());
    fs::create_dir_all(&folder).map_err(failed)?;
    let program = folder.join(format!("diskperf-{version}-{}-linux-musl", MACHINE.1));
    fs::copy(&built, &program).map_err(failed)?;
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).map_err(failed)?;
    Ok(program)
}

/// Builds the program. Returns the path that cargo reports.
fn build() -> Result<PathBuf, String> {
    let mut command = process::cargo(&["rustc", "--quiet", "--profile", "dist", "--package", "diskperf"]);
    command.args(["--bin", "diskperf", "--target", TARGET]);
    // 1
    command.env("CC_x86_64_unknown_linux_musl", COMPILER).env("CFLAGS_x86_64_unknown_linux_musl", C_FLAGS);
    command.env("LIBSQLITE3_FLAGS", UNUSED_IN_SQLITE);
    let script = format!("link-arg=-Wl,-T,{}", process::root().join(NO_WAY_OUT).display());
    let folder = format!("link-arg=-B{}", linker_folder()?.display());
    let flags = [FIXED, &script, "link-arg=-Wl,--no-eh-frame-hdr", &folder, LINKER, FOLDED];
    let arguments = [&["--"][..], &flags.map(|flag| ["-C", flag]).concat()].concat();
    let built = executables::build(command, &arguments)?;
    built.program.ok_or_else(|| "cargo has not built the program diskperf".to_owned())
}

/// The folder in which gcc finds the linker of the Rust toolchain. It is named `ld.lld` there.
fn linker_folder() -> Result<PathBuf, String> {
    let sysroot = process::output(Command::new("rustc").args(["--print", "sysroot"]))?;
    let folder = Path::new(sysroot.trim()).join("lib/rustlib").join(HOST).join("bin/gcc-ld");
    match folder.join("ld.lld").is_file() {
        true => Ok(folder),
        false => Err(format!("there is no ld.lld in {}; rustup installs it with the compiler", folder.display())),
    }
}

/// The version as the program prints it: `diskperf 0.1.0`.
fn version(program: &Path) -> Result<String, String> {
    let said = process::output(Command::new(program).arg("--version"))?;
    let version = said.split_whitespace().last().map(str::to_owned);
    version.ok_or_else(|| format!("{} does not say its version", program.display()))
}
