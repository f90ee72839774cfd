//! The executions of each alternative, and the reason of a failure.

use report::sanitize::SAID;
use runner::execution::{ExecutionResult, PhaseResult, Recorded, WorldFailure};
use stats::RoundOperation;
use workload::Reason;

use crate::error::CampaignError;
use crate::rounds::Turn;

/// One program's executions on one target.
#[derive(Clone, Debug, Default)]
pub struct Executions {
    pub(crate) runs: Vec<Execution>,
    /// The failure that ended the program from outside, such as that of its file system; `None` without one.
    broken: Option<Failure>,
}

/// The reason why a program's cells are void.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The index of the failed program; `None` if the failure concerns all.
    pub(crate) program: Option<usize>,
    /// The index of the failed phase; `None` if the preparation failed.
    pub(crate) phase: Option<usize>,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
}

#[derive(Clone, Debug)]
pub(crate) struct Execution {
    pub(crate) round: u32,
    pub(crate) position: u32,
    pub(crate) discarded: bool,
    pub(crate) result: ExecutionResult,
    /// The operations of each phase as results have them. Converted once, because results are made after every round.
    pub(crate) operations: Vec<Vec<RoundOperation>>,
}

/// A failure in words, with the output of the command that failed.
pub(crate) fn message(failure: &workload::Failure, output: Option<&str>) -> String {
    match output {
        Some(output) => format!("{failure}{SAID}{output}"),
        None => failure.to_string(),
    }
}

impl Executions {
    /// Adds an execution. Its results do not count if it is discarded.
    pub fn add(&mut self, Turn { round, position, .. }: Turn, discarded: bool, result: ExecutionResult) {
        let operations = result.phases.iter().map(PhaseResult::round_operations).collect();
        self.runs.push(Execution { round, position, discarded, result, operations });
    }

    /// Voids the whole history: something that the program needs failed, such as its file system.
    pub fn break_off(&mut self, broken: &WorldFailure<Box<CampaignError>>) {
        let (message, hint) = (broken.fault.to_string(), broken.fault.hint());
        self.broken.get_or_insert(Failure { program: None, phase: broken.phase, message, hint });
    }

    /// The executions on the host of this rank. An execution that another host did not finish is only among those of
    /// the first host.
    pub(crate) fn of_host(&self, rank: usize) -> Executions {
        let of_host = |run: &Execution| {
            let result = match rank.checked_sub(1) {
                None => ExecutionResult { hosts: Vec::new(), ..run.result.clone() },
                Some(other) => run.result.hosts.get(other)?.clone(),
            };
            let operations = match rank {
                0 => run.operations.clone(),
                _ => result.phases.iter().map(PhaseResult::round_operations).collect(),
            };
            Some(Execution { result, operations, ..*run })
        };
        Executions { runs: self.runs.iter().filter_map(of_host).collect(), broken: self.broken.clone() }
    }

    /// True if it never ran.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty() && self.broken.is_none()
    }

    /// The executions that count, with their rounds.
    pub fn kept(&self) -> impl Iterator<Item = (u32, &ExecutionResult)> {
        self.runs.iter().filter(|run| !run.discarded).map(|run| (run.round, &run.result))
    }

    /// The last round in which it was executed; 0 if never.
    pub fn rounds(&self) -> u32 {
        self.performed_in().max().unwrap_or(0)
    }

    /// The rounds in which the program was executed.
    pub fn performed_in(&self) -> impl Iterator<Item = u32> {
        self.runs.iter().map(|run| run.round)
    }

    /// True if the load was held: the targets' rests are known.
    pub fn have_rested(&self) -> bool {
        self.runs.iter().any(|run| run.result.rested.is_some())
    }

    /// The last execution, if it was finished: its round, its position in the round, and its results.
    pub fn last_finished(&self) -> Option<(u32, u32, &ExecutionResult)> {
        let run = self.runs.last().filter(|run| run.result.stopped.is_none() && self.broken.is_none())?;
        Some((run.round, run.position, &run.result))
    }

    /// The recorded requests of the last execution if it was finished, and whether it is discarded.
    pub fn last_recorded(&self) -> Option<(&Recorded, bool)> {
        self.last_finished()?;
        let run = self.runs.last()?;
        Some((run.result.recorded.as_deref()?, run.discarded))
    }

    /// The failure of the program, if any. A request to stop is not a failure: finished executions remain valid.
    pub fn failure(&self) -> Option<Failure> {
        let mut stopped = self.runs.iter().filter_map(|run| Some((run.result.stopped?, &run.result.output)));
        let failed = stopped.find(|(stopped, _)| stopped.failure.reason != Reason::Interrupted);
        let failed = failed.map(|(stopped, output)| Failure {
            program: Some(stopped.program),
            phase: stopped.phase,
            message: message(&stopped.failure, output.as_deref()),
            hint: stopped.failure.hint().map(str::to_owned),
        });
        failed.or_else(|| self.broken.clone())
    }
}
