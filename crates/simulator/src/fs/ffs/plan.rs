//! The plan of a file system: what `newfs` of 4.2BSD makes of a drive and of what it is told (`mkfs.c`, July 1983).

use super::{Extent, Fragment};
use crate::description::{self, SECTOR_BYTES};
use crate::faults::{self, Fault};

/// Bytes before the first group: boot block and super block.
const BOOT_AND_SUPER: u32 = 16 * 1024;
/// Bytes of a super block.
const SUPER: u32 = 8 * 1024;
/// Bytes of an inode.
const INODE: u32 = 128;
/// The most inodes of a group (`MAXIPG`).
const MOST_INODES: u32 = 2048;
/// Places that a turn is divided into (`NRPOS`).
const POSITIONS: u32 = 8;
/// What a group's header needs beside the map of its fragments, at most.
const HEADER_FIXED: u32 = 1000;

/// The numbers that everything else follows from.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) block_bytes: u32,
    pub(crate) fragment_bytes: u32,
    /// Fragments of a block.
    pub(crate) fragments: u32,
    pub(crate) groups: u32,
    pub(crate) fragments_per_group: u32,
    /// Blocks of a file in one group before the next is taken.
    pub(crate) blocks_per_group: u32,
    pub(crate) pointers_per_block: u32,
    /// Fragments that are skipped after a block of a file.
    pub(crate) gap: u32,
    sectors_per_fragment: u32,
    sectors_per_track: u32,
    sectors_per_cylinder: u32,
    first_sector: u32,
    /// By how much headers lie later from group to group, so that no single platter holds them all.
    header_step: u32,
    header_mask: u32,
    copy_at: u32,
    header_at: u32,
    data_at: u32,
}

impl Plan {
    pub(crate) fn of(drive: &description::Drive, file_system: &description::FileSystem) -> Plan {
        let (block, fragment) = (file_system.block_bytes, file_system.fragment_bytes);
        let fragments = block / fragment;
        let sectors_per_fragment = fragment / SECTOR_BYTES;
        let (track, cylinder) = (drive.sectors_per_track, drive.sectors_per_cylinder());
        let blocks_of = |bytes: u32| bytes.div_ceil(block) * fragments;

        let cycle = cycle(drive, file_system);
        let mut per_group = cycle.max(file_system.cylinders_per_group);
        while per_group > cycle && !map_fits(per_group, drive, file_system) {
            per_group -= cycle;
        }

        let partition = drive.cylinders * cylinder - drive.first_sector;
        let fragments_per_group = per_group * cylinder / sectors_per_fragment;
        let header_at = blocks_of(BOOT_AND_SUPER) + blocks_of(SUPER);
        let per_inode = fragment / INODE;
        let inodes = (fragments_per_group * fragment / file_system.bytes_per_inode).min(MOST_INODES);
        Plan {
            block_bytes: block,
            fragment_bytes: fragment,
            fragments,
            groups: (partition / (per_group * cylinder)).max(1),
            fragments_per_group,
            blocks_per_group: file_system.blocks_per_group,
            pointers_per_block: block / 4,
            gap: gap(drive, file_system),
            sectors_per_fragment,
            sectors_per_track: track,
            sectors_per_cylinder: cylinder,
            first_sector: drive.first_sector,
            header_step: track.div_ceil(sectors_per_fragment).next_multiple_of(fragments),
            header_mask: header_mask(drive.heads),
            copy_at: blocks_of(BOOT_AND_SUPER),
            header_at,
            data_at: header_at + fragments + (inodes.div_ceil(per_inode)).next_multiple_of(fragments),
        }
    }

    /// Why `mkfs` makes no such file system on a drive: at which field, and what is wrong.
    ///   1. The header of the smallest group has no room for the map of it.
    ///   2. The partition is smaller than a group.
    ///   3. A group holds its header and its inodes and hardly anything else.
    pub(crate) fn refusal(
        drive: &description::Drive,
        file_system: &description::FileSystem,
    ) -> Option<(&'static str, &'static str)> {
        // 1
        if !map_fits(cycle(drive, file_system), drive, file_system) {
            return Some(("drive.heads", "a cylinder is too large for the groups of 4.2BSD"));
        }
        let plan = Plan::of(drive, file_system);
        // 2
        let sectors = u64::from(drive.cylinders) * u64::from(drive.sectors_per_cylinder());
        let partition = sectors - u64::from(drive.first_sector);
        if partition < u64::from(plan.fragments_per_group) * u64::from(plan.sectors_per_fragment) {
            return Some(("drive.first_sector", "less than one group of cylinders is left of the drive"));
        }
        // 3
        let last_start = plan.header_step * (!plan.header_mask).min(plan.groups - 1);
        let needed = last_start + plan.data_at + LEAST_BLOCKS * plan.fragments;
        (needed > plan.fragments_per_group)
            .then_some(("drive.cylinders", "a group of cylinders has no room but for its header and inodes"))
    }

    pub(crate) fn group(&self, fragment: Fragment) -> u32 {
        fragment / self.fragments_per_group
    }

    /// The second block of a group, where 4.2BSD begins to look for room.
    pub(crate) fn first_of(&self, group: u32) -> Fragment {
        group * self.fragments_per_group + self.fragments
    }

    /// The group of the programs' own folders: the root has the first group, and a new directory goes where there
    /// are fewest, which is the second.
    pub(crate) fn home(&self) -> u32 {
        1.min(self.groups - 1)
    }

    pub(crate) fn extent(&self, fragment: Fragment, count: u32) -> Extent {
        let sector = self.first_sector + fragment * self.sectors_per_fragment;
        Extent { sector, sectors: (count * self.sectors_per_fragment) as u16 }
    }

    /// The block that says what is free in a group.
    pub(crate) fn header(&self, group: u32) -> Extent {
        self.extent(group * self.fragments_per_group + self.start(group) + self.header_at, self.fragments)
    }

    /// Fragments of a group that are not for data, from its beginning. Before the copy of the super block, a group
    /// that begins later has some.
    pub(crate) fn reserved(&self, group: u32) -> core::ops::Range<u32> {
        let start = self.start(group);
        let from = if group == 0 { 0 } else { start + self.copy_at };
        from..start + self.data_at
    }

    fn start(&self, group: u32) -> u32 {
        self.header_step * (group & !self.header_mask)
    }

    /// The cylinder of a group's fragment, and the place of the turn where it begins.
    pub(crate) fn cylinder_and_position(&self, within_group: u32) -> (u32, u32) {
        let sector = within_group * self.sectors_per_fragment;
        let position = sector % self.sectors_per_track * POSITIONS / self.sectors_per_track;
        (sector / self.sectors_per_cylinder, position)
    }

    /// Blocks of a group that begin on that cylinder of it.
    pub(crate) fn blocks_of_cylinder(&self, cylinder: u32) -> core::ops::Range<u32> {
        let first =
            |cylinder: u32| (cylinder * self.sectors_per_cylinder).div_ceil(self.sectors_per_fragment * self.fragments);
        first(cylinder)..first(cylinder + 1).min(self.fragments_per_group / self.fragments)
    }

    /// Places of a turn.
    pub(crate) const POSITIONS: u32 = POSITIONS;
}

/// Blocks for data that a group must have, or it is hardly one.
const LEAST_BLOCKS: u32 = 4;

/// Cylinders after which blocks lie at the same places of the turn again.
fn cycle(drive: &description::Drive, file_system: &description::FileSystem) -> u32 {
    let mut cycle = file_system.block_bytes / SECTOR_BYTES;
    let mut rest = drive.sectors_per_cylinder();
    while cycle > 1 && rest.is_multiple_of(2) {
        (cycle, rest) = (cycle / 2, rest / 2);
    }
    cycle
}

/// Whether the map of so many cylinders fits into a header, which is a block.
fn map_fits(cylinders: u32, drive: &description::Drive, file_system: &description::FileSystem) -> bool {
    let sectors = u64::from(cylinders) * u64::from(drive.sectors_per_cylinder());
    let map = sectors / u64::from(file_system.fragment_bytes / SECTOR_BYTES) / 8;
    map + u64::from(HEADER_FIXED) <= u64::from(file_system.block_bytes)
}

/// Fragments to be skipped so that the next block comes under the heads after the rotational delay; whole blocks,
/// as blocks are laid out in steps of their size.
fn gap(drive: &description::Drive, file_system: &description::FileSystem) -> u32 {
    let turns_per_second = u64::from(drive.milli_rpm / 60_000);
    let sectors_per_fragment = u64::from(file_system.fragment_bytes / SECTOR_BYTES);
    let passing = file_system.rotational_delay.0 * turns_per_second * u64::from(drive.sectors_per_track);
    if faults::is_planted(Fault::NoRotationalDelay) {
        return 0;
    }
    let fragments = (passing / (sectors_per_fragment * 1_000_000_000)) as u32;
    fragments.next_multiple_of(file_system.block_bytes / file_system.fragment_bytes)
}

/// Groups whose numbers agree under this mask have their headers at the same place.
fn header_mask(heads: u32) -> u32 {
    let mut mask = u32::MAX;
    let mut tracks = heads;
    while tracks > 1 {
        (mask, tracks) = (mask << 1, tracks / 2);
    }
    if heads.is_power_of_two() { mask } else { mask << 1 }
}
