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
    /// The segment at the head, and the number of its fragments that are taken.
    head: Option<Segment>,
    taken: u32,
    /// Consecutive fragments that were appended and are not on the drive: their beginning and number, oldest first.
    unwritten: Vec<(Address, u32)>,
    /// Number of blocks, whole or not, that were appended and are not on the drive.
    unwritten_blocks: u32,
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
            unwritten_blocks: 0,
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
        let left = if self.head.is_some() { self.layout.per_segment - self.taken } else { 0 };
        let clean = u64::from(self.usage.clean()) * u64::from(self.layout.blocks_per_segment());
        u64::from(left / self.layout.per_block) + clean
    }

    /// Takes the next whole block at the head. It is empty until an entry is added.
    pub(super) fn take_block(&mut self) -> Result<Address, Full> {
        self.take(self.layout.per_block)
    }

    /// Takes the next fragments at the head. They are empty until an entry is added.
    pub(super) fn take(&mut self, fragments: u32) -> Result<Address, Full> {
        let segment = match self.head_for(fragments) {
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
        let is_first = self.taken == 0;
        self.taken += fragments;
        match self.unwritten.last_mut() {
            Some((first, count)) if *first + *count == address && !is_first => *count += fragments,
            _ => self.unwritten.push((address, fragments)),
        }
        self.unwritten_blocks += 1;
        Ok(address)
    }

    /// The segment at the head, if it has room for fragments.
    fn head_for(&self, fragments: u32) -> Option<Segment> {
        self.head.filter(|_| self.taken + fragments <= self.layout.per_segment)
    }

    /// True if the fragments that are taken next begin a part of the log, which is written with one request.
    pub(super) fn begins_part(&self, fragments: u32) -> bool {
        let Some(segment) = self.head_for(fragments) else { return true };
        let next = self.layout.first_of(segment) + self.taken;
        self.taken == 0 || self.unwritten.last().is_none_or(|(first, count)| first + count != next)
    }

    /// Adds fragments to content at the end of the log that is only in memory. Returns false if it is not at the end,
    /// or if its segment has no room.
    pub(super) fn extend(&mut self, address: Address, fragments: u32, more: u32) -> bool {
        let segment = self.layout.segment(address);
        let is_last = self.head_for(more) == Some(segment)
            && self.layout.first_of(segment) + self.taken == address + fragments
            && self.is_unwritten(address);
        if is_last && let Some((_, count)) = self.unwritten.last_mut() {
            *count += more;
            self.taken += more;
            self.usage.add(segment, more * self.layout.fragment_bytes, 0);
        }
        is_last
    }

    /// Adds content to fragments that were taken. `bytes` of it are live.
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

    /// True if the content is only in memory.
    pub(super) fn is_unwritten(&self, address: Address) -> bool {
        self.unwritten.iter().any(|&(first, count)| (first..first + count).contains(&address))
    }

    /// Number of appended blocks, whole or not, that are not on the drive.
    pub(super) fn unwritten_blocks(&self) -> u32 {
        self.unwritten_blocks
    }

    /// True if a segment or more is not on the drive.
    pub(super) fn has_whole_segment(&self) -> bool {
        self.unwritten.iter().map(|(_, count)| count).sum::<u32>() >= self.layout.per_segment
    }

    /// Calls `each` for all fragments that are not on the drive; from now on they count as written.
    pub(super) fn write(&mut self, mut each: impl FnMut(Address, u32)) {
        self.unwritten_blocks = 0;
        self.unwritten.drain(..).for_each(|(first, count)| each(first, count));
    }
}
