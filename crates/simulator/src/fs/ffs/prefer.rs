//! Where the next block of a file should go (`blkpref` of 4.2BSD).

use super::inode::Route;
use super::{Fragment, Plan};

/// A wish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Preferred {
    /// That place, a rotational delay behind the block before.
    After(Fragment),
    /// The group of the file's inode.
    Home,
    /// A group that this file has not used up.
    AnotherGroup,
}

/// Where the block at the end of this route should go.
///   1. The first of so many blocks, and one after a hole: direct blocks near the inode, others in another group.
///   2. Any other: behind the block before it, less the delay.
pub(super) fn prefer(plan: &Plan, route: Route, before: Option<Fragment>) -> Preferred {
    match before.filter(|_| !route.index().is_multiple_of(plan.blocks_per_group)) {
        // 1
        None if route.is_direct() => Preferred::Home,
        None => Preferred::AnotherGroup,
        // 2
        Some(before) => Preferred::After(before + plan.fragments + plan.gap),
    }
}

/// The next group after `rotor`, in turn, that has not less free blocks than the average.
pub(super) fn another_group(free_blocks: &[u32], rotor: u32) -> u32 {
    let groups = free_blocks.len() as u32;
    let average = (free_blocks.iter().map(|&free| u64::from(free)).sum::<u64>() / u64::from(groups)) as u32;
    let enough = |group: &u32| free_blocks[*group as usize] >= average;
    (rotor + 1..groups).chain(0..=rotor).find(enough).unwrap_or(rotor)
}
