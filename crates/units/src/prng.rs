//! Random numbers that are the same on every platform and in both worlds: xoshiro256++ (Blackman and
//! Vigna, 2019), its state filled by SplitMix64 from one 64-bit seed, as its authors advise.

/// A seeded generator. The same seed gives the same numbers, for ever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prng {
    state: [u64; 4],
}

impl Prng {
    /// The generator of this seed.
    pub fn new(seed: u64) -> Prng {
        let mut state = [0; 4];
        let mut counter = seed;
        for word in &mut state {
            counter = counter.wrapping_add(0x9e37_79b9_7f4a_7c15);
            *word = mix(counter);
        }
        Prng { state }
    }

    /// The next 64 random bits.
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

    /// A number below `bound`, each as likely as the other but for one part in 2^64 / `bound`: the high
    /// word of a product, which costs no division. Panics where the bound is zero.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "no number lies below zero");
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// Puts the items into a random order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let chosen = self.below(last as u64 + 1) as usize;
            items.swap(last, chosen);
        }
    }
}

/// SplitMix64's output function: spreads every bit of the input over all bits of the output.
fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    /// The reference implementation's first outputs for the state 1, 2, 3, 4 (as also published in the
    /// tests of the rand_xoshiro crate).
    #[test]
    fn agrees_with_the_reference() {
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
