//! A breakdown of a simulated computer's time, by resource and by program. Both sums are exact to the nanosecond. A
//! real kernel cannot report this much.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};
use units::Nanos;

/// The breakdown by resource and by program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Breakdown {
    /// The time of every resource.
    pub resources: Vec<ResourceTime>,
    /// The time of every program.
    pub programs: Vec<ProgramTime>,
}

/// The time of a resource: busy, blocked and idle add up to the elapsed time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResourceTime {
    /// `cpu`, `drive1`
    pub resource: String,
    /// The whole time.
    pub elapsed: Nanos,
    /// Time in which it worked, by cause.
    pub busy: BTreeMap<String, Nanos>,
    /// Time in which it had work but had to wait, by the resource that it waited for.
    pub blocked: BTreeMap<String, Nanos>,
    /// Time in which it had no work.
    pub idle: Nanos,
}

/// The time of a program. The parts add up to the elapsed time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramTime {
    /// The whole time.
    pub elapsed: Nanos,
    /// Time by state: running (by cause), asleep (by the activity of its drive), interrupted, ready, or in a pause.
    pub owners: BTreeMap<String, Nanos>,
}
