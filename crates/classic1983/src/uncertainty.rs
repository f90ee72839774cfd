//! Uncertainty of a simulated answer: its range if one assumption has another value.

use std::cmp::Ordering;

use machines::MachineFault;

use crate::assumptions::variations;
use crate::simulation::{FEW_PHASES, Figure, Setup, measure, measure_from};

/// The name of the variation that only has fewer starting positions.
pub const POSITIONS: &str = "fewer starting positions";

/// Rates that differ by less than this are equal: about the error of the paper's rounding to tens.
pub const SAME: f64 = 0.02;

/// An effect, and its range if an assumption has another value.
#[derive(Clone, Debug, PartialEq)]
pub struct Spread {
    /// With the machines unchanged.
    pub value: f64,
    /// The lowest value with any one assumption changed.
    pub low: f64,
    /// The highest value with any one assumption changed.
    pub high: f64,
    /// The variation that changes the effect most; `None` if none changes it.
    pub most: Option<String>,
    /// The variations in which the effect is on another side of 1.
    pub reversed_by: Vec<String>,
}

/// Returns the ratio that these setups show, and its spread over all variations of their machines.
pub fn spread(setups: &[Setup], effect: impl Fn(&[Figure]) -> f64) -> Result<Spread, MachineFault> {
    let variations = variations(setups)?;
    // The setups unchanged, and then those that each variation changes.
    let mut all = setups.to_vec();
    let mut changed = Vec::new();
    for variation in &variations {
        let mut places = Vec::new();
        for setup in setups {
            places.push(match variation.applied(setup)? {
                Some(setup) => {
                    all.push(setup);
                    Some(all.len() - 1)
                }
                None => None,
            });
        }
        changed.push(places);
    }
    let figures = measure_from(&all, FEW_PHASES)?;
    let varied = |places: &Vec<Option<usize>>| {
        let figures: Vec<Figure> =
            places.iter().enumerate().map(|(own, place)| figures[place.unwrap_or(own)]).collect();
        effect(&figures)
    };
    let mut effects = vec![(POSITIONS.to_owned(), effect(&figures[..setups.len()]))];
    effects.extend(variations.iter().zip(&changed).map(|(variation, places)| (variation.name(), varied(places))));
    Ok(range(effect(&measure(setups)?), effects))
}

/// Returns the range of an effect with these values under variations.
fn range(value: f64, effects: Vec<(String, f64)>) -> Spread {
    let mut spread = Spread { value, low: value, high: value, most: None, reversed_by: Vec::new() };
    let mut furthest = 0.0;
    for (name, effect) in effects {
        spread.low = spread.low.min(effect);
        spread.high = spread.high.max(effect);
        if side(effect) != side(value) {
            spread.reversed_by.push(name.clone());
        }
        if (effect - value).abs() > furthest {
            furthest = (effect - value).abs();
            spread.most = Some(name);
        }
    }
    spread
}

/// The side of 1 on which a ratio is, with room for [`SAME`].
pub fn side(ratio: f64) -> Ordering {
    match ratio - 1.0 {
        change if change > SAME => Ordering::Greater,
        change if change < -SAME => Ordering::Less,
        _ => Ordering::Equal,
    }
}

#[cfg(test)]
mod tests {
    use workload::programs::classic1983::Classic;

    use super::*;
    use crate::published::FileSystem;

    #[test]
    fn the_range_names_what_changes_the_answer() {
        let effects = [("a", 1.3), ("b", 1.01), ("c", 0.9), ("d", 1.2)].map(|(name, value)| (name.to_owned(), value));
        let spread = range(1.2, effects.into());
        assert_eq!((spread.low, spread.high, spread.most.as_deref()), (0.9, 1.3, Some("c")));
        assert_eq!(spread.reversed_by, ["b", "c"]);
        assert_eq!([1.03, 1.01, 0.97].map(side), [Ordering::Greater, Ordering::Equal, Ordering::Less]);
    }

    /// A guess that was never fitted moves a ratio, and a number of another controller does not take part.
    #[test]
    fn guesses_and_settings_are_varied_too() {
        let setup = Setup::new("vax780-sc780", FileSystem::Block4K, Classic::Read8192, 2);
        let names = std::cell::RefCell::new(0);
        let spread = spread(&[setup.clone(), setup.with("file_system.rotational_delay=2ms")], |figures| {
            *names.borrow_mut() += 1;
            figures[1].rate() / figures[0].rate()
        })
        .expect("a machine");
        assert!(spread.low < spread.value && spread.value < spread.high && spread.most.is_some(), "{spread:?}");
        // The ratio unchanged, with fewer positions, and with each variation.
        let variations = variations(&[setup]).expect("a machine");
        assert_eq!(names.into_inner(), 2 + variations.len());
        assert!(variations.iter().any(|variation| variation.name() == "controller.finish=50us (sc780)"));
        assert!(variations.iter().all(|variation| !variation.name().contains("uda50")));
    }
}
