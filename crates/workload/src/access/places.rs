//! Accesses to blocks of one size in one file. Most programs need only this, and it is short enough to be inlined in
//! the world's loop.

use alloc::vec;
use alloc::vec::Vec;

use units::Prng;

use super::order::{Placing, coprime};
use crate::op::{Handle, PositionedIo};

/// Positioned accesses to blocks of one file.
#[derive(Clone, Debug)]
pub struct Places {
    handle: Handle,
    length: u32,
    write: bool,
    /// The split into reads and writes, if there are both.
    mix: Option<Shares>,
    blocks: Blocks,
}

/// Reads and writes in random order.
#[derive(Clone, Debug)]
struct Shares {
    prng: Prng,
    /// The percentage of reads, on average.
    reads: u64,
}

/// The blocks and their order.
#[derive(Clone, Debug)]
enum Blocks {
    /// Computed in advance.
    Listed(vec::IntoIter<u32>),
    /// Each drawn when it is due, `left` more out of `of`. A device may have more blocks than a list can number.
    Drawn { prng: Prng, left: u64, of: u64 },
    /// One after the other.
    InOrder { next: u64, left: u64 },
}

impl Places {
    /// `count` blocks out of the `of` that the file has, each `length` bytes long.
    pub fn new(
        write: bool,
        handle: Handle,
        length: u32,
        (count, of): (u32, u32),
        placing: Placing,
        seed: u64,
    ) -> Places {
        let mut prng = Prng::new(seed);
        let listed = |blocks: Vec<u32>| Blocks::Listed(blocks.into_iter());
        let blocks = match placing {
            Placing::Permutation => {
                let mut all: Vec<u32> = (0..of).collect();
                prng.shuffle(&mut all);
                all.truncate(count as usize);
                listed(all)
            }
            Placing::Replacement => Blocks::Drawn { prng, left: u64::from(count), of: u64::from(of) },
            Placing::Stride(stride) => {
                let stride = u64::from(coprime(stride, of));
                listed((0..u64::from(count)).map(|index| (index * stride % u64::from(of)) as u32).collect())
            }
        };
        Places { handle, length, write, mix: None, blocks }
    }

    /// Reads, or writes, of `count` blocks drawn at random out of `of`.
    pub fn drawn(write: bool, handle: Handle, length: u32, (count, of): (u64, u64), seed: u64) -> Places {
        let blocks = Blocks::Drawn { prng: Prng::new(seed), left: count, of };
        Places { handle, length, write, mix: None, blocks }
    }

    /// Reads, or writes, of the first `count` blocks, one after the other.
    pub fn in_order(write: bool, handle: Handle, length: u32, count: u64) -> Places {
        Places { handle, length, write, mix: None, blocks: Blocks::InOrder { next: 0, left: count } }
    }

    /// Makes `reads` per cent of the operations reads and the others writes, in random order.
    pub fn mixed(self, reads: u8, seed: u64) -> Places {
        Places { mix: Some(Shares { prng: Prng::new(seed), reads: u64::from(reads) }), ..self }
    }

    /// Returns whether some of the accesses are writes.
    pub(crate) fn writes(&self) -> bool {
        self.mix.as_ref().map_or(self.write, |mix| mix.reads < 100)
    }

    /// Reseeds for program `salt` of several that run the same workload, so that they access different blocks.
    pub(crate) fn reseed(&mut self, salt: u64) {
        let reseed = |prng: &mut Prng| *prng = Prng::new(prng.next_u64() ^ salt);
        if let Blocks::Drawn { prng, .. } = &mut self.blocks {
            reseed(prng);
        }
        self.mix.iter_mut().for_each(|mix| reseed(&mut mix.prng));
    }

    /// Reseeds for the round after `rounds` others.
    pub(crate) fn skip_rounds(&mut self, rounds: u32) {
        let reseed = |prng: &mut Prng| {
            for _ in 0..rounds {
                *prng = Prng::new(prng.next_u64());
            }
        };
        if let Blocks::Drawn { prng, .. } = &mut self.blocks {
            reseed(prng);
        }
        self.mix.iter_mut().for_each(|mix| reseed(&mut mix.prng));
    }

    /// The bytes of the file, if it may touch some of them more than once.
    pub(crate) fn touches_again(&self) -> Option<u64> {
        match self.blocks {
            Blocks::Drawn { of, .. } => Some(of * u64::from(self.length)),
            Blocks::Listed(_) | Blocks::InOrder { .. } => None,
        }
    }

    /// The bytes of each block.
    pub(crate) fn length(&self) -> u32 {
        self.length
    }

    #[inline(always)]
    pub(crate) fn next(&mut self) -> Option<PositionedIo> {
        let block = match &mut self.blocks {
            Blocks::Drawn { prng, left, of } => {
                *left = left.checked_sub(1)?;
                prng.below(*of)
            }
            Blocks::Listed(blocks) => u64::from(blocks.next()?),
            Blocks::InOrder { next, left } => {
                *left = left.checked_sub(1)?;
                *next += 1;
                *next - 1
            }
        };
        let offset = block * u64::from(self.length);
        let write = match &mut self.mix {
            Some(mix) => mix.prng.below(100) >= mix.reads,
            None => self.write,
        };
        Some(PositionedIo { handle: self.handle, length: self.length, offset, write })
    }
}
