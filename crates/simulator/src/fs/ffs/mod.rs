//! The Berkeley fast file system of 4.2BSD. It has cylinder groups, interleave by a rotational delay, indirect blocks,
//! and fragments at the end of small files. A file moves to a new group after a number of blocks.
//!
//! Addresses are fragments, as in 4.2BSD. The results of this module are sectors of the drive.

mod block_preference;
mod call_state;
mod calls;
mod cylinder_group;
mod dirpref;
mod files;
mod inode;
mod inode_table;
mod layout;
mod name_calls;
mod names;

use alloc::boxed::Box;
use alloc::vec::Vec;

pub(crate) use call_state::CallState;
use cylinder_group::Group;
use files::Files;
use inode::{Inode, Places, Route, WHOLE};
pub(crate) use layout::Layout;
use names::Names;

use super::Full;
use super::extent::Extent;
use crate::description;
use crate::namespace::FileId;

/// Number of a fragment, from the beginning of the file system.
pub(crate) type Fragment = u32;

/// A file system with the allocation of its files.
#[derive(Clone, Debug)]
pub(crate) struct Ffs {
    layout: Layout,
    groups: Vec<Group>,
    /// The group that was chosen last by `another_group`.
    rotor: u32,
    files: Files,
    /// Directories and inodes; `None` if they take no time.
    names: Option<Box<Names>>,
    /// True if blocks were allocated or freed since the super block was written.
    modified: bool,
}

/// Result of an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Allocated {
    /// Header of the block's cylinder group, which must be read and changed.
    pub(crate) header: Extent,
    /// Indirect blocks that were allocated for it. Each must be written before a pointer to it.
    pub(crate) new_indirect: Places,
}

impl Ffs {
    /// Creates an empty file system, as `newfs` does.
    pub(crate) fn new(drive: &description::Drive, file_system: &description::Ffs) -> Ffs {
        let layout = Layout::from_drive(drive, file_system);
        let groups = (0..layout.groups).map(|group| Group::new(&layout, group)).collect();
        let names = (file_system.names == description::Names::Timed).then(|| Box::new(Names::new(&layout)));
        Ffs { layout, groups, rotor: 0, files: Files::new(), names, modified: false }
    }

    pub(crate) fn times_names(&self) -> bool {
        self.names.is_some()
    }

    pub(crate) fn block_bytes(&self) -> u32 {
        self.layout.block_bytes
    }

    /// Frees all blocks of a file, which is deleted or truncated.
    pub(crate) fn free(&mut self, file: FileId) {
        let Some(inode) = self.files.remove(file) else { return };
        self.modified = true;
        for (fragment, count) in inode.extents() {
            let group = self.layout.group(fragment);
            self.groups[group as usize].free(&self.layout, fragment, count);
        }
    }

    /// Returns all extents of a file, including its indirect blocks.
    pub(crate) fn extents(&self, file: FileId) -> impl Iterator<Item = Extent> {
        let extents = self.files.get(file).into_iter().flat_map(Inode::extents);
        extents.map(|(fragment, count)| {
            self.layout.extent(fragment, if count == WHOLE { self.layout.fragments } else { count })
        })
    }

    /// Returns the extent of a block of a file; `None` if the block is a hole.
    pub(crate) fn place(&self, file: FileId, block: u32) -> Option<Extent> {
        let (fragment, count) = self.files.get(file)?.block(block)?;
        Some(self.layout.extent(fragment, count))
    }

    /// Returns the indirect blocks on the path to a block of a file, in the order of the path.
    pub(crate) fn indirect(&self, file: FileId, block: u32) -> Places {
        let inode = self.files.get(file);
        let route = Route::to(block, self.layout.pointers_per_block);
        let at = |number: u32| {
            inode
                .and_then(|inode| inode.indirect(number))
                .map(|fragment| self.layout.extent(fragment, self.layout.fragments))
        };
        Places::new(route.indirect().map(|number| number.and_then(at)))
    }

    /// True if the pointers to both blocks are in the same indirect block, or both in the inode.
    pub(crate) fn lead_alike(&self, block: u32, other: u32) -> bool {
        let last = |block| Route::to(block, self.layout.pointers_per_block).last();
        last(block) == last(other)
    }

    /// True if the allocation of the block is large enough to write its first `bytes` bytes.
    pub(crate) fn holds(&self, file: FileId, block: u32, bytes: u32) -> bool {
        let held = self.files.get(file).and_then(|inode| inode.block(block)).map_or(0, |(_, count)| count);
        held * self.layout.fragment_bytes >= bytes
    }

    /// Allocates a block of a file, or as many fragments as `bytes` bytes of it need:
    ///   1. missing indirect blocks on the path to it;
    ///   2. the block itself, as near as possible to the preferred position.
    ///
    /// Only the last block of a file without indirect blocks has fragments. If an allocated block grows, it grows in
    /// place if possible; otherwise it moves, and its old fragments are freed.
    pub(crate) fn allocate(&mut self, file: FileId, block: u32, bytes: u32) -> Result<Allocated, Full> {
        self.modified = true;
        let Ffs { layout, groups, files, .. } = self;
        let route = Route::to(block, layout.pointers_per_block);
        let count = if route.is_direct() { bytes.div_ceil(layout.fragment_bytes) } else { layout.fragments };
        let inode = files.get_or_create(file);
        let known = route.indirect().map(|number| number.filter(|&number| inode.indirect(number).is_none()));
        let before = inode.block(block);

        // 1: the block itself is then placed near its new indirect blocks.
        let mut new_indirect = [None; 2];
        let mut preferred = None;
        if known != [None; 2] {
            for (made, number) in new_indirect.iter_mut().zip(known) {
                let Some(number) = number else { continue };
                let near = match preferred {
                    Some(near) => near,
                    None => *preferred.insert(another_group(layout, groups, &mut self.rotor)),
                };
                let fragment = take(layout, groups, near, layout.fragments)?;
                inode.set_indirect(number, fragment);
                *made = Some(layout.extent(fragment, layout.fragments));
            }
        }

        // 2
        let near = match (preferred, before) {
            (Some(near), _) => near,
            (None, Some((fragment, held))) => {
                let group = layout.group(fragment);
                if groups[group as usize].extend(layout, fragment, held, count) {
                    inode.set_block(block, fragment, count);
                    return Ok(Allocated { header: layout.header(group), new_indirect: Places::NONE });
                }
                fragment - fragment % layout.fragments
            }
            (None, None) => {
                let before = block.checked_sub(1).and_then(|before| inode.block(before)).map(|(fragment, _)| fragment);
                match block_preference::prefer(layout, route, before) {
                    block_preference::Preferred::After(fragment) => fragment,
                    block_preference::Preferred::Home => {
                        let group = self.names.as_ref().and_then(|names| names.group_of(file));
                        layout.first_of(group.unwrap_or(layout.home()))
                    }
                    block_preference::Preferred::AnotherGroup => another_group(layout, groups, &mut self.rotor),
                }
            }
        };
        let fragment = take(layout, groups, near, count)?;
        if let Some((old, held)) = before {
            groups[layout.group(old) as usize].free(layout, old, held);
        }
        inode.set_block(block, fragment, count);
        Ok(Allocated { header: layout.header(layout.group(fragment)), new_indirect: Places::new(new_indirect) })
    }
}

/// Returns the first position in the next group with at least the average number of free blocks.
fn another_group(layout: &Layout, groups: &[Group], rotor: &mut u32) -> Fragment {
    let free: Vec<u32> = groups.iter().map(Group::free_blocks).collect();
    *rotor = block_preference::another_group(&free, *rotor);
    layout.first_of(*rotor)
}

/// Allocates `count` fragments of one block, near that position or in another group.
fn take(layout: &Layout, groups: &mut [Group], near: Fragment, count: u32) -> Result<Fragment, Full> {
    // A position after the last group counts as one in it.
    let near = near.min(layout.groups * layout.fragments_per_group - 1);
    let wanted = layout.group(near);
    if let Some(fragment) = groups[wanted as usize].take(layout, near, count) {
        return Ok(fragment);
    }
    cylinder_group::groups_in_turn(wanted, layout.groups)
        .filter(|&group| group != wanted)
        .find_map(|group| groups[group as usize].take(layout, layout.first_of(group), count))
        .ok_or(Full)
}

#[cfg(test)]
mod tests;
