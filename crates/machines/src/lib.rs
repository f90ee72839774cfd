//! Simulated machines as data: files of parts, where each number has a unit and a source, and computers composed of
//! these parts.
//!
//! ```text
//!   machines/*.toml ── machine_file ──> part ──> machine (like, parts, settings, --set) ──> description ──> simulator
//! ```
//!
//! The files of devices with a law have a reader of their own: `device`.

mod builtin;
mod description;
mod device;
mod fault;
mod machine;
mod machine_file;
mod part;
mod part_kind;
mod quantity;
mod resources;
mod sweep;

pub use device::{DeviceFile, Figure, MeasuredOn, Origin, Point};
pub use fault::{MachineFault, Place};
pub use machine::{Machine, is_path};
pub use part::{Part, Source};
pub use part_kind::Kind;
pub use resources::{RESOURCES, Resource};
pub use sweep::{Sweep, SweepPart};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_machine_can_run_two_drives() {
        let names: Vec<String> = Machine::all().map(|machine| machine.name).collect();
        assert_eq!(names.len(), 9);
        for machine in Machine::all() {
            let description = machine.describe(2, 8 << 20).unwrap_or_else(|fault| panic!("{fault}"));
            assert_eq!(description.name, machine.name);
            assert!(!description.file_systems.is_empty());
            assert!(!machine.about.is_empty());
        }
    }
}
