//! Builds with cargo, and finds the executables.
//!
//! A test binary of several files (`tests/cli/main.rs`) saves links. Each of its modules still runs as a separate
//! process, like a binary: modules run side by side, and share no static and no mount namespace. The test harness lists
//! the modules, so a new one needs no entry here.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use cargo_metadata::{Artifact, Message, TargetKind};

use crate::process;

/// The executables that a cargo command has built.
pub struct Built {
    /// The program diskperf, if it was built.
    pub program: Option<PathBuf>,
    /// Test files.
    pub tests: Vec<TestFile>,
}

impl Built {
    /// Copies the program without its symbols into a folder of its own in `target`: for tests that boot it in guests,
    /// which keep it in memory, and for those that count its instructions. Returns the folder.
    pub fn stripped(&self) -> Result<PathBuf, String> {
        let program = self.program.as_ref().ok_or("cargo has not built the program diskperf")?;
        let folder = process::root().join("target").join(testkit::STRIPPED);
        fs::create_dir_all(&folder).map_err(|error| format!("cannot create {}: {error}", folder.display()))?;
        let copy = folder.join(format!("diskperf-{}-stripped", env!("CARGO_PKG_VERSION")));
        process::run(process::bounded(Path::new("strip"), process::LONGEST).arg("-o").args([&copy, program]))?;
        Ok(folder)
    }
}

/// A built test file: a test binary, or a module of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestFile {
    /// Its package: the name of the package's folder.
    pub package: String,
    /// Its name: cargo's, or `cli_store` for the module `store` of the test binary `cli`.
    pub name: String,
    /// Cargo's name: the test binary, or the crate or program whose unit tests they are.
    pub target: String,
    /// The names of a module's tests in the test harness. Empty for a whole binary.
    pub tests: Vec<String>,
    /// True for a file under `tests`.
    pub is_integration: bool,
    /// The kind of target in cargo's terms: `lib`, `bin`, `test`, `bench`.
    pub kind: String,
    /// The path of the executable.
    pub executable: PathBuf,
    /// The folder of the package, which is the working directory of its tests.
    pub folder: PathBuf,
}

impl TestFile {
    /// The command that runs its tests (or only the test `only`), as `cargo test` does, for at most this time.
    pub fn command(&self, only: Option<&str>, seconds: u32) -> Command {
        let mut command = process::bounded(&self.executable, seconds);
        command.args(self.selection(only)).current_dir(&self.folder).env("CARGO_MANIFEST_DIR", &self.folder);
        command
    }

    /// The arguments of the executable that select its tests, or only the test `only`.
    pub fn selection<'a>(&'a self, only: Option<&'a str>) -> Vec<&'a str> {
        let tests = only.map_or_else(|| self.tests.iter().map(String::as_str).collect(), |test| vec![test]);
        // A filter without --exact matches parts of names: `file::` would select `profile::` too.
        if tests.is_empty() { tests } else { [vec!["--exact"], tests].concat() }
    }

    /// The beginning of the names of its tests in a file of skips: `kernel`, `cli::all::help`.
    pub fn path(&self) -> String {
        let module = self.tests.first().and_then(|test| Some(test.rsplit_once("::")?.0));
        module.map_or_else(|| self.target.clone(), |module| format!("{}::{module}", self.target))
    }

    /// The unique display name: `kernel::images`, `kernel` for the unit tests of a library, `overhead (bench loops)`
    /// for anything else.
    pub fn shown(&self) -> String {
        let TestFile { package, name, kind, .. } = self;
        match kind.as_str() {
            "test" => format!("{package}::{name}"),
            "lib" => package.clone(),
            _ => format!("{package} ({kind} {name})"),
        }
    }
}

/// Builds the tests that these arguments select. Messages of the compiler go to standard error.
pub fn tests(arguments: &[&str]) -> Result<Built, String> {
    build(process::cargo(&[&["test", "--no-run"], arguments].concat()), &[])
}

/// Runs a cargo command that builds, and collects the paths of its executables. `last` are arguments for the compiler.
pub fn build(mut command: Command, last: &[&str]) -> Result<Built, String> {
    let output = process::output(command.arg("--message-format=json-render-diagnostics").args(last))?;
    let mut built = Built { program: None, tests: Vec::new() };
    for message in Message::parse_stream(output.as_bytes()) {
        let message = message.map_err(|error| format!("cannot read what cargo says: {error}"))?;
        let Message::CompilerArtifact(artifact) = message else { continue };
        let Some(executable) = artifact.executable.clone().map(PathBuf::from) else { continue };
        if artifact.profile.test {
            built.tests.extend(test_files(artifact, executable)?);
        } else if artifact.target.kind.contains(&TargetKind::Bin) && artifact.target.name == "diskperf" {
            built.program = Some(executable);
        }
    }
    // Cargo reports executables in the order in which they are completed.
    built.tests.sort_by_key(TestFile::shown);
    Ok(built)
}

/// The test files of a test binary: its modules if it has several files, otherwise the binary itself.
fn test_files(artifact: Artifact, executable: PathBuf) -> Result<Vec<TestFile>, String> {
    let folder = artifact.manifest_path.parent().ok_or("a package without a folder")?;
    let whole = TestFile {
        package: Path::new(folder).file_name().unwrap_or_default().to_string_lossy().into_owned(),
        name: artifact.target.name.clone(),
        target: artifact.target.name,
        tests: Vec::new(),
        is_integration: artifact.target.kind.contains(&TargetKind::Test),
        kind: artifact.target.kind.first().map(TargetKind::to_string).unwrap_or_default(),
        executable,
        folder: folder.into(),
    };
    if !whole.is_integration || artifact.target.src_path.file_name() != Some("main.rs") {
        return Ok(vec![whole]);
    }
    let mut list = process::bounded(&whole.executable, process::LONGEST);
    let list = process::output(list.args(["--list", "--format", "terse"]))?;
    let module = |(name, tests)| TestFile { name, tests, ..whole.clone() };
    Ok(by_module(&whole.target, &list).into_iter().map(module).collect())
}

/// The tests of each module, by its name: `cli_store` has `store::a_test`. The list is that of the test harness:
/// `store::a_test: test`.
fn by_module(target: &str, list: &str) -> BTreeMap<String, Vec<String>> {
    let mut modules: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for test in list.lines().filter_map(|line| line.strip_suffix(": test")) {
        let path = format!("{target}::{test}");
        let (module, _) = path.rsplit_once("::").expect("the target before the test");
        modules.entry(module.replace("::", "_")).or_default().push(test.to_owned());
    }
    modules
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(tests: &[&str]) -> TestFile {
        TestFile {
            package: "diskperf".to_owned(),
            name: "cli_file".to_owned(),
            target: "cli".to_owned(),
            tests: tests.iter().map(|test| (*test).to_owned()).collect(),
            is_integration: true,
            kind: "test".to_owned(),
            executable: PathBuf::from("/target/cli"),
            folder: PathBuf::from("/crates/diskperf"),
        }
    }

    #[test]
    fn tests_are_grouped_by_their_module() {
        let list = "file::b: test\nprofile::a: test\nfile::deep::c: test\ntop: test\nfile::a: test\nspeed: bench\n";
        let modules = by_module("cli", list);
        let names: Vec<(&str, Vec<&str>)> =
            modules.iter().map(|(name, tests)| (name.as_str(), tests.iter().map(String::as_str).collect())).collect();
        let expected = [
            ("cli", vec!["top"]),
            ("cli_file", vec!["file::b", "file::a"]),
            ("cli_file_deep", vec!["file::deep::c"]),
            ("cli_profile", vec!["profile::a"]),
        ];
        assert_eq!(names, expected);
        assert_eq!(by_module("cli", ""), BTreeMap::new());
    }

    #[test]
    fn modules_run_their_tests_and_binaries_run_all() {
        assert_eq!(file(&["file::a", "file::b"]).selection(None), ["--exact", "file::a", "file::b"]);
        assert_eq!(file(&["file::a", "file::b"]).selection(Some("file::b")), ["--exact", "file::b"]);
        assert_eq!(file(&[]).selection(None), [""; 0]);
        assert_eq!(file(&[]).selection(Some("a")), ["--exact", "a"]);
        assert_eq!(file(&["all::help::a", "all::help::b"]).path(), "cli::all::help");
        assert_eq!((file(&["top"]).path(), file(&[]).path()), ("cli".to_owned(), "cli".to_owned()));
    }
}
