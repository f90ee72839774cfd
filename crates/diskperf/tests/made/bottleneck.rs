//! A bottleneck made on purpose, and the judgement of what the built program says about it.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use testkit::Running;
use testkit::control_group::{Group, run_in};
use testkit::loop_disk::LoopDisk;

/// A bottleneck that the tests can make.
pub struct Bottleneck {
    /// Its name.
    pub name: &'static str,
    /// Names of the limit that are right answers.
    pub right: &'static [&'static str],
    /// Makes the bottleneck, runs the program in it, and returns the cell; or the reason why it cannot be made here.
    pub cell: fn(&Path) -> Result<Value, String>,
}

/// The judged answer of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Said {
    /// One of the right names.
    Right,
    /// "n.m.": no limit is named.
    Nothing,
    /// Another name.
    Wrong,
}

impl Bottleneck {
    /// Judges the limit that the cell names.
    pub fn judge(&self, cell: &Value) -> Said {
        match cell["limited_by"]["what"].as_str() {
            Some(what) if self.right.contains(&what) => Said::Right,
            Some("n.m.") => Said::Nothing,
            _ => Said::Wrong,
        }
    }
}

/// The cell of one phase of a run in these groups, in the folder.
pub fn measured(
    program: &Path,
    groups: &[&Group],
    folder: &Path,
    arguments: &[&str],
    (name, phase, target): (&str, &str, &str),
) -> Result<Value, String> {
    let ended =
        run_in(groups, program, folder, &[&["run", "--floor", "0"], arguments, &["--only", name, "--json"]].concat());
    let document: Value = serde_json::from_str(&ended.out).unwrap_or_else(|error| panic!("{error}: {}", ended.err));
    let is_it = |cell: &&Value| cell["program"] == name && cell["phase"] == phase && cell["target"] == target;
    let cell = document["cells"].as_array().and_then(|cells| cells.iter().find(is_it));
    Ok(cell.unwrap_or_else(|| panic!("no cell for {name} {phase} on {target}: {}", ended.err)).clone())
}

/// The only cell of these words of the command line, in these groups, in the folder.
pub fn only_cell(program: &Path, groups: &[&Group], folder: &Path, arguments: &[&str]) -> Value {
    let ended = run_in(groups, program, folder, arguments);
    let document: Value = serde_json::from_str(&ended.out).unwrap_or_else(|error| panic!("{error}: {}", ended.err));
    document["cells"][0].clone()
}

/// A program that reads a disk in large pieces, past the page cache, until it is dropped: its last dd ends by itself at
/// the end of the disk.
pub fn neighbour(disk: &LoopDisk) -> Result<Running, String> {
    let read = format!("while :; do dd if={} of=/dev/null bs=1M iflag=direct; done", disk.node().display());
    let mut command = Command::new("/bin/sh");
    command.args(["-c", &read]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().map(Running).map_err(|error| format!("no neighbour: {error}"))
}
