//! The inodes of all files by number. A call asks for the inode of its file many times, so the last one is remembered.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::inode::Inode;
use crate::namespace::FileId;

/// The inodes of all files that have blocks.
#[derive(Clone, Debug)]
pub(super) struct Files {
    places: BTreeMap<FileId, usize>,
    inodes: Vec<Inode>,
    /// Places of removed files.
    vacant: Vec<usize>,
    /// The file of the last call, and its place; [`NO_FILE`] if that was removed.
    last: (FileId, usize),
}

/// Not a number of a file.
const NO_FILE: FileId = FileId::MAX;

impl Files {
    pub(super) fn new() -> Files {
        Files { places: BTreeMap::new(), inodes: Vec::new(), vacant: Vec::new(), last: (NO_FILE, 0) }
    }

    /// Remembers the place of a file whose inode will be asked for.
    pub(super) fn expect(&mut self, file: FileId) {
        if file != self.last.0
            && let Some(&place) = self.places.get(&file)
        {
            self.last = (file, place);
        }
    }

    #[inline]
    pub(super) fn get(&self, file: FileId) -> Option<&Inode> {
        if file == self.last.0 {
            return self.inodes.get(self.last.1);
        }
        self.places.get(&file).and_then(|&place| self.inodes.get(place))
    }

    /// The inode of a file. Creates it if the file has no blocks yet.
    pub(super) fn get_or_create(&mut self, file: FileId) -> &mut Inode {
        if file != self.last.0 {
            let (vacant, inodes) = (&mut self.vacant, &mut self.inodes);
            let place = *self.places.entry(file).or_insert_with(|| {
                vacant.pop().unwrap_or_else(|| {
                    inodes.push(Inode::default());
                    inodes.len() - 1
                })
            });
            self.last = (file, place);
        }
        &mut self.inodes[self.last.1]
    }

    pub(super) fn remove(&mut self, file: FileId) -> Option<Inode> {
        let place = self.places.remove(&file)?;
        if file == self.last.0 {
            self.last = (NO_FILE, 0);
        }
        self.vacant.push(place);
        Some(core::mem::take(&mut self.inodes[place]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removed_files_have_no_blocks_even_if_they_were_expected() {
        let mut files = Files::new();
        let blocks = |files: &Files, file| files.get(file).and_then(|inode| inode.block(0));
        files.get_or_create(7).set_block(0, 70, 8);
        files.get_or_create(8).set_block(0, 80, 8);
        files.expect(7);
        assert_eq!((blocks(&files, 7), blocks(&files, 8), blocks(&files, 9)), (Some((70, 8)), Some((80, 8)), None));
        assert!(files.remove(7).is_some() && files.remove(7).is_none());
        // A new file gets the place of the removed one, without its blocks.
        files.get_or_create(9);
        assert_eq!((blocks(&files, 7), blocks(&files, 8), blocks(&files, 9)), (None, Some((80, 8)), None));
    }
}
