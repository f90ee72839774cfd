//! Uncertainty of a simulated answer: its range if any fitted constant is wrong by 10 %.

use machines::MachineFault;

use crate::simulation::{Figure, Setup, measure};

/// An effect, and its range if constants are wrong.
#[derive(Clone, Debug, PartialEq)]
pub struct Spread {
    /// With the machines unchanged.
    pub value: f64,
    /// The lowest value with any one constant 10 % higher or lower.
    pub low: f64,
    /// The highest value with any one constant 10 % higher or lower.
    pub high: f64,
    /// The constant that changes the effect most; `None` if no constant changes it.
    pub most: Option<String>,
}

/// Returns the effect that these setups show, and its spread over all fitted constants of their machines.
pub fn spread(setups: &[Setup], effect: impl Fn(&[Figure]) -> f64) -> Result<Spread, MachineFault> {
    let mut constants: Vec<Constant> = Vec::new();
    for setup in setups {
        for constant in fitted(setup)? {
            if !constants.contains(&constant) {
                constants.push(constant);
            }
        }
    }
    let changes: Vec<(&Constant, f64)> =
        constants.iter().flat_map(|constant| [0.9, 1.1].map(|factor| (constant, factor))).collect();
    // The setups unchanged, and then once for each change.
    let mut all = setups.to_vec();
    for (constant, factor) in &changes {
        for setup in setups {
            all.push(constant.changed(setup, *factor)?);
        }
    }
    let figures = measure(&all)?;
    let mut effects = figures.chunks(setups.len().max(1)).map(&effect);
    let value = effects.next().unwrap_or(f64::NAN);
    let mut spread = Spread { value, low: value, high: value, most: None };
    let mut furthest = 0.0;
    for ((constant, _), effect) in changes.iter().zip(effects) {
        spread.low = spread.low.min(effect);
        spread.high = spread.high.max(effect);
        if (effect - value).abs() > furthest {
            furthest = (effect - value).abs();
            spread.most = Some(constant.field.clone());
        }
    }
    Ok(spread)
}

/// Numbers that are proportional to another: the first follows the second. Such a pair is written twice, but is one
/// constant. The `from` of each follower in its file says so.
const TIES: [(&str, &str); 4] = [
    ("kernel.clear_per_kib", "kernel.copy_per_kib"),
    ("kernel.block_write", "kernel.block_read"),
    ("controller.driver_start", "controller.driver_interrupt"),
    ("controller.from_memory", "controller.to_memory"),
];

/// A fitted number of a machine. A number shared by several machines is one constant.
#[derive(Clone, Debug, PartialEq)]
struct Constant {
    field: String,
    value: f64,
    unit: String,
}

impl Constant {
    /// Returns the setup with this constant and its followers multiplied by `factor`. The setup is unchanged if it does
    /// not have the constant.
    fn changed(&self, setup: &Setup, factor: f64) -> Result<Setup, MachineFault> {
        if !fitted(setup)?.contains(self) {
            return Ok(setup.clone());
        }
        let machine = setup.load()?;
        let tied = TIES.iter().filter(|(_, leader)| *leader == self.field).map(|(follower, _)| *follower);
        let numbers = [self.field.as_str()].into_iter().chain(tied);
        let changes = numbers.filter_map(|field| {
            let (value, unit) = machine.value(field)?;
            Some(machine.finely(field, value * factor, &unit))
        });
        Ok(changes.fold(setup.clone(), |setup, change| setup.with(change)))
    }
}

/// The fitted constants of a setup's machine, without those that follow another.
fn fitted(setup: &Setup) -> Result<Vec<Constant>, MachineFault> {
    let all: Vec<Constant> =
        setup.load()?.fitted().map(|(field, value, unit)| Constant { field, value, unit }).collect();
    let has = |field: &str| all.iter().any(|constant| constant.field == field);
    let is_led = |constant: &Constant| TIES.iter().any(|(follower, leader)| *follower == constant.field && has(leader));
    Ok(all.iter().filter(|constant| !is_led(constant)).cloned().collect())
}

#[cfg(test)]
mod tests {
    use workload::programs::classic1983::Classic;

    use super::*;
    use crate::published::FileSystem;

    #[test]
    fn tied_constants_move_together_and_count_once() {
        for machine in ["vax780-sc780", "vax750-uda50"] {
            let setup = Setup::new(machine, FileSystem::Block8K, Classic::Read8192, 1);
            let before = setup.load().expect("a machine");
            let constants = fitted(&setup).expect("a machine");
            for (follower, leader) in TIES {
                assert!(constants.iter().all(|constant| constant.field != follower) || !has_field(&constants, leader));
                let Some(constant) = constants.iter().find(|constant| constant.field == leader) else { continue };
                let after = constant.changed(&setup, 1.1).expect("a machine").load().expect("a machine");
                for field in [leader, follower] {
                    let value = |machine: &machines::Machine| machine.value(field).expect("a number").0;
                    let ratio = value(&after) / value(&before);
                    assert!((ratio - 1.1).abs() < 0.01, "{field} of {machine} becomes {ratio} times as large");
                }
            }
        }
    }

    fn has_field(constants: &[Constant], field: &str) -> bool {
        constants.iter().any(|constant| constant.field == field)
    }

    /// The kernel is the same with both controllers; their drivers are not.
    #[test]
    fn a_constant_shared_by_two_machines_counts_once() {
        let of = |machine| fitted(&Setup::new(machine, FileSystem::Block8K, Classic::Read8192, 1)).expect("a machine");
        let (sc, uda) = (of("vax780-sc780"), of("vax780-uda50"));
        let shared: Vec<&str> =
            sc.iter().filter(|constant| uda.contains(constant)).map(|constant| constant.field.as_str()).collect();
        assert!(shared.contains(&"kernel.call") && !shared.contains(&"controller.driver_interrupt"), "{shared:?}");
    }
}
