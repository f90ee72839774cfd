//! Numbers with the digits that mean something, and commas between thousands.

use stats::Rate;

use crate::words::unit;

/// So many significant digits, thousands set apart by commas: `1,240`, `12.4`, `0.00312`.
pub fn significant(value: f64, digits: i32) -> String {
    if !value.is_finite() {
        return "n.m.".to_owned();
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    let (rounded, decimals) = rounded(value, digits);
    if decimals > 0 { format!("{rounded:.*}", decimals as usize) } else { grouped(rounded) }
}

/// A rate with the digits that its interval supports.
pub fn supported(rate: &Rate) -> String {
    significant(rate.value, supported_digits(rate))
}

/// What is counted where a command is run: so many runs in a second.
pub const RUNS: &str = "runs/s";

/// A rate as a table has it. Of runs of a command it says how long one takes.
pub fn figure(rate: &Rate) -> String {
    if rate.unit == RUNS {
        return format!("{}/run", time_each(rate.per_second, supported_digits(rate)));
    }
    format!("{} {}", supported(rate), unit(&rate.unit))
}

/// How long one takes of so many in a second.
pub fn time_each(per_second: f64, digits: i32) -> String {
    let seconds = 1.0 / per_second;
    let (value, unit) = match seconds {
        long if long >= 1.0 => (long, "s"),
        short if short >= 1e-3 => (1e3 * short, "ms"),
        short => (1e6 * short, "us"),
    };
    format!("{} {unit}", significant(value, digits))
}

/// How many digits of a rate its interval supports: the last one is worth no less than the first of half the
/// interval. Two at least, so that no reader has to guess what was rounded away; three at most, and where there is no
/// interval.
pub fn supported_digits(rate: &Rate) -> i32 {
    let half = rate.high.map(|high| high - rate.per_second).filter(|half| *half > 0.0);
    let place = |value: f64| value.abs().log10().floor() as i32;
    half.filter(|_| rate.per_second > 0.0).map_or(3, |half| (place(rate.per_second) - place(half) + 1).clamp(2, 3))
}

/// So many significant digits and at most so many decimals, thousands not set apart: `12140`, `7.860`.
pub fn plain(value: f64, digits: i32, most_decimals: i32) -> String {
    if !value.is_finite() {
        return "n.m.".to_owned();
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    let (rounded, decimals) = rounded(value, digits);
    format!("{rounded:.*}", decimals.clamp(0, most_decimals) as usize)
}

/// The value rounded to so many significant digits, and how many of them are decimals: 9.9996 becomes 10.00,
/// not 10.000. Not for zero.
fn rounded(value: f64, digits: i32) -> (f64, i32) {
    let decimals = |value: f64| digits - 1 - value.abs().log10().floor() as i32;
    let scale = 10f64.powi(decimals(value));
    let rounded = (value * scale).round() / scale;
    (rounded, decimals(rounded))
}

fn grouped(value: f64) -> String {
    // To the nearest: seventeen divided by a hundred-thousandth is a little less than 1,700,000.
    let text = whole(value.abs().round() as u64);
    if value < 0.0 { format!("-{text}") } else { text }
}

/// A whole number with commas between thousands.
pub fn whole(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
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
    fn whole_numbers_keep_all_digits() {
        assert_eq!([0, 999, 1000, 100_000_000].map(whole), ["0", "999", "1,000", "100,000,000"]);
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

    #[test]
    fn digits_end_where_they_mean_nothing() {
        assert_eq!(significant(1239.7, 4), "1,240");
        assert_eq!(significant(12_345_678.0, 4), "12,350,000");
        assert_eq!(significant(1_700_000.0, 2), "1,700,000");
        assert_eq!(significant(12.4449, 3), "12.4");
        assert_eq!(significant(0.003_123, 3), "0.00312");
        assert_eq!(significant(0.0, 3), "0");
        assert_eq!(significant(f64::NAN, 3), "n.m.");
        assert_eq!(significant(9.9996, 4), "10.00");
        assert_eq!(significant(999.6, 3), "1,000");
    }

    #[test]
    fn plain_numbers_have_no_commas_and_end_with_the_clock() {
        assert_eq!(plain(39_168.530_436, 4, 9), "39170");
        assert_eq!(plain(7.86, 4, 9), "7.860");
        assert_eq!(plain(0.000_000_123_4, 4, 9), "0.000000123");
        assert_eq!(plain(1_890.0, 4, 9), "1890");
        assert_eq!(plain(0.0, 4, 9), "0");
    }
}
