//! Whether one of two setups is faster, by how much, and how sure that is: from rounds in which both ran, or from
//! rounds of each by itself.
//!
//! Policy:
//!   1. a round that both kept is a pair, and its figure the logarithm of the ratio of the two rates: what made the
//!      whole round slow is in both, and falls out. Of rounds that were apart none is the other's: then the figures are
//!      the logarithms of the rates, and what made a round slow is in the spread of each;
//!   2. the interval is Student's over these figures; apart, Welch's, who lets each have a spread of its own, with the
//!      degrees of freedom of Welch and Satterthwaite. A bootstrap of so few pairs finds differences where there are
//!      none twice as often as it says; Student's does not;
//!   3. many comparisons are made at once, and one in twenty would find something by chance alone: Holm's procedure.
//!      The one that is surest is judged as if all were to be sure together (Bonferroni), the next as if all but that
//!      one, and so on; the first that is not sure lends its level to all that follow. Each interval is printed at the
//!      level at which it was judged, so that it leaves out 1 exactly where Holm finds a difference. What holds of all
//!      together is that: in no more than 5 of 100 runs is anything called faster or slower that is not. That all
//!      intervals hold the true ratio at once is not as sure: those of Holm's later steps are narrower than that would
//!      ask for;
//!   4. one lies within the margin: *same*, whether or not it leaves out 1. Else one that leaves out 1 is *faster*.
//!      Else nothing is decided;
//!   5. a difference is a reason to choose by only where all of the interval lies beyond the margin, and one of 99.9 %
//!      too: that it is faster is then sure, and that it is by no less than matters;
//!   6. measuring ends by the width of intervals alone, never by what they say: half the width is no more than half of
//!      the margin, which decides every comparison one way or the other, or than a quarter of the effect, which only
//!      large effects reach first. Never below six pairs, or five rounds of each where they are apart;
//!   7. a round in which nothing was done has no logarithm. To leave it out would call fast what stood still: where
//!      there is one, nothing is decided.

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::figures::summary::CONFIDENCE;

/// The fewest pairs that decide anything. With fewer, Student's quantile and the deviation that it stands on are both
/// so uncertain that a lucky streak looks like a proof.
pub const LEAST_PAIRS: usize = 6;

/// The fewest rounds of each that decide anything where they are apart: what `quick` has. Both spreads together are
/// then known as well as that of as many pairs at least (tests/comparison.rs has how often chance deceives).
pub const LEAST_APART: usize = 5;

/// Two that differ by less are the same to whoever chooses, where nothing else is said. Ours: a disk filled a tenth
/// more differs by as much.
pub const MARGIN: f64 = 0.05;

/// How sure it must be that a difference is a reason to choose: with 0.99 one in 10,000 comparisons of six pairs takes
/// 2 % for more than 5 %, measured in tests/comparison.rs.
const REASON: f64 = 0.999;

/// Part of an effect that half the width of its interval must not be larger than.
const OF_EFFECT: f64 = 0.25;

/// The most pairs that are foretold; what needs more is beyond all patience.
const MOST_PAIRS: usize = 100_000;

/// What rounds tell of two setups: for each that both kept, the logarithm of the ratio of their rates.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pairs {
    logs: Vec<f64>,
    idle: usize,
}

/// What rounds tell of one setup by itself: the logarithms of their rates.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    logs: Vec<f64>,
    idle: usize,
}

/// What is known of the ratio of two rates, however it was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Its logarithm.
    mean: f64,
    /// The standard error of that; nothing where too little was seen to tell.
    error: Option<f64>,
    /// Degrees of freedom that the error stands on.
    degrees: f64,
    /// Whether that is enough to decide anything.
    is_enough: bool,
}

/// What follows from an estimate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judged {
    /// The ratio of the second's rate to the first's; nothing where one of them did nothing in a round.
    pub ratio: Option<f64>,
    /// The lower end of its interval; nothing below two pairs.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
    /// How sure the interval is, by itself.
    pub confidence: f64,
    /// What is to be said.
    pub verdict: Decision,
    /// Whether all of it lies beyond the margin, so that it is a reason to choose.
    pub matters: bool,
    /// Whether the interval is so narrow that more pairs are of no use.
    pub is_narrow: bool,
}

/// What is to be said of two setups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The second is faster.
    SecondFaster,
    /// The first is.
    FirstFaster,
    /// They differ by less than the margin.
    Same,
    /// Too few pairs for what they differ from each other.
    Undecided,
}

impl FromIterator<(f64, f64)> for Pairs {
    /// Of two rates each, the first's and the second's.
    fn from_iter<I: IntoIterator<Item = (f64, f64)>>(rates: I) -> Pairs {
        Pairs::of_logs(rates.into_iter().map(|(first, second)| (second / first).ln()).collect())
    }
}

impl Pairs {
    /// Of logarithms that were computed elsewhere; one that is no number is of a round in which one did nothing.
    pub fn of_logs(logs: Vec<f64>) -> Pairs {
        let (logs, idle) = split(logs);
        Pairs { logs, idle }
    }

    /// How many.
    pub fn count(&self) -> usize {
        self.logs.len() + self.idle
    }

    /// In how many of them one did nothing.
    pub fn idle(&self) -> usize {
        self.idle
    }

    /// What they tell.
    pub fn estimate(&self) -> Estimate {
        // 7
        if self.idle > 0 {
            return Estimate::NOTHING;
        }
        let count = self.count() as f64;
        Estimate {
            mean: mean(&self.logs),
            error: variance(&self.logs).map(|variance| (variance / count).sqrt()),
            degrees: count - 1.0,
            is_enough: self.count() >= LEAST_PAIRS,
        }
    }

    /// How many pairs that lie as far from each other as these have an interval that ends the measuring; nothing where
    /// nobody has the patience.
    pub fn needed(&self, confidence: f64, margin: f64) -> Option<usize> {
        // 7
        if self.idle > 0 {
            return None;
        }
        let (variance, half) = (variance(&self.logs)?, narrow(mean(&self.logs), margin.ln_1p()));
        fewest(LEAST_PAIRS, half, confidence, |pairs| ((variance / pairs).sqrt(), pairs - 1.0))
    }
}

impl FromIterator<f64> for Series {
    /// Of rates.
    fn from_iter<I: IntoIterator<Item = f64>>(rates: I) -> Series {
        let (logs, idle) = split(rates.into_iter().map(f64::ln).collect());
        Series { logs, idle }
    }
}

impl Series {
    /// How many rounds.
    pub fn count(&self) -> usize {
        self.logs.len() + self.idle
    }

    /// In how many of them nothing was done.
    pub fn idle(&self) -> usize {
        self.idle
    }

    /// Whether there are several, and all of them are equal: chance has no part in them.
    pub fn is_constant(&self) -> bool {
        self.idle == 0 && self.logs.len() >= 2 && self.logs.iter().all(|log| *log == self.logs[0])
    }

    /// What this one tells, with another that was measured apart from it, of the ratio of the other's rate to its own;
    /// nothing where one of them has no round.
    pub fn against(&self, other: &Series) -> Option<Estimate> {
        // 7
        if self.idle + other.idle > 0 {
            return (self.count() > 0 && other.count() > 0).then_some(Estimate::NOTHING);
        }
        let [first, second] = [self, other].map(|series| series.count() as f64);
        let parts = variance(&self.logs).zip(variance(&other.logs)).map(|(one, two)| (one / first, two / second));
        (first > 0.0 && second > 0.0).then(|| Estimate {
            mean: mean(&other.logs) - mean(&self.logs),
            error: parts.map(|(one, two)| (one + two).sqrt()),
            degrees: parts.map_or(0.0, |parts| satterthwaite(parts, (first, second))),
            is_enough: self.count().min(other.count()) >= LEAST_APART,
        })
    }

    /// How many rounds of each, spread as these are, have an interval that needs no more; nothing where nobody has the
    /// patience.
    pub fn needed(&self, other: &Series, confidence: f64, margin: f64) -> Option<usize> {
        // 7
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

/// Degrees of freedom of the sum of two squared errors, each of so many rounds (Welch 1947).
fn satterthwaite((one, two): (f64, f64), (first, second): (f64, f64)) -> f64 {
    let squares = one * one / (first - 1.0) + two * two / (second - 1.0);
    // Where no round differs from another, nothing weighs one side against the other.
    if squares > 0.0 { (one + two) * (one + two) / squares } else { first + second - 2.0 }
}

impl Estimate {
    /// Of rounds in some of which nothing was done.
    const NOTHING: Estimate = Estimate { mean: f64::NAN, error: None, degrees: 0.0, is_enough: false };

    /// The same of what chance has no part in, as of two simulated machines whose rounds are all equal.
    pub fn without_chance(self) -> Estimate {
        Estimate { error: Some(0.0), degrees: f64::INFINITY, is_enough: true, ..self }
    }

    /// How likely chance alone gives a mean as far from nothing.
    fn chance(&self) -> f64 {
        let Some(error) = self.error else { return 1.0 };
        if self.mean == 0.0 {
            return 1.0;
        }
        // Figures that are all equal, as of a simulated machine, leave nothing to chance.
        if error == 0.0 {
            return 0.0;
        }
        student(self.degrees).map_or(1.0, |student| 2.0 * student.cdf(-(self.mean / error).abs()))
    }

    fn half_width(&self, confidence: f64) -> Option<f64> {
        let error = self.error?;
        // Nothing times a quantile that is not finite is no number.
        if error == 0.0 { Some(0.0) } else { Some(error * quantile(self.degrees, confidence)?) }
    }

    /// What is to be said of it where the interval is to be so sure by itself. The margin is the part by which two may
    /// differ and be the same.
    pub fn judged(&self, confidence: f64, margin: f64) -> Judged {
        let Estimate { mean, is_enough, .. } = *self;
        let margin = margin.ln_1p();
        let half = self.half_width(confidence);
        let verdict = match half.filter(|_| is_enough) {
            Some(half) if mean.abs() + half < margin => Decision::Same,
            Some(half) if mean - half > 0.0 => Decision::SecondFaster,
            Some(half) if mean + half < 0.0 => Decision::FirstFaster,
            Some(_) | None => Decision::Undecided,
        };
        let is_beyond = |half: Option<f64>| half.is_some_and(|half| mean.abs() - half > margin);
        let is_faster = matches!(verdict, Decision::SecondFaster | Decision::FirstFaster);
        Judged {
            ratio: Some(mean.exp()).filter(|ratio| ratio.is_finite()),
            low: half.map(|half| (mean - half).exp()),
            high: half.map(|half| (mean + half).exp()),
            confidence,
            verdict,
            matters: is_faster && is_beyond(half) && is_beyond(self.half_width(REASON.max(confidence))),
            is_narrow: is_enough && half.is_some_and(|half| half <= narrow(mean, margin)),
        }
    }
}

/// The fewest, of so many at least, whose interval has no more than half this width; `of` has the error and the degrees
/// that so many have.
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

/// Those that are numbers, and how many are not.
fn split(mut logs: Vec<f64>) -> (Vec<f64>, usize) {
    let all = logs.len();
    logs.retain(|log| log.is_finite());
    let idle = all - logs.len();
    (logs, idle)
}

fn mean(logs: &[f64]) -> f64 {
    logs.iter().sum::<f64>() / logs.len() as f64
}

/// The mean square of what they lie from their mean; nothing below two.
fn variance(logs: &[f64]) -> Option<f64> {
    let mean = mean(logs);
    let squares: f64 = logs.iter().map(|log| (log - mean).powi(2)).sum();
    (logs.len() >= 2).then(|| squares / (logs.len() - 1) as f64)
}

/// What is to be said of all comparisons of a run together. The margin is the part by which two may differ and be the
/// same.
pub fn judge(all: &[Pairs], margin: f64) -> Vec<Judged> {
    judge_estimates(&all.iter().map(Pairs::estimate).collect::<Vec<Estimate>>(), margin)
}

/// The same, however they were found.
pub fn judge_estimates(all: &[Estimate], margin: f64) -> Vec<Judged> {
    let chances: Vec<f64> = all.iter().map(Estimate::chance).collect();
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by(|&one, &other| chances[one].total_cmp(&chances[other]));
    let mut levels = vec![0.0; all.len()];
    let mut found = 0;
    for (place, &index) in order.iter().enumerate() {
        // None behind the first that is not sure is.
        let is_sure = found == place && chances[index] <= (1.0 - CONFIDENCE) / (all.len() - place) as f64;
        levels[index] = (1.0 - CONFIDENCE) / (all.len() - found) as f64;
        found += usize::from(is_sure);
    }
    all.iter().zip(levels).map(|(estimate, level)| estimate.judged(1.0 - level, margin)).collect()
}

/// Half the width of an interval around this mean that ends the measuring; all are logarithms.
fn narrow(mean: f64, margin: f64) -> f64 {
    (margin / 2.0).max(OF_EFFECT * mean.abs())
}

fn student(degrees: f64) -> Option<StudentsT> {
    StudentsT::new(0.0, 1.0, degrees).ok()
}

fn quantile(degrees: f64, confidence: f64) -> Option<f64> {
    Some(student(degrees)?.inverse_cdf(0.5 + confidence / 2.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(logs: &[f64]) -> Judged {
        judge(&[Pairs::of_logs(logs.to_vec())], MARGIN)[0]
    }

    /// Six pairs, mean 0.3, deviation 0.1: the quantile of five degrees is 2.571, half the width 0.1048.
    #[test]
    fn the_interval_is_students_and_a_ratio() {
        let spread = 0.1 * (5.0_f64 / 6.0).sqrt();
        let logs: Vec<f64> = (0..6).map(|place| 0.3 + if place % 2 == 0 { spread } else { -spread }).collect();
        let judged = one(&logs);
        assert!((judged.ratio.expect("a ratio") - 0.3_f64.exp()).abs() < 1e-12);
        assert!((judged.high.expect("an end").ln() - 0.4048).abs() < 2e-4, "{judged:?}");
        assert!((judged.low.expect("an end").ln() - 0.1952).abs() < 2e-4, "{judged:?}");
        assert_eq!((judged.verdict, judged.matters), (Decision::SecondFaster, false), "one of 99.9 % has 0.02");
        // Half the width is to be a quarter of 0.3: with 0.1 and a quantile of 2.26, that is ten pairs.
        let needed = Pairs::of_logs(logs).needed(0.95, MARGIN);
        assert!(!judged.is_narrow && needed == Some(10), "{needed:?}");
    }

    #[test]
    fn what_lies_within_the_margin_is_the_same_also_where_it_differs() {
        let judged = one(&[0.019, 0.020, 0.021, 0.019, 0.020, 0.021]);
        assert!(judged.low > Some(1.0));
        assert_eq!((judged.verdict, judged.is_narrow), (Decision::Same, true));
    }

    #[test]
    fn fewer_than_six_pairs_decide_nothing() {
        assert_eq!(one(&[0.3; 5]).verdict, Decision::Undecided);
        let enough = one(&[-0.3; 6]);
        assert_eq!((enough.verdict, enough.matters, enough.is_narrow), (Decision::FirstFaster, true, true));
        let alone = one(&[0.3]);
        assert_eq!((alone.verdict, alone.low), (Decision::Undecided, None));
        assert_eq!(one(&[0.0; 6]).verdict, Decision::Same);
    }

    /// Of three with chances of 0.002, 0.02 and 0.4, Holm asks 0.05/3, 0.05/2 and 0.05 of them.
    #[test]
    fn the_surest_is_judged_most_strictly_and_the_first_that_is_not_sure_ends_it() {
        let pairs = |mean: f64| {
            let logs = [0.1, -0.1, 0.05, -0.05, 0.08, -0.08];
            Pairs::of_logs(logs.iter().map(|log| mean + log).collect())
        };
        let levels = |means: [f64; 3]| judge(&means.map(pairs), MARGIN).into_iter().map(|one| one.confidence);
        let close = |levels: Vec<f64>, parts: [f64; 3]| {
            levels.iter().zip(parts).all(|(level, part)| (level - (1.0 - 0.05 / part)).abs() < 1e-12)
        };
        assert!(close(levels([0.5, 0.4, 0.3]).collect(), [3.0, 2.0, 1.0]));
        assert!(close(levels([0.01, 0.5, 0.02]).collect(), [2.0, 3.0, 2.0]));
        for judged in judge(&[0.5, 0.12, 0.0].map(pairs), MARGIN) {
            let leaves_out_one = judged.low > Some(1.0) || judged.high < Some(1.0);
            assert_eq!(leaves_out_one, judged.verdict == Decision::SecondFaster, "{judged:?}");
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
        assert_eq!((said.verdict, said.ratio, said.low, said.is_narrow), (Decision::Undecided, None, None, false));
        let [one, other] =
            [[9.0, 9.0, 9.0, 9.0, 9.0, 0.0], [8.0; 6]].map(|rates| rates.into_iter().collect::<Series>());
        for estimate in [one.against(&other), other.against(&one)] {
            let said = estimate.expect("rounds").judged(0.95, MARGIN);
            assert_eq!((said.verdict, said.ratio), (Decision::Undecided, None));
        }
        assert_eq!((one.idle(), one.needed(&other, 0.95, MARGIN)), (1, None));
    }

    fn series(logs: &[f64]) -> Series {
        Series { logs: logs.to_vec(), idle: 0 }
    }

    /// Logarithms 1, 2, 3, 4, 5 (mean 3, variance 2.5) and 12, 14, 16, 18, 20 (16 and 10): the squared errors are 0.5
    /// and 2, together 2.5; the degrees 2.5^2 / (0.5^2 / 4 + 2^2 / 4) = 5.882.
    #[test]
    fn rounds_that_were_apart_are_welchs() {
        let (one, other) = (series(&[1.0, 2.0, 3.0, 4.0, 5.0]), series(&[12.0, 14.0, 16.0, 18.0, 20.0]));
        let estimate = one.against(&other).expect("both have rounds");
        assert!((estimate.mean - 13.0).abs() < 1e-12 && (estimate.error.expect("two") - 2.5_f64.sqrt()).abs() < 1e-12);
        assert!((estimate.degrees - 100.0 / 17.0).abs() < 1e-9, "{estimate:?}");
        // The quantile of 5.882 degrees lies between those of five and six, 2.571 and 2.447.
        let half = estimate.half_width(0.95).expect("a width") / 2.5_f64.sqrt();
        assert!((2.447..2.571).contains(&half), "{half}");
        // The other way around it is as far below.
        assert_eq!(other.against(&one).map(|estimate| estimate.mean), Some(-13.0));
        assert_eq!(one.against(&Series::default()), None);
        let alone = one.against(&series(&[9.0])).expect("both have rounds");
        assert_eq!((alone.error, alone.chance(), alone.judged(0.95, MARGIN).verdict), (None, 1.0, Decision::Undecided));
    }

    /// Equal spreads of equal counts have all degrees that there are; where one side has none, those of the other.
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
            let [one, other] = [rounds(first, 5.0), rounds(second, 6.0)].map(|logs| Series { logs, idle: 0 });
            judge_estimates(&[one.against(&other).expect("rounds")], MARGIN)[0].verdict
        };
        assert_eq!((verdict(5, 5), verdict(4, 20)), (Decision::SecondFaster, Decision::Undecided));
        let exact = |ratio: f64| {
            let (one, other) = (series(&[0.0]), series(&[ratio.ln()]));
            one.against(&other).expect("rounds").without_chance().judged(1.0, MARGIN)
        };
        assert_eq!(
            [0.9, 1.0, 1.02, 1.2].map(|ratio| exact(ratio).verdict),
            [Decision::FirstFaster, Decision::Same, Decision::Same, Decision::SecondFaster]
        );
        assert!(exact(1.2).matters && exact(1.2).low == exact(1.2).high);
    }

    /// Spread by 0.1 and 0.02 each: half the width is to be half of the margin of 5 %, 0.0244.
    #[test]
    fn as_many_rounds_are_foretold_as_the_interval_needs() {
        let rounds = |mean: f64, spread: f64| series(&[mean - spread, mean + spread, mean - spread, mean + spread]);
        let (one, other) = (rounds(1.0, 0.1), rounds(1.0, 0.02));
        let needed = one.needed(&other, 0.95, MARGIN).expect("patience");
        // With so many the quantile is nearly 2: 4 * (0.01333 + 0.00053) / 0.0244^2 = 93.
        assert!((85..=100).contains(&needed), "{needed}");
        assert_eq!(one.needed(&one, 0.95, 1e-9), None);
        assert_eq!(rounds(1.0, 0.0).needed(&rounds(1.0, 0.0), 0.95, MARGIN), Some(LEAST_APART));
    }
}
