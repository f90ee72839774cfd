//! The buffer cache: the blocks that are in memory, and the choice of the buffer to reuse for another block.
//!
//! Buffers that will probably not be needed soon (written or read to their end) are reused first, then the least
//! recently used, as in 4.2BSD. A dirty buffer must be written before it can be reused.

mod buffer_lists;
mod index;

use alloc::vec;
use alloc::vec::Vec;

use buffer_lists::{Line, Lines};
use index::Index;

/// Number of a buffer.
pub(crate) type BufferId = u16;

/// A block of a drive: drive index and first sector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlockKey(u64);

impl BlockKey {
    pub(crate) fn new(drive: usize, sector: u32) -> BlockKey {
        BlockKey((drive as u64) << 32 | u64::from(sector))
    }

    fn drive(self) -> u8 {
        (self.0 >> 32) as u8
    }

    fn sector(self) -> u32 {
        self.0 as u32
    }
}

/// The key of an empty buffer.
const NOTHING: BlockKey = BlockKey(u64::MAX);

/// State of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// The data are in memory and on the drive.
    Clean,
    /// The data in memory are newer than those on the drive.
    Dirty,
    /// The data are being read from the drive.
    Reading,
    /// The data are being written to the drive.
    Writing,
}

/// The buffer to reuse for a block that is not in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Victim {
    /// This buffer can be reused; its old block is forgotten.
    Free(BufferId),
    /// This buffer is next, but must be written first.
    Dirty(BufferId),
    /// No buffer: all are being read or written.
    None,
}

/// Numbers that are left for requests that belong to no buffer.
const OTHERS: u16 = 16;

/// Maximum number of buffers, limited by the range of `BufferId`.
const MOST: u32 = (BufferId::MAX - Lines::MARKS - OTHERS) as u32;

/// The buffer cache.
#[derive(Debug)]
pub(crate) struct Cache {
    index: Index,
    buffers: Vec<Buffer>,
    /// Lists of the buffers that can be reused, in order.
    lines: Lines,
    moving: usize,
}

/// A buffer, apart from its block.
#[derive(Clone, Copy, Debug)]
struct Buffer {
    state: State,
    /// True if it is to be put into the list of those reused first when its transfer ends.
    used_up: bool,
    sectors: u16,
}

impl Cache {
    pub(crate) fn new(buffers: u32) -> Cache {
        let last = buffers.min(MOST) as BufferId;
        let count = usize::from(last);
        let mut lines = Lines::new(last);
        (0..last).for_each(|id| lines.push_last(Line::Aged, id));
        Cache {
            index: Index::new(count),
            buffers: vec![Buffer { state: State::Clean, used_up: false, sectors: 0 }; count],
            lines,
            moving: 0,
        }
    }

    /// Returns the buffer that has the block, or is being filled with it.
    pub(crate) fn find(&self, key: BlockKey) -> Option<BufferId> {
        self.index.find(key)
    }

    pub(crate) fn state(&self, id: BufferId) -> State {
        self.buffers[usize::from(id)].state
    }

    /// Returns the drive, the first sector and the number of sectors of the buffer's block.
    pub(crate) fn block(&self, id: BufferId) -> (u8, u32, u16) {
        let key = self.index.keys()[usize::from(id)];
        (key.drive(), key.sector(), self.buffers[usize::from(id)].sectors)
    }

    /// Number of buffers.
    pub(crate) fn buffers(&self) -> u32 {
        self.buffers.len() as u32
    }

    /// True if any buffer is being read or written.
    pub(crate) fn is_moving(&self) -> bool {
        self.moving > 0
    }

    /// Returns the buffer that a new block would get.
    pub(crate) fn victim(&self) -> Victim {
        match self.lines.first(Line::Aged).or_else(|| self.lines.first(Line::Recent)) {
            None => Victim::None,
            Some(id) if self.state(id) == State::Dirty => Victim::Dirty(id),
            Some(id) => Victim::Free(id),
        }
    }

    /// Assigns a free buffer to a block, and notes that it was used.
    pub(crate) fn give(&mut self, id: BufferId, key: BlockKey, sectors: u16) {
        self.give_to_move(id, key, sectors);
        self.touch(id);
    }

    /// Assigns a free buffer to a block whose transfer begins at once: `set_moving` must follow.
    pub(crate) fn give_to_move(&mut self, id: BufferId, key: BlockKey, sectors: u16) {
        debug_assert_eq!(self.state(id), State::Clean);
        self.index.set(id, key);
        self.buffers[usize::from(id)] = Buffer { state: State::Clean, used_up: false, sectors };
    }

    /// Notes that the buffer was used: it will be reused last.
    pub(crate) fn touch(&mut self, id: BufferId) {
        if !self.is_on_its_way(id) {
            self.lines.move_last(Line::Recent, id);
        }
    }

    /// True if the buffer is being read or written. Until that ends, no process may touch it.
    pub(crate) fn is_on_its_way(&self, id: BufferId) -> bool {
        matches!(self.state(id), State::Reading | State::Writing)
    }

    /// Notes that the buffer's block was moved to another sector.
    pub(crate) fn rename(&mut self, from: BlockKey, to: BlockKey) {
        if let Some(id) = self.find(from) {
            self.index.set(id, to);
        }
    }

    /// Notes that the buffer is not needed soon: it is reused first, once its transfer has ended.
    pub(crate) fn use_up(&mut self, id: BufferId) {
        self.buffers[usize::from(id)].used_up = true;
        if !self.is_on_its_way(id) {
            self.lines.move_last(Line::Aged, id);
        }
    }

    /// Notes that the buffer's data were changed, and that it is not needed soon. Its transfer begins at once:
    /// `set_moving` must follow.
    pub(crate) fn dirty_to_move(&mut self, id: BufferId, sectors: u16) {
        self.dirty(id, sectors);
        self.buffers[usize::from(id)].used_up = true;
    }

    /// Notes that the buffer's data were changed.
    pub(crate) fn dirty(&mut self, id: BufferId, sectors: u16) {
        let buffer = &mut self.buffers[usize::from(id)];
        buffer.state = State::Dirty;
        buffer.sectors = buffer.sectors.max(sectors);
    }

    /// Notes that a transfer of the buffer begins; `state` tells the direction.
    pub(crate) fn set_moving(&mut self, id: BufferId, state: State) {
        self.lines.take_off(id);
        self.buffers[usize::from(id)].state = state;
        self.moving += 1;
    }

    /// Notes that the transfer of the buffer has ended.
    pub(crate) fn arrived(&mut self, id: BufferId) {
        let buffer = &mut self.buffers[usize::from(id)];
        buffer.state = State::Clean;
        self.moving -= 1;
        self.lines.push_last(if buffer.used_up { Line::Aged } else { Line::Recent }, id);
    }

    /// Forgets a freed block. A transfer in progress still completes.
    pub(crate) fn forget(&mut self, key: BlockKey) {
        let Some(id) = self.find(key) else { return };
        if self.is_on_its_way(id) {
            self.index.set(id, NOTHING);
        } else {
            self.empty(id);
        }
    }

    /// Forgets every block whose data are also on its drive.
    pub(crate) fn forget_clean(&mut self) {
        for id in 0..self.buffers.len() as BufferId {
            if self.state(id) == State::Clean {
                self.empty(id);
            }
        }
    }

    /// True if no buffer has a block.
    pub(crate) fn is_empty(&self) -> bool {
        self.index.keys().iter().all(|key| *key == NOTHING)
    }

    /// Returns a dirty buffer, if there is one.
    pub(crate) fn first_dirty(&self) -> Option<BufferId> {
        self.buffers.iter().position(|buffer| buffer.state == State::Dirty).map(|index| index as BufferId)
    }

    /// Returns a dirty buffer whose block is on that drive, if there is one.
    pub(crate) fn first_dirty_on(&self, drive: usize) -> Option<BufferId> {
        self.first_on(drive, State::Dirty)
    }

    /// Returns a buffer of that drive that is being written, if there is one.
    pub(crate) fn first_writing_on(&self, drive: usize) -> Option<BufferId> {
        self.first_on(drive, State::Writing)
    }

    fn first_on(&self, drive: usize, state: State) -> Option<BufferId> {
        let on = |(buffer, key): (&Buffer, &BlockKey)| buffer.state == state && usize::from(key.drive()) == drive;
        self.buffers.iter().zip(self.index.keys()).position(on).map(|index| index as BufferId)
    }

    /// Number of buffers whose data are not on their drive yet.
    pub(crate) fn unwritten(&self) -> usize {
        self.buffers.iter().filter(|buffer| matches!(buffer.state, State::Dirty | State::Writing)).count()
    }

    fn empty(&mut self, id: BufferId) {
        self.index.set(id, NOTHING);
        self.buffers[usize::from(id)].state = State::Clean;
        self.lines.take_off(id);
        self.lines.push_first(Line::Aged, id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(sector: u32) -> BlockKey {
        BlockKey::new(0, sector)
    }

    fn load(cache: &mut Cache, sector: u32) -> BufferId {
        let Victim::Free(id) = cache.victim() else { panic!("no buffer") };
        cache.give(id, key(sector), 16);
        id
    }

    #[test]
    fn the_least_recently_used_block_is_evicted() {
        let mut cache = Cache::new(3);
        let ids = [1, 2, 3].map(|sector| load(&mut cache, sector));
        cache.touch(ids[0]);
        assert_eq!(cache.victim(), Victim::Free(ids[1]));
        load(&mut cache, 4);
        assert_eq!([1, 2, 3, 4].map(|sector| cache.find(key(sector)).is_some()), [true, false, true, true]);
    }

    #[test]
    fn used_up_blocks_are_evicted_first() {
        let mut cache = Cache::new(3);
        let ids = [1, 2, 3].map(|sector| load(&mut cache, sector));
        cache.use_up(ids[2]);
        assert_eq!(cache.victim(), Victim::Free(ids[2]));
    }

    #[test]
    fn blocks_in_transfer_stay_and_dirty_ones_are_written_first() {
        let mut cache = Cache::new(2);
        let ids = [1, 2].map(|sector| load(&mut cache, sector));
        cache.set_moving(ids[0], State::Reading);
        cache.dirty(ids[1], 16);
        assert_eq!(cache.victim(), Victim::Dirty(ids[1]));
        cache.use_up(ids[1]);
        cache.set_moving(ids[1], State::Writing);
        assert_eq!(cache.victim(), Victim::None);
        cache.arrived(ids[0]);
        cache.arrived(ids[1]);
        // The buffer that was written is reused first.
        assert_eq!(cache.victim(), Victim::Free(ids[1]));
        assert!(!cache.is_moving());
    }

    #[test]
    fn forgotten_blocks_stay_forgotten_when_their_data_arrive() {
        let mut cache = Cache::new(2);
        let id = load(&mut cache, 1);
        cache.set_moving(id, State::Writing);
        cache.forget(key(1));
        cache.arrived(id);
        assert_eq!(cache.find(key(1)), None);
    }
}
