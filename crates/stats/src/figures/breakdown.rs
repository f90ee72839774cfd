//! Exact breakdown of the time of a simulated cell, by resource and by program. It names the largest owner of the time,
//! and the resources that would help most if they were faster.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Nanos;
use workload::{ProgramTime, ResourceTime, TimeBreakdown};

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

impl Breakdown {
    /// Adds another round, with the same number of programs on the same machine.
    pub fn add(&mut self, other: &TimeBreakdown) {
        if self.programs.is_empty() {
            (self.resources, self.programs) = (other.resources.clone(), other.programs.clone());
            return;
        }
        self.resources.iter_mut().zip(&other.resources).for_each(|(sum, part)| sum.add(part));
        self.programs.iter_mut().zip(&other.programs).for_each(|(sum, part)| sum.add(part));
    }

    /// Returns the nanoseconds of all programs together, by owner.
    pub fn owners(&self) -> BTreeMap<String, u64> {
        let mut all = ProgramTime::default();
        self.programs.iter().for_each(|program| all.add(program));
        all.owners.into_iter().map(|(owner, time)| (owner, time.0)).collect()
    }

    /// Returns the owner of the largest part of the programs' time, and this part from 0 to 1. Among equal owners, the
    /// first by name wins. Returns `None` if no time has passed.
    pub fn largest_owner(&self) -> Option<(String, f64)> {
        let elapsed = self.programs.iter().fold(Nanos::ZERO, |sum, program| sum.saturating_add(program.elapsed));
        let (owner, largest) = self.owners().into_iter().rev().max_by_key(|(_, nanos)| *nanos)?;
        (elapsed > Nanos::ZERO).then(|| (owner, largest as f64 / elapsed.0 as f64))
    }

    /// Returns the resources that would raise the rate if they were a tenth faster, with the gain in percent. The
    /// largest gain comes first; equal gains keep their order.
    pub fn helpful(&self) -> Vec<(&str, f64)> {
        let gains = self.faster.iter().flatten().filter_map(|one| Some((one.resource.as_str(), one.gain_percent?)));
        let mut helpful: Vec<(&str, f64)> = gains.filter(|(_, gain)| *gain >= LEAST_GAIN_PERCENT).collect();
        helpful.sort_by(|one, other| other.1.total_cmp(&one.1));
        helpful
    }
}

/// Smallest gain that counts, in percent: a tenth of the change, which is 10 %.
pub const LEAST_GAIN_PERCENT: f64 = 1.0;

#[cfg(test)]
mod tests {
    use super::*;

    fn program(owners: &[(&str, u64)]) -> ProgramTime {
        let owners: BTreeMap<String, Nanos> =
            owners.iter().map(|(name, nanos)| ((*name).to_owned(), Nanos(*nanos))).collect();
        ProgramTime { elapsed: owners.values().copied().sum(), owners }
    }

    #[test]
    fn the_largest_owner_is_that_of_all_programs_together() {
        let mut breakdown = Breakdown {
            programs: vec![program(&[("copy", 60), ("rotation", 40)]), program(&[("copy", 10), ("rotation", 90)])],
            ..Breakdown::default()
        };
        assert_eq!(breakdown.largest_owner(), Some(("rotation".to_owned(), 0.65)));
        breakdown.add(&TimeBreakdown {
            programs: vec![program(&[("copy", 200)]), program(&[("seek", 1)])],
            ..TimeBreakdown::default()
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
