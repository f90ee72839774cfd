//! Errors of stored runs and of the results database.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use kernel::guard::{GuardFault, Reason, hints};

use super::outcome::{Outcome, refused, usage};
use crate::ui::shell;

/// The reason why a stored run cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RunsError {
    #[error("there is no home directory for the results database")]
    NowhereToStore,
    #[error("{0}=none turns the results database off")]
    NothingIsStored(&'static str),
    #[error("the run {0} has no job file; only a job file can be exported for other tools")]
    NoJob(String),
    #[error("--to fio exports one workload, not {count}: fio would run them at the same time")]
    SeveralJobs { first: PathBuf, count: usize },
    #[error("no stored run has the test {word}")]
    NoHistory { word: String, known: Vec<String> },
    #[error("the run {0} is finished")]
    NothingLeft(String),
    #[error("every stored run is finished")]
    AllFinished,
    #[error("process {pid} is still measuring the run {run}")]
    StillRuns { run: String, pid: i32, is_here: bool },
    #[error("process {pid} is still measuring the run {run}")]
    StillMeasured { run: String, pid: i32, is_here: bool },
    #[error("the run {run} was measured {elsewhere}")]
    Elsewhere { run: String, elsewhere: String, hosts: usize, folder: PathBuf, command: Vec<OsString> },
    #[error("the run {run} was measured {difference}")]
    OtherHosts { run: String, difference: String, hosts: usize },
    #[error("{refused}{}", doubt.map_or_else(String::new, |doubt| format!("; {doubt}")))]
    Occupied { refused: Box<GuardFault>, doubt: Option<Doubt>, folder: PathBuf, command: Vec<OsString> },
}

/// The reason why diskperf cannot tell whether a run wrote the data on a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// The device does not hold the file system that the run made.
    Replaced,
    /// The run was killed during mkfs.
    Unfinished,
    /// The machine was restarted, which removed the notes about the device.
    Restarted,
    /// The device holds more than the run leaves there.
    Later,
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Doubt::Replaced => "it no longer holds the file system that the run made",
            Doubt::Unfinished => "the run was killed during mkfs, so diskperf cannot tell who wrote that",
            Doubt::Restarted => "the machine was restarted since the run began, so diskperf cannot tell who wrote that",
            Doubt::Later => "diskperf cannot tell whether it held that when the run began",
        })
    }
}

impl RunsError {
    pub(super) fn outcome(&self) -> Outcome {
        match self {
            RunsError::NowhereToStore => usage("name a file for it: --store PATH or DISKPERF_STORE=PATH"),
            RunsError::NothingIsStored(_) => usage("name a results database: --store PATH"),
            RunsError::NoJob(_) => usage("`diskperf io randread --print-job > JOB.toml` makes a job file"),
            RunsError::SeveralJobs { first, .. } => {
                let export = shell::on_store(&format!("export --to fio {} -o JOB.fio", shell::word(first)));
                usage(format!("export each to a file of its own: {export}"))
            }
            RunsError::NoHistory { known, .. } if known.is_empty() => usage("diskperf run quick stores a run"),
            RunsError::NoHistory { known, .. } => usage(format!("known tests: {}", known.join(", "))),
            RunsError::NothingLeft(run) => usage(format!("{} prints it", shell::on_store(&format!("show {run}")))),
            RunsError::AllFinished => usage(format!("{} shows them", shell::on_store("list"))),
            RunsError::StillRuns { is_here: true, .. } | RunsError::StillMeasured { is_here: true, .. } => {
                refused("wait until it ends, or press Ctrl-C there")
            }
            RunsError::StillRuns { is_here: false, .. } => {
                refused("that process is in another container; resume it there")
            }
            RunsError::StillMeasured { is_here: false, .. } => {
                refused("that process is in another container; wait until it ends")
            }
            RunsError::Elsewhere { hosts, folder, command, .. } => {
                let line = match hosts {
                    0 => shell::line(command),
                    hosts => on_hosts(*hosts, &shell::line(command.iter().skip(1))),
                };
                refused(format!("start it again: cd {} && {line}", shell::word(folder)))
            }
            RunsError::OtherHosts { run, hosts: 0, .. } => {
                refused(format!("resume it without mpirun: diskperf resume {run}"))
            }
            RunsError::OtherHosts { run, hosts, .. } => {
                let line = on_hosts(*hosts, &format!("resume {run}"));
                refused(format!("start the same hosts in the same order: {line}"))
            }
            RunsError::Occupied { refused, doubt, folder, command } => {
                (refused.exit(), hint_on_resuming(refused, *doubt, folder, command))
            }
        }
    }
}

/// A command line that runs these words of diskperf on several hosts.
fn on_hosts(hosts: usize, words: &str) -> String {
    format!("mpirun -n {hosts} --map-by ppr:1:node --bind-to none diskperf-mpi {words}")
}

/// The hint if a run is not resumed. `command` started it in `folder`.
fn hint_on_resuming(fault: &GuardFault, doubt: Option<Doubt>, folder: &Path, command: &[OsString]) -> Option<String> {
    let GuardFault::Refused { reasons, identity, .. } = fault else { return fault.hint() };
    if reasons.iter().any(Reason::is_of_the_system) {
        return fault.hint();
    }
    let mut hints = hints(reasons);
    // `clean` does not list a file system that was replaced, or whose notes are gone.
    let is_listed = matches!(doubt, None | Some(Doubt::Unfinished));
    if is_listed && !reasons.iter().any(Reason::is_known_content) {
        hints.insert(0, "list the leftovers of killed runs: diskperf clean".to_owned());
    }
    if reasons.iter().all(Reason::can_be_lifted) {
        // The words after two dashes belong to the user's command.
        let end = command.iter().position(|word| word == "--").unwrap_or(command.len());
        let (own, rest) = command.split_at(end);
        let agreed = ["--destroy-data", "--confirm", identity].map(OsString::from);
        let agreed = if own.iter().any(|word| word == "--destroy-data") { &[][..] } else { &agreed[..] };
        let (folder, line) = (shell::word(folder), shell::line(own.iter().chain(agreed).chain(rest)));
        hints.push(format!("to overwrite its data and start again: cd {folder} && {line}"));
    }
    Some(hints.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run in another container can be resumed there, but `delete` has to wait for it.
    #[test]
    fn the_hint_for_a_run_in_a_container_depends_on_the_command() {
        let (run, pid, is_here) = ("bzkv-261122".to_owned(), 7, false);
        let errors =
            [RunsError::StillRuns { run: run.clone(), pid, is_here }, RunsError::StillMeasured { run, pid, is_here }];
        let hints = errors.map(|error| error.outcome().1.expect("a hint"));
        assert!(hints[0].ends_with("resume it there") && hints[1].ends_with("wait until it ends"), "{hints:?}");
    }

    /// Hosts with another kernel cannot resume the run, also in the same order.
    #[test]
    fn a_run_is_started_again_on_as_many_hosts_as_measured_it() {
        let hint = |hosts| {
            let command = ["/opt/diskperf", "io", "randread", "a b"].map(OsString::from).to_vec();
            let (run, elsewhere) = ("bzkv-261122".to_owned(), "with Linux 6 on host n1".to_owned());
            RunsError::Elsewhere { run, elsewhere, hosts, folder: "/lustre".into(), command }.outcome().1
        };
        let on_one = "start it again: cd /lustre && /opt/diskperf io randread 'a b'";
        assert_eq!(hint(0).as_deref(), Some(on_one));
        let on_three = "start it again: cd /lustre && mpirun -n 3 --map-by ppr:1:node --bind-to none diskperf-mpi io \
                        randread 'a b'";
        assert_eq!(hint(3).as_deref(), Some(on_three));
    }
}
