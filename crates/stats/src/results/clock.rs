//! The clocks of a phase. They start together and stop at different moments.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// When a clock stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClockKind {
    /// When the last call came back; data may still be in memory.
    Returned,
    /// When the data are on the device (fdatasync).
    DataDurable,
    /// When data and names are on the device (fsync, directory, syncfs).
    Durable,
}
