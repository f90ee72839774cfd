//! Names and inodes of a file system whose names take time: which exist, and where they are on the drive.

use alloc::collections::{BTreeMap, BTreeSet};

use super::inode_table::InodeTable;
use super::{Layout, dirpref};
use crate::faults::{self, Fault};
use crate::fs::Full;
use crate::fs::directory::Directory;
use crate::fs::extent::Extent;
use crate::namespace::FileId;

/// The names and inodes.
#[derive(Clone, Debug)]
pub(super) struct Names {
    pub(super) table: InodeTable,
    pub(super) directories: BTreeMap<FileId, Directory>,
    /// Inodes of files and directories.
    inodes: BTreeMap<FileId, u32>,
    /// Files and directories whose inode in memory is newer than its block.
    pub(super) changed: BTreeSet<FileId>,
}

impl Names {
    pub(super) fn new(layout: &Layout) -> Names {
        Names {
            table: InodeTable::new(layout.groups, layout.inodes_per_group),
            directories: BTreeMap::new(),
            inodes: BTreeMap::new(),
            changed: BTreeSet::new(),
        }
    }

    /// The group of the inode of a file or directory.
    pub(super) fn group_of(&self, file: FileId) -> Option<u32> {
        self.inodes.get(&file).map(|&inode| self.table.group(inode))
    }

    /// The block with the inode of a file or directory.
    pub(super) fn inode_block(&self, layout: &Layout, file: FileId) -> Option<Extent> {
        let inode = *self.inodes.get(&file)?;
        Some(layout.inode_block(self.table.group(inode), self.table.within_group(inode)))
    }

    /// Allocates the inode of a file, in the group of its directory.
    pub(super) fn add_file(&mut self, file: FileId, directory: FileId) -> Result<(), Full> {
        let group = self.group_of(directory).unwrap_or(0);
        let inode = self.table.allocate(group, false).ok_or(Full)?;
        self.inodes.insert(file, inode);
        Ok(())
    }

    /// Allocates the inode of a directory, and makes it empty.
    pub(super) fn add_directory(&mut self, directory: FileId) -> Result<(), Full> {
        let planted = faults::is_planted(Fault::NoDirpref);
        let group = if planted { 0 } else { dirpref::prefer(self.table.counts()) };
        let inode = self.table.allocate(group, true).ok_or(Full)?;
        self.inodes.insert(directory, inode);
        self.directories.insert(directory, Directory::new());
        Ok(())
    }

    /// Frees the inode of a file or directory.
    pub(super) fn remove(&mut self, file: FileId) {
        let is_directory = self.directories.remove(&file).is_some();
        if let Some(inode) = self.inodes.remove(&file) {
            self.table.free(inode, is_directory);
        }
        self.changed.remove(&file);
    }
}
