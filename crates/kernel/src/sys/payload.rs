//! Buffers of programs: the data that they write, and memory for their reads. They are aligned for direct I/O, and
//! prepared before the clock starts.
//!
//! Written data come from a ring of incompressible bytes, so a file system that compresses or deduplicates gains
//! nothing. (btrfs compresses a repeated block of 8 KiB to an eighth, but not a ring of 1 MiB.) Within the data, a
//! stamp at each multiple of 4096 bytes of the file names the file and the offset.

use units::{Bytes, Prng};

use crate::errors::Fault;

/// Each multiple of this offset that a write covers has a stamp. In bytes.
pub const STAMP_SPACING: usize = 4096;

/// Size of a stamp in bytes: the file's identity, then the offset, both little-endian.
pub const STAMP_BYTES: usize = 16;

/// The stamp of the file `identity` at `offset`.
#[inline]
pub fn stamp(identity: u64, offset: u64) -> [u8; STAMP_BYTES] {
    let mut bytes = [0; STAMP_BYTES];
    bytes[..8].copy_from_slice(&identity.to_le_bytes());
    bytes[8..].copy_from_slice(&offset.to_le_bytes());
    bytes
}

/// Size of the ring of incompressible bytes that written data come from.
pub(crate) const RING_BYTES: u32 = 1 << 20;

/// Memory that begins on a page boundary, as direct I/O needs it.
#[derive(Default)]
pub(crate) struct Pages(Vec<Page>);

#[derive(Clone, Copy)]
#[repr(C, align(4096))]
struct Page([u8; 4096]);

impl Pages {
    /// Allocates memory, rounded up to whole pages, at least one. Fails if there is not enough, so that a run ends with
    /// an error before it begins. Writes to all of it, so that the kernel cannot refuse a page later.
    pub(crate) fn zeroed(bytes: usize) -> Result<Pages, Fault> {
        let count = bytes.div_ceil(4096).max(1);
        let mut pages = Vec::new();
        pages.try_reserve_exact(count).map_err(|_| Fault::Memory(Bytes(4096 * count as u64)))?;
        pages.resize(count, Page([0; 4096]));
        Ok(Pages(pages))
    }

    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: a page is 4096 plain bytes without padding, and the vector holds `len` pages in a row.
        unsafe { std::slice::from_raw_parts(self.0.as_ptr().cast(), self.0.len() * 4096) }
    }

    #[inline]
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and the borrow is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.0.as_mut_ptr().cast(), self.0.len() * 4096) }
    }
}

/// The ring that written data come from.
pub(crate) struct PayloadRing {
    pages: Pages,
    /// Mask of the offsets at which payloads may start. Behind the last one is room for the largest call, so that no
    /// payload wraps around.
    starts: u32,
    at: u32,
}

impl PayloadRing {
    /// Fills a ring with incompressible bytes. They repeat after `bytes`, a power of two; if it is zero, all calls
    /// write the same bytes. No call has more than `largest_call` bytes.
    pub(crate) fn new(bytes: u32, largest_call: u32, seed: u64) -> Result<PayloadRing, Fault> {
        assert!(bytes == 0 || bytes.is_power_of_two(), "a ring of {bytes} bytes");
        let mut pages = Pages::zeroed(bytes as usize + largest_call as usize)?;
        fill(pages.bytes_mut(), seed);
        Ok(PayloadRing { pages, starts: bytes.saturating_sub(1), at: 0 })
    }

    /// Replaces the random bytes by zeros. Stamps are still added.
    pub(crate) fn wipe(&mut self) {
        self.pages.bytes_mut().fill(0);
    }

    /// Returns the payloads of calls of `length` bytes. They start on a page if they have a page or more, and on a
    /// sector if they have a sector or more. Panics if `length` exceeds the largest call.
    #[inline]
    pub(crate) fn draw(&mut self, length: u32) -> Payloads<'_> {
        Payloads::from(self.pages.bytes_mut(), self.starts, &mut self.at, length)
    }
}

/// Alignment of payloads of this length, in bytes, less one.
#[inline]
fn grain(length: u32) -> u32 {
    match length {
        4096.. => 4095,
        512.. => 511,
        _ => 0,
    }
}

/// Returns the identity in the stamps of data that condition a device. No program's file has it.
pub(crate) fn identity_of_conditioning(seed: u64) -> u64 {
    !seed
}

/// Writes stamps into data for `offset` of a device or file. `offset` is a multiple of the spacing.
pub(crate) fn stamp_all(bytes: &mut [u8], identity: u64, offset: u64) {
    for (index, block) in bytes.chunks_exact_mut(STAMP_SPACING).enumerate() {
        block[..STAMP_BYTES].copy_from_slice(&stamp(identity, offset + (index * STAMP_SPACING) as u64));
    }
}

/// Fills memory with incompressible bytes, which depend only on the seed.
pub(crate) fn fill(bytes: &mut [u8], seed: u64) {
    let mut prng = Prng::new(seed);
    for word in bytes.chunks_exact_mut(8) {
        word.copy_from_slice(&prng.next_u64().to_le_bytes());
    }
}

/// The payloads of calls of one length. Values that all of them share are computed once.
pub(crate) struct Payloads<'a> {
    memory: &'a mut [u8],
    at: &'a mut u32,
    length: u32,
    grain: u32,
    /// Mask of the offsets at which a payload may start.
    starts: u32,
}

impl<'a> Payloads<'a> {
    /// Draws from memory in which payloads may start at the offsets of the mask `starts`. The last payload ended at
    /// `at`.
    #[inline]
    pub(crate) fn from(memory: &'a mut [u8], starts: u32, at: &'a mut u32, length: u32) -> Payloads<'a> {
        let grain = grain(length);
        Payloads { memory, at, length, grain, starts: starts & !grain }
    }

    /// Returns the next payload, stamped for `offset` of the file `identity`.
    #[inline]
    pub(crate) fn next(&mut self, identity: u64, offset: u64) -> &[u8] {
        let start = self.at.wrapping_add(self.grain) & self.starts;
        *self.at = start.wrapping_add(self.length);
        let (start, length) = (start as usize, self.length as usize);
        let data = &mut self.memory[start..start + length];
        put_stamps(data, identity, offset);
        data
    }
}

/// Writes a stamp at each multiple of the spacing. The data belong to `offset` of a file.
#[inline]
fn put_stamps(data: &mut [u8], identity: u64, offset: u64) {
    let Some(last) = data.len().checked_sub(STAMP_BYTES) else { return };
    let mut at = offset.wrapping_neg() as usize % STAMP_SPACING;
    while at <= last {
        data[at..at + STAMP_BYTES].copy_from_slice(&stamp(identity, offset + at as u64));
        at += STAMP_SPACING;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_boundary_has_its_stamp() {
        let mut ring = PayloadRing::new(64 * 1024, 64 * 1024, 1).expect("memory");
        let mut data = ring.draw(8192);
        let data = data.next(7, 1000);
        assert_eq!(&data[3096..3112], &stamp(7, 4096));
        assert_eq!(&data[7192..7208], &stamp(7, 8192));
    }

    #[test]
    fn large_calls_are_page_aligned_and_the_ring_wraps() {
        let mut ring = PayloadRing::new(64 * 1024, 64 * 1024, 1).expect("memory");
        ring.draw(1).next(0, 0);
        for _ in 0..20 {
            assert_eq!(ring.draw(8192).next(0, 0).as_ptr() as usize % 4096, 0);
        }
        assert_eq!(ring.draw(64 * 1024).next(0, 0).len(), 64 * 1024);
    }

    #[test]
    fn the_ring_contains_no_repetition() {
        let ring = PayloadRing::new(1 << 20, 8192, 1).expect("memory");
        let mut blocks: Vec<&[u8]> = ring.pages.bytes().chunks(16).collect();
        let all = blocks.len();
        blocks.sort_unstable();
        blocks.dedup();
        assert_eq!(blocks.len(), all);
    }
}
