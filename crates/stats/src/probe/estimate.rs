//! An estimate of a device's constant, or the reason why there is none.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

/// A constant with its bracket.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Estimate {
    /// The most likely value.
    pub value: f64,
    /// The lower end of the bracket.
    pub low: f64,
    /// The upper end of the bracket.
    pub high: f64,
    /// Number of samples behind it.
    pub samples: u32,
}

/// The reason why a constant is not measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NotMeasured {
    /// Too few samples.
    TooFew {
        /// Number of samples.
        samples: u32,
        /// Number that the estimator needs.
        needed: u32,
    },
    /// The first and the second half of the samples differ by this many percent.
    HalvesDisagree(f64),
    /// The bracket is this many percent of the value.
    Wide(f64),
    /// The probe waited for a CPU during this many percent of the time.
    CpuWait(f64),
    /// The measurement does not show the constant, for this reason.
    Hidden(&'static str),
}

/// The reason for no gate if more requests at once would be faster.
pub const BELOW_LIMIT: &str = "queue depth 32 does not reach the limit";

/// The reason for no gate if a bucket limited all requests.
pub const BUCKET_FIRST: &str = "a bucket limits first";

/// An estimate, or the reason why there is none.
pub type Measured = Result<Estimate, NotMeasured>;

/// The widest bracket, as a share of the value. Chosen: a prediction within 10 % needs constants within ±10 %.
pub const WIDEST: f64 = 0.2;

/// The largest difference between the halves of a measurement, as a share of the value. Chosen for the same reason.
pub const HALVES_DIFFER: f64 = 0.1;

/// The largest share of the time that a probe may wait for a CPU, in percent. The prototype's figures were wrong by a
/// quarter above it.
pub const MOST_CPU_WAIT: f64 = 10.0;

impl Estimate {
    /// The estimate, or a reason if its bracket is wider than `widest` of the value.
    pub fn checked(self, widest: f64) -> Measured {
        let width = (self.high - self.low) / self.value.abs();
        if width.is_nan() || width > widest { Err(NotMeasured::Wide(100.0 * width)) } else { Ok(self) }
    }

    /// The estimate in another unit.
    #[must_use]
    pub fn times(self, factor: f64) -> Estimate {
        let Estimate { value, low, high, samples } = self;
        Estimate { value: value * factor, low: low * factor, high: high * factor, samples }
    }

    /// The reciprocal: a rate becomes a time.
    #[must_use]
    pub fn reciprocal(self) -> Estimate {
        Estimate { value: 1.0 / self.value, low: 1.0 / self.high, high: 1.0 / self.low, samples: self.samples }
    }
}

impl fmt::Display for NotMeasured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotMeasured::TooFew { samples, needed } => write!(f, "{samples} samples, {needed} needed"),
            NotMeasured::HalvesDisagree(percent) => write!(f, "the halves differ by {percent:.0} %"),
            NotMeasured::Wide(percent) if percent.is_finite() => write!(f, "the bracket is {percent:.0} % wide"),
            NotMeasured::Wide(_) => f.write_str("the bracket includes zero"),
            NotMeasured::CpuWait(percent) => write!(f, "the probe waited for a CPU {percent:.0} % of the time"),
            NotMeasured::Hidden(why) => f.write_str(why),
        }
    }
}

/// Checks that two halves agree within this share of the first.
pub(crate) fn check_halves(first: f64, second: f64, most: f64) -> Result<(), NotMeasured> {
    let differ = if first == second { 0.0 } else { (second - first).abs() / first.abs().min(second.abs()) };
    if differ.is_nan() || differ > most { Err(NotMeasured::HalvesDisagree(100.0 * differ)) } else { Ok(()) }
}

/// Checks the number of samples.
pub(crate) fn check_samples(samples: usize, needed: u32) -> Result<(), NotMeasured> {
    let samples = samples as u32;
    if samples < needed { Err(NotMeasured::TooFew { samples, needed }) } else { Ok(()) }
}

/// The least-squares line through points: its value at zero, and its slope. `None` without two different x.
pub(crate) fn line(points: &[(f64, f64)]) -> Option<(f64, f64)> {
    let count = points.len() as f64;
    let x_mean = points.iter().map(|(x, _)| x).sum::<f64>() / count;
    let y_mean = points.iter().map(|(_, y)| y).sum::<f64>() / count;
    let squares: f64 = points.iter().map(|(x, _)| (x - x_mean).powi(2)).sum();
    let products: f64 = points.iter().map(|(x, y)| (x - x_mean) * (y - y_mean)).sum();
    (squares > 0.0).then(|| (y_mean - products / squares * x_mean, products / squares))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wide_bracket_is_not_an_estimate() {
        let estimate = Estimate { value: 100.0, low: 95.0, high: 105.0, samples: 9 };
        assert_eq!(estimate.checked(0.2), Ok(estimate));
        assert_eq!(estimate.checked(0.05), Err(NotMeasured::Wide(10.0)));
        assert!(Estimate { value: 0.0, low: 0.0, high: 0.0, samples: 9 }.checked(0.2).is_err());
        assert_eq!(estimate.times(2.0).low, 190.0);
        assert_eq!(estimate.reciprocal().low, 1.0 / 105.0);
    }

    #[test]
    fn a_line_goes_through_its_points() {
        assert_eq!(line(&[(0.0, 3.0), (2.0, 7.0), (4.0, 11.0)]), Some((3.0, 2.0)));
        assert_eq!(line(&[(1.0, 3.0), (1.0, 4.0)]), None);
    }
}
