//! The buffer cache: which blocks are in memory, and which buffer goes when another block is wanted.
//!
//! Buffers that nobody needs any more soon (those that were written or read to their end) go first, then
//! whichever has not been used for longest, as in 4.2BSD. A buffer whose data are not written yet has to be
//! written before it can go.

mod index;
mod lines;

use alloc::vec;
use alloc::vec::Vec;

use index::Index;
use lines::{Line, Lines};

/// A buffer, by number.
pub(crate) type BufferId = u16;

/// A block of a drive.
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

/// No block.
const NOTHING: BlockKey = BlockKey(u64::MAX);

/// What a buffer is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Its data are here and on the drive.
    Clean,
    /// Its data are newer than those on the drive.
    Dirty,
    /// Its data are on their way from the drive.
    Reading,
    /// Its data are on their way to the drive.
    Writing,
}

/// A buffer for a block that is not in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Victim {
    /// This one: what was in it is forgotten.
    Free(BufferId),
    /// This one would be next, but has to be written first.
    Dirty(BufferId),
    /// All are on their way from or to a drive.
    None,
}

/// The most buffers there are; what their numbers have room for.
const MOST: u32 = (BufferId::MAX - Lines::MARKS) as u32;

/// All buffers.
#[derive(Debug)]
pub(crate) struct Cache {
    index: Index,
    states: Vec<State>,
    sectors: Vec<u16>,
    /// To be told when data have moved: the buffer goes to the front of those to be used again.
    used_up: Vec<bool>,
    /// Buffers that go first, and the others, each the next to go first.
    lines: Lines,
    moving: usize,
}

impl Cache {
    pub(crate) fn new(buffers: u32) -> Cache {
        let last = buffers.min(MOST) as BufferId;
        let count = usize::from(last);
        let mut lines = Lines::new(last);
        (0..last).for_each(|id| lines.push_last(Line::Aged, id));
        Cache {
            index: Index::new(count),
            states: vec![State::Clean; count],
            sectors: vec![0; count],
            used_up: vec![false; count],
            lines,
            moving: 0,
        }
    }

    /// The buffer that holds the block, or is about to.
    pub(crate) fn find(&self, key: BlockKey) -> Option<BufferId> {
        self.index.find(key)
    }

    pub(crate) fn state(&self, id: BufferId) -> State {
        self.states[usize::from(id)]
    }

    /// Where the buffer's block lies.
    pub(crate) fn block(&self, id: BufferId) -> (u8, u32, u16) {
        let key = self.index.keys()[usize::from(id)];
        (key.drive(), key.sector(), self.sectors[usize::from(id)])
    }

    /// Whether data of any buffer are on their way.
    pub(crate) fn is_moving(&self) -> bool {
        self.moving > 0
    }

    /// Which buffer a new block would get.
    pub(crate) fn victim(&self) -> Victim {
        match self.lines.first(Line::Aged).or_else(|| self.lines.first(Line::Recent)) {
            None => Victim::None,
            Some(id) if self.state(id) == State::Dirty => Victim::Dirty(id),
            Some(id) => Victim::Free(id),
        }
    }

    /// Gives a free buffer to a block.
    pub(crate) fn give(&mut self, id: BufferId, key: BlockKey, sectors: u16) {
        debug_assert_eq!(self.state(id), State::Clean);
        self.index.set(id, key);
        self.sectors[usize::from(id)] = sectors;
        self.used_up[usize::from(id)] = false;
        self.touch(id);
    }

    /// The buffer was used: it goes last.
    pub(crate) fn touch(&mut self, id: BufferId) {
        if !self.is_on_its_way(id) {
            self.lines.take_off(id);
            self.lines.push_last(Line::Recent, id);
        }
    }

    /// Whether the buffer's data are on their way: until they have arrived, nobody may touch it.
    pub(crate) fn is_on_its_way(&self, id: BufferId) -> bool {
        matches!(self.state(id), State::Reading | State::Writing)
    }

    /// The buffer's block was moved to another place.
    pub(crate) fn rename(&mut self, from: BlockKey, to: BlockKey) {
        if let Some(id) = self.find(from) {
            self.index.set(id, to);
        }
    }

    /// Nobody needs the buffer any more soon: it goes first, or as soon as its data have moved.
    pub(crate) fn use_up(&mut self, id: BufferId) {
        self.used_up[usize::from(id)] = true;
        if !self.is_on_its_way(id) {
            self.lines.take_off(id);
            self.lines.push_last(Line::Aged, id);
        }
    }

    /// The buffer's data were changed.
    pub(crate) fn dirty(&mut self, id: BufferId, sectors: u16) {
        self.states[usize::from(id)] = State::Dirty;
        let held = &mut self.sectors[usize::from(id)];
        *held = (*held).max(sectors);
    }

    /// The buffer's data are on their way.
    pub(crate) fn set_moving(&mut self, id: BufferId, state: State) {
        self.lines.take_off(id);
        self.states[usize::from(id)] = state;
        self.moving += 1;
    }

    /// The buffer's data have arrived.
    pub(crate) fn arrived(&mut self, id: BufferId) {
        self.states[usize::from(id)] = State::Clean;
        self.moving -= 1;
        self.lines.push_last(if self.used_up[usize::from(id)] { Line::Aged } else { Line::Recent }, id);
    }

    /// Forgets a block that is no more; data on their way arrive all the same.
    pub(crate) fn forget(&mut self, key: BlockKey) {
        let Some(id) = self.find(key) else { return };
        if self.is_on_its_way(id) {
            self.index.set(id, NOTHING);
        } else {
            self.empty(id);
        }
    }

    /// Forgets everything that is on the drives too.
    pub(crate) fn forget_clean(&mut self) {
        for id in 0..self.states.len() as BufferId {
            if self.state(id) == State::Clean {
                self.empty(id);
            }
        }
    }

    /// A buffer whose data wait to be written.
    pub(crate) fn first_dirty(&self) -> Option<BufferId> {
        self.states.iter().position(|state| *state == State::Dirty).map(|index| index as BufferId)
    }

    /// The same, among the blocks of one drive.
    pub(crate) fn first_dirty_on(&self, drive: usize) -> Option<BufferId> {
        let on = |(state, key): (&State, &BlockKey)| *state == State::Dirty && usize::from(key.drive()) == drive;
        self.states.iter().zip(self.index.keys()).position(on).map(|index| index as BufferId)
    }

    /// A buffer of that drive whose data are on their way to it.
    pub(crate) fn first_writing_on(&self, drive: usize) -> Option<BufferId> {
        let on = |(state, key): (&State, &BlockKey)| *state == State::Writing && usize::from(key.drive()) == drive;
        self.states.iter().zip(self.index.keys()).position(on).map(|index| index as BufferId)
    }

    /// How many buffers are not on their drive yet.
    pub(crate) fn unwritten(&self) -> usize {
        self.states.iter().filter(|state| matches!(state, State::Dirty | State::Writing)).count()
    }

    fn empty(&mut self, id: BufferId) {
        self.index.set(id, NOTHING);
        self.states[usize::from(id)] = State::Clean;
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
    fn what_was_not_used_for_longest_goes_first() {
        let mut cache = Cache::new(3);
        let ids = [1, 2, 3].map(|sector| load(&mut cache, sector));
        cache.touch(ids[0]);
        assert_eq!(cache.victim(), Victim::Free(ids[1]));
        load(&mut cache, 4);
        assert_eq!([1, 2, 3, 4].map(|sector| cache.find(key(sector)).is_some()), [true, false, true, true]);
    }

    #[test]
    fn what_is_used_up_goes_before() {
        let mut cache = Cache::new(3);
        let ids = [1, 2, 3].map(|sector| load(&mut cache, sector));
        cache.use_up(ids[2]);
        assert_eq!(cache.victim(), Victim::Free(ids[2]));
    }

    #[test]
    fn what_moves_cannot_go_and_what_is_dirty_is_written_first() {
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
        // The one that was written goes first.
        assert_eq!(cache.victim(), Victim::Free(ids[1]));
        assert!(!cache.is_moving());
    }

    #[test]
    fn a_block_that_is_no_more_does_not_come_back_when_its_data_arrive() {
        let mut cache = Cache::new(2);
        let id = load(&mut cache, 1);
        cache.set_moving(id, State::Writing);
        cache.forget(key(1));
        cache.arrived(id);
        assert_eq!(cache.find(key(1)), None);
    }
}
