//! Durations in words.

use units::Nanos;

/// Formats a duration with as many digits as a forecast deserves: `350 ms`, `42 s`, `13 min`, `1 h 05 min`, `112 h`.
pub fn about(span: Nanos) -> String {
    let seconds = span.as_secs_f64();
    let minutes = (seconds / 60.0).round() as u64;
    match seconds {
        s if s < 1.0 => span.to_string(),
        s if s < 89.5 => format!("{s:.0} s"),
        _ if minutes < 90 => format!("{minutes} min"),
        _ if minutes < 100 * 60 => format!("{} h {:02} min", minutes / 60, minutes % 60),
        _ => format!("{} h", minutes / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forecasts_are_rounded_to_few_digits() {
        for (millis, text) in [
            (350, "350 ms"),
            (41_700, "42 s"),
            (100_000, "2 min"),
            (780_000, "13 min"),
            (5_640_000, "1 h 34 min"),
            (403_200_000, "112 h"),
        ] {
            assert_eq!(about(Nanos::from_millis(millis)), text);
        }
    }
}
