//! Figures of a sample: mean, variance, and the quantile of Student's t distribution.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// Returns the mean; NaN without values.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Returns the sample variance, or `None` below two values.
pub fn variance(values: &[f64]) -> Option<f64> {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (values.len() >= 2).then(|| squares / (values.len() - 1) as f64)
}

/// Returns the distribution of Student's t, or `None` if there are no degrees of freedom.
pub fn student(degrees: f64) -> Option<StudentsT> {
    StudentsT::new(0.0, 1.0, degrees).ok()
}

/// Returns the size of `t` that chance exceeds on both sides together with a probability of one less the confidence.
pub fn quantile(degrees: f64, confidence: f64) -> Option<f64> {
    Some(student(degrees)?.inverse_cdf(0.5 + confidence / 2.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_both_sides() {
        assert!((quantile(4.0, 0.95).expect("degrees") - 2.776).abs() < 1e-3);
        assert_eq!(quantile(0.0, 0.95), None);
        assert_eq!((mean(&[1.0, 2.0, 6.0]), variance(&[1.0, 2.0, 6.0]), variance(&[1.0])), (3.0, Some(7.0), None));
    }
}
