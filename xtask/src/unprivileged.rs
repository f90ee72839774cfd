//! The command-line tests once more, as a user without any right: what works for root proves little about
//! the person who has none.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::Command;

use cargo_metadata::{Message, TargetKind};
use tempfile::TempDir;

use crate::libtest::Totals;
use crate::process;

/// A user and a group that own nothing. A guess: any number that the system has not given away would do.
const NOBODY: u32 = 54321;

/// Test files of the crate `diskperf` that run the program: `cli` and what begins with `cli_`.
fn is_command_line(target: &str) -> bool {
    target == "cli" || target.starts_with("cli_")
}

/// The program and the executables of its command-line tests.
struct Built {
    program: PathBuf,
    tests: Vec<(String, PathBuf)>,
}

/// What the run came to.
pub struct Report {
    /// The test files that were run.
    pub files: Vec<String>,
    /// What their tests did.
    pub totals: Totals,
    /// What they wrote into the file of skips.
    pub skips: String,
    /// The test files that failed.
    pub failed: Vec<String>,
}

/// Runs them all in a folder of their own, which is removed afterwards, whatever happens. Nothing where
/// there are none.
pub fn run() -> Result<Option<Report>, String> {
    let built = built()?;
    if built.tests.is_empty() {
        return Ok(None);
    }
    let folder = Folder::new().map_err(|error| format!("cannot make a folder for another user: {error}"))?;
    let program = folder.copy(&built.program)?;
    let mut report = Report { files: Vec::new(), totals: Totals::default(), skips: String::new(), failed: Vec::new() };
    for (name, executable) in built.tests {
        println!("{name}, as user {NOBODY}");
        let executable = folder.copy(&executable)?;
        let mut command = folder.command(&executable, &program);
        if process::listen(&mut command, |line| report.totals.add_line(line)).is_err() {
            report.failed.push(name.clone());
        }
        report.files.push(name);
    }
    report.skips = fs::read_to_string(folder.skips()).unwrap_or_default();
    Ok(Some(report))
}

/// Asks cargo where it put what the tests have just built.
fn built() -> Result<Built, String> {
    let mut command = process::cargo(&["test", "--workspace", "--no-run", "--quiet", "--message-format=json"]);
    let output = process::output(&mut command)?;
    let mut program = None;
    let mut tests = Vec::new();
    for message in Message::parse_stream(output.as_bytes()) {
        let message = message.map_err(|error| format!("cannot read what cargo says: {error}"))?;
        let Message::CompilerArtifact(artifact) = message else { continue };
        let Some(executable) = artifact.executable.map(PathBuf::from) else { continue };
        let (name, kind) = (artifact.target.name, artifact.target.kind);
        if kind.contains(&TargetKind::Bin) && !artifact.profile.test && name == "diskperf" {
            program = Some(executable);
        } else if kind.contains(&TargetKind::Test) && is_command_line(&name) {
            tests.push((name, executable));
        }
    }
    let program = program.ok_or("cargo has not built the program diskperf")?;
    Ok(Built { program, tests })
}

/// A folder that everybody may enter, with a home and a temporary folder that belong to the other user.
struct Folder(TempDir);

impl Folder {
    fn new() -> std::io::Result<Folder> {
        let folder = TempDir::with_prefix("diskperf-unprivileged-")?;
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755))?;
        for name in ["home", "tmp"] {
            let path = folder.path().join(name);
            fs::create_dir(&path)?;
            fs::set_permissions(&path, fs::Permissions::from_mode(0o700))?;
            chown(&path, Some(NOBODY), Some(NOBODY))?;
        }
        Ok(Folder(folder))
    }

    fn copy(&self, from: &Path) -> Result<PathBuf, String> {
        let to = self.0.path().join(from.file_name().expect("an executable has a name"));
        let copied = fs::copy(from, &to).and_then(|_| fs::set_permissions(&to, fs::Permissions::from_mode(0o755)));
        copied.map_err(|error| format!("cannot copy {}: {error}", from.display()))?;
        Ok(to)
    }

    fn home(&self) -> PathBuf {
        self.0.path().join("home")
    }

    /// Where the other user's tests leave their skips.
    fn skips(&self) -> PathBuf {
        self.home().join("skips")
    }

    /// The test executable as the other user, who knows nothing of our environment.
    fn command(&self, executable: &Path, program: &Path) -> Command {
        let mut command = Command::new("setpriv");
        command
            .args([format!("--reuid={NOBODY}"), format!("--regid={NOBODY}"), "--clear-groups".to_owned()])
            .arg(executable)
            .current_dir(self.home())
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", self.home())
            .env("TMPDIR", self.0.path().join("tmp"))
            .env(testkit::PROGRAM, program)
            .env(testkit::SKIPS, self.skips());
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_line_tests_are_known_by_their_names() {
        assert!(is_command_line("cli") && is_command_line("cli_json"));
        assert!(!is_command_line("client") && !is_command_line("instructions"));
    }
}
