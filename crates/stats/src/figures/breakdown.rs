//! Exact breakdown of the time of a simulated cell, by resource and by program. It names the largest owner of the time,
//! and the resources that would help most if they were faster.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Time by resource and by program, in nanoseconds, over all kept rounds, until the claimed clock stops.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Breakdown {
    /// Time of each resource.
    pub resources: Vec<ResourceTime>,
    /// Time of each program.
    pub programs: Vec<ProgramTime>,
    /// Gain from each resource if it were a tenth faster, simulated again; null if that was not simulated.
    #[serde(default)]
    pub faster: Option<Vec<Faster>>,
    /// Reason why it was not simulated, although it was requested.
    #[serde(default)]
    pub faster_reason: Option<String>,
}

/// Time of a resource: busy, blocked and idle add up to the elapsed time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResourceTime {
    /// `cpu`, `bus`, `controller`, `drive1`
    pub resource: String,
    /// Elapsed time.
    pub elapsed: u64,
    /// Time in which the resource worked, by cause.
    pub busy: BTreeMap<String, u64>,
    /// Time in which the resource had work but had to wait, by the resource that it waited for.
    pub blocked: BTreeMap<String, u64>,
    /// Time in which the resource had no work.
    pub idle: u64,
}

/// Time of a program. Its parts add up to the elapsed time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProgramTime {
    /// Elapsed time.
    pub elapsed: u64,
    /// Parts of the time, by owner.
    pub owners: BTreeMap<String, u64>,
}

/// Gain from a faster resource.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Faster {
    /// `processor`, `spindle`
    pub resource: String,
    /// Rate with the faster resource, in the cell's base per second; null if the machine cannot have such a resource.
    pub per_second: Option<f64>,
    /// Increase of the rate, in percent.
    pub gain_percent: Option<f64>,
}

impl ResourceTime {
    /// Returns the nanoseconds in which the resource worked.
    pub fn busy(&self) -> u64 {
        self.busy.values().copied().fold(0, u64::saturating_add)
    }

    /// Returns the nanoseconds in which the resource had work but could not do it.
    pub fn blocked(&self) -> u64 {
        self.blocked.values().copied().fold(0, u64::saturating_add)
    }

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

fn add(sums: &mut BTreeMap<String, u64>, parts: &BTreeMap<String, u64>) {
    for (name, part) in parts {
        let sum = sums.entry(name.clone()).or_default();
        *sum = sum.saturating_add(*part);
    }
}

impl Breakdown {
    /// Adds another round, with the same number of programs on the same machine.
    pub fn add(&mut self, other: Breakdown) {
        if self.programs.is_empty() {
            *self = other;
            return;
        }
        self.resources.iter_mut().zip(&other.resources).for_each(|(sum, part)| sum.add(part));
        self.programs.iter_mut().zip(&other.programs).for_each(|(sum, part)| sum.add(part));
    }

    /// Returns the sum over all programs.
    pub fn all_programs(&self) -> ProgramTime {
        let mut all = ProgramTime::default();
        self.programs.iter().for_each(|program| all.add(program));
        all
    }

    /// Returns the owner of the largest part of the programs' time, and this part from 0 to 1. Among equal owners, the
    /// first by name wins. Returns `None` if no time has passed.
    pub fn largest_owner(&self) -> Option<(String, f64)> {
        let all = self.all_programs();
        let largest = all.owners.iter().rev().max_by_key(|(_, nanos)| **nanos)?;
        (all.elapsed > 0).then(|| (largest.0.clone(), *largest.1 as f64 / all.elapsed as f64))
    }

    /// Returns the resources that would raise the rate if they were a tenth faster, with the gain in percent. The
    /// largest gain comes first; equal gains keep their order.
    pub fn helpful(&self) -> Vec<(&str, f64)> {
        let gains = self.faster.iter().flatten().filter_map(|one| Some((one.resource.as_str(), one.gain_percent?)));
        let mut helpful: Vec<(&str, f64)> = gains.filter(|(_, gain)| *gain >= FELT).collect();
        helpful.sort_by(|one, other| other.1.total_cmp(&one.1));
        helpful
    }
}

/// Smallest gain that counts, in percent: a tenth of the change, which is 10 %.
pub const FELT: f64 = 1.0;

#[cfg(test)]
mod tests {
    use super::*;

    fn program(owners: &[(&str, u64)]) -> ProgramTime {
        let owners: BTreeMap<String, u64> = owners.iter().map(|(name, nanos)| ((*name).to_owned(), *nanos)).collect();
        ProgramTime { elapsed: owners.values().sum(), owners }
    }

    #[test]
    fn the_largest_owner_is_that_of_all_programs_together() {
        let mut breakdown = Breakdown {
            programs: vec![program(&[("copy", 60), ("rotation", 40)]), program(&[("copy", 10), ("rotation", 90)])],
            ..Breakdown::default()
        };
        assert_eq!(breakdown.largest_owner(), Some(("rotation".to_owned(), 0.65)));
        breakdown.add(Breakdown {
            programs: vec![program(&[("copy", 200)]), program(&[("seek", 1)])],
            ..Breakdown::default()
        });
        assert_eq!(breakdown.programs[0], program(&[("copy", 260), ("rotation", 40)]));
        assert_eq!(breakdown.largest_owner().map(|(owner, _)| owner).as_deref(), Some("copy"));
        assert_eq!(Breakdown::default().largest_owner(), None);
    }

    #[test]
    fn what_helps_most_comes_first_and_what_is_not_felt_not_at_all() {
        let faster =
            |resource: &str, gain| Faster { resource: resource.to_owned(), per_second: gain, gain_percent: gain };
        let faster = vec![
            faster("bus", Some(0.2)),
            faster("arm", Some(2.0)),
            faster("spindle", Some(7.0)),
            faster("memory", Some(-3.0)),
            faster("controller", None),
        ];
        let breakdown = Breakdown { faster: Some(faster), ..Breakdown::default() };
        assert_eq!(breakdown.helpful(), [("spindle", 7.0), ("arm", 2.0)]);
    }
}
