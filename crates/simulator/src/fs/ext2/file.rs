//! Files and directories: their inode, their pages, and the indirect blocks that point to them.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::layout::Block;

/// Pointers to blocks in an inode itself.
const DIRECT: u32 = 12;

/// Parts of the number of an indirect block: it points to other indirect blocks.
const MIDDLE: u32 = 1 << 30;
const ROOT: u32 = 1 << 31;

/// Consecutive blocks of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Page {
    pub(super) first: Block,
    /// Zero: the page is a hole.
    pub(super) count: u32,
}

/// A file or a directory.
#[derive(Clone, Debug, Default)]
pub(super) struct File {
    pub(super) inode: u32,
    pub(super) pages: Vec<Page>,
    pub(super) indirect: BTreeMap<u32, Block>,
    /// The block after the one that was allocated last. The next is allocated there, if it is free.
    pub(super) goal: Option<Block>,
}

impl File {
    /// The blocks of a page, if it is not a hole.
    pub(super) fn page(&self, page: u32) -> Option<Page> {
        self.pages.get(page as usize).copied().filter(|page| page.count > 0)
    }

    pub(super) fn set_page(&mut self, page: u32, blocks: Page) {
        if self.pages.len() <= page as usize {
            self.pages.resize(page as usize + 1, Page::default());
        }
        self.pages[page as usize] = blocks;
    }

    /// All blocks, with the number of consecutive ones.
    pub(super) fn extents(&self) -> impl Iterator<Item = (Block, u32)> {
        let pages = self.pages.iter().filter(|page| page.count > 0).map(|page| (page.first, page.count));
        pages.chain(self.indirect.values().map(|&block| (block, 1)))
    }
}

/// Numbers of the indirect blocks on the path to a block of a file, from the inode on.
pub(super) fn path(block: u32, pointers: u32) -> [Option<u32>; 3] {
    let Some(beyond) = block.checked_sub(DIRECT) else { return [None; 3] };
    let leaf = Some(beyond / pointers);
    let Some(beyond) = beyond.checked_sub(pointers) else { return [leaf, None, None] };
    match beyond.checked_sub(pointers * pointers) {
        None => [Some(ROOT), leaf, None],
        Some(beyond) => [Some(ROOT + 1), Some(MIDDLE + beyond / (pointers * pointers)), leaf],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_have_up_to_three_indirect_blocks() {
        let length = |block| path(block, 256).iter().flatten().count();
        assert_eq!([0, 11, 12, 267, 268, 65_803, 65_804].map(length), [0, 0, 1, 1, 2, 2, 3]);
        assert_eq!(path(268, 256), [Some(ROOT), Some(1), None]);
        assert_eq!(path(65_804, 256), [Some(ROOT + 1), Some(MIDDLE), Some(257)]);
        assert_ne!(path(267, 256)[0], path(268, 256)[1]);
    }
}
