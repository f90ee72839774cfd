//! The second extended file system of Linux. It has groups of blocks with their own inodes and maps. New directories go
//! to groups with much free space; files stay in the group of their directory. Nothing is written before the call
//! returns: changed data, directories, inodes and maps are dirty in memory until they are written back, oldest first.
//!
//! The maps of blocks and inodes are always in memory. The buffers of the cache are pages: a page of a file has
//! consecutive blocks.

mod call_state;
mod calls;
mod directory;
mod file;
mod group;
mod layout;
mod name_calls;
mod script;
mod write_back;

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

pub(crate) use call_state::CallState;
use directory::Directory;
use file::{File, Page, path};
use group::Group;
use layout::{Block, Layout};
use script::Script;
use write_back::WriteBack;

use super::Full;
use super::extent::Extent;
use crate::description;
use crate::namespace::FileId;

/// Inodes of the first group that no file has: ten are reserved, and `lost+found` has the next.
const RESERVED_INODES: u32 = 11;

/// A file system with the allocation of its files.
#[derive(Clone, Debug)]
pub(crate) struct Ext2 {
    settings: description::Ext2,
    layout: Layout,
    groups: Vec<Group>,
    files: BTreeMap<FileId, File>,
    directories: BTreeMap<FileId, Directory>,
    dirty: WriteBack,
}

impl Ext2 {
    /// Creates an empty file system, as `mke2fs` does.
    pub(crate) fn new(drive: &description::Drive, settings: &description::Ext2) -> Ext2 {
        let layout = Layout::new(drive, settings);
        let group = |number| {
            let inodes = if number == 0 { RESERVED_INODES } else { 0 };
            Group::new((layout.blocks_per_group, layout.reserved()), (layout.inodes_per_group, inodes))
        };
        Ext2 {
            groups: (0..layout.groups).map(group).collect(),
            layout,
            files: BTreeMap::new(),
            directories: BTreeMap::new(),
            dirty: WriteBack::new(settings),
            settings: settings.clone(),
        }
    }

    /// Bytes of a page, which is a buffer of the cache.
    pub(crate) fn block_bytes(&self) -> u32 {
        description::Ext2::PAGE_BYTES
    }

    /// Returns all extents of a file, including its indirect blocks.
    pub(crate) fn extents(&self, file: FileId) -> impl Iterator<Item = Extent> {
        let extents = self.files.get(&file).into_iter().flat_map(File::extents);
        extents.map(|(block, count)| self.layout.extent(block, count))
    }

    /// Frees the blocks and the inode of a file.
    pub(crate) fn free(&mut self, file: FileId) {
        self.free_blocks(file);
        if let Some(file) = self.files.remove(&file) {
            self.groups[(file.inode / self.layout.inodes_per_group) as usize]
                .free_inode(file.inode % self.layout.inodes_per_group);
        }
    }

    /// Frees the blocks of a file.
    fn free_blocks(&mut self, file: FileId) {
        let Some(file) = self.files.get_mut(&file) else { return };
        for (first, count) in file.extents() {
            let group = &mut self.groups[self.layout.group(first) as usize];
            (first..first + count).for_each(|block| group.free_block(block % self.layout.blocks_per_group));
        }
        *file = File { inode: file.inode, ..File::default() };
    }

    /// The extent of a page; `None` if it is a hole.
    fn place(&self, file: FileId, page: u32) -> Option<Extent> {
        let Page { first, count } = self.files.get(&file)?.page(page)?;
        Some(self.layout.extent(first, count))
    }

    /// The numbers of the indirect blocks on the path to a page.
    fn path(&self, page: u32) -> impl Iterator<Item = u32> + use<> {
        path(page * self.layout.blocks_per_page, self.layout.block_bytes / 4).into_iter().flatten()
    }

    /// Takes consecutive blocks near the goal of a file, or else in the next group that has them.
    fn take(&mut self, file: FileId, count: u32) -> Result<Block, Full> {
        let (per_group, groups) = (self.layout.blocks_per_group, self.layout.groups);
        let known = self.files.entry(file).or_default();
        let goal = known.goal.unwrap_or(known.inode / self.layout.inodes_per_group * per_group);
        let first = goal / per_group % groups;
        for step in 0..groups {
            let group = (first + step) % groups;
            let within = if step == 0 { goal % per_group } else { 0 };
            if let Some(block) = self.groups[group as usize].take_blocks(within, count) {
                let block = group * per_group + block;
                known.goal = Some(block + count);
                return Ok(block);
            }
        }
        Err(Full)
    }

    /// Allocates the blocks of a page that its first `bytes` bytes need, and missing indirect blocks before them. Adds
    /// the numbers of those to `new`. Returns false if all are there already.
    fn allocate(&mut self, file: FileId, page: u32, bytes: u32, new: &mut Vec<u32>) -> Result<bool, Full> {
        let count = bytes.div_ceil(self.layout.block_bytes);
        let held = self.files.get(&file).and_then(|file| file.page(page));
        if held.is_some_and(|page| page.count >= count) {
            return Ok(false);
        }
        for number in self.path(page) {
            if !self.files.get(&file).is_some_and(|file| file.indirect.contains_key(&number)) {
                let block = self.take(file, 1)?;
                self.files.entry(file).or_default().indirect.insert(number, block);
                new.push(number);
            }
        }
        let grown = held.filter(|held| {
            let end = held.first + held.count;
            let group = &mut self.groups[self.layout.group(held.first) as usize];
            group.take_there(end % self.layout.blocks_per_group, count - held.count)
        });
        let first = match (grown, held) {
            (Some(held), _) => {
                self.files.entry(file).or_default().goal = Some(held.first + count);
                held.first
            }
            (None, held) => {
                let first = self.take(file, count)?;
                if let Some(Page { first, count }) = held {
                    let group = &mut self.groups[self.layout.group(first) as usize];
                    (first..first + count).for_each(|block| group.free_block(block % self.layout.blocks_per_group));
                }
                first
            }
        };
        self.files.entry(file).or_default().set_page(page, Page { first, count });
        Ok(true)
    }

    /// Allocates the blocks of a write without letting time pass.
    pub(crate) fn prepare_write(&mut self, file: FileId, offset: u64, bytes: u32) -> Result<(), Full> {
        let page_bytes = u64::from(self.block_bytes());
        let (mut at, end) = (offset, offset + u64::from(bytes));
        while at < end {
            let until = (at - at % page_bytes + page_bytes).min(end);
            let within = (until - at + at % page_bytes) as u32;
            self.allocate(file, (at / page_bytes) as u32, within, &mut Vec::new())?;
            at = until;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
