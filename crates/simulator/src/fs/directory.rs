//! Directories: entries in slots of equal size, searched from the first one (`namei`, `direnter` and `dirremove` of
//! 4.2BSD). There is no cache of names.

use alloc::vec::Vec;

use crate::namespace::FileId;

/// Bytes of an entry with a name of four to seven characters (`DIRSIZ`). `.` and `..` take twelve, and count as one
/// each.
const ENTRY_BYTES: u32 = 16;

/// Bytes by which a directory grows, and which no entry crosses (`DIRBLKSIZ`).
const CHUNK_BYTES: u32 = 512;

/// The entry of `.` and `..`, which no file has.
const DOT: FileId = FileId::MAX;

/// A directory.
#[derive(Clone, Debug)]
pub(super) struct Directory {
    /// The file of each entry; `None` if the slot is free.
    slots: Vec<Option<FileId>>,
}

/// The place of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// Position in bytes.
    pub(super) offset: u32,
    /// Entries that the search has compared.
    pub(super) compared: u32,
}

impl Directory {
    /// Creates an empty directory.
    pub(super) fn new() -> Directory {
        Directory { slots: [Some(DOT), Some(DOT)].into() }
    }

    /// Size in bytes: whole chunks.
    pub(super) fn bytes(&self) -> u32 {
        (self.slots.len() as u32 * ENTRY_BYTES).next_multiple_of(CHUNK_BYTES)
    }

    /// Searches the entry of a file. Free slots take no time: the entry before them covers them.
    pub(super) fn find(&self, file: FileId) -> Option<Found> {
        let slot = self.slots.iter().position(|entry| *entry == Some(file))?;
        Some(Found { offset: slot as u32 * ENTRY_BYTES, compared: entries(&self.slots[..=slot]) })
    }

    /// Number of entries: those compared by a search that finds none.
    pub(super) fn entries(&self) -> u32 {
        entries(&self.slots)
    }

    /// Enters a file in the first free slot. Returns its position in bytes.
    pub(super) fn enter(&mut self, file: FileId) -> u32 {
        let slot = self.slots.iter().position(Option::is_none).unwrap_or(self.slots.len());
        if slot == self.slots.len() {
            self.slots.push(None);
        }
        self.slots[slot] = Some(file);
        slot as u32 * ENTRY_BYTES
    }

    /// Removes the entry of a file.
    pub(super) fn remove(&mut self, file: FileId) {
        if let Some(entry) = self.slots.iter_mut().find(|entry| **entry == Some(file)) {
            *entry = None;
        }
    }
}

fn entries(slots: &[Option<FileId>]) -> u32 {
    slots.iter().flatten().count() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_take_the_first_free_slot() {
        let mut directory = Directory::new();
        let offsets: Vec<u32> = (0..40).map(|file| directory.enter(file)).collect();
        assert_eq!((offsets[0], offsets[29], offsets[30]), (32, 496, 512));
        assert_eq!(directory.bytes(), 1024);
        directory.remove(3);
        assert_eq!(directory.find(3), None);
        // Five entries before it are left, and its own.
        assert_eq!(directory.find(4), Some(Found { offset: 96, compared: 6 }));
        assert_eq!(directory.enter(99), offsets[3]);
        assert_eq!((directory.entries(), directory.bytes()), (42, 1024));
    }
}
