//! The maps of a group: which blocks and inodes are in use.

use alloc::vec;
use alloc::vec::Vec;

/// The blocks and inodes of a group.
#[derive(Clone, Debug)]
pub(super) struct Group {
    blocks: Map,
    inodes: Map,
}

impl Group {
    /// Creates a group whose first `reserved` blocks and `first_inode` inodes are in use.
    pub(super) fn new((blocks, reserved): (u32, u32), (inodes, first_inode): (u32, u32)) -> Group {
        Group { blocks: Map::new(blocks, reserved), inodes: Map::new(inodes, first_inode) }
    }

    pub(super) fn free_blocks(&self) -> u32 {
        self.blocks.free
    }

    pub(super) fn free_inodes(&self) -> u32 {
        self.inodes.free
    }

    /// Takes `count` consecutive blocks: the first from `goal` on, or else the first of the group.
    pub(super) fn take_blocks(&mut self, goal: u32, count: u32) -> Option<u32> {
        let first = self.blocks.run(goal, count).or_else(|| self.blocks.run(0, count))?;
        (first..first + count).for_each(|block| self.blocks.take(block));
        Some(first)
    }

    /// Takes `count` blocks from `first` on, if all are free.
    pub(super) fn take_there(&mut self, first: u32, count: u32) -> bool {
        let is_free = (first..first + count).all(|block| self.blocks.is_free(block));
        if is_free {
            (first..first + count).for_each(|block| self.blocks.take(block));
        }
        is_free
    }

    pub(super) fn free_block(&mut self, block: u32) {
        self.blocks.release(block);
    }

    /// Takes the first free inode.
    pub(super) fn take_inode(&mut self) -> Option<u32> {
        let inode = self.inodes.run(0, 1)?;
        self.inodes.take(inode);
        Some(inode)
    }

    pub(super) fn free_inode(&mut self, inode: u32) {
        self.inodes.release(inode);
    }
}

/// A map of things in use.
#[derive(Clone, Debug)]
struct Map {
    used: Vec<bool>,
    free: u32,
    /// All before this one are in use.
    lowest: u32,
}

impl Map {
    fn new(count: u32, reserved: u32) -> Map {
        let mut used = vec![false; count as usize];
        let reserved = reserved.min(count);
        used[..reserved as usize].fill(true);
        Map { used, free: count - reserved, lowest: reserved }
    }

    fn is_free(&self, index: u32) -> bool {
        self.used.get(index as usize).is_some_and(|used| !used)
    }

    /// Returns the first of `count` free ones in a row, from `goal` on.
    fn run(&self, goal: u32, count: u32) -> Option<u32> {
        if self.free < count {
            return None;
        }
        let mut length = 0;
        for index in goal.max(self.lowest)..self.used.len() as u32 {
            length = if self.used[index as usize] { 0 } else { length + 1 };
            if length == count {
                return Some(index + 1 - count);
            }
        }
        None
    }

    fn take(&mut self, index: u32) {
        debug_assert!(self.is_free(index));
        self.used[index as usize] = true;
        self.free -= 1;
        while self.used.get(self.lowest as usize) == Some(&true) {
            self.lowest += 1;
        }
    }

    fn release(&mut self, index: u32) {
        assert!(self.used[index as usize], "a free one cannot be freed");
        self.used[index as usize] = false;
        self.free += 1;
        self.lowest = self.lowest.min(index);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_taken_near_the_goal_and_inodes_from_the_first() {
        let mut group = Group::new((16, 4), (4, 1));
        assert_eq!(group.take_blocks(0, 1), Some(4));
        assert_eq!(group.take_blocks(10, 4), Some(10));
        assert_eq!(group.take_blocks(12, 4), Some(5));
        assert!(group.take_there(9, 1) && !group.take_there(9, 1) && !group.take_there(15, 2));
        group.free_block(6);
        assert_eq!((group.take_blocks(0, 1), group.free_blocks()), (Some(6), 2));
        assert_eq!(core::iter::from_fn(|| group.take_inode()).count(), 3);
        group.free_inode(2);
        assert_eq!((group.take_inode(), group.free_inodes()), (Some(2), 0));
    }
}
