//! The memory of a ring: for each slot, data to be written and room for what is read.

use units::Bytes;
use workload::Overlap;

use crate::errors::Fault;
use crate::sys::payload::{Draw, Pages, RING_BYTES};
use crate::world::process::Process;

/// Where memory begins and ends that calls work on.
const PAGE: usize = 4096;

/// What ops work on: for each slot, data to be written, of which a call begins anywhere in the first part, and room
/// for what is read.
pub(super) struct Memory {
    pub(super) pages: Pages,
    /// Where the pages begin, and how many bytes they are.
    pub(super) base: *mut u8,
    pub(super) bytes: usize,
    /// Bytes of a slot's first part in which a write may begin: a power of two, or zero.
    starts: u32,
    /// Bytes of its data, and of all of it.
    data: usize,
    slot: usize,
}

/// How a ring's memory is divided.
struct Layout {
    starts: u32,
    data: usize,
    slot: usize,
}

impl Layout {
    fn of(Overlap { depth, largest, writes, .. }: Overlap) -> Layout {
        let room = (largest as usize).next_multiple_of(PAGE);
        let starts = if writes { (RING_BYTES / depth.max(1)).next_power_of_two() } else { 0 };
        let data = if writes { (starts as usize).next_multiple_of(PAGE) + room } else { 0 };
        Layout { starts, data, slot: data + room }
    }
}

/// Memory that a ring works on for so much under way.
pub fn ring_memory(overlap: Overlap) -> Bytes {
    Bytes(Layout::of(overlap).slot as u64 * u64::from(overlap.depth))
}

impl Memory {
    pub(super) fn new(overlap: Overlap, process: &Process) -> Result<Memory, Fault> {
        let Layout { starts, data, slot } = Layout::of(overlap);
        let mut pages = Pages::zeroed(slot * overlap.depth as usize)?;
        if overlap.writes {
            process.fill(pages.bytes_mut());
        }
        let bytes = pages.bytes_mut();
        let (base, bytes) = (bytes.as_mut_ptr(), bytes.len());
        Ok(Memory { pages, base, bytes, starts, data, slot })
    }

    /// The next data of a slot, of which the kernel only reads, stamped for `offset` of the file `identity`.
    #[inline]
    pub(super) fn data(&mut self, slot: u32, at: &mut u32, length: u32, identity: u64, offset: u64) -> *mut u8 {
        let (starts, bytes) = (self.starts, self.data);
        Draw::from(self.part(slot, 0, bytes), starts, at, length).next(identity, offset).as_ptr().cast_mut()
    }

    /// A slot's room for what is read.
    #[inline]
    pub(super) fn room(&mut self, slot: u32, length: u32) -> *mut u8 {
        self.part(slot, self.data, length as usize).as_mut_ptr()
    }

    /// Bytes of a slot under which nothing is under way. Others are the kernel's meanwhile.
    #[inline]
    fn part(&mut self, slot: u32, from: usize, bytes: usize) -> &mut [u8] {
        let begin = slot as usize * self.slot + from;
        assert!(begin + bytes <= self.bytes, "a slot beyond the memory");
        // SAFETY: in bounds of the memory, as asserted. Of this slot nothing is under way, so that nobody else has
        // these bytes, and no reference to the rest is made.
        unsafe { std::slice::from_raw_parts_mut(self.base.add(begin), bytes) }
    }
}
