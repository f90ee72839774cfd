//! The log: blocks are appended at its head, which moves from one clean segment to the next.

use alloc::vec;
use alloc::vec::Vec;

use super::entry::{Age, Content, Entry};
use super::segment::{Address, Layout, Segment};
use super::usage::Usage;
use crate::fs::Full;

/// The log with the summaries of its segments.
#[derive(Clone, Debug)]
pub(super) struct Log {
    pub(super) layout: Layout,
    pub(super) usage: Usage,
    summaries: Vec<Vec<Entry>>,
    /// The segment at the head, and the number of its blocks that are taken.
    head: Option<Segment>,
    taken: u32,
    /// Consecutive blocks that were appended and are not on the drive: their beginning and number, oldest first.
    unwritten: Vec<(Address, u32)>,
    /// Blocks that programs have written: the clock of the log.
    pub(super) clock: Age,
}

impl Log {
    pub(super) fn new(layout: Layout) -> Log {
        Log {
            usage: Usage::new(layout.segments),
            summaries: vec![Vec::new(); layout.segments as usize],
            head: None,
            taken: 0,
            unwritten: Vec::new(),
            clock: 0,
            layout,
        }
    }

    /// Returns the segment at the head.
    pub(super) fn head(&self) -> Option<Segment> {
        self.head
    }

    /// Number of blocks that can be appended before a segment must be cleaned.
    pub(super) fn free_blocks(&self) -> u64 {
        let left = if self.head.is_some() { self.layout.blocks_per_segment - self.taken } else { 0 };
        u64::from(left) + u64::from(self.usage.clean()) * u64::from(self.layout.blocks_per_segment)
    }

    /// Takes the next block at the head. It is empty until an entry is added.
    pub(super) fn take(&mut self) -> Result<Address, Full> {
        let segment = match self.head.filter(|_| self.taken < self.layout.blocks_per_segment) {
            Some(segment) => segment,
            None => {
                let segment = self.usage.take_clean().ok_or(Full)?;
                self.summaries[segment as usize].clear();
                self.head = Some(segment);
                self.taken = 0;
                segment
            }
        };
        let address = self.layout.first_of(segment) + self.taken;
        self.taken += 1;
        match self.unwritten.last_mut() {
            Some((first, blocks)) if *first + *blocks == address && self.taken > 1 => *blocks += 1,
            _ => self.unwritten.push((address, 1)),
        }
        Ok(address)
    }

    /// True if the block begins a part of the log, which is written with one request.
    pub(super) fn begins_part(&self, address: Address) -> bool {
        self.unwritten.last() == Some(&(address, 1))
    }

    /// Adds content to a block that was taken. `bytes` of it are live.
    pub(super) fn add(&mut self, address: Address, content: Content, bytes: u32, modified: Age) -> Entry {
        let segment = self.layout.segment(address);
        let entry = Entry { address, content, modified };
        self.summaries[segment as usize].push(entry);
        self.usage.add(segment, bytes, modified);
        entry
    }

    /// Notes that content is no longer live.
    pub(super) fn kill(&mut self, address: Address, bytes: u32) {
        self.usage.remove(self.layout.segment(address), bytes);
    }

    /// Content of a segment, in the order in which it was appended.
    pub(super) fn summary(&self, segment: Segment) -> &[Entry] {
        &self.summaries[segment as usize]
    }

    /// True if the block is only in memory.
    pub(super) fn is_unwritten(&self, address: Address) -> bool {
        self.unwritten.iter().any(|&(first, blocks)| (first..first + blocks).contains(&address))
    }

    /// Number of appended blocks that are not on the drive.
    pub(super) fn unwritten_blocks(&self) -> u32 {
        self.unwritten.iter().map(|(_, blocks)| blocks).sum()
    }

    /// Calls `each` for all blocks that are not on the drive; from now on they count as written.
    pub(super) fn write(&mut self, mut each: impl FnMut(Address, u32)) {
        self.unwritten.drain(..).for_each(|(first, blocks)| each(first, blocks));
    }
}
