//! Marks: why a claim of a cell is false. A figure without a claim cannot be marked, and a figure that is only
//! rough is not: its interval is printed.
//!
//! Every mark is decided by a pure function of its own, from what was seen and nothing else; what was not
//! seen gives no mark.

pub mod caches;
pub mod clock;
pub mod contents;
pub mod durability;
pub mod level;
pub mod place;
pub mod rounds;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A reason why a claim of the cell is false.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mark {
    /// Which reason.
    pub code: MarkCode,
    /// The figure that tells, where there is one.
    pub value: Option<f64>,
    /// In words.
    pub text: String,
}

/// The reasons there are. Short and stable: they are printed under every table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MarkCode {
    /// Reads that are said to come from the device came from a cache that can be seen.
    Cache,
    /// Reads that are said to come from the device came from a cache below the page cache.
    Lower,
    /// The clock stopped with data in memory only, though durability is claimed.
    Dirty,
    /// The device was not asked to flush its own cache, though durability is claimed.
    Noflush,
    /// What was read had never been written.
    Hole,
    /// The device moved far fewer bytes than the programs: the data were compressed.
    Compress,
    /// The device wrote far more bytes than the programs.
    Amplify,
    /// The rate did not settle, though it is said to be a steady one.
    Unsteady,
    /// The rate changed its level in the middle.
    Step,
    /// Something held the device, or the program, below what it can do.
    Throttle,
    /// Too short a time for the clock.
    Short,
    /// Fewer rounds than the preset promises, or rounds that do not agree as it promises.
    Few,
    /// More was at work besides the program than for the other cells.
    Noise,
    /// An operation failed, or a file does not hold what was written; there is no rate.
    Error,
    /// A setting that must stay was changed between the rounds.
    Env,
    /// The file system lies on an image in another one.
    Nested,
    /// Programs that were to run at once did so for less than nine tenths of the time.
    Uneven,
    /// What is said to be on a device lies in memory only.
    Memory,
    /// What is to be compared ran one after the other and not in turns.
    Order,
    /// What was measured never came to the device.
    Untouched,
}

impl MarkCode {
    /// As it is printed.
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
        }
    }

    /// Whether the result is not the one that its label names, such as a disk's rate that came from a cache. Such a result
    /// decides nothing in a choice. `noise` and `few` leave the label true: they widen the interval.
    pub const fn decides_nothing(self) -> bool {
        matches!(
            self,
            MarkCode::Cache
                | MarkCode::Lower
                | MarkCode::Dirty
                | MarkCode::Noflush
                | MarkCode::Memory
                | MarkCode::Hole
                | MarkCode::Compress
                | MarkCode::Step
        )
    }

    /// Whether the lower of two values says that the claim is further from true.
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
