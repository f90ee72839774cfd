//! A simulated machine as a target: `flat`, or one of `machines/` with optional settings and a choice of file system.

use machines::{Kind, Machine, MachineFault};
use simulator::{Chance, Computer};
use stats::ParameterValue;
use units::Nanos;
use workload::{Durability, Issue, Mode, Op, OpKind, Phase, Program, RateBase, Step, Steps};

use crate::error::CampaignError;

/// The key that chooses the file system.
const FILE_SYSTEM: &str = "file_system";

/// A simulated machine.
#[derive(Clone, Debug)]
pub enum Simulated {
    /// The simplest machine, which needs no description.
    Flat,
    /// A machine described in `machines/`, with a file system on its drives.
    Described(Box<Described>),
}

/// A machine described in `machines/`.
#[derive(Clone, Debug)]
pub struct Described {
    /// Its parts, after the settings. Its first file system is used.
    pub machine: Machine,
    /// The settings that were given, as pairs of key and value.
    pub settings: Vec<(String, String)>,
}

impl Simulated {
    /// Reads `MACHINE[,key=value]...`.
    pub fn read(text: &str) -> Result<Simulated, CampaignError> {
        let mut pieces = text.split(',');
        let name = pieces.next().unwrap_or_default();
        if name == "flat" {
            return match pieces.next() {
                None => Ok(Simulated::Flat),
                Some(_) => Err(CampaignError::NoSettings(text.to_owned())),
            };
        }
        let mut machine = Machine::load(name).map_err(|fault| match fault {
            MachineFault::UnknownMachine { name, mut known } => {
                known.insert(0, "flat");
                MachineFault::UnknownMachine { name, known }
            }
            fault => fault,
        })?;
        let mut settings = Vec::new();
        for piece in pieces {
            machine.set(piece)?;
            settings.extend(piece.split_once('=').map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned())));
        }
        settings.retain(|(key, value)| key != FILE_SYSTEM && machine.has(key, value));
        let machine = machine.with_file_system(0);
        Ok(Simulated::Described(Box::new(Described { machine, settings })))
    }

    /// True if both are the same machine with the same file system and settings.
    pub fn is_same(&self, other: &Simulated) -> bool {
        match (self, other) {
            (Simulated::Flat, Simulated::Flat) => true,
            (Simulated::Described(this), Simulated::Described(other)) => {
                let key = |one: &Described| (one.machine.name.clone(), one.file_system_name(), one.settings.clone());
                key(this) == key(other)
            }
            _ => false,
        }
    }

    /// True if it stands for the lab's computer, with any file system.
    pub fn is_the_labs(&self) -> bool {
        matches!(self, Simulated::Described(described) if described.machine.name.starts_with("lab-"))
    }

    /// Switches the machine on, for `programs` programs on one drive each and files of `file_bytes` bytes.
    pub fn open(&self, programs: usize, file_bytes: u64, chance: Chance) -> Result<simulator::Machine, CampaignError> {
        Ok(match self {
            Simulated::Flat => simulator::Machine::named("flat", programs).expect("the simplest machine"),
            Simulated::Described(described) => {
                simulator::Machine::Computer(Box::new(described.open(programs, file_bytes, chance)?))
            }
        })
    }

    /// Returns an error if the machine cannot have `drives` drives with files of `file_bytes` bytes.
    pub fn check(&self, drives: usize, file_bytes: u64) -> Result<(), CampaignError> {
        match self {
            Simulated::Flat => Ok(()),
            Simulated::Described(described) => {
                described.machine.describe(drives as u32, file_bytes)?;
                Ok(())
            }
        }
    }

    /// The name of the file system on its drives; `None` for `flat`.
    pub fn file_system(&self) -> Option<String> {
        match self {
            Simulated::Flat => None,
            Simulated::Described(described) => Some(described.file_system_name()),
        }
    }

    /// The name of its drive, and the bytes of the partition; `None` for `flat`.
    pub fn drive(&self) -> Option<(String, u64)> {
        let Simulated::Described(described) = self else { return None };
        let drive = described.machine.describe(1, 0).ok()?.drive;
        Some((drive.name.clone(), drive.bytes()))
    }

    /// The time of one revolution of its drive; `None` for `flat`.
    pub fn turn(&self) -> Option<Nanos> {
        let Simulated::Described(described) = self else { return None };
        Some(described.machine.describe(1, 0).ok()?.drive.turn())
    }

    /// The given settings, as parameters of a cell.
    pub fn parameters(&self) -> Vec<(String, ParameterValue)> {
        let Simulated::Described(described) = self else { return Vec::new() };
        let value = |text: &str| match text.parse() {
            Ok(number) => ParameterValue::Number(number),
            Err(_) => ParameterValue::Word(text.to_owned()),
        };
        described.settings.iter().map(|(key, text)| (key.clone(), value(text))).collect()
    }

    /// Returns why a program cannot run here; `None` if it can. The machine must have everything that the program
    /// measures.
    ///   1. Simulated programs make one call at a time.
    ///   2. Directories and inodes cost time only if the file system's `names` is `timed`.
    ///   3. Inodes are not written when a file is synced.
    ///   4. 4.2BSD has no direct I/O and no `O_SYNC`.
    pub fn lacks(&self, program: &Program) -> Option<String> {
        let any = |is: fn(&Phase) -> bool| program.phases.iter().any(is);
        // 1
        if any(|phase| phase.steps.issue() != Issue::Sync) {
            return Some("programs on a simulated machine make one call at a time".to_owned());
        }
        let Simulated::Described(described) = self else { return None };
        let name = &described.machine.name;
        // 2
        if any(|phase| phase.base == RateBase::Files) && described.has_free_names() {
            return Some(format!("directories and inodes take no time on {name}: file_system.names is free"));
        }
        // 3
        if any(|phase| matches!(phase.unit.last, OpKind::Fdatasync | OpKind::Fsync)) {
            return Some(format!("inodes are not written on {name}, which is half of a commit"));
        }
        // 4
        let modes = program.phases.iter().flat_map(modes);
        modes.into_iter().find_map(|mode| match mode {
            Mode { direct: true, .. } => Some(format!("{name} has no direct I/O: it always uses the buffer cache")),
            Mode { durability: Durability::None, .. } => None,
            _ => Some(format!("the system of {name} has no O_SYNC")),
        })
    }
}

/// The modes with which the phase opens files in its first operations.
fn modes(phase: &Phase) -> Vec<Mode> {
    let mode = |step| match step {
        Step::Op(Op::Open { mode, .. } | Op::Create { mode, .. }) => Some(mode),
        _ => None,
    };
    phase.steps.clone().take(8).filter_map(mode).collect()
}

impl Described {
    /// The name of its chosen file system.
    pub fn file_system_name(&self) -> String {
        let part = self.machine.part(Kind::FileSystem);
        part.map(|part| part.name.clone()).unwrap_or_default()
    }

    /// True if operations on names take no time on its chosen file system.
    fn has_free_names(&self) -> bool {
        let part = self.machine.part(Kind::FileSystem);
        part.and_then(|part| part.field("names")).is_some_and(|field| field.value.to_string() == "free")
    }

    /// Switches the computer on.
    pub fn open(&self, programs: usize, file_bytes: u64, chance: Chance) -> Result<Computer, MachineFault> {
        let description = self.machine.describe(programs as u32, file_bytes)?;
        let file_system = &description.file_systems[0];
        let computer = Computer::new(&description, file_system, programs, chance);
        computer.map_err(|invalid| self.machine.impossible(&invalid, None))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_of_a_replaced_part_are_left_out() {
        let read = Simulated::read("vax780-sc780,drive.rpm=1800,drive=ra81,drive.heads=10").expect("a machine");
        let Simulated::Described(described) = read else { panic!("it has parts") };
        let keys: Vec<&str> = described.settings.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(keys, ["drive", "drive.heads"]);
    }
}
