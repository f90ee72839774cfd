//! Programs: named sequences of phases. Each phase has its own clocks and its own cell.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Nanos;

use crate::cache_state::Cache;
use crate::op::{Directory, Op, OpKind};
use crate::recorder::Tally;
use crate::step::{Issue, Steps};
use crate::stream::Stream;

/// A program: its preparation and its measured phases. The world removes the files that it leaves.
#[derive(Clone, Debug)]
pub struct Program {
    /// `write_8192`, `smallfb`, ...
    pub name: &'static str,
    /// Every setting that distinguishes its cells from those of another program.
    pub parameters: Vec<Parameter>,
    /// Creates the files that the phases need. Ends with a sync, so that none of its writes falls into a measured
    /// phase.
    pub prepare: Stream,
    /// The measured phases, in order. In a group, they run at the same time.
    pub phases: Vec<Phase>,
    /// The loads of a group, one for each phase. Empty if the phases run one after the other.
    pub group: Vec<Member>,
    /// The maximum number of bytes in the program's files at any time.
    pub space: u64,
    /// The largest single read or write: worlds hold buffers of that size.
    pub largest_call: u32,
}

/// A load of a group. It runs the phase with its number.
#[derive(Clone, Debug)]
pub struct Member {
    /// Every setting that distinguishes its cells from those of another load.
    pub parameters: Vec<Parameter>,
    /// Creates the file that its phase needs.
    pub prepare: Stream,
    /// The number of programs on a target that run it.
    pub jobs: u32,
    /// The time from the start of the group to its own start.
    pub start: Nanos,
    /// The maximum number of bytes in the files of one of its programs.
    pub space: u64,
}

impl Program {
    /// Limits each phase to this time.
    pub fn within(mut self, time: Nanos) -> Program {
        for phase in &mut self.phases {
            phase.within = Some(time);
            phase.steps.ends_at(time);
        }
        self.parameters.push(Parameter::new("within_ms", time.0 / 1_000_000));
        self
    }

    /// The program as it runs in this round, from 1. Its random places continue after those of the round before.
    /// Reading the same places again would measure caches that diskperf cannot empty.
    pub fn in_round(&self, round: u32) -> Program {
        let mut program = self.clone();
        for phase in &mut program.phases {
            phase.steps.skip_rounds(round.saturating_sub(1));
        }
        program
    }
}

/// A measured part of a program. The steps end when the last call *returned*. Then `data` makes the data durable, and
/// `durable` everything.
#[derive(Clone, Debug)]
pub struct Phase {
    /// `create`, `read`, `sequential write`, ...
    pub name: &'static str,
    /// The cache state that its files are to have when it begins.
    pub cache: Cache,
    /// The measured steps.
    pub steps: Stream,
    /// Makes the data durable. Empty if nothing was written, or if no single call does it.
    pub data: Stream,
    /// Makes data and metadata durable. Empty if nothing was changed.
    pub durable: Stream,
    /// The unit of its rate.
    pub base: RateBase,
    /// The maximum amount of work in the phase, in units of `base`.
    pub amount: u64,
    /// The time after which the phase starts no further unit of work, if it is limited. The amount of work is then not
    /// determined by the program.
    pub within: Option<Nanos>,
    /// The time for which its steps run beforehand without being measured, if they do.
    pub warmup: Option<Nanos>,
    /// The operation whose latency is timed.
    pub unit: Unit,
}

/// An operation as the user would time it: from the start of an op of kind `first` until the next op of kind `last` has
/// returned. A read is one op. A commit begins with a write and ends with a sync. A small file takes from its create to
/// its close.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// The kind of its first op.
    pub first: OpKind,
    /// The kind of its last op.
    pub last: OpKind,
    /// A second kind of op, if there is one. Each op of that kind is a unit, too.
    pub also: Option<OpKind>,
}

impl Unit {
    /// A single op.
    pub const fn from_kind(kind: OpKind) -> Unit {
        Unit::from(kind, kind)
    }

    /// From an op of kind `first` to the next op of kind `last`.
    pub const fn from(first: OpKind, last: OpKind) -> Unit {
        Unit { first, last, also: None }
    }

    /// A single op of either kind.
    pub const fn either(one: OpKind, other: OpKind) -> Unit {
        Unit { first: one, last: one, also: Some(other) }
    }

    /// The number of completed units.
    pub fn done(&self, tally: &Tally) -> u64 {
        tally.count(self.last) + self.also.map_or(0, |kind| tally.count(kind))
    }
}

/// The time for which an open loop may be late, at most half of its limit. Chosen: in this time, a device makes
/// up for a stall of some seconds. If the device is slower than the schedule, the queue grows without end, and more
/// time does not help.
const LATE: Nanos = Nanos::from_secs(10);

impl Phase {
    /// The kinds of the operations that are repeated: those of its units, and syncs between them.
    pub fn op_kinds(&self) -> impl Iterator<Item = OpKind> {
        let Unit { first, last, also } = self.unit;
        [Some(first), Some(last), also, self.steps.sync_kind()].into_iter().flatten()
    }

    /// Returns the time after which a program is ended, if the phase has a time limit. An open loop gets more: its
    /// schedule ends at the limit, and operations that a stall has delayed until then are part of it. Without them, the
    /// longest latencies would be missing.
    pub fn ended_after(&self) -> Option<Nanos> {
        let late = if self.steps.is_paced() { LATE } else { Nanos::ZERO };
        self.within.map(|within| within + late.min(Nanos(within.0 / 2)))
    }

    /// Returns whether the phase changes anything that must be made durable.
    pub fn changes(&self) -> bool {
        !self.durable.is_empty()
    }

    /// Removes the files that the steps create, after they ran as a warm-up. Otherwise the measured steps would begin
    /// with the truncation of full files. Each file is closed first, because an open file keeps its blocks. Empty if
    /// the steps create no file in the program's folder: files of the user are never removed.
    pub fn removal(&self) -> Stream {
        // Without I/O, there are no files.
        if self.steps.issue() == Issue::Null {
            return Stream::empty();
        }
        let removed = self.steps.opening().iter().flat_map(|op| match *op {
            Op::Create { name, handle, .. } if name.directory != Directory::GIVEN => {
                vec![Op::Close { handle }, Op::Unlink { name }]
            }
            _ => Vec::new(),
        });
        let mut ops: Vec<Op> = removed.collect();
        if !ops.is_empty() {
            ops.push(Op::Syncfs);
        }
        Stream::from_ops(ops)
    }
}

/// Unit of work that a rate counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RateBase {
    /// Bytes.
    Bytes,
    /// Files.
    Files,
    /// Operations.
    Ops,
}

/// A setting and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// `buffer_bytes`, `file_bytes`, `files`, `sync`, ...
    pub name: &'static str,
    /// Its value.
    pub value: ParameterValue,
}

/// The value of a setting.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ParameterValue {
    /// Yes or no.
    Flag(bool),
    /// A count or a size.
    Number(u64),
    /// A word.
    Word(String),
}

impl fmt::Display for ParameterValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParameterValue::Number(number) => number.fmt(f),
            ParameterValue::Word(word) => word.fmt(f),
            ParameterValue::Flag(flag) => flag.fmt(f),
        }
    }
}

impl From<u64> for ParameterValue {
    fn from(number: u64) -> ParameterValue {
        ParameterValue::Number(number)
    }
}
impl From<u32> for ParameterValue {
    fn from(number: u32) -> ParameterValue {
        ParameterValue::Number(u64::from(number))
    }
}
impl From<&str> for ParameterValue {
    fn from(word: &str) -> ParameterValue {
        ParameterValue::Word(word.into())
    }
}
impl From<bool> for ParameterValue {
    fn from(flag: bool) -> ParameterValue {
        ParameterValue::Flag(flag)
    }
}

impl Parameter {
    /// A setting with this name and value.
    pub fn new(name: &'static str, value: impl Into<ParameterValue>) -> Parameter {
        Parameter { name, value: value.into() }
    }
}
