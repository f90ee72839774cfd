//! Converts values to positions on an axis, and chooses the labels of the axis.

use units::Bytes;

/// An axis: linear from zero, or logarithmic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Scale {
    /// From zero to this value.
    Linear(f64),
    /// From the first to the second value, both above zero.
    Log(f64, f64),
}

/// The smallest ratio of the ends of a logarithmic axis.
const LEAST_RATIO: f64 = 1.2;

impl Scale {
    /// An axis from zero to the largest of the values.
    pub(super) fn linear(values: impl IntoIterator<Item = f64>) -> Scale {
        let largest = values.into_iter().filter(|value| value.is_finite()).fold(0.0, f64::max);
        Scale::Linear(if largest > 0.0 { largest } else { 1.0 })
    }

    /// An axis from zero to a round number above the largest value. `most` is the most ticks.
    pub(super) fn round(values: impl IntoIterator<Item = f64>, most: usize) -> Scale {
        match Scale::linear(values) {
            Scale::Linear(largest) => Scale::Linear((largest / step(largest, most)).ceil() * step(largest, most)),
            log => log,
        }
    }

    /// A logarithmic axis from the smallest to the largest of the values above zero, and a twentieth more on both
    /// sides. `None` if no value is above zero.
    pub(super) fn log(values: impl IntoIterator<Item = f64>) -> Option<Scale> {
        let positive = values.into_iter().filter(|value| value.is_normal() && *value > 0.0);
        let (low, high) =
            positive.fold((f64::INFINITY, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
        if high <= 0.0 {
            return None;
        }
        let beyond = (high / low).max(LEAST_RATIO).powf(0.05);
        let (low, high) = (low / beyond, high * beyond);
        (low.is_normal() && high.is_finite()).then_some(Scale::Log(low, high))
    }

    /// Returns the position of a value, from 0 to 1. A value off the axis is at its end.
    pub(super) fn share(&self, value: f64) -> f64 {
        let share = match *self {
            Scale::Linear(high) => value / high,
            Scale::Log(low, high) => (value / low).ln() / (high / low).ln(),
        };
        if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) }
    }

    /// True if a value is beyond the upper end.
    pub(super) fn is_beyond(&self, value: f64) -> bool {
        let (Scale::Linear(high) | Scale::Log(_, high)) = *self;
        value > high * (1.0 + 1e-9)
    }

    /// Returns round values on the axis, about `most` at most.
    pub(super) fn ticks(&self, most: usize) -> Vec<f64> {
        match *self {
            Scale::Linear(high) => {
                let step = step(high, most);
                let count = (high / step * (1.0 + 1e-9)).floor() as u32;
                (0..=count).map(|index| exact(f64::from(index) * step)).collect()
            }
            Scale::Log(low, high) => {
                let (first, last) = (low.log10().ceil() as i32, high.log10().floor() as i32);
                let every = ((last - first + 1).max(1) as usize).div_ceil(most.max(1)).max(1);
                let decades = (first..=last).step_by(every).map(|power| 10f64.powi(power));
                let mut ticks: Vec<f64> = decades.collect();
                if ticks.len() < 3 && every == 1 {
                    let between =
                        (first - 1..=last).flat_map(|power| [5.0, 2.0].map(|times| times * 10f64.powi(power)));
                    ticks.extend(between.filter(|tick| (low..=high).contains(tick)).map(exact));
                }
                ticks
            }
        }
    }
}

/// Returns the smallest step of 1, 2 or 5 times a power of ten that divides the axis into at most `most` parts.
fn step(high: f64, most: usize) -> f64 {
    let rough = high / most.max(1) as f64;
    let power = 10f64.powi(rough.log10().floor() as i32);
    let round = [1.0, 2.0, 5.0, 10.0].map(|times| times * power);
    let found = round.into_iter().find(|step| *step >= rough * (1.0 - 1e-9)).unwrap_or(high);
    if found.is_normal() { found } else { high }
}

/// Removes the rounding errors of floating-point sums.
fn exact(value: f64) -> f64 {
    format!("{value:.9e}").parse().unwrap_or(value)
}

/// A number on an axis: `0.25`, `1500`, `20k`, `2.5M`.
pub(super) fn number(value: f64) -> String {
    match value.abs() {
        size if size >= 1e9 => format!("{}G", exact(value / 1e9)),
        size if size >= 1e6 => format!("{}M", exact(value / 1e6)),
        size if size >= 1e4 => format!("{}k", exact(value / 1e3)),
        size if size > 0.0 && size < 1e-3 => format!("{value:e}"),
        _ => exact(value).to_string(),
    }
}

/// A time on an axis, from nanoseconds: `20 us`, `1 ms`.
pub(super) fn time(nanos: f64) -> String {
    let (size, unit) = match nanos {
        nanos if nanos < 1e3 => (1.0, "ns"),
        nanos if nanos < 1e6 => (1e3, "us"),
        nanos if nanos < 1e9 => (1e6, "ms"),
        _ => (1e9, "s"),
    };
    format!("{} {unit}", number(exact(nanos / size)))
}

/// A number of seconds on an axis from zero.
pub(super) fn seconds(seconds: f64) -> String {
    if seconds == 0.0 { "0".to_owned() } else { time(1e9 * seconds) }
}

/// A number of bytes on an axis.
pub(super) fn bytes(bytes: f64) -> String {
    Bytes(bytes as u64).to_string()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(Scale::Linear(1515.0).ticks(4), [0.0, 500.0, 1000.0, 1500.0]);
        assert_eq!(Scale::Linear(0.64).ticks(4), [0.0, 0.2, 0.4, 0.6]);
        assert_eq!(Scale::round([0.64], 4), Scale::Linear(0.8));
        assert_eq!(Scale::Log(900.0, 2e7).ticks(5), [1e3, 1e4, 1e5, 1e6, 1e7]);
        assert_eq!(Scale::Log(90.0, 2e9).ticks(5), [1e2, 1e4, 1e6, 1e8]);
        assert_eq!(Scale::Log(1.5, 22.0).ticks(5), [10.0, 5.0, 2.0, 20.0]);
    }

    #[test]
    fn labels_are_short() {
        assert_eq!([0.0, 0.25, 1500.0, 20_000.0, 2.5e6].map(number), ["0", "0.25", "1500", "20k", "2.5M"]);
        assert_eq!([100.0, 1e3, 2e4, 5e6, 1e10].map(time), ["100 ns", "1 us", "20 us", "5 ms", "10 s"]);
        assert_eq!([0.0, 0.02, 0.5, 2.0].map(seconds), ["0", "20 ms", "500 ms", "2 s"]);
        assert_eq!(bytes(4096.0), "4 KiB");
    }

    #[test]
    fn what_is_no_value_has_no_axis_or_stands_at_its_end() {
        assert_eq!(Scale::log([0.0, -1.0, f64::NAN]), None);
        assert_eq!(Scale::linear([f64::NAN, f64::INFINITY, -3.0]), Scale::Linear(1.0));
        let log = Scale::log([5.0]).expect("an axis");
        assert!((log.share(5.0) - 0.5).abs() < 1e-9);
        assert_eq!([log.share(0.0), log.share(f64::INFINITY), log.share(f64::NAN)], [0.0, 1.0, 0.0]);
    }

    proptest! {
        #[test]
        fn every_axis_has_ticks_that_lie_on_it(
            values in prop::collection::vec(1e-9..1e15f64, 1..8), most in 1usize..8,
        ) {
            let linear = Scale::round(values.clone(), most);
            let ticks = linear.ticks(most);
            prop_assert!((2..=most + 2).contains(&ticks.len()), "{:?} {:?}", linear, ticks);
            let log = Scale::log(values.clone()).expect("an axis");
            prop_assert!(log.ticks(most).len() <= most.max(10));
            for scale in [linear, log] {
                for value in scale.ticks(most).iter().chain(&values) {
                    let share = scale.share(*value);
                    prop_assert!((0.0..=1.0).contains(&share));
                }
                prop_assert!(scale.share(values[0]) <= scale.share(values[0] * 1.5));
            }
        }
    }
}
