//! Outliers: a few rounds with rates far from all others. They would determine the mean.
//!
//! Policy:
//!   1. Rounds are judged by the logarithms of their rates, because a disturbance multiplies a rate. A result with a
//!      round without any work is not judged: it has no logarithm, and comparisons name such rounds.
//!   2. The test is Rosner's: *Percentage Points for a Generalized ESD Many-Outlier Procedure*, Technometrics 25, 1983.
//!      It removes the most distant round again and again. The last removal that is still too distant for normal noise
//!      shows the number of outliers, so that several outliers do not hide each other, as they do from a test of one.
//!      For five to nine rounds, it is the test of Grubbs (1969).
//!   3. At most a fifth of the rounds can be outliers. More are not exceptions, but noise or another level.
//!   4. Outliers count only if they move the mean by more than the margin of a comparison. Then the figure is the
//!      trimmed mean: the mean without the slowest and the fastest fifth of the rounds. The interval is that of Tukey
//!      and McLaughlin (*Less Vulnerable Confidence and Significance Procedures for Location Based on a Single Sample*,
//!      Sankhya A 25, 1963). No round is deleted: the trimmed ones limit the others, and all are printed.

use crate::figures::summary::CONFIDENCE;
use crate::inference::ratio_test::MARGIN;
use crate::inference::sample::{mean, quantile, variance};

/// Share of results without outliers in which normal noise makes one appear. Chosen: a tenth of the share of
/// undisturbed results that may have any warning, one in a hundred. Noise with long tails makes up to one in a hundred
/// (the tests below).
const FALSE_ALARMS: f64 = 0.001;

/// Share of the rounds that the trimmed mean leaves out on each side. The usual value
/// (Wilcox, *Introduction to Robust Estimation and Hypothesis Testing*): less protects less, more is less precise.
const TRIMMED: f64 = 0.2;

/// Returns the indexes of the outliers among these rates, in order; none if the mean can be printed.
pub fn outliers(rates: &[f64]) -> Vec<usize> {
    // 1
    let logs: Vec<f64> = rates.iter().map(|rate| rate.ln()).collect();
    if logs.is_empty() || logs.iter().any(|log| !log.is_finite()) {
        return Vec::new();
    }
    // 4
    let (typical, _) = trimmed_mean(rates);
    if (mean(rates) / typical).ln().abs() <= MARGIN.ln_1p() {
        return Vec::new();
    }
    let mut found = most_distant(&logs);
    found.sort_unstable();
    found
}

/// Returns the mean without the slowest and the fastest fifth of the values, and half the width of its confidence
/// interval. The width is `None` if fewer than two values are left.
pub fn trimmed_mean(values: &[f64]) -> (f64, Option<f64>) {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (all, cut) = (sorted.len(), trimmed(sorted.len()));
    let kept = &sorted[cut..all - cut];
    if kept.len() < 2 {
        return (mean(kept), None);
    }
    // Winsorized: each trimmed value counts as the nearest value that is left.
    let (lowest, highest) = (kept[0], kept[kept.len() - 1]);
    let limited: Vec<f64> = sorted.iter().map(|value| value.clamp(lowest, highest)).collect();
    let share = 1.0 - 2.0 * cut as f64 / all as f64;
    let error = variance(&limited).map(|variance| (variance / all as f64).sqrt() / share);
    let half = quantile(kept.len() as f64 - 1.0, CONFIDENCE).zip(error).map(|(quantile, error)| quantile * error);
    (mean(kept), half)
}

/// Returns the number of values to trim on each side, which is also the largest number of outliers.
fn trimmed(values: usize) -> usize {
    // 3
    (TRIMMED * values as f64).floor() as usize
}

/// Returns the indexes of the values that are too distant for normal noise, the most distant first.
fn most_distant(values: &[f64]) -> Vec<usize> {
    // 2
    let mut left: Vec<(usize, f64)> = values.iter().copied().enumerate().collect();
    let mut removed = Vec::new();
    let mut found = 0;
    for _ in 0..trimmed(values.len()) {
        let figures: Vec<f64> = left.iter().map(|(_, value)| *value).collect();
        let (mean, deviation) = (mean(&figures), variance(&figures).unwrap_or(0.0).sqrt());
        let distances = figures.iter().map(|value| (value - mean).abs()).enumerate();
        let Some((place, distance)) = distances.max_by(|(_, one), (_, other)| one.total_cmp(other)) else { break };
        let is_too_distant = critical_distance(left.len()).is_some_and(|critical| distance > critical * deviation);
        removed.push(left.remove(place).0);
        if is_too_distant {
            found = removed.len();
        }
    }
    removed.truncate(found);
    removed
}

/// Returns the distance of the most distant of `count` normal values from their mean, in standard deviations, that is
/// exceeded with the probability of a false alarm.
fn critical_distance(count: usize) -> Option<f64> {
    let count = count as f64;
    let student = quantile(count - 2.0, 1.0 - FALSE_ALARMS / count)?;
    Some((count - 1.0) * student / ((count - 2.0 + student * student) * count).sqrt())
}

#[cfg(test)]
mod tests {
    use units::Prng;

    use super::*;

    /// The rounds of issue 18: their mean, 15,295, is a rate that no round had.
    const FIRST_TOO_FAST: [f64; 5] = [50_171.0, 6707.0, 6373.0, 6725.0, 6500.0];

    #[test]
    fn one_round_of_five_does_not_determine_the_figure() {
        assert_eq!(outliers(&FIRST_TOO_FAST), [0]);
        let (typical, half) = trimmed_mean(&FIRST_TOO_FAST);
        assert_eq!(typical, (6500.0 + 6707.0 + 6725.0) / 3.0);
        // Winsorized: 6500, 6500, 6707, 6725, 6725, with the deviation 120.2; t of two degrees of freedom is 4.303.
        let expected = 4.3027 * 120.18 / (0.6 * 5.0_f64.sqrt());
        assert!((half.expect("a width") - expected).abs() < 1.0, "{half:?}");
        // A stall is an outlier too.
        assert_eq!(outliers(&[100.0, 101.0, 99.0, 4.0, 100.0]), [3]);
        assert_eq!(outliers(&[100.0, 100.0, 100.0, 100.0, 300.0]), [4], "the others are equal");
    }

    #[test]
    fn several_outliers_do_not_hide_each_other() {
        let mut rates = [100.0, 103.0, 98.0, 101.0, 99.0, 102.0, 97.0, 100.0, 104.0, 96.0];
        (rates[2], rates[7]) = (900.0, 950.0);
        assert_eq!(outliers(&rates), [2, 7]);
        let (typical, _) = trimmed_mean(&rates);
        assert!((99.0..105.0).contains(&typical), "{typical}");
        // Three of ten rounds are not an exception.
        rates[0] = 920.0;
        assert_eq!(outliers(&rates), [0; 0]);
    }

    #[test]
    fn a_round_that_does_not_move_the_mean_is_not_named() {
        let mut rates = [100.0; 60];
        rates[9] = 200.0;
        assert_eq!(outliers(&rates), [0; 0]);
        rates[9] = 1000.0;
        assert_eq!(outliers(&rates), [9]);
    }

    #[test]
    fn few_rounds_and_rounds_without_work_are_not_judged() {
        assert_eq!(outliers(&[]), [0; 0]);
        assert_eq!(outliers(&[1.0, 1.0, 1.0, 50.0]), [0; 0]);
        assert_eq!(outliers(&[1.0, 1.0, 1.0, 1.0, 0.0]), [0; 0]);
        assert_eq!(trimmed_mean(&[3.0]), (3.0, None));
        assert_eq!(trimmed_mean(&[1.0, 2.0, 3.0]).0, 2.0);
    }

    /// Returns random numbers of the normal distribution (Box-Muller transform).
    fn normal(chance: &mut Prng) -> f64 {
        let mut uniform = || (chance.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        let (one, other) = (1.0 - uniform(), uniform());
        (-2.0 * one.ln()).sqrt() * (std::f64::consts::TAU * other).cos()
    }

    /// Returns the number of results with an outlier, of results without any: `rounds` each, with this noise.
    fn false_alarms(results: usize, rounds: usize, mut noise: impl FnMut(&mut Prng) -> f64) -> usize {
        let mut chance = Prng::new(1983);
        let mut alarms = 0;
        for _ in 0..results {
            let rates: Vec<f64> = (0..rounds).map(|_| 100.0 * noise(&mut chance)).collect();
            alarms += usize::from(!outliers(&rates).is_empty());
        }
        alarms
    }

    /// Normal noise of 5 % and of 20 %, as on quiet and on shared machines, makes an outlier in at most one result in a
    /// thousand. At most 10 of 10,000 are expected, and 20 are three standard deviations more.
    #[test]
    fn normal_noise_has_no_outliers() {
        for (results, rounds) in [(10_000, 5), (10_000, 6), (10_000, 12), (2000, 30)] {
            for spread in [0.05, 0.20] {
                let alarms = false_alarms(results, rounds, |chance| (spread * normal(chance)).exp());
                assert!(alarms <= results / 500, "{alarms} of {results} with {rounds} rounds and {spread}");
            }
        }
    }

    /// Noise with long tails (Laplace, with a standard deviation of 14 %) makes an outlier of at most one result in a
    /// hundred.
    #[test]
    fn long_tails_have_few_outliers() {
        for (results, rounds) in [(10_000, 5), (10_000, 12), (2000, 30)] {
            let alarms = false_alarms(results, rounds, |chance| {
                let [one, other] = [0; 2].map(|_| (1.0 - (chance.next_u64() >> 11) as f64 / (1u64 << 53) as f64).ln());
                (0.10 * (one - other)).exp()
            });
            assert!(alarms <= results / 100, "{alarms} of {results} with {rounds} rounds");
        }
    }

    /// Most figures of disturbed runs with one round ten times as fast are those of the other rounds.
    #[test]
    fn a_planted_outlier_is_found() {
        let mut chance = Prng::new(7);
        let mut found = 0;
        for _ in 0..1000 {
            let mut rates: Vec<f64> = (0..6).map(|_| 100.0 * (0.05 * normal(&mut chance)).exp()).collect();
            rates[3] *= 10.0;
            found += usize::from(outliers(&rates) == [3]);
        }
        assert!(found >= 990, "{found} of 1000");
    }
}
