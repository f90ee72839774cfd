//! The latency of a device at queue depth 1: the 20th percentile of the times of equal requests.
//!
//! Disturbances of the host only lengthen a request. So a low percentile is nearer to the device than the median.

use workload::Served;

use super::estimate::{Estimate, HALVES_DIFFER, Measured, NotMeasured, WIDEST, check_halves, check_samples};

/// The percentile, as a share. The design's: below the host's disturbances, above lucky exceptions.
const SHARE: f64 = 0.2;

/// Fewest samples of a size. Ours: the bracket of the percentile needs samples on both sides of it.
const FEWEST: u32 = 16;

/// Estimates the latency in nanoseconds from requests of one size, in the order in which they were made.
pub fn latency(served: &[Served]) -> Measured {
    latency_after(served, 0.0)
}

/// Estimates the latency of requests that only come after another one, whose nanoseconds are known: an error counts
/// as a share of both together.
pub fn latency_after(served: &[Served], before: f64) -> Measured {
    let Estimate { value, low, high, samples } = of_times(served.iter().map(|served| before + time(served)).collect())?;
    Ok(Estimate { value: value - before, low: low - before, high: high - before, samples })
}

fn of_times(times: Vec<f64>) -> Measured {
    check_samples(times.len(), FEWEST)?;
    let (first, second) = times.split_at(times.len() / 2);
    let half = |times: &[f64]| sorted(times.to_vec())[position(times.len(), 0.0)];
    check_halves(half(first), half(second), HALVES_DIFFER)?;
    let count = times.len();
    let times = sorted(times);
    // The 95 % interval of a percentile by the normal approximation of the binomial distribution.
    let around = 1.96 * (SHARE * (1.0 - SHARE) / count as f64).sqrt();
    let [low, value, high] = [-around, 0.0, around].map(|offset| times[position(count, offset)]);
    Estimate { value, low, high, samples: count as u32 }.checked(WIDEST)
}

/// The spread of the latencies: the nanoseconds between the 10th and the 70th percentile. Ours: a busy host lengthens
/// up to a third of the requests, and a turning disk spreads all of them.
pub fn spread(served: &[Served]) -> Option<f64> {
    check_samples(served.len(), FEWEST).ok()?;
    let times = sorted(served.iter().map(time).collect());
    Some(times[position(times.len(), 0.7 - SHARE)] - times[position(times.len(), 0.1 - SHARE)])
}

/// The mean latency in nanoseconds.
pub fn mean(served: &[Served]) -> Result<f64, NotMeasured> {
    check_samples(served.len(), 1)?;
    Ok(served.iter().map(time).sum::<f64>() / served.len() as f64)
}

/// The nanoseconds between issue and completion.
pub(crate) fn time(served: &Served) -> f64 {
    served.completed.0.saturating_sub(served.issued.0) as f64
}

pub(crate) fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    values
}

/// The position of the percentile, `offset` (a share) away from it, among sorted samples.
fn position(count: usize, offset: f64) -> usize {
    (((SHARE + offset) * count as f64).round().max(0.0) as usize).min(count - 1)
}

#[cfg(test)]
mod tests {
    use units::{Nanos, Prng};

    use super::*;

    fn served(times: impl IntoIterator<Item = u64>) -> Vec<Served> {
        let mut now = 0;
        let one = |time| {
            let issued = Nanos(now);
            now += time;
            Served { issued, completed: Nanos(now) }
        };
        times.into_iter().map(one).collect()
    }

    #[test]
    fn equal_times_are_the_latency() {
        let estimate = latency(&served([1_094_000; 40])).expect("enough samples");
        assert_eq!(estimate, Estimate { value: 1_094_000.0, low: 1_094_000.0, high: 1_094_000.0, samples: 40 });
    }

    #[test]
    fn disturbances_change_little() {
        let mut chance = Prng::new(5);
        let times = (0..40).map(|index| 100_000 + chance.below(4_000) + if index % 3 == 0 { 300_000 } else { 0 });
        let estimate = latency(&served(times)).expect("most are quick");
        assert!((100_000.0..102_500.0).contains(&estimate.value), "{estimate:?}");
    }

    #[test]
    fn a_short_time_after_a_long_one_may_vary() {
        let flushes = served((0..40).map(|index| 100_000 + 60_000 * (index % 5)));
        assert!(latency(&flushes).is_err());
        let after = latency_after(&flushes, 2e6).expect("a small share of both");
        assert_eq!((after.value, after.samples), (160_000.0, 40));
        assert!(latency_after(&flushes, 5e4).is_err());
    }

    #[test]
    fn a_busy_host_spreads_less_than_a_turning_disk() {
        let mut chance = Prng::new(5);
        let busy = (0..40).map(|index| if index % 4 == 0 { 9_000_000 } else { 100_000 });
        assert_eq!(spread(&served(busy)), Some(0.0));
        let turning = (0..40).map(|_| 500_000 + chance.below(4_000_000));
        assert!(spread(&served(turning)).is_some_and(|spread| spread > 1.5e6));
    }

    #[test]
    fn times_that_spread_or_drift_are_not_measured() {
        let mut chance = Prng::new(5);
        let rotating: Vec<u64> = (0..40).map(|_| 1_000_000 + chance.below(15_000_000)).collect();
        assert!(latency(&served(rotating)).is_err());
        let drifting = (0..40).map(|index| if index < 20 { 100_000 } else { 120_000 });
        assert_eq!(latency(&served(drifting)), Err(NotMeasured::HalvesDisagree(20.0)));
        assert_eq!(latency(&served([1; 4])), Err(NotMeasured::TooFew { samples: 4, needed: 16 }));
    }
}
