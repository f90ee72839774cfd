//! The access pattern: order, sizes and share of reads of the accesses to one file. One type serves all programs.
//!
//! Design:
//!   1. [`AccessPattern`] is plain data, and [`AccessPattern::accesses`] makes the iterator [`Accesses`] from it;
//!   2. the constructor decides once which values must be drawn. If there is only one size or one direction, it is not
//!      drawn. The order is a closed enum (`OrderState`);
//!   3. uniform accesses of one size, in one direction or in both, are drawn in batches. The measured loop only takes
//!      them out of the batch. All other patterns are behind one call. `drawn` is the number of accesses left in the
//!      batch, and is zero for these other patterns. So the loop needs one comparison for both cases;
//!   4. a seed always gives the same places, so that results of stored runs stay comparable. Therefore a mix of reads
//!      and writes with one size and uniform places has the same places as reads alone: each direction comes from the
//!      random number of its place (`with_fraction`). Local patterns draw their size and direction even if there is
//!      only one. All others draw the size, the place and the direction from one generator, in this order.

use alloc::boxed::Box;

use units::Prng;

use super::order::{Drawing, Extent, Order, OrderState, WHOLE};
use super::sizes::Sizes;
use crate::op::{Handle, PositionedIo};

/// The order, the sizes and the share of reads of accesses to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AccessPattern {
    /// The order of the accesses.
    pub order: Order,
    /// Their sizes.
    pub sizes: Sizes,
    /// The share of reads, in thousandths.
    pub reads: u16,
}

/// An iterator over the accesses of a pattern to one file.
#[derive(Clone, Debug)]
pub struct Accesses {
    handle: Handle,
    /// The only size; the smallest one if there are several.
    length: u32,
    /// The direction if it is not drawn.
    write: bool,
    /// The current batch of uniform accesses of one size, in reverse order, and the number of accesses left in it.
    batch: Box<[Drawn; BATCH]>,
    drawn: u64,
    /// The number of uniform accesses that are not in a batch yet.
    uniform: u64,
    /// The number of accesses left, if they are not uniform accesses of one size.
    left: u64,
    /// The number of whole blocks of `length` bytes.
    blocks: u64,
    /// Source of places, sizes and directions.
    prng: Prng,
    bytes: u64,
    /// A length that represents all writes: see [`Accesses::cuts`].
    cuts: u32,
    order: OrderState,
    sizes: Option<Box<DrawnSizes>>,
    direction: Direction,
}

/// Accesses in a batch. It saves 5 instructions per access: the generator stays in registers. Drawing a batch takes
/// less than half a microsecond. Chosen.
const BATCH: usize = 32;

/// An access that was drawn: its offset, which has 63 bits in Linux, and in the lowest bit 1 for a write.
#[derive(Clone, Copy, Debug)]
struct Drawn(u64);

/// Sizes that are drawn.
#[derive(Clone, Debug)]
struct DrawnSizes {
    sizes: Sizes,
    /// The sum of the weights.
    sum: u64,
}

/// The source of directions. An access is a read if a random number of 64 bits is below `first_write`. That is
/// equivalent to a random number below [`WHOLE`] that is below the share of reads, but needs no multiplication.
#[derive(Clone, Debug)]
enum Direction {
    /// All accesses have the same direction.
    Same,
    /// Each direction has its own random number. Without `first_write`, all accesses are reads.
    Own { first_write: Option<u64> },
    /// The direction comes from the random number of the place, for uniform accesses of one size.
    OfPlace { first_write: u64 },
}

/// The first of the random numbers that are writes, if a mix with this share of reads has any.
fn first_write(reads: u16) -> Option<u64> {
    u64::try_from((u128::from(reads) << u64::BITS).div_ceil(u128::from(WHOLE))).ok()
}

impl AccessPattern {
    /// Reads only, or writes only, of one size.
    pub const fn new(order: Order, bytes: u32, write: bool) -> AccessPattern {
        AccessPattern { order, sizes: Sizes::all(bytes), reads: if write { 0 } else { WHOLE } }
    }

    /// Reads only, or writes only, of blocks drawn with replacement.
    pub const fn uniform(bytes: u32, write: bool) -> AccessPattern {
        AccessPattern::new(Order::Drawn(Drawing::Replacement), bytes, write)
    }

    /// At most `count` accesses to an open file of `bytes` bytes. Panics if a random access of the largest size does
    /// not fit into the file.
    pub fn accesses(&self, handle: Handle, bytes: u64, count: u64, seed: u64) -> Accesses {
        let AccessPattern { order, sizes, reads } = *self;
        let is_random = matches!(order, Order::Drawn(_) | Order::Local(_));
        let largest = sizes.largest();
        assert!(!is_random || u64::from(largest) <= bytes, "a file of {bytes} bytes has no access of {largest}");
        let length = sizes.smallest();
        let extent = Extent { bytes, block: length, blocks: bytes / u64::from(length) };
        let mut prng = Prng::new(seed);
        let state = order.state(extent, count, &mut prng);
        let has_one_size = sizes.only().is_some();
        let is_uniform = has_one_size && matches!(state, OrderState::Replacement);
        let is_local = matches!(order, Order::Local(_));
        let direction = match first_write(reads) {
            _ if !is_local && !(1..WHOLE).contains(&reads) => Direction::Same,
            Some(first_write) if is_uniform => Direction::OfPlace { first_write },
            first_write => Direction::Own { first_write },
        };
        let drawn = || Box::new(DrawnSizes { sizes, sum: sizes.sum() });
        Accesses {
            handle,
            length,
            write: reads == 0,
            batch: Box::new([Drawn(0); BATCH]),
            drawn: 0,
            uniform: if is_uniform { count } else { 0 },
            left: if is_uniform { 0 } else { count },
            blocks: extent.blocks,
            prng,
            bytes,
            cuts: representative(&sizes),
            order: state,
            sizes: (is_local || !has_one_size).then(drawn),
            direction,
        }
    }
}

/// The smallest page size on Linux, in bytes.
const PAGE: u32 = 4096;

/// A size that leads to writes across pages, or else the smallest.
fn representative(sizes: &Sizes) -> u32 {
    let mut all = sizes.bytes();
    all.find(|length| !length.is_power_of_two() && !length.is_multiple_of(PAGE)).unwrap_or(sizes.smallest())
}

impl Accesses {
    /// A length that represents all writes, for callers that need to know whether calls aligned to their own size cut
    /// through pages. It is a length that does, or else the shortest. `None` if no access is a write.
    pub(crate) fn cuts(&self) -> Option<u32> {
        let writes = match self.direction {
            Direction::Same => self.write,
            Direction::Own { first_write } => first_write.is_some(),
            Direction::OfPlace { .. } => true,
        };
        writes.then_some(self.cuts)
    }

    /// The bytes that the accesses may reach, from the beginning of the file on, if they may access some more than
    /// once; otherwise `None`. Only local patterns reach bytes after the last whole block.
    pub(crate) fn touches_again(&self) -> Option<u64> {
        let is_local = matches!(self.order, OrderState::Local { .. });
        let reached = if is_local { self.bytes } else { self.blocks * u64::from(self.length) };
        self.order.touches_again().then_some(reached)
    }

    /// The extent of the places in bytes, if they are random; otherwise `None`.
    pub(crate) fn span(&self) -> Option<u64> {
        self.order.is_random().then_some(self.bytes)
    }

    /// Returns whether the accesses are in the order of the file, without gaps.
    pub(crate) fn is_sequential(&self) -> bool {
        matches!(self.order, OrderState::Sequential { .. })
    }

    /// Reseeds for another program or round. `keeps_hot` keeps the frequent blocks, for programs that share a file.
    pub(crate) fn reseed(&mut self, salt: u64, keeps_hot: bool) {
        assert_eq!(self.drawn, 0, "accesses have been drawn already");
        self.prng = Prng::new(self.prng.next_u64() ^ salt);
        self.order.reseed(keeps_hot, &mut self.prng);
    }

    /// Draws at most `most` random places that no program draws in any round. A list of places becomes random draws,
    /// because the list begins with the blocks that its program has just read. A cache below may have those.
    pub(crate) fn move_elsewhere(&mut self, most: u64) {
        (self.uniform, self.left) = (self.uniform.min(most), self.left.min(most));
        // Other programs change the upper half of a seed; rounds do not change it.
        self.reseed(1, false);
        if let OrderState::Listed(_) = self.order {
            self.order = OrderState::Replacement;
        }
    }

    /// Draws the next batch. Returns the first access that is not in a batch, if there are no more batches.
    #[inline(never)]
    fn next_drawn(&mut self) -> Option<PositionedIo> {
        if self.uniform == 0 {
            return self.next_general();
        }
        self.drawn = self.uniform.min(BATCH as u64);
        self.uniform -= self.drawn;
        let batch = &mut self.batch[..self.drawn as usize];
        // Twice the length, as the lowest bit is the direction.
        let (blocks, length, write) = (self.blocks, u64::from(self.length) << 1, u64::from(self.write));
        // A copy of the generator, so that the compiler keeps it in registers.
        let mut prng = self.prng.clone();
        let batch = batch.iter_mut().rev();
        match self.direction {
            Direction::OfPlace { first_write } => batch.for_each(|drawn| {
                let (block, number) = prng.with_fraction(blocks);
                *drawn = Drawn(block * length + u64::from(number >= first_write));
            }),
            _ => batch.for_each(|drawn| *drawn = Drawn(prng.below(blocks) * length + write)),
        }
        self.prng = prng;
        self.take_drawn()
    }

    /// The next access of the batch.
    #[inline(always)]
    fn take_drawn(&mut self) -> Option<PositionedIo> {
        self.drawn = self.drawn.checked_sub(1)?;
        let Drawn(drawn) = self.batch[self.drawn as usize % BATCH];
        Some(PositionedIo { handle: self.handle, length: self.length, offset: drawn >> 1, write: drawn & 1 != 0 })
    }

    /// The next access that is not uniform.
    fn next_general(&mut self) -> Option<PositionedIo> {
        self.left = self.left.checked_sub(1)?;
        let Accesses { handle, length, write, blocks, bytes, ref mut prng, .. } = *self;
        let extent = Extent { bytes, block: length, blocks };
        let sizes = self.sizes.as_deref();
        let length = sizes.map_or(length, |drawn| drawn.sizes.draw(drawn.sum, prng));
        let (offset, length) = self.order.place(length, sizes.map(|drawn| &drawn.sizes), extent, prng)?;
        let write = match self.direction {
            Direction::Own { first_write } => {
                let drawn = prng.next_u64();
                first_write.is_some_and(|first| drawn >= first)
            }
            Direction::Same | Direction::OfPlace { .. } => write,
        };
        Some(PositionedIo { handle, length, offset, write })
    }
}

impl Iterator for Accesses {
    type Item = PositionedIo;

    // Called in the world's measured loop.
    #[inline(always)]
    fn next(&mut self) -> Option<PositionedIo> {
        if let Some(drawn) = self.take_drawn() {
            return Some(drawn);
        }
        // Taken apart, so that the compiler keeps the uniform access in registers.
        let PositionedIo { handle, length, offset, write } = self.next_drawn()?;
        Some(PositionedIo { handle, length, offset, write })
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use proptest::prelude::*;

    use super::*;
    use crate::access::order::Locality;

    const HANDLE: Handle = Handle::new(0);
    const BLOCK: u64 = 512;

    fn reading(order: Order, blocks: u64, count: u64) -> Accesses {
        AccessPattern::new(order, 512, false).accesses(HANDLE, blocks * BLOCK, count, 7)
    }

    /// The blocks of the first `count` reads.
    fn touched(accesses: Accesses, count: usize) -> Vec<u64> {
        let block = |io: PositionedIo| {
            assert_eq!((io.length, io.write), (512, false), "{io:?}");
            io.offset / BLOCK
        };
        accesses.take(count).map(block).collect()
    }

    fn drawn(drawing: Drawing, blocks: u64) -> Accesses {
        reading(Order::Drawn(drawing), blocks, u64::MAX)
    }

    fn shared(shares: &[(u32, u32)]) -> Sizes {
        Sizes::shared(shares).expect("sizes")
    }

    proptest! {
        #[test]
        fn a_shuffled_order_and_a_stride_touch_every_block_once(of in 1u32..500, stride in 1u32..50) {
            for order in [Order::Shuffled, Order::Around(stride)] {
                let mut seen = touched(reading(order, of.into(), of.into()), usize::MAX);
                seen.sort_unstable();
                prop_assert!(seen.into_iter().eq(0..u64::from(of)));
            }
        }

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
            let all = touched(reading(Order::Strided { blocks: stride }, blocks, u64::MAX), usize::MAX);
            let far = all.windows(2).filter(|pair| pair[0] + stride == pair[1]).count() as u64;
            prop_assert_eq!(far, blocks - stride.min(blocks));
            let mut sorted = all;
            sorted.sort_unstable();
            prop_assert!(sorted.into_iter().eq(0..blocks));
        }

        #[test]
        fn sequential_access_touches_every_byte_once_with_any_sizes(blocks in 1u64..300, seed: u64) {
            let sizes = shared(&[(1024, 20), (512, 50), (4096, 30)]);
            let pattern = AccessPattern { sizes, ..AccessPattern::new(Order::Sequential, 512, true) };
            let mut end = 0;
            for io in pattern.accesses(HANDLE, blocks * BLOCK, u64::MAX, seed) {
                prop_assert_eq!((io.offset, io.write), (end, true));
                end += u64::from(io.length);
            }
            prop_assert_eq!(end, blocks * BLOCK);
        }

        #[test]
        fn blocks_of_all_sizes_are_aligned_and_inside_the_file(blocks in 8u64..300, theta in 1u32..2_000) {
            let sizes = shared(&[(512, 60), (4096, 40)]);
            for drawing in [Drawing::Replacement, Drawing::Zipf { thousandths: theta }] {
                let pattern = AccessPattern { order: Order::Drawn(drawing), sizes, reads: WHOLE };
                for io in pattern.accesses(HANDLE, blocks * BLOCK, 50, 3) {
                    let length = u64::from(io.length);
                    prop_assert!(io.offset.is_multiple_of(length) && io.offset + length <= blocks * BLOCK);
                }
            }
        }
    }

    #[test]
    fn drawing_with_replacement_misses_about_a_third() {
        let mut seen = touched(drawn(Drawing::Replacement, 10_000), 10_000);
        seen.sort_unstable();
        seen.dedup();
        // 1 - 1/e of the blocks are touched: 63 %.
        assert!((6_000..6_600).contains(&seen.len()), "{}", seen.len());
    }

    #[test]
    fn each_round_draws_its_own_reproducible_places() {
        let drawn = |rounds| {
            let mut accesses = reading(Order::Drawn(Drawing::Replacement), 1 << 40, 100);
            (0..rounds).for_each(|_| accesses.reseed(0, false));
            accesses.collect::<Vec<PositionedIo>>()
        };
        assert_eq!(drawn(1), drawn(1));
        let (first, second) = (drawn(0), drawn(1));
        assert!(first.iter().all(|io| !second.contains(io)));
    }

    #[test]
    fn the_share_of_reads_is_as_requested() {
        for reads in [0, 300, 1000] {
            let pattern = AccessPattern { reads, ..AccessPattern::uniform(512, false) };
            let accesses = pattern.accesses(HANDLE, 64 * BLOCK, 10_000, 7);
            assert_eq!(accesses.cuts().is_some(), reads < 1000);
            let read = accesses.filter(|io| !io.write).count();
            assert!(read.abs_diff(usize::from(reads) * 10) < 150, "{read} of {reads} in 1000");
        }
    }

    #[test]
    fn sequential_access_is_block_after_block() {
        let accesses = AccessPattern::new(Order::Sequential, 512, true).accesses(HANDLE, 3 * BLOCK + 7, 9, 7);
        assert_eq!((accesses.cuts(), accesses.touches_again()), (Some(512), None));
        let at = |offset| PositionedIo { handle: HANDLE, length: 512, offset, write: true };
        assert_eq!(accesses.collect::<Vec<PositionedIo>>(), [at(0), at(512), at(1024)]);
    }

    #[test]
    fn sizes_and_directions_have_the_requested_shares() {
        let sizes = shared(&[(4096, 60), (65536, 40)]);
        let pattern = AccessPattern { sizes, reads: 700, ..AccessPattern::uniform(4096, false) };
        let mut seen = [[0u32; 2]; 2];
        for io in pattern.accesses(HANDLE, 1 << 30, 10_000, 7) {
            seen[usize::from(io.length == 65536)][usize::from(!io.write)] += 1;
        }
        let [[small_writes, small_reads], [large_writes, large_reads]] = seen;
        assert!((5_800..6_200).contains(&(small_writes + small_reads)), "{seen:?}");
        assert!((6_800..7_200).contains(&(small_reads + large_reads)), "{seen:?}");
        assert!(large_writes > 1_000);
    }

    #[test]
    fn frequent_blocks_are_scattered_and_depend_on_the_seed() {
        let hot = |accesses: Accesses| {
            let mut seen = vec![0u32; 1_000];
            touched(accesses, 20_000).into_iter().for_each(|block| seen[block as usize] += 1);
            let mut order: Vec<usize> = (0..1_000).collect();
            order.sort_by_key(|&block| core::cmp::Reverse(seen[block]));
            order.truncate(3);
            order
        };
        let zipf = drawn(Drawing::Zipf { thousandths: 1_200 }, 1_000);
        let first = hot(zipf.clone());
        assert!(first.windows(2).all(|pair| pair[0].abs_diff(pair[1]) > 1), "{first:?}");
        let again = |keeps_hot| {
            let mut other = zipf.clone();
            other.reseed(1, keeps_hot);
            hot(other)
        };
        assert_eq!((again(true) == first, again(false) == first), (true, false));
    }

    #[test]
    #[should_panic(expected = "has no access of 8192")]
    fn too_small_files_are_refused() {
        let order = Order::Local(Locality::default());
        let _ = AccessPattern::new(order, 8192, false).accesses(HANDLE, 4096, 1, 1);
    }

    /// Sums over the first 200 accesses of each pattern: of the first program, of the second, and of the second in the
    /// third round. From the three generators that this one replaced, except for mixed uniform accesses, whose
    /// directions came from a second generator.
    #[test]
    fn seeds_keep_their_accesses() {
        let (one, two) = (Sizes::all(4096), shared(&[(4096, 60), (65536, 40)]));
        let five = Sizes::weighted(&[(512, 10), (1024, 20), (2048, 10), (4096, 20), (8192, 40)]).expect("sizes");
        let [uniform, permutation, zipf] =
            [Drawing::Replacement, Drawing::Permutation, Drawing::Zipf { thousandths: 990 }].map(Order::Drawn);
        let local = Order::Local(Locality { hot: 600, part: 100, near: 200 });
        for (order, sizes, reads, expected) in [
            (uniform, one, 1000, [0x7a7b_7442_e11a_f005_u64, 0x794a_f78f_f4ca_c005, 0xd202_8d76_e385_f005]),
            (uniform, one, 0, [0x19d5_0ef2_80d5_e6ed, 0xcb54_318d_e19e_16ed, 0xd336_c8bf_2f00_e6ed]),
            (uniform, one, 700, [0xc8c4_86e2_15bd_b6a7, 0xdf03_1c03_f1e4_91fe, 0xefb0_63e3_e5c8_8435]),
            (Order::Sequential, one, 0, [0x7d89_9fcf_ee55_06ed; 3]),
            (Order::Around(10), one, 0, [0x0399_8b2e_af1e_86ed; 3]),
            (Order::Sequential, two, 0, [0x2837_6d2f_974c_a9c5, 0xc4fd_4a20_0b44_0134, 0xf762_91b9_f0fb_6134]),
            (Order::Strided { blocks: 9 }, one, 1000, [0xaa74_dbbd_47fd_b005; 3]),
            (uniform, two, 700, [0xeb4c_1333_3798_46d4, 0x10f8_976d_b655_462e, 0xd117_496b_7da8_bbfe]),
            (permutation, one, 700, [0x46ac_b9a9_e7e2_203a, 0x704a_99b2_358d_e73d, 0xd2f8_7638_d7ea_6928]),
            (zipf, one, 1000, [0x31c9_44f8_4a8d_b005, 0xb240_f033_5059_0005, 0xa647_028f_281d_c005]),
            (zipf, two, 700, [0x3c60_42df_67fd_5891, 0x88f3_d02d_d21c_f389, 0x417e_4bf1_1ca9_bc23]),
            (local, five, 667, [0xf738_5e6b_7506_9959, 0xeff7_d8b2_3234_2a54, 0xa715_7017_f72a_e10d]),
            (
                Order::Local(Locality::default()),
                one,
                1000,
                [0x99a9_3c55_3ffc_f005, 0xe523_0b6b_4270_a005, 0x6425_efc5_814b_d005],
            ),
        ] {
            let first = AccessPattern { order, sizes, reads }.accesses(HANDLE, 4_096_000, 200, 7);
            let (mut second, mut later) = (first.clone(), first.clone());
            second.reseed(1 << 32, true);
            (0..2).for_each(|_| later.reseed(0, false));
            later.reseed(1 << 32, true);
            assert_eq!([first, second, later].map(checksum), expected, "{order:?} {sizes:?} {reads}");
        }
        let shuffled = AccessPattern::new(Order::Shuffled, 4096, false).accesses(HANDLE, 4_096_000, 50, 7);
        assert_eq!(checksum(shuffled), 0x4dbd_a78a_0f0f_827d);
    }

    /// The function of Fowler, Noll and Vo over offsets, lengths and directions.
    fn checksum(accesses: Accesses) -> u64 {
        let words = accesses.flat_map(|io| [io.offset, u64::from(io.length), u64::from(io.write)]);
        words.fold(0xcbf2_9ce4_8422_2325, |sum, word| (sum ^ word).wrapping_mul(0x0000_0100_0000_01b3))
    }
}
