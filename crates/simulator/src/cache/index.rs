//! Hash table from blocks to buffers, so that the cost of a lookup does not depend on the number of buffers.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use super::{BlockKey, BufferId, NOTHING};

/// End of a chain.
const END: BufferId = BufferId::MAX;

/// 2^64 divided by the golden ratio: its products are spread evenly (Knuth, The Art of Computer Programming,
/// volume 3, section 6.4).
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// The block of each buffer, and hash chains to find it.
#[derive(Debug)]
pub(super) struct Index {
    keys: Vec<BlockKey>,
    /// First buffer of each chain; `next` has the following one for each buffer.
    chains: Box<[BufferId; CHAINS]>,
    next: Vec<BufferId>,
}

/// Number of chains. A constant, so that no index needs a check. A machine of 1983 has a hundred buffers.
const CHAINS: usize = 1 << CHAIN_BITS;
const CHAIN_BITS: u32 = 12;

impl Index {
    /// Creates the table for `buffers` empty buffers.
    pub(super) fn new(buffers: usize) -> Index {
        Index { keys: vec![NOTHING; buffers], chains: Box::new([END; CHAINS]), next: vec![END; buffers] }
    }

    pub(super) fn keys(&self) -> &[BlockKey] {
        &self.keys
    }

    pub(super) fn find(&self, key: BlockKey) -> Option<BufferId> {
        let mut id = self.chains[chain(key)];
        while id != END && self.keys[usize::from(id)] != key {
            id = self.next[usize::from(id)];
        }
        (id != END).then_some(id)
    }

    /// Assigns the buffer to a block, or to `NOTHING`.
    pub(super) fn set(&mut self, id: BufferId, key: BlockKey) {
        let held = core::mem::replace(&mut self.keys[usize::from(id)], key);
        if held != NOTHING {
            let chain = chain(held);
            let after = self.next[usize::from(id)];
            if self.chains[chain] == id {
                self.chains[chain] = after;
            } else {
                let mut before = self.chains[chain];
                while self.next[usize::from(before)] != id {
                    before = self.next[usize::from(before)];
                }
                self.next[usize::from(before)] = after;
            }
        }
        if key != NOTHING {
            self.next[usize::from(id)] = core::mem::replace(&mut self.chains[chain(key)], id);
        }
    }
}

/// The chain of a block: below [`CHAINS`].
#[inline]
fn chain(key: BlockKey) -> usize {
    (key.0.wrapping_mul(SPREAD) >> (u64::BITS - CHAIN_BITS)) as usize
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn lookups_find_the_keys_that_were_set(changes in prop::collection::vec((0u16..20, 0u32..40), 0..200)) {
            let mut index = Index::new(20);
            for (id, sector) in changes {
                let key = if sector == 0 { NOTHING } else { BlockKey::new(0, sector) };
                if index.keys().contains(&key) && key != NOTHING {
                    continue;
                }
                index.set(id, key);
                for sector in 0..40 {
                    let key = BlockKey::new(0, sector);
                    let place = index.keys().iter().position(|held| *held == key).map(|place| place as BufferId);
                    prop_assert_eq!(index.find(key), place);
                }
            }
        }
    }
}
