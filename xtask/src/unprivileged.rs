//! The command-line tests repeated as a user without any privilege, because success as root proves little about such a
//! user. Tests that only compute skip themselves there (`testkit::compute_only`).

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::executables::{Built, TestFile};
use crate::test_jobs::Job;
use crate::{process, skipped_tests};

/// A user and a group that own nothing. A guess: any number that the system has not assigned would do.
const NOBODY: u32 = 54321;

/// Modules of the binary `cli` that are not repeated: they test help, words, limits, lines on a terminal, user-defined
/// workloads, the presets `lfs` and `vaxmix`, simulations, and commands on stored results, which are the same for all
/// users. They took 65 of the 153 CPU seconds that a repetition of all modules would take (the list of `cargo xtask
/// test`).
pub const NOT_REPEATED: [&str; 19] = [
    "cli_all_help",
    "cli_all_limits",
    "cli_all_terminal",
    "cli_all_words",
    "cli_compare",
    "cli_delete",
    "cli_explain",
    "cli_job",
    "cli_loads_fio_examples",
    "cli_loads_live",
    "cli_loads_pacing",
    "cli_loads_recipes",
    "cli_loads_sweep",
    "cli_loads_together",
    "cli_presets_lfs",
    "cli_presets_vaxmix",
    "cli_report",
    "cli_simulations_csv_sweep",
    "cli_stages",
];

/// Returns whether this is a test file of the crate `diskperf` that runs the program with other rights: a module of the
/// binary `cli`, such as `cli_store`, or `cli_clean` or `cli_verify`.
fn is_repeated(name: &str) -> bool {
    (name == "cli" || name.starts_with("cli_")) && !NOT_REPEATED.contains(&name)
}

/// The command-line tests, prepared for another user. Dropping this removes their folder.
pub struct Repetition {
    folder: Folder,
    program: PathBuf,
    tests: Vec<TestFile>,
}

impl Repetition {
    /// Puts the program and its command-line tests into a folder where another user can run them.
    pub fn prepare(built: &Built) -> Result<Repetition, String> {
        let folder = Folder::new().map_err(|error| format!("cannot make a folder for another user: {error}"))?;
        let program = built.program.as_ref().ok_or("cargo has not built the program diskperf")?;
        let program = folder.put(program)?;
        let here = built.tests.iter().filter(|test| test.is_integration && is_repeated(&test.name));
        let tests = here.map(|test| Ok(TestFile { executable: folder.put(&test.executable)?, ..test.clone() }));
        let tests = tests.collect::<Result<_, String>>()?;
        Ok(Repetition { folder, program, tests })
    }

    /// The test files.
    pub fn files(&self) -> &[TestFile] {
        &self.tests
    }

    /// The jobs that run them.
    pub fn jobs(&self) -> Vec<Job> {
        let job = |test: &TestFile| Job {
            name: format!("{} without rights", test.name),
            command: self.folder.command(test, None, &self.program, process::LONGEST),
        };
        self.tests.iter().map(job).collect()
    }

    /// The command that runs the tests of this file (or only the test `only`), with a time limit in seconds. Also
    /// returns the path of the file `skips`, to which they add their skips.
    pub fn command(&self, test: &TestFile, only: Option<&str>, skips: &str, seconds: u32) -> (Command, PathBuf) {
        let skips = self.folder.home().join(skips);
        let mut command = self.folder.command(test, only, &self.program, seconds);
        command.env(testkit::SKIPS, &skips);
        (command, skips)
    }

    /// The contents of their file of skips.
    pub fn skips(&self) -> Result<String, String> {
        skipped_tests::read(&self.folder.skips())
    }
}

/// A folder that all users may enter, with a home and a temporary folder that belong to the other user.
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

    /// Makes a hard link if possible, because the files are large; otherwise a copy. Another process copies: a file
    /// that is open for writing here would be inherited by every child that starts at that moment, and could not be
    /// executed.
    fn put(&self, from: &Path) -> Result<PathBuf, String> {
        let to = self.0.path().join(from.file_name().expect("an executable has a name"));
        if to.exists() {
            // Another module of the same binary has put it there.
            return Ok(to);
        }
        if fs::hard_link(from, &to).is_err() {
            process::run(Command::new("cp").arg("--").args([from, &to]))?;
        }
        let readable = fs::set_permissions(&to, fs::Permissions::from_mode(0o755));
        readable.map_err(|error| format!("cannot let everybody run {}: {error}", to.display()))?;
        Ok(to)
    }

    fn home(&self) -> PathBuf {
        self.0.path().join("home")
    }

    /// The file to which the other user's tests write their skips.
    fn skips(&self) -> PathBuf {
        self.home().join("skips")
    }

    /// The command that runs the tests (or only the test `only`) as the other user, without our environment.
    fn command(&self, test: &TestFile, only: Option<&str>, program: &Path, seconds: u32) -> Command {
        let mut command = process::bounded(Path::new("setpriv"), seconds);
        command
            .args([format!("--reuid={NOBODY}"), format!("--regid={NOBODY}"), "--clear-groups".to_owned()])
            .arg(&test.executable)
            .args(test.selection(only))
            .current_dir(self.home())
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", self.home())
            .env("TMPDIR", self.0.path().join("tmp"))
            .env(testkit::PROGRAM, program)
            .env(testkit::compute_only::REPEATED, "true")
            .env(testkit::SKIPS, self.skips());
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_tests_are_recognized_by_name() {
        assert!(is_repeated("cli") && is_repeated("cli_json"));
        assert!(!is_repeated("client") && !is_repeated("instructions") && !is_repeated("cli_all_help"));
    }
}
