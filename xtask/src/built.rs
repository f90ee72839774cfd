//! What cargo builds, and where it puts it.

use std::path::{Path, PathBuf};
use std::process::Command;

use cargo_metadata::{Artifact, Message, TargetKind};

use crate::process;

/// What a call of cargo has built that can be run.
pub struct Built {
    /// The program diskperf.
    pub program: Option<PathBuf>,
    /// Test files.
    pub tests: Vec<TestFile>,
}

/// A file of tests, built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestFile {
    /// Its package.
    pub package: String,
    /// What cargo calls it: the file's name, or that of the crate or program whose unit tests they are.
    pub name: String,
    /// Whether it is a file under `tests`.
    pub is_integration: bool,
    /// The kind of target, as cargo calls it: `lib`, `bin`, `test`, `bench`.
    pub kind: String,
    /// Where it was put.
    pub executable: PathBuf,
    /// The folder of the package, in which its tests stand.
    pub folder: PathBuf,
}

impl TestFile {
    /// The command that runs all its tests, as `cargo test` does, for at most these seconds.
    pub fn command(&self, seconds: u32) -> Command {
        let mut command = process::bounded(&self.executable, seconds);
        command.current_dir(&self.folder).env("CARGO_MANIFEST_DIR", &self.folder);
        command
    }

    /// `kernel::images`, `kernel` for the unit tests of a library, `overhead (bench loops)` for anything else. No two
    /// are alike.
    pub fn shown(&self) -> String {
        let TestFile { package, name, kind, .. } = self;
        match kind.as_str() {
            "test" => format!("{package}::{name}"),
            "lib" => package.clone(),
            _ => format!("{package} ({kind} {name})"),
        }
    }
}

/// Has cargo build tests, which these arguments select; what the compiler says goes to standard error.
pub fn tests(arguments: &[&str]) -> Result<Built, String> {
    build(process::cargo(&[&["test", "--no-run"], arguments].concat()), &[])
}

/// Runs this command of cargo, which builds, and has it say where; the last words are the compiler's.
pub fn build(mut command: Command, last: &[&str]) -> Result<Built, String> {
    let output = process::output(command.arg("--message-format=json-render-diagnostics").args(last))?;
    let mut built = Built { program: None, tests: Vec::new() };
    for message in Message::parse_stream(output.as_bytes()) {
        let message = message.map_err(|error| format!("cannot read what cargo says: {error}"))?;
        let Message::CompilerArtifact(artifact) = message else { continue };
        let Some(executable) = artifact.executable.clone().map(PathBuf::from) else { continue };
        if artifact.profile.test {
            built.tests.push(test_file(artifact, executable)?);
        } else if artifact.target.kind.contains(&TargetKind::Bin) && artifact.target.name == "diskperf" {
            built.program = Some(executable);
        }
    }
    // Whatever was ready first.
    built.tests.sort_by_key(TestFile::shown);
    Ok(built)
}

fn test_file(artifact: Artifact, executable: PathBuf) -> Result<TestFile, String> {
    let folder = artifact.manifest_path.parent().ok_or("a package without a folder")?;
    Ok(TestFile {
        package: Path::new(folder).file_name().unwrap_or_default().to_string_lossy().into_owned(),
        name: artifact.target.name,
        is_integration: artifact.target.kind.contains(&TargetKind::Test),
        kind: artifact.target.kind.first().map(TargetKind::to_string).unwrap_or_default(),
        executable,
        folder: folder.into(),
    })
}
