//! Compares the rates of two setups: which is faster, by how much, and with which confidence. The rounds are paired
//! (both setups ran in each) or belong to separate runs.
//!
//! Policy:
//!   1. A round that both setups kept is a pair. Its figure is the logarithm of the ratio of the two rates, so a
//!      disturbance of the whole round cancels out. Rounds of separate runs have no partner. There the figures are the
//!      logarithms of the rates, and disturbances are part of each spread.
//!   2. The confidence interval is Student's over these figures. For separate runs it is Welch's, which allows two
//!      different spreads, with the degrees of freedom of Welch and Satterthwaite. A bootstrap of so few pairs finds
//!      false differences twice as often as it claims; Student's does not.
//!   3. Many comparisons are made at once, and chance alone would make one in twenty significant. So Holm's procedure
//!      corrects them. The most significant comparison is judged as if all had to be significant together (Bonferroni),
//!      the next as if all but that one, and so on. The first that is not significant passes its level to all that
//!      follow. Each interval is printed at the level of its judgement, so it excludes 1 exactly if Holm finds a
//!      difference. The guarantee for all together: at most 5 of 100 runs call anything faster or slower that is not.
//!      That all intervals contain the true ratio at once is less certain: the intervals of Holm's later steps are too
//!      narrow for that.
//!   4. An interval inside the margin means *same*, even if it excludes 1. Another interval that excludes 1 means
//!      *faster*. Otherwise nothing is decided.
//!   5. A difference is a reason to choose only if the whole interval is outside the margin, and the 99.9 % interval
//!      too. Then it is certain that the setup is faster, and by no less than matters.
//!   6. Only the width of the intervals ends the measuring, never their verdict. Half the width must be at most half of
//!      the margin, or at most a quarter of the effect. The first decides every comparison one way or the other; the
//!      second is reached earlier only by large effects. At least six pairs are needed, or five rounds of each separate
//!      run.
//!   7. A rate can be too high because a burst credit came back while its setup rested. The bounds of that error widen
//!      the interval. More rounds do not reduce them, so they do not prolong the measuring. If they would leave even a
//!      narrow interval undecided, there is no forecast of rounds.
//!   8. A round without any work has no logarithm. Leaving it out would call a setup fast that stood still. So such a
//!      round leaves everything undecided.

use statrs::distribution::ContinuousCDF;

use crate::figures::summary::CONFIDENCE;
use crate::inference::sample::{mean, quantile, student, variance};
use crate::inference::verdict::{Estimate, Verdict};

/// The smallest number of pairs that decides anything. With fewer, Student's quantile and the standard deviation are so
/// uncertain that a lucky streak looks like a proof.
pub const LEAST_PAIRS: usize = 6;

/// The smallest number of rounds of each separate run that decides anything: the rounds of `quick`. The two spreads
/// together are then known at least as well as that of the same number of pairs. tests/ratio_test.rs measures the rate
/// of false differences.
pub const LEAST_APART: usize = 5;

/// Default margin: a smaller difference does not matter for a choice. Our choice: filling a disk by a tenth more
/// changes its rate as much.
pub const MARGIN: f64 = 0.05;

/// Confidence level that a difference needs to be a reason to choose. With 0.99, one in 10,000 comparisons of six pairs
/// mistakes 2 % for more than 5 % (measured in tests/ratio_test.rs).
const REASON: f64 = 0.999;

/// Half the width of a narrow interval, as a share of the effect.
const OF_EFFECT: f64 = 0.25;

/// Upper bound of the forecast; more pairs than this are not worth reporting.
const MOST_PAIRS: usize = 100_000;

/// The paired rounds of two setups: for each round that both kept, the logarithm of the ratio of their rates.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pairs {
    logs: Vec<f64>,
    idle: usize,
    bias: Bias,
}

/// Bounds of a systematic error of a logarithm: the true mean is at most so far below and above.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bias {
    /// The largest distance below.
    pub below: f64,
    /// The largest distance above.
    pub above: f64,
}

/// The rounds of one setup in a separate run: the logarithms of their rates.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    logs: Vec<f64>,
    idle: usize,
    /// The most by which the mean of the logarithms may be too high (7).
    excess: f64,
}

/// The logarithm of the ratio of two rates, from paired or separate rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogRatio {
    /// The estimated logarithm.
    mean: f64,
    /// Standard error of `mean`; `None` if there are too few rounds.
    error: Option<f64>,
    /// Degrees of freedom of the standard error.
    degrees: f64,
    /// True if there are enough rounds to decide anything.
    is_enough: bool,
    /// Bounds of a systematic error.
    bias: Bias,
}

/// The judgement of the ratio of two rates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judged {
    /// The ratio of the second rate to the first, with its interval.
    pub estimate: Estimate,
    /// The verdict on the second.
    pub verdict: Verdict,
    /// True if the whole interval is outside the margin, so that the difference is a reason to choose.
    pub matters: bool,
    /// True if the interval is so narrow that more pairs are useless.
    pub is_narrow: bool,
    /// True if it is undecided, and the bounds of the systematic error would leave it so with a narrow interval, too.
    pub is_masked: bool,
}

impl Judged {
    /// Returns the judgement without its verdict, if there is a reason not to trust it.
    pub fn undecided(self) -> Judged {
        Judged { verdict: Verdict::Undecided, matters: false, ..self }
    }
}

impl FromIterator<(f64, f64)> for Pairs {
    /// From pairs of rates, the first setup's and the second's.
    fn from_iter<I: IntoIterator<Item = (f64, f64)>>(rates: I) -> Pairs {
        Pairs::of_logs(rates.into_iter().map(|(first, second)| (second / first).ln()).collect())
    }
}

impl Pairs {
    /// Creates pairs from logarithms of ratios. One that is not finite belongs to a round in which a setup did no work.
    pub fn of_logs(logs: Vec<f64>) -> Pairs {
        let (logs, idle) = split(logs);
        Pairs { logs, idle, bias: Bias::default() }
    }

    /// The same pairs with bounds of a systematic error of their mean.
    #[must_use]
    pub fn with_bias(self, bias: Bias) -> Pairs {
        Pairs { bias, ..self }
    }

    /// Returns the number of pairs.
    pub fn count(&self) -> usize {
        self.logs.len() + self.idle
    }

    /// Returns the number of pairs in which a setup did no work.
    pub fn idle(&self) -> usize {
        self.idle
    }

    /// Estimates the ratio of the second rate to the first.
    pub fn estimate(&self) -> LogRatio {
        // 8
        if self.idle > 0 {
            return LogRatio::NOTHING;
        }
        let count = self.count() as f64;
        LogRatio {
            mean: mean(&self.logs),
            error: variance(&self.logs).map(|variance| (variance / count).sqrt()),
            degrees: count - 1.0,
            is_enough: self.count() >= LEAST_PAIRS,
            bias: self.bias,
        }
    }

    /// Returns the number of pairs with this spread that make the interval narrow enough to end the measuring. Returns
    /// `None` if a pair is idle, if there are fewer than two, or if the number exceeds `MOST_PAIRS`.
    pub fn needed(&self, confidence: f64, margin: f64) -> Option<usize> {
        // 8
        if self.idle > 0 {
            return None;
        }
        let (variance, half) = (variance(&self.logs)?, narrow(mean(&self.logs), margin.ln_1p()));
        fewest(LEAST_PAIRS, half, confidence, |pairs| ((variance / pairs).sqrt(), pairs - 1.0))
    }
}

impl FromIterator<f64> for Series {
    /// From rates.
    fn from_iter<I: IntoIterator<Item = f64>>(rates: I) -> Series {
        let (logs, idle) = split(rates.into_iter().map(f64::ln).collect());
        Series { logs, idle, excess: 0.0 }
    }
}

impl Series {
    /// The same rounds, whose mean logarithm is too high by at most this.
    #[must_use]
    pub fn with_excess(self, excess: f64) -> Series {
        Series { excess, ..self }
    }

    /// Returns the number of rounds.
    pub fn count(&self) -> usize {
        self.logs.len() + self.idle
    }

    /// Returns the number of rounds without any work.
    pub fn idle(&self) -> usize {
        self.idle
    }

    /// True if there are at least two rounds and all are equal: chance has no effect on them.
    pub fn is_constant(&self) -> bool {
        self.idle == 0 && self.logs.len() >= 2 && self.logs.iter().all(|log| *log == self.logs[0])
    }

    /// Estimates the ratio of the other setup's rate to this one's, if they were measured separately. Returns `None` if
    /// one of them has no round.
    pub fn against(&self, other: &Series) -> Option<LogRatio> {
        // 8
        if self.idle + other.idle > 0 {
            return (self.count() > 0 && other.count() > 0).then_some(LogRatio::NOTHING);
        }
        let [first, second] = [self, other].map(|series| series.count() as f64);
        let parts = variance(&self.logs).zip(variance(&other.logs)).map(|(one, two)| (one / first, two / second));
        (first > 0.0 && second > 0.0).then(|| LogRatio {
            mean: mean(&other.logs) - mean(&self.logs),
            error: parts.map(|(one, two)| (one + two).sqrt()),
            degrees: parts.map_or(0.0, |parts| satterthwaite(parts, (first, second))),
            is_enough: self.count().min(other.count()) >= LEAST_APART,
            bias: Bias { below: other.excess, above: self.excess },
        })
    }

    /// Returns the number of rounds of each setup, with these spreads, that make the interval narrow enough. Returns
    /// `None` in the same cases as [`Pairs::needed`].
    pub fn needed(&self, other: &Series, confidence: f64, margin: f64) -> Option<usize> {
        // 8
        if self.idle + other.idle > 0 {
            return None;
        }
        let (one, two) = variance(&self.logs).zip(variance(&other.logs))?;
        let half = narrow(mean(&other.logs) - mean(&self.logs), margin.ln_1p());
        let of = |rounds: f64| {
            let parts = (one / rounds, two / rounds);
            ((parts.0 + parts.1).sqrt(), satterthwaite(parts, (rounds, rounds)))
        };
        fewest(LEAST_APART, half, confidence, of)
    }
}

/// Returns the degrees of freedom of the sum of two squared standard errors, each with its number of rounds (Welch
/// 1947).
fn satterthwaite((one, two): (f64, f64), (first, second): (f64, f64)) -> f64 {
    let squares = one * one / (first - 1.0) + two * two / (second - 1.0);
    // If all rounds of both series are equal, no side has more weight.
    if squares > 0.0 { (one + two) * (one + two) / squares } else { first + second - 2.0 }
}

impl LogRatio {
    /// The estimate if some rounds have no work.
    const NOTHING: LogRatio =
        LogRatio { mean: f64::NAN, error: None, degrees: 0.0, is_enough: false, bias: Bias { below: 0.0, above: 0.0 } };

    /// Returns the estimate without a standard error, for rounds without chance, such as two simulated machines whose
    /// rounds are all equal.
    pub fn without_chance(self) -> LogRatio {
        LogRatio { error: Some(0.0), degrees: f64::INFINITY, is_enough: true, ..self }
    }

    /// Returns the p value: the probability that chance alone gives a mean as far from zero.
    fn chance(&self) -> f64 {
        let Some(error) = self.error else { return 1.0 };
        let mean = self.least();
        if mean == 0.0 {
            return 1.0;
        }
        // All figures are equal, as on a simulated machine: chance has no effect.
        if error == 0.0 {
            return 0.0;
        }
        student(self.degrees).map_or(1.0, |student| 2.0 * student.cdf(-(mean / error).abs()))
    }

    /// Returns the mean closest to zero within the bounds of the systematic error.
    fn least(&self) -> f64 {
        // 7
        let Bias { below, above } = self.bias;
        if self.mean > 0.0 { (self.mean - below).max(0.0) } else { (self.mean + above).min(0.0) }
    }

    fn half_width(&self, confidence: f64) -> Option<f64> {
        let error = self.error?;
        // Zero times an infinite quantile would be NaN.
        if error == 0.0 { Some(0.0) } else { Some(error * quantile(self.degrees, confidence)?) }
    }

    /// Judges the estimate at this confidence level. The margin is the largest difference of two rates, as a share,
    /// that counts as the same.
    pub fn judged(&self, confidence: f64, margin: f64) -> Judged {
        let LogRatio { mean, is_enough, .. } = *self;
        let margin = margin.ln_1p();
        let half = self.half_width(confidence);
        // 7
        let (low, high) = (|half: f64| mean - half - self.bias.below, |half: f64| mean + half + self.bias.above);
        let verdict_at = |half: f64| match half {
            half if low(half) > -margin && high(half) < margin => Verdict::Same,
            half if low(half) > 0.0 => Verdict::Faster,
            half if high(half) < 0.0 => Verdict::Slower,
            _ => Verdict::Undecided,
        };
        let verdict = half.filter(|_| is_enough).map_or(Verdict::Undecided, verdict_at);
        let is_biased = self.bias != Bias::default();
        let is_masked = is_biased && [verdict, verdict_at(narrow(mean, margin))] == [Verdict::Undecided; 2];
        let is_beyond = |half: Option<f64>| half.is_some_and(|half| low(half) > margin || high(half) < -margin);
        Judged {
            estimate: Estimate {
                ratio: Some(mean.exp()).filter(|ratio| ratio.is_finite()),
                low: half.map(|half| low(half).exp()),
                high: half.map(|half| high(half).exp()),
                confidence,
            },
            verdict,
            matters: verdict.is_difference() && is_beyond(half) && is_beyond(self.half_width(REASON.max(confidence))),
            is_narrow: is_enough && half.is_some_and(|half| half <= narrow(mean, margin)),
            is_masked,
        }
    }
}

/// Returns the smallest number of rounds, at least `least`, with at most this half width. `of` gives the standard error
/// and the degrees of freedom for a number of rounds. Returns `None` above [`MOST_PAIRS`].
fn fewest(least: usize, half: f64, confidence: f64, of: impl Fn(f64) -> (f64, f64)) -> Option<usize> {
    let is_enough = |count: usize| match of(count as f64) {
        (0.0, _) => true,
        (error, degrees) => quantile(degrees, confidence).is_some_and(|quantile| quantile * error <= half),
    };
    let (mut few, mut enough) = (least - 1, MOST_PAIRS);
    if !is_enough(enough) {
        return None;
    }
    while few + 1 < enough {
        let middle = few.midpoint(enough);
        if is_enough(middle) { enough = middle } else { few = middle }
    }
    Some(enough)
}

/// Returns the finite logarithms, and the number of the others.
fn split(mut logs: Vec<f64>) -> (Vec<f64>, usize) {
    let all = logs.len();
    logs.retain(|log| log.is_finite());
    let idle = all - logs.len();
    (logs, idle)
}

/// Judges all comparisons of a run together, with Holm's correction. The margin is as in [`LogRatio::judged`].
pub fn judge(all: &[Pairs], margin: f64) -> Vec<Judged> {
    judge_estimates(&all.iter().map(Pairs::estimate).collect::<Vec<LogRatio>>(), margin)
}

/// Judges all estimates of a run together, with Holm's correction, whether they are paired or separate.
pub fn judge_estimates(all: &[LogRatio], margin: f64) -> Vec<Judged> {
    let chances: Vec<f64> = all.iter().map(LogRatio::chance).collect();
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by(|&one, &other| chances[one].total_cmp(&chances[other]));
    let mut levels = vec![0.0; all.len()];
    let mut found = 0;
    for (place, &index) in order.iter().enumerate() {
        // No comparison after the first that is not significant can be significant.
        let is_sure = found == place && chances[index] <= (1.0 - CONFIDENCE) / (all.len() - place) as f64;
        levels[index] = (1.0 - CONFIDENCE) / (all.len() - found) as f64;
        found += usize::from(is_sure);
    }
    all.iter().zip(levels).map(|(estimate, level)| estimate.judged(1.0 - level, margin)).collect()
}

/// Returns half the width of an interval around this mean that ends the measuring. All values are logarithms.
fn narrow(mean: f64, margin: f64) -> f64 {
    (margin / 2.0).max(OF_EFFECT * mean.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(logs: &[f64]) -> Judged {
        judge(&[Pairs::of_logs(logs.to_vec())], MARGIN)[0]
    }

    /// Six pairs, mean 0.3, standard deviation 0.1: the quantile of five degrees of freedom is 2.571, half the width
    /// 0.1048.
    #[test]
    fn the_interval_is_students_and_a_ratio() {
        let spread = 0.1 * (5.0_f64 / 6.0).sqrt();
        let logs: Vec<f64> = (0..6).map(|place| 0.3 + if place % 2 == 0 { spread } else { -spread }).collect();
        let judged = one(&logs);
        let estimate = judged.estimate;
        assert!((estimate.ratio.expect("a ratio") - 0.3_f64.exp()).abs() < 1e-12);
        assert!((estimate.high.expect("an end").ln() - 0.4048).abs() < 2e-4, "{judged:?}");
        assert!((estimate.low.expect("an end").ln() - 0.1952).abs() < 2e-4, "{judged:?}");
        assert_eq!((judged.verdict, judged.matters), (Verdict::Faster, false), "one of 99.9 % has 0.02");
        // Half the width must be a quarter of 0.3: with 0.1 and a quantile of 2.26, that is ten pairs.
        let needed = Pairs::of_logs(logs).needed(0.95, MARGIN);
        assert!(!judged.is_narrow && needed == Some(10), "{needed:?}");
    }

    /// The bounds of a systematic error widen the interval and can take a verdict away, but do not prolong the
    /// measuring.
    #[test]
    fn a_systematic_error_widens_the_interval() {
        let biased = |mean: f64, below: f64, above: f64| {
            let logs = [mean - 0.001, mean + 0.001].repeat(3);
            judge(&[Pairs::of_logs(logs).with_bias(Bias { below, above })], MARGIN)[0]
        };
        let (plain, wide) = (biased(0.3, 0.0, 0.0), biased(0.3, 0.02, 0.1));
        let ends = |judged: Judged| [judged.estimate.low, judged.estimate.high].map(|end| end.expect("an end").ln());
        let [low, high] = ends(plain);
        assert!((ends(wide)[0] - (low - 0.02)).abs() < 1e-12 && (ends(wide)[1] - (high + 0.1)).abs() < 1e-12);
        assert_eq!((plain.estimate.ratio, plain.is_narrow), (wide.estimate.ratio, wide.is_narrow));
        assert_eq!((wide.verdict, wide.matters), (Verdict::Faster, true));
        let (near, far) = (biased(0.3, 0.26, 0.0), biased(0.3, 0.31, 0.0));
        assert_eq!((near.verdict, near.matters, near.is_masked), (Verdict::Faster, false, false));
        assert_eq!((far.verdict, far.is_narrow, far.is_masked), (Verdict::Undecided, true, true));
        assert_eq!(biased(-0.3, 0.0, 0.31).verdict, Verdict::Undecided);
        assert_eq!(
            (biased(0.0, 0.02, 0.02).verdict, biased(0.0, 0.06, 0.0).verdict),
            (Verdict::Same, Verdict::Undecided)
        );
        // More rounds decide a wide interval only if the bounds are small.
        let noisy = |bound: f64| {
            let pairs = Pairs::of_logs([-0.1, 0.1].repeat(3)).with_bias(Bias { below: bound, above: bound });
            let judged = judge(&[pairs], MARGIN)[0];
            (judged.verdict, judged.is_masked)
        };
        let expected = [false, false, true].map(|is_masked| (Verdict::Undecided, is_masked));
        assert_eq!([0.0, 0.02, 0.03].map(noisy), expected);
    }

    /// The same for separate runs.
    #[test]
    fn credits_of_a_rest_widen_the_interval_of_separate_runs() {
        let rounds = |mean: f64, excess| -> Series {
            let rates = [mean - 0.001, mean + 0.001].repeat(3).into_iter().map(f64::exp);
            rates.collect::<Series>().with_excess(excess)
        };
        let faster = |excess| {
            let found = rounds(0.0, 0.0).against(&rounds(0.3, excess)).expect("rounds of both");
            judge_estimates(&[found], MARGIN)[0].verdict
        };
        assert_eq!((faster(0.0), faster(0.31)), (Verdict::Faster, Verdict::Undecided));
        let found = rounds(0.3, 0.31).against(&rounds(0.0, 0.0)).expect("rounds of both");
        assert_eq!(judge_estimates(&[found], MARGIN)[0].verdict, Verdict::Undecided);
    }

    #[test]
    fn what_lies_within_the_margin_is_the_same_also_where_it_differs() {
        let judged = one(&[0.019, 0.020, 0.021, 0.019, 0.020, 0.021]);
        assert!(judged.estimate.low > Some(1.0));
        assert_eq!((judged.verdict, judged.is_narrow), (Verdict::Same, true));
    }

    #[test]
    fn fewer_than_six_pairs_decide_nothing() {
        assert_eq!(one(&[0.3; 5]).verdict, Verdict::Undecided);
        let enough = one(&[-0.3; 6]);
        assert_eq!((enough.verdict, enough.matters, enough.is_narrow), (Verdict::Slower, true, true));
        let alone = one(&[0.3]);
        assert_eq!((alone.verdict, alone.estimate.low), (Verdict::Undecided, None));
        assert_eq!(one(&[0.0; 6]).verdict, Verdict::Same);
    }

    /// For three comparisons with p values of 0.002, 0.02 and 0.4, Holm's levels are 0.05/3, 0.05/2 and 0.05.
    #[test]
    fn the_surest_is_judged_most_strictly_and_the_first_that_is_not_sure_ends_it() {
        let pairs = |mean: f64| {
            let logs = [0.1, -0.1, 0.05, -0.05, 0.08, -0.08];
            Pairs::of_logs(logs.iter().map(|log| mean + log).collect())
        };
        let levels = |means: [f64; 3]| judge(&means.map(pairs), MARGIN).into_iter().map(|one| one.estimate.confidence);
        let close = |levels: Vec<f64>, parts: [f64; 3]| {
            levels.iter().zip(parts).all(|(level, part)| (level - (1.0 - 0.05 / part)).abs() < 1e-12)
        };
        assert!(close(levels([0.5, 0.4, 0.3]).collect(), [3.0, 2.0, 1.0]));
        assert!(close(levels([0.01, 0.5, 0.02]).collect(), [2.0, 3.0, 2.0]));
        for judged in judge(&[0.5, 0.12, 0.0].map(pairs), MARGIN) {
            let leaves_out_one = judged.estimate.low > Some(1.0) || judged.estimate.high < Some(1.0);
            assert_eq!(leaves_out_one, judged.verdict == Verdict::Faster, "{judged:?}");
        }
    }

    #[test]
    fn rates_are_paired_and_a_round_in_which_one_did_nothing_decides_nothing() {
        let paired = |rates: &[(f64, f64)]| rates.iter().copied().collect::<Pairs>();
        let estimate = paired(&[(100.0, 120.0), (10.0, 12.0)]).estimate();
        assert!((estimate.mean - 1.2_f64.ln()).abs() < 1e-12 && estimate.error.expect("two") < 1e-12);
        let idle = paired(&[&[(100.0, 120.0); 8][..], &[(0.0, 5.0), (5.0, 0.0), (0.0, 0.0)]].concat());
        assert_eq!((idle.count(), idle.idle(), idle.needed(0.95, MARGIN)), (11, 3, None));
        let said = &judge(&[idle], MARGIN)[0];
        assert_eq!(
            (said.verdict, said.estimate.ratio, said.estimate.low, said.is_narrow),
            (Verdict::Undecided, None, None, false)
        );
        let [one, other] =
            [[9.0, 9.0, 9.0, 9.0, 9.0, 0.0], [8.0; 6]].map(|rates| rates.into_iter().collect::<Series>());
        for estimate in [one.against(&other), other.against(&one)] {
            let said = estimate.expect("rounds").judged(0.95, MARGIN);
            assert_eq!((said.verdict, said.estimate.ratio), (Verdict::Undecided, None));
        }
        assert_eq!((one.idle(), one.needed(&other, 0.95, MARGIN)), (1, None));
    }

    fn series(logs: &[f64]) -> Series {
        Series { logs: logs.to_vec(), idle: 0, excess: 0.0 }
    }

    /// Logarithms 1, 2, 3, 4, 5 (mean 3, variance 2.5) and 12, 14, 16, 18, 20 (16 and 10): the squared errors are 0.5
    /// and 2, together 2.5; the degrees of freedom are 2.5^2 / (0.5^2 / 4 + 2^2 / 4) = 5.882.
    #[test]
    fn rounds_that_were_apart_are_welchs() {
        let (one, other) = (series(&[1.0, 2.0, 3.0, 4.0, 5.0]), series(&[12.0, 14.0, 16.0, 18.0, 20.0]));
        let estimate = one.against(&other).expect("both have rounds");
        assert!((estimate.mean - 13.0).abs() < 1e-12 && (estimate.error.expect("two") - 2.5_f64.sqrt()).abs() < 1e-12);
        assert!((estimate.degrees - 100.0 / 17.0).abs() < 1e-9, "{estimate:?}");
        // The quantile of 5.882 degrees of freedom is between those of five and six, 2.571 and 2.447.
        let half = estimate.half_width(0.95).expect("a width") / 2.5_f64.sqrt();
        assert!((2.447..2.571).contains(&half), "{half}");
        // In the other direction the sign changes.
        assert_eq!(other.against(&one).map(|estimate| estimate.mean), Some(-13.0));
        assert_eq!(one.against(&Series::default()), None);
        let alone = one.against(&series(&[9.0])).expect("both have rounds");
        assert_eq!((alone.error, alone.chance(), alone.judged(0.95, MARGIN).verdict), (None, 1.0, Verdict::Undecided));
    }

    /// If spreads and counts are equal, the degrees of freedom are the sum. If one side has no spread, they are those
    /// of the other.
    #[test]
    fn degrees_of_freedom_lie_between_the_smaller_and_the_sum() {
        assert!((satterthwaite((2.0, 2.0), (6.0, 6.0)) - 10.0).abs() < 1e-12);
        assert!((satterthwaite((0.0, 2.0), (6.0, 9.0)) - 8.0).abs() < 1e-12);
        assert!((satterthwaite((0.0, 0.0), (6.0, 9.0)) - 13.0).abs() < 1e-12);
    }

    #[test]
    fn fewer_than_five_rounds_of_one_decide_nothing_and_what_is_exact_needs_none() {
        let verdict = |first: usize, second: usize| {
            let rounds = |count: usize, mean: f64| (0..count).map(|place| mean + 0.01 * (place % 2) as f64).collect();
            let [one, other] =
                [rounds(first, 5.0), rounds(second, 6.0)].map(|logs| Series { logs, idle: 0, excess: 0.0 });
            judge_estimates(&[one.against(&other).expect("rounds")], MARGIN)[0].verdict
        };
        assert_eq!((verdict(5, 5), verdict(4, 20)), (Verdict::Faster, Verdict::Undecided));
        let exact = |ratio: f64| {
            let (one, other) = (series(&[0.0]), series(&[ratio.ln()]));
            one.against(&other).expect("rounds").without_chance().judged(1.0, MARGIN)
        };
        assert_eq!(
            [0.9, 1.0, 1.02, 1.2].map(|ratio| exact(ratio).verdict),
            [Verdict::Slower, Verdict::Same, Verdict::Same, Verdict::Faster]
        );
        assert!(exact(1.2).matters && exact(1.2).estimate.low == exact(1.2).estimate.high);
    }

    /// Spreads of 0.1 and 0.02: half the width must be half of the margin of 5 %, 0.0244.
    #[test]
    fn as_many_rounds_are_foretold_as_the_interval_needs() {
        let rounds = |mean: f64, spread: f64| series(&[mean - spread, mean + spread, mean - spread, mean + spread]);
        let (one, other) = (rounds(1.0, 0.1), rounds(1.0, 0.02));
        let needed = one.needed(&other, 0.95, MARGIN).expect("patience");
        // With this number the quantile is nearly 2: 4 * (0.01333 + 0.00053) / 0.0244^2 = 93.
        assert!((85..=100).contains(&needed), "{needed}");
        assert_eq!(one.needed(&one, 0.95, 1e-9), None);
        assert_eq!(rounds(1.0, 0.0).needed(&rounds(1.0, 0.0), 0.95, MARGIN), Some(LEAST_APART));
    }
}
