//! The goal of a comparison, as plain data.

use serde::{Deserialize, Serialize};

use super::needs::Condition;
use super::prices::Price;
use super::uses::Use;

/// What is to be found out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Goal {
    /// The part by which two may differ and be the same.
    pub margin: f64,
    /// For which use.
    pub purpose: Option<Use>,
    /// What is needed.
    pub needs: Vec<Condition>,
    /// What they cost.
    pub prices: Vec<Price>,
    /// Whether the targets are stages, each of which follows from the one before.
    pub in_stages: bool,
}
