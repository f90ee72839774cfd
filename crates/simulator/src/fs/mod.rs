//! File systems: they place the blocks of files, and turn each call into steps. They only decide; no time passes here.

mod directory;
mod ext2;
mod extent;
pub(crate) mod ffs;
mod lfs;
mod plan;
mod step;

pub(crate) use extent::Extent;
pub(crate) use plan::{NameCall, NameWork, Plan, Request};
pub(crate) use step::Step;

use alloc::boxed::Box;

use ext2::Ext2;
use ffs::Ffs;
use lfs::Lfs;

use crate::cache::{BlockKey, BufferId, Cache, State, Victim};
use crate::description::{self, Kernel};
use crate::namespace::FileId;

/// The file system of a drive. An enum and not a trait object, so that the steps of each kind are inlined.
/// Its tag is a byte of its own, which is cheaper to look at than a value that no field can have.
#[derive(Clone, Debug)]
#[repr(u8)]
pub(crate) enum FileSystem {
    /// The Berkeley fast file system.
    Ffs(Ffs),
    /// A log-structured file system.
    Lfs(Box<Lfs>),
    /// The second extended file system of Linux.
    Ext2(Ext2),
}

/// The parts of the computer that a file system sees when it decides a step.
#[derive(Debug)]
pub(crate) struct Host<'a> {
    pub(crate) kernel: &'a Kernel,
    pub(crate) cache: &'a mut Cache,
    /// The drive of the file system.
    pub(crate) drive: usize,
    /// The buffer that the call holds.
    pub(crate) held: BufferId,
}

/// State of a block whose transfer was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Used {
    /// It is in memory.
    Here,
    /// This buffer is being read or written.
    Moving(BufferId),
    /// Its buffer was given to another block.
    Lost,
}

/// Steps that take no time if the block is in memory. A file system that performs them itself saves a call of the
/// computer. If a step returns false, it has changed nothing, and the computer performs it.
impl Host<'_> {
    #[inline]
    fn find(&self, extent: Extent) -> Option<BufferId> {
        self.cache.find(BlockKey::new(self.drive, extent.sector))
    }

    /// [`Step::Read`], if the block is in memory.
    #[inline]
    pub(crate) fn holds(&mut self, extent: Extent) -> bool {
        let Some(buffer) = self.find(extent).filter(|&buffer| !self.cache.is_on_its_way(buffer)) else { return false };
        self.cache.touch(buffer);
        self.held = buffer;
        true
    }

    /// [`Step::GetBuffer`], if the block is in memory or the next buffer is free.
    #[inline]
    pub(crate) fn gets_buffer(&mut self, extent: Extent) -> bool {
        if self.find(extent).is_some() {
            return self.holds(extent);
        }
        let Victim::Free(buffer) = self.cache.victim() else { return false };
        self.cache.give(buffer, BlockKey::new(self.drive, extent.sector), extent.sectors);
        self.held = buffer;
        true
    }

    /// True if the block is in memory, or is being read.
    #[inline]
    pub(crate) fn knows(&self, extent: Extent) -> bool {
        self.find(extent).is_some()
    }

    /// Begins to read a block that is not in memory, if the next buffer is free. [`Step::HandOver`] must follow.
    #[inline]
    pub(crate) fn begin_read(&mut self, extent: Extent) -> Option<BufferId> {
        let Victim::Free(buffer) = self.cache.victim() else { return None };
        self.cache.give_to_move(buffer, BlockKey::new(self.drive, extent.sector), extent.sectors);
        self.cache.set_moving(buffer, State::Reading);
        Some(buffer)
    }

    /// Marks the first `sectors` sectors of the held buffer as changed, and begins to write it. It is not needed soon
    /// (`bawrite`). [`Step::HandOver`] must follow.
    #[inline]
    pub(crate) fn begin_write(&mut self, sectors: u16) -> BufferId {
        self.cache.dirty_to_move(self.held, sectors);
        self.cache.set_moving(self.held, State::Writing);
        self.held
    }

    /// [`Step::WriteDelayed`].
    #[inline]
    pub(crate) fn write_delayed(&mut self, sectors: u16) {
        self.cache.dirty(self.held, sectors);
        self.cache.touch(self.held);
    }

    /// Uses a block whose transfer was started, if it has ended. A block read to its end is not needed soon.
    #[inline]
    pub(crate) fn uses(&mut self, extent: Extent, to_its_end: bool) -> Used {
        let Some(buffer) = self.find(extent) else { return Used::Lost };
        if self.cache.is_on_its_way(buffer) {
            return Used::Moving(buffer);
        }
        // The last use decides the list.
        if to_its_end {
            self.cache.use_up(buffer);
        } else {
            self.cache.touch(buffer);
        }
        Used::Here
    }

    /// [`Step::WriteDelayed`] of a block that was held without time passing since then: it was used last.
    #[inline]
    pub(crate) fn dirty(&mut self, sectors: u16) {
        self.cache.dirty(self.held, sectors);
    }
}

/// Error: there is no free space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Full;

impl FileSystem {
    /// Creates an empty file system.
    pub(crate) fn new(drive: &description::Drive, file_system: &description::FileSystem) -> FileSystem {
        match file_system {
            description::FileSystem::Ffs(ffs) => FileSystem::Ffs(Ffs::new(drive, ffs)),
            description::FileSystem::Lfs(lfs) => FileSystem::Lfs(Box::new(Lfs::new(drive, lfs))),
            description::FileSystem::Ext2(ext2) => FileSystem::Ext2(Ext2::new(drive, ext2)),
        }
    }

    pub(crate) fn block_bytes(&self) -> u32 {
        match self {
            FileSystem::Ffs(ffs) => ffs.block_bytes(),
            FileSystem::Lfs(lfs) => lfs.block_bytes(),
            FileSystem::Ext2(ext2) => ext2.block_bytes(),
        }
    }

    /// Decides the next step of a call. Only the file system of the paper is inlined: the loop over steps is faster
    /// if it is small.
    #[inline(always)]
    pub(crate) fn next(&mut self, plan: &mut Plan, host: &mut Host) -> Step {
        match self {
            FileSystem::Ffs(ffs) => ffs.next(plan, host),
            FileSystem::Lfs(lfs) => lfs.next(plan, host),
            FileSystem::Ext2(ext2) => ext2.next(plan, host),
        }
    }

    /// True if operations on names take time.
    pub(crate) fn times_names(&self) -> bool {
        match self {
            FileSystem::Ffs(ffs) => ffs.times_names(),
            FileSystem::Lfs(lfs) => lfs.times_names(),
            FileSystem::Ext2(ext2) => ext2.times_names(),
        }
    }

    /// Performs an operation on a name without letting time pass. `host.cache` must not have blocks of its files.
    pub(crate) fn prepare_name(&mut self, call: NameCall, host: &mut Host) -> Result<(), Full> {
        match self {
            FileSystem::Ffs(ffs) => ffs.prepare_name(call, host),
            FileSystem::Lfs(lfs) => lfs.prepare_name(call, host),
            FileSystem::Ext2(ext2) => ext2.prepare_name(call, host),
        }
    }

    /// Forgets all names, after all files were freed.
    pub(crate) fn clear_names(&mut self, host: &mut Host) {
        match self {
            FileSystem::Ffs(ffs) => ffs.clear_names(host),
            FileSystem::Lfs(lfs) => lfs.clear_names(host),
            FileSystem::Ext2(ext2) => ext2.clear_names(host),
        }
    }

    /// Allocates the blocks of a write without letting time pass.
    pub(crate) fn prepare_write(&mut self, file: FileId, offset: u64, bytes: u32) -> Result<(), Full> {
        match self {
            FileSystem::Ffs(ffs) => ffs.prepare_write(file, offset, bytes),
            FileSystem::Ext2(ext2) => ext2.prepare_write(file, offset, bytes),
            FileSystem::Lfs(lfs) => lfs.prepare_write(file, offset, bytes),
        }
    }

    /// Notes that all files are prepared.
    pub(crate) fn end_preparation(&mut self) -> Result<(), Full> {
        match self {
            FileSystem::Ffs(_) | FileSystem::Ext2(_) => Ok(()),
            FileSystem::Lfs(lfs) => lfs.end_preparation(),
        }
    }

    /// Returns the next sectors that must be written apart from dirty buffers, so that all changes are on the drive.
    pub(crate) fn next_write(&mut self) -> Option<Extent> {
        match self {
            FileSystem::Ffs(_) | FileSystem::Ext2(_) => None,
            FileSystem::Lfs(lfs) => lfs.next_write(),
        }
    }

    /// Notes that the cache was emptied.
    pub(crate) fn forget(&mut self) {
        match self {
            FileSystem::Ffs(_) | FileSystem::Ext2(_) => {}
            FileSystem::Lfs(lfs) => lfs.forget(),
        }
    }

    /// Calls `each` for every extent of a file, including its indirect blocks.
    pub(crate) fn visit(&self, file: FileId, each: impl FnMut(Extent)) {
        match self {
            FileSystem::Ffs(ffs) => ffs.extents(file).for_each(each),
            FileSystem::Lfs(lfs) => lfs.extents(file).for_each(each),
            FileSystem::Ext2(ext2) => ext2.extents(file).for_each(each),
        }
    }

    /// Frees all blocks of a file, which is deleted or truncated.
    pub(crate) fn free(&mut self, file: FileId) {
        match self {
            FileSystem::Ffs(ffs) => ffs.free(file),
            FileSystem::Lfs(lfs) => lfs.free(file),
            FileSystem::Ext2(ext2) => ext2.free(file),
        }
    }
}
