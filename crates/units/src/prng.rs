//! A random number generator with the same numbers on every platform and in both worlds: xoshiro256++ (Blackman and
//! Vigna, 2019). SplitMix64 fills its state from one 64-bit seed, as its authors advise.

/// A seeded random number generator. The sequence of a seed never changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prng {
    state: [u64; 4],
}

impl Prng {
    /// Creates the generator of a seed.
    pub fn new(seed: u64) -> Prng {
        let mut state = [0; 4];
        let mut counter = seed;
        for word in &mut state {
            counter = counter.wrapping_add(0x9e37_79b9_7f4a_7c15);
            *word = mix(counter);
        }
        Prng { state }
    }

    /// Returns the next 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        let [a, b, c, d] = &mut self.state;
        let result = a.wrapping_add(*d).rotate_left(23).wrapping_add(*a);
        let shifted = *b << 17;
        *c ^= *a;
        *d ^= *b;
        *b ^= *c;
        *a ^= *d;
        *c ^= shifted;
        *d = d.rotate_left(45);
        result
    }

    /// Returns a number below `bound`. The probabilities are equal but for one part in 2^64 / `bound`: the result is
    /// the high word of a product, which needs no division. Panics if the bound is zero.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        self.with_fraction(bound).0
    }

    /// Returns a number as [`Prng::below`], and a second random number of 64 bits: the low word of the product. They
    /// are independent but for one part in 2^64 / `bound` (Brackett-Rozinsky and Lemire, Batched ranged random integer
    /// generation, 2024). The lowest bits of the second one are not random.
    #[inline]
    pub fn with_fraction(&mut self, bound: u64) -> (u64, u64) {
        assert!(bound > 0, "no number lies below zero");
        let product = u128::from(self.next_u64()) * u128::from(bound);
        ((product >> 64) as u64, product as u64)
    }

    /// Puts the items into a random order (Fisher-Yates shuffle).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let chosen = self.below(last as u64 + 1) as usize;
            items.swap(last, chosen);
        }
    }
}

/// SplitMix64's output function: every input bit affects all output bits.
fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    #[test]
    fn both_numbers_of_a_draw_are_even_and_independent() {
        let mut prng = Prng::new(1);
        let mut seen = [[0u32; 4]; 3];
        for _ in 0..12_000 {
            let (number, fraction) = prng.with_fraction(3);
            seen[number as usize][(fraction >> 62) as usize] += 1;
        }
        // Each of the twelve has 1,000 on average, with a standard deviation of 30.
        assert!(seen.as_flattened().iter().all(|count| (850..1150).contains(count)), "{seen:?}");
    }

    /// First outputs of the reference implementation for the state 1, 2, 3, 4. The tests of the rand_xoshiro crate have
    /// the same numbers.
    #[test]
    fn output_agrees_with_the_reference() {
        let mut prng = Prng { state: [1, 2, 3, 4] };
        let expected = [41943041, 58720359, 3588806011781223, 3591011842654386, 9228616714210784205];
        assert_eq!(expected.map(|_| prng.next_u64()), expected);
    }

    #[test]
    fn a_shuffle_keeps_every_item() {
        let mut items: Vec<u32> = (0..1000).collect();
        Prng::new(7).shuffle(&mut items);
        assert!(items.windows(2).any(|pair| pair[0] > pair[1]));
        items.sort_unstable();
        assert!(items.iter().copied().eq(0..1000));
    }

    #[test]
    fn numbers_stay_below_their_bound() {
        let mut prng = Prng::new(1);
        let mut seen = [0u32; 6];
        for _ in 0..6000 {
            seen[prng.below(6) as usize] += 1;
        }
        assert!(seen.iter().all(|&count| (800..1200).contains(&count)), "{seen:?}");
    }
}
