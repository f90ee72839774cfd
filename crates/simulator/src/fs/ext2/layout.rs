//! The layout of a file system as `mke2fs` makes it: groups of equal size, each with its maps, inodes and data.

use crate::description::{self, SECTOR_BYTES};
use crate::fs::extent::Extent;

/// Number of a block, from the beginning of the file system.
pub(super) type Block = u32;

/// Bytes of an inode.
const INODE: u32 = 128;

/// Bytes of a group's descriptor.
const DESCRIPTOR: u32 = 32;

/// The parameters of the layout.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub(super) block_bytes: u32,
    pub(super) blocks_per_page: u32,
    pub(super) blocks_per_group: u32,
    pub(super) groups: u32,
    pub(super) inodes_per_group: u32,
    descriptors: u32,
    inode_blocks: u32,
    sectors_per_block: u32,
    first_sector: u32,
}

impl Layout {
    pub(super) fn new(drive: &description::Drive, ext2: &description::Ext2) -> Layout {
        let block_bytes = ext2.block_bytes;
        let blocks_per_group = block_bytes * 8;
        let groups = (drive.bytes() / u64::from(block_bytes) / u64::from(blocks_per_group)).max(1) as u32;
        let group_bytes = u64::from(blocks_per_group) * u64::from(block_bytes);
        let inodes = (group_bytes / u64::from(ext2.bytes_per_inode)).min(u64::from(blocks_per_group)) as u32;
        let inode_blocks = (inodes * INODE).div_ceil(block_bytes);
        Layout {
            block_bytes,
            blocks_per_page: description::Ext2::PAGE_BYTES / block_bytes,
            blocks_per_group,
            groups,
            inodes_per_group: inode_blocks * block_bytes / INODE,
            descriptors: (groups * DESCRIPTOR).div_ceil(block_bytes),
            inode_blocks,
            sectors_per_block: block_bytes / SECTOR_BYTES,
            first_sector: drive.first_sector,
        }
    }

    pub(super) fn extent(&self, block: Block, count: u32) -> Extent {
        let sector = self.first_sector + block * self.sectors_per_block;
        Extent { sector, sectors: (count * self.sectors_per_block) as u16 }
    }

    pub(super) fn group(&self, block: Block) -> u32 {
        block / self.blocks_per_group
    }

    /// Blocks of a group before its data: super block, descriptors, two maps and the inodes.
    pub(super) fn reserved(&self) -> u32 {
        3 + self.descriptors + self.inode_blocks
    }

    /// The block with the descriptor of a group. All are in the first group.
    pub(super) fn descriptor(&self, group: u32) -> Extent {
        self.extent(1 + group * DESCRIPTOR / self.block_bytes, 1)
    }

    pub(super) fn block_map(&self, group: u32) -> Extent {
        self.extent(group * self.blocks_per_group + 1 + self.descriptors, 1)
    }

    pub(super) fn inode_map(&self, group: u32) -> Extent {
        self.extent(group * self.blocks_per_group + 2 + self.descriptors, 1)
    }

    pub(super) fn inode_block(&self, inode: u32) -> Extent {
        let (group, within) = (inode / self.inodes_per_group, inode % self.inodes_per_group);
        let first = group * self.blocks_per_group + 3 + self.descriptors;
        self.extent(first + within * INODE / self.block_bytes, 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::description::samples::{eagle, ext2};

    /// Groups of 8 MiB have 8192 blocks of 1 KiB and, at 4096 bytes per inode, 2048 inodes in 256 blocks.
    #[test]
    fn a_group_has_its_maps_and_inodes_before_its_data() {
        let layout = Layout::new(&eagle(), &ext2());
        assert_eq!((layout.blocks_per_group, layout.inodes_per_group), (8192, 2048));
        assert_eq!(layout.groups, (eagle().bytes() / (8 << 20)) as u32);
        assert_eq!(layout.reserved(), 3 + 1 + 256);
        let block = |block| layout.extent(block, 1);
        assert_eq!((layout.block_map(1), layout.inode_map(1)), (block(8192 + 2), block(8192 + 3)));
        assert_eq!([0, 7, 8, 2048].map(|inode| layout.inode_block(inode)), [4, 4, 5, 8192 + 4].map(block));
    }
}
