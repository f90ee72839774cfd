//! A run during which something fails, and the check of its cells.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use testkit::ProgramOutput;

use super::program;

/// `diskperf run smoke` with these words, while it runs.
pub fn start(folder: &Path, arguments: &[&str]) -> Running {
    let mut command = testkit::command(&program());
    command.args(["run", "smoke", "--json"]).args(arguments).current_dir(folder);
    begin(command)
}

/// Starts this command in its own process group, whose parent is outside of it, like a shell's command: SIGTSTP does
/// not stop a group that has no parent outside.
pub fn begin(mut command: Command) -> Running {
    command.process_group(0);
    let command = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    Running(Some(command.spawn().expect("diskperf starts")))
}

/// A running process. Dropping it ends it.
pub struct Running(pub Option<Child>);

impl Running {
    /// The process.
    pub fn child(&mut self) -> &mut Child {
        self.0.as_mut().expect("it was not waited for")
    }

    /// Sends it this signal.
    pub fn signal(&mut self, signal: Signal) {
        kill_process(Pid::from_child(self.child()), signal).expect("the signal is sent");
    }

    /// Its exit status and all of its output.
    pub fn end(mut self) -> ProgramOutput {
        let output = self.0.take().expect("it was not waited for").wait_with_output().expect("its end");
        ProgramOutput {
            status: output.status.code(),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// The cells of this target and program; an empty word means all programs.
pub fn cells<'a>(document: &'a Value, target: &str, program: &str) -> Vec<&'a Value> {
    let all = document["cells"].as_array().expect("cells").iter();
    let found = all.filter(|cell| cell["target"] == target && (program.is_empty() || cell["program"] == program));
    let found: Vec<&Value> = found.collect();
    assert!(!found.is_empty(), "no {program} on {target}: {document:#}");
    found
}

/// Asserts that every one of these cells is measured, with this number of rounds.
pub fn kept(cells: &[&Value], rounds: usize) {
    for cell in cells {
        let count = cell["rounds"].as_array().expect("rounds").len();
        assert!(cell["measured"] == true && !cell["rate"].is_null() && count == rounds, "{cell:#}");
    }
}
