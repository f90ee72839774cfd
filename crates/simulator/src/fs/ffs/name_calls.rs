//! The system calls on names of 4.2BSD as steps: `namei`, `maknode`, `direnter`, `dirremove`, `iupdat`, `itrunc` and
//! `sync`.
//!
//! A call first searches its directories. Then the file system is changed at once, and the remaining steps are known.
//! Two of them wait for the drive, so that a crash leaves no name without an inode, and no inode with freed blocks.

use alloc::vec::Vec;

use units::Nanos;
use workload::Reason;

use super::Ffs;
use super::call_state::Progress;
use super::inode::WHOLE;
use super::names::Names;
use crate::cache::BlockKey;
use crate::cpu::Cause;
use crate::faults::{self, Fault};
use crate::fs::extent::Extent;
use crate::fs::plan::{NameCall, NameWork, Plan};
use crate::fs::step::Step;
use crate::fs::{Full, Host};
use crate::namespace::FileId;

/// Steps that are known.
struct Script<'a, 'b> {
    steps: &'a mut Vec<Step>,
    host: &'a mut Host<'b>,
}

impl Script<'_, '_> {
    fn read(&mut self, extent: Extent) {
        self.steps.push(Step::Read(extent));
    }

    fn spend(&mut self, cause: Cause, work: Nanos) {
        self.steps.push(Step::Spend(cause, work));
    }

    /// Reads a block and changes it in memory.
    fn change(&mut self, extent: Extent) {
        self.read(extent);
        self.steps.push(Step::WriteDelayed(extent.sectors));
    }

    /// Drops a block from memory that was freed or moved.
    fn forget(&mut self, extent: Extent) {
        self.host.cache.forget(BlockKey::new(self.host.drive, extent.sector));
    }

    /// Writes the held block, and waits.
    fn write(&mut self, extent: Extent, no_wait: Fault) {
        let wait = !faults::is_planted(no_wait);
        self.steps.push(if wait { Step::WriteSync(extent.sectors) } else { Step::WriteDelayed(extent.sectors) });
    }
}

impl Ffs {
    /// Steps of a call on a name.
    #[inline(never)]
    pub(super) fn next_of_name(&mut self, plan: &mut Plan, host: &mut Host, call: NameCall) -> Option<Step> {
        if let Some(step) = plan.next_of_script() {
            return Some(step);
        }
        let kernel = host.kernel;
        let mut script = Script { steps: &mut plan.script, host };
        match plan.ffs.progress {
            Progress::Enter => {
                script.spend(Cause::Call, kernel.call);
                plan.ffs.progress = Progress::Search;
            }
            Progress::Search => {
                if self.search(call, &mut script).is_err() {
                    return Some(Step::Return(Err(Reason::NoSpace)));
                }
                plan.ffs.progress = Progress::Change;
            }
            Progress::Change => {
                if self.change(call, &mut script).is_err() {
                    return Some(Step::Return(Err(Reason::NoSpace)));
                }
                plan.ffs.progress = Progress::End;
            }
            _ => return Some(Step::Return(Ok(0))),
        }
        None
    }

    /// Steps of a sync (`fsync`, or `sync` if it does not wait):
    ///   1. `sync` writes a super block that has changed;
    ///   2. changed inodes go to their blocks;
    ///   3. all changed blocks are written.
    #[inline(never)]
    pub(super) fn next_of_sync(&mut self, plan: &mut Plan, host: &mut Host, waits: bool) -> Option<Step> {
        if let Some(step) = plan.next_of_script() {
            return Some(step);
        }
        let kernel = host.kernel;
        let mut script = Script { steps: &mut plan.script, host };
        match plan.ffs.progress {
            Progress::Enter => {
                script.spend(Cause::Call, kernel.call);
                plan.ffs.progress = Progress::Change;
            }
            Progress::Change => {
                if !waits && core::mem::take(&mut self.modified) {
                    let super_block = self.layout.super_block();
                    script.steps.extend([Step::GetBuffer(super_block), Step::WriteSync(super_block.sectors)]);
                }
                if let Some(names) = &mut self.names {
                    for file in core::mem::take(&mut names.changed) {
                        self.update_inode(file, &mut script, false);
                    }
                }
                script.steps.push(if waits { Step::Flush } else { Step::FlushBehind });
                plan.ffs.progress = Progress::End;
            }
            _ => return Some(Step::Return(Ok(0))),
        }
        None
    }

    /// Performs an operation on a name without letting time pass.
    pub(crate) fn prepare_name(&mut self, call: NameCall, host: &mut Host) -> Result<(), Full> {
        let mut script = Script { steps: &mut Vec::new(), host };
        self.search(call, &mut script)?;
        self.change(call, &mut script)?;
        self.expect_names_mut().changed.clear();
        Ok(())
    }

    /// Forgets all names. No file has blocks.
    pub(crate) fn clear_names(&mut self, host: &mut Host) {
        let Some(names) = &mut self.names else { return };
        let directories: Vec<FileId> = names.directories.keys().copied().collect();
        **names = Names::new(&self.layout);
        for directory in directories {
            self.extents(directory).for_each(|extent| host.cache.forget(BlockKey::new(host.drive, extent.sector)));
            self.free(directory);
        }
    }

    /// Notes that a file was read or written: the times in its inode have changed.
    pub(super) fn touch(&mut self, file: FileId) {
        self.files.expect(file);
        if let Some(names) = &mut self.names {
            names.changed.insert(file);
        }
    }

    /// Searches the name, component by component. A call that will free indirect blocks reads them.
    fn search(&mut self, call: NameCall, script: &mut Script) -> Result<(), Full> {
        let NameCall { work, root, directory, file, releases } = call;
        if !self.expect_names().directories.contains_key(&root) {
            // The folder of the program exists since before its first call.
            self.add_directory(root)?;
        }
        if work != NameWork::Close {
            if directory != root {
                self.search_directory(root, directory, script);
            }
            self.search_directory(directory, file, script);
        }
        if releases {
            let indirect = self.files.get(file).into_iter().flat_map(super::Inode::extents);
            for (fragment, _) in indirect.filter(|(_, count)| *count == WHOLE) {
                script.read(self.layout.extent(fragment, self.layout.fragments));
            }
        }
        Ok(())
    }

    /// Searches a component in a directory: reads its blocks, compares its entries, and reads the inode.
    fn search_directory(&self, directory: FileId, file: FileId, script: &mut Script) {
        let names = self.expect_names();
        let Some(searched) = names.directories.get(&directory) else { return };
        let found = searched.find(file);
        let bytes = found.map_or(searched.bytes(), |found| found.offset + 1);
        for block in 0..bytes.div_ceil(self.layout.block_bytes) {
            self.read_block(directory, block, script);
        }
        let compared = found.map_or(searched.entries(), |found| found.compared);
        let compared = if faults::is_planted(Fault::DirectoriesNotSearched) { 0 } else { u64::from(compared) };
        let kernel = script.host.kernel;
        script.spend(Cause::Names, kernel.name_component + Nanos(kernel.name_entry.0 * compared));
        if found.is_some()
            && let Some(extent) = names.inode_block(&self.layout, file)
        {
            script.read(extent);
        }
    }

    /// Reads a block of a directory, after the indirect blocks on the path to it.
    fn read_block(&self, directory: FileId, block: u32, script: &mut Script) {
        let mut indirect = self.indirect(directory, block);
        while let Some(extent) = indirect.take_first() {
            script.read(extent);
        }
        if let Some(extent) = self.place(directory, block) {
            script.read(extent);
        }
    }

    /// Changes names and inodes.
    fn change(
        &mut self,
        NameCall { work, directory, file, releases, root }: NameCall,
        script: &mut Script,
    ) -> Result<(), Full> {
        match work {
            NameWork::Open => {}
            NameWork::Create if self.expect_names().group_of(file).is_some() => {
                if releases {
                    self.truncate(file, script);
                }
            }
            NameWork::Create => {
                self.expect_names_mut().add_file(file, directory)?;
                self.new_inode(file, script);
                self.enter(directory, file, script)?;
                self.changed_directory(directory, root, script);
            }
            NameWork::Close => {
                if releases {
                    self.discard(file, script);
                } else if self.expect_names_mut().changed.remove(&file) {
                    self.update_inode(file, script, false);
                }
            }
            NameWork::Unlink => {
                self.leave(directory, file, script);
                self.changed_directory(directory, root, script);
                if releases {
                    self.discard(file, script);
                } else {
                    self.touch(file);
                }
            }
            NameWork::MakeDirectory => {
                self.add_directory(file)?;
                self.new_inode(file, script);
                // The link from the new directory to its parent.
                self.update_inode(directory, script, true);
                self.write_block(file, 0, self.layout.fragment_bytes, true, script)?;
                self.enter(directory, file, script)?;
            }
            NameWork::RemoveDirectory => {
                self.leave(directory, file, script);
                self.changed_directory(directory, root, script);
                self.discard(file, script);
            }
        }
        Ok(())
    }

    /// Makes an empty directory with its first fragment.
    fn add_directory(&mut self, directory: FileId) -> Result<(), Full> {
        self.expect_names_mut().add_directory(directory)?;
        self.allocate(directory, 0, self.layout.fragment_bytes)?;
        Ok(())
    }

    /// Allocates an inode, and writes it before any name points to it.
    fn new_inode(&mut self, file: FileId, script: &mut Script) {
        let group = self.expect_names().group_of(file).unwrap_or(0);
        script.change(self.layout.header(group));
        script.spend(Cause::Allocate, script.host.kernel.inode_allocate);
        self.update_inode(file, script, true);
    }

    /// Copies an inode into its block, and writes the block if `now`.
    fn update_inode(&self, file: FileId, script: &mut Script, now: bool) {
        let Some(extent) = self.expect_names().inode_block(&self.layout, file) else { return };
        script.spend(Cause::Names, script.host.kernel.inode_update);
        script.read(extent);
        if now {
            script.write(extent, Fault::InodesNotWritten);
        } else {
            script.steps.push(Step::WriteDelayed(extent.sectors));
        }
    }

    /// Enters a name, and writes the block of the directory.
    fn enter(&mut self, directory: FileId, file: FileId, script: &mut Script) -> Result<(), Full> {
        let block_bytes = self.layout.block_bytes;
        let Some(entered) = self.expect_names_mut().directories.get_mut(&directory) else { return Ok(()) };
        let block = entered.enter(file) / block_bytes;
        let bytes = (entered.bytes() - block * block_bytes).min(block_bytes);
        self.write_block(directory, block, bytes, false, script)
    }

    /// Writes a block of a directory, and waits. Allocates its space if it has grown.
    fn write_block(
        &mut self,
        directory: FileId,
        block: u32,
        bytes: u32,
        is_new: bool,
        script: &mut Script,
    ) -> Result<(), Full> {
        let before = self.place(directory, block);
        if is_new || !self.holds(directory, block, bytes) {
            let mut indirect = super::inode::Places::NONE;
            let header = match before {
                Some(extent) if is_new => self.layout.header(self.layout.group_of_sector(extent.sector)),
                _ => {
                    let new = self.allocate(directory, block, bytes)?;
                    indirect = new.new_indirect;
                    new.header
                }
            };
            script.change(header);
            while let Some(extent) = indirect.take_first() {
                script.steps.extend([Step::GetBuffer(extent), Step::WriteSync(extent.sectors)]);
            }
            script.spend(Cause::Allocate, script.host.kernel.block_allocate);
            if let Some(before) = before {
                script.forget(before);
            }
        }
        let Some(extent) = self.place(directory, block) else { return Ok(()) };
        let is_moved = is_new || before != Some(extent);
        script.steps.push(if is_moved { Step::GetBuffer(extent) } else { Step::Read(extent) });
        script.write(extent, Fault::DirectoriesNotWritten);
        Ok(())
    }

    /// Removes a name, and writes the block of the directory.
    fn leave(&mut self, directory: FileId, file: FileId, script: &mut Script) {
        let block_bytes = self.layout.block_bytes;
        let Some(left) = self.expect_names_mut().directories.get_mut(&directory) else { return };
        let Some(found) = left.find(file) else { return };
        left.remove(file);
        if let Some(extent) = self.place(directory, found.offset / block_bytes) {
            script.read(extent);
            script.write(extent, Fault::DirectoriesNotWritten);
        }
    }

    /// The times of a directory have changed. Its inode goes to its block when the directory is released, but the
    /// folder of the program is always in use.
    fn changed_directory(&mut self, directory: FileId, root: FileId, script: &mut Script) {
        if directory == root {
            self.touch(directory);
        } else {
            self.update_inode(directory, script, false);
        }
    }

    /// Writes an inode without blocks, and then frees the blocks of the file.
    fn truncate(&mut self, file: FileId, script: &mut Script) {
        self.update_inode(file, script, true);
        let mut freed: Vec<(u32, u64)> = Vec::new();
        for extent in self.extents(file) {
            script.forget(extent);
            let group = self.layout.group_of_sector(extent.sector);
            match freed.iter_mut().find(|(known, _)| *known == group) {
                Some((_, blocks)) => *blocks += 1,
                None => freed.push((group, 1)),
            }
        }
        self.free(file);
        for (group, blocks) in freed {
            script.change(self.layout.header(group));
            if !faults::is_planted(Fault::FreeingTakesNoTime) {
                script.spend(Cause::Names, Nanos(script.host.kernel.block_free.0 * blocks));
            }
        }
    }

    /// Frees a file with its inode.
    fn discard(&mut self, file: FileId, script: &mut Script) {
        self.truncate(file, script);
        let Some(group) = self.expect_names().group_of(file) else { return };
        script.change(self.layout.header(group));
        script.spend(Cause::Names, script.host.kernel.block_free);
        self.update_inode(file, script, false);
        self.expect_names_mut().remove(file);
    }

    fn expect_names(&self) -> &Names {
        self.names.as_ref().expect("names that take time")
    }

    fn expect_names_mut(&mut self) -> &mut Names {
        self.names.as_mut().expect("names that take time")
    }
}
