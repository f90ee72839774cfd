//! Preferred position of a file's next block (`blkpref` of 4.2BSD).

use super::inode::Route;
use super::{Fragment, Layout};

/// A preferred position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Preferred {
    /// This position, a rotational delay after the previous block.
    After(Fragment),
    /// The group of the file's inode.
    Home,
    /// A group in which this file has not used its share yet.
    AnotherGroup,
}

/// Returns the preferred position of the block at the end of this route.
///   1. Every `blocks_per_group`-th block, and a block after a hole: direct blocks near the inode, others in another
///      group.
///   2. Any other block: after the previous block and the interleave gap.
pub(super) fn prefer(layout: &Layout, route: Route, before: Option<Fragment>) -> Preferred {
    match before.filter(|_| !route.index().is_multiple_of(layout.blocks_per_group)) {
        // 1
        None if route.is_direct() => Preferred::Home,
        None => Preferred::AnotherGroup,
        // 2
        Some(before) => Preferred::After(before + layout.fragments + layout.gap),
    }
}

/// Returns the next group after `rotor`, cyclically, that has at least the average number of free blocks.
pub(super) fn another_group(free_blocks: &[u32], rotor: u32) -> u32 {
    let groups = free_blocks.len() as u32;
    let average = (free_blocks.iter().map(|&free| u64::from(free)).sum::<u64>() / u64::from(groups)) as u32;
    let enough = |group: &u32| free_blocks[*group as usize] >= average;
    (rotor + 1..groups).chain(0..=rotor).find(enough).unwrap_or(rotor)
}
