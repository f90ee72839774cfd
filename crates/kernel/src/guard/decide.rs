//! Decides from facts about a device and its machine which reasons there are not to overwrite it. Pure.

mod overlap;

use units::Bytes;

use self::overlap::overlap;
use super::ambiguous_files::{self, FileEnd};
use super::device_uses::{Block, Machine, Mount};
use super::reason::{Kinship, Reason, Relative, Use};
use super::signatures::Signature;
use super::writers::{Writer, Writers};
use crate::observe::block_device::Number;
use crate::provision::loop_device::{Backing, Window};

/// Facts about a device that is to be overwritten.
#[derive(Clone, Debug, Default)]
pub(crate) struct DeviceFacts {
    pub(crate) number: Number,
    /// True if it is read-only.
    pub(crate) read_only: bool,
    /// True if another program has it, or the device behind a loop device, open exclusively; `None` if that was not
    /// tried.
    pub(crate) is_claimed: Option<bool>,
    pub(crate) signatures: Vec<Signature>,
}

/// Returns all reasons not to overwrite the device:
///   1. the device, one below it, one on top of it, another path to its disk, or a device that shares sectors with it
///      is mounted, has a file system in use, is swap, a member of a btrfs, a journal, exported by the kernel, or open
///      for writing in another process;
///   2. devices are built on it or on its partitions, or loop devices use them. The same applies to its disk, which has
///      the bytes of the partition;
///   3. another loop device is on the same file as this device or as a loop device below it. If inode numbers do not
///      identify a file, this device itself is refused, and any device that may show its bytes by its size. Loop
///      devices on files that this process has made are left out;
///   4. it is read-only;
///   5. diskperf cannot read the mounts, or the backing of a loop device, which may be this device; or it lacks the
///      right to see the open files of other processes; or an unknown program holds the device, or one behind it;
///   6. it holds data, or has partitions.
pub(crate) fn reasons(facts: &DeviceFacts, machine: &Machine) -> Vec<Reason> {
    let mut reasons = Vec::new();
    let relatives = relatives(facts.number, machine);
    // 1. and 2.
    for relative in &relatives {
        let what = Relative { kind: relative.kind, name: relative.block.name.clone() };
        let uses = uses(relative, &relatives, machine).into_iter();
        reasons.extend(uses.map(|by| Reason::Used { what: what.clone(), by }));
    }
    // 3.
    let own = machine.blocks.iter().find(|block| block.number == facts.number);
    let lines = || relatives.iter().filter(|one| matches!(one.kind, Kinship::Itself | Kinship::Below));
    let is_line = |number: Number| lines().any(|one| one.block.number == number);
    for line in lines() {
        let is_file = matches!(line.block.backing, Some(Backing::File { .. }));
        let shows_it = |other: &&Block| is_file && !is_line(other.number) && other.backing == line.block.backing;
        let others = machine.blocks.iter().filter(shows_it);
        reasons.extend(others.map(|other| Reason::SameFile(other.name.clone())));
        if let Some(file_system) = line.block.unseen.clone().filter(|_| !line.block.is_own) {
            let what = Relative { kind: line.kind, name: line.block.name.clone() };
            reasons.push(Reason::UnseenFile { what, file_system });
        }
    }
    for line in lines().filter(|one| one.block.unseen.is_none()) {
        for (other, file_system) in ambiguous_files::may_show(machine, FileEnd::of_block(line.block), false) {
            let (device, is_part) = (other.name.clone(), other.window != Window::default());
            let said = Reason::MayShow { device, is_part, file_system: file_system.to_owned() };
            if !is_line(other.number) && !reasons.contains(&said) {
                reasons.push(said);
            }
        }
    }
    // 4.
    if facts.read_only {
        reasons.push(Reason::ReadOnly);
    }
    // 5.
    let is_unknown = machine.blocks.iter().any(|block| block.is_unknown);
    if machine.mounts.is_none() || own.is_none() || is_unknown {
        reasons.push(Reason::Unseen);
    }
    let Writers { hidden, view, .. } = &machine.writers;
    if view.lacks_rights && view.leaves_out {
        reasons.push(Reason::LeftOutProcesses);
    } else if view.lacks_rights && !hidden.is_empty() {
        reasons.push(Reason::HiddenProcesses(hidden.len()));
    }
    let is_explained = reasons.iter().any(|reason| matches!(reason, Reason::Used { .. }));
    if facts.is_claimed == Some(true) && !is_explained {
        let holds_journal = facts.signatures.iter().any(|one| ["ext4 journal", "xfs log"].contains(&one.format));
        let what = Relative { kind: Kinship::Itself, name: own.map_or_else(String::new, |own| own.name.clone()) };
        reasons.push(if holds_journal { Reason::Used { what, by: Use::Journal } } else { Reason::Claimed });
    }
    // 6.
    for signature in &facts.signatures {
        let is_same = |reason: &Reason| matches!(reason, Reason::Holds(other) if other.format == signature.format);
        if !reasons.iter().any(is_same) {
            reasons.push(Reason::Holds(signature.clone()));
        }
    }
    let partitions = machine.blocks.iter().filter(|block| block.disk == Some(facts.number));
    let partitions: Vec<String> = partitions.map(|block| block.name.clone()).collect();
    if !partitions.is_empty() {
        reasons.push(Reason::Partitions(partitions));
    }
    reasons
}

/// Returns the devices behind this device, and behind those below it, if they are loop devices. A loop device does not
/// hold the device behind it, so another program may.
pub(crate) fn devices_behind(number: Number, machine: &Machine) -> Vec<Number> {
    let relatives = relatives(number, machine).into_iter();
    let lines = relatives.filter(|one| matches!(one.kind, Kinship::Itself | Kinship::Below));
    lines.filter_map(|one| one.block.device_behind()).collect()
}

/// A device that shares bytes with the one that is to be overwritten.
struct Related<'a> {
    block: &'a Block,
    kind: Kinship,
    /// True if devices built on it share bytes with that one. Two volumes of one group share none.
    shares: bool,
}

/// Returns the device itself, all devices below it, other paths to the same disks, partitions and mapped devices that
/// share sectors with these, and all devices on top of it.
fn relatives(number: Number, machine: &Machine) -> Vec<Related<'_>> {
    let find = |number: Number| machine.blocks.iter().find(|block| block.number == number);
    let Some(own) = find(number) else { return Vec::new() };
    let mut related = vec![Related { block: own, kind: Kinship::Itself, shares: true }];
    let mut below = vec![(own, true)];
    while let Some((block, shares)) = below.pop() {
        let whole = block.disk.into_iter().chain(block.device_behind()).map(|number| (number, shares));
        let parts = block.slaves.iter().map(|number| (*number, false));
        for (number, shares) in whole.chain(parts) {
            if let Some(block) = find(number)
                && related.iter().all(|known| known.block.number != number)
            {
                related.push(Related { block, kind: Kinship::Below, shares });
                below.push((block, shares));
            }
        }
    }
    // Devices on top of these are not followed: a use of the device itself is enough.
    let lines: Vec<(&Block, bool)> = related.iter().map(|one| (one.block, one.shares)).collect();
    for (block, shares) in lines {
        for other in &machine.blocks {
            let kind = if is_twin(block, other) {
                Kinship::Twin
            } else if overlap(block, other, machine) {
                Kinship::Overlapping
            } else {
                continue;
            };
            if related.iter().all(|known| known.block.number != other.number) {
                related.push(Related { block: other, kind, shares });
            }
        }
    }
    // Devices on top of another path to the same disk are on top of it.
    let mut above: Vec<&Block> = machine.blocks.iter().filter(|other| is_twin(own, other)).chain([own]).collect();
    while let Some(block) = above.pop() {
        for other in &machine.blocks {
            let lies_on = other.disk == Some(block.number)
                || other.slaves.contains(&block.number)
                || other.backing == Some(Backing::Device(block.number))
                || block.holders.contains(&other.name);
            if lies_on && related.iter().all(|known| known.block.number != other.number) {
                let kind = if other.disk == Some(number) { Kinship::Partition } else { Kinship::Above };
                related.push(Related { block: other, kind, shares: true });
                above.push(other);
            }
        }
    }
    related
}

/// Returns true if both are paths to one disk: they have the same identity (name, or model and serial number) and the
/// same size. Two devices of one driver (the boot areas of a card) are not.
fn is_twin(one: &Block, other: &Block) -> bool {
    let is_same = one.identity.is_some() && one.identity == other.identity && one.bytes == other.bytes;
    let has_one_driver = one.driven_by.is_some() && one.driven_by == other.driven_by;
    is_same && one.number != other.number && !has_one_driver
}

/// Returns the uses of a device.
fn uses(relative: &Related, all: &[Related], machine: &Machine) -> Vec<Use> {
    let Block { name, number, holders, .. } = relative.block;
    let is_between = |name: &str| {
        let between = all.iter().filter(|other| matches!(other.kind, Kinship::Itself | Kinship::Below));
        relative.kind == Kinship::Below && between.into_iter().any(|other| other.block.name == name)
    };
    let mounts = machine.mounts.iter().flatten();
    let is_of_it = |mount: &&Mount| mount.number == Some(*number) || mount.source == Some(*number);
    let mut uses: Vec<Use> = Vec::new();
    for Mount { at, file_system, is_elsewhere, .. } in mounts.clone().filter(is_of_it) {
        let is_known = |known: &Use| matches!(known, Use::Mounted { at: other, .. } if other == at);
        // Copies of our mount namespace have the same mounts: one reason is enough.
        if !uses.iter().any(is_known) {
            let (at, file_system) = (at.clone(), file_system.clone());
            uses.push(Use::Mounted { at, file_system, is_elsewhere: *is_elsewhere });
        }
    }
    let members = machine.btrfs.iter().filter(|(_, members)| members.contains(number));
    uses.extend(members.map(|(uuid, _)| Use::Btrfs(uuid.clone())));
    let alive = machine.alive.iter().filter(|(_, device)| device == name);
    if uses.is_empty() {
        uses.extend(alive.map(|(file_system, _)| Use::Alive(file_system.clone())));
    }
    if machine.swaps.contains(number) {
        uses.push(Use::Swap);
    }
    if machine.journals.contains(name) || mounts.clone().any(|mount| mount.log == Some(*number)) {
        uses.push(Use::Journal);
    }
    let exports = machine.exports.iter().filter(|(exported, _)| exported == number);
    uses.extend(exports.map(|(_, by)| Use::Exported(*by)));
    let is_it = |writer: &&Writer| writer.has(*number);
    let programs = |of: &dyn Fn(&&Writer) -> bool| {
        let all = machine.writers.open.iter().filter(|writer| of(writer));
        all.map(|writer| writer.program.clone()).collect::<Vec<_>>()
    };
    uses.extend(programs(&is_it).into_iter().map(Use::Open));
    if let Some(backing @ Backing::File { .. }) = &relative.block.backing {
        uses.extend(programs(&|writer| writer.what == *backing).into_iter().map(Use::FileOpen));
    }
    if relative.shares {
        let holders = holders.iter().filter(|holder| !is_between(holder));
        uses.extend(holders.map(|holder| Use::Held(display_name(holder, machine))));
        let loops = machine.blocks.iter().filter(|other| other.backing == Some(Backing::Device(*number)));
        uses.extend(loops.filter(|other| !is_between(&other.name)).map(|other| Use::Loop(other.name.clone())));
    }
    uses
}

/// Returns a holder's name, with the name that was given to a mapped device.
fn display_name(holder: &str, machine: &Machine) -> String {
    let block = machine.blocks.iter().find(|block| block.name == holder);
    match block.and_then(|block| block.called.as_deref()) {
        Some(called) => format!("{holder} ({called})"),
        None => holder.to_owned(),
    }
}

/// Returns true if a typed size means this many bytes.
pub(crate) fn is_size(typed: &str, bytes: u64) -> bool {
    typed.parse() == Ok(Bytes(bytes)) || typed == Bytes(bytes).to_string()
}

#[cfg(test)]
pub(super) mod tests;
