use units::Prng;

use super::*;

fn points(rates: &[f64]) -> Vec<Point> {
    rates.iter().map(|&amount| Point { amount, seconds: 1.0 }).collect()
}

fn found(parts: &[Vec<f64>]) -> Vec<usize> {
    changes(&points(&parts.concat()))
}

/// A series without a change.
const NONE: [usize; 0] = [];

fn level(value: f64, count: usize) -> Vec<f64> {
    vec![value; count]
}

/// Noise with the standard deviation `size` and this correlation of neighbours, as factors.
pub(crate) struct Noise {
    prng: Prng,
    size: f64,
    correlation: f64,
    last: f64,
}

impl Noise {
    pub(crate) fn new(seed: u64, size: f64, correlation: f64) -> Noise {
        let mut noise = Noise { prng: Prng::new(seed), size, correlation, last: 0.0 };
        noise.last = noise.normal();
        noise
    }

    /// The sum of twelve uniform values is almost normal.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.prng.below(1 << 20) as f64 / f64::from(1 << 20)).sum::<f64>() - 6.0
    }

    pub(crate) fn at(&mut self, level: f64, count: usize) -> Vec<f64> {
        let next = |_| {
            let fresh = self.normal();
            self.last = self.correlation * self.last + (1.0 - self.correlation.powi(2)).sqrt() * fresh;
            level * (self.size * self.last).exp()
        };
        (0..count).map(next).collect()
    }
}

#[test]
fn more_than_a_fifth_that_lasts_three_points_is_a_change() {
    assert_eq!(found(&[level(100.0, 4), level(79.0, 3)]), [4]);
    assert_eq!(found(&[level(100.0, 4), level(127.0, 3)]), [4]);
    assert_eq!(found(&[level(100.0, 4), level(81.0, 3)]), NONE);
    assert_eq!(found(&[level(100.0, 4), level(50.0, 2)]), NONE, "two points");
    assert_eq!(found(&[level(100.0, 4), level(20.0, 2)]), [4], "two points, far below");
    assert_eq!(found(&[level(100.0, 4), level(20.0, 1)]), NONE, "one point");
    assert_eq!(found(&[level(100.0, 1), level(10.0, 5)]), NONE, "one point at the beginning");
    assert_eq!(found(&[level(100.0, 40)]), NONE);
    assert_eq!(found(&[Vec::new()]), NONE);
    assert_eq!(found(&[level(0.0, 20)]), NONE);
}

#[test]
fn a_rate_that_returns_was_disturbed() {
    for length in 1..10 {
        assert_eq!(found(&[level(100.0, 12), level(40.0, length), level(100.0, 12)]), NONE, "{length}");
    }
    assert_eq!(found(&[level(100.0, 6), level(20.0, 3), level(100.0, 6)]), NONE);
}

#[test]
fn two_changes_in_one_direction_are_three_regimes() {
    assert_eq!(found(&[level(1600.0, 10), level(200.0, 10), level(20.0, 20)]), [10, 20]);
    assert_eq!(found(&[level(20.0, 20), level(200.0, 10), level(1600.0, 10)]), [20, 30]);
}

#[test]
fn a_slope_is_no_change_and_neither_are_bursts_at_the_beginning_of_each_round() {
    let slope: Vec<f64> = (0..60).map(|index| 100.0 + f64::from(index)).collect();
    assert_eq!(found(&[slope]), NONE);
    let bursts = |fast: f64, period: usize| -> Vec<f64> {
        (0..40).map(|index| if index % period == 0 { fast } else { 100.0 }).collect()
    };
    assert_eq!(found(&[bursts(124.0, 4)]), NONE);
    assert_eq!(found(&[bursts(1000.0, 4)]), NONE);
    assert_eq!(found(&[bursts(1000.0, 2)]), NONE);
}

#[test]
fn a_stall_belongs_to_the_next_point() {
    let rates = [level(100.0, 6), level(0.0, 2), level(20.0, 6)].concat();
    assert_eq!(changes(&points(&rates)), [6]);
}

/// Fast for 700 MB of a minute that is otherwise slow: two quarters of a second of 240.
#[test]
fn a_short_burst_with_much_of_the_work_is_a_regime() {
    assert_eq!(found(&[vec![412.0, 290.0], level(5.0, 238)]), [2]);
    assert_eq!(found(&[vec![24.0, 18.0], level(5.0, 238)]), NONE, "a small part of the work");
    assert_eq!(found(&[level(5.0, 100), vec![412.0, 290.0], level(5.0, 138)]), NONE, "not at the beginning");
}

/// Lengths of series: rounds of `quick` and `choose`, quarters of a second of a minute.
const LENGTHS: [usize; 6] = [5, 6, 8, 12, 40, 240];

/// Independent noise, noise that resembles its neighbours, and almost a random walk.
const CORRELATIONS: [f64; 4] = [0.0, 0.5, 0.9, 0.97];

/// The combinations in which more than one of a hundred series has a change. `spoil` changes the noise.
fn false_alarms(spoil: fn(&mut Prng, &mut f64)) -> Vec<String> {
    let seeds = 600;
    let mut failed = Vec::new();
    for length in LENGTHS {
        for correlation in CORRELATIONS {
            for size in [0.05, 0.15, 0.4] {
                let is_found = |seed: &u64| {
                    let mut noise = Noise::new(*seed, size, correlation);
                    let mut rates = noise.at(100.0, length);
                    rates.iter_mut().for_each(|rate| spoil(&mut noise.prng, rate));
                    !found(&[rates]).is_empty()
                };
                let times = (1..=seeds).filter(is_found).count();
                if times > 6 {
                    failed.push(format!("{times}: {length} points, correlation {correlation}, spread {size}"));
                }
            }
        }
    }
    failed
}

#[test]
fn noise_is_a_change_in_at_most_one_of_a_hundred_series() {
    assert_eq!(false_alarms(|_, _| {}), Vec::<String>::new());
}

/// One rate in fifteen is a third, as after a stall.
#[test]
fn noise_with_stalls_is_a_change_in_at_most_one_of_a_hundred_series() {
    let stall = |prng: &mut Prng, rate: &mut f64| *rate /= if prng.below(15) == 0 { 3.0 } else { 1.0 };
    assert_eq!(false_alarms(stall), Vec::<String>::new());
}

/// An outlier in every place, and several of them.
#[test]
fn outliers_are_no_change() {
    let mut false_alarms = 0;
    for seed in 1..=300 {
        let mut rates = Noise::new(seed, 0.08, 0.3).at(100.0, 6 + (seed % 30) as usize);
        let at = (seed % rates.len() as u64) as usize;
        rates[at] *= if seed % 2 == 0 { 7.0 } else { 0.1 };
        if rates.len() > 20 {
            rates[(at + 7) % 20] *= 0.05;
        }
        false_alarms += u32::from(!changes(&points(&rates)).is_empty());
    }
    assert!(false_alarms <= 3, "{false_alarms} of 300");
}

/// A neighbour that takes a third to nine tenths of the device for a while, and leaves again.
#[test]
fn a_loud_neighbour_is_no_change() {
    let mut false_alarms = 0;
    for seed in 1..=300 {
        let mut noise = Noise::new(seed, 0.08, 0.3);
        let left = [0.66, 0.4, 0.1][(seed % 3) as usize];
        let rates = [noise.at(100.0, 10), noise.at(100.0 * left, 3 + (seed % 12) as usize), noise.at(100.0, 15)];
        false_alarms += u32::from(!found(&rates).is_empty());
    }
    assert!(false_alarms <= 3, "{false_alarms} of 300");
}

/// A change of this factor is found at its place, or one point next to it, in at least nine of ten series.
fn finds(factor: f64, (before, after): (usize, usize), (size, correlation): (f64, f64)) {
    let seeds = 100;
    let is_found = |seed: &u64| {
        let mut noise = Noise::new(*seed, size, correlation);
        let rates = [noise.at(100.0, before), noise.at(100.0 * factor, after)];
        matches!(found(&rates)[..], [at] if at.abs_diff(before) <= 1)
    };
    let times = (1..=seeds).filter(is_found).count();
    assert!(times >= 90, "{times} of {seeds}: {factor} after {before} of {}, spread {size}", before + after);
}

#[test]
fn a_used_up_credit_is_found() {
    for counts in [(3, 5), (4, 8), (10, 30), (100, 140)] {
        finds(0.1, counts, (0.1, 0.0));
        finds(0.1, counts, (0.1, 0.5));
    }
    finds(0.1, (2, 3), (0.05, 0.0));
    finds(0.1, (4, 200), (0.1, 0.5));
}

#[test]
fn half_the_rate_is_found_and_so_is_twice_the_rate() {
    for factor in [0.5, 2.0] {
        finds(factor, (4, 8), (0.05, 0.0));
        finds(factor, (10, 30), (0.1, 0.0));
        finds(factor, (10, 30), (0.07, 0.5));
        finds(factor, (60, 180), (0.15, 0.3));
    }
}
