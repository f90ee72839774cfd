//! The numbers that determine the speed of each resource of a machine, and the settings that make a resource faster.

use crate::machine::Machine;

/// A resource, and the numbers that determine its speed: smaller times and larger rates are faster.
#[derive(Clone, Copy, Debug)]
pub struct Resource {
    /// The name in reports.
    pub name: &'static str,
    times: &'static [&'static str],
    rates: &'static [&'static str],
}

/// All resources. One part's file may have several: another processor does not make the memory faster.
pub const RESOURCES: [Resource; 6] = [
    Resource { name: "processor", times: &["cpu.code"], rates: &[] },
    Resource { name: "memory", times: &["cpu.copy"], rates: &[] },
    Resource { name: "bus", times: &["bus.slow_down"], rates: &["bus.to_memory", "bus.from_memory"] },
    Resource {
        name: "controller",
        times: &[
            "controller.command",
            "controller.finish",
            "controller.finish_of_read",
            "controller.search_start",
            "controller.response",
            "controller.turnaround",
            "controller.turnaround_shared",
        ],
        rates: &["controller.to_memory", "controller.from_memory"],
    },
    Resource { name: "arm", times: &["drive.seek_least", "drive.seek_average", "drive.seek_most"], rates: &[] },
    Resource { name: "spindle", times: &[], rates: &["drive.rpm"] },
];

impl Machine {
    /// Returns the settings, in the form of `--set`, that make a resource `factor` times as fast. Numbers that this
    /// machine does not have are skipped.
    pub fn faster(&self, resource: &Resource, factor: f64) -> Vec<String> {
        let times = resource.times.iter().map(|field| (field, 1.0 / factor));
        let changes = times.chain(resource.rates.iter().map(|field| (field, factor)));
        let change = |(field, factor): (&&str, f64)| {
            let (value, unit) = self.value(field)?;
            Some(self.finely(field, value * factor, &unit))
        };
        changes.filter_map(change).collect()
    }

    /// Returns the setting that gives a number this value, with as many decimals as the simulator can represent.
    pub fn finely(&self, field: &str, value: f64, unit: &str) -> String {
        let setting = |decimals: usize| format!("{field}={value:.decimals$}{unit}");
        let is_counted = |setting: &String| {
            let mut machine = self.clone();
            machine.set(setting).is_ok() && machine.describe(1, 0).is_ok()
        };
        (0..=6).rev().map(setting).find(is_counted).unwrap_or_else(|| setting(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each number exists in some machine, and every setting is valid.
    #[test]
    fn a_tenth_faster_is_a_tenth_less_time_and_a_tenth_more_rate() {
        let mut unknown: Vec<&str> =
            RESOURCES.iter().flat_map(|resource| resource.times.iter().chain(resource.rates)).copied().collect();
        for machine in Machine::all() {
            for resource in &RESOURCES {
                let mut faster = machine.clone();
                for setting in machine.faster(resource, 1.1) {
                    faster.set(&setting).unwrap_or_else(|fault| panic!("{fault}"));
                }
                faster.describe(2, 8 << 20).unwrap_or_else(|fault| panic!("{fault}"));
                for (fields, factor) in [(resource.times, 1.0 / 1.1), (resource.rates, 1.1)] {
                    for field in fields {
                        let Some((before, _)) = machine.value(field) else { continue };
                        let (after, _) = faster.value(field).expect("what was set");
                        assert!((after - before * factor).abs() <= 0.005 * before, "{field}: {before} -> {after}");
                        unknown.retain(|known| known != field);
                    }
                }
            }
        }
        assert_eq!(unknown, [""; 0]);
    }
}
