//! Free fragments of a cylinder group, and the choice among them (`alloccg` of 4.2BSD).

use alloc::vec;
use alloc::vec::Vec;

use super::inode::WHOLE;
use super::{Fragment, Layout};

/// One cylinder group. For each block, a bit mask of its free fragments.
#[derive(Clone, Debug)]
pub(super) struct Group {
    first: Fragment,
    free: Vec<u8>,
    free_blocks: u32,
}

/// Returns the groups in the order in which they are searched for space:
///   1. the wanted group;
///   2. the groups at doubling distances from it;
///   3. all groups in sequence, except the wanted one and the next, which were searched.
pub(super) fn groups_in_turn(wanted: u32, groups: u32) -> impl Iterator<Item = u32> {
    let doubling = (0..u32::BITS - 1).map(|power| 1u32 << power).take_while(move |&step| step < groups);
    let doubled = doubling.scan(wanted, move |group, step| {
        *group = (*group + step) % groups;
        Some(*group)
    });
    let in_turn = (2..groups).map(move |step| (wanted + step) % groups);
    core::iter::once(wanted).chain(doubled).chain(in_turn)
}

impl Group {
    /// Creates an empty group. All blocks are free except the reserved ones.
    pub(super) fn new(layout: &Layout, group: u32) -> Group {
        let whole = whole(layout);
        let mut free = vec![whole; (layout.fragments_per_group / layout.fragments) as usize];
        let reserved = layout.reserved(group);
        let (from, to) = (reserved.start / layout.fragments, reserved.end.div_ceil(layout.fragments));
        let blocks = free.len();
        let taken = (from as usize).min(blocks)..(to as usize).min(blocks);
        let free_blocks = (blocks - taken.len()) as u32;
        free[taken].fill(0);
        Group { first: group * layout.fragments_per_group, free, free_blocks }
    }

    pub(super) fn free_blocks(&self) -> u32 {
        self.free_blocks
    }

    /// Allocates `count` fragments of one block as near to `near` as possible.
    pub(super) fn take(&mut self, layout: &Layout, near: Fragment, count: u32) -> Option<Fragment> {
        let near = (near - self.first) / layout.fragments;
        if count < layout.fragments
            && let Some((block, offset)) = self.find_fragments(layout, near, count)
        {
            return Some(self.mark(layout, block, offset, count));
        }
        let block = self.find_block(layout, near)?;
        Some(self.mark(layout, block, 0, count))
    }

    /// Extends an allocation of `held` fragments to `count` fragments in its block. Returns false if they are not free.
    pub(super) fn extend(&mut self, layout: &Layout, fragment: Fragment, held: u32, count: u32) -> bool {
        let within = fragment - self.first;
        let (block, offset) = (within / layout.fragments, within % layout.fragments);
        if offset + count > layout.fragments || count < held {
            return false;
        }
        let more = bits(offset + held, count - held);
        if self.free[block as usize] & more != more {
            return false;
        }
        self.mark(layout, block, offset + held, count - held);
        true
    }

    /// Frees fragments.
    pub(super) fn free(&mut self, layout: &Layout, fragment: Fragment, count: u32) {
        let count = if count == WHOLE { layout.fragments } else { count };
        let within = fragment - self.first;
        let block = &mut self.free[(within / layout.fragments) as usize];
        let given = bits(within % layout.fragments, count);
        assert!(*block & given == 0, "what is free cannot be given back");
        *block |= given;
        self.free_blocks += u32::from(*block == whole(layout));
    }

    /// Returns a free block:
    ///   1. the wanted one;
    ///   2. the one on the same cylinder that comes under the heads soonest after it;
    ///   3. the next one in the group.
    fn find_block(&self, layout: &Layout, near: u32) -> Option<u32> {
        let whole = whole(layout);
        let is_free = |block: &u32| self.free.get(*block as usize) == Some(&whole);
        // 1
        if is_free(&near) {
            return Some(near);
        }
        // 2
        let (cylinder, position) = layout.cylinder_and_position(near * layout.fragments);
        let distance = |block: u32| {
            let (_, other) = layout.cylinder_and_position(block * layout.fragments);
            (other + Layout::POSITIONS - position) % Layout::POSITIONS
        };
        let close = layout.blocks_of_cylinder(cylinder).filter(is_free).min_by_key(|&block| distance(block));
        // 3
        let blocks = self.free.len() as u32;
        close.or_else(|| (near..blocks).chain(0..near.min(blocks)).find(is_free))
    }

    /// Returns free fragments in the next block of the group that is partly in use.
    fn find_fragments(&self, layout: &Layout, near: u32, count: u32) -> Option<(u32, u32)> {
        let whole = whole(layout);
        let blocks = self.free.len() as u32;
        (near..blocks).chain(0..near.min(blocks)).find_map(|block| {
            let free = self.free[block as usize];
            if free == whole || free == 0 {
                return None;
            }
            let fits = |offset: &u32| free & bits(*offset, count) == bits(*offset, count);
            (0..=layout.fragments - count).find(fits).map(|offset| (block, offset))
        })
    }

    fn mark(&mut self, layout: &Layout, block: u32, offset: u32, count: u32) -> Fragment {
        let free = &mut self.free[block as usize];
        self.free_blocks -= u32::from(*free == whole(layout));
        *free &= !bits(offset, count);
        self.first + block * layout.fragments + offset
    }
}

/// Bit mask of all fragments of a block.
fn whole(layout: &Layout) -> u8 {
    bits(0, layout.fragments)
}

fn bits(offset: u32, count: u32) -> u8 {
    (((1u16 << count) - 1) << offset) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_group_is_searched() {
        for groups in 1..20 {
            for wanted in 0..groups {
                let order: Vec<u32> = groups_in_turn(wanted, groups).collect();
                assert_eq!(order[0], wanted);
                for group in 0..groups {
                    assert!(order.contains(&group), "{group} of {groups} from {wanted}: {order:?}");
                }
            }
        }
    }
}
