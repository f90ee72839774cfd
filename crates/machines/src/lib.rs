//! Simulated machines as data: files of parts, where each number has a unit and a source, and computers composed of
//! these parts.
//!
//! ```text
//!   machines/*.toml ── sheet ──> part ──> machine (like, parts, settings, --set) ──> describe ──> simulator
//! ```

mod builtin;
mod describe;
mod faster;
mod fault;
mod kind;
mod machine;
mod part;
mod quantity;
mod sheet;
mod sweep;

pub use faster::{RESOURCES, Resource};
pub use fault::{MachineFault, Place};
pub use kind::Kind;
pub use machine::Machine;
pub use part::Part;
pub use sweep::Sweep;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_machine_can_run_two_drives() {
        let names: Vec<String> = Machine::all().map(|machine| machine.name).collect();
        assert_eq!(names.len(), 7);
        for machine in Machine::all() {
            let description = machine.describe(2, 8 << 20).unwrap_or_else(|fault| panic!("{fault}"));
            assert_eq!((description.name.as_str(), description.file_systems.len()), (machine.name.as_str(), 2));
            assert!(!machine.about.is_empty());
        }
    }
}
