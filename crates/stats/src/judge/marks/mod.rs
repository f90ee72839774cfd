//! Marks: reasons why a claim of a cell is false. A figure without a claim cannot get a mark. A figure that is only
//! inexact gets none, because its confidence interval is printed.
//!
//! A pure function decides each mark from observations alone. Without an observation there is no mark.

pub mod caches;
pub mod clock;
pub mod contents;
pub mod durability;
pub mod location;
pub mod rounds;
pub mod steadiness;
pub mod traffic;

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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

/// Warnings. Their names are stable: tables print them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MarkCode {
    /// Reads labelled as reads from the device came from the page cache.
    Cache,
    /// Reads labelled as reads from the device came from a cache below the page cache.
    Lower,
    /// A durable result: data were still only in memory when the clock stopped.
    Dirty,
    /// A durable result: the device was not asked to flush its cache.
    Noflush,
    /// The test read holes: bytes that were never written.
    Hole,
    /// The device moved far fewer bytes than the programs: the data were compressed.
    Compress,
    /// The device wrote far more bytes than the programs.
    Amplify,
    /// A steady result: the rate did not become steady.
    Unsteady,
    /// The rate changed its level in the middle.
    Step,
    /// The device or the program was throttled.
    Throttle,
    /// The test was too short for the clock.
    Short,
    /// There are fewer rounds than the preset promises, they agree less, or there are too few data (`judge::floor`).
    Few,
    /// More background load than during the other tests.
    Noise,
    /// An operation failed, or a file does not hold what was written; there is no rate.
    Error,
    /// A setting changed between the rounds.
    Env,
    /// The file system is on a loop image in another one.
    Nested,
    /// Programs that should run together did so for less than nine tenths of the time.
    Uneven,
    /// The data are only in memory, not on a device.
    Memory,
    /// The targets of a comparison ran one after the other, not in turns.
    Order,
    /// The test never reached the device.
    Untouched,
    /// The rate is higher than that of the layer below.
    Above,
    /// A few rounds differ so much from the others that the figure leaves them out.
    Outlier,
}

/// Returns the codes of these warnings in order, each once.
pub fn codes<'a>(marks: impl Iterator<Item = &'a Mark>) -> Vec<MarkCode> {
    marks.map(|mark| mark.code).collect::<BTreeSet<MarkCode>>().into_iter().collect()
}

impl MarkCode {
    /// The name that is printed.
    pub const fn name(self) -> &'static str {
        match self {
            MarkCode::Cache => "cache",
            MarkCode::Lower => "lower",
            MarkCode::Dirty => "dirty",
            MarkCode::Noflush => "noflush",
            MarkCode::Hole => "hole",
            MarkCode::Compress => "compress",
            MarkCode::Amplify => "amplify",
            MarkCode::Unsteady => "unsteady",
            MarkCode::Step => "step",
            MarkCode::Throttle => "throttle",
            MarkCode::Short => "short",
            MarkCode::Few => "few",
            MarkCode::Noise => "noise",
            MarkCode::Error => "error",
            MarkCode::Env => "env",
            MarkCode::Nested => "nested",
            MarkCode::Uneven => "uneven",
            MarkCode::Memory => "memory",
            MarkCode::Order => "order",
            MarkCode::Untouched => "untouched",
            MarkCode::Above => "above",
            MarkCode::Outlier => "outlier",
        }
    }

    /// True if the result is not the one that its label names, such as a disk's rate that came from a cache. Such a
    /// result decides nothing in a choice, for a requirement or for a condition on two runs. `noise`, `few` and
    /// `outlier` leave the label true: they widen the interval. `above` is no proof: the layer below is measured by
    /// other calls, and a limit may slow only these. If the device's counters show a cache, there is `lower`. A cell
    /// below the floor decides nothing either (`Cell::undeciding`).
    pub const fn decides_nothing(self) -> bool {
        match self {
            MarkCode::Cache
            | MarkCode::Lower
            | MarkCode::Dirty
            | MarkCode::Noflush
            | MarkCode::Hole
            | MarkCode::Compress
            | MarkCode::Short
            | MarkCode::Error
            | MarkCode::Uneven
            | MarkCode::Memory
            | MarkCode::Untouched
            | MarkCode::Step => true,
            MarkCode::Amplify
            | MarkCode::Unsteady
            | MarkCode::Throttle
            | MarkCode::Few
            | MarkCode::Noise
            | MarkCode::Env
            | MarkCode::Nested
            | MarkCode::Order
            | MarkCode::Above
            | MarkCode::Outlier => false,
        }
    }

    /// True if a lower value means that the claim is further from the truth.
    pub const fn is_worse_lower(self) -> bool {
        matches!(
            self,
            MarkCode::Cache
                | MarkCode::Lower
                | MarkCode::Noflush
                | MarkCode::Compress
                | MarkCode::Short
                | MarkCode::Uneven
                | MarkCode::Order
        )
    }
}
