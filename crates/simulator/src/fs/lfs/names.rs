//! Names with time: directories are searched in memory, and their changed blocks go to the log with the changed inodes.
//! No call waits for the drive to write.

use alloc::vec::Vec;

use units::Nanos;
use workload::Reason;

use super::Lfs;
use super::call_state::Progress;
use super::calls::rename;
use crate::cache::BlockKey;
use crate::cpu::Cause;
use crate::description::SECTOR_BYTES;
use crate::fs::directory::Directory;
use crate::fs::plan::{NameCall, NameWork, Plan};
use crate::fs::step::Step;
use crate::fs::{Full, Host};
use crate::namespace::FileId;

impl Lfs {
    /// Steps of a call on a name.
    pub(super) fn next_of_name(&mut self, plan: &mut Plan, host: &mut Host, call: NameCall) -> Option<Step> {
        if let Some(step) = plan.next_of_script() {
            return Some(step);
        }
        match plan.lfs.progress {
            Progress::Enter => {
                plan.script.push(Step::Spend(Cause::Call, host.kernel.call));
                self.search(call, host, &mut plan.script);
                plan.lfs.progress = Progress::Search;
            }
            Progress::Search => {
                plan.lfs.progress = Progress::Change;
                if self.make_room(host).is_err() && needs_space(call.work) {
                    return Some(Step::Return(Err(Reason::NoSpace)));
                }
            }
            Progress::Change => {
                plan.lfs.progress = Progress::End;
                if self.change(call, host, &mut plan.script).is_err() && needs_space(call.work) {
                    return Some(Step::Return(Err(Reason::NoSpace)));
                }
            }
            _ => return Some(Step::Return(Ok(0))),
        }
        None
    }

    /// Performs an operation on a name without letting time pass.
    pub(crate) fn prepare_name(&mut self, call: NameCall, host: &mut Host) -> Result<(), Full> {
        self.make_room(host)?;
        let steps = &mut Vec::new();
        self.search(call, host, steps);
        self.change(call, host, steps)?;
        self.actions.clear();
        Ok(())
    }

    /// Forgets all names. No file has blocks.
    pub(crate) fn clear_names(&mut self, host: &mut Host) {
        for directory in core::mem::take(&mut self.directories).into_keys() {
            self.discard(directory, host, &mut Vec::new());
        }
    }

    /// Searches the name, component by component.
    fn search(&mut self, NameCall { work, root, directory, file, .. }: NameCall, host: &Host, steps: &mut Vec<Step>) {
        // The folder of the program exists since before its first call.
        self.directories.entry(root).or_insert_with(Directory::new);
        if work != NameWork::Close {
            if directory != root {
                self.search_directory(root, directory, host, steps);
            }
            self.search_directory(directory, file, host, steps);
        }
    }

    /// Searches a component in a directory: reads its blocks, compares its entries, and reads the inode.
    fn search_directory(&mut self, directory: FileId, file: FileId, host: &Host, steps: &mut Vec<Step>) {
        let Some(searched) = self.directories.get(&directory) else { return };
        let found = searched.find(file);
        let bytes = found.map_or(searched.bytes(), |found| found.offset + 1);
        let compared = found.map_or(searched.entries(), |found| found.compared);
        for block in 0..bytes.div_ceil(self.block_bytes()) {
            steps.extend(self.place(directory, block).map(Step::Read));
        }
        let work = host.kernel.name_component + Nanos(host.kernel.name_entry.0 * u64::from(compared));
        steps.push(Step::Spend(Cause::Names, work));
        if found.is_some() {
            steps.extend(self.missing_inode(file).map(Step::Read));
        }
    }

    /// Changes names and inodes.
    fn change(&mut self, call: NameCall, host: &mut Host, steps: &mut Vec<Step>) -> Result<(), Full> {
        let NameCall { work, directory, file, releases, .. } = call;
        let kernel = host.kernel;
        match work {
            NameWork::Open => {}
            NameWork::Create | NameWork::MakeDirectory => {
                let is_new = self.directories.get(&directory).is_some_and(|entries| entries.find(file).is_none());
                if releases {
                    self.discard(file, host, steps);
                }
                if is_new {
                    let offset = self.directories.get_mut(&directory).map_or(0, |entries| entries.enter(file));
                    self.change_directory(directory, offset, host, steps)?;
                    steps.push(Step::Spend(Cause::Names, kernel.inode_allocate));
                    if work == NameWork::MakeDirectory {
                        self.directories.insert(file, Directory::new());
                        self.change_directory(file, 0, host, steps)?;
                    }
                }
                self.map.inode(file);
                self.changed_inodes.insert(file);
                steps.push(Step::Spend(Cause::Names, kernel.inode_update));
            }
            NameWork::Close => {
                if releases {
                    self.discard(file, host, steps);
                }
            }
            NameWork::Unlink | NameWork::RemoveDirectory => {
                if let Some(entries) = self.directories.get_mut(&directory)
                    && let Some(offset) = entries.find(file).map(|found| found.offset)
                {
                    entries.remove(file);
                    // A full log must not keep the blocks of the file.
                    self.change_directory(directory, offset, host, steps).ok();
                }
                steps.push(Step::Spend(Cause::Names, kernel.inode_update));
                self.directories.remove(&file);
                if releases || work == NameWork::RemoveDirectory {
                    self.discard(file, host, steps);
                }
            }
        }
        Ok(())
    }

    /// Writes the block of a directory with that offset, in memory.
    fn change_directory(
        &mut self,
        directory: FileId,
        offset: u32,
        host: &mut Host,
        steps: &mut Vec<Step>,
    ) -> Result<(), Full> {
        // A directory takes whole blocks, as it changes with each of its files.
        let (before, after) = self.append_data(directory, offset / self.block_bytes(), self.block_bytes())?;
        let extent = self.log.layout.block(after);
        if before != after {
            rename(host, before, after, |address| self.log.layout.block(address));
        }
        let sectors = (self.block_bytes() / SECTOR_BYTES) as u16;
        steps.extend([Step::GetBuffer(extent), Step::WriteDelayed(sectors)]);
        Ok(())
    }

    /// Frees the blocks and the inode of a file.
    fn discard(&mut self, file: FileId, host: &mut Host, steps: &mut Vec<Step>) {
        let mut blocks = 1;
        for extent in self.extents(file) {
            host.cache.forget(BlockKey::new(host.drive, extent.sector));
            blocks += 1;
        }
        steps.push(Step::Spend(Cause::Names, Nanos(host.kernel.block_free.0 * blocks)));
        self.free(file);
    }
}

/// True if a full log refuses the call. The namespace has performed the others already, and they free space.
fn needs_space(work: NameWork) -> bool {
    matches!(work, NameWork::Create | NameWork::MakeDirectory)
}
