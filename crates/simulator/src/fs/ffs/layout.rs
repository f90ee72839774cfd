//! The layout of a file system: as `newfs` of 4.2BSD computes it from drive and parameters (`mkfs.c`, July 1983).

use super::Fragment;
use crate::description::{self, SECTOR_BYTES};
use crate::faults::{self, Fault};
use crate::fs::extent::Extent;

/// Bytes before the first group: boot block and super block.
const BOOT_AND_SUPER: u32 = 16 * 1024;
/// Bytes of a super block.
const SUPER: u32 = 8 * 1024;
/// Bytes of an inode.
const INODE: u32 = 128;
/// Maximum number of inodes per group (`MAXIPG`).
const MOST_INODES: u32 = 2048;
/// Rotational positions per turn (`NRPOS`).
const POSITIONS: u32 = 8;
/// Maximum bytes of a group header besides the map of its fragments.
const HEADER_FIXED: u32 = 1000;

/// The parameters of the layout.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub(crate) block_bytes: u32,
    pub(crate) fragment_bytes: u32,
    /// Fragments per block.
    pub(crate) fragments: u32,
    pub(crate) groups: u32,
    pub(crate) fragments_per_group: u32,
    /// Blocks of a file in one group, before the next group is used.
    pub(crate) blocks_per_group: u32,
    pub(crate) pointers_per_block: u32,
    pub(crate) inodes_per_group: u32,
    /// Interleave: fragments that are skipped after a block of a file.
    pub(crate) gap: u32,
    sectors_per_fragment: u32,
    sectors_per_track: u32,
    sectors_per_cylinder: u32,
    first_sector: u32,
    /// Distance by which headers move from group to group, so that they are not all on the same platter.
    header_step: u32,
    header_mask: u32,
    copy_at: u32,
    header_at: u32,
    data_at: u32,
}

impl Layout {
    pub(crate) fn from_drive(drive: &description::Drive, file_system: &description::Ffs) -> Layout {
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
        Layout {
            block_bytes: block,
            fragment_bytes: fragment,
            fragments,
            groups: (partition / (per_group * cylinder)).max(1),
            fragments_per_group,
            blocks_per_group: file_system.blocks_per_group,
            pointers_per_block: block / 4,
            inodes_per_group: inodes.next_multiple_of(block / INODE).min(MOST_INODES),
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

    /// Returns why `mkfs` refuses the file system on this drive: the field and the problem. `None` if it does not.
    ///   1. The header of the smallest possible group is too small for the map of its fragments.
    ///   2. The partition is smaller than a group.
    ///   3. Header and inodes leave hardly any space for data in a group.
    pub(crate) fn refusal(
        drive: &description::Drive,
        file_system: &description::Ffs,
    ) -> Option<(&'static str, &'static str)> {
        // 1
        if !map_fits(cycle(drive, file_system), drive, file_system) {
            return Some(("drive.heads", "a cylinder is too large for the groups of 4.2BSD"));
        }
        let layout = Layout::from_drive(drive, file_system);
        // 2
        let sectors = u64::from(drive.cylinders) * u64::from(drive.sectors_per_cylinder());
        let partition = sectors - u64::from(drive.first_sector);
        if partition < u64::from(layout.fragments_per_group) * u64::from(layout.sectors_per_fragment) {
            return Some(("drive.first_sector", "less than one group of cylinders is left of the drive"));
        }
        // 3
        let last_start = layout.header_step * (!layout.header_mask).min(layout.groups - 1);
        let needed = last_start + layout.data_at + LEAST_BLOCKS * layout.fragments;
        (needed > layout.fragments_per_group)
            .then_some(("drive.cylinders", "a group of cylinders has no room but for its header and inodes"))
    }

    pub(crate) fn group(&self, fragment: Fragment) -> u32 {
        fragment / self.fragments_per_group
    }

    /// The second block of a group, where 4.2BSD begins to search for space.
    pub(crate) fn first_of(&self, group: u32) -> Fragment {
        group * self.fragments_per_group + self.fragments
    }

    /// The group of the programs' directories. The root directory is in the first group. A new directory goes to the
    /// group with the fewest directories, which is the second.
    pub(crate) fn home(&self) -> u32 {
        1.min(self.groups - 1)
    }

    pub(crate) fn extent(&self, fragment: Fragment, count: u32) -> Extent {
        let sector = self.first_sector + fragment * self.sectors_per_fragment;
        Extent { sector, sectors: (count * self.sectors_per_fragment) as u16 }
    }

    /// The header of a group: the block with the map of its free fragments.
    pub(crate) fn header(&self, group: u32) -> Extent {
        self.extent(group * self.fragments_per_group + self.start(group) + self.header_at, self.fragments)
    }

    /// The block with an inode of a group. Inodes follow the header.
    pub(crate) fn inode_block(&self, group: u32, inode: u32) -> Extent {
        let first = group * self.fragments_per_group + self.start(group) + self.header_at + self.fragments;
        let block = inode / (self.block_bytes / INODE);
        self.extent(first + block * self.fragments, self.fragments)
    }

    /// The super block, after the boot block.
    pub(crate) fn super_block(&self) -> Extent {
        self.extent(SUPER / self.fragment_bytes, SUPER / self.fragment_bytes)
    }

    /// The group of a sector of the drive.
    pub(crate) fn group_of_sector(&self, sector: u32) -> u32 {
        self.group((sector - self.first_sector) / self.sectors_per_fragment)
    }

    /// Fragments of a group that are not for data, relative to its beginning. If the headers of a group are moved, the
    /// fragments before its copy of the super block are for data.
    pub(crate) fn reserved(&self, group: u32) -> core::ops::Range<u32> {
        let start = self.start(group);
        let from = if group == 0 { 0 } else { start + self.copy_at };
        from..start + self.data_at
    }

    fn start(&self, group: u32) -> u32 {
        self.header_step * (group & !self.header_mask)
    }

    /// The cylinder of a fragment of a group, and the rotational position of its beginning.
    pub(crate) fn cylinder_and_position(&self, within_group: u32) -> (u32, u32) {
        let sector = within_group * self.sectors_per_fragment;
        let position = sector % self.sectors_per_track * POSITIONS / self.sectors_per_track;
        (sector / self.sectors_per_cylinder, position)
    }

    /// Blocks of a group that begin on that cylinder of the group.
    pub(crate) fn blocks_of_cylinder(&self, cylinder: u32) -> core::ops::Range<u32> {
        let first =
            |cylinder: u32| (cylinder * self.sectors_per_cylinder).div_ceil(self.sectors_per_fragment * self.fragments);
        first(cylinder)..first(cylinder + 1).min(self.fragments_per_group / self.fragments)
    }

    /// Rotational positions per turn.
    pub(crate) const POSITIONS: u32 = POSITIONS;
}

/// Minimum number of data blocks of a useful group.
const LEAST_BLOCKS: u32 = 4;

/// Number of cylinders after which blocks begin at the same rotational positions again.
fn cycle(drive: &description::Drive, file_system: &description::Ffs) -> u32 {
    let mut cycle = file_system.block_bytes / SECTOR_BYTES;
    let mut rest = drive.sectors_per_cylinder();
    while cycle > 1 && rest.is_multiple_of(2) {
        (cycle, rest) = (cycle / 2, rest / 2);
    }
    cycle
}

/// True if the map of `cylinders` cylinders fits into a header, which is one block.
fn map_fits(cylinders: u32, drive: &description::Drive, file_system: &description::Ffs) -> bool {
    let sectors = u64::from(cylinders) * u64::from(drive.sectors_per_cylinder());
    let map = sectors / u64::from(file_system.fragment_bytes / SECTOR_BYTES) / 8;
    map + u64::from(HEADER_FIXED) <= u64::from(file_system.block_bytes)
}

/// Interleave: fragments to skip so that the next block comes under the heads after the rotational delay. Always whole
/// blocks, because blocks are placed at multiples of their size.
fn gap(drive: &description::Drive, file_system: &description::Ffs) -> u32 {
    let turns_per_second = u64::from(drive.milli_rpm / 60_000);
    let sectors_per_fragment = u64::from(file_system.fragment_bytes / SECTOR_BYTES);
    let passing = file_system.rotational_delay.0 * turns_per_second * u64::from(drive.sectors_per_track);
    if faults::is_planted(Fault::NoRotationalDelay) {
        return 0;
    }
    let fragments = (passing / (sectors_per_fragment * 1_000_000_000)) as u32;
    fragments.next_multiple_of(file_system.block_bytes / file_system.fragment_bytes)
}

/// Mask of group numbers: groups that agree under it have their headers at the same offset.
fn header_mask(heads: u32) -> u32 {
    let mut mask = u32::MAX;
    let mut tracks = heads;
    while tracks > 1 {
        (mask, tracks) = (mask << 1, tracks / 2);
    }
    if heads.is_power_of_two() { mask } else { mask << 1 }
}
