//! A file's blocks and their addressing: twelve direct blocks, then single indirect, then double indirect.

use alloc::vec::Vec;

use super::Fragment;
use crate::fs::extent::Extent;

/// Blocks that an inode points to directly (`NDADDR`).
const DIRECT: u32 = 12;

/// No fragment: a hole.
const NONE: Fragment = Fragment::MAX;

/// The blocks of a file.
#[derive(Clone, Debug, Default)]
pub(super) struct Inode {
    /// For each block, its first fragment and its number of fragments.
    blocks: Vec<(Fragment, u8)>,
    /// Indirect blocks: the single one, the root of the double ones, then those that the root points to.
    indirect: Vec<Fragment>,
}

/// The path of pointers to a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Route {
    /// Numbers of the indirect blocks on the path.
    through: [Option<u32>; 2],
    /// Index of the pointer in the last block of the path.
    index: u32,
}

/// The extents of up to two indirect blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Places([Option<Extent>; 2]);

impl Places {
    pub(crate) const NONE: Places = Places([None; 2]);

    pub(super) fn new(places: [Option<Extent>; 2]) -> Places {
        Places(places)
    }

    /// Removes and returns the first extent.
    pub(crate) fn take_first(&mut self) -> Option<Extent> {
        self.0.iter_mut().find_map(Option::take)
    }

    pub(crate) fn count(&self) -> usize {
        self.0.iter().flatten().count()
    }
}

impl Route {
    pub(super) fn to(block: u32, pointers: u32) -> Route {
        let Some(index) = block.checked_sub(DIRECT) else { return Route { through: [None; 2], index: block } };
        match index.checked_sub(pointers) {
            None => Route { through: [Some(0), None], index },
            Some(index) => Route { through: [Some(1), Some(2 + index / pointers)], index: index % pointers },
        }
    }

    pub(super) fn is_direct(self) -> bool {
        self.through == [None; 2]
    }

    pub(super) fn index(self) -> u32 {
        self.index
    }

    /// The number of the indirect block that points to the block.
    pub(super) fn last(self) -> Option<u32> {
        self.through[1].or(self.through[0])
    }

    pub(super) fn indirect(self) -> [Option<u32>; 2] {
        self.through
    }
}

impl Inode {
    pub(super) fn block(&self, block: u32) -> Option<(Fragment, u32)> {
        let &(fragment, count) = self.blocks.get(block as usize)?;
        (fragment != NONE).then_some((fragment, count.into()))
    }

    pub(super) fn set_block(&mut self, block: u32, fragment: Fragment, count: u32) {
        let (block, extent) = (block as usize, (fragment, count as u8));
        if let Some(known) = self.blocks.get_mut(block) {
            *known = extent;
            return;
        }
        // Usually nothing is between: files grow at their ends.
        self.blocks.resize(block, (NONE, 0));
        self.blocks.push(extent);
    }

    pub(super) fn indirect(&self, number: u32) -> Option<Fragment> {
        self.indirect.get(number as usize).copied().filter(|&fragment| fragment != NONE)
    }

    /// Records an indirect block, which is always a whole block.
    pub(super) fn set_indirect(&mut self, number: u32, fragment: Fragment) {
        let number = number as usize;
        if self.indirect.len() <= number {
            self.indirect.resize(number + 1, NONE);
        }
        self.indirect[number] = fragment;
    }

    /// Returns all allocated extents of the file: first fragment and number of fragments, or `WHOLE`.
    pub(super) fn extents(&self) -> impl Iterator<Item = (Fragment, u32)> {
        let blocks = self.blocks.iter().map(|&(fragment, count)| (fragment, u32::from(count)));
        let indirect = self.indirect.iter().map(|&fragment| (fragment, WHOLE));
        blocks.chain(indirect).filter(|(fragment, _)| *fragment != NONE)
    }
}

/// Marks a whole block instead of a number of fragments.
pub(super) const WHOLE: u32 = 0;
