//! The memory of a server: pages of its files.

use std::collections::HashMap;
use std::collections::btree_map::{BTreeMap, Entry};
use std::ops::Range;

use rustix::io::Errno;

/// The size of a page, in bytes.
const PAGE: u64 = 4096;

/// The bytes of a page.
type Page = Box<[u8; PAGE as usize]>;

/// Pages in memory, by the inode number of their file and their own number.
#[derive(Debug, Default)]
pub(crate) struct Pages(HashMap<u64, BTreeMap<u64, Page>>);

impl Pages {
    /// Returns bytes of a file. The function `load` reads a page that is not in memory; its arguments are the offset
    /// and the page, which is zero.
    pub(crate) fn read(
        &mut self,
        file: u64,
        range: Range<u64>,
        load: impl Fn(u64, &mut [u8]) -> Result<(), Errno>,
    ) -> Result<Vec<u8>, Errno> {
        let mut bytes = Vec::with_capacity(range.end.saturating_sub(range.start) as usize);
        for (number, part) in parts(range) {
            bytes.extend_from_slice(&self.page(file, number, &load)?[part]);
        }
        Ok(bytes)
    }

    /// Writes bytes of a file to memory. See [`Pages::read`] about `load`.
    pub(crate) fn write(
        &mut self,
        file: u64,
        at: u64,
        bytes: &[u8],
        load: impl Fn(u64, &mut [u8]) -> Result<(), Errno>,
    ) -> Result<(), Errno> {
        let mut rest = bytes;
        for (number, part) in parts(at..at + bytes.len() as u64) {
            let (here, later) = rest.split_at(part.len());
            self.page(file, number, &load)?[part].copy_from_slice(here);
            rest = later;
        }
        Ok(())
    }

    /// Removes the bytes of a file from this length on.
    pub(crate) fn cut(&mut self, file: u64, length: u64) {
        let Some(pages) = self.0.get_mut(&file) else { return };
        drop(pages.split_off(&length.div_ceil(PAGE)));
        if let Some(page) = pages.get_mut(&(length / PAGE)) {
            page[(length % PAGE) as usize..].fill(0);
        }
    }

    /// Removes all bytes of a file.
    pub(crate) fn forget(&mut self, file: u64) {
        self.0.remove(&file);
    }

    fn page(
        &mut self,
        file: u64,
        number: u64,
        load: impl Fn(u64, &mut [u8]) -> Result<(), Errno>,
    ) -> Result<&mut Page, Errno> {
        match self.0.entry(file).or_default().entry(number) {
            Entry::Occupied(page) => Ok(page.into_mut()),
            Entry::Vacant(place) => {
                let mut page = Box::new([0; PAGE as usize]);
                load(number * PAGE, &mut page[..])?;
                Ok(place.insert(page))
            }
        }
    }
}

/// Returns the pages of a range of bytes, each with its part of the range.
fn parts(range: Range<u64>) -> impl Iterator<Item = (u64, Range<usize>)> {
    let end = range.end.max(range.start);
    (range.start / PAGE..end.div_ceil(PAGE)).map(move |number| {
        let within = |offset: u64| (offset.clamp(number * PAGE, (number + 1) * PAGE) - number * PAGE) as usize;
        (number, within(range.start)..within(end))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Loads a page whose bytes are all the number of the page plus one.
    fn numbered(at: u64, page: &mut [u8]) -> Result<(), Errno> {
        page.fill((at / PAGE) as u8 + 1);
        Ok(())
    }

    fn not_there(_: u64, _: &mut [u8]) -> Result<(), Errno> {
        Err(Errno::IO)
    }

    #[test]
    fn pages_are_loaded_once_and_keep_what_is_written() {
        let mut pages = Pages::default();
        assert_eq!(pages.read(1, 4095..8193, numbered).expect("three pages")[..2], [1, 2]);
        assert_eq!(pages.read(1, 8192..8194, not_there), Ok(vec![3, 3]));
        assert_eq!(pages.read(2, 8192..8194, not_there), Err(Errno::IO), "another file");
        pages.write(1, 4095, &[7, 8], not_there).expect("in memory");
        assert_eq!(pages.read(1, 4094..4098, not_there), Ok(vec![1, 7, 8, 2]));
        // A read behind the end of a file is limited to its end.
        let [begin, end] = [9000, 8000];
        assert_eq!(pages.read(1, begin..end, not_there), Ok(vec![]));
        pages.forget(1);
        assert_eq!(pages.read(1, 4095..4096, not_there), Err(Errno::IO));
    }

    #[test]
    fn a_shorter_file_loses_its_end() {
        let mut pages = Pages::default();
        pages.write(1, 0, &[5; 3 * PAGE as usize], not_there).expect_err("the first page is loaded first");
        pages.write(1, 0, &[5; 3 * PAGE as usize], numbered).expect("three pages");
        pages.cut(1, 5000);
        assert_eq!(pages.read(1, 4999..5001, not_there), Ok(vec![5, 0]));
        assert_eq!(pages.read(1, 8192..8193, not_there), Err(Errno::IO));
        pages.cut(1, 4096);
        assert_eq!(pages.read(1, 4095..4097, not_there), Err(Errno::IO));
        assert_eq!(pages.read(1, 4095..4096, not_there), Ok(vec![5]));
    }
}
