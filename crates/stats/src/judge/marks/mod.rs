//! Marks: reasons why a claim of a cell is false. A figure without a claim cannot get a mark. A figure that is only
//! inexact gets none, because its confidence interval is printed.
//!
//! A pure function decides each mark from observations alone. Without an observation there is no mark.

pub mod caches;
pub mod clock;
mod code;
pub mod contents;
pub mod durability;
pub mod hosts;
pub mod location;
pub mod rounds;
pub mod steadiness;
pub mod traffic;

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use code::{Explanation, MarkCode};

/// A reason why a claim of the cell is false.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mark {
    /// Kind of the warning.
    pub code: MarkCode,
    /// The figure that shows it, if there is one.
    pub value: Option<f64>,
    /// The reason in words.
    pub text: String,
}

/// Returns the codes of these warnings in order, each once.
pub fn codes<'a>(marks: impl Iterator<Item = &'a Mark>) -> Vec<MarkCode> {
    marks.map(|mark| mark.code).collect::<BTreeSet<MarkCode>>().into_iter().collect()
}
