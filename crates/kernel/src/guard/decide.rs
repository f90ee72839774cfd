//! The reasons not to overwrite a device, decided from facts about it and its machine. Touches nothing.

use std::fmt;
use std::path::PathBuf;

use units::Bytes;

use super::machine::{Block, Machine, Mount};
use super::processes::Program;
use super::signatures::Signature;
use super::unseen::{self, Reach};
use super::writers::{Writer, Writers};
use crate::observe::block_device::Number;
use crate::provision::loop_device::{Backing, Window};
use crate::sys::name::{Shown, plain_text};

/// Facts about a device that is to be overwritten.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) number: Number,
    /// Whether it is read-only.
    pub(crate) read_only: bool,
    /// Whether another program has it open exclusively; none if that was not tried.
    pub(crate) is_claimed: Option<bool>,
    pub(crate) signatures: Vec<Signature>,
}

/// One reason not to overwrite a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It is in use, or another device is that shares bytes with it.
    Used {
        /// The device in use.
        what: Relative,
        /// How.
        by: Use,
    },
    /// Another loop device shows the same file.
    SameFile(String),
    /// It shows a file that may have a second identity: other device and inode numbers.
    UnseenFile {
        /// The device that shows the file: this one, or one below.
        what: Relative,
        /// The file system that the file is on.
        file_system: String,
    },
    /// Another loop device may show the same bytes: its file may be the one behind this device.
    MayShow {
        /// The other device.
        device: String,
        /// Whether it shows a part of its file only. Else it is as large as this device.
        is_part: bool,
        /// The file system that its file is on.
        file_system: String,
    },
    /// It is read-only.
    ReadOnly,
    /// An unknown program has it open exclusively.
    Claimed,
    /// Mounts or devices cannot be read, so its use is unknown.
    Unseen,
    /// Processes may have it open for writing: this many do not show their open files to this user.
    HiddenProcesses(usize),
    /// /proc leaves out other users' processes for this user, and one of them may have it open for writing.
    LeftOutProcesses,
    /// It holds data.
    Holds(Signature),
    /// It has partitions.
    Partitions(Vec<String>),
    /// The kernel does not count writes to it; the file that switches the count on, if there is one.
    Uncounted(Option<PathBuf>),
    /// It cannot be seen whether another program writes to this: its disk, or the file behind it.
    UnseenWrites(String),
}

/// A device that shares bytes with the one that is to be overwritten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relative {
    /// What it is to that one.
    pub kind: Kinship,
    /// Its name.
    pub name: String,
}

/// What a device is to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kinship {
    /// The same.
    Itself,
    /// The disk that it is a partition of, or another device below.
    Below,
    /// A partition of it.
    Partition,
    /// A device on top of it, or of a partition of it.
    Above,
    /// A partition that shares sectors with it, or with a device below. Disk labels of Sun, SGI and BSD have one for
    /// the whole disk.
    Overlapping,
    /// The same disk, or the same disk as one below, by another path.
    Twin,
}

/// How a device is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Use {
    /// A file system on it is mounted.
    Mounted {
        /// Where.
        at: PathBuf,
        /// Which.
        file_system: String,
        /// Whether in another mount namespace than ours.
        is_elsewhere: bool,
    },
    /// The kernel has a file system on it in use, and no visible list of mounts has it.
    Alive(String),
    /// It is used as swap.
    Swap,
    /// It is a member of a btrfs in use.
    Btrfs(String),
    /// It is the log or journal of a file system on another device.
    Journal,
    /// Another device is built on it: a mapped one, a RAID, a cache.
    Held(String),
    /// It is the backing device of a loop device.
    Loop(String),
    /// A process has it open for writing.
    Open(Program),
    /// A process has the file behind it open for writing.
    FileOpen(Program),
}

impl Reason {
    /// Whether `--destroy-data` overrides it. Nothing overrides a use.
    pub fn can_be_lifted(&self) -> bool {
        matches!(self, Reason::Holds(_) | Reason::Partitions(_) | Reason::Uncounted(_) | Reason::UnseenWrites(_))
    }

    /// Whether it may be gone in a moment.
    pub(crate) fn may_pass(&self) -> bool {
        matches!(self, Reason::Unseen | Reason::Used { by: Use::Open(_) | Use::FileOpen(_), .. })
    }

    /// Whether it is something of a known format, or partitions.
    pub fn is_known_content(&self) -> bool {
        match self {
            Reason::Holds(signature) => !signature.is_unknown(),
            Reason::Partitions(_) => true,
            _ => false,
        }
    }

    /// What to try.
    pub fn hint(&self) -> String {
        match self {
            Reason::Used { by: Use::Mounted { is_elsewhere: true, .. }, .. } => {
                "a container or a service has it mounted; list the mounts of a process: findmnt --task PID".to_owned()
            }
            Reason::Used { by: Use::Mounted { .. }, .. } => "list all mounts: findmnt".to_owned(),
            Reason::Used { by: Use::Alive(_), .. } => {
                "end the programs that still have files on it open: it was unmounted before they closed them".to_owned()
            }
            Reason::Used { by: Use::Swap, what } => format!("stop using it as swap: swapoff /dev/{}", what.name),
            Reason::Used { by: Use::Btrfs(_) | Use::Journal, .. } => "unmount the file system it belongs to".to_owned(),
            Reason::Used { by: Use::Held(by), .. } => {
                format!("stop {by} first (dmsetup, vgchange, mdadm, cryptsetup), or name it as the target")
            }
            Reason::Used { by: Use::Loop(by), .. } | Reason::SameFile(by) => {
                format!("detach the other loop device: losetup --detach /dev/{by}")
            }
            Reason::Used { by: Use::Open(program) | Use::FileOpen(program), .. } => {
                format!("end that program first; look at it: ps -fp {}", program.pid)
            }
            Reason::UnseenFile { .. } => {
                "attach a loop device to a file on ext4, xfs, btrfs or tmpfs, and name that device".to_owned()
            }
            Reason::MayShow { device, .. } => {
                format!("if /dev/{device} is not needed, detach it: losetup --detach /dev/{device}")
            }
            Reason::HiddenProcesses(_) | Reason::LeftOutProcesses => {
                "run it as root and outside of containers, to see the open files of all processes".to_owned()
            }
            Reason::ReadOnly => "list read-only devices: lsblk -o NAME,RO".to_owned(),
            Reason::Claimed => {
                "a program, ZFS or a mount that is hidden from this user or container uses it".to_owned()
            }
            Reason::Unseen => "run it as root and outside of containers, with all of /proc, /sys and /dev".to_owned(),
            Reason::Holds(_) | Reason::Partitions(_) | Reason::Uncounted(None) | Reason::UnseenWrites(_) => {
                "check the device: lsblk --fs".to_owned()
            }
            Reason::Uncounted(Some(switch)) => format!("switch the count on: echo 1 > {}", plain(switch)),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Used { what, by } => match by {
                Use::Mounted { at, file_system, is_elsewhere } => {
                    let space = if *is_elsewhere { " in another mount namespace" } else { "" };
                    write!(f, "{what} is mounted at {}{space} ({file_system})", plain(at))
                }
                Use::Alive(file_system) => {
                    write!(f, "{what} has a file system in use ({file_system}) without a visible mount")
                }
                Use::Swap => write!(f, "{what} is used as swap"),
                Use::Btrfs(uuid) => write!(f, "{what} is a member of a btrfs in use ({uuid})"),
                Use::Journal => write!(f, "{what} is the journal of a file system in use"),
                Use::Held(by) => write!(f, "{what} is part of {by}"),
                Use::Loop(by) => write!(f, "{what} is the backing device of {by}"),
                Use::Open(program) => write!(f, "{what} is open for writing in {program}"),
                Use::FileOpen(program) => write!(f, "{what} shows a file that is open for writing in {program}"),
            },
            Reason::UnseenFile { what, file_system } => {
                write!(f, "{what} shows a file on {}, which may be in use under another name", on(file_system))
            }
            Reason::MayShow { device, is_part: true, file_system } => {
                write!(
                    f,
                    "{device} shows a part of a file, which may be a part of it: that file is on {}",
                    on(file_system)
                )
            }
            Reason::MayShow { device, is_part: false, file_system } => {
                write!(f, "{device} is as large and may show the same bytes: its file is on {}", on(file_system))
            }
            Reason::HiddenProcesses(1) => {
                write!(f, "1 process does not show whether it has the device open for writing")
            }
            Reason::HiddenProcesses(count) => {
                write!(f, "{count} processes do not show whether they have the device open for writing")
            }
            Reason::LeftOutProcesses => {
                write!(
                    f,
                    "/proc leaves out other users' processes (hidepid), which may have the device open for writing"
                )
            }
            Reason::SameFile(other) => write!(f, "{other} shows the same file"),
            Reason::ReadOnly => write!(f, "it is read-only"),
            Reason::Claimed => write!(f, "another program has it open exclusively"),
            Reason::Unseen => write!(f, "diskperf cannot see which programs use it"),
            Reason::Holds(Signature { format, label: Some(label), .. }) => write!(f, "it holds {format} {label:?}"),
            Reason::Holds(Signature { format, .. }) => write!(f, "it holds {format}"),
            Reason::Partitions(names) => write!(f, "it has partitions ({})", names.join(", ")),
            Reason::Uncounted(_) => {
                write!(f, "the kernel does not count writes to it, so diskperf cannot check that it is blank")
            }
            Reason::UnseenWrites(what) => {
                let what = plain_text(what);
                write!(f, "diskperf cannot see whether another program writes to {what}, or check that it is blank")
            }
        }
    }
}

impl fmt::Display for Relative {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            Kinship::Itself => write!(f, "it"),
            Kinship::Below => write!(f, "{}, which is below it,", self.name),
            Kinship::Partition => write!(f, "its partition {}", self.name),
            Kinship::Above => write!(f, "{}, which is on top of it,", self.name),
            Kinship::Overlapping => write!(f, "{}, which shares sectors with it,", self.name),
            Kinship::Twin => write!(f, "{}, which is another path to the same disk,", self.name),
        }
    }
}

/// The name of a file system. A FUSE server may have chosen it.
fn on(file_system: &str) -> String {
    plain_text(file_system)
}

/// A path without control characters, which a terminal would obey.
fn plain(path: &std::path::Path) -> String {
    plain_text(&path.shown())
}

/// All reasons not to overwrite the device:
///   1. the device, one below it, one on top of it, another path to its disk, or a device that shares sectors with it
///      is mounted, alive, swap, a member, a journal, or open for writing in another process;
///   2. devices are built on it or on its partitions, and loop devices use them. The same for its disk, which has the
///      bytes of the partition;
///   3. another loop device on the same file, whether of this device or of a loop device below it; and if the numbers
///      of a file do not tell which one it is, this device itself, and any other that may show its bytes by their size.
///      Loop devices on files that this process has made show nothing else;
///   4. it is read-only;
///   5. diskperf cannot read the mounts, or the backing of a loop device, which may be this device; or it lacks the
///      right to see the open files of other processes; or an unknown program holds the device;
///   6. its content and its partitions.
pub(crate) fn reasons(seen: &Seen, machine: &Machine) -> Vec<Reason> {
    let mut reasons = Vec::new();
    let relatives = relatives(seen.number, machine);
    // 1. and 2.
    for relative in &relatives {
        let what = Relative { kind: relative.kind, name: relative.block.name.clone() };
        let uses = uses(relative, &relatives, machine).into_iter();
        reasons.extend(uses.map(|by| Reason::Used { what: what.clone(), by }));
    }
    // 3.
    let own = machine.blocks.iter().find(|block| block.number == seen.number);
    let lines = || relatives.iter().filter(|one| matches!(one.kind, Kinship::Itself | Kinship::Below));
    let is_line = |number: Number| lines().any(|one| one.block.number == number);
    for line in lines().filter(|one| matches!(one.block.backing, Some(Backing::File { .. }))) {
        let others =
            machine.blocks.iter().filter(|other| !is_line(other.number) && other.backing == line.block.backing);
        reasons.extend(others.map(|other| Reason::SameFile(other.name.clone())));
        if let Some(file_system) = line.block.unseen.clone().filter(|_| !line.block.is_own) {
            let what = Relative { kind: line.kind, name: line.block.name.clone() };
            reasons.push(Reason::UnseenFile { what, file_system });
        }
    }
    for line in lines().filter(|one| one.block.unseen.is_none()) {
        for (other, file_system) in unseen::may_show(machine, Reach::of(line.block), false) {
            let (device, is_part) = (other.name.clone(), other.window != Window::default());
            let said = Reason::MayShow { device, is_part, file_system: file_system.to_owned() };
            if !is_line(other.number) && !reasons.contains(&said) {
                reasons.push(said);
            }
        }
    }
    // 4.
    if seen.read_only {
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
    if seen.is_claimed == Some(true) && !is_explained {
        let holds_journal = seen.signatures.iter().any(|one| ["ext4 journal", "xfs log"].contains(&one.format));
        let what = Relative { kind: Kinship::Itself, name: own.map_or_else(String::new, |own| own.name.clone()) };
        reasons.push(if holds_journal { Reason::Used { what, by: Use::Journal } } else { Reason::Claimed });
    }
    // 6.
    for signature in &seen.signatures {
        let is_same = |reason: &Reason| matches!(reason, Reason::Holds(other) if other.format == signature.format);
        if !reasons.iter().any(is_same) {
            reasons.push(Reason::Holds(signature.clone()));
        }
    }
    let partitions = machine.blocks.iter().filter(|block| block.disk == Some(seen.number));
    let partitions: Vec<String> = partitions.map(|block| block.name.clone()).collect();
    if !partitions.is_empty() {
        reasons.push(Reason::Partitions(partitions));
    }
    reasons
}

/// A device that shares bytes with the one that is to be overwritten.
struct Related<'a> {
    block: &'a Block,
    kind: Kinship,
    /// Whether devices built on it share bytes with that one. Two volumes of one group share none.
    shares: bool,
}

/// The device itself, all below it, the same disks by other ways, partitions that have sectors of these, and all above
/// it.
fn relatives(number: Number, machine: &Machine) -> Vec<Related<'_>> {
    let find = |number: Number| machine.blocks.iter().find(|block| block.number == number);
    let Some(own) = find(number) else { return Vec::new() };
    let mut related = vec![Related { block: own, kind: Kinship::Itself, shares: true }];
    let mut below = vec![(own, true)];
    while let Some((block, shares)) = below.pop() {
        let backing = match block.backing {
            Some(Backing::Device(number)) => Some(number),
            _ => None,
        };
        let whole = block.disk.into_iter().chain(backing).map(|number| (number, shares));
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

/// Whether both are paths to one disk: they have the same name, or model and serial number, and the same size. If one
/// driver has both (the boot areas of a card), they are two.
fn is_twin(one: &Block, other: &Block) -> bool {
    let is_same = one.identity.is_some() && one.identity == other.identity && one.bytes == other.bytes;
    let has_one_driver = one.driven_by.is_some() && one.driven_by == other.driven_by;
    is_same && one.number != other.number && !has_one_driver
}

/// Whether both are partitions of one disk, and have sectors in common.
fn overlap(one: &Block, other: &Block, machine: &Machine) -> bool {
    let (Some(a), Some(b)) = (&one.sectors, &other.sectors) else { return false };
    let disk = |block: &Block| machine.blocks.iter().find(|disk| Some(disk.number) == block.disk);
    let (Some(disk), Some(others)) = (disk(one), disk(other)) else { return false };
    let is_one_disk = disk.number == others.number || is_twin(disk, others);
    is_one_disk && one.number != other.number && a.start < b.end && b.start < a.end
}

/// How a device is used.
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
        uses.extend(holders.map(|holder| Use::Held(called(holder, machine))));
        let loops = machine.blocks.iter().filter(|other| other.backing == Some(Backing::Device(*number)));
        uses.extend(loops.filter(|other| !is_between(&other.name)).map(|other| Use::Loop(other.name.clone())));
    }
    uses
}

/// The name of a holder, with the name that a mapped device was given.
fn called(holder: &str, machine: &Machine) -> String {
    let block = machine.blocks.iter().find(|block| block.name == holder);
    match block.and_then(|block| block.called.as_deref()) {
        Some(called) => format!("{holder} ({called})"),
        None => holder.to_owned(),
    }
}

/// Whether a size that was typed is this many bytes.
pub(crate) fn is_size(typed: &str, bytes: u64) -> bool {
    typed.parse() == Ok(Bytes(bytes)) || typed == Bytes(bytes).to_string()
}

#[cfg(test)]
pub(super) mod tests;
