//! The inodes of a file system: which are in use, and where they are on the drive (`ialloccg` of 4.2BSD).

use alloc::vec;
use alloc::vec::Vec;

use super::cylinder_group;

/// The inodes of all groups.
#[derive(Clone, Debug)]
pub(super) struct InodeTable {
    per_group: u32,
    groups: Vec<Inodes>,
}

/// The inodes of a group.
#[derive(Clone, Debug)]
struct Inodes {
    used: Vec<bool>,
    free: u32,
    directories: u32,
    /// The inode that was allocated last (`cg_irotor`).
    rotor: u32,
}

/// Numbers of inodes that no file has, and that of the root directory (`ROOTINO`).
const RESERVED: u32 = 3;

impl InodeTable {
    /// Creates the inodes of an empty file system. The first group has the root directory and `lost+found`.
    pub(super) fn new(groups: u32, per_group: u32) -> InodeTable {
        let inodes = Inodes { used: vec![false; per_group as usize], free: per_group, directories: 0, rotor: 0 };
        let mut groups = vec![inodes; groups as usize];
        let reserved = (RESERVED + 1).min(per_group);
        let first = &mut groups[0];
        first.used[..reserved as usize].fill(true);
        (first.free, first.directories, first.rotor) = (per_group - reserved, 2, reserved - 1);
        InodeTable { per_group, groups }
    }

    pub(super) fn group(&self, inode: u32) -> u32 {
        inode / self.per_group
    }

    /// The number of an inode in its group.
    pub(super) fn within_group(&self, inode: u32) -> u32 {
        inode % self.per_group
    }

    /// Free inodes and directories of each group.
    pub(super) fn counts(&self) -> impl Iterator<Item = (u32, u32)> + Clone {
        self.groups.iter().map(|group| (group.free, group.directories))
    }

    /// Allocates an inode in that group, or else in another. Returns `None` if all are in use.
    pub(super) fn allocate(&mut self, group: u32, is_directory: bool) -> Option<u32> {
        let groups = self.groups.len() as u32;
        let group =
            cylinder_group::groups_in_turn(group, groups).find(|&group| self.groups[group as usize].free > 0)?;
        let inodes = &mut self.groups[group as usize];
        let count = self.per_group;
        let number =
            (1..=count).map(|step| (inodes.rotor + step) % count).find(|&number| !inodes.used[number as usize])?;
        inodes.used[number as usize] = true;
        inodes.rotor = number;
        inodes.free -= 1;
        inodes.directories += u32::from(is_directory);
        Some(group * self.per_group + number)
    }

    pub(super) fn free(&mut self, inode: u32, is_directory: bool) {
        let number = self.within_group(inode) as usize;
        let group = self.group(inode) as usize;
        let inodes = &mut self.groups[group];
        assert!(inodes.used[number], "a free inode cannot be freed");
        inodes.used[number] = false;
        inodes.free += 1;
        inodes.directories -= u32::from(is_directory);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inodes_follow_each_other_in_a_group_until_it_is_full() {
        let mut table = InodeTable::new(3, 8);
        let inodes: Vec<Option<u32>> = (0..10).map(|_| table.allocate(1, false)).collect();
        assert_eq!(inodes[..3], [Some(9), Some(10), Some(11)]);
        // The next groups in the order of the search.
        assert_eq!((inodes[7], inodes[8]), (Some(8), Some(17)));
        table.free(10, false);
        assert_eq!(table.allocate(1, false), Some(10));
        let left = core::iter::from_fn(|| table.allocate(0, false)).count();
        // The first group has four that no file gets.
        assert_eq!(left, 24 - 4 - 10);
    }
}
