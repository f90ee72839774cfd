//! Latencies of single operations: a histogram with three significant digits, and the percentiles that it supports.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Nanos;

use crate::figures::histogram::Histogram;

/// Latencies of single operations, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Latency {
    /// Number of operations.
    pub count: u64,
    /// Median.
    pub p50: u64,
    /// 90th percentile; null if there are too few operations.
    pub p90: Option<u64>,
    /// 99th percentile; null if there are too few operations.
    pub p99: Option<u64>,
    /// 99.9th percentile; null if there are too few operations.
    pub p999: Option<u64>,
    /// Maximum.
    pub max: u64,
    /// The moment from which the latencies count.
    pub kind: LatencyKind,
}

/// The moment from which the latency of an operation counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LatencyKind {
    /// The issue of the operation. A closed loop hides operations that a stall kept from being issued.
    Service,
    /// The intended start of the operation.
    Response,
}

impl LatencyKind {
    /// The name in one word.
    pub const fn name(self) -> &'static str {
        match self {
            LatencyKind::Service => "service",
            LatencyKind::Response => "response",
        }
    }

    /// The heading of a column with two percentiles.
    pub const fn heading(self) -> &'static str {
        match self {
            LatencyKind::Service => "service p50/p99",
            LatencyKind::Response => "response p50/p99",
        }
    }
}

/// Number of samples that must be above a percentile, so that it does not depend on chance: p99.9 needs 10,000 samples.
/// Chosen; no source.
const BEYOND: f64 = 10.0;

/// The latencies of single operations, in nanoseconds. Adding one does not fail, and allocates only in an empty one
/// that is not [`Latencies::ready`]. The count and the maximum are exact. The size is nothing if empty, and else a
/// quarter of a megabyte; [`Times`] is the small form for storage.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Latencies {
    pub(crate) times: Histogram,
}

/// The latencies of single operations, in a form for storage: pairs of a latency and the number of operations that had
/// it, and the maximum.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Times {
    times: Vec<(u64, u64)>,
    longest: u64,
}

impl From<&Latencies> for Times {
    fn from(latencies: &Latencies) -> Times {
        Times { times: latencies.times.filled().collect(), longest: latencies.times.longest() }
    }
}

impl Latencies {
    /// No latencies, with the memory for them.
    pub fn ready() -> Latencies {
        Latencies { times: Histogram::default().ready() }
    }

    /// Adds one operation.
    #[inline]
    pub fn record(&mut self, took: Nanos) {
        self.times.record(took.0);
    }

    /// Removes all operations.
    pub fn clear(&mut self) {
        self.times.clear();
    }

    /// Returns the number of operations.
    pub fn count(&self) -> u64 {
        self.times.count()
    }

    /// Returns the maximum latency, or `None` if there are no operations.
    pub fn longest(&self) -> Option<u64> {
        (self.count() > 0).then_some(self.times.longest())
    }

    /// Adds all operations of `other`.
    pub fn add(&mut self, other: &Latencies) {
        self.times.add(&other.times);
    }

    /// Adds all operations of the stored form.
    pub fn add_times(&mut self, kept: &Times) {
        // A stored time is the upper end of its bucket. That can exceed the maximum of all samples.
        kept.times.iter().for_each(|(time, count)| self.times.record_some((*time).min(kept.longest), *count));
        self.times.lengthen(kept.longest);
    }

    /// Returns the percentile, or `None` if there are too few samples above it.
    pub fn percentile(&self, percent: f64) -> Option<u64> {
        let beyond = self.count() as f64 * (100.0 - percent) / 100.0;
        // The small term allows for rounding: 0.1 % has no exact binary fraction.
        (beyond + 1e-6 >= BEYOND).then(|| self.times.at_percentile(percent).min(self.times.longest()))
    }

    /// Returns the latencies in ascending order with three digits, each with the number of operations that had it.
    pub fn filled(&self) -> impl Iterator<Item = (u64, u64)> {
        let longest = self.times.longest();
        self.times.filled().map(move |(time, count)| (time.min(longest), count))
    }

    /// Returns the percentiles that have enough samples. Returns `None` if there are too few even for the median.
    pub fn summary(&self, kind: LatencyKind) -> Option<Latency> {
        Some(Latency {
            count: self.count(),
            p50: self.percentile(50.0)?,
            p90: self.percentile(90.0),
            p99: self.percentile(99.0),
            p999: self.percentile(99.9),
            max: self.times.longest(),
            kind,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::histogram::LONGEST;

    fn record_all(times: impl Iterator<Item = u64>) -> Latencies {
        let mut latencies = Latencies::default();
        times.for_each(|nanos| latencies.record(Nanos(nanos)));
        latencies
    }

    #[test]
    fn percentiles_are_within_a_thousandth_and_the_longest_is_exact() {
        let latency = record_all(1..=20_007).summary(LatencyKind::Service).expect("samples");
        for (value, expected) in [(latency.p50, 10_003.5), (latency.p90.expect("p90"), 18_006.3)] {
            assert!((value as f64 / expected - 1.0).abs() < 1e-3, "{value} {expected}");
        }
        assert_eq!((latency.count, latency.max), (20_007, 20_007));
        // Times of seven digits, so that buckets are wide: no percentile exceeds the maximum.
        let latency = record_all((1..=20_000).map(|n| 1_234_567 + n)).summary(LatencyKind::Service).expect("samples");
        assert!(latency.p999.expect("p99.9") <= latency.max);
        assert_eq!(latency.max, 1_254_567);
    }

    #[test]
    fn what_was_forgotten_is_gone() {
        let mut latencies = record_all(1..=100);
        latencies.clear();
        assert_eq!((latencies.count(), latencies.longest(), latencies), (0, None, Latencies::default()));
    }

    #[test]
    fn a_percentile_without_samples_beyond_it_is_not_told() {
        let latency = record_all(1..=200).summary(LatencyKind::Service).expect("samples");
        assert!(latency.p90.is_some() && latency.p99.is_none() && latency.p999.is_none());
        for (count, is_told) in [(9_999, false), (10_000, true)] {
            let latency = record_all(1..=count).summary(LatencyKind::Service).expect("samples");
            assert_eq!(latency.p999.is_some(), is_told, "{count}");
        }
        assert_eq!(record_all(1..=19).summary(LatencyKind::Service), None);
        assert_eq!(record_all(0..0).summary(LatencyKind::Service), None);
    }

    #[test]
    fn what_took_longer_than_an_hour_counts_as_that_and_is_still_the_longest() {
        let mut latencies = record_all([u64::MAX; 100].into_iter());
        latencies.add(&record_all(1..=100));
        let latency = latencies.summary(LatencyKind::Service).expect("samples");
        assert_eq!(latency.max, u64::MAX);
        assert!((latency.p90.expect("p90") as f64 / LONGEST as f64 - 1.0).abs() < 1e-3);
    }

    #[test]
    fn what_is_stored_comes_back() {
        let latencies = record_all((1..=50_000).map(|n| n * n % 1_000_003).chain([u64::MAX]));
        let kept = Times::from(&latencies);
        assert!(kept.times.len() < 20_000, "{} pairs", kept.times.len());
        let mut back = Latencies::default();
        back.add_times(&kept);
        assert_eq!(back, latencies);
        assert_eq!(back.summary(LatencyKind::Service), latencies.summary(LatencyKind::Service));
    }
}
