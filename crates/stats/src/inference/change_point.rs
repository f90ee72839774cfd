//! Change points of a rate over time. Causes are a used-up credit, a limit that comes into force, or a full cache.

use units::Nanos;

use crate::results::rate_interval::{INTERVAL, RateInterval};

/// Length of a window: two intervals. A limit releases requests in slices that alias with a quarter of a second (73,
/// 48, 72, 48 MiB/s with 60 allowed); over half a second it is 60, 60.
pub const LEVEL_WINDOW: Nanos = Nanos(2 * INTERVAL.0);

/// The smallest change of level, as a share of the old level.
pub const STEP: f64 = 0.20;

/// The number of windows for which the new level must last.
pub const PERSISTS: usize = 3;

/// The smallest change, as a multiple of the average difference of neighbours. If noise is as large as the change,
/// three neighbouring windows are on one side by chance. With uniform noise, means of three differ by this factor once
/// in 20,000.
const ABOVE_NOISE: f64 = 3.0;

/// A change point: the level of the rate changed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Index of the first window of the new level.
    pub at: usize,
    /// The level before.
    pub before: f64,
    /// The level afterwards.
    pub after: f64,
}

impl Step {
    /// Returns the change as a share of the level before; negative if the level falls.
    pub fn change(&self) -> f64 {
        (self.after - self.before) / self.before
    }
}

/// Returns the amount per second in each whole window of a round. The last of an odd number of intervals is left out.
pub fn windows(intervals: &[RateInterval], amount: impl Fn(&RateInterval) -> u64) -> Vec<f64> {
    let pairs = intervals.chunks_exact(2);
    pairs.map(|pair| pair.iter().map(&amount).sum::<u64>() as f64 / LEVEL_WINDOW.as_secs_f64()).collect()
}

/// Returns the largest change of level. Its conditions:
///   1. The means of the three windows before and the three windows after differ by more than a fifth of the first
///      mean.
///   2. Each of the six windows is nearer to the mean of its own side than to the other mean.
///   3. The change is larger than noise: three times the average difference of neighbours.
///   4. The change lasts. The median of the windows up to the next such change, or to the end, is nearer to the new
///      level. The median of the windows before is nearer to the old level.
pub fn step(series: &[f64]) -> Option<Step> {
    let noise = neighbours_differ_by(series)?;
    let candidates = (PERSISTS..=series.len().checked_sub(PERSISTS)?).filter_map(|at| {
        let (left, right) = (&series[at - PERSISTS..at], &series[at..at + PERSISTS]);
        let step = Step { at, before: mean(left), after: mean(right) };
        let middle = f64::midpoint(step.before, step.after);
        let rises = step.after > step.before;
        let stands = |value: &f64, is_after: bool| (*value > middle) == (rises == is_after);
        // 1.
        let is_large = step.before > 0.0 && step.change().abs() > STEP;
        // 2.
        let agree = left.iter().all(|value| stands(value, false)) && right.iter().all(|value| stands(value, true));
        // 3.
        let stands_out = (step.after - step.before).abs() > ABOVE_NOISE * noise;
        (is_large && agree && stands_out).then_some(step)
    });
    let candidates: Vec<Step> = candidates.collect();
    // 4. The neighbours of a change point look like change points, too.
    let next = |at: usize| candidates.iter().map(|other| other.at).find(|&other| other >= at + PERSISTS);
    let last = |at: usize| candidates.iter().map(|other| other.at).rfind(|&other| other + PERSISTS <= at);
    let lasts = |step: &&Step| {
        let rises = step.after > step.before;
        let middle = f64::midpoint(step.before, step.after);
        let after = median(&series[step.at..next(step.at).unwrap_or(series.len())]);
        let before = median(&series[last(step.at).unwrap_or(0)..step.at]);
        (after > middle) == rises && (before > middle) != rises
    };
    let size = |step: &Step| step.change().abs();
    candidates.iter().filter(lasts).copied().max_by(|a, b| size(a).total_cmp(&size(b)))
}

/// Returns the average difference of a window from the one before, or `None` if there are too few windows. A step adds
/// at most a fifth of its size to this, so it cannot hide itself.
fn neighbours_differ_by(series: &[f64]) -> Option<f64> {
    if series.iter().any(|value| !value.is_finite()) || series.len() < 2 * PERSISTS {
        return None;
    }
    Some(mean(&series.windows(2).map(|pair| (pair[1] - pair[0]).abs()).collect::<Vec<f64>>()))
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The median of at least one value.
fn median(values: &[f64]) -> f64 {
    crate::figures::summary::median(values).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use units::Prng;

    use super::*;

    /// Observed on a loop device whose limit went from 60 to 20 MiB/s, in quarters of a second.
    const SEEN: [u64; 12] = [73, 48, 72, 48, 72, 48, 25, 16, 22, 18, 21, 19];

    fn intervals(bytes: &[u64]) -> Vec<RateInterval> {
        bytes.iter().map(|&bytes| RateInterval { bytes, ..RateInterval::default() }).collect()
    }

    #[test]
    fn a_limit_that_was_changed_is_found_in_windows_of_half_a_second() {
        let series = windows(&intervals(&SEEN), |interval| interval.bytes);
        assert_eq!(series, [242.0, 240.0, 240.0, 82.0, 80.0, 80.0]);
        let step = step(&series).expect("a step");
        assert_eq!(step.at, 3);
        assert!((step.change() + 0.665).abs() < 0.01, "{step:?}");
        // The quarters alias with the slices of the limit, so a few of them show nothing.
        assert_eq!(windows(&intervals(&SEEN[..3]), |interval| interval.bytes).len(), 1);
    }

    #[test]
    fn more_than_a_fifth_that_lasts_three_windows_is_a_step() {
        let level = |value: f64, count: usize| vec![value; count];
        let found = |parts: &[Vec<f64>]| step(&parts.concat()).map(|step| step.at);
        assert_eq!(found(&[level(100.0, 4), level(79.0, 3)]), Some(4));
        assert_eq!(found(&[level(100.0, 4), level(121.0, 3)]), Some(4));
        assert_eq!(found(&[level(100.0, 4), level(80.0, 3)]), None, "a fifth exactly");
        assert_eq!(found(&[level(100.0, 4), level(50.0, 2)]), None, "two windows");
        assert_eq!(found(&[level(100.0, 6), level(20.0, 2), level(100.0, 6)]), None, "a dip of two");
        assert_eq!(found(&[level(100.0, 6), level(20.0, 3), level(100.0, 6)]), Some(9), "a dip of three, and up again");
        assert_eq!(found(&[level(100.0, 40)]), None);
        assert_eq!(found(&[Vec::new()]), None);
        assert_eq!(found(&[level(0.0, 20)]), None);
    }

    #[test]
    fn a_slow_slope_is_no_step_and_neither_is_the_burst_at_the_beginning_of_each_round() {
        let slope: Vec<f64> = (0..60).map(|index| 100.0 + f64::from(index)).collect();
        assert_eq!(step(&slope), None);
        let bursts: Vec<f64> = (0..40).map(|index| if index % 4 == 0 { 124.0 } else { 100.0 }).collect();
        assert_eq!(step(&bursts), None);
    }

    /// Noise of ± a quarter of the level, as on the machine that runs the tests.
    #[test]
    fn noise_is_no_step_and_a_step_in_it_is_found() {
        let mut prng = Prng::new(4);
        let mut noisy = |level: f64, count: usize| -> Vec<f64> {
            (0..count).map(|_| level * (0.75 + prng.below(501) as f64 / 1000.0)).collect()
        };
        let mut false_ones = 0;
        for _ in 0..200 {
            false_ones += u32::from(step(&noisy(100.0, 20)).is_some());
            let series = [noisy(300.0, 10), noisy(50.0, 10)].concat();
            let step = step(&series).expect("a step to a sixth");
            assert!((9..=11).contains(&step.at), "{step:?}");
        }
        assert!(false_ones <= 2, "{false_ones} of 200 series without one");
    }
}
