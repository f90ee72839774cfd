//! Code that the tests of the program share: the program itself in a folder, and the documents that it prints.

#![allow(dead_code, reason = "no test binary needs all of it")]

pub mod document;
pub mod faults;
pub mod ground;
pub mod stored;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;
use testkit::{ProgramOutput, names_in};

use document::document;

/// The program under test.
pub fn program() -> PathBuf {
    testkit::program(env!("CARGO_BIN_EXE_diskperf"))
}

/// The program in a folder, in which its commands run.
pub struct Cli {
    folder: PathBuf,
    /// Removes the folder when dropped.
    _scratch: Option<TempDir>,
}

impl Cli {
    /// Uses a scratch folder.
    pub fn new() -> Cli {
        Cli::inside(tempfile::tempdir().expect("a scratch folder"))
    }

    /// Uses a scratch folder in memory if possible: syncs on the machine's disk wait for the writes of other programs.
    pub fn in_memory() -> Cli {
        Cli::inside(testkit::folder_in_memory())
    }

    /// Uses this scratch folder.
    pub fn inside(folder: TempDir) -> Cli {
        Cli { folder: folder.path().to_owned(), _scratch: Some(folder) }
    }

    /// Uses this folder, which stays.
    pub fn in_folder(folder: impl AsRef<Path>) -> Cli {
        Cli { folder: folder.as_ref().to_owned(), _scratch: None }
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.folder
    }

    /// The names of all files in the folder, sorted.
    pub fn names(&self) -> Vec<String> {
        names_in(&self.folder)
    }

    /// A command that is not run yet.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = testkit::command(&program());
        command.args(without_floor(arguments)).current_dir(&self.folder);
        command
    }

    /// Runs a command.
    pub fn run(&self, arguments: &[&str]) -> ProgramOutput {
        testkit::run(&program(), &self.folder, &without_floor(arguments))
    }

    /// Runs the command of a line, whose words contain no spaces.
    pub fn typed(&self, line: &str) -> ProgramOutput {
        self.run(&line.split_whitespace().collect::<Vec<_>>())
    }

    /// Runs a command that must succeed.
    pub fn well(&self, arguments: &[&str]) -> ProgramOutput {
        let ended = self.run(arguments);
        assert_eq!(ended.status, Some(0), "{arguments:?}: {}{}", ended.out, ended.err);
        ended
    }

    /// Runs a command that must succeed and leave the folder as it is.
    pub fn well_and_clean(&self, arguments: &[&str]) -> ProgramOutput {
        let before = self.names();
        let ended = self.well(arguments);
        assert_eq!(self.names(), before, "{arguments:?}");
        ended
    }

    /// The document of a command that must succeed, checked against its schema.
    pub fn document(&self, arguments: &[&str]) -> Value {
        document(&self.well(arguments))
    }

    /// Runs a command that must be refused: with this exit status, an error with these words and no standard output.
    /// The folder must stay as it was.
    pub fn refuses(&self, arguments: &[&str], status: i32, words: &[&str]) {
        let before = self.names();
        let ended = self.run(arguments);
        assert_eq!(ended.status, Some(status), "{arguments:?}: {}{}", ended.out, ended.err);
        for word in ["error: "].iter().chain(words) {
            assert!(ended.err.contains(word), "{arguments:?} does not mention {word:?}: {}", ended.err);
        }
        assert_eq!(ended.out, "", "{arguments:?}");
        assert_eq!(self.names(), before, "{arguments:?}");
    }
}

/// The words of a command, with `--floor 0` if it measures: tests are quick, and small amounts decide in them. Not with
/// `--need`, which refuses it, not for a plan, and not for simulated machines, which have no floor.
pub fn without_floor<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    let is_measured = arguments.first().is_some_and(|first| ["run", "choose", "io"].contains(first));
    let is_other = |word: &&str| ["--need", "--floor", "--dry-run"].contains(word) || word.contains("sim:");
    let place = usize::from(!arguments.is_empty());
    let off: &[&str] = if is_measured && !arguments.iter().any(is_other) { &["--floor", "0"] } else { &[] };
    [&arguments[..place], off, &arguments[place..]].concat()
}

/// Runs a command to its end.
pub fn ended(mut command: Command) -> ProgramOutput {
    let output = command.output().expect("the program can be started");
    ProgramOutput {
        status: output.status.code(),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// A path as a word of a command line.
pub fn text(path: &Path) -> &str {
    path.to_str().expect("a plain path")
}

/// The number of loop devices on files in this folder.
pub fn loop_devices_on(folder: &Path) -> usize {
    let devices = fs::read_dir("/sys/block").into_iter().flatten().flatten();
    let files = devices.filter_map(|device| fs::read_to_string(device.path().join("loop/backing_file")).ok());
    files.filter(|file| file.starts_with(&*folder.to_string_lossy())).count()
}

/// The cells of a document.
pub fn cells(document: &Value) -> &Vec<Value> {
    document["cells"].as_array().expect("cells")
}

/// The text of the mark with this code, of a cell or of a round. `None` if it does not have the mark.
pub fn mark<'a>(of: &'a Value, code: &str) -> Option<&'a str> {
    let mut marks = of["marks"].as_array().expect("marks").iter();
    marks.find(|mark| mark["code"] == code).map(|mark| mark["text"].as_str().expect("a text"))
}

/// The list of this name in a document or in a part of one.
pub fn list<'a>(value: &'a Value, name: &str) -> &'a Vec<Value> {
    value[name].as_array().unwrap_or_else(|| panic!("no {name}: {value:#}"))
}

/// The remarks on the run of a document: kind, program and target, or "" if the remark has none.
pub fn remarks(document: &Value) -> Vec<[&str; 3]> {
    let remarks = document["run"]["remarks"].as_array().into_iter().flatten();
    remarks.map(|remark| ["kind", "program", "target"].map(|key| remark[key].as_str().unwrap_or_default())).collect()
}
