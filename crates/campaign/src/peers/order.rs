//! The orders of the first host. Only this host decides. The others follow its orders, and return their results.

use std::env;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use kernel::PathFault;
use runner::execution::{ExecutionResult, ProgramFailure, WorldFailure};
use serde::{Deserialize, Serialize};
use units::{Exit, Nanos, name};
use workload::Reason;

use super::fault::PeerFault;
use crate::error::CampaignError;
use crate::executions;
use crate::fit::sizes::Sizes;
use crate::request::RunRequest;
use crate::rounds::driver::Performed;
use crate::targets::{TargetArgument, TargetKind};

/// The run that all hosts are part of.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Assignment {
    /// The request of the run, with `%h` in its paths.
    pub request: RunRequest,
    /// True if nothing is measured.
    pub is_dry: bool,
    /// The label of private folders that killed processes of the run left, if it is resumed.
    pub resumed: Option<String>,
    /// The working folder of the first host.
    pub folder: Folder,
}

/// The text of a working folder. All hosts use that of the first one, so that a relative path is the same one on all,
/// and also if the run is resumed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Folder(String);

impl Folder {
    /// The working folder of this process.
    pub fn here() -> Result<Folder, PathFault> {
        let folder = env::current_dir().map_err(|_| PathFault::Missing(".".into()))?;
        Ok(Folder(name::text(folder.as_os_str().as_bytes()).into_owned()))
    }

    /// Makes it the working folder of this process. If this host cannot, it can still measure targets with absolute
    /// paths.
    pub fn enter(&self, targets: &[TargetArgument]) -> Result<(), PeerFault> {
        let folder = PathBuf::from(OsString::from_vec(name::bytes(&self.0).into_owned()));
        let is_relative =
            |target: &TargetArgument| matches!(&target.kind, TargetKind::Directory(path) if path.is_relative());
        match env::set_current_dir(folder) {
            Err(error) if targets.iter().any(is_relative) => {
                Err(PeerFault::NoFolder { folder: self.0.clone(), why: kernel::message(&error).to_string() })
            }
            _ => Ok(()),
        }
    }
}

/// The plan of one host, as far as all must agree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Agreement {
    /// The tests in order, without sizes that are chosen later.
    pub tests: Vec<String>,
    /// The storage of each target: what a host may claim depends on it.
    pub storage: Vec<String>,
    /// The reasons why this host cannot run a workload as it is written.
    pub warnings: Vec<String>,
    /// The largest sizes that its targets have room for, if sizes are chosen later.
    pub largest: Option<Sizes>,
}

/// An order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Order {
    /// Perform this execution.
    Perform(Task),
    /// Remove everything and end.
    End,
}

/// An execution of an alternative.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// The index of the alternative in the plan.
    pub alternative: usize,
    /// The sizes of the plan, if they are chosen.
    pub sizes: Option<Sizes>,
    /// The round; `None` for a trial.
    pub round: Option<u32>,
    /// True if it does not wait for idle devices.
    pub is_hurried: bool,
}

/// The result of an execution on one host.
#[derive(Debug, Serialize, Deserialize)]
pub enum Reply {
    /// It ran to its end, in this time.
    #[expect(missing_docs, reason = "the fields are named after what they hold")]
    Done { result: Box<ExecutionResult>, lasted: Nanos },
    /// It was stopped, or did not begin.
    Stopped,
    /// It failed in this phase.
    #[expect(missing_docs, reason = "the fields are named after what they hold")]
    Failed { phase: Option<usize>, message: String, hint: Option<String> },
}

impl Reply {
    /// The reply of a host with this result.
    pub fn new(performed: &Performed) -> Reply {
        match performed {
            Some(Ok(result)) => match result.stopped {
                None => Reply::Done { lasted: result.lasted, result: Box::new(result.clone()) },
                Some(ProgramFailure { failure, .. }) if is_stop(failure.reason) => Reply::Stopped,
                Some(ProgramFailure { phase, failure, .. }) => Reply::Failed {
                    phase,
                    message: executions::message(&failure, result.output.as_deref()),
                    hint: failure.hint().map(str::to_owned),
                },
            },
            Some(Err(WorldFailure { phase, fault })) => {
                Reply::Failed { phase: *phase, message: fault.to_string(), hint: fault.hint() }
            }
            None => Reply::Stopped,
        }
    }
}

/// True for a program that was told to end, and did not fail.
pub fn is_stop(reason: Reason) -> bool {
    matches!(reason, Reason::Interrupted | Reason::Signal)
}

/// The result of all hosts together, and whether another host was told to stop. `others` are the names and replies of
/// the other hosts. A failure on one host is that of the execution.
///
/// 1. A failure of this host is reported as that of a single host.
/// 2. Else the first failure of another host is reported, with its name.
/// 3. If all ran to their end, the result contains those of the others.
pub fn combined(own: Performed, others: Vec<(String, Reply)>) -> (Performed, bool) {
    let has_failed = match &own {
        Some(Ok(result)) => result.stopped.is_some_and(|stopped| !is_stop(stopped.failure.reason)),
        Some(Err(_)) => true,
        None => false,
    };
    let is_stopped = others.iter().any(|(_, reply)| matches!(reply, Reply::Stopped));
    // 1
    if has_failed {
        return (own, false);
    }
    let mut hosts = Vec::with_capacity(others.len());
    for (host, reply) in others {
        match reply {
            // 2
            Reply::Failed { phase, message, hint } => {
                let fault = PeerFault::OnHost { host, message, hint, exit: Exit::Failed };
                let fault = Box::new(CampaignError::Peers(fault));
                return (Some(Err(WorldFailure { phase, fault })), false);
            }
            Reply::Done { result, lasted } => hosts.push(ExecutionResult { lasted, ..*result }),
            Reply::Stopped => {}
        }
    }
    match own {
        // 3
        Some(Ok(result)) if !is_stopped => (Some(Ok(ExecutionResult { hosts, ..result })), false),
        own => (own, is_stopped),
    }
}

#[cfg(test)]
mod tests {
    use workload::{Failure, Op};

    use super::*;

    fn ended(reason: Option<Reason>) -> Performed {
        let stopped = reason.map(|reason| {
            let failure = Failure { op: Op::Syncfs, reason };
            ProgramFailure { program: 0, phase: Some(0), failure }
        });
        Some(Ok(ExecutionResult { stopped, lasted: Nanos(7), ..ExecutionResult::default() }))
    }

    #[test]
    fn a_host_without_the_folder_measures_absolute_paths_only() {
        let folder = Folder("/nowhere/work".to_owned());
        let enter = |target: &str| folder.enter(&[target.to_owned().into()]).map_err(|fault| fault.to_string());
        assert_eq!(enter("/lustre/%h"), Ok(()));
        let refused = enter("a=data").expect_err("a refusal");
        assert!(refused.starts_with("cannot enter /nowhere/work, the working folder of the first host: "), "{refused}");
    }

    fn named(replies: Vec<Reply>) -> Vec<(String, Reply)> {
        replies.into_iter().enumerate().map(|(index, reply)| (format!("n{}", index + 1), reply)).collect()
    }

    #[test]
    fn results_of_all_hosts_are_one_result() {
        let replies = named(vec![Reply::new(&ended(None)), Reply::new(&ended(None))]);
        let (performed, is_stopped) = combined(ended(None), replies);
        let result = performed.expect("it took place").expect("it did not fail");
        assert_eq!((result.hosts.len(), result.hosts[0].lasted, is_stopped), (2, Nanos(7), false));
    }

    #[test]
    fn the_failure_of_one_host_is_that_of_all_and_names_it() {
        let failed = || Reply::new(&ended(Some(Reason::NoSpace)));
        let message = |own: Performed, replies| {
            let (performed, is_stopped) = combined(own, named(replies));
            assert!(!is_stopped);
            performed.expect("it took place").map_err(|failure| failure.fault.to_string())
        };
        let left = || ended(Some(Reason::Interrupted));
        let of_other = message(left(), vec![Reply::Stopped, failed()]).expect_err("a failure");
        assert!(of_other.starts_with("host n2: "), "{of_other}");
        // Its own failure is first.
        let own = message(ended(Some(Reason::NoSpace)), vec![failed()]).expect("a result that failed");
        assert!(own.stopped.is_some_and(|stopped| stopped.failure.reason == Reason::NoSpace));
    }

    #[test]
    fn a_stop_of_one_host_stops_all() {
        let (performed, is_stopped) = combined(ended(None), named(vec![Reply::Stopped]));
        assert!(is_stopped && performed.expect("it took place").expect("it did not fail").hosts.is_empty());
    }
}
