//! The goal of a comparison, as plain data.

use serde::{Deserialize, Serialize};

use super::prices::Price;
use super::requirements::Condition;
use super::weights::Use;

/// The goal of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Goal {
    /// The relative difference up to which two targets count as the same.
    pub margin: f64,
    /// The use that weighs the tests, if given.
    pub purpose: Option<Use>,
    /// Requirements on the results.
    pub needs: Vec<Condition>,
    /// Prices of the targets.
    pub prices: Vec<Price>,
    /// True if each target is a change of the one before.
    pub in_stages: bool,
}
