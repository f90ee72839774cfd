//! The assumptions of the simulated machines, and other values of each: fitted constants, numbers that were not fitted,
//! and settings of columns.

use machines::{Kind, Machine, MachineFault, Place};

use crate::simulation::Setup;

/// A number that was not fitted, or a setting: its place, and other possible values.
#[derive(Debug, PartialEq)]
pub struct Assumption {
    /// The kind, for reports.
    pub kind: AssumptionKind,
    /// Its dotted name.
    pub field: &'static str,
    /// The file or the machines that it belongs to.
    scope: Scope,
    /// Other values. The machine's own value is not listed, or is skipped.
    others: &'static [&'static str],
}

/// The kind of an assumption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AssumptionKind {
    /// A constant of an earlier fit, replaced by a round number before the last one.
    Frozen,
    /// A number that was never fitted.
    Guess,
    /// A choice for a column of the tables, made by hand with all cells in view.
    Setting,
}

impl AssumptionKind {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            AssumptionKind::Frozen => "fitted, then frozen",
            AssumptionKind::Guess => "guess",
            AssumptionKind::Setting => "setting",
        }
    }
}

/// The place of an assumption.
#[derive(Clone, Debug, PartialEq)]
enum Scope {
    /// All machines that have the field from this file.
    File(&'static str),
    /// These machines.
    Machines(&'static [&'static str]),
    /// All machines that have the field with this value and unit.
    Constant(f64, String),
}

use AssumptionKind::{Frozen, Guess, Setting};
use Scope::{File, Machines};

const fn new(kind: AssumptionKind, field: &'static str, scope: Scope, others: &'static [&'static str]) -> Assumption {
    Assumption { kind, field, scope, others }
}

/// Machines with the search constants of 4.2BSD since 1983-05-30.
const SEARCHES: &[&str] = &["vax780-sc780", "vax750-sc750", "vax780-si9900", "vax780-sc780-initial-arbitration"];
/// Machines whose firmware is an assumption.
const FIRMWARE: &[&str] = &["vax750-sc750", "vax780-sc780-initial-arbitration", "vax780-sc780-inadequate-lead"];
/// The early stages of the SC780.
const EARLY: &[&str] = &["vax780-sc780-initial-arbitration", "vax780-sc780-inadequate-lead"];
const INITIAL: &[&str] = &["vax780-sc780-initial-arbitration"];
const INADEQUATE: &[&str] = &["vax780-sc780-inadequate-lead"];
const SC750: &[&str] = &["vax750-sc750"];
const SI9900: &[&str] = &["vax780-si9900"];
const UDA50: &[&str] = &["vax750-uda50", "vax780-uda50"];

const SC780_FILE: Scope = File("machines/controller/sc780.toml");
const SI9900_FILE: Scope = File("machines/controller/si9900.toml");
const UDA50_FILE: Scope = File("machines/controller/uda50.toml");

/// Everything that affects the results and that no fit varies. The other values of a frozen constant include the one
/// from the fit before 2026-11-21. Those of a setting are the alternatives in `crates/calibration/priors.toml`. The
/// guesses are halved and doubled, unless the number has few possible values.
const ASSUMPTIONS: &[Assumption] = &[
    new(Frozen, "controller.command", SC780_FILE, &["350us", "450us"]),
    new(Frozen, "controller.jitter", UDA50_FILE, &["25percent", "70percent"]),
    new(Frozen, "cpu.copy", File("machines/cpu/vax-11-750.toml"), &["0.9times", "1.1times"]),
    new(Guess, "controller.finish", SC780_FILE, &["50us", "200us"]),
    new(Guess, "controller.command", SI9900_FILE, &["200us", "400us"]),
    new(Guess, "controller.command", UDA50_FILE, &["0.5ms", "2ms"]),
    new(Guess, "controller.fetched_writes", UDA50_FILE, &["1writes"]),
    new(Guess, "bus.to_memory", File("machines/bus/unibus.toml"), &["0.8MB/s", "2MB/s"]),
    new(Guess, "kernel.jitter", File("machines/kernel/4.2bsd.toml"), &["5percent", "30percent"]),
    new(Guess, "kernel.context_switch", File("machines/kernel/4.2bsd.toml"), &["200us", "800us"]),
    new(Guess, "kernel.critical_section", File("machines/kernel/4.2bsd.toml"), &["0us", "225us", "900us"]),
    new(Setting, "controller.search_window", Machines(SEARCHES), &["3sectors", "8sectors"]),
    new(Setting, "controller.configured_drives", Machines(SEARCHES), &["1drives"]),
    new(Setting, "controller.search_lead", Machines(INITIAL), &["6sectors", "7sectors"]),
    new(Setting, "controller.attention", Machines(FIRMWARE), &["held"]),
    new(Setting, "bus.late_slips", File("machines/bus/sbi-initial-arbitration.toml"), &["1slips", "2slips"]),
    new(Setting, "bus.late_rival", File("machines/bus/sbi-initial-arbitration.toml"), &["work"]),
    new(Setting, "controller.attention_kept", Machines(EARLY), &["0ms", "4ms"]),
    new(Setting, "controller.microcode", SI9900_FILE, &["parallel"]),
    new(Setting, "file_system.rotational_delay", Machines(SC750), &["2ms"]),
    new(Setting, "file_system.rotational_delay", Machines(SI9900), &["4ms"]),
    new(Setting, "file_system.rotational_delay", Machines(UDA50), &["4ms"]),
    new(Setting, "file_system.rotational_delay", Machines(INITIAL), &["4ms"]),
    new(Setting, "file_system.rotational_delay", Machines(INADEQUATE), &["4ms"]),
];

/// Pairs of proportional numbers: the first follows the second. Both are in the machine files, but count as one
/// constant. The `from` of the first says so.
const TIES: [(&str, &str); 5] = [
    ("kernel.clear_per_kib", "kernel.copy_per_kib"),
    ("kernel.block_write", "kernel.block_read"),
    ("controller.driver_start", "controller.driver_interrupt"),
    ("controller.from_memory", "controller.to_memory"),
    ("bus.from_memory", "bus.to_memory"),
];

/// Relative error of a fitted constant.
const OFF: f64 = 0.1;

/// Another value of one assumption.
#[derive(Clone, Debug, PartialEq)]
pub struct Variation {
    field: String,
    scope: Scope,
    to: To,
}

/// The other value.
#[derive(Clone, Debug, PartialEq)]
enum To {
    Times(f64),
    Value(&'static str),
}

impl Variation {
    /// The name in reports: `controller.turnaround +10 %` or `controller.finish=50us (sc780)`.
    pub fn name(&self) -> String {
        let field = &self.field;
        match (&self.to, &self.scope) {
            (To::Times(factor), _) => format!("{field} {:+.0} %", 100.0 * (factor - 1.0)),
            (To::Value(value), scope) => format!("{field}={value} ({})", scope.name()),
        }
    }

    /// The dotted name of the number or choice.
    pub fn field(&self) -> &str {
        &self.field
    }

    /// The part or machine that it belongs to.
    pub fn part(&self) -> &str {
        self.scope.name()
    }

    /// The other value; empty for a factor.
    pub fn value(&self) -> &str {
        if let To::Value(value) = self.to { value } else { "" }
    }

    /// Returns the value that the machine of a setup has.
    pub fn own(&self, setup: &Setup) -> Result<String, MachineFault> {
        Ok(word(&setup.load()?, &self.field))
    }

    /// Returns the setup with this variation and all numbers that follow. Returns `None` if the machine does not have
    /// the assumption, if it has this value anyway, or if the setup sets the field itself.
    pub fn applied(&self, setup: &Setup) -> Result<Option<Setup>, MachineFault> {
        let machine = setup.load()?;
        if !self.scope.contains(setup, &machine, &self.field) {
            return Ok(None);
        }
        let mut changed = setup.clone();
        match (&self.to, machine.value(&self.field)) {
            (To::Value(value), own) => {
                changed = changed.with(format!("{}={value}", self.field));
                let after = changed.load()?;
                if word(&after, &self.field) == word(&machine, &self.field) {
                    return Ok(None);
                }
                if let (Some((before, _)), Some((after, _))) = (own, after.value(&self.field)) {
                    changed = with_followers(changed, &machine, &self.field, after / before);
                }
            }
            (To::Times(factor), Some((value, unit))) => {
                changed = changed.with(machine.finely(&self.field, value * factor, &unit));
                changed = with_followers(changed, &machine, &self.field, *factor);
            }
            (To::Times(_), None) => return Ok(None),
        }
        Ok(Some(changed))
    }
}

/// Multiplies all numbers that follow this one.
fn with_followers(setup: Setup, machine: &Machine, leader: &str, factor: f64) -> Setup {
    let followers = TIES.iter().filter(|(_, other)| *other == leader).map(|(follower, _)| *follower);
    let changes = followers.filter_map(|field| {
        let (value, unit) = machine.value(field)?;
        Some(machine.finely(field, value * factor, &unit))
    });
    changes.fold(setup, |setup, change| setup.with(change))
}

impl Scope {
    /// True if the machine of the setup has the field within this scope, and the setup does not set it.
    fn contains(&self, setup: &Setup, machine: &Machine, name: &str) -> bool {
        let Some(field) = name
            .split_once('.')
            .and_then(|(kind, key)| machine.part(Kind::from_key(kind)?)?.field(key))
            .filter(|field| !field.is_typed())
        else {
            return false;
        };
        match self {
            Scope::File(file) => matches!(&field.place, Place::Line { file: written, .. } if written == file),
            Scope::Machines(names) => names.contains(&setup.machine),
            Scope::Constant(value, unit) => field.number().is_some_and(|own| own == (*value, unit.clone())),
        }
    }

    /// The name of the part or of the first machine.
    fn name(&self) -> &str {
        match self {
            Scope::File(file) => file.rsplit('/').next().unwrap_or(file).trim_end_matches(".toml"),
            Scope::Machines(names) => names.first().copied().unwrap_or_default(),
            Scope::Constant(..) => "",
        }
    }
}

/// The value of a field as text, with its unit.
fn word(machine: &Machine, name: &str) -> String {
    let field = name.split_once('.').and_then(|(kind, key)| machine.part(Kind::from_key(kind)?)?.field(key));
    field.map_or_else(String::new, |field| format!("{}{}", field.value, field.unit.as_deref().unwrap_or_default()))
}

/// The other values of all numbers that were not fitted and of all settings.
pub fn unfitted() -> impl Iterator<Item = (&'static Assumption, Variation)> {
    ASSUMPTIONS.iter().flat_map(|assumption| {
        assumption.others.iter().map(move |value| {
            let (field, scope) = (assumption.field.to_owned(), assumption.scope.clone());
            (assumption, Variation { field, scope, to: To::Value(value) })
        })
    })
}

/// Returns all variations of the machines of these setups: each fitted constant 10 % lower and higher, and the other
/// values of everything else.
pub fn variations(setups: &[Setup]) -> Result<Vec<Variation>, MachineFault> {
    let mut constants: Vec<Constant> = Vec::new();
    for setup in setups {
        for constant in fitted(&setup.load()?) {
            if !constants.contains(&constant) {
                constants.push(constant);
            }
        }
    }
    let mut variations = Vec::new();
    for (field, value, unit) in constants {
        for factor in [1.0 - OFF, 1.0 + OFF] {
            let scope = Scope::Constant(value, unit.clone());
            variations.push(Variation { field: field.clone(), scope, to: To::Times(factor) });
        }
    }
    for (_, variation) in unfitted() {
        for setup in setups {
            if variation.applied(setup)?.is_some() {
                variations.push(variation);
                break;
            }
        }
    }
    Ok(variations)
}

/// Number of fitted constants of all machines together.
pub fn constants() -> usize {
    let mut constants: Vec<Constant> = Machine::all().flat_map(|machine| fitted(&machine)).collect();
    constants.sort_by(|one, other| one.0.cmp(&other.0).then(one.1.total_cmp(&other.1)));
    constants.dedup();
    constants.len()
}

/// A fitted number: dotted name, value, unit. A number shared by several machines is one constant.
type Constant = (String, f64, String);

/// The fitted constants of a machine, without those that follow another.
fn fitted(machine: &Machine) -> Vec<Constant> {
    let all: Vec<Constant> = machine.fitted().collect();
    let has = |field: &str| all.iter().any(|constant| constant.0 == field);
    let is_led = |constant: &Constant| TIES.iter().any(|(follower, leader)| *follower == constant.0 && has(leader));
    all.iter().filter(|constant| !is_led(constant)).cloned().collect()
}

#[cfg(test)]
mod tests {
    use workload::programs::classic1983::Classic;

    use super::*;
    use crate::published::FileSystem;

    fn setup(machine: &'static str) -> Setup {
        Setup::new(machine, FileSystem::Block8K, Classic::Read8192, 1)
    }

    fn all_machines() -> Vec<Setup> {
        crate::columns::Column::all().map(|column| setup(column.machine)).collect()
    }

    #[test]
    fn tied_constants_move_together_and_count_once() {
        let mut leaders = 0;
        for setup in all_machines() {
            let before = setup.load().expect("a machine");
            let constants = fitted(&before);
            let has = |field: &str| constants.iter().any(|constant| constant.0 == field);
            for (follower, leader) in TIES {
                assert!(!has(follower) || !has(leader));
                let Some((field, value, unit)) = constants.iter().find(|constant| constant.0 == leader) else {
                    continue;
                };
                leaders += 1;
                let scope = Scope::Constant(*value, unit.clone());
                let variation = Variation { field: field.clone(), scope, to: To::Times(1.1) };
                let after = variation.applied(&setup).expect("a machine").expect("it has the constant");
                let after = after.load().expect("a machine");
                for field in [leader, follower] {
                    let value = |machine: &Machine| machine.value(field).expect("a number").0;
                    let ratio = value(&after) / value(&before);
                    assert!((ratio - 1.1).abs() < 0.01, "{field} of {} becomes {ratio} times as large", setup.machine);
                }
            }
        }
        assert!(leaders >= TIES.len());
    }

    /// The kernel is the same on both machines; the data command of a controller is its own.
    #[test]
    fn a_constant_shared_by_two_machines_counts_once() {
        let [sc, uda] = ["vax780-sc780", "vax780-uda50"].map(|machine| fitted(&setup(machine).load().expect("one")));
        let shared = sc.iter().filter(|constant| uda.contains(constant)).count();
        let both = variations(&[setup("vax780-sc780"), setup("vax780-uda50")]).expect("machines");
        let fitted = both.iter().filter(|variation| matches!(variation.to, To::Times(_))).count();
        assert_eq!(fitted, 2 * (sc.len() + uda.len() - shared));
        assert!(shared > 0 && shared < sc.len().min(uda.len()));
        assert!(constants() > sc.len().max(uda.len()));
    }

    /// Every value is valid and differs from the one that some machine has.
    #[test]
    fn every_assumption_changes_a_machine() {
        let setups = all_machines();
        for (assumption, variation) in unfitted() {
            let changed = setups.iter().filter_map(|setup| variation.applied(setup).expect("a valid value"));
            let mut count = 0;
            for setup in changed {
                setup.describe().unwrap_or_else(|fault| panic!("{}: {fault}", variation.name()));
                count += 1;
            }
            let has_it = assumption.others.iter().any(|value| variation.to != To::Value(value));
            assert!(count > 0 || has_it, "{} changes no machine", variation.name());
        }
    }

    /// An experiment that sets a field does not test the assumption about this field.
    #[test]
    fn the_factor_of_an_experiment_is_not_varied() {
        let finish = unfitted().find(|(assumption, _)| assumption.field == "controller.finish").expect("one").1;
        let own = setup("vax780-sc780");
        assert!(finish.applied(&own).expect("a machine").is_some());
        assert!(finish.applied(&own.with("controller.finish=70us")).expect("a machine").is_none());
        assert!(finish.applied(&setup("vax780-uda50")).expect("a machine").is_none());
        assert!(finish.applied(&own.with("controller=uda50")).expect("a machine").is_none());
    }
}
