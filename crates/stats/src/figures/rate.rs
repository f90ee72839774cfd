//! The rate of a cell: one figure for the rates of its rounds.
//!
//! Policy:
//!   1. The figure is the mean of the rounds' rates.
//!   2. For a command, it is the number of runs divided by their time: its inverse is the mean time of a run.
//!   3. If a few rounds are outliers, the figure is the trimmed mean, of the rates or of the times.
//!   4. A ratio is computed from logarithms, so the figures next to it are geometric means, of the same rounds: they
//!      have that ratio.
//!   5. A mean with an interval wider than ±50 % may be a rate that no round had. The range of the rounds is printed
//!      instead. Simulated rounds differ by design.

use workload::RateBase;

use crate::figures::summary::{CONFIDENCE, RateUnit, mean_and_half_width, rate_of, round_rate};
use crate::inference::outlier::trimmed_mean;
use crate::judge::marks::{Mark, MarkCode};
use crate::results::cell::{Cell, Rate};
use crate::results::clock::ClockKind;
use crate::results::round::Round;

/// The unit of the rate of a command: runs per second. Tables print the time of a run.
pub const RUNS: &str = "runs/s";

/// The average of several rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Average {
    /// The mean.
    Mean,
    /// The mean without the slowest and the fastest fifth, because some rounds are outliers.
    Trimmed,
}

impl Average {
    /// Returns the average of a result with these warnings.
    pub fn of_marks(marks: &[Mark]) -> Average {
        if marks.iter().any(|mark| mark.code == MarkCode::Outlier) { Average::Trimmed } else { Average::Mean }
    }

    /// Returns the average of these values, and half the width of its confidence interval.
    pub fn and_half_width(self, values: &[f64]) -> (f64, Option<f64>) {
        match self {
            Average::Mean => mean_and_half_width(values),
            Average::Trimmed => trimmed_mean(values),
        }
    }
}

/// Computes the rate of the kept rounds with its confidence interval. Returns `None` if there are no rounds, or if one
/// of them took no time.
pub fn rate<'a>(
    rounds: impl IntoIterator<Item = &'a Round>,
    together: bool,
    (base, clock): (RateBase, ClockKind),
    unit: RateUnit,
    average: Average,
) -> Option<Rate> {
    let rates: Option<Vec<f64>> = rounds.into_iter().map(|round| round_rate(round, together, base, clock)).collect();
    let rates = rates.filter(|rates| !rates.is_empty())?;
    let (per_second, low, high) =
        if unit.name == RUNS { from_times(&rates, average) } else { from_rates(&rates, average) };
    Some(Rate {
        per_second,
        base,
        value: per_second / unit.size,
        unit: unit.name.to_owned(),
        low,
        high,
        confidence: CONFIDENCE,
        rounds: rates.len() as u32,
        range: None,
    })
}

fn from_rates(rates: &[f64], average: Average) -> (f64, Option<f64>, Option<f64>) {
    // 1, 3
    let (mean, half) = average.and_half_width(rates);
    (mean, half.map(|half| (mean - half).max(0.0)), half.map(|half| mean + half))
}

fn from_times(rates: &[f64], average: Average) -> (f64, Option<f64>, Option<f64>) {
    // 2, 3
    let times: Vec<f64> = rates.iter().map(|rate| 1.0 / rate).collect();
    let (mean, half) = average.and_half_width(&times);
    // An interval of times that includes zero has no highest rate.
    let high = half.filter(|half| *half < mean).map(|half| 1.0 / (mean - half));
    (1.0 / mean, half.map(|half| 1.0 / (mean + half)), high)
}

/// Computes the rate of a cell to print next to a ratio: the geometric mean of the kept rounds for which `is_meant` is
/// true, in the unit of the given rate. The rounds have both bytes and operations, so the bases of both rates may
/// differ. If a round did no work, it has no logarithm and there is no ratio: then the result is the mean. Without
/// rounds, it is the rate of the cell.
pub fn beside_ratio(cell: &Cell, unit: &Rate, is_meant: impl Fn(u32) -> bool) -> Option<Rate> {
    // 4
    let own = cell.rate.as_ref()?;
    let rounds = cell.kept().filter(|round| is_meant(round.round));
    let rates: Vec<f64> = rounds.filter_map(|round| rate_of(cell, round, unit.base)).collect();
    let size = unit.per_second / unit.value;
    // A rate of zero does not show the size of its unit.
    if rates.is_empty() || !(size.is_finite() && size > 0.0) {
        return Some(own.clone());
    }
    let logs: Vec<f64> = rates.iter().map(|rate| rate.ln()).collect();
    let (per_second, low, high) = if logs.iter().all(|log| log.is_finite()) {
        let (mean, half) = mean_and_half_width(&logs);
        (mean.exp(), half.map(|half| (mean - half).exp()), half.map(|half| (mean + half).exp()))
    } else {
        from_rates(&rates, Average::Mean)
    };
    let rounds = rates.len() as u32;
    let rate = Rate { per_second, value: per_second / size, low, high, rounds, range: None, ..unit.clone() };
    Some(Rate { range: range_if_vague(cell, &rate, is_meant), ..rate })
}

/// Half the width of an interval, in percent, above which the mean says less than the rounds: the interval is then
/// wider than the rate itself.
const VAGUE: f64 = 50.0;

/// Returns the rates of the slowest and the fastest kept round that is meant, if the rate of these rounds has a wide
/// interval. In units of the rate's base per second.
pub fn range_if_vague(cell: &Cell, rate: &Rate, is_meant: impl Fn(u32) -> bool) -> Option<[f64; 2]> {
    // 5
    if cell.is_simulated() || half_width(rate).is_none_or(|half| half <= VAGUE) {
        return None;
    }
    let rounds = cell.kept().filter(|round| is_meant(round.round));
    let rates: Option<Vec<f64>> = rounds.map(|round| rate_of(cell, round, rate.base)).collect();
    let rates = rates?;
    let slowest = rates.iter().copied().min_by(f64::total_cmp)?;
    Some([slowest, rates.iter().copied().max_by(f64::total_cmp)?])
}

/// Returns half the width of the interval, in percent of the rate, or of the time of a run; `None` if the rate has no
/// interval or is zero.
pub fn half_width(rate: &Rate) -> Option<f64> {
    half(rate).map(|half| 100.0 * half / rate.per_second)
}

/// Returns half the width of the interval, in units of the base per second. For runs of a command, it is as large a
/// part of the rate as half the interval of the time is of the time.
pub fn half(rate: &Rate) -> Option<f64> {
    let Rate { per_second, low, high, .. } = rate;
    let half = match rate.unit.as_str() {
        // The longest time belongs to the lowest rate.
        RUNS => low.filter(|low| *low > 0.0).map(|low| per_second * (per_second / low - 1.0)),
        _ => high.map(|high| high - per_second),
    };
    half.filter(|_| *per_second > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::fixtures::cell;
    use crate::results::cell::Provenance;

    const KBYTES: RateUnit = RateUnit { name: "Kbytes/sec", size: 1024.0 };
    const RUNS_PER_SEC: RateUnit = RateUnit { name: RUNS, size: 1.0 };

    fn round(returned_s: f64) -> Round {
        Round { bytes: 8 << 20, ops: 1, returned_s, durable_s: Some(2.0 * returned_s), ..Round::default() }
    }

    fn of_bytes(rounds: &[Round], clock: ClockKind) -> Option<Rate> {
        rate(rounds, false, (RateBase::Bytes, clock), KBYTES, Average::Mean)
    }

    #[test]
    fn a_rate_follows_from_its_rounds_and_its_clock() {
        let rounds = [round(16.0), round(16.0)];
        let returned = of_bytes(&rounds, ClockKind::Returned).expect("a rate");
        assert_eq!((returned.value, returned.rounds), (512.0, 2));
        assert_eq!((returned.low, returned.high), (Some(524_288.0), Some(524_288.0)));
        assert_eq!(of_bytes(&rounds, ClockKind::Durable).map(|rate| rate.value), Some(256.0));
        assert_eq!(of_bytes(&[], ClockKind::Returned), None);
        assert_eq!(of_bytes(&[round(0.0)], ClockKind::Returned), None);
    }

    /// Runs of 1 s and 3 s take 2 s in the mean. The mean of their rates, 0.667 per second, would be 1.5 s.
    #[test]
    fn the_rate_of_a_command_is_the_inverse_of_its_mean_time() {
        let of_times = |times: &[f64], average| {
            let rounds: Vec<Round> = times.iter().map(|time| round(*time)).collect();
            rate(&rounds, false, (RateBase::Ops, ClockKind::Returned), RUNS_PER_SEC, average).expect("a rate")
        };
        let wide = of_times(&[1.0, 3.0], Average::Mean);
        assert_eq!((wide.per_second, wide.high), (0.5, None));
        assert!(wide.low.is_some_and(|low| low > 0.0));
        let narrow = of_times(&[1.9, 2.0, 2.1, 2.0], Average::Mean);
        let [low, high] = [narrow.low, narrow.high].map(|end| 1.0 / end.expect("an end"));
        assert!((low - 2.0 - (2.0 - high)).abs() < 1e-9, "{narrow:?}");
        assert!((of_times(&[2.0, 2.0, 2.0, 2.0, 60.0], Average::Trimmed).per_second - 0.5).abs() < 1e-12);
    }

    #[test]
    fn figures_beside_a_ratio_have_that_ratio() {
        let (first, second) = (cell("a", "read", &[100, 400, 50]), cell("b", "read", &[300, 200, 150]));
        let unit = first.rate.clone().expect("a rate");
        let mean = |cell: &Cell, last: u32| beside_ratio(cell, &unit, |round| round <= last).expect("a mean");
        let ratio = mean(&second, 3).value / mean(&first, 3).value;
        assert!((ratio - (3.0_f64 * 0.5 * 3.0).cbrt()).abs() < 1e-12, "{ratio}");
        assert!((mean(&first, 2).value - 200.0).abs() < 1e-9 && mean(&first, 2).rounds == 2);
        // A round without work has no logarithm.
        assert_eq!(mean(&cell("a", "read", &[100, 0]), 2).value, 50.0);
        assert_eq!(beside_ratio(&first, &unit, |_| false), Some(unit.clone()));
        // The range is that of the same rounds.
        assert_eq!(mean(&first, 3).range, Some([50.0, 400.0]));
        assert_eq!(mean(&cell("a", "read", &[100, 101, 99, 400]), 3).range, None);
        let simulated = Cell { provenance: Provenance::Simulated, ..first.clone() };
        assert_eq!(mean(&simulated, 3).range, None);
        assert_eq!(beside_ratio(&cell("a", "read", &[]), &unit, |_| true), None);
    }
}
