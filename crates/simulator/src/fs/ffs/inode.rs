//! A file's blocks, and the way to each: twelve directly, then through an indirect block, then through two.

use alloc::vec::Vec;

use super::{Extent, Fragment};

/// Blocks that an inode points to directly (`NDADDR`).
const DIRECT: u32 = 12;

/// No fragment.
const NONE: Fragment = Fragment::MAX;

/// A file's blocks.
#[derive(Clone, Debug, Default)]
pub(super) struct Inode {
    /// Each block, and how many fragments of it the file has.
    blocks: Vec<(Fragment, u8)>,
    /// Indirect blocks: the single one, the root of the double ones, then those.
    indirect: Vec<Fragment>,
}

/// The way to a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Route {
    /// Numbers of the indirect blocks on the way.
    through: [Option<u32>; 2],
    /// Which pointer of the last one it is.
    index: u32,
}

/// The places of up to two indirect blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Places([Option<Extent>; 2]);

impl Places {
    pub(crate) const NONE: Places = Places([None; 2]);

    pub(super) fn of(places: [Option<Extent>; 2]) -> Places {
        Places(places)
    }

    /// Takes the first one out.
    pub(crate) fn take_first(&mut self) -> Option<Extent> {
        self.0.iter_mut().find_map(Option::take)
    }

    pub(crate) fn first(&self) -> Option<Extent> {
        self.0[0].or(self.0[1])
    }

    pub(crate) fn count(&self) -> usize {
        self.0.iter().flatten().count()
    }

    pub(crate) fn last(&self) -> Option<Extent> {
        self.0[1].or(self.0[0])
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

    /// The number of the indirect block that points to it.
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
        let block = block as usize;
        if self.blocks.len() <= block {
            self.blocks.resize(block + 1, (NONE, 0));
        }
        self.blocks[block] = (fragment, count as u8);
    }

    pub(super) fn indirect(&self, number: u32) -> Option<Fragment> {
        self.indirect.get(number as usize).copied().filter(|&fragment| fragment != NONE)
    }

    /// An indirect block, which is a whole one.
    pub(super) fn set_indirect(&mut self, number: u32, fragment: Fragment) {
        let number = number as usize;
        if self.indirect.len() <= number {
            self.indirect.resize(number + 1, NONE);
        }
        self.indirect[number] = fragment;
    }

    /// Everything that the file has: where, and how many fragments; zero stands for a whole block.
    pub(super) fn extents(&self) -> impl Iterator<Item = (Fragment, u32)> {
        let blocks = self.blocks.iter().map(|&(fragment, count)| (fragment, u32::from(count)));
        let indirect = self.indirect.iter().map(|&fragment| (fragment, WHOLE));
        blocks.chain(indirect).filter(|(fragment, _)| *fragment != NONE)
    }
}

/// As many fragments as a block has.
pub(super) const WHOLE: u32 = 0;
