//! The segment usage table: live bytes of each segment, and when its youngest block was changed.

use alloc::vec;
use alloc::vec::Vec;

use super::entry::Age;
use super::segment::Segment;

/// State of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// It can be written.
    Clean,
    /// It is being written, or has blocks.
    InUse,
}

/// An entry of the table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Use {
    pub(super) state: State,
    pub(super) live_bytes: u32,
    pub(super) youngest: Age,
}

/// The table.
#[derive(Clone, Debug)]
pub(super) struct Usage {
    uses: Vec<Use>,
    clean: u32,
    live_bytes: u64,
    /// The segment that became the head last. The next clean one after it is taken.
    last: Segment,
}

impl Usage {
    pub(super) fn new(segments: u32) -> Usage {
        let clean = Use { state: State::Clean, live_bytes: 0, youngest: 0 };
        Usage { uses: vec![clean; segments as usize], clean: segments, live_bytes: 0, last: segments.saturating_sub(1) }
    }

    pub(super) fn of(&self, segment: Segment) -> Use {
        self.uses[segment as usize]
    }

    pub(super) fn segments(&self) -> impl Iterator<Item = (Segment, Use)> {
        (0..).zip(self.uses.iter().copied())
    }

    /// Number of clean segments.
    pub(super) fn clean(&self) -> u32 {
        self.clean
    }

    /// Live bytes of all segments.
    pub(super) fn live_bytes(&self) -> u64 {
        self.live_bytes
    }

    /// Takes the next clean segment in cyclic order.
    pub(super) fn take_clean(&mut self) -> Option<Segment> {
        let count = self.uses.len() as u32;
        let is_clean = |segment: &Segment| self.uses[*segment as usize].state == State::Clean;
        let found = (1..=count).map(|step| (self.last + step) % count).find(is_clean)?;
        self.uses[found as usize] = Use { state: State::InUse, live_bytes: 0, youngest: 0 };
        self.clean -= 1;
        self.last = found;
        Some(found)
    }

    pub(super) fn add(&mut self, segment: Segment, bytes: u32, modified: Age) {
        let entry = &mut self.uses[segment as usize];
        entry.live_bytes += bytes;
        entry.youngest = entry.youngest.max(modified);
        self.live_bytes += u64::from(bytes);
    }

    pub(super) fn remove(&mut self, segment: Segment, bytes: u32) {
        self.uses[segment as usize].live_bytes -= bytes;
        self.live_bytes -= u64::from(bytes);
    }

    /// Notes that no block of a segment is live, and that no checkpoint refers to one.
    pub(super) fn free(&mut self, segment: Segment) {
        let entry = &mut self.uses[segment as usize];
        assert!(entry.live_bytes == 0 && entry.state == State::InUse, "segment {segment} has live blocks: {entry:?}");
        entry.state = State::Clean;
        self.clean += 1;
    }
}
