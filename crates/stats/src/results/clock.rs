//! The clocks of a phase. They start together and stop at different moments.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The moment at which a clock stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClockKind {
    /// The last call has returned; data may still be in memory.
    Returned,
    /// The data are on the device (fdatasync).
    DataDurable,
    /// Data and metadata are on the device (fsync of file and directory, or syncfs).
    Durable,
}
