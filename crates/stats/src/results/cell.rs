//! A cell is one printed figure. Its rate, its CPU time, its marks and whether it was measured are independent. The
//! tables of 1983 also print a rate without a CPU %, and print a suspect rate.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use workload::{ParameterValue, RateBase};

use crate::figures::breakdown::Breakdown;
use crate::judge::floor::Shortfall;
use crate::judge::marks::{Mark, MarkCode};
use crate::name::Name;
use crate::results::bottleneck::LimitedBy;
use crate::results::clock::ClockKind;
use crate::results::latency::{Latencies, Latency};
use crate::results::of_limit::OfLimit;
use crate::results::operation::OperationKind;
use crate::results::regime::{Regime, are_of_last_regime};
use crate::results::round::Round;

/// A result: one printed figure, with its rounds, circumstances and warnings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// Origin of the figure.
    pub provenance: Provenance,
    /// The preset that the program was run as part of.
    pub preset: String,
    /// The program.
    pub program: String,
    /// The phase of the program.
    pub phase: String,
    /// Name of the target; several names are joined with `+`.
    #[serde(with = "crate::name")]
    #[schemars(with = "Name")]
    pub target: String,
    /// All settings that distinguish this cell from others. With the five names above, they are the key of the cell,
    /// unique in a run.
    pub parameters: BTreeMap<String, ParameterValue>,
    /// True if several targets were busy at once; rate and CPU are then sums.
    pub together: bool,
    /// Number of busy targets.
    pub targets: u32,
    /// For targets busy at once: the shortest elapsed time divided by the longest.
    pub overlap: Option<f64>,
    /// False if the result is `n.m.` (not measured).
    pub measured: bool,
    /// Reason why it was not measured.
    pub reason: Option<String>,
    /// The rate; null if it was not measured.
    pub rate: Option<Rate>,
    /// All executions, including discarded ones.
    pub rounds: Vec<Round>,
    /// The regimes, in the order of time; missing if the rate kept one level.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub regimes: Vec<Regime>,
    /// CPU load; null if the time was too short to measure it.
    pub cpu_percent: Option<CpuPercent>,
    /// Latencies of single operations; null if they were not timed, or are too few.
    pub latency_ns: Option<Latency>,
    /// Reads, writes, fsyncs and fdatasyncs, each with its rate and latencies; missing if they were not timed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operations: Vec<OperationFigures>,
    /// Bytes moved by the programs and by the device; null if the device is not visible.
    pub io: Option<Io>,
    /// Nanoseconds by owner, over all kept rounds, which sum to the elapsed time; null if they are not known. An owner
    /// that was not visible is missing.
    pub time: Option<BTreeMap<String, u64>>,
    /// Time of a simulated machine, by resource and by program; missing if it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub breakdown: Option<Breakdown>,
    /// The bottleneck; null if nothing shows it.
    pub limited_by: Option<LimitedBy>,
    /// The rate as a share of the rate of the layer below; missing if that was not to be measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of_limit: Option<OfLimit>,
    /// Circumstances that the figure claims.
    pub state: State,
    /// Warnings: reasons why a claim of this cell is false.
    pub marks: Vec<Mark>,
    /// Data that the result lacks to decide anything; missing if it has enough, or if that was not judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub below_floor: Option<Shortfall>,
    /// Checksum of the work. The same program has the same checksum on real and simulated machines.
    pub effect: Option<String>,
    /// The figures of each host, in the order of `run.hosts`; missing if one host measured. The figures above are then
    /// those of all hosts together: their work, divided by the time from the common start to the last end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<HostFigures>,
    /// The rate until the first host ended, in units of the rate's `base` per second; missing if one host measured, or
    /// if a round was shorter than 5 s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub all_busy_per_second: Option<f64>,
}

/// The figures of one host in a result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostFigures {
    /// Name of the host.
    pub name: String,
    /// Mean of its rounds' rates, from its first operation to its last, in units of the rate's `base` per second; null
    /// if a round took no time.
    pub per_second: Option<f64>,
    /// This rate, divided by the median of all hosts; null if it is not known.
    pub of_median: Option<f64>,
    /// CPU load of the host; null if the time was too short to measure it.
    pub cpu_percent: Option<CpuPercent>,
    /// State of the page cache of the host before the phase.
    pub cache: CacheState,
    /// Names of the warnings that hold on this host.
    pub warnings: Vec<String>,
}

/// The operations of one kind in a result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OperationFigures {
    /// The kind: `read`, `write`, `fsync` or `fdatasync`.
    pub operation: OperationKind,
    /// Number of operations in the kept rounds.
    pub count: u64,
    /// Their rate, on the clock of the result; null if a round took no time.
    pub rate: Option<Rate>,
    /// Their latencies; null if they are too few.
    pub latency_ns: Option<Latency>,
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
            regimes: Vec::new(),
            cpu_percent: None,
            latency_ns: None,
            operations: Vec::new(),
            io: None,
            time: None,
            breakdown: None,
            limited_by: None,
            of_limit: None,
            state: State::unknown(ClockKind::Returned),
            marks: Vec::new(),
            below_floor: None,
            effect: None,
            hosts: Vec::new(),
            all_busy_per_second: None,
        }
    }

    /// Returns the key of the cell, unique within its run.
    pub fn key(&self) -> (&str, &str, &str, &str, &BTreeMap<String, ParameterValue>) {
        (&self.preset, &self.program, &self.phase, &self.target, &self.parameters)
    }

    /// True if a simulated machine computed the figure.
    pub fn is_simulated(&self) -> bool {
        self.provenance == Provenance::Simulated
    }

    /// True if its rounds are load for a device: they were measured, and are not copies of cached data.
    pub fn loads_device(&self) -> bool {
        self.provenance == Provenance::Measured && self.state.cache != CacheState::Warm
    }

    /// True if it is a workload of a group: all workloads of the group run at the same time.
    pub fn is_in_group(&self) -> bool {
        self.parameters.contains_key("group")
    }

    /// True if it is the sum of the workloads of a group.
    pub fn is_sum(&self) -> bool {
        self.parameters.contains_key("sum_of")
    }

    /// Returns the rounds that are not discarded.
    pub fn kept(&self) -> impl Iterator<Item = &Round> {
        self.rounds.iter().filter(|round| !round.discarded)
    }

    /// Returns the mean logarithm of the factor by which burst credits that came back may have raised the rates of the
    /// kept rounds for which `is_meant` is true. In the worst case, the target did as much work in a round as it can
    /// sustain in the round and its rest together.
    pub fn rest_excess(&self, is_meant: impl Fn(u32) -> bool) -> f64 {
        let factor = |round: &Round| {
            let elapsed = round.elapsed_s(self.state.clock);
            round.rested_s.filter(|_| elapsed > 0.0).map_or(0.0, |rested| (rested / elapsed).ln_1p())
        };
        let (sum, count) = self
            .kept()
            .filter(|round| is_meant(round.round))
            .fold((0.0, 0_u32), |(sum, count), round| (sum + factor(round), count + 1));
        sum / f64::from(count.max(1))
    }

    /// True if a claim of the figure cannot be checked.
    pub fn is_unverified(&self) -> bool {
        self.state.unverified.is_some()
    }

    /// True if the figure gets a star. [`MarkCode::Nested`] (the file system is in an image) does not count. It applies
    /// to all cells of a target, so it is printed once and does not hide other stars.
    pub fn is_suspect(&self) -> bool {
        self.marks.iter().any(|mark| mark.code != MarkCode::Nested)
    }

    /// True if all kept rounds belong to the last regime, or if there is only one.
    pub fn is_of_one_regime(&self) -> bool {
        are_of_last_regime(&self.regimes, self.kept())
    }

    /// Returns the warnings for which the figure decides nothing: its label is false, or its data are below the floor.
    /// Other reasons for [`MarkCode::Few`] only widen its interval. A step to a lower level before the first kept round
    /// leaves the figure true: it is the sustained rate after a burst. After a step to a higher level it may be the
    /// rate of a cache that warmed up.
    pub fn undeciding(&self) -> impl Iterator<Item = MarkCode> {
        let floor = self.below_floor.map(|_| MarkCode::Few);
        let (first, last) = (self.regimes.first(), self.regimes.last());
        let is_lower = first.zip(last).is_some_and(|(first, last)| last.per_second < first.per_second);
        let is_sustained = is_lower && self.is_of_one_regime();
        let codes = self.marks.iter().map(|mark| mark.code).filter(|code| code.decides_nothing());
        codes.filter(move |code| *code != MarkCode::Step || !is_sustained).chain(floor)
    }

    /// Returns the latencies of the operations of this kind, or of the units of work without a kind, over all kept
    /// rounds; `None` if a round lacks them.
    pub fn latencies(&self, kind: Option<OperationKind>) -> Option<Latencies> {
        let mut all = Latencies::default();
        let mut rounds = self.kept().peekable();
        rounds.peek()?;
        rounds.all(|round| round.latencies(kind).map(|one| all.add(&one)).is_some()).then_some(all)
    }

    /// Returns the figures of the operations of this kind.
    pub fn operation(&self, kind: OperationKind) -> Option<&OperationFigures> {
        self.operations.iter().find(|one| one.operation == kind)
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

/// Origin of a figure.
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

impl Provenance {
    /// The name in JSON and CSV.
    pub const fn name(self) -> &'static str {
        match self {
            Provenance::Measured => "measured",
            Provenance::Simulated => "simulated",
            Provenance::Published => "published",
        }
    }
}

/// A rate, computed only from the kept rounds. Beside a ratio, it is the geometric mean of the rounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rate {
    /// Mean of the rounds' rates, in units of `base` per second; the trimmed mean with the warning `outlier`. For a
    /// command, the runs divided by their time.
    pub per_second: f64,
    /// Unit of work that is counted.
    pub base: RateBase,
    /// The same rate in `unit`, as it is printed.
    pub value: f64,
    /// `Kbytes/sec` (1024), `MiB/s`, `KB/sec` (1000), `files/sec`, ...
    pub unit: String,
    /// Lower end of the confidence interval, in units of `base` per second; null for fewer than two rounds.
    pub low: Option<f64>,
    /// Upper end of the confidence interval; also null if the interval of the time of a command includes zero.
    pub high: Option<f64>,
    /// Confidence level of the interval: 0.95.
    pub confidence: f64,
    /// Number of kept rounds.
    pub rounds: u32,
    /// Beside a ratio, if the interval is wider than ±50 %: the rates of the slowest and of the fastest round, in units
    /// of `base` per second, which are printed instead of the mean. Otherwise missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<[f64; 2]>,
}

/// CPU load, in percent of one processor.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CpuPercent {
    /// Load by the program, in user and kernel mode: the figure of the paper of 1983.
    pub process: f64,
    /// Load by the kernel threads of the whole machine; null if they are not visible.
    pub kernel_workers: Option<f64>,
    /// Load of the whole machine; null if it is not visible.
    pub machine: Option<f64>,
}

/// Bytes moved by the programs and by the device, over all kept rounds, until the claimed clock stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Io {
    /// Bytes that the programs moved; null for a command of your own, because diskperf does not count its calls.
    pub program_bytes: Option<u64>,
    /// Bytes that the device read, for all programs.
    pub device_read: u64,
    /// Bytes that the device wrote, for all programs.
    pub device_written: u64,
    /// Part of `device_written` that was written when the last call returned.
    pub device_written_at_return: u64,
    /// Number of flushes by the device, for all programs.
    pub flushes: u64,
}

/// Circumstances that a figure claims.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct State {
    /// State of the page cache before the phase.
    pub cache: CacheState,
    /// Reason why the requested cache state was not proven; null if it was proven, or if none was requested.
    pub cache_reason: Option<String>,
    /// State of the caches below the page cache, if the figure claims that the data came from below it. Null if the
    /// page cache may have had the data.
    pub lower_cache: Option<LowerCache>,
    /// Reason why the claim of the figure (`cold`, O_DIRECT or `durable`) cannot be checked; missing if it can, or if
    /// the figure claims none of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unverified: Option<String>,
    /// The clock of the figure.
    pub clock: ClockKind,
    /// Steadiness of the rate.
    pub steadiness: Steadiness,
    /// Reason why the steadiness was not measured; missing if it was measured, or if the cell was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steadiness_reason: Option<String>,
    /// Background load of the machine.
    pub environment: Environment,
}

impl State {
    /// The state of a cell of which only the clock is known.
    pub const fn unknown(clock: ClockKind) -> State {
        State {
            cache: CacheState::Unknown,
            cache_reason: None,
            lower_cache: None,
            unverified: None,
            clock,
            steadiness: Steadiness::NotMeasured,
            steadiness_reason: None,
            environment: Environment::NotMeasured,
        }
    }
}

/// State of the page cache before a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CacheState {
    /// No page of the data was cached.
    Cold,
    /// No page of the data was cached in this kernel, but no block device is visible that may have delivered them.
    Unverified,
    /// All pages of the data were cached.
    Warm,
    /// The state was not checked, or could not be proven.
    Unknown,
}

/// State of the caches below the page cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LowerCache {
    /// A cache had some of the data.
    Warm,
    /// Not measured: no such cache was seen, but a drive, a controller or a host may have one that is not visible.
    #[serde(rename = "n.m.")]
    NotMeasured,
}

/// Steadiness of a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Steadiness {
    /// The rate was steady.
    Steady,
    /// The rate was still changing.
    Transient,
    /// Not measured.
    #[serde(rename = "n.m.")]
    NotMeasured,
}

/// Background load of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Environment {
    /// No significant background load.
    Quiet,
    /// Significant background load.
    Noisy,
    /// Not measured.
    #[serde(rename = "n.m.")]
    NotMeasured,
}
