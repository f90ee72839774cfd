//! The log-structured file system of Sprite (Rosenblum & Ousterhout 1992). All changes go to the end of a log; a
//! cleaner copies live blocks out of segments that are mostly dead.
//!
//! A block gets its new address when it is written to the cache. So the blocks that wait in memory are already in the
//! order of the log, and are written with one request. The last block of a file takes only the fragments that it needs.

mod call_state;
mod calls;
mod checkpoint;
mod cleaner;
mod entry;
mod inode_map;
mod log;
mod names;
mod segment;
mod usage;

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::vec::Vec;

pub(crate) use call_state::CallState;
use checkpoint::Journal;
use entry::{Age, Content, Entry};
use inode_map::{INODE_BYTES, InodeMap, indirect_of};
use log::Log;
use segment::{Address, Layout, NOWHERE, Segment};

use super::Full;
use super::directory::Directory;
use super::extent::Extent;
use crate::description;
use crate::namespace::FileId;

/// A log-structured file system.
#[derive(Clone, Debug)]
pub(crate) struct Lfs {
    settings: description::Lfs,
    log: Log,
    map: InodeMap,
    /// Entries of the directories.
    directories: BTreeMap<FileId, Directory>,
    /// Addresses of the blocks of the segment usage table.
    usage_blocks: Vec<Address>,
    /// Files whose inode or indirect blocks changed since the last write of the log.
    changed_inodes: BTreeSet<FileId>,
    changed_indirect: BTreeSet<(FileId, u32)>,
    /// True if files were deleted and no summary has recorded that yet.
    has_removed: bool,
    /// Segments whose live blocks were copied since the last checkpoint.
    cleaned: Vec<Segment>,
    /// Clock of the log at the last checkpoint.
    checkpoint_at: Age,
    /// True if the second checkpoint region is written next.
    second_region: bool,
    journal: Journal,
    /// Work that the calls have to do, in this order.
    actions: VecDeque<Action>,
    /// Blocks that the cleaner has moved: their addresses before and after.
    moves: Vec<(Address, Address)>,
}

/// Work that takes time. It follows from changes of the log; the changes themselves are made at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    /// Writes a part of the log.
    Write(Extent),
    /// Reads a segment that is cleaned. Segments without live blocks are not read.
    Read(Extent),
    /// Waits until that segment is read.
    AwaitRead,
    /// Copies N live blocks.
    Move(u32),
}

impl Lfs {
    /// Creates an empty file system.
    pub(crate) fn new(drive: &description::Drive, settings: &description::Lfs) -> Lfs {
        let layout = Layout::from_drive(drive, settings);
        Lfs {
            log: Log::new(layout),
            map: InodeMap::new(settings.block_bytes),
            directories: BTreeMap::new(),
            usage_blocks: Vec::new(),
            changed_inodes: BTreeSet::new(),
            changed_indirect: BTreeSet::new(),
            has_removed: false,
            cleaned: Vec::new(),
            checkpoint_at: 0,
            second_region: false,
            journal: Journal::default(),
            actions: VecDeque::new(),
            moves: Vec::new(),
            settings: settings.clone(),
        }
    }

    pub(crate) fn block_bytes(&self) -> u32 {
        self.settings.block_bytes
    }

    /// True if operations on names take time.
    pub(crate) fn times_names(&self) -> bool {
        self.settings.names == description::Names::Timed
    }

    /// Returns the sectors of a block; `None` if it is a hole.
    pub(crate) fn place(&self, file: FileId, block: u32) -> Option<Extent> {
        let (inode, layout) = (self.map.inodes.get(&file)?, &self.log.layout);
        let address = inode.block(block);
        (address != NOWHERE).then(|| layout.extent(address, inode.fragments(block, layout.per_block)))
    }

    /// Returns all extents of a file, including its indirect blocks.
    pub(crate) fn extents(&self, file: FileId) -> impl Iterator<Item = Extent> {
        let layout = &self.log.layout;
        let pieces = self.map.inodes.get(&file).into_iter().flat_map(|inode| inode.pieces(layout.per_block));
        pieces.map(|(address, fragments)| layout.extent(address, fragments))
    }

    /// Gives a block of a file a new address at the end of the log, unless it is still waiting there. `bytes` of the
    /// block are used. Returns the address before and after.
    fn append_data(&mut self, file: FileId, block: u32, bytes: u32) -> Result<(Address, Address), Full> {
        let whole = self.log.layout.per_block;
        let inode = self.map.inodes.get(&file);
        let before = inode.map_or(NOWHERE, |inode| inode.block(block));
        let held = inode.filter(|_| before != NOWHERE).map_or(0, |inode| inode.fragments(block, whole));
        let fragments = self.log.layout.fragments(bytes).max(held);
        if before != NOWHERE && self.log.is_unwritten(before) {
            if fragments > held && self.log.extend(before, held, fragments - held) {
                self.map.inode(file).set_fragments(block, fragments, whole);
                return Ok((before, before));
            }
            if fragments == held {
                return Ok((before, before));
            }
        }
        if before == NOWHERE && self.log.usage.live_bytes() + u64::from(self.block_bytes()) > self.capacity() {
            return Err(Full);
        }
        self.log.clock += 1;
        let after = self.move_data(file, block, fragments, self.log.clock)?;
        Ok((before, after))
    }

    fn move_data(&mut self, file: FileId, block: u32, fragments: u32, modified: Age) -> Result<Address, Full> {
        let (whole, bytes) = (self.log.layout.per_block, self.log.layout.fragment_bytes);
        let address = self.append_bytes(Content::Data { file, block }, modified, fragments * bytes, fragments)?;
        let inode = self.map.inode(file);
        let (before, held) = (inode.block(block), inode.fragments(block, whole));
        inode.set_block(block, address);
        inode.set_fragments(block, fragments, whole);
        if before != NOWHERE {
            self.log.kill(before, held * bytes);
        }
        self.changed_inodes.insert(file);
        if let Some(index) = indirect_of(block, self.block_bytes()) {
            self.changed_indirect.insert((file, index));
        }
        Ok(address)
    }

    /// Appends a whole block.
    fn append(&mut self, content: Content, modified: Age) -> Result<Address, Full> {
        self.append_bytes(content, modified, self.block_bytes(), self.log.layout.per_block)
    }

    /// Appends content, of which that many bytes are live. A summary precedes the first content of each part of the
    /// log.
    fn append_bytes(&mut self, content: Content, modified: Age, bytes: u32, fragments: u32) -> Result<Address, Full> {
        while self.log.begins_part(fragments) {
            let summary = self.log.take_block()?;
            self.journal.note(self.log.add(summary, Content::Summary, 0, 0));
        }
        let address = self.log.take(fragments)?;
        self.journal.note(self.log.add(address, content, bytes, modified));
        Ok(address)
    }

    /// Bytes that may be live: a share of the disk, and always enough segments for the cleaner to work.
    fn capacity(&self) -> u64 {
        let layout = &self.log.layout;
        let whole = u64::from(layout.segments.saturating_sub(self.settings.clean_below)) * layout.segment_bytes();
        whole * u64::from(1000 - self.settings.reserve_permille) / 1000
    }

    /// Writes blocks without letting time pass.
    pub(crate) fn prepare_write(&mut self, file: FileId, offset: u64, bytes: u32) -> Result<(), Full> {
        let block_bytes = u64::from(self.block_bytes());
        let (mut at, end) = (offset, offset + u64::from(bytes));
        while at < end {
            let until = (at - at % block_bytes + block_bytes).min(end);
            if self.log.has_whole_segment() {
                self.write()?;
            }
            self.keep_up()?;
            self.append_data(file, (at / block_bytes) as u32, (until - at + at % block_bytes) as u32)?;
            self.actions.clear();
            self.moves.clear();
            at = until;
        }
        Ok(())
    }

    /// Completes the log after files were prepared, without letting time pass.
    pub(crate) fn end_preparation(&mut self) -> Result<(), Full> {
        self.checkpoint()?;
        self.actions.clear();
        self.map.forget();
        Ok(())
    }

    /// Returns the next part of the log that must be written so that all changes are on the drive.
    pub(crate) fn next_write(&mut self) -> Option<Extent> {
        if self.actions.is_empty() && self.write().is_err() {
            return None;
        }
        let written = |action| if let Action::Write(extent) = action { Some(extent) } else { None };
        core::iter::from_fn(|| self.actions.pop_front()).find_map(written)
    }

    /// Notes that the cache was emptied.
    pub(crate) fn forget(&mut self) {
        self.map.forget();
    }

    /// Frees all blocks of a file, which is deleted or truncated.
    pub(crate) fn free(&mut self, file: FileId) {
        let Some(inode) = self.map.remove(file) else { return };
        let (whole, bytes) = (self.log.layout.per_block, self.log.layout.fragment_bytes);
        inode.pieces(whole).for_each(|(address, fragments)| self.log.kill(address, fragments * bytes));
        if inode.address != NOWHERE {
            self.log.kill(inode.address, INODE_BYTES);
        }
        self.changed_inodes.remove(&file);
        let indirect = self.changed_indirect.range((file, 0)..=(file, u32::MAX)).copied().collect::<Vec<_>>();
        for key in indirect {
            self.changed_indirect.remove(&key);
        }
        let content = Content::Removed { file };
        self.journal.note(Entry { address: NOWHERE, content, modified: self.log.clock });
        self.has_removed = true;
    }

    /// Completes the log, so that every change is in it: deletions, indirect blocks, inodes.
    fn complete(&mut self) -> Result<(), Full> {
        let clock = self.log.clock;
        if self.has_removed && self.log.unwritten_blocks() == 0 {
            // Deletions are recorded in a summary.
            let summary = self.log.take_block()?;
            self.journal.note(self.log.add(summary, Content::Summary, 0, 0));
        }
        self.has_removed = false;
        while let Some(&(file, index)) = self.changed_indirect.first() {
            let address = self.append(Content::Indirect { file, index }, clock)?;
            self.changed_indirect.pop_first();
            let inode = self.map.inode(file);
            let before = inode.indirect(index);
            inode.set_indirect(index, address);
            if before != NOWHERE {
                let bytes = self.block_bytes();
                self.log.kill(before, bytes);
            }
        }
        let per_block = self.block_bytes() / INODE_BYTES;
        let (mut block, mut used) = (NOWHERE, per_block);
        while let Some(&file) = self.changed_inodes.first() {
            let content = Content::Inode { file };
            if used == per_block {
                block = self.append_bytes(content, clock, INODE_BYTES, self.log.layout.per_block)?;
                used = 0;
            } else {
                self.journal.note(self.log.add(block, content, INODE_BYTES, clock));
            }
            self.changed_inodes.pop_first();
            used += 1;
            let before = self.map.inode(file).address;
            if before != NOWHERE {
                self.log.kill(before, INODE_BYTES);
            }
            self.map.place(file, block);
        }
        Ok(())
    }

    /// Completes and writes the log.
    fn write(&mut self) -> Result<(), Full> {
        self.complete()?;
        let Lfs { log, actions, .. } = self;
        let layout = log.layout.clone();
        log.write(|address, count| actions.push_back(Action::Write(layout.extent(address, count))));
        Ok(())
    }

    /// Makes a checkpoint: the changed blocks of the inode map and the segment usage table go to the log, and their
    /// addresses to a checkpoint region. Segments that were cleaned before can be written again.
    fn checkpoint(&mut self) -> Result<(), Full> {
        self.complete()?;
        let (clock, bytes) = (self.log.clock, self.block_bytes());
        while let Some(index) = self.map.take_changed() {
            let address = self.append(Content::InodeMap { index }, clock).inspect_err(|_| self.map.change(index))?;
            let before = self.map.block(index);
            if before != NOWHERE {
                self.log.kill(before, bytes);
            }
            self.map.set_block(index, address);
        }
        let entries = (bytes / inode_map::ENTRY_BYTES) as usize;
        self.usage_blocks.resize((self.log.layout.segments as usize).div_ceil(entries), NOWHERE);
        for index in 0..self.usage_blocks.len() {
            let address = self.append(Content::UsageTable { index: index as u32 }, clock)?;
            let before = core::mem::replace(&mut self.usage_blocks[index], address);
            if before != NOWHERE {
                self.log.kill(before, bytes);
            }
        }
        self.write()?;
        self.actions.push_back(Action::Write(self.log.layout.region(self.second_region)));
        self.second_region = !self.second_region;
        let cleaned = core::mem::take(&mut self.cleaned);
        cleaned.into_iter().for_each(|segment| self.log.usage.free(segment));
        self.checkpoint_at = clock;
        self.journal.begin(&self.map.inodes);
        Ok(())
    }

    /// Makes a checkpoint if programs have written enough since the last one, and cleans if few segments are clean.
    fn keep_up(&mut self) -> Result<(), Full> {
        if self.is_cleaner_wanted() {
            self.clean()
        } else if (self.log.clock - self.checkpoint_at) * u64::from(self.block_bytes())
            >= self.settings.checkpoint_bytes
        {
            self.checkpoint()
        } else {
            Ok(())
        }
    }

    fn is_cleaner_wanted(&self) -> bool {
        self.log.usage.clean() < self.settings.clean_below
    }

    /// Cleans until enough segments are clean, or until a pass gains nothing. An error means that no space is left.
    fn clean(&mut self) -> Result<(), Full> {
        self.checkpoint()?;
        while self.log.usage.clean() < self.settings.clean_until {
            let before = self.log.free_blocks();
            if !self.pass()? || self.log.free_blocks() <= before {
                break;
            }
        }
        if self.is_cleaner_wanted() { Err(Full) } else { Ok(()) }
    }

    /// Cleans a batch of segments: copies their live blocks to the end of the log, sorted by age, and makes a
    /// checkpoint. Returns false if there is none to clean.
    fn pass(&mut self) -> Result<bool, Full> {
        // A live block may need a new indirect block, and the checkpoint needs room too.
        let spare = self.map.blocks.len() + self.usage_blocks.len() + 2 * self.settings.batch as usize;
        let room = self.log.free_blocks().saturating_sub(spare as u64) * u64::from(self.block_bytes()) / 2;
        let segments = cleaner::choose(&self.log, self.settings.cleaner, self.settings.batch, room);
        let mut live: Vec<Entry> = Vec::new();
        for &segment in &segments {
            if self.log.usage.of(segment).live_bytes > 0 {
                let first = self.log.layout.first_of(segment);
                let whole = self.log.layout.extent(first, self.log.layout.per_segment);
                self.actions.extend([Action::Read(whole), Action::AwaitRead]);
                live.extend(self.log.summary(segment).iter().filter(|entry| self.is_live(entry)));
            }
        }
        if self.settings.age_sort {
            cleaner::sort_by_age(&mut live);
        }
        live.iter().try_for_each(|entry| self.copy(entry))?;
        self.actions.push_back(Action::Move(live.len() as u32));
        let found = !segments.is_empty();
        self.cleaned = segments;
        self.checkpoint()?;
        Ok(found)
    }

    /// Copies live content to the end of the log, or notes that it must be written again.
    fn copy(&mut self, entry: &Entry) -> Result<(), Full> {
        match entry.content {
            Content::Data { file, block } => {
                let whole = self.log.layout.per_block;
                let fragments = self.map.inodes.get(&file).map_or(whole, |inode| inode.fragments(block, whole));
                let after = self.move_data(file, block, fragments, entry.modified)?;
                self.moves.push((entry.address, after));
            }
            Content::Indirect { file, index } => {
                self.changed_indirect.insert((file, index));
            }
            Content::Inode { .. } => {}
            Content::InodeMap { index } => self.map.change(index),
            // The next checkpoint writes the whole table.
            Content::UsageTable { .. } | Content::Summary | Content::Removed { .. } => {}
        }
        if let Content::Indirect { file, .. } | Content::Inode { file } = entry.content {
            self.changed_inodes.insert(file);
        }
        Ok(())
    }

    fn is_live(&self, entry: &Entry) -> bool {
        let inode = |file| self.map.inodes.get(&file);
        let current = match entry.content {
            Content::Data { file, block } => inode(file).map(|inode| inode.block(block)),
            Content::Indirect { file, index } => inode(file).map(|inode| inode.indirect(index)),
            Content::Inode { file } => inode(file).map(|inode| inode.address),
            Content::InodeMap { index } => Some(self.map.block(index)),
            Content::UsageTable { index } => self.usage_blocks.get(index as usize).copied(),
            Content::Summary | Content::Removed { .. } => None,
        };
        current == Some(entry.address)
    }
}

#[cfg(test)]
mod tests;
