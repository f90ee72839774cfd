//! Rates, with only as many digits as their intervals support.

use stats::digits::significant;
use stats::figures::rate::{RUNS, half, half_width, range_if_vague};
use stats::{Cell, Rate};

use crate::display_names::unit;

/// Returns a rate with the digits that its interval supports, without its unit.
pub fn supported(rate: &Rate) -> String {
    significant(rate.value, supported_digits(rate))
}

/// Returns a rate with its unit, as in tables. Runs of a command get the time per run.
pub fn figure(rate: &Rate) -> String {
    with_digits(rate, supported_digits(rate))
}

/// The digits of a rate next to a ratio. The rounds of two targets share much of their noise, so their ratio is known
/// more exactly than each rate: with fewer digits, the printed rates would have another ratio.
const BESIDE_RATIO: i32 = 3;

/// Returns a rate with its unit, with the digits that its ratio to another one needs; or its range.
pub fn beside_ratio(rate: &Rate) -> String {
    rate.range.map_or_else(|| with_digits(rate, BESIDE_RATIO), |ends| with_unit_of_range(rate, ends))
}

/// Returns the same without the unit.
pub fn value_beside_ratio(rate: &Rate) -> String {
    rate.range.map_or_else(|| significant(rate.value, BESIDE_RATIO), |ends| between(rate, ends))
}

/// Returns a part of a rate, or one of its rounds, in the same unit and with as many digits.
pub(crate) fn part_of(rate: &Rate, per_second: f64) -> String {
    let part = Rate { per_second, value: in_unit_of(rate, per_second), ..rate.clone() };
    with_digits(&part, supported_digits(rate))
}

fn with_digits(rate: &Rate, digits: i32) -> String {
    if rate.unit == RUNS {
        return format!("{}/run", time_each(rate.per_second, digits));
    }
    format!("{} {}", significant(rate.value, digits), unit(&rate.unit))
}

/// Returns the rate of a cell with its unit, as in tables. If its interval is wider than ±50 %, returns the range of
/// the rounds. A few outliers do not widen it that much: it is the interval of the trimmed mean.
pub fn figure_of(cell: &Cell) -> Option<String> {
    let rate = cell.rate.as_ref()?;
    let range = range_if_vague(cell, rate, |_| true);
    Some(range.map_or_else(|| figure(rate), |ends| with_unit_of_range(rate, ends)))
}

/// Returns the rate of a cell without its unit, by the same rule.
pub fn supported_of(cell: &Cell) -> Option<String> {
    let rate = cell.rate.as_ref()?;
    let range = range_if_vague(cell, rate, |_| true);
    Some(range.map_or_else(|| supported(rate), |ends| between(rate, ends)))
}

/// `120-940`: the rates of the slowest and the fastest round, in the unit of the rate.
fn between(rate: &Rate, ends: [f64; 2]) -> String {
    ends.map(|end| significant(in_unit_of(rate, end), 3)).join("-")
}

/// `120-940 MiB/s`: the slowest and the fastest round.
fn with_unit_of_range(rate: &Rate, [slowest, fastest]: [f64; 2]) -> String {
    if rate.unit == RUNS {
        let digits = supported_digits(rate);
        return format!("{}-{}/run", time_each(fastest, digits), time_each(slowest, digits));
    }
    format!("{} {}", between(rate, [slowest, fastest]), unit(&rate.unit))
}

/// Returns the time of one run as text, from runs per second.
pub fn time_each(per_second: f64, digits: i32) -> String {
    let seconds = 1.0 / per_second;
    let (value, unit) = match seconds {
        long if long >= 1.0 => (long, "s"),
        short if short >= 1e-3 => (1e3 * short, "ms"),
        short => (1e6 * short, "us"),
    };
    format!("{} {unit}", significant(value, digits))
}

/// Returns the number of digits that the rate's interval supports: the last digit has at least the place value of the
/// first digit of half the interval. At least two, so that the rounding does not hide anything; at most three, and
/// three if there is no interval.
pub fn supported_digits(rate: &Rate) -> i32 {
    let half = half(rate).filter(|half| *half > 0.0);
    let place = |value: f64| value.abs().log10().floor() as i32;
    half.map_or(3, |half| (place(rate.per_second) - place(half) + 1).clamp(2, 3))
}

/// Half the width of the interval in words; `None` as for [`half_width`].
pub fn interval(rate: &Rate) -> Option<String> {
    // The interval includes zero if it is wider than the rate.
    half_width(rate).map(|half| if half > 100.0 { ">100 %".to_owned() } else { format!("{half:.0} %") })
}

/// Converts units per second into the unit of a rate.
pub fn in_unit_of(rate: &Rate, per_second: f64) -> f64 {
    // All clocks of a phase count the same units: a rate of zero is zero by each.
    if rate.per_second > 0.0 { per_second * rate.value / rate.per_second } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use stats::figures::rate::{Average, rate};
    use stats::figures::summary::RateUnit;
    use stats::{ClockKind, Provenance, RateBase, Round};

    use super::*;

    /// A cell with this many operations per second in each round.
    fn cell(rates: &[u64], unit: &'static str, average: Average) -> Cell {
        let round = |ops: &u64| Round { ops: *ops, returned_s: 1.0, ..Round::default() };
        let rounds: Vec<Round> = rates.iter().map(round).collect();
        let of = (RateBase::Ops, ClockKind::Returned);
        let rate = rate(&rounds, false, of, RateUnit { name: unit, size: 1.0 }, average);
        Cell { rate, rounds, ..Cell::named(Provenance::Measured, "quick", "smallfb", "delete", ".") }
    }

    #[test]
    fn rounds_that_differ_much_are_printed_as_their_range() {
        let files = |rates: &[u64]| cell(rates, "files/sec", Average::Mean);
        let wide = files(&[50_171, 6707, 21_000, 6725, 35_000]);
        assert_eq!(figure_of(&wide).as_deref(), Some("6,710-50,200 files/s"));
        assert_eq!(figure_of(&files(&[6707, 6373, 6725, 6500])).as_deref(), Some("6,600 files/s"));
        let simulated = Cell { provenance: Provenance::Simulated, ..wide };
        assert_eq!(figure_of(&simulated), simulated.rate.as_ref().map(figure));
        let runs = cell(&[1, 10, 1], RUNS, Average::Mean);
        assert_eq!(figure_of(&runs).as_deref(), Some("100 ms-1.0 s/run"));
        assert_eq!(figure_of(&Cell::named(Provenance::Measured, "quick", "commit", "commit", ".")), None);
        // The same in tables without units, and next to ratios.
        let wide = files(&[50_171, 6707, 21_000, 6725, 35_000]);
        assert_eq!(supported_of(&wide).as_deref(), Some("6,710-50,200"));
        let mean = stats::figures::rate::beside_ratio(&wide, wide.rate.as_ref().expect("a rate"), |_| true);
        let mean = mean.expect("a rate");
        assert_eq!(beside_ratio(&mean), "6,710-50,200 files/s");
        assert_eq!(value_beside_ratio(&mean), "6,710-50,200");
        assert_eq!(value_beside_ratio(&Rate { range: None, value: 12_345.0, ..mean }), "12,300");
    }

    /// The rounds of smallfb delete in a recorded run: the trimmed mean is known well enough to be printed.
    #[test]
    fn one_outlier_does_not_replace_the_figure_by_a_range() {
        let delete = cell(&[50_171, 6707, 6373, 6725, 6500], "files/sec", Average::Trimmed);
        assert_eq!(figure_of(&delete).as_deref(), Some("6,600 files/s"));
    }

    #[test]
    fn of_runs_it_is_said_how_long_one_takes() {
        assert_eq!(
            [0.8, 0.0125, 320.0, 1e5].map(|rate| time_each(rate, 3)),
            ["1.25 s", "80.0 s", "3.13 ms", "10.0 us"]
        );
    }

    #[test]
    fn a_rate_of_zero_has_no_relative_interval() {
        let rate = |per_second: f64, high: Option<f64>| Rate {
            per_second,
            base: RateBase::Ops,
            value: 2.0 * per_second,
            unit: "ops/sec".to_owned(),
            low: None,
            high,
            confidence: 0.95,
            rounds: 5,
            range: None,
        };
        assert_eq!(interval(&rate(0.0, Some(0.0))), None);
        assert_eq!(interval(&rate(0.0, Some(3.0))), None);
        assert_eq!(in_unit_of(&rate(0.0, None), 0.0), 0.0);
        assert_eq!(interval(&rate(10.0, Some(11.0))).as_deref(), Some("10 %"));
        assert_eq!(interval(&rate(10.0, Some(21.0))).as_deref(), Some(">100 %"));
        assert_eq!(in_unit_of(&rate(10.0, None), 3.0), 6.0);
    }

    /// A run takes 2 s ± 25 %: 0.4 to 0.667 runs per second.
    #[test]
    fn the_interval_of_a_run_is_that_of_its_time() {
        let rate = Rate {
            per_second: 0.5,
            base: RateBase::Ops,
            value: 0.5,
            unit: RUNS.to_owned(),
            low: Some(0.4),
            high: None,
            confidence: 0.95,
            rounds: 5,
            range: None,
        };
        assert_eq!((interval(&rate).as_deref(), figure(&rate).as_str()), (Some("25 %"), "2.0 s/run"));
        assert_eq!(beside_ratio(&rate), "2.00 s/run");
    }

    #[test]
    fn a_rate_has_the_digits_that_its_interval_supports() {
        let text = |per_second: f64, half: Option<f64>| {
            supported(&Rate {
                per_second,
                base: RateBase::Ops,
                value: per_second,
                unit: "ops/sec".to_owned(),
                low: half.map(|half| per_second - half),
                high: half.map(|half| per_second + half),
                confidence: 0.95,
                rounds: 5,
                range: None,
            })
        };
        assert_eq!(text(1240.0, Some(74.0)), "1,240");
        assert_eq!(text(1723.0, Some(757.0)), "1,700");
        assert_eq!(text(653.0, Some(253.0)), "650");
        assert_eq!(text(34.31, Some(0.7)), "34.3");
        assert_eq!(text(34.31, Some(0.0001)), "34.3");
        assert_eq!(text(12_345.0, None), "12,300");
        assert_eq!(text(12_345.0, Some(0.0)), "12,300");
        assert_eq!(text(0.0, Some(1.0)), "0");
    }
}
