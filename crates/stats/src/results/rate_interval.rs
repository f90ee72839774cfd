//! Quarter-second intervals of a phase. They show whether the rate was constant and when stalls occurred.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Nanos;

use crate::results::latency::Latencies;

/// The length of an interval.
pub const INTERVAL: Nanos = Nanos::from_millis(250);

/// Upper bound of the intervals kept per phase, a few hours. Later operations still count in the figures of the phase.
pub const MOST_INTERVALS: usize = 1 << 15;

/// Work completed in a quarter of a second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Interval")]
pub struct RateInterval {
    /// Number of units of work.
    pub ops: u64,
    /// Bytes that moved between the program and files.
    pub bytes: u64,
    /// Median latency in nanoseconds; null for fewer than 20 units, or if several programs ran at once.
    pub p50: Option<u64>,
    /// 99th percentile of the latency in nanoseconds; null for fewer than 1000 units, or if several programs ran at
    /// once.
    pub p99: Option<u64>,
    /// Maximum latency in nanoseconds; null if no unit was completed.
    pub max: Option<u64>,
}

impl RateInterval {
    /// Computes an interval from the latencies of its units of work and the bytes that they moved.
    pub fn from_latencies(latencies: &Latencies, bytes: u64) -> RateInterval {
        RateInterval {
            ops: latencies.count(),
            bytes,
            p50: latencies.percentile(50.0),
            p99: latencies.percentile(99.0),
            max: latencies.longest(),
        }
    }

    /// Combines the intervals of programs that ran at the same time and began together. Counts and bytes are summed.
    /// The percentiles are `None`, because they cannot be computed from those of the programs.
    pub fn of_all(mut programs: Vec<Vec<RateInterval>>) -> Vec<RateInterval> {
        if programs.len() < 2 {
            return programs.pop().unwrap_or_default();
        }
        let longest = programs.iter().map(Vec::len).max().unwrap_or(0);
        let sum = |index| {
            let here = programs.iter().filter_map(|intervals: &Vec<RateInterval>| intervals.get(index));
            here.fold(RateInterval::default(), |sum, one: &RateInterval| RateInterval {
                ops: sum.ops + one.ops,
                bytes: sum.bytes + one.bytes,
                max: sum.max.max(one.max),
                ..sum
            })
        };
        (0..longest).map(sum).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_programs_at_once_counts_add_up_and_percentiles_do_not() {
        let one = |ops, max| RateInterval { ops, bytes: ops * 512, p50: Some(1), p99: Some(2), max };
        let all = RateInterval::of_all(vec![vec![one(3, Some(7)), one(1, None)], vec![one(4, Some(9))]]);
        let bare = |ops, max| RateInterval { ops, bytes: ops * 512, max, ..RateInterval::default() };
        assert_eq!(all, [bare(7, Some(9)), bare(1, None)]);
        assert_eq!(RateInterval::of_all(vec![vec![one(3, Some(7))]]), [one(3, Some(7))]);
        assert_eq!(RateInterval::of_all(Vec::new()), []);
    }
}
