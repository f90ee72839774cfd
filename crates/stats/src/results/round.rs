//! One execution of one phase: the raw figures from which a cell is computed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::judge::marks::Mark;
use crate::results::clock::ClockKind;
use crate::results::heat_map::HeatMap;
use crate::results::latency::Latencies;
use crate::results::operation::{OperationKind, RoundOperation};
use crate::results::rate_interval::RateInterval;

/// One execution of one phase.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Round {
    /// Number of the round, from 1.
    pub round: u32,
    /// Position of the program in the random order of its round, from 1.
    pub position: u32,
    /// True if the round only serves to reach a steady state. Figures do not include it.
    pub discarded: bool,
    /// Bytes that moved between the program and files.
    pub bytes: u64,
    /// Number of units of work: reads or writes, commits, files.
    pub ops: u64,
    /// Seconds until the last call returned.
    pub returned_s: f64,
    /// Seconds until the data were durable; null if nothing was written, or if no single call makes the data durable.
    pub data_durable_s: Option<f64>,
    /// Seconds until data and metadata were durable; null if nothing was changed.
    pub durable_s: Option<f64>,
    /// Seconds for which the target rested before the phase; missing if it was not loaded to keep burst credits used
    /// up. A credit that came back meanwhile makes the rate too high. If that load did not use up the credits, its rest
    /// before the load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rested_s: Option<f64>,
    /// Rate of the round on the claimed clock, in units of the result's `base`; null if it took no time.
    #[serde(default)]
    pub per_second: Option<f64>,
    /// CPU time until the claimed clock stops.
    pub cpu_s: CpuSeconds,
    /// Results of the single programs, if several ran at once; otherwise empty. The figures above are then sums, and
    /// the times are those of the program that ended last.
    pub parts: Vec<RoundPart>,
    /// Work completed in each whole quarter of a second until the last call returned; empty if single units of work
    /// were not timed.
    #[serde(default)]
    pub intervals: Vec<RateInterval>,
    /// The operations by kind, with all latencies; missing if single operations were not timed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operations: Vec<RoundOperation>,
    /// Latencies of units of work over time; missing if they were not timed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heat_map: Option<HeatMap>,
    /// Warnings about this round.
    pub marks: Vec<Mark>,
    /// Difference between the first operations of the first and of the last host; missing if one host measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_spread: Option<StartSpread>,
}

/// The difference between the first operations of the first and of the last host of a round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StartSpread {
    /// The difference in nanoseconds.
    pub nanos: u64,
    /// Its maximum error, because the clocks of the hosts are compared by messages.
    pub uncertainty_ns: u64,
}

/// Results of one of several programs that ran at once.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RoundPart {
    /// Bytes that moved between the program and files.
    pub bytes: u64,
    /// Number of units of work.
    pub ops: u64,
    /// Seconds until its last call returned.
    pub returned_s: f64,
    /// Seconds until its data were durable.
    pub data_durable_s: Option<f64>,
    /// Seconds until its data and metadata were durable.
    pub durable_s: Option<f64>,
    /// CPU time of the program, in seconds.
    pub process_s: f64,
}

/// CPU time of one round, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CpuSeconds {
    /// CPU time of the program, in user and kernel mode.
    pub process: f64,
    /// Part of `process` in user mode; on a real kernel, sampled at clock ticks.
    pub user: f64,
    /// CPU time of the kernel threads of the whole machine; null if they are not visible.
    pub kernel_workers: Option<f64>,
    /// CPU time of the whole machine; null if it is not visible.
    pub machine: Option<f64>,
}

impl Round {
    /// Returns the elapsed seconds on this clock. If nothing had to be made durable, the clock stops at the return of
    /// the last call.
    pub fn elapsed_s(&self, clock: ClockKind) -> f64 {
        on_clock(clock, self.returned_s, self.data_durable_s, self.durable_s)
    }

    /// Returns the elapsed seconds on this clock, summed over the programs that ran at the same time.
    pub fn summed_elapsed_s(&self, clock: ClockKind) -> f64 {
        match &self.parts[..] {
            [] => self.elapsed_s(clock),
            parts => parts.iter().map(|part| part.elapsed_s(clock)).sum(),
        }
    }

    /// Returns the latencies of the operations of this kind, or of the units of work without a kind; `None` if they
    /// were not timed.
    pub fn latencies(&self, kind: Option<OperationKind>) -> Option<Latencies> {
        let mut all = Latencies::default();
        let is_meant = |one: &&RoundOperation| kind.map_or(one.unit, |kind| one.operation == kind);
        let mut meant = self.operations.iter().filter(is_meant).peekable();
        meant.peek()?;
        meant.all(|one| one.add_to(&mut all)).then_some(all)
    }

    /// Returns the shortest elapsed time of the programs divided by the longest, or `None` if only one program ran.
    pub fn overlap(&self, clock: ClockKind) -> Option<f64> {
        let times = self.parts.iter().map(|part| part.elapsed_s(clock));
        let (shortest, longest) = times.fold((f64::INFINITY, 0.0_f64), |(low, high), s| (low.min(s), high.max(s)));
        (longest > 0.0).then(|| shortest / longest)
    }
}

impl RoundPart {
    /// Returns the elapsed seconds on this clock, with the rule of [`Round::elapsed_s`].
    pub fn elapsed_s(&self, clock: ClockKind) -> f64 {
        on_clock(clock, self.returned_s, self.data_durable_s, self.durable_s)
    }
}

fn on_clock(clock: ClockKind, returned: f64, data_durable: Option<f64>, durable: Option<f64>) -> f64 {
    match clock {
        ClockKind::Returned => returned,
        ClockKind::DataDurable => data_durable.unwrap_or(returned),
        ClockKind::Durable => durable.unwrap_or(returned),
    }
}
