//! A breakdown of a simulated computer's time, by resource and by program. Both sums are exact to the nanosecond. A
//! real kernel cannot report this much.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Nanos;

/// The breakdown by resource and by program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimeBreakdown {
    /// The time of every resource.
    pub resources: Vec<ResourceTime>,
    /// The time of every program.
    pub programs: Vec<ProgramTime>,
}

/// Time of a resource: busy, blocked and idle add up to the elapsed time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResourceTime {
    /// `cpu`, `bus`, `controller`, `drive1`
    pub resource: String,
    /// Elapsed time.
    #[schemars(with = "u64")]
    pub elapsed: Nanos,
    /// Time in which the resource worked, by cause.
    #[schemars(with = "BTreeMap<String, u64>")]
    pub busy: BTreeMap<String, Nanos>,
    /// Time in which the resource had work but had to wait, by the resource that it waited for.
    #[schemars(with = "BTreeMap<String, u64>")]
    pub blocked: BTreeMap<String, Nanos>,
    /// Time in which the resource had no work.
    #[schemars(with = "u64")]
    pub idle: Nanos,
}

/// Time of a program. Its parts add up to the elapsed time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProgramTime {
    /// Elapsed time.
    #[schemars(with = "u64")]
    pub elapsed: Nanos,
    /// Parts of the time, by owner.
    #[schemars(with = "BTreeMap<String, u64>")]
    pub owners: BTreeMap<String, Nanos>,
}

impl ResourceTime {
    /// Adds the times of the same resource in another round.
    pub fn add(&mut self, other: &ResourceTime) {
        self.elapsed = self.elapsed.saturating_add(other.elapsed);
        self.idle = self.idle.saturating_add(other.idle);
        add(&mut self.busy, &other.busy);
        add(&mut self.blocked, &other.blocked);
    }
}

impl ProgramTime {
    /// Adds the times of another program, or of another round.
    pub fn add(&mut self, other: &ProgramTime) {
        self.elapsed = self.elapsed.saturating_add(other.elapsed);
        add(&mut self.owners, &other.owners);
    }
}

fn add(sums: &mut BTreeMap<String, Nanos>, parts: &BTreeMap<String, Nanos>) {
    for (name, part) in parts {
        let sum = sums.entry(name.clone()).or_default();
        *sum = sum.saturating_add(*part);
    }
}
