//! Inodes, and the inode map, which finds them: an inode has a new address each time it is written.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec;
use alloc::vec::Vec;

use super::segment::{Address, NOWHERE};
use crate::namespace::FileId;

/// Blocks that an inode points to directly.
pub(super) const DIRECT: u32 = 12;

/// Bytes of an inode on the drive.
pub(super) const INODE_BYTES: u32 = 128;

/// Bytes of an entry of the inode map, and of the segment usage table.
pub(super) const ENTRY_BYTES: u32 = 16;

/// Bytes of a pointer in an indirect block.
const POINTER_BYTES: u32 = 4;

/// A file: the addresses of its blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Inode {
    /// Its number, which is its index in the inode map.
    pub(super) number: u32,
    /// Its own address. Until it is first written, it has none.
    pub(super) address: Address,
    pub(super) blocks: Vec<Address>,
    pub(super) indirect: Vec<Address>,
    /// Blocks that take less than a whole block, with their number of fragments: normally the last one.
    pub(super) short: BTreeMap<u32, u32>,
    /// True if the inode is in memory.
    pub(super) in_memory: bool,
    /// The indirect blocks that are in memory.
    pub(super) indirect_in_memory: BTreeSet<u32>,
}

impl Inode {
    pub(super) fn block(&self, block: u32) -> Address {
        self.blocks.get(block as usize).copied().unwrap_or(NOWHERE)
    }

    pub(super) fn set_block(&mut self, block: u32, address: Address) {
        set(&mut self.blocks, block, address);
    }

    /// Number of fragments of a block, of which a whole one has `whole`.
    pub(super) fn fragments(&self, block: u32, whole: u32) -> u32 {
        self.short.get(&block).copied().unwrap_or(whole)
    }

    pub(super) fn set_fragments(&mut self, block: u32, fragments: u32, whole: u32) {
        if fragments == whole {
            self.short.remove(&block);
        } else {
            self.short.insert(block, fragments);
        }
    }

    pub(super) fn indirect(&self, index: u32) -> Address {
        self.indirect.get(index as usize).copied().unwrap_or(NOWHERE)
    }

    pub(super) fn set_indirect(&mut self, index: u32, address: Address) {
        set(&mut self.indirect, index, address);
    }

    /// Returns the addresses of all blocks and indirect blocks, and their numbers of fragments.
    pub(super) fn pieces(&self, whole: u32) -> impl Iterator<Item = (Address, u32)> {
        let blocks = (0..).zip(&self.blocks).map(move |(block, &address)| (address, self.fragments(block, whole)));
        let pieces = blocks.chain(self.indirect.iter().map(move |&address| (address, whole)));
        pieces.filter(|(address, _)| *address != NOWHERE)
    }
}

fn set(addresses: &mut Vec<Address>, index: u32, address: Address) {
    let index = index as usize;
    if addresses.len() <= index {
        addresses.resize(index + 1, NOWHERE);
    }
    addresses[index] = address;
}

/// Returns the index of the indirect block that points to a block; `None` if the inode does. The root of the double
/// indirect blocks is counted with the first of them.
pub(super) fn indirect_of(block: u32, block_bytes: u32) -> Option<u32> {
    Some(block.checked_sub(DIRECT)? / (block_bytes / POINTER_BYTES))
}

/// All inodes, and the addresses of the blocks of the map.
#[derive(Clone, Debug)]
pub(super) struct InodeMap {
    pub(super) inodes: BTreeMap<FileId, Inode>,
    /// Addresses of the blocks of the map.
    pub(super) blocks: Vec<Address>,
    /// Blocks of the map that changed since the last checkpoint.
    changed: BTreeSet<u32>,
    free_numbers: Vec<u32>,
    next_number: u32,
    per_block: u32,
}

impl InodeMap {
    pub(super) fn new(block_bytes: u32) -> InodeMap {
        InodeMap {
            inodes: BTreeMap::new(),
            blocks: vec![],
            changed: BTreeSet::new(),
            free_numbers: vec![],
            next_number: 0,
            per_block: block_bytes / ENTRY_BYTES,
        }
    }

    /// Returns the inode of a file; makes one if there is none.
    pub(super) fn inode(&mut self, file: FileId) -> &mut Inode {
        let (free, next) = (&mut self.free_numbers, &mut self.next_number);
        self.inodes.entry(file).or_insert_with(|| {
            let number = free.pop().unwrap_or_else(|| {
                *next += 1;
                *next - 1
            });
            Inode {
                number,
                address: NOWHERE,
                blocks: vec![],
                indirect: vec![],
                short: BTreeMap::new(),
                in_memory: true,
                indirect_in_memory: BTreeSet::new(),
            }
        })
    }

    /// Notes that no inode is in memory any more.
    pub(super) fn forget(&mut self) {
        for inode in self.inodes.values_mut() {
            inode.in_memory = false;
            inode.indirect_in_memory.clear();
        }
    }

    pub(super) fn remove(&mut self, file: FileId) -> Option<Inode> {
        let inode = self.inodes.remove(&file)?;
        self.free_numbers.push(inode.number);
        self.changed.insert(inode.number / self.per_block);
        Some(inode)
    }

    /// Notes the new address of an inode.
    pub(super) fn place(&mut self, file: FileId, address: Address) {
        let Some(inode) = self.inodes.get_mut(&file) else { return };
        inode.address = address;
        self.changed.insert(inode.number / self.per_block);
    }

    /// Notes that a block of the map must be written again.
    pub(super) fn change(&mut self, index: u32) {
        self.changed.insert(index);
    }

    /// Takes the next block of the map that changed.
    pub(super) fn take_changed(&mut self) -> Option<u32> {
        self.changed.pop_first()
    }

    pub(super) fn block(&self, index: u32) -> Address {
        self.blocks.get(index as usize).copied().unwrap_or(NOWHERE)
    }

    pub(super) fn set_block(&mut self, index: u32, address: Address) {
        set(&mut self.blocks, index, address);
    }
}
