//! The knee of a curve: the smallest value of a setting from which on more of it adds little.
//!
//! Policy. The ratio of two rates is between the ratios of the far ends of their intervals. All larger values are
//! compared, because a curve may fall and rise again.
//!   1. A curve of fewer than three values has no knee that its data could show.
//!   2. A rate without an interval, or with a warning for which it decides nothing, decides no knee.
//!   3. A value is enough if no larger value is more than 10 % faster, at the far ends of the intervals.
//!   4. A value is too small if a larger value is more than 10 % faster, at the near ends.
//!   5. The knee is the smallest value that is enough, if all smaller values are too small.
//!   6. If the smallest value is enough, there is no knee. If the last but one is too small, the rate still rises.
//!   7. In all other cases, the intervals are too wide: the knee is not decided.

use std::fmt;

/// The share by which more must be faster to count. Chosen: differences that a user would pay for, and wider than most
/// intervals of five rounds.
pub const MARGIN: f64 = 0.1;

/// The fewest values of a curve with a knee: one before it, the knee, and one behind it.
const FEWEST: usize = 3;

/// A point of a curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// The value of the setting.
    pub value: u64,
    /// The rate.
    pub rate: f64,
    /// The ends of its interval. `None` if it has none, or if the rate decides nothing.
    pub ends: Option<(f64, f64)>,
}

/// The answer about the knee of a curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Knee {
    /// The knee is at this value.
    At(u64),
    /// The smallest value is enough.
    None,
    /// The rate still rises at this value, the largest.
    Rises(u64),
    /// There are fewer than three values.
    Few,
    /// A rate has no interval, or a warning for which it decides nothing.
    NoInterval,
    /// The intervals are too wide.
    Wide,
}

/// The knee of a curve. The points are in ascending order of their values.
pub fn knee(points: &[Point]) -> Knee {
    // 1
    if points.len() < FEWEST {
        return Knee::Few;
    }
    // 2
    let ends: Option<Vec<(f64, f64)>> = points.iter().map(|point| point.ends.filter(|ends| ends.0 > 0.0)).collect();
    let Some(ends) = ends else { return Knee::NoInterval };
    let larger = |place: usize| ends[place + 1..].iter();
    // 3
    let is_enough = |place: usize| larger(place).all(|(_, high)| *high <= (1.0 + MARGIN) * ends[place].0);
    // 4
    let is_too_small = |place: usize| larger(place).any(|(low, _)| *low > (1.0 + MARGIN) * ends[place].1);
    let last = points.len() - 1;
    // 5 to 7
    match (0..last).find(|place| !is_too_small(*place)) {
        None => Knee::Rises(points[last].value),
        Some(place) if !is_enough(place) => Knee::Wide,
        Some(0) => Knee::None,
        Some(place) => Knee::At(points[place].value),
    }
}

impl Knee {
    /// The knee in words, as in `knee at 32`. `value` prints a value.
    pub fn words(self, value: impl Fn(u64) -> String) -> String {
        match self {
            Knee::At(at) => format!("knee at {}", value(at)),
            Knee::Rises(last) => format!("knee not decided: the rate still rises at {}", value(last)),
            other => other.to_string(),
        }
    }
}

impl fmt::Display for Knee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Knee::At(at) => return write!(f, "knee at {at}"),
            Knee::None => "no knee: no larger value is more than 10 % faster",
            Knee::Rises(last) => return write!(f, "knee not decided: the rate still rises at {last}"),
            Knee::Few => "knee not decided: fewer than 3 values",
            Knee::NoInterval => "knee not decided: a rate has no interval, or a warning",
            Knee::Wide => "knee not decided: the intervals are too wide",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A curve at 1, 2, 4 and so on. The intervals are this share wide on both sides.
    fn curve(rates: &[f64], share: f64) -> Vec<Point> {
        let ends = |rate: f64| Some((rate * (1.0 - share), rate * (1.0 + share)));
        let point = |(index, rate): (usize, &f64)| Point { value: 1 << index, rate: *rate, ends: ends(*rate) };
        rates.iter().enumerate().map(point).collect()
    }

    fn found(rates: &[f64], share: f64) -> Knee {
        knee(&curve(rates, share))
    }

    #[test]
    fn the_knee_is_the_first_value_that_is_enough() {
        assert_eq!(found(&[10.0, 20.0, 39.0, 60.0, 62.0, 61.0], 0.01), Knee::At(8));
        // Behind the knee, the rate may fall.
        assert_eq!(found(&[10.0, 20.0, 40.0, 30.0, 20.0], 0.01), Knee::At(4));
        // Small steps add up: the last value is 20 % faster than the third.
        assert_eq!(found(&[10.0, 20.0, 25.0, 27.0, 30.0], 0.001), Knee::Rises(16));
    }

    #[test]
    fn a_flat_or_rising_curve_has_no_knee() {
        assert_eq!(found(&[10.0, 10.5, 10.2], 0.01), Knee::None);
        assert_eq!(found(&[10.0, 5.0, 2.0], 0.01), Knee::None);
        assert_eq!(found(&[10.0, 20.0, 40.0], 0.01), Knee::Rises(4));
    }

    #[test]
    fn wide_intervals_decide_nothing() {
        assert_eq!(found(&[10.0, 20.0, 39.0, 60.0, 62.0], 0.1), Knee::Wide);
        // The second value is neither clearly too small nor clearly enough.
        assert_eq!(found(&[10.0, 55.0, 60.0, 60.0], 0.02), Knee::Wide);
        let mut points = curve(&[10.0, 20.0, 40.0, 41.0], 0.01);
        assert_eq!(knee(&points), Knee::At(4));
        points[3].ends = None;
        assert_eq!(knee(&points), Knee::NoInterval);
        assert_eq!(found(&[10.0, 20.0], 0.01), Knee::Few);
        assert_eq!(knee(&[]), Knee::Few);
    }

    #[test]
    fn an_answer_is_a_sentence() {
        let words = |knee: Knee| knee.words(|value| format!("{value} B"));
        assert_eq!(words(Knee::At(8)), "knee at 8 B");
        assert_eq!(words(Knee::Rises(8)), "knee not decided: the rate still rises at 8 B");
        assert_eq!(words(Knee::Wide), "knee not decided: the intervals are too wide");
    }
}
