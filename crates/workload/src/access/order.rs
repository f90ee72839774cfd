//! The order in which the blocks of a file are touched.

use super::feistel::Scatter;
use super::zipf::Zipf;

/// The order in which a program with a fixed number of calls touches the blocks of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placing {
    /// Every block once, in random order.
    Permutation,
    /// As many random blocks as the program has calls, drawn with replacement: some blocks come twice, others never.
    Replacement,
    /// Every block once, a fixed number of blocks apart.
    Stride(u32),
}

/// The random order in which a program without an end touches the blocks of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Drawing {
    /// Each is drawn out of all.
    #[default]
    Replacement,
    /// Each once, in random order; then again, in another one.
    Permutation,
    /// Some often and most hardly ever, by Zipf's law; the frequent ones lie anywhere in the file.
    Zipf {
        /// The exponent of the law.
        thousandths: u32,
    },
}

/// Where the next block is.
#[derive(Clone, Debug)]
pub(super) enum Walk {
    Anywhere,
    Permutation { scatter: Scatter, next: u64 },
    Zipf { zipf: Zipf, scatter: Scatter },
    InOrder { next: u64 },
    Strided { next: u64, lane: u64, stride: u64 },
}

/// The smallest stride from `stride` on that shares no factor with the number of blocks, so that every
/// block is touched once.
pub(super) fn coprime(stride: u32, blocks: u32) -> u32 {
    let divisor = |mut a: u32, mut b: u32| {
        while b != 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    // Strides that differ by all blocks visit the same ones.
    (stride.checked_rem(blocks).unwrap_or(0).max(1)..).find(|&candidate| divisor(candidate, blocks) == 1).unwrap_or(1)
}
