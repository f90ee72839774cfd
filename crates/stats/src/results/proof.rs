//! The report that the owner of a disk sends to others: a run, the checks of `diskperf doctor`, and a power-cut test.

use serde::{Deserialize, Serialize};

use crate::results::checkup::Checkup;
use crate::results::document::Document;
use crate::results::verification::Verification;

/// The name and version of the format.
pub const PROOF_SCHEMA: &str = "diskperf-proof/1";

/// The results of `diskperf proof`. Its parts have schemas of their own; one for all of them would be as large as
/// the others together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proof {
    /// `diskperf-proof/1`.
    pub schema: String,
    /// True if the names of the machine, its paths and its serial numbers were removed.
    pub anonymous: bool,
    /// What diskperf could measure there.
    pub checkup: Checkup,
    /// The run of the preset quick.
    pub run: Document,
    /// Power cuts of a file system on an image in the same directory. They test the kernel and the file system, not the
    /// disk. If they were not possible, `errors` has the reason. Null if the run ended early.
    pub verification: Option<Verification>,
}
