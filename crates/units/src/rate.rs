//! Amounts per second: the only place where finished integers become a float.

use crate::Nanos;

/// Divides `amount` by the elapsed time in seconds. Returns `None` if the time is zero.
pub fn per_second(amount: u64, elapsed: Nanos) -> Option<f64> {
    (elapsed > Nanos::ZERO).then(|| amount as f64 / elapsed.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_time_gives_no_rate() {
        assert_eq!(per_second(8 << 20, Nanos::from_secs(2)), Some(4_194_304.0));
        assert_eq!(per_second(8 << 20, Nanos::ZERO), None);
    }
}
