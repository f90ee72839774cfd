//! The results of one execution of a program, and its failures.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use stats::{HeatMap, Latencies, OperationKind, RateInterval, RoundOperation, Times};
use units::Nanos;
use workload::{
    Allocation, CacheState, Counters, CpuTime, Dirtiness, Failure, MachineSettings, OpKind, Phase, Program, Quiescence,
    Reason, Residency, Tally, TreeCounts, Unproven,
};

use crate::ceiling::CeilingResult;
use crate::peers::HostStart;
use crate::recorder::Durations;

/// The results of one execution of a program.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ExecutionResult {
    /// The time of the preparation.
    pub prepared_in: Nanos,
    /// The phases that ran to their end, in order.
    pub phases: Vec<PhaseResult>,
    /// The time for which the target rested before its phases, if it was loaded before each execution to keep burst
    /// credits used up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rested: Option<Nanos>,
    /// The counters of all loads of a group together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group_counters: Option<Counters>,
    /// The results of the other hosts, in their order; empty if one host measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<ExecutionResult>,
    /// The failure that ended the program early. Not stored, because a failed execution is not finished.
    #[serde(skip)]
    pub stopped: Option<ProgramFailure>,
    /// The output of the command whose failure ended the program.
    #[serde(skip)]
    pub output: Option<String>,
    /// True if a signal suspended the program meanwhile, so that its times are wrong.
    #[serde(skip)]
    pub was_suspended: bool,
    /// The time of the whole execution, including the parts that are not measured.
    #[serde(skip)]
    pub lasted: Nanos,
    /// The requests of the device during the measured phase, if they were recorded. They are stored apart.
    #[serde(skip)]
    pub recorded: Option<Arc<Recorded>>,
    /// The settings of the machine that must not change between executions: before and after this one.
    #[serde(rename = "surroundings")]
    pub settings: [MachineSettings; 2],
}

/// The recorded requests of an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// The trace, or the reason why there is none.
    pub trace: Result<RecordedTrace, String>,
    /// Time in which the program was ready to run, but waited for a processor.
    pub ready: Option<Nanos>,
}

/// A block trace in its stored form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedTrace {
    /// The name of the device.
    pub device: String,
    /// Number of requests.
    pub requests: u64,
    /// Bytes that they read and wrote.
    pub bytes: u64,
    /// Time from the start of the program until it and its writes had ended.
    pub elapsed: Nanos,
    /// Discards and other commands, which no replay performs.
    pub others: u64,
    /// The stored form.
    pub stored: Vec<u8>,
}

impl ExecutionResult {
    /// The time of its phases, each until the data of its last program were durable. Of several hosts, the longest.
    pub fn measured(&self) -> Nanos {
        let time = |part: &ProgramResult| part.durable.unwrap_or(part.returned);
        let own = self.total(|phase| phase.parts.iter().map(time).max().unwrap_or_default());
        self.hosts.iter().map(ExecutionResult::measured).fold(own, Nanos::max)
    }

    /// The time for which it waited for an idle machine.
    pub fn waited(&self) -> Nanos {
        self.total(|phase| phase.quiescence.waited)
    }

    /// The time of all phases together: the sum, or the longest one if they ran at the same time.
    fn total(&self, time: impl Fn(&PhaseResult) -> Nanos) -> Nanos {
        match self.group_counters {
            None => self.phases.iter().map(time).sum(),
            Some(_) => self.phases.iter().map(time).max().unwrap_or_default(),
        }
    }

    /// Reports a failure by a signal as an interruption. Call it if the program was told to stop: the signal may also
    /// break off a call.
    pub fn broken_off(mut self) -> ExecutionResult {
        if let Some(ProgramFailure { failure, .. }) = &mut self.stopped
            && failure.reason == Reason::Signal
        {
            failure.reason = Reason::Interrupted;
        }
        self
    }
}

/// The failure that ended a program early.
#[derive(Clone, Copy, Debug)]
pub struct ProgramFailure {
    /// The index of the program in the world.
    pub program: usize,
    /// The index of the phase; `None` during the preparation.
    pub phase: Option<usize>,
    /// The operation that failed, and the reason.
    pub failure: Failure,
}

/// An error of the world itself while a program ran.
#[derive(Debug)]
pub struct WorldFailure<F> {
    /// The index of the phase; `None` during the preparation.
    pub phase: Option<usize>,
    /// The error.
    pub fault: F,
}

/// An error before the first phase.
impl<F> From<F> for WorldFailure<F> {
    fn from(fault: F) -> WorldFailure<F> {
        WorldFailure { phase: None, fault }
    }
}

/// The results of one execution of a phase.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PhaseResult {
    /// The cache state of its files that was proved before it began.
    pub cache: CacheState,
    /// The result of waiting for idle devices before it began.
    #[serde(rename = "calm")]
    pub quiescence: Quiescence,
    /// The results of each of the world's programs, in their order.
    pub parts: Vec<ProgramResult>,
    /// Counters of the process, the kernel and the devices, over the claimed clock.
    #[serde(rename = "witness")]
    pub counters: Counters,
    /// Bytes that the devices had written when the last call returned.
    pub written_at_return: Option<u64>,
    /// Dirty pages of the machine when the last call returned, with the number from which the kernel throttles writers.
    pub dirtiness: Option<Dirtiness>,
    /// Pages of the files that were still dirty when the files were claimed durable.
    pub unwritten: Option<Residency>,
    /// Dirty pages of the whole machine above the initial number: the minimum in about a second after that time. Only
    /// if no disk below is visible.
    pub grown: Option<u64>,
    /// The allocation of the files (holes, compression), if anything was read.
    #[serde(rename = "laid")]
    pub allocation: Option<Allocation>,
    /// The bytes read that must have come from the device, if the phase had accessed the blocks of all other reads
    /// before. `None` if all of them must have come from it, or if this was not determined.
    #[serde(default)]
    pub first_reads: Option<u64>,
    /// The durations of all units of work, if they were timed.
    pub latencies: Option<Times>,
    /// The durations of each kind of operation, if they were timed.
    #[serde(default)]
    pub operations: Vec<OperationTimes>,
    /// The operations and bytes of each whole quarter of a second, if operations were timed.
    pub intervals: Vec<RateInterval>,
    /// The latencies of units of work over time, if they were timed.
    #[serde(default)]
    pub heat_map: Option<HeatMap>,
    /// The rate of the layer below for the same pattern, if it was to be measured.
    #[serde(default)]
    pub ceiling: Option<CeilingResult>,
    /// True if other loads ran at the same time. Its counters then include their work.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ran_with_others: bool,
    /// The start on this host, if several hosts agreed on one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<HostStart>,
}

/// The durations of the operations of one kind.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OperationTimes {
    /// The kind.
    pub kind: OperationKind,
    /// True if each operation is a unit of work.
    pub is_unit: bool,
    /// The durations. `None` if they are those of all units of work.
    pub times: Option<Times>,
}

/// The results of one program in a phase.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ProgramResult {
    /// The time until the last call returned.
    pub returned: Nanos,
    /// The time until the data were durable, if a call makes them durable.
    pub data_durable: Option<Nanos>,
    /// The time until data and metadata were durable, if anything was changed.
    pub durable: Option<Nanos>,
    /// CPU time of the program over the claimed clock.
    pub cpu: CpuTime,
    /// Time over the claimed clock in which the program was ready to run, but waited for a processor.
    pub ready: Option<Nanos>,
    /// Time until the last call returned in which the program was blocked: it neither ran nor was ready to run.
    pub blocked_in_calls: Option<Nanos>,
    /// The operations of the program.
    pub tally: Tally,
    /// The files that it left.
    #[serde(rename = "census")]
    pub tree_counts: TreeCounts,
}

impl PhaseResult {
    /// The time until the last call of the last program returned.
    pub fn returned(&self) -> Nanos {
        self.parts.iter().map(|part| part.returned).max().unwrap_or_default()
    }

    /// The time until everything of the last program was durable, if anything was changed.
    pub fn durable(&self) -> Option<Nanos> {
        self.parts.iter().filter_map(|part| part.durable).max()
    }

    /// The operations of all programs together.
    pub fn tally(&self) -> Tally {
        let mut all = Tally::default();
        self.parts.iter().for_each(|part| all.add(&part.tally));
        all
    }

    /// The durations of the operations of one kind, if they were timed.
    pub fn times(&self, kind: OperationKind) -> Option<&Times> {
        let of_kind = self.operations.iter().find(|one| one.kind == kind)?;
        of_kind.times.as_ref().or(self.latencies.as_ref())
    }

    /// The durations of each kind of operation, as the results have them.
    pub fn round_operations(&self) -> Vec<RoundOperation> {
        let one = |OperationTimes { kind, is_unit, times }: &OperationTimes| {
            let mut latencies = Latencies::default();
            latencies.add_times(times.as_ref().or(self.latencies.as_ref())?);
            Some(RoundOperation::new(*kind, *is_unit, &latencies))
        };
        self.operations.iter().filter_map(one).collect()
    }

    /// The files that all programs left.
    pub fn tree_counts(&self) -> TreeCounts {
        let mut all = TreeCounts::default();
        self.parts.iter().for_each(|part| all.add(part.tree_counts));
        all
    }
}

/// The progress of a program.
#[derive(Clone, Copy, Debug)]
pub enum Milestone<'a> {
    /// The preparation is done.
    Prepared,
    /// A phase ran to its end: the phase and its results.
    PhaseDone(&'a Phase, &'a PhaseResult),
}

/// The last phase of a program. Later failures are reported as failures of it.
pub fn last_phase(program: &Program) -> Option<usize> {
    program.phases.len().checked_sub(1)
}

/// The first program that failed, with its failure.
pub(crate) fn stopped(tallies: &[Tally], phase: Option<usize>) -> Option<ProgramFailure> {
    tallies.iter().enumerate().find_map(|(program, tally)| {
        let failure = tally.failure?;
        Some(ProgramFailure { program, phase, failure })
    })
}

/// The cache state after the phase ran without being measured: its files may have been read.
pub(crate) fn after_warmup(before: CacheState) -> CacheState {
    if before == CacheState::Cold { CacheState::Unknown(Unproven::WarmedUp) } else { before }
}

/// The durations of each kind in their stored form.
pub(crate) fn operations(times: &Durations) -> Vec<OperationTimes> {
    let units = times.kinds().filter(|(_, is_unit, _)| *is_unit).count();
    let all = times.kinds().map(|(kind, is_unit, latencies)| OperationTimes {
        kind,
        is_unit,
        times: (!is_unit || units > 1).then(|| Times::from(latencies)),
    });
    all.collect()
}

/// The bytes that must have come from the device. Computed if the phase may have accessed some blocks twice: it fetched
/// fewer bytes than it read, or refaults show that some pages had been cached.
pub(crate) fn seen_again(phase: &Phase, parts: &[ProgramResult], counters: &Counters) -> Option<u64> {
    let read: u64 = parts.iter().map(|part| part.tally.bytes_read).sum();
    let is_less = counters.accounts.is_some_and(|accounts| accounts.fetched < read);
    let done = |part: &ProgramResult| part.tally.count(OpKind::ReadAt) + part.tally.count(OpKind::WriteAt);
    let had_been_cached = counters.memory.refaults.is_some_and(|pages| pages > 0);
    if is_less || had_been_cached { workload::first_reads(&phase.steps, parts.iter().map(done)) } else { None }
}
