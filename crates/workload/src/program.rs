//! Programs: named sequences of phases. One clock and one cell belong to a phase.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use units::Nanos;

use crate::cache::Cache;
use crate::op::OpKind;
use crate::recorder::Tally;
use crate::stream::Stream;

/// A program: what it needs beforehand, and what is measured. What it leaves behind is the world's to
/// clear away.
#[derive(Clone, Debug)]
pub struct Program {
    /// `write_8192`, `smallfb`, ...
    pub name: &'static str,
    /// Every setting that makes its cells different from another program's.
    pub parameters: Vec<Parameter>,
    /// Makes what the phases need. Ends durable, so that none of its writes is left for the clock.
    pub prepare: Stream,
    /// What is measured, in order.
    pub phases: Vec<Phase>,
    /// The most bytes that the program's files hold at one time.
    pub space: u64,
    /// The largest single read or write: worlds hold buffers of that size.
    pub largest_call: u32,
}

impl Program {
    /// The same, each of its phases for so long at most.
    pub fn within(mut self, time: Nanos) -> Program {
        for phase in &mut self.phases {
            phase.within = Some(time);
            phase.steps.ends_at(time);
        }
        self.parameters.push(Parameter::new("within_ms", time.0 / 1_000_000));
        self
    }

    /// The program as it runs in this round, from 1. Places that it draws at random go on where those of the
    /// round before ended: to read the same again would measure a cache that none of ours can empty.
    pub fn in_round(&self, round: u32) -> Program {
        let mut program = self.clone();
        for phase in &mut program.phases {
            phase.steps.skip_rounds(round.saturating_sub(1));
        }
        program
    }
}

/// A measured part of a program. The steps end when the last call *returned*; then `data` makes the data
/// durable, and `durable` everything.
#[derive(Clone, Debug)]
pub struct Phase {
    /// `create`, `read`, `sequential write`, ...
    pub name: &'static str,
    /// What it wants of its files in memory beforehand.
    pub cache: Cache,
    /// What the program does.
    pub steps: Stream,
    /// What makes the data durable, empty where nothing was written or no single call does.
    pub data: Stream,
    /// What makes data and names durable, empty where nothing was changed.
    pub durable: Stream,
    /// What its rate counts.
    pub base: Base,
    /// How much of that the phase does, at most.
    pub amount: u64,
    /// The time after which no further unit of its work begins, where there is one. How much it does is then
    /// no property of the program any more.
    pub within: Option<Nanos>,
    /// What one of its operations is, where single operations are timed.
    pub unit: Unit,
}

/// One unit of work, as a person would time it: from an op of the first kind until the next of the last has
/// returned. A read is one op, a commit begins with a write and ends with a sync, a small file is made from
/// its creation to its close.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// The kind that a unit begins with.
    pub first: OpKind,
    /// The kind that ends it.
    pub last: OpKind,
    /// A kind of which each op is a unit too, where there is one.
    pub also: Option<OpKind>,
}

impl Unit {
    /// A single op.
    pub const fn of(kind: OpKind) -> Unit {
        Unit::from(kind, kind)
    }

    /// From an op of the one kind to the next of the other.
    pub const fn from(first: OpKind, last: OpKind) -> Unit {
        Unit { first, last, also: None }
    }

    /// A single op of either kind.
    pub const fn either(one: OpKind, other: OpKind) -> Unit {
        Unit { first: one, last: one, also: Some(other) }
    }

    /// How many units were done.
    pub fn done(&self, tally: &Tally) -> u64 {
        tally.count(self.last) + self.also.map_or(0, |kind| tally.count(kind))
    }
}

impl Phase {
    /// Whether there is anything to make durable.
    pub fn changes(&self) -> bool {
        !self.durable.is_empty()
    }
}

/// What a rate counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Base {
    /// Bytes per second.
    Bytes,
    /// Files per second.
    Files,
    /// Operations per second.
    Ops,
}

/// A setting and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// `buffer_bytes`, `file_bytes`, `files`, `sync`, ...
    pub name: &'static str,
    /// What it is set to.
    pub value: Setting,
}

/// What a setting can be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Setting {
    /// A count or a size.
    Number(u64),
    /// A word.
    Word(String),
    /// Yes or no.
    Flag(bool),
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Setting::Number(number) => number.fmt(f),
            Setting::Word(word) => word.fmt(f),
            Setting::Flag(flag) => flag.fmt(f),
        }
    }
}

impl From<u64> for Setting {
    fn from(number: u64) -> Setting {
        Setting::Number(number)
    }
}
impl From<u32> for Setting {
    fn from(number: u32) -> Setting {
        Setting::Number(u64::from(number))
    }
}
impl From<&str> for Setting {
    fn from(word: &str) -> Setting {
        Setting::Word(word.into())
    }
}
impl From<bool> for Setting {
    fn from(flag: bool) -> Setting {
        Setting::Flag(flag)
    }
}

impl Parameter {
    /// A setting by name.
    pub fn new(name: &'static str, value: impl Into<Setting>) -> Parameter {
        Parameter { name, value: value.into() }
    }
}
