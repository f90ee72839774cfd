//! One execution of one phase: the raw figures from which a cell is computed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::judge::marks::Mark;
use crate::results::clock::ClockKind;
use crate::results::interval::Interval;

/// One execution of one phase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Round {
    /// Which round, from 1.
    pub round: u32,
    /// Where in the shuffled order of its round the program stood, from 1.
    pub position: u32,
    /// Run only to reach a steady state, and left out of every figure.
    pub discarded: bool,
    /// Bytes that moved between the program and files.
    pub bytes: u64,
    /// Units of work that were done: reads or writes, commits, files.
    pub ops: u64,
    /// Seconds until the last call returned.
    pub returned_s: f64,
    /// Seconds until the data were durable; null where nothing was written or no single call does it.
    pub data_durable_s: Option<f64>,
    /// Seconds until data and names were durable; null where nothing was changed.
    pub durable_s: Option<f64>,
    /// CPU time over the clock that the cell claims.
    pub cpu_s: CpuSeconds,
    /// Of programs that ran at once: what each did. The figures above are then sums, the times those
    /// of the last to end. Empty where one ran alone.
    pub parts: Vec<RoundPart>,
    /// What returned in each whole quarter of a second until the last call returned, where single units of work were
    /// timed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub intervals: Vec<Interval>,
    /// What was found wrong in this round.
    pub marks: Vec<Mark>,
}

/// What one of several programs did that ran at once.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RoundPart {
    /// Bytes that moved between the program and files.
    pub bytes: u64,
    /// Units of work that were done.
    pub ops: u64,
    /// Seconds until its last call returned.
    pub returned_s: f64,
    /// Seconds until its data were durable.
    pub data_durable_s: Option<f64>,
    /// Seconds until its data and names were durable.
    pub durable_s: Option<f64>,
    /// CPU time charged to it, in seconds.
    pub process_s: f64,
}

/// CPU time of one round, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CpuSeconds {
    /// Charged to the program: in itself and in the kernel on its behalf.
    pub process: f64,
    /// The program's own part of it; sampled by the clock tick on a real kernel.
    pub user: f64,
    /// Of the kernel's own threads, of the whole machine; null where they cannot be seen.
    pub kernel_workers: Option<f64>,
    /// Of the whole machine; null where it cannot be seen.
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
