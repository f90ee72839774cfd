//! The range of a prediction, from the errors of earlier checks.
//!
//! The error of a check is the difference between the measured and the predicted time, as a share of the larger of two
//! times: that of the recorded run, and the predicted one. The recorded time counts because the replay keeps the
//! pauses of the recorded run, with their errors: if the other device takes a tenth of the time, an error of 2 % of the
//! recorded time is 20 % of the prediction. From the stored checks of two runs of `cargo xtask prove predict`, 31 of 32
//! ranges contain the measured time. With the factor between both times as the error, 25 did. This rule was chosen
//! after a look at these checks.
//!
//! If the next error is exchangeable with those of n checks, it is at most the k-th smallest of them with a probability
//! of k / (n + 1), whatever the distribution (Vovk et al., Algorithmic Learning in a Random World, 2005: conformal
//! prediction). So the range needs 9 checks before it can cover 90 %: then it is the largest error.

use super::PredictionCheck;

/// The share of predictions whose range contains the measured time.
pub const COVERAGE: f64 = 0.9;

/// The fewest checks with which a range can cover that share: n / (n + 1) is at least 0.9.
pub const LEAST_CHECKS: usize = 9;

/// The spread of the errors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The range is the prediction plus or minus this share of the larger time (recorded or predicted).
    pub share: f64,
    /// Number of checks.
    pub checks: usize,
}

/// There are too few checks for a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a 90 % range needs {LEAST_CHECKS} checks, and there are {0}")]
pub struct TooFewChecks(pub usize);

impl Spread {
    /// The range around a prediction from a run of `here` seconds.
    pub fn around(self, here: f64, predicted: f64) -> (f64, f64) {
        let error = self.share * here.max(predicted);
        ((predicted - error).max(0.0), predicted + error)
    }
}

/// The spread of the errors of those checks that count.
pub fn spread(checks: &[PredictionCheck]) -> Result<Spread, TooFewChecks> {
    let counted = checks.iter().filter(|check| check.elsewhere.is_none());
    let mut errors: Vec<f64> = counted.map(error).filter(|error| error.is_finite()).collect();
    errors.sort_by(f64::total_cmp);
    let count = errors.len();
    let place = (COVERAGE * (count + 1) as f64 - 1e-9).ceil() as usize;
    match errors.get(place.wrapping_sub(1)) {
        Some(share) if count >= LEAST_CHECKS => Ok(Spread { share: *share, checks: count }),
        _ => Err(TooFewChecks(count)),
    }
}

/// The error of a check; not finite if a time is missing.
fn error(check: &PredictionCheck) -> f64 {
    let times = [check.here_s, check.predicted_s, check.measured_s];
    if times.iter().any(|time| *time <= 0.0) {
        return f64::NAN;
    }
    (check.measured_s - check.predicted_s).abs() / check.here_s.max(check.predicted_s)
}

#[cfg(test)]
mod tests {
    use units::Prng;

    use super::*;

    fn check(ratio: f64) -> PredictionCheck {
        PredictionCheck {
            run: String::new(),
            measured_run: String::new(),
            made_unix_s: 0.0,
            program: String::new(),
            target: String::new(),
            device: String::new(),
            here_s: 1.0,
            predicted_s: 2.0,
            low_s: None,
            high_s: None,
            measured_s: 2.0 * ratio,
            elsewhere: None,
        }
    }

    #[test]
    fn nine_checks_give_their_largest_error() {
        let mut checks: Vec<PredictionCheck> = (0..8).map(|step| check(1.0 + f64::from(step) / 100.0)).collect();
        assert_eq!(spread(&checks), Err(TooFewChecks(8)));
        checks.push(check(0.75));
        let spread = spread(&checks).expect("nine checks");
        assert_eq!((spread.share, spread.checks, spread.around(1.0, 4.0)), (0.25, 9, (3.0, 5.0)));
    }

    #[test]
    fn an_error_of_the_recorded_run_widens_the_range_of_a_faster_device() {
        let slow = PredictionCheck { here_s: 20.0, measured_s: 4.0, ..check(1.0) };
        let spread = spread(&vec![slow; 9]).expect("nine checks");
        // 2 s of 20 s.
        assert_eq!(spread.share, 0.1);
        assert_eq!([spread.around(20.0, 8.0), spread.around(2.0, 8.0)], [(6.0, 10.0), (7.2, 8.8)]);
        assert_eq!(spread.around(20.0, 1.0), (0.0, 3.0));
    }

    #[test]
    fn with_more_checks_a_tenth_may_be_outside() {
        let checks: Vec<PredictionCheck> = (1..=19).map(|step| check(1.0 + f64::from(step))).collect();
        // The 18th of 19: 18 / 20 is 0.9.
        assert_eq!(spread(&checks).map(|spread| spread.share), Ok(18.0));
    }

    #[test]
    fn checks_without_a_time_are_left_out() {
        let mut checks = vec![check(1.1); 9];
        checks[0].predicted_s = 0.0;
        assert_eq!(spread(&checks), Err(TooFewChecks(8)));
    }

    #[test]
    fn checks_on_another_device_do_not_widen_the_range() {
        let mut checks = vec![check(1.1); 9];
        checks.push(PredictionCheck { elsewhere: Some("it ran on vdb".to_owned()), ..check(40.0) });
        assert_eq!(spread(&checks).map(|spread| spread.checks), Ok(9));
        assert!(spread(&checks).is_ok_and(|spread| spread.share < 0.2));
    }

    /// Random errors: nine tenths of the next ones are within the range.
    #[test]
    fn the_range_covers_nine_tenths() {
        let mut random = Prng::new(1);
        let mut next = || check(0.8 + random.below(4000) as f64 / 10_000.0);
        let (mut within, all) = (0, 4000);
        for _ in 0..all {
            let checks: Vec<PredictionCheck> = (0..12).map(|_| next()).collect();
            let (low, high) = spread(&checks).expect("enough checks").around(1.0, 2.0);
            within += usize::from((low..=high).contains(&next().measured_s));
        }
        let share = within as f64 / all as f64;
        assert!((0.89..0.95).contains(&share), "{share}");
    }
}
