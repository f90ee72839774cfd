//! Steady state of a rate, by the rule of the SNIA for devices, over the last rounds.
//!
//! Solid State Storage Performance Test Specification 2.0.1: a window has five rounds, x-4 to x. Its rates differ by at
//! most 20 % of their mean, and the regression line rises or falls by at most 10 % of the mean.

/// Number of rounds in a window.
pub const WINDOW: usize = 5;

/// Largest permitted range: the maximum minus the minimum, as a share of the mean.
pub const RANGE: f64 = 0.20;

/// Largest permitted change of the regression line from the first round of the window to the last, as a share of the
/// mean.
pub const EXCURSION: f64 = 0.10;

/// The largest number of rounds to wait for a steady state, as in public implementations of the specification.
pub const MOST_ROUNDS: u32 = 25;

/// The spread of the rates in a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Mean rate.
    pub mean: f64,
    /// Maximum minus minimum, as a share of the mean.
    pub range: f64,
    /// Change of the regression line over the window, as a share of the mean.
    pub excursion: f64,
}

/// Tolerance for floating point errors in comparisons of shares.
const ROUNDING: f64 = 1e-9;

impl Spread {
    /// Computes the spread of a window. Returns `None` if there are not exactly [`WINDOW`] rates, or if their mean is
    /// not a positive number.
    pub fn from_rates(rates: &[f64]) -> Option<Spread> {
        let count = WINDOW as f64;
        let mean = rates.iter().sum::<f64>() / count;
        if rates.len() != WINDOW || !mean.is_finite() || mean <= 0.0 {
            return None;
        }
        let (low, high) = rates.iter().fold((f64::INFINITY, 0.0_f64), |(low, high), &x| (low.min(x), high.max(x)));
        let middle = (count - 1.0) / 2.0;
        let from_middle = || (0..WINDOW).map(|index| index as f64 - middle);
        let slope = from_middle().zip(rates).map(|(x, rate)| x * (rate - mean)).sum::<f64>()
            / from_middle().map(|x| x * x).sum::<f64>();
        Some(Spread { mean, range: (high - low) / mean, excursion: (slope * (count - 1.0)).abs() / mean })
    }

    /// True if both conditions of the rule hold.
    pub fn is_steady(&self) -> bool {
        self.range <= RANGE + ROUNDING && self.excursion <= EXCURSION + ROUNDING
    }
}

/// The steadiness of one program's rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Settling {
    /// Fewer rounds than a window needs.
    TooFew,
    /// The last window is steady. The round, from 1, from whose end on all windows are steady.
    Since(usize, Spread),
    /// The last window is not steady.
    Not(Spread),
}

/// Judges the last window, so that rounds after a steady window count too. If earlier windows are also steady, the
/// result has the first round from whose end on the rule always held.
pub fn settling(rates: &[f64]) -> Settling {
    let windows: Vec<Spread> = rates.windows(WINDOW).filter_map(Spread::from_rates).collect();
    let Some(last) = windows.last().copied() else { return Settling::TooFew };
    match windows.iter().rev().take_while(|window| window.is_steady()).count() {
        0 => Settling::Not(last),
        steady => Settling::Since(rates.len() + 1 - steady, last),
    }
}

#[cfg(test)]
mod tests {
    use units::Prng;

    use super::*;

    fn is_steady(rates: &[f64]) -> bool {
        matches!(settling(rates), Settling::Since(..))
    }

    #[test]
    fn a_fifth_apart_is_steady_and_more_is_not() {
        // The mean is 100 and the slope is zero.
        assert!(is_steady(&[100.0, 90.0, 110.0, 100.0, 100.0]));
        assert!(!is_steady(&[100.0, 89.9, 110.1, 99.0, 101.0]));
        let spread = Spread::from_rates(&[100.0, 90.0, 110.0, 90.0, 110.0]).expect("five rates");
        assert!((spread.range - 0.20).abs() < 1e-12 && (spread.mean - 100.0).abs() < 1e-12);
    }

    #[test]
    fn a_line_of_a_tenth_is_steady_and_a_steeper_one_is_not() {
        let line = |rise: f64| [0.0, 0.25, 0.5, 0.75, 1.0].map(|part| 100.0 - rise / 2.0 + rise * part);
        for rise in [10.0, -10.0, 3.0, 0.0] {
            let spread = Spread::from_rates(&line(rise)).expect("five rates");
            assert!((spread.excursion - rise.abs() / 100.0).abs() < 1e-12, "{spread:?}");
            assert!(spread.is_steady(), "{rise}");
        }
        // The range is well within a fifth, but the rate still changes.
        for rise in [10.1, -10.1, 19.0] {
            assert!(!is_steady(&line(rise)), "{rise}");
        }
    }

    #[test]
    fn the_last_window_is_judged_and_since_when_it_holds_is_told() {
        let level = |value: f64, count: usize| vec![value; count];
        assert_eq!(settling(&level(7.0, 4)), Settling::TooFew);
        let fresh = [level(300.0, 2), level(100.0, 5)].concat();
        assert!(matches!(settling(&fresh), Settling::Since(7, spread) if spread.mean == 100.0));
        assert!(matches!(settling(&fresh[..6]), Settling::Not(_)));
        // The rate stays steady, and then changes.
        let longer = [fresh.clone(), level(100.0, 3)].concat();
        assert!(matches!(settling(&longer), Settling::Since(7, _)));
        let broken = [longer.clone(), level(50.0, 1)].concat();
        assert!(matches!(settling(&broken), Settling::Not(_)));
        assert!(matches!(settling(&[broken, level(50.0, 4)].concat()), Settling::Since(15, _)));
    }

    #[test]
    fn rates_that_are_none_are_not_steady() {
        for rates in [[0.0; 5], [f64::NAN; 5], [f64::INFINITY; 5]] {
            assert_eq!(settling(&rates), Settling::TooFew);
        }
    }

    /// Neither the unit nor the direction of a series changes the result.
    #[test]
    fn unit_and_direction_change_nothing() {
        let mut prng = Prng::new(20);
        let mut steady = 0;
        for _ in 0..2000 {
            let rates: Vec<f64> = (0..WINDOW).map(|_| 100.0 + prng.below(31) as f64).collect();
            let spread = Spread::from_rates(&rates).expect("five rates");
            let scaled: Vec<f64> = rates.iter().map(|rate| rate * 4096.0).collect();
            let backwards: Vec<f64> = rates.iter().rev().copied().collect();
            for other in [scaled, backwards] {
                let other = Spread::from_rates(&other).expect("five rates");
                assert!((other.range - spread.range).abs() < 1e-12, "{rates:?}");
                assert!((other.excursion - spread.excursion).abs() < 1e-12, "{rates:?}");
            }
            // A line cannot rise by more than 1.2 times the range: the steepest line through five points has the two
            // lower points at one end and the others at the other end.
            assert!(spread.excursion <= 1.2 * spread.range + 1e-12, "{rates:?}");
            steady += u32::from(spread.is_steady());
        }
        assert!((1..2000).contains(&steady), "both were tried");
    }
}
