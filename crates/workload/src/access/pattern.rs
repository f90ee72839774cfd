//! Reads and writes of one file in a chosen order and of several sizes: the cases that [`Places`](crate::Places) leaves
//! out to stay short. Memory use does not depend on the size of the file.

use alloc::string::String;
use core::fmt::{self, Write};

use units::Prng;

use super::feistel::Feistel;
use super::order::{Drawing, OrderState};
use super::zipf::Zipf;
use crate::op::{Handle, Op};

/// The maximum number of sizes. Chosen: a mix of a database has three.
pub const MOST_SIZES: usize = 8;

/// The sizes of calls, each with its percentage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sizes {
    shares: [(u32, u8); MOST_SIZES],
    count: u8,
}

impl Sizes {
    /// One size for all calls.
    pub const fn all(bytes: u32) -> Sizes {
        let mut shares = [(0, 0); MOST_SIZES];
        shares[0] = (bytes, 100);
        Sizes { shares, count: 1 }
    }

    /// Several sizes with their percentages. `None` if the percentages do not add up to 100, if there are more than
    /// [`MOST_SIZES`], or if a size is not a multiple of the smallest.
    pub fn shared(shares: &[(u32, u8)]) -> Option<Sizes> {
        let smallest = shares.iter().map(|(bytes, _)| *bytes).min().filter(|bytes| *bytes > 0)?;
        let whole = shares.iter().all(|(bytes, _)| bytes.is_multiple_of(smallest));
        let sum: u32 = shares.iter().map(|(_, percent)| u32::from(*percent)).sum();
        let mut all = [(0, 0); MOST_SIZES];
        all.get_mut(..shares.len())?.copy_from_slice(shares);
        (whole && sum == 100).then_some(Sizes { shares: all, count: shares.len() as u8 })
    }

    /// Each size with its percentage.
    pub fn shares(&self) -> &[(u32, u8)] {
        &self.shares[..usize::from(self.count)]
    }

    /// The size, if there is only one.
    pub fn only(&self) -> Option<u32> {
        if let [(bytes, _)] = self.shares() { Some(*bytes) } else { None }
    }

    /// The smallest size. All others are multiples of it.
    pub fn smallest(&self) -> u32 {
        self.shares().iter().map(|(bytes, _)| *bytes).min().unwrap_or_default()
    }

    /// The largest size.
    pub fn largest(&self) -> u32 {
        self.shares().iter().map(|(bytes, _)| *bytes).max().unwrap_or_default()
    }

    /// The form in the key of a cell: `4096:60,65536:40`.
    pub fn words(&self) -> String {
        let mut words = String::new();
        for (bytes, percent) in self.shares() {
            let comma = if words.is_empty() { "" } else { "," };
            let _ = write!(words, "{comma}{bytes}:{percent}");
        }
        words
    }

    #[inline]
    fn draw(&self, prng: &mut Prng) -> u32 {
        let shares = self.shares();
        if let [(only, _)] = shares {
            return *only;
        }
        let mut left = prng.below(100);
        for (bytes, percent) in shares {
            match left.checked_sub(u64::from(*percent)) {
                Some(beyond) => left = beyond,
                None => return *bytes,
            }
        }
        shares[0].0
    }

    /// The largest size that does not exceed `left`.
    fn within(&self, left: u64) -> Option<u32> {
        self.shares().iter().map(|(bytes, _)| *bytes).filter(|bytes| u64::from(*bytes) <= left).max()
    }
}

/// A number in thousandths, displayed as a decimal fraction: `0.99`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thousandths(pub u32);

impl fmt::Display for Thousandths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, mut rest, mut digits) = (self.0 / 1000, self.0 % 1000, 3);
        if rest == 0 {
            return write!(f, "{whole}");
        }
        while rest.is_multiple_of(10) {
            rest /= 10;
            digits -= 1;
        }
        write!(f, "{whole}.{rest:0digits$}")
    }
}

/// An iterator over reads, writes or both.
#[derive(Clone, Debug)]
pub struct Varied {
    handle: Handle,
    bytes: u64,
    sizes: Sizes,
    /// The percentage of reads, on average.
    reads: u64,
    state: OrderState,
    /// Source of sizes, directions and places.
    prng: Prng,
}

impl Varied {
    /// Random accesses to a file of `bytes` bytes, without an end, with `reads` percent of reads. Panics if a block of
    /// the largest size does not fit.
    pub fn drawn(drawing: Drawing, handle: Handle, sizes: Sizes, bytes: u64, reads: u8, seed: u64) -> Varied {
        assert!(bytes >= u64::from(sizes.largest()), "{bytes} bytes hold no block");
        let mut prng = Prng::new(seed);
        let blocks = bytes / u64::from(sizes.smallest());
        let state = match drawing {
            Drawing::Replacement => OrderState::Anywhere,
            Drawing::Permutation => OrderState::Permutation { feistel: Feistel::new(blocks, &mut prng), next: 0 },
            Drawing::Zipf { thousandths } => {
                OrderState::Zipf { zipf: Zipf::new(blocks, thousandths), feistel: Feistel::new(blocks, &mut prng) }
            }
        };
        Varied { handle, bytes, sizes, reads: u64::from(reads), state, prng }
    }

    /// Sequential accesses from the beginning of the file to its end.
    pub fn in_order(write: bool, handle: Handle, sizes: Sizes, bytes: u64, seed: u64) -> Varied {
        let state = OrderState::InOrder { next: 0 };
        Varied { handle, bytes, sizes, reads: if write { 0 } else { 100 }, state, prng: Prng::new(seed) }
    }

    /// Every `stride`-th block to the end of the file, then again from the second block, and so on, until each block
    /// was accessed once. Panics if the stride is zero.
    pub fn strided(write: bool, handle: Handle, block: u32, (bytes, stride): (u64, u64)) -> Varied {
        assert!(stride > 0, "a stride of nothing");
        let state = OrderState::Strided { next: 0, lane: 0, stride };
        let reads = if write { 0 } else { 100 };
        Varied { handle, bytes, sizes: Sizes::all(block), reads, state, prng: Prng::new(0) }
    }

    /// Returns whether some of the accesses are writes.
    pub(crate) fn writes(&self) -> bool {
        self.reads < 100
    }

    /// The size of the file in bytes, if some bytes may be accessed more than once; otherwise `None`.
    pub(crate) fn touches_again(&self) -> Option<u64> {
        match self.state {
            OrderState::Anywhere | OrderState::Permutation { .. } | OrderState::Zipf { .. } => Some(self.bytes),
            OrderState::InOrder { .. } | OrderState::Strided { .. } => None,
        }
    }

    /// The ends of all calls are multiples of this.
    pub(crate) fn grain(&self) -> u32 {
        self.sizes.smallest()
    }

    /// Reseeds for another program or round. If the file is shared, all programs keep the same frequent blocks.
    pub(crate) fn reseed(&mut self, salt: u64, is_shared: bool) {
        self.prng = Prng::new(self.prng.next_u64() ^ salt);
        match &mut self.state {
            OrderState::Permutation { feistel, .. } => *feistel = Feistel::new(feistel.count(), &mut self.prng),
            OrderState::Zipf { feistel, .. } if !is_shared => *feistel = Feistel::new(feistel.count(), &mut self.prng),
            OrderState::Zipf { .. }
            | OrderState::Anywhere
            | OrderState::InOrder { .. }
            | OrderState::Strided { .. } => {}
        }
    }

    pub(crate) fn next(&mut self) -> Option<Op> {
        let Varied { handle, bytes, sizes, reads, state, prng } = self;
        let handle = *handle;
        let mut length = sizes.draw(prng);
        let smallest = u64::from(sizes.smallest());
        let offset = match state {
            OrderState::Anywhere => prng.below(*bytes / u64::from(length)) * u64::from(length),
            OrderState::Permutation { feistel, next } => {
                if *next == feistel.count() {
                    *feistel = Feistel::new(*next, prng);
                    *next = 0;
                }
                *next += 1;
                feistel.permute(*next - 1) * smallest
            }
            OrderState::Zipf { zipf, feistel } => {
                let place = feistel.permute(zipf.draw(prng)) * smallest;
                if u64::from(length) == smallest { place } else { around(place, length, *bytes) }
            }
            OrderState::InOrder { next } => {
                let left = *bytes - *next;
                if u64::from(length) > left {
                    length = sizes.within(left)?;
                }
                *next += u64::from(length);
                *next - u64::from(length)
            }
            OrderState::Strided { next, lane, stride } => {
                let blocks = *bytes / smallest;
                if *next >= blocks {
                    *lane += 1;
                    *next = *lane;
                }
                if *lane >= (*stride).min(blocks) {
                    return None;
                }
                *next += *stride;
                (*next - *stride) * smallest
            }
        };
        let is_read = *reads == 100 || (*reads > 0 && prng.below(100) < *reads);
        Some(if is_read { Op::ReadAt { handle, length, offset } } else { Op::WriteAt { handle, length, offset } })
    }
}

/// The offset of the block of this length that contains `place`, or of the last whole block if the file ends in that
/// one.
#[inline]
fn around(place: u64, length: u32, bytes: u64) -> u64 {
    let length = u64::from(length);
    (place / length).min(bytes / length - 1) * length
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::vec;
    use alloc::vec::Vec;

    use proptest::prelude::*;

    use super::*;

    const HANDLE: Handle = Handle::new(0);
    const BLOCK: u64 = 512;

    /// The blocks of the first `count` reads.
    fn touched(mut varied: Varied, count: usize) -> Vec<u64> {
        let offset = |op| match op {
            Op::ReadAt { offset, length: 512, .. } => offset / BLOCK,
            other => panic!("not a read of a block: {other}"),
        };
        core::iter::from_fn(|| varied.next()).take(count).map(offset).collect()
    }

    fn drawn(drawing: Drawing, blocks: u64) -> Varied {
        Varied::drawn(drawing, HANDLE, Sizes::all(512), blocks * BLOCK, 100, 7)
    }

    proptest! {
        #[test]
        fn each_pass_of_a_permutation_touches_every_block_once(blocks in 1usize..300) {
            let all = touched(drawn(Drawing::Permutation, blocks as u64), blocks * 3);
            for pass in all.chunks(blocks) {
                let mut pass = pass.to_vec();
                pass.sort_unstable();
                prop_assert!(pass.into_iter().eq(0..blocks as u64));
            }
            prop_assert!(blocks < 20 || all[..blocks] != all[blocks..2 * blocks]);
        }

        #[test]
        fn a_stride_touches_every_block_once_at_equal_distances(blocks in 1u64..300, stride in 1u64..80) {
            let strided = Varied::strided(false, HANDLE, 512, (blocks * BLOCK, stride));
            let all = touched(strided, usize::MAX);
            let far = all.windows(2).filter(|pair| pair[0] + stride == pair[1]).count() as u64;
            prop_assert_eq!(far, blocks - stride.min(blocks));
            let mut sorted = all;
            sorted.sort_unstable();
            prop_assert!(sorted.into_iter().eq(0..blocks));
        }

        #[test]
        fn sequential_access_touches_every_byte_once_with_any_sizes(blocks in 1u64..300, seed: u64) {
            let sizes = Sizes::shared(&[(1024, 20), (512, 50), (4096, 30)]).expect("sizes");
            let mut varied = Varied::in_order(true, HANDLE, sizes, blocks * BLOCK, seed);
            let mut end = 0;
            while let Some(op) = varied.next() {
                let Op::WriteAt { offset, length, .. } = op else { panic!("not a write: {op}") };
                prop_assert_eq!(offset, end);
                end += u64::from(length);
            }
            prop_assert_eq!(end, blocks * BLOCK);
        }

        #[test]
        fn blocks_of_all_sizes_are_aligned_and_inside_the_file(blocks in 8u64..300, theta in 1u32..2_000) {
            let sizes = Sizes::shared(&[(512, 60), (4096, 40)]).expect("sizes");
            for drawing in [Drawing::Replacement, Drawing::Zipf { thousandths: theta }] {
                let mut varied = Varied::drawn(drawing, HANDLE, sizes, blocks * BLOCK, 100, 3);
                for op in (0..50).filter_map(|_| varied.next()) {
                    let Op::ReadAt { offset, length, .. } = op else { panic!("not a read: {op}") };
                    prop_assert!(offset.is_multiple_of(length.into()) && offset + u64::from(length) <= blocks * BLOCK);
                }
            }
        }
    }

    #[test]
    fn sizes_and_directions_have_the_requested_shares() {
        let sizes = Sizes::shared(&[(4096, 60), (65536, 40)]).expect("sizes");
        let mut varied = Varied::drawn(Drawing::Replacement, HANDLE, sizes, 1 << 30, 70, 7);
        let mut seen = [[0u32; 2]; 2];
        for op in (0..10_000).filter_map(|_| varied.next()) {
            seen[usize::from(op.length() == 65536)][usize::from(op.kind().reads())] += 1;
        }
        let [[small_writes, small_reads], [large_writes, large_reads]] = seen;
        assert!((5_800..6_200).contains(&(small_writes + small_reads)), "{seen:?}");
        assert!((6_800..7_200).contains(&(small_reads + large_reads)), "{seen:?}");
        assert!(large_writes > 1_000);
    }

    #[test]
    fn frequent_blocks_are_scattered_and_depend_on_the_seed() {
        let hot = |varied: Varied| {
            let mut seen = vec![0u32; 1_000];
            touched(varied, 20_000).into_iter().for_each(|block| seen[block as usize] += 1);
            let mut order: Vec<usize> = (0..1_000).collect();
            order.sort_by_key(|&block| core::cmp::Reverse(seen[block]));
            order.truncate(3);
            order
        };
        let zipf = drawn(Drawing::Zipf { thousandths: 1_200 }, 1_000);
        let first = hot(zipf.clone());
        assert!(first.windows(2).all(|pair| pair[0].abs_diff(pair[1]) > 1), "{first:?}");
        let again = |is_shared| {
            let mut other = zipf.clone();
            other.reseed(1, is_shared);
            hot(other)
        };
        assert_eq!((again(true) == first, again(false) == first), (true, false));
    }

    #[test]
    fn thousandths_are_printed_as_decimals() {
        for (thousandths, words) in [(990, "0.99"), (1_000, "1"), (1_005, "1.005"), (200, "0.2"), (0, "0")] {
            assert_eq!(format!("{}", Thousandths(thousandths)), words);
        }
    }

    #[test]
    fn sizes_are_multiples_of_the_smallest_and_sum_to_100_percent() {
        assert!(Sizes::shared(&[(4096, 60), (65536, 30)]).is_none());
        assert!(Sizes::shared(&[(4096, 60), (6000, 40)]).is_none());
        assert!(Sizes::shared(&[]).is_none());
        let sizes = Sizes::shared(&[(65536, 40), (4096, 60)]).expect("sizes");
        assert_eq!((sizes.smallest(), sizes.largest(), sizes.only()), (4096, 65536, None));
        assert_eq!(sizes.words(), "65536:40,4096:60");
        assert_eq!(Sizes::all(512).only(), Some(512));
    }
}
