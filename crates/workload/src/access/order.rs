//! The order in which the blocks of a file are accessed.

use super::feistel::Feistel;
use super::zipf::Zipf;

/// The order in which a program with a fixed number of calls accesses the blocks of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placing {
    /// Every block once, in random order.
    Permutation,
    /// As many random blocks as the program has calls, drawn with replacement: some blocks repeat, others are never
    /// accessed.
    Replacement,
    /// Every block once, a fixed number of blocks apart.
    Stride(u32),
}

/// The random order in which a program without an end accesses the blocks of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Drawing {
    /// Each block is drawn with replacement out of all blocks.
    #[default]
    Replacement,
    /// Each block once, in random order; then again in another order.
    Permutation,
    /// By Zipf's law: a few blocks often, most hardly ever. The frequent blocks are spread over the file.
    Zipf {
        /// The exponent of the law, in thousandths.
        thousandths: u32,
    },
}

/// The state from which the next block follows.
#[derive(Clone, Debug)]
pub(super) enum OrderState {
    Anywhere,
    Permutation { feistel: Feistel, next: u64 },
    Zipf { zipf: Zipf, feistel: Feistel },
    InOrder { next: u64 },
    Strided { next: u64, lane: u64, stride: u64 },
}

/// The smallest stride from `stride` on that is coprime to the number of blocks, so that every block is accessed once.
pub(super) fn coprime(stride: u32, blocks: u32) -> u32 {
    let divisor = |mut a: u32, mut b: u32| {
        while b != 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    // Strides that are congruent modulo `blocks` visit the same blocks.
    (stride.checked_rem(blocks).unwrap_or(0).max(1)..).find(|&candidate| divisor(candidate, blocks) == 1).unwrap_or(1)
}
