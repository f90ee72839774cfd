//! The system calls on names as steps: `ext2_lookup`, `ext2_create`, `ext2_unlink`, `ext2_mkdir`, `ext2_rmdir`.

use alloc::vec::Vec;

use units::Nanos;

use super::{Directory, Ext2, Full, Script};
use crate::cache::BlockKey;
use crate::cpu::Cause;
use crate::description::Metadata;
use crate::fs::Host;
use crate::fs::extent::Extent;
use crate::fs::plan::{NameCall, NameWork};
use crate::fs::step::Step;
use crate::namespace::FileId;

impl Ext2 {
    /// Operations on names always take time.
    pub(crate) fn times_names(&self) -> bool {
        true
    }

    /// Performs an operation on a name without letting time pass.
    pub(crate) fn prepare_name(&mut self, call: NameCall, host: &mut Host) -> Result<(), Full> {
        let mut steps = Vec::new();
        let done = self.name(call, &mut Script { steps: &mut steps, host });
        self.dirty.clear();
        done
    }

    /// Forgets all names, after all files were freed.
    pub(crate) fn clear_names(&mut self, host: &mut Host) {
        let directories: Vec<FileId> = self.directories.keys().copied().collect();
        for directory in directories {
            self.forget(directory, host);
            self.free(directory);
        }
        self.directories.clear();
        self.dirty.clear();
    }

    /// Steps of a call on a name:
    ///   1. the blocks of its directory are read up to its entry, or to the end if it has none;
    ///   2. the inode of an existing file is read;
    ///   3. the call changes the directory, the inode and the maps.
    pub(super) fn name(&mut self, call: NameCall, script: &mut Script) -> Result<(), Full> {
        let kernel = script.host.kernel;
        if call.work == NameWork::Close {
            if call.releases {
                self.release(call.file, script);
            }
            return Ok(());
        }
        // 1
        self.make_root(call.root)?;
        let components = if call.directory == call.root { 1 } else { 2 };
        script.spend(Cause::Names, Nanos(kernel.name_component.0 * components));
        if call.directory != call.root {
            self.search(call.root, call.directory, script);
        }
        let found = self.search(call.directory, call.file, script);
        // 2
        if found && let Some(file) = self.files.get(&call.file) {
            script.steps.push(Step::Read(self.layout.inode_block(file.inode)));
        }
        // 3
        match call.work {
            NameWork::Open | NameWork::Close => Ok(()),
            NameWork::Create if found => {
                if call.releases {
                    self.truncate(call.file, script);
                }
                Ok(())
            }
            NameWork::Create => self.make(call, false, script),
            NameWork::MakeDirectory => self.make(call, true, script),
            NameWork::Unlink => {
                self.remove_entry(call, script);
                if call.releases {
                    self.release(call.file, script);
                } else if let Some(file) = self.files.get(&call.file) {
                    self.change_name_block(self.layout.inode_block(file.inode), script);
                }
                Ok(())
            }
            NameWork::RemoveDirectory => {
                self.remove_entry(call, script);
                self.release(call.file, script);
                self.directories.remove(&call.file);
                Ok(())
            }
        }
    }

    /// The folder of a program exists before its first call.
    fn make_root(&mut self, root: FileId) -> Result<(), Full> {
        if !self.directories.contains_key(&root) {
            self.add(root, 0)?;
            self.allocate(root, 0, self.layout.block_bytes, &mut Vec::new())?;
            self.directories.insert(root, Directory::new());
        }
        Ok(())
    }

    /// Reads the blocks of a directory up to the entry of a file. Returns whether there is one.
    fn search(&self, directory: FileId, file: FileId, script: &mut Script) -> bool {
        let (Some(entries), Some(known)) = (self.directories.get(&directory), self.files.get(&directory)) else {
            return false;
        };
        let found = entries.find(file);
        let last = found.map_or(usize::MAX, |offset| (offset / self.layout.block_bytes) as usize);
        for (index, block) in known.pages.iter().enumerate() {
            if index <= last {
                script.steps.push(Step::Read(self.layout.extent(block.first, block.count)));
            }
        }
        found.is_some()
    }

    /// Allocates the inode of a file in that group, or in the next that has one.
    fn add(&mut self, file: FileId, group: u32) -> Result<u32, Full> {
        let groups = self.layout.groups;
        let taken = (0..groups).find_map(|step| {
            let group = (group + step) % groups;
            Some(group * self.layout.inodes_per_group + self.groups[group as usize].take_inode()?)
        });
        let inode = taken.ok_or(Full)?;
        self.files.entry(file).or_default().inode = inode;
        Ok(inode)
    }

    /// The group of a new directory: of those with at least the average number of free inodes, the first with the most
    /// free blocks.
    fn group_of_directory(&self) -> u32 {
        let free: u64 = self.groups.iter().map(|group| u64::from(group.free_inodes())).sum();
        let average = free / self.groups.len() as u64;
        let mut best = (0, 0);
        for (number, group) in self.groups.iter().enumerate() {
            if u64::from(group.free_inodes()) >= average && group.free_blocks() > best.1 {
                best = (number as u32, group.free_blocks());
            }
        }
        best.0
    }

    /// Makes a file or a directory, and enters it.
    fn make(&mut self, call: NameCall, is_directory: bool, script: &mut Script) -> Result<(), Full> {
        let kernel = script.host.kernel;
        let parent = self.files.get(&call.directory).map_or(0, |file| file.inode / self.layout.inodes_per_group);
        let group = if is_directory { self.group_of_directory() } else { parent };
        let inode = self.add(call.file, group)?;
        let group = inode / self.layout.inodes_per_group;
        script.spend(Cause::Names, kernel.inode_allocate);
        script.replace(&mut self.dirty, self.layout.inode_map(group));
        script.replace(&mut self.dirty, self.layout.descriptor(group));
        self.change_name_block(self.layout.inode_block(inode), script);
        if is_directory {
            self.directories.insert(call.file, Directory::new());
            self.grow(call.file, 0, script)?;
        }
        let Some(entries) = self.directories.get_mut(&call.directory) else { return Ok(()) };
        let block = entries.enter(call.file) / self.layout.block_bytes;
        if self.files.get(&call.directory).is_none_or(|file| file.page(block).is_none()) {
            return self.grow(call.directory, block, script);
        }
        self.change_entry(call.directory, block, script);
        Ok(())
    }

    /// Adds a block to a directory.
    fn grow(&mut self, directory: FileId, block: u32, script: &mut Script) -> Result<(), Full> {
        let first = self.take(directory, 1)?;
        self.files.entry(directory).or_default().set_page(block, super::Page { first, count: 1 });
        let group = self.layout.group(first);
        script.replace(&mut self.dirty, self.layout.block_map(group));
        script.replace(&mut self.dirty, self.layout.descriptor(group));
        script.spend(Cause::Allocate, script.host.kernel.block_allocate);
        script.replace(&mut self.dirty, self.layout.extent(first, 1));
        if self.settings.metadata == Metadata::Sync {
            self.change_entry(directory, block, script);
        }
        Ok(())
    }

    /// Changes a block of a directory.
    fn change_entry(&mut self, directory: FileId, block: u32, script: &mut Script) {
        if let Some(extent) = self.place(directory, block) {
            self.change_name_block(extent, script);
        }
    }

    /// Changes a block of a directory or of inodes: later, or at once, as the file system is set.
    fn change_name_block(&mut self, extent: Extent, script: &mut Script) {
        match self.settings.metadata {
            Metadata::Delayed => script.change(&mut self.dirty, extent),
            Metadata::Sync => script.change_and_wait(extent),
        }
    }

    fn remove_entry(&mut self, call: NameCall, script: &mut Script) {
        let offset = self.directories.get_mut(&call.directory).and_then(|entries| entries.remove(call.file));
        if let Some(offset) = offset {
            self.change_entry(call.directory, offset / self.layout.block_bytes, script);
        }
    }

    /// Frees the blocks of a file, and drops them from memory.
    fn truncate(&mut self, file: FileId, script: &mut Script) {
        let Some(known) = self.files.get(&file) else { return };
        let inode = known.inode;
        let mut groups: Vec<u32> = known.extents().map(|(first, _)| self.layout.group(first)).collect();
        groups.dedup();
        let freed = known.extents().count() as u64;
        script.spend(Cause::Names, Nanos(script.host.kernel.block_free.0 * freed));
        for group in groups {
            script.replace(&mut self.dirty, self.layout.block_map(group));
            script.replace(&mut self.dirty, self.layout.descriptor(group));
        }
        self.forget(file, script.host);
        self.free_blocks(file);
        self.change_name_block(self.layout.inode_block(inode), script);
    }

    /// Frees a file with its inode.
    fn release(&mut self, file: FileId, script: &mut Script) {
        let Some(inode) = self.files.get(&file).map(|file| file.inode) else { return };
        self.truncate(file, script);
        script.spend(Cause::Names, script.host.kernel.block_free);
        let group = inode / self.layout.inodes_per_group;
        script.replace(&mut self.dirty, self.layout.inode_map(group));
        script.replace(&mut self.dirty, self.layout.descriptor(group));
        self.free(file);
    }

    /// Drops the blocks of a file from memory.
    fn forget(&self, file: FileId, host: &mut Host) {
        for extent in self.extents(file) {
            host.cache.forget(BlockKey::new(host.drive, extent.sector));
        }
    }
}
