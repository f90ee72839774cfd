//! Verdicts on setups with a known true difference: random rounds from a printed seed, with known noise. `cargo xtask
//! prove` runs more comparisons.

use std::env;

use stats::inference::ratio_test::{Judged, LEAST_APART, LEAST_PAIRS, MARGIN, Pairs, Series, judge, judge_estimates};
use stats::inference::verdict::Verdict;
use units::Prng;

/// The environment variable with the number of comparisons.
const COMPARISONS: &str = "DISKPERF_COMPARISONS";

/// Default number of comparisons: enough to distinguish a rate of 5 % from 10 %.
const USUAL: usize = 400;

/// Standard deviations of the logarithms of rates: noise that both setups of a round share, and noise of each setup.
/// Measured on a shared machine.
const COMMON: f64 = 0.30;
const OWN: f64 = 0.04;

/// Rounds of two setups, the second of which is faster by a known factor.
struct Rounds {
    chance: Prng,
    factor: f64,
}

impl Rounds {
    fn new(seed: u64, factor: f64) -> Rounds {
        Rounds { chance: Prng::new(seed), factor }
    }

    /// Returns a random number of the normal distribution (Box-Muller transform).
    fn normal(&mut self) -> f64 {
        let mut uniform = || (self.chance.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        let (one, other) = (1.0 - uniform(), uniform());
        (-2.0 * one.ln()).sqrt() * (std::f64::consts::TAU * other).cos()
    }

    /// Returns the rates of both setups in one round. Each has the noise of the round and its own.
    fn round(&mut self) -> (f64, f64) {
        let common = (COMMON * self.normal()).exp();
        let [first, second] = [0; 2].map(|_| common * (OWN * self.normal()).exp());
        (100.0 * first, 100.0 * self.factor * second)
    }

    /// Adds rounds until the rule ends the measuring, at most `most`. Returns their number and the judgement.
    fn decide(&mut self, most: usize) -> (usize, Judged) {
        let mut rates: Vec<(f64, f64)> = (1..LEAST_PAIRS).map(|_| self.round()).collect();
        loop {
            rates.push(self.round());
            let judged = judge(&[rates.iter().copied().collect::<Pairs>()], MARGIN)[0];
            if judged.is_narrow || rates.len() >= most {
                return (rates.len(), judged);
            }
        }
    }
}

/// Rounds of two setups measured one after the other: they share no noise, and each has its own number of rounds and
/// spread.
fn apart(seed: u64, factor: f64, setups: [(usize, f64); 2]) -> [Series; 2] {
    let mut chance = Rounds::new(seed, factor);
    let mut factors = [1.0, factor].into_iter();
    setups.map(|(rounds, spread)| {
        let factor = factors.next().expect("of each");
        (0..rounds).map(|_| 100.0 * factor * (spread * chance.normal()).exp()).collect()
    })
}

fn judged([one, other]: &[Series; 2]) -> Judged {
    judge_estimates(&[one.against(other).expect("rounds of both")], MARGIN)[0]
}

fn times() -> usize {
    env::var(COMPARISONS).map_or(USUAL, |times| times.parse().expect("a number"))
}

/// Returns the percentage of comparisons for which `says` is true, and prints it as a line of JSON.
fn percent(what: &str, most: usize, factor: f64, says: impl Fn(&Judged) -> bool) -> f64 {
    let times = times();
    let said = (0..times).filter(|&seed| says(&Rounds::new(seed as u64, factor).decide(most).1)).count();
    let percent = 100.0 * said as f64 / times as f64;
    println!("{{\"comparisons\": {times}, \"what\": \"{what}\", \"pairs\": {most}, \"said_percent\": {percent}}}");
    percent
}

/// True if a percentage measured in [`times`] comparisons is within three standard errors of the range.
fn can_be(percent: f64, (low, high): (f64, f64)) -> bool {
    let error = |true_percent: f64| 3.0 * (true_percent * (100.0 - true_percent) / times() as f64).sqrt();
    (low - error(low)..=high + error(high)).contains(&percent)
}

fn is_faster(judged: &Judged) -> bool {
    judged.verdict.is_difference()
}

#[test]
fn equal_setups_differ_as_often_as_the_confidence_predicts() {
    for most in [6, 8, 12, 20] {
        let false_ones = percent("equal, said to be faster", most, 1.0, is_faster);
        assert!(can_be(false_ones, (4.0, 6.0)), "{false_ones} % with {most} pairs");
    }
}

#[test]
fn a_difference_of_5_percent_is_found_within_20_pairs() {
    let found = percent("5 % faster, found", 20, 1.05, |judged| judged.verdict == Verdict::Faster);
    assert!(found >= 90.0, "{found} %");
}

#[test]
fn equal_setups_are_judged_equal_within_30_rounds() {
    let same = percent("equal, said to be the same", 30, 1.0, |judged| judged.verdict == Verdict::Same);
    assert!(same >= 90.0, "{same} %");
}

#[test]
fn a_difference_of_2_percent_does_not_matter() {
    for most in [6, 20, 30] {
        let reasons = percent("2 % faster, a reason to choose", most, 1.02, |judged| judged.matters);
        assert!(reasons == 0.0, "{reasons} % with {most} pairs");
    }
    // A difference above the margin is reported as a reason to choose.
    let reasons = percent("20 % faster, a reason to choose", 20, 1.2, |judged| judged.matters);
    assert!(reasons >= 90.0, "{reasons} %");
}

/// Ten programs are equal on both setups: at most one in twenty runs finds one that is faster.
#[test]
fn ten_programs_find_no_more_by_chance_than_one() {
    let times = times() / 4;
    let finds = |run: &usize| {
        let rounds = |program: usize| {
            let mut rounds = Rounds::new((10 * run + program) as u64 + 1_000_000, 1.0);
            (0..8).map(|_| rounds.round()).collect::<Pairs>()
        };
        judge(&(0..10).map(rounds).collect::<Vec<_>>(), MARGIN).iter().any(is_faster)
    };
    let percent = 100.0 * (0..times).filter(finds).count() as f64 / times as f64;
    println!(
        "{{\"comparisons\": {times}, \"what\": \"ten programs, all equal\", \"pairs\": 8, \"said_percent\": {percent}}}"
    );
    // A quarter of the comparisons: three standard errors of 5 % are twice as wide.
    assert!(percent <= 6.0 + 3.0 * (6.0 * 94.0 / times as f64).sqrt(), "{percent} %");
}

/// Two series with equal means, for several lengths and spreads.
#[test]
fn unpaired_equal_setups_differ_no_more_often() {
    let times = times();
    for setups in [
        [(LEAST_APART, COMMON); 2],
        [(12, COMMON); 2],
        [(LEAST_APART, COMMON), (20, COMMON)],
        [(LEAST_APART, OWN), (LEAST_APART, COMMON)],
        [(20, OWN), (6, COMMON)],
    ] {
        let is_false = |seed: &usize| is_faster(&judged(&apart(*seed as u64, 1.0, setups)));
        let percent = 100.0 * (0..times).filter(is_false).count() as f64 / times as f64;
        assert!(can_be(percent, (0.0, 5.5)), "{percent} % with {setups:?}");
    }
}

/// All cells of two runs are equal: at most one in twenty such comparisons finds one that is faster.
#[test]
fn ten_unpaired_programs_find_no_more_by_chance_than_one() {
    let times = times() / 4;
    let finds = |run: &usize| {
        let programs = (0..10).map(|program| apart((10 * run + program) as u64, 1.0, [(LEAST_APART, COMMON); 2]));
        let estimates: Vec<_> = programs.map(|[one, other]| one.against(&other).expect("rounds")).collect();
        judge_estimates(&estimates, MARGIN).iter().any(is_faster)
    };
    let percent = 100.0 * (0..times).filter(finds).count() as f64 / times as f64;
    assert!(percent <= 5.0 + 3.0 * (5.0 * 95.0 / times as f64).sqrt(), "{percent} %");
}

#[test]
fn quiet_machines_show_10_percent_in_8_and_equality_in_20_rounds() {
    let times = times() / 4;
    let said = |factor: f64, rounds: usize, verdict: Verdict| {
        let is_said = |seed: &usize| judged(&apart(*seed as u64, factor, [(rounds, OWN); 2])).verdict == verdict;
        100.0 * (0..times).filter(is_said).count() as f64 / times as f64
    };
    let (found, same) = (said(1.1, 8, Verdict::Faster), said(1.0, 20, Verdict::Same));
    assert!(found >= 90.0 && same >= 80.0, "{found} % found, {same} % the same");
}
