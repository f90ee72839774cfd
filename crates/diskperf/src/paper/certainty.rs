//! How sure a simulated answer is: what becomes of it where a constant that was fitted is wrong by a tenth.

use super::laboratory::{Figure, Setup, measure};
use crate::machines::MachineFault;

/// An effect, and how far it moves.
#[derive(Clone, Debug, PartialEq)]
pub struct Spread {
    /// As the machines stand.
    pub value: f64,
    /// The lowest with any constant a tenth higher or lower.
    pub low: f64,
    /// The highest.
    pub high: f64,
    /// The constant that moves it most; none where nothing moves it.
    pub most: Option<String>,
}

/// The effect that these setups show, and its spread over every fitted constant that one of them has.
pub fn spread(setups: &[Setup], effect: impl Fn(&[Figure]) -> f64) -> Result<Spread, MachineFault> {
    let mut constants: Vec<Constant> = Vec::new();
    for setup in setups {
        for constant in fitted(setup)? {
            if !constants.contains(&constant) {
                constants.push(constant);
            }
        }
    }
    let changes: Vec<(&Constant, f64)> =
        constants.iter().flat_map(|constant| [0.9, 1.1].map(|factor| (constant, factor))).collect();
    // The setups as they stand, and then once more for every change.
    let mut all = setups.to_vec();
    for (constant, factor) in &changes {
        all.extend(setups.iter().map(|setup| constant.changed(setup, *factor)));
    }
    let figures = measure(&all)?;
    let mut effects = figures.chunks(setups.len().max(1)).map(&effect);
    let value = effects.next().unwrap_or(f64::NAN);
    let mut spread = Spread { value, low: value, high: value, most: None };
    let mut furthest = 0.0;
    for ((constant, _), effect) in changes.iter().zip(effects) {
        spread.low = spread.low.min(effect);
        spread.high = spread.high.max(effect);
        if (effect - value).abs() > furthest {
            furthest = (effect - value).abs();
            spread.most = Some(constant.field.clone());
        }
    }
    Ok(spread)
}

/// A number of a machine that was fitted.
#[derive(Clone, Debug, PartialEq)]
struct Constant {
    field: String,
    value: f64,
    unit: String,
}

impl Constant {
    /// The setup with this constant so many times as large; as it is where it has no such constant.
    fn changed(&self, setup: &Setup, factor: f64) -> Setup {
        if !fitted(setup).is_ok_and(|constants| constants.contains(self)) {
            return setup.clone();
        }
        scaled(setup, &self.field, self.value * factor, &self.unit)
    }
}

/// The setup with a number set, as finely as the simulator counts it.
pub fn scaled(setup: &Setup, field: &str, value: f64, unit: &str) -> Setup {
    let changed = |decimals: usize| setup.with(format!("{field}={value:.decimals$}{unit}"));
    (0..=6).rev().map(changed).find(|setup| setup.describe().is_ok()).unwrap_or_else(|| changed(0))
}

/// The constants of a setup's machine that were fitted.
fn fitted(setup: &Setup) -> Result<Vec<Constant>, MachineFault> {
    Ok(setup.load()?.fitted().map(|(field, value, unit)| Constant { field, value, unit }).collect())
}
