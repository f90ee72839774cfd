//! A rate as a share of its limit: the rate of the layer below for the same pattern.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::inference::verdict::Estimate;

/// A rate as a share of the rate of the layer below, which was measured in the same rounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OfLimit {
    /// The layer below; null if it was not measured.
    pub layer: Option<LimitLayer>,
    /// Mean rate of the layer, in units of the result's `base` per second; null if it was not measured.
    pub per_second: Option<f64>,
    /// The rate of the result divided by that of the layer; null if the ratio is not known.
    pub estimate: Option<Estimate>,
    /// Number of rounds in which the layer was measured.
    pub rounds: u32,
    /// Reason why the ratio is not known.
    pub reason: Option<String>,
}

/// The layer below a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LimitLayer {
    /// The device: direct I/O on the file of the test.
    Device,
    /// Memory: copies of the same size.
    Memory,
    /// The device's flush: a direct write and a flush, without metadata.
    Flush,
}

impl LimitLayer {
    /// The name in JSON and CSV.
    pub const fn name(self) -> &'static str {
        match self {
            LimitLayer::Device => "device",
            LimitLayer::Memory => "memory",
            LimitLayer::Flush => "flush",
        }
    }

    /// The layer in a sentence: 71 % of ...
    pub const fn in_words(self) -> &'static str {
        match self {
            LimitLayer::Device => "the device",
            LimitLayer::Memory => "memory",
            LimitLayer::Flush => "the flush",
        }
    }
}
