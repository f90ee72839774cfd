//! How long single operations took: a histogram of three digits, and what it may say.

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};
use units::Nanos;

use crate::cell::{Latency, LatencyKind};

/// The longest time that is told apart: an hour. Anything longer counts as that.
const LONGEST: Nanos = Nanos::from_secs(3600);

/// Three significant digits: no percentile is off by more than a thousandth.
const DIGITS: u8 = 3;

/// A percentile needs so many samples beyond it, or it is a matter of luck: the 99.9th needs 10,000.
const BEYOND: f64 = 10.0;

/// The times of single operations. Adding one neither allocates nor fails. Holds a quarter of a megabyte, however few
/// there are: what is to be kept is kept as [`Times`].
#[derive(Clone, Debug, PartialEq)]
pub struct Latencies(Histogram<u64>);

/// The times of single operations, to be kept: a time, and how many operations took it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Times(Vec<(u64, u64)>);

impl From<&Latencies> for Times {
    fn from(latencies: &Latencies) -> Times {
        let times = latencies.0.iter_recorded();
        Times(times.map(|time| (time.value_iterated_to(), time.count_at_value())).collect())
    }
}

impl Default for Latencies {
    fn default() -> Latencies {
        Latencies(Histogram::new_with_bounds(1, LONGEST.0, DIGITS).expect("the bounds are in order"))
    }
}

impl Latencies {
    /// Adds one operation.
    #[inline]
    pub fn record(&mut self, took: Nanos) {
        self.0.saturating_record(took.0);
    }

    /// Adds all of another.
    pub fn add(&mut self, other: &Latencies) {
        self.0.add(&other.0).expect("both have the same bounds");
    }

    /// Adds all that were kept.
    pub fn add_times(&mut self, times: &Times) {
        times.0.iter().for_each(|(time, count)| self.0.saturating_record_n(*time, *count));
    }

    /// The percentiles that there are samples enough for; nothing without any.
    pub fn summary(&self, kind: LatencyKind) -> Option<Latency> {
        let count = self.0.len();
        let percentile = |percent: f64| {
            let beyond = count as f64 * (100.0 - percent) / 100.0;
            (beyond >= BEYOND).then(|| self.0.value_at_percentile(percent))
        };
        Some(Latency {
            count,
            p50: percentile(50.0)?,
            p90: percentile(90.0),
            p99: percentile(99.0),
            p999: percentile(99.9),
            max: self.0.max(),
            kind,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(times: impl Iterator<Item = u64>) -> Latencies {
        let mut latencies = Latencies::default();
        times.for_each(|nanos| latencies.record(Nanos(nanos)));
        latencies
    }

    #[test]
    fn percentiles_are_within_a_thousandth() {
        let latency = of(1..=20_000).summary(LatencyKind::Service).expect("samples");
        for (value, expected) in [(latency.p50, 10_000.0), (latency.p90.expect("p90"), 18_000.0)] {
            assert!((value as f64 / expected - 1.0).abs() < 1e-3, "{value} {expected}");
        }
        assert_eq!(latency.count, 20_000);
        assert!((latency.max as f64 / 20_000.0 - 1.0).abs() < 1e-3);
    }

    #[test]
    fn a_percentile_without_samples_beyond_it_is_not_told() {
        let latency = of(1..=200).summary(LatencyKind::Service).expect("samples");
        assert!(latency.p90.is_some() && latency.p99.is_none() && latency.p999.is_none());
        assert_eq!(of(1..=19).summary(LatencyKind::Service), None);
        assert_eq!(of(0..0).summary(LatencyKind::Service), None);
    }

    #[test]
    fn the_longest_time_counts_as_an_hour() {
        let mut latencies = of(1..=100);
        latencies.add(&of([u64::MAX].into_iter()));
        let max = latencies.summary(LatencyKind::Service).expect("samples").max;
        assert!((max as f64 / LONGEST.0 as f64 - 1.0).abs() < 1e-3);
    }

    #[test]
    fn what_is_stored_comes_back() {
        let latencies = of((1..=50_000).map(|n| n * n % 1_000_003).chain([u64::MAX]));
        let kept = Times::from(&latencies);
        assert!(kept.0.len() < 20_000, "{} pairs", kept.0.len());
        let mut back = Latencies::default();
        back.add_times(&kept);
        assert_eq!(back, latencies);
        assert_eq!(back.summary(LatencyKind::Service), latencies.summary(LatencyKind::Service));
    }
}
