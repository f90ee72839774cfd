//! Builds `diskperf-mpi` for the tests, with each MPI library that is installed. It has its own workspace, so that the
//! program itself never depends on MPI.

use std::fs;
use std::path::Path;

use crate::process;

/// The MPI libraries, each with its compiler. The tests need both.
const LIBRARIES: [(&str, &str); 2] = [("openmpi", "mpicc.openmpi"), ("mpich", "mpicc.mpich")];

/// The package that reads MPI's headers once, when it is built. It does not notice another compiler.
const BINDINGS: &str = "mpi-sys";

/// Checks the format, builds the program with each library, and runs its own tests and clippy with the first one.
/// Without a library or libclang, the tests of several hosts skip themselves.
pub fn provide() -> Result<(), String> {
    let bridge = process::root().join("bridge");
    let built = process::root().join("target/bridge");
    let manifest = format!("--manifest-path={}", bridge.join("Cargo.toml").display());
    process::run(&mut process::cargo(&["fmt", "--check", &manifest]))?;
    if !has_libclang() {
        println!("libclang is not installed: the bridge cannot be built");
        return Ok(());
    }
    let libraries = LIBRARIES.iter().filter(|(_, compiler)| testkit::has_tool(compiler));
    for (index, (library, compiler)) in libraries.enumerate() {
        let run = |words: &[&str]| {
            let mut command = process::cargo(words);
            process::run(command.env("CARGO_TARGET_DIR", built.join("build")).env("MPICC", compiler))
        };
        let cargo = |words: &[&str]| run(&[words, &["--quiet", &manifest]].concat());
        cargo(&["clean", "--package", BINDINGS])?;
        cargo(&["build", "--locked"])?;
        if index == 0 {
            cargo(&["test", "--locked"])?;
            let warnings = ["clippy", "--locked", "--all-targets", "--quiet", &manifest, "--", "-D", "warnings"];
            run(&warnings)?;
        }
        let folder = built.join(library);
        let copied = fs::create_dir_all(&folder)
            .and_then(|()| fs::copy(built.join("build/debug/diskperf-mpi"), folder.join("diskperf-mpi")));
        copied.map_err(|error| format!("cannot write to {}: {error}", folder.display()))?;
    }
    Ok(())
}

/// True if libclang is installed where Debian installs it. No program of its package shows that.
pub fn has_libclang() -> bool {
    let folders = fs::read_dir("/usr/lib").into_iter().flatten().flatten().map(|entry| entry.path().join("lib"));
    let is_it = |folder: &Path| folder.join("libclang.so").exists() || folder.join("libclang.so.1").exists();
    folders.into_iter().any(|folder| is_it(&folder))
}
