//! A pseudorandom permutation of more blocks than a list in memory could hold.
//!
//! A Feistel cipher of four rounds permutes the numbers below a power of two (Luby and Rackoff, How to construct
//! pseudorandom permutations, 1988). A result beyond the last block is encrypted again until it is in range (Black and
//! Rogaway, Ciphers with arbitrary finite domains, 2002, "cycle walking"); on average that takes less than two passes.
//! It needs a few words of memory for any number of blocks.

use units::Prng;

/// A permutation of the numbers below `count`.
#[derive(Clone, Debug)]
pub(crate) struct Feistel {
    count: u64,
    /// Masks of the lower and the upper half of a number, and the bits of the lower one.
    low: u64,
    high: u64,
    bits: u32,
    keys: [u64; 4],
}

impl Feistel {
    /// A random permutation of the numbers below `count`. Panics if `count` is zero.
    pub(crate) fn new(count: u64, prng: &mut Prng) -> Feistel {
        assert!(count > 0, "an order of nothing");
        // The smallest power of two that holds all numbers.
        let all = u64::BITS - (count - 1).leading_zeros();
        let bits = all / 2;
        let mask = |bits: u32| (1u64 << bits) - 1;
        Feistel { count, low: mask(bits), high: mask(all - bits), bits, keys: [(); 4].map(|()| prng.next_u64()) }
    }

    /// The number of elements.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// The image of a number below `count`.
    #[inline]
    pub(crate) fn permute(&self, number: u64) -> u64 {
        let mut at = number;
        loop {
            at = self.once(at);
            if at < self.count {
                return at;
            }
        }
    }

    #[inline]
    fn once(&self, at: u64) -> u64 {
        let (mut low, mut high) = (at & self.low, at >> self.bits);
        for [first, second] in [[self.keys[0], self.keys[1]], [self.keys[2], self.keys[3]]] {
            high ^= spread(low, first) & self.high;
            low ^= spread(high, second) & self.low;
        }
        high << self.bits | low
    }
}

/// The upper half of a product depends on all bits below; the constant is that of SplitMix64 (see `units::Prng`).
#[inline]
fn spread(half: u64, key: u64) -> u64 {
    (half ^ key).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_number_is_mapped_to_a_distinct_place(count in 1u64..2_000, seed: u64) {
            let feistel = Feistel::new(count, &mut Prng::new(seed));
            let mut places: Vec<u64> = (0..count).map(|number| feistel.permute(number)).collect();
            places.sort_unstable();
            prop_assert!(places.into_iter().eq(0..count));
        }

        #[test]
        fn numbers_of_very_large_ranges_stay_in_range(count in (1u64 << 40)..(1 << 62), number in 0u64..(1 << 40)) {
            let feistel = Feistel::new(count, &mut Prng::new(1));
            prop_assert!(feistel.permute(number) < count && feistel.permute(number) != feistel.permute(number + 1));
        }
    }

    #[test]
    fn neighbours_are_scattered() {
        let count = 100_000;
        let feistel = Feistel::new(count, &mut Prng::new(3));
        let places: Vec<u64> = (0..count).map(|number| feistel.permute(number)).collect();
        // The mean distance of two random numbers is a third of the range.
        let apart: u64 = places.windows(2).map(|pair| pair[0].abs_diff(pair[1])).sum::<u64>() / count;
        assert!((32_000..34_700).contains(&apart), "{apart}");
        // About half of the steps go up, and each tenth of the numbers is spread over all tenths of the range.
        let up = places.windows(2).filter(|pair| pair[0] < pair[1]).count();
        assert!((49_000..51_000).contains(&up), "{up}");
        for tenth in places.chunks(10_000) {
            let low = tenth.iter().filter(|&&place| place < 10_000).count();
            assert!((850..1_150).contains(&low), "{low}");
        }
    }
}
