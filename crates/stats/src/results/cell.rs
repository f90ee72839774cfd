//! A cell is one printed figure. Its rate, its CPU time, its marks and whether it was measured are independent. The
//! tables of 1983 also print a rate without a CPU %, and print a suspect rate.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::figures::breakdown::Breakdown;
use crate::judge::marks::{Mark, MarkCode};
use crate::name::Name;
use crate::results::clock::ClockKind;
use crate::results::latency::Latency;
use crate::results::round::Round;

/// One printed figure and all that makes it believable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// Where the figure comes from.
    pub provenance: Provenance,
    /// The list of programs that this one was run as part of.
    pub preset: String,
    /// The program.
    pub program: String,
    /// The phase of the program.
    pub phase: String,
    /// Where it ran.
    #[serde(with = "crate::name")]
    #[schemars(with = "Name")]
    pub target: String,
    /// Every setting that makes this cell different from another. With the five names above it is the
    /// cell's key, unique in a run.
    pub parameters: BTreeMap<String, ParameterValue>,
    /// Whether several targets were busy at once; then rate and CPU are sums.
    pub together: bool,
    /// How many targets were busy.
    pub targets: u32,
    /// Of targets busy at once: the shortest elapsed time divided by the longest.
    pub overlap: Option<f64>,
    /// False is `n.m.`: not measured.
    pub measured: bool,
    /// Why it was not measured.
    pub reason: Option<String>,
    /// How fast.
    pub rate: Option<Rate>,
    /// Every execution, also the discarded ones.
    pub rounds: Vec<Round>,
    /// How busy the CPU was; null where the time was too short to tell.
    pub cpu_percent: Option<CpuPercent>,
    /// How long single operations took; null where they were not timed or are too few.
    pub latency_ns: Option<Latency>,
    /// Bytes on both sides; null where the device cannot be seen.
    pub io: Option<Io>,
    /// Nanoseconds by owner, over all kept rounds, summing to the elapsed time; null where it cannot be told.
    /// An owner that is missing could not be seen.
    pub time: Option<BTreeMap<String, u64>>,
    /// The same of a simulated machine, by resource and by program; null where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub breakdown: Option<Breakdown>,
    /// What kept the rate from being higher; null where nothing tells.
    pub limited_by: Option<LimitedBy>,
    /// What the figure claims about its circumstances.
    pub state: State,
    /// What makes a claim of this cell false.
    pub marks: Vec<Mark>,
    /// A checksum of what was done: the same in every world for the same program.
    pub effect: Option<String>,
}

impl Cell {
    /// Creates a cell that has only a name: no figure, and nothing known of its circumstances.
    pub fn named(provenance: Provenance, preset: &str, program: &str, phase: &str, target: &str) -> Cell {
        Cell {
            provenance,
            preset: preset.to_owned(),
            program: program.to_owned(),
            phase: phase.to_owned(),
            target: target.to_owned(),
            parameters: BTreeMap::new(),
            together: false,
            targets: 1,
            overlap: None,
            measured: false,
            reason: None,
            rate: None,
            rounds: Vec::new(),
            cpu_percent: None,
            latency_ns: None,
            io: None,
            time: None,
            breakdown: None,
            limited_by: None,
            state: State::unknown(ClockKind::Returned),
            marks: Vec::new(),
            effect: None,
        }
    }

    /// Returns the key of the cell, unique within its run.
    pub fn key(&self) -> (&str, &str, &str, &str, &BTreeMap<String, ParameterValue>) {
        (&self.preset, &self.program, &self.phase, &self.target, &self.parameters)
    }

    /// Returns the rounds that are not discarded.
    pub fn kept(&self) -> impl Iterator<Item = &Round> {
        self.rounds.iter().filter(|round| !round.discarded)
    }

    /// True if the figure gets a star. [`MarkCode::Nested`] (the file system is in an image) does not count. It applies
    /// to all cells of a target, so it is printed once and does not hide other stars.
    pub fn is_suspect(&self) -> bool {
        self.marks.iter().any(|mark| mark.code != MarkCode::Nested)
    }

    /// Returns the parameter `name`, or `None` if it is missing or not a number.
    pub fn number(&self, name: &str) -> Option<u64> {
        match self.parameters.get(name)? {
            ParameterValue::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// Returns the parameter `name`, or `None` if it is missing or not a word.
    pub fn word(&self, name: &str) -> Option<&str> {
        match self.parameters.get(name)? {
            ParameterValue::Word(word) => Some(word),
            _ => None,
        }
    }
}

/// Where a figure comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Provenance {
    /// Measured on a real kernel.
    Measured,
    /// Computed on a simulated machine.
    Simulated,
    /// Taken from a publication.
    Published,
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
            ParameterValue::Flag(flag) => flag.fmt(f),
            ParameterValue::Number(number) => number.fmt(f),
            ParameterValue::Word(word) => f.write_str(word),
        }
    }
}

/// What a rate counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RateBase {
    /// Bytes.
    Bytes,
    /// Files.
    Files,
    /// Operations.
    Ops,
}

/// How fast, computed from the kept rounds and nothing else.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rate {
    /// The mean of the rounds' rates, in the base per second.
    pub per_second: f64,
    /// What is counted.
    pub base: RateBase,
    /// The same in `unit`, as it is printed.
    pub value: f64,
    /// `Kbytes/sec` (1024), `MiB/s`, `KB/sec` (1000), `files/sec`, ...
    pub unit: String,
    /// The lower end of the interval, in the base per second; null below two rounds.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
    /// How sure the interval is: 0.95.
    pub confidence: f64,
    /// How many rounds were kept.
    pub rounds: u32,
}

/// How busy the CPU was, in percent of one processor.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CpuPercent {
    /// The program, in itself and in the kernel on its behalf: the figure of the paper of 1983.
    pub process: f64,
    /// The kernel's own threads, of the whole machine; null where they cannot be seen.
    pub kernel_workers: Option<f64>,
    /// The whole machine; null where it cannot be seen.
    pub machine: Option<f64>,
}

/// Bytes on both sides, over all kept rounds and the clock that the cell claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Io {
    /// Bytes that the programs moved; null of a command of a person's own, whose calls nobody counts.
    pub program_bytes: Option<u64>,
    /// Bytes that the device read, for everybody.
    pub device_read: u64,
    /// Bytes that the device wrote, for everybody.
    pub device_written: u64,
    /// Of those, what was written when the last call returned.
    pub device_written_at_return: u64,
    /// Flushes that the device did, for everybody.
    pub flushes: u64,
}

/// What kept a rate from being higher.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LimitedBy {
    /// `cpu`, `device`, ...
    pub what: String,
    /// The figures that tell.
    pub evidence: String,
}

/// What a figure claims about its circumstances.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct State {
    /// Whether the data were in memory beforehand.
    pub cache: CacheState,
    /// Why a state of the cache that was asked for was not proven; null where it was, or none was asked for.
    pub cache_reason: Option<String>,
    /// Where the data are claimed to have come from below the page cache: whether another cache was seen to have
    /// them; null where the page cache may have had them.
    pub lower_cache: Option<LowerCache>,
    /// When the clock stopped.
    pub clock: ClockKind,
    /// Whether the rate had settled.
    pub steadiness: Steadiness,
    /// Why that was not measured; null where it was, and of what is not measured itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steadiness_reason: Option<String>,
    /// Whether anything else was at work.
    pub environment: Environment,
}

impl State {
    /// The state of a cell of which only the clock is known.
    pub const fn unknown(clock: ClockKind) -> State {
        State {
            cache: CacheState::Unknown,
            cache_reason: None,
            lower_cache: None,
            clock,
            steadiness: Steadiness::NotMeasured,
            steadiness_reason: None,
            environment: Environment::NotMeasured,
        }
    }
}

/// Whether the data were in memory beforehand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CacheState {
    /// No page of them was.
    Cold,
    /// All pages were.
    Warm,
    /// Nobody looked, or nobody can.
    Unknown,
}

/// Whether a cache below the page cache had the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LowerCache {
    /// One was seen to.
    Warm,
    /// Not measured: nothing of the kind was seen, but a drive, a controller or a host may have one that cannot
    /// be seen.
    #[serde(rename = "n.m.")]
    NotMeasured,
}

/// Whether a rate had settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Steadiness {
    /// It had.
    Steady,
    /// It was still moving.
    Transient,
    /// Not measured.
    #[serde(rename = "n.m.")]
    NotMeasured,
}

/// Whether anything else was at work on the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Environment {
    /// Nothing of weight.
    Quiet,
    /// Other work.
    Noisy,
    /// Not measured.
    #[serde(rename = "n.m.")]
    NotMeasured,
}
