//! Rates, with only as many digits as their intervals support.

use stats::Rate;
use stats::digits::significant;

use crate::display_names::unit;

/// Returns a rate with the digits that its interval supports, without its unit.
pub fn supported(rate: &Rate) -> String {
    significant(rate.value, supported_digits(rate))
}

/// The unit of a rate if a command is run: runs per second.
pub const RUNS: &str = "runs/s";

/// Returns a rate with its unit, as in tables. Runs of a command get the time per run.
pub fn figure(rate: &Rate) -> String {
    if rate.unit == RUNS {
        return format!("{}/run", time_each(rate.per_second, supported_digits(rate)));
    }
    format!("{} {}", supported(rate), unit(&rate.unit))
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
    let half = rate.high.map(|high| high - rate.per_second).filter(|half| *half > 0.0);
    let place = |value: f64| value.abs().log10().floor() as i32;
    half.filter(|_| rate.per_second > 0.0).map_or(3, |half| (place(rate.per_second) - place(half) + 1).clamp(2, 3))
}

/// Returns half the width of the interval, in percent of the rate; `None` if the rate has no interval or is zero.
pub fn half_width(rate: &Rate) -> Option<f64> {
    rate.high.filter(|_| rate.per_second > 0.0).map(|high| 100.0 * (high - rate.per_second) / rate.per_second)
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
    use stats::RateBase;

    use super::*;

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
        };
        assert_eq!(interval(&rate(0.0, Some(0.0))), None);
        assert_eq!(interval(&rate(0.0, Some(3.0))), None);
        assert_eq!(in_unit_of(&rate(0.0, None), 0.0), 0.0);
        assert_eq!(interval(&rate(10.0, Some(11.0))).as_deref(), Some("10 %"));
        assert_eq!(interval(&rate(10.0, Some(21.0))).as_deref(), Some(">100 %"));
        assert_eq!(in_unit_of(&rate(10.0, None), 3.0), 6.0);
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
