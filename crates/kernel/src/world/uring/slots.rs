//! The free slots of a ring: a queue, first in, first out.

/// A queue of free slots. The slot that has been free longest is taken next. So the data of every slot are written
/// before those of any slot are written again, at any queue depth.
pub(super) struct FreeSlots {
    /// One entry per slot or more, a power of two, so that a mask wraps a position.
    entries: Vec<u32>,
    /// Total number of slots taken and of slots given back. Both wrap.
    taken: u32,
    given_back: u32,
}

impl FreeSlots {
    /// `slots` free slots.
    pub(super) fn all(slots: u32) -> FreeSlots {
        let entries = (0..slots.next_power_of_two()).collect();
        FreeSlots { entries, taken: 0, given_back: slots }
    }

    #[inline(always)]
    pub(super) fn count(&self) -> u32 {
        self.given_back.wrapping_sub(self.taken)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count() == 0
    }

    #[inline(always)]
    pub(super) fn first(&self) -> Option<u32> {
        if self.count() > 0 { Some(self.entries[self.index(self.taken)]) } else { None }
    }

    #[inline(always)]
    pub(super) fn take_first(&mut self) {
        self.taken = self.taken.wrapping_add(1);
    }

    #[inline(always)]
    pub(super) fn give_back(&mut self, slot: u32) {
        let index = self.index(self.given_back);
        self.entries[index] = slot;
        self.given_back = self.given_back.wrapping_add(1);
    }

    #[inline(always)]
    fn index(&self, position: u32) -> usize {
        position as usize & (self.entries.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slot_that_was_free_longest_is_used_next() {
        let mut free = FreeSlots::all(3);
        // Both counters wrap on the way.
        (free.taken, free.given_back) = (u32::MAX - 3, u32::MAX);
        let taken: Vec<u32> = (0..7)
            .map(|_| {
                let slot = free.first().expect("a free slot");
                free.take_first();
                free.give_back(slot);
                slot
            })
            .collect();
        assert_eq!(taken, [0, 1, 2, 0, 1, 2, 0]);
        (0..3).for_each(|_| free.take_first());
        assert!(free.is_empty() && free.first().is_none());
        [2, 0].into_iter().for_each(|slot| free.give_back(slot));
        assert_eq!((free.first(), free.count()), (Some(2), 2));
    }
}
