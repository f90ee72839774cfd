//! Counts the instructions and the memory of a command with valgrind.

#![allow(dead_code, reason = "no test needs all of it")]

use std::path::Path;
use std::process::Command;

use workload::programs::classic1983::BYTES_1983;

/// The environment variable that tells a test which runs itself again which half to run.
pub const CHILD: &str = "DISKPERF_INSTRUCTIONS_CHILD";

/// The instructions of a whole command. Cachegrind without a cache counts the same as callgrind, in half the time.
pub fn count(words: &[&str]) -> u64 {
    let said = run(&["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"], words, None);
    number_after(&said, "refs: ")
}

/// The number of instructions in the output of callgrind.
pub fn collected(said: &str) -> u64 {
    number_after(said, "Collected : ")
}

fn number_after(said: &str, label: &str) -> u64 {
    let counted = said.lines().find_map(|line| line.split_once(label)).expect("a line with the number");
    counted.1.trim().replace(',', "").parse().expect("a number")
}

/// Runs a command under valgrind. Returns valgrind's output.
pub fn run(options: &[&str], words: &[&str], child: Option<String>) -> String {
    let mut command = Command::new("valgrind");
    command.args(options).args(words);
    if let Some(child) = child {
        command.env(CHILD, child);
    }
    let output = command.output().expect("valgrind runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stdout));
    said.into_owned()
}

/// A folder in memory, if there is room for `bytes` and for the file of a program of 1983. The kind of disk does not
/// affect the counts.
pub fn scratch(bytes: u64) -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    let room = rustix::fs::statvfs(memory).map_or(0, |space| space.f_bavail * space.f_frsize);
    let made = if room > bytes + BYTES_1983 { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
    made.expect("a scratch folder")
}
