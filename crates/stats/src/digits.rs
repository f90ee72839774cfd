//! Numbers as text: rounded to significant digits, with commas between thousands.

use units::whole;

/// Prints `digits` significant digits, with commas between thousands: `1,240`, `12.4`, `0.00312`. A value that is not
/// finite is `n.m.`.
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

/// Prints `digits` significant digits and at most `most_decimals` decimals, without commas: `12140`, `7.860`.
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

/// Rounds the value to `digits` significant digits. Returns it with the number of its decimals, counted after rounding:
/// 9.9996 becomes 10.00, not 10.000. The value must not be zero.
fn rounded(value: f64, digits: i32) -> (f64, i32) {
    let decimals = |value: f64| digits - 1 - value.abs().log10().floor() as i32;
    let scale = 10f64.powi(decimals(value));
    let rounded = (value * scale).round() / scale;
    (rounded, decimals(rounded))
}

fn grouped(value: f64) -> String {
    // Round, do not truncate: seventeen divided by a hundred-thousandth is a little less than 1,700,000.
    let text = whole(value.abs().round() as u64);
    if value < 0.0 { format!("-{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

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
