//! Directories: entries of equal size, searched from the first one.

use alloc::vec::Vec;

use crate::namespace::FileId;

/// Bytes of an entry with a name of five to eight characters.
const ENTRY: u32 = 16;

/// The entry of `.` and `..`, which no file has.
const DOT: FileId = FileId::MAX;

/// The entries of a directory.
#[derive(Clone, Debug)]
pub(super) struct Directory {
    slots: Vec<Option<FileId>>,
}

impl Directory {
    pub(super) fn new() -> Directory {
        Directory { slots: [Some(DOT), Some(DOT)].into() }
    }

    /// The position of the file's entry, in bytes.
    pub(super) fn find(&self, file: FileId) -> Option<u32> {
        let slot = self.slots.iter().position(|entry| *entry == Some(file))?;
        Some(slot as u32 * ENTRY)
    }

    /// Enters a file in the first free slot, and returns its position in bytes.
    pub(super) fn enter(&mut self, file: FileId) -> u32 {
        let slot = self.slots.iter().position(Option::is_none).unwrap_or(self.slots.len());
        if slot == self.slots.len() {
            self.slots.push(None);
        }
        self.slots[slot] = Some(file);
        slot as u32 * ENTRY
    }

    /// Removes the entry of a file, and returns its position in bytes.
    pub(super) fn remove(&mut self, file: FileId) -> Option<u32> {
        let offset = self.find(file)?;
        self.slots[(offset / ENTRY) as usize] = None;
        Some(offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_reused_from_the_first() {
        let mut directory = Directory::new();
        assert_eq!([1, 2, 3].map(|file| directory.enter(file)), [32, 48, 64]);
        assert_eq!((directory.remove(2), directory.find(2)), (Some(48), None));
        assert_eq!((directory.enter(4), directory.find(3)), (48, Some(64)));
    }
}
