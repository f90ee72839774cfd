//! A run that goes on while something is done to it, and which of its cells came out well.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use testkit::Ended;

use super::program;

/// `diskperf run smoke` with these words, while it runs.
pub fn start(folder: &Path, arguments: &[&str]) -> Running {
    let mut command = testkit::command(&program());
    command.args(["run", "smoke", "--json"]).args(arguments).current_dir(folder);
    begin(command)
}

/// This command, while it runs. It has a process group of its own with us as its parent outside, as a shell gives to
/// what is typed: a group that has nobody outside to let it go on is not held still by SIGTSTP.
pub fn begin(mut command: Command) -> Running {
    command.process_group(0);
    let command = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    Running(Some(command.spawn().expect("diskperf starts")))
}

/// A run that goes on, and is gone with this.
pub struct Running(pub Option<Child>);

impl Running {
    /// Its process.
    pub fn child(&mut self) -> &mut Child {
        self.0.as_mut().expect("it was not waited for")
    }

    /// Sends it this signal.
    pub fn signal(&mut self, signal: Signal) {
        kill_process(Pid::from_child(self.child()), signal).expect("the signal is sent");
    }

    /// How it ended, and all it said.
    pub fn end(mut self) -> Ended {
        let output = self.0.take().expect("it was not waited for").wait_with_output().expect("its end");
        Ended {
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

/// The cells of a document that are of this program; of all programs, where the word is empty.
pub fn cells<'a>(document: &'a Value, target: &str, program: &str) -> Vec<&'a Value> {
    let all = document["cells"].as_array().expect("cells").iter();
    let found = all.filter(|cell| cell["target"] == target && (program.is_empty() || cell["program"] == program));
    let found: Vec<&Value> = found.collect();
    assert!(!found.is_empty(), "no {program} on {target}: {document:#}");
    found
}

/// Every one of these cells is measured, in so many rounds.
pub fn kept(cells: &[&Value], rounds: usize) {
    for cell in cells {
        let count = cell["rounds"].as_array().expect("rounds").len();
        assert!(cell["measured"] == true && !cell["rate"].is_null() && count == rounds, "{cell:#}");
    }
}
