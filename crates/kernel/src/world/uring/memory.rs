//! The memory of a ring: for each slot, data to write and a read buffer.

use units::Bytes;
use workload::Overlap;

use crate::errors::Fault;
use crate::sys::payload::{Pages, Payloads, RING_BYTES};
use crate::world::process::Process;

/// Alignment of the buffers in bytes.
const PAGE: usize = 4096;

/// The buffers of a ring: for each slot, data to write and a read buffer. A write starts anywhere in the first part
/// of the data.
pub(super) struct Memory {
    pub(super) pages: Pages,
    /// Start of the pages, and their size in bytes.
    pub(super) base: *mut u8,
    pub(super) bytes: usize,
    /// Mask of the offsets in a slot's data at which a write may start.
    starts: u32,
    /// Bytes of a slot's data, and of the whole slot.
    data: usize,
    slot: usize,
}

/// The division of a ring's memory into slots.
struct Layout {
    starts: u32,
    data: usize,
    slot: usize,
}

impl Layout {
    fn from_overlap(Overlap { depth, largest, writes, .. }: Overlap) -> Layout {
        let room = (largest as usize).next_multiple_of(PAGE);
        let starts = if writes { (RING_BYTES / depth.max(1)).next_power_of_two() } else { 0 };
        let data = if writes { (starts as usize).next_multiple_of(PAGE) + room } else { 0 };
        Layout { starts, data, slot: data + room }
    }
}

/// The memory of a ring for this queue depth and these calls.
pub fn ring_memory(overlap: Overlap) -> Bytes {
    Bytes(Layout::from_overlap(overlap).slot as u64 * u64::from(overlap.depth))
}

impl Memory {
    pub(super) fn new(overlap: Overlap, process: &Process) -> Result<Memory, Fault> {
        let Layout { starts, data, slot } = Layout::from_overlap(overlap);
        let mut pages = Pages::zeroed(slot * overlap.depth as usize)?;
        if overlap.writes {
            process.fill(pages.bytes_mut());
        }
        let bytes = pages.bytes_mut();
        let (base, bytes) = (bytes.as_mut_ptr(), bytes.len());
        Ok(Memory { pages, base, bytes, starts: starts.saturating_sub(1), data, slot })
    }

    /// The next data of a slot, stamped for `offset` of the file `identity`. The kernel only reads them.
    #[inline]
    pub(super) fn data(&mut self, slot: u32, at: &mut u32, length: u32, identity: u64, offset: u64) -> *mut u8 {
        let (starts, bytes) = (self.starts, self.data);
        Payloads::from(self.part(slot, 0, bytes), starts, at, length).next(identity, offset).as_ptr().cast_mut()
    }

    /// The read buffer of a slot.
    #[inline]
    pub(super) fn room(&mut self, slot: u32, length: u32) -> *mut u8 {
        self.part(slot, self.data, length as usize).as_mut_ptr()
    }

    /// Bytes of a slot that has no op in flight. The other slots belong to the kernel meanwhile.
    #[inline]
    fn part(&mut self, slot: u32, from: usize, bytes: usize) -> &mut [u8] {
        let begin = slot as usize * self.slot + from;
        assert!(begin + bytes <= self.bytes, "a slot beyond the memory");
        // SAFETY: in bounds of the memory, as asserted. This slot has no op in flight, so nothing else accesses these
        // bytes, and no reference to the rest is made.
        unsafe { std::slice::from_raw_parts_mut(self.base.add(begin), bytes) }
    }
}
