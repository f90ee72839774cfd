//! An order that looks like chance, of more blocks than a list could hold.
//!
//! Numbers below a power of two are taken to each other by a cipher of four rounds (Luby and Rackoff, How to construct
//! pseudorandom permutations, 1988); what falls beyond the last block is taken on until it does not (Black and Rogaway,
//! Ciphers with arbitrary finite domains, 2002, "cycle walking"), less than twice on average. A few words of memory,
//! however many blocks.

use units::Prng;

/// A permutation of the numbers below `count`.
#[derive(Clone, Debug)]
pub(crate) struct Scatter {
    count: u64,
    /// The lower half of a number, the upper one, and how far that lies up.
    low: u64,
    high: u64,
    bits: u32,
    keys: [u64; 4],
}

impl Scatter {
    /// One of those of this many numbers, which chance decides. Panics where there is none.
    pub(crate) fn new(count: u64, prng: &mut Prng) -> Scatter {
        assert!(count > 0, "an order of nothing");
        // The fewest bits that tell all numbers apart.
        let all = u64::BITS - (count - 1).leading_zeros();
        let bits = all / 2;
        let mask = |bits: u32| (1u64 << bits) - 1;
        Scatter { count, low: mask(bits), high: mask(all - bits), bits, keys: [(); 4].map(|()| prng.next_u64()) }
    }

    /// How many numbers there are.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Where a number below the count goes.
    #[inline]
    pub(crate) fn place(&self, number: u64) -> u64 {
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
        fn every_number_has_a_place_of_its_own(count in 1u64..2_000, seed: u64) {
            let scatter = Scatter::new(count, &mut Prng::new(seed));
            let mut places: Vec<u64> = (0..count).map(|number| scatter.place(number)).collect();
            places.sort_unstable();
            prop_assert!(places.into_iter().eq(0..count));
        }

        #[test]
        fn of_very_many_each_still_has_one_there_is(count in (1u64 << 40)..(1 << 62), number in 0u64..(1 << 40)) {
            let scatter = Scatter::new(count, &mut Prng::new(1));
            prop_assert!(scatter.place(number) < count && scatter.place(number) != scatter.place(number + 1));
        }
    }

    #[test]
    fn neighbours_do_not_stay_together() {
        let count = 100_000;
        let scatter = Scatter::new(count, &mut Prng::new(3));
        let places: Vec<u64> = (0..count).map(|number| scatter.place(number)).collect();
        // Two numbers that chance draws are a third of the count apart.
        let apart: u64 = places.windows(2).map(|pair| pair[0].abs_diff(pair[1])).sum::<u64>() / count;
        assert!((32_000..34_700).contains(&apart), "{apart}");
        // As many go up as go down, and each tenth of the numbers goes to each tenth of the places.
        let up = places.windows(2).filter(|pair| pair[0] < pair[1]).count();
        assert!((49_000..51_000).contains(&up), "{up}");
        for tenth in places.chunks(10_000) {
            let low = tenth.iter().filter(|&&place| place < 10_000).count();
            assert!((850..1_150).contains(&low), "{low}");
        }
    }
}
