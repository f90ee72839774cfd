//! Numbers as people read them: as many digits as mean something, thousands set apart.

/// So many significant digits, thousands set apart by commas: `1,240`, `12.4`, `0.00312`.
pub fn significant(value: f64, digits: i32) -> String {
    if !value.is_finite() {
        return "n.m.".to_owned();
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    let magnitude = value.abs().log10().floor() as i32;
    let decimals = digits - 1 - magnitude;
    let scale = 10f64.powi(decimals);
    let rounded = (value * scale).round() / scale;
    if decimals > 0 { format!("{rounded:.*}", decimals as usize) } else { grouped(rounded) }
}

fn grouped(value: f64) -> String {
    let text = whole(value.abs() as u64);
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
    use super::*;

    #[test]
    fn whole_numbers_keep_all_digits() {
        assert_eq!([0, 999, 1000, 100_000_000].map(whole), ["0", "999", "1,000", "100,000,000"]);
    }

    #[test]
    fn digits_end_where_they_mean_nothing() {
        assert_eq!(significant(1239.7, 4), "1,240");
        assert_eq!(significant(12_345_678.0, 4), "12,350,000");
        assert_eq!(significant(12.4449, 3), "12.4");
        assert_eq!(significant(0.003_123, 3), "0.00312");
        assert_eq!(significant(0.0, 3), "0");
        assert_eq!(significant(f64::NAN, 3), "n.m.");
    }
}
