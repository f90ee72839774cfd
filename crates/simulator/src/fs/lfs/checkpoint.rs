//! Checkpoints and roll-forward: the state of the file system after a crash.
//!
//! A checkpoint is a state in which the log is complete. After a crash the system starts from the last one, and rolls
//! forward through the summaries that were written since: an inode in them makes the file's blocks before it valid.
//! Blocks without an inode are ignored (Rosenblum & Ousterhout 1992, section 4.2).

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::entry::{Content, Entry};
use super::inode_map::Inode;
use super::segment::{Address, NOWHERE};
use crate::namespace::FileId;

/// The files that a file system has after a crash: the addresses of their blocks and indirect blocks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Recovered {
    files: BTreeMap<FileId, File>,
}

/// A file after recovery.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct File {
    blocks: BTreeMap<u32, Address>,
    indirect: BTreeMap<u32, Address>,
}

impl Recovered {
    /// Returns the state of a checkpoint: the inodes that the inode map knows then.
    pub(super) fn from_inodes(inodes: &BTreeMap<FileId, Inode>) -> Recovered {
        let known = |addresses: &[Address]| {
            let placed = (0..).zip(addresses.iter().copied()).filter(|(_, address)| *address != NOWHERE);
            placed.collect::<BTreeMap<u32, Address>>()
        };
        let file = |inode: &Inode| File { blocks: known(&inode.blocks), indirect: known(&inode.indirect) };
        let files = inodes.iter().filter(|(_, inode)| inode.address != NOWHERE);
        Recovered { files: files.map(|(&id, inode)| (id, file(inode))).collect() }
    }

    /// Rolls forward through entries that were written after the checkpoint.
    pub(super) fn roll_forward(&mut self, written: &[Entry]) {
        let mut pending: BTreeMap<FileId, Vec<(Content, Address)>> = BTreeMap::new();
        for entry in written {
            match entry.content {
                Content::Data { file, .. } | Content::Indirect { file, .. } => {
                    pending.entry(file).or_default().push((entry.content, entry.address));
                }
                Content::Inode { file } => {
                    let known = self.files.entry(file).or_default();
                    for (content, address) in pending.remove(&file).unwrap_or_default() {
                        match content {
                            Content::Data { block, .. } => known.blocks.insert(block, address),
                            Content::Indirect { index, .. } => known.indirect.insert(index, address),
                            _ => None,
                        };
                    }
                }
                Content::Removed { file } => {
                    self.files.remove(&file);
                    pending.remove(&file);
                }
                Content::InodeMap { .. } | Content::UsageTable { .. } | Content::Summary => {}
            }
        }
    }

    /// Returns the blocks of all files: file, number, address.
    #[cfg(test)]
    pub(super) fn blocks(&self) -> impl Iterator<Item = (FileId, u32, Address)> {
        self.files
            .iter()
            .flat_map(|(&file, known)| known.blocks.iter().map(move |(&block, &address)| (file, block, address)))
    }
}

/// The last checkpoint and the entries written since. Kept only to check that recovery works, so release builds keep
/// nothing.
#[derive(Clone, Debug, Default)]
pub(super) struct Journal {
    checkpoint: Recovered,
    written: Vec<Entry>,
    /// All entries ever written, and the checkpoints with the number of entries before each.
    #[cfg(test)]
    pub(super) history: Vec<Entry>,
    #[cfg(test)]
    pub(super) checkpoints: Vec<(usize, Recovered)>,
}

impl Journal {
    /// True in builds that check recovery.
    const KEPT: bool = cfg!(debug_assertions);

    pub(super) fn note(&mut self, entry: Entry) {
        if Journal::KEPT {
            self.written.push(entry);
            #[cfg(test)]
            self.history.push(entry);
        }
    }

    /// Begins again at a checkpoint. Checks that the entries written since the last checkpoint lead to this one.
    pub(super) fn begin(&mut self, inodes: &BTreeMap<FileId, Inode>) {
        if !Journal::KEPT {
            return;
        }
        let now = Recovered::from_inodes(inodes);
        self.checkpoint.roll_forward(&self.written);
        assert!(self.checkpoint == now, "roll-forward leads to the state in memory");
        self.written.clear();
        #[cfg(test)]
        self.checkpoints.push((self.history.len(), now));
    }
}
