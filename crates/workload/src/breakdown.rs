//! Where the time of a simulated computer went, told in two ways that both close to the nanosecond: by resource and by
//! program. A real kernel cannot tell so much.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};
use units::Nanos;

/// Both ways.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Breakdown {
    /// What every resource did.
    pub resources: Vec<ResourceTime>,
    /// What every program's time went into.
    pub programs: Vec<ProgramTime>,
}

/// What a resource did: busy, blocked and idle together are the elapsed time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResourceTime {
    /// `cpu`, `drive1`
    pub resource: String,
    /// How long that was.
    pub elapsed: Nanos,
    /// It worked, by cause.
    pub busy: BTreeMap<String, Nanos>,
    /// It had something to do and could not, by whom it waited for.
    pub blocked: BTreeMap<String, Nanos>,
    /// It had nothing to do.
    pub idle: Nanos,
}

/// What a program's time went into: together the elapsed time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramTime {
    /// How long that was.
    pub elapsed: Nanos,
    /// By owner.
    pub owners: BTreeMap<String, Nanos>,
}
