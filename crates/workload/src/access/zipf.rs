//! Random ranks by Zipf's law: the n-th most frequent has a weight of 1/n^theta.
//!
//! Policy:
//!   1. the first ranks have a slot each. Later ranks share a slot with their neighbours; slots become wider with the
//!      rank. A few thousand slots hold all possible ranks;
//!   2. a slot is drawn with two comparisons, whatever its weight: the alias method (Walker, An efficient method for
//!      generating discrete random variables with general distributions, 1977; the table is filled as by Vose, 1991);
//!   3. in a slot, the probability falls linearly from the first rank to the last.
//!
//! Drawing takes no logarithm. The table is computed with our own logarithm, so that the numbers are the same on every
//! platform.

use alloc::vec;
use alloc::vec::Vec;

use units::Prng;

/// The number of ranks with a slot of their own, and the number of slots between a rank and twice that rank.
/// Probabilities are then off by less than 1/10,000 up to an exponent of 1, and by less than 1/1,000 up to 3 (tested
/// below).
const SINGLE: u64 = 128;
const DIVISION: u64 = 64;

/// A Zipf distribution of a number of ranks.
#[derive(Clone, Debug)]
pub(crate) struct Zipf {
    slots: Vec<Slot>,
}

/// A range of ranks that share a slot.
#[derive(Clone, Copy, Debug)]
struct Slot {
    first: u64,
    width: u64,
    /// The two slots of this entry in the alias table: a random number up to `own` (of 2^64) selects this slot, a
    /// larger one selects `other`.
    own: u64,
    other: u32,
    /// The probability (of 2^64) that a rank is drawn uniformly from the slot. Otherwise the probability of a rank
    /// falls linearly to zero.
    level: u64,
}

impl Zipf {
    /// The distribution of `ranks` ranks with the exponent `thousandths` / 1000. Panics if `ranks` is zero.
    pub(crate) fn new(ranks: u64, thousandths: u32) -> Zipf {
        assert!(ranks > 0, "a law of nothing");
        let theta = f64::from(thousandths) / 1000.0;
        let (mut slots, mut weights) = (Vec::new(), Vec::new());
        let mut first = 0;
        // 1
        while first < ranks {
            let width = if first < SINGLE { 1 } else { (first / DIVISION).min(ranks - first) };
            weights.push(weight(first, width, theta));
            slots.push(Slot { first, width, own: u64::MAX, other: 0, level: level(first, width, theta) });
            first += width;
        }
        share(&mut slots, weights);
        Zipf { slots }
    }

    /// Draws the next rank, from 0.
    #[inline]
    pub(crate) fn draw(&self, prng: &mut Prng) -> u64 {
        // 2
        let drawn = u128::from(prng.next_u64()) * self.slots.len() as u128;
        let mut slot = &self.slots[(drawn >> 64) as usize];
        if drawn as u64 > slot.own {
            slot = &self.slots[slot.other as usize];
        }
        if slot.width == 1 {
            return slot.first;
        }
        // 3
        let one = prng.below(slot.width);
        let within = if prng.next_u64() <= slot.level { one } else { one.min(prng.below(slot.width)) };
        slot.first + within
    }
}

/// The weight of all ranks in a slot: the sum by the midpoint rule with its first correction.
fn weight(first: u64, width: u64, theta: f64) -> f64 {
    let wide = width as f64;
    let middle = first as f64 + (wide + 1.0) / 2.0;
    let correction = theta * (theta + 1.0) * (wide * wide - 1.0) / (24.0 * middle * middle);
    wide * power(middle, -theta) * (1.0 + correction)
}

/// A rank is drawn either uniformly, or with a probability that falls linearly to zero. Returns the share of uniform
/// draws (of 2^64). With this share, both together fall like Zipf's law from one end of the slot to the other.
fn level(first: u64, width: u64, theta: f64) -> u64 {
    let (begin, end) = (first as f64 + 0.5, (first + width) as f64 + 0.5);
    let fall = power(end / begin, -theta);
    fraction(2.0 * fall / (1.0 + fall))
}

/// Fills the alias table: a slot below the mean weight gives the rest of its entry to a slot above the mean.
fn share(slots: &mut [Slot], mut weights: Vec<f64>) {
    let mean = weights.iter().sum::<f64>() / weights.len() as f64;
    weights.iter_mut().for_each(|weight| *weight /= mean);
    let (mut light, mut heavy): (Vec<usize>, Vec<usize>) = (vec![], vec![]);
    for (index, weight) in weights.iter().enumerate() {
        if *weight < 1.0 { light.push(index) } else { heavy.push(index) }
    }
    while let (Some(poor), Some(rich)) = (light.pop(), heavy.pop()) {
        slots[poor].own = fraction(weights[poor]);
        slots[poor].other = rich as u32;
        weights[rich] -= 1.0 - weights[poor];
        if weights[rich] < 1.0 { light.push(rich) } else { heavy.push(rich) }
    }
    // The remaining slots keep their whole entry, apart from rounding errors.
}

/// A fraction of one, scaled to 2^64.
fn fraction(part: f64) -> u64 {
    (part * (1u128 << 64) as f64) as u64
}

/// A positive number to a power, correct to about 14 digits.
fn power(base: f64, exponent: f64) -> f64 {
    exp2(exponent * log2(base))
}

const LN_2: f64 = core::f64::consts::LN_2;

/// Base-2 logarithm: the exponent of the number, plus the area tangent series of its mantissa.
fn log2(number: f64) -> f64 {
    let bits = number.to_bits();
    let exponent = (bits >> 52) as i64 - 1023;
    let mantissa = f64::from_bits(bits & ((1 << 52) - 1) | 1023 << 52);
    let part = (mantissa - 1.0) / (mantissa + 1.0);
    // `part` is at most a third, so each term is a ninth of the one before, or less.
    let (mut term, mut sum) = (part, 0.0);
    for odd in 0..18 {
        sum += term / f64::from(2 * odd + 1);
        term *= part * part;
    }
    exponent as f64 + 2.0 * sum / LN_2
}

/// Power of two: the whole part by the exponent, the rest by the exponential series.
fn exp2(exponent: f64) -> f64 {
    let whole = exponent as i64;
    if !(-1000..=1000).contains(&whole) {
        return if whole < 0 { 0.0 } else { f64::INFINITY };
    }
    let part = (exponent - whole as f64) * LN_2;
    let (mut term, mut sum) = (1.0, 0.0);
    for index in 1..20 {
        sum += term;
        term *= part / f64::from(index);
    }
    sum * f64::from_bits(((1023 + whole) as u64) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_power_function_agrees_with_the_library() {
        for base in [0.5, 1.0, 1.5, 2.0, 3.0, 1e3, 12_345.678, 1e18] {
            for exponent in [-5.0, -1.3, -0.99, -0.001, 0.0, 2.5] {
                let (ours, theirs) = (power(base, exponent), f64::powf(base, exponent));
                assert!((ours / theirs - 1.0).abs() < 1e-12, "{base}^{exponent}: {ours} {theirs}");
            }
        }
    }

    /// Compares the table with the law itself.
    #[test]
    fn every_rank_has_the_probability_of_the_zipf_law() {
        for (ranks, thousandths) in
            [(1u32, 990), (100, 500), (20_000, 200), (20_000, 990), (20_000, 1_000), (3_000, 3_000)]
        {
            let theta = f64::from(thousandths) / 1000.0;
            let law: Vec<f64> = (1..=ranks).map(|rank| f64::from(rank).powf(-theta)).collect();
            let all: f64 = law.iter().sum();
            let zipf = Zipf::new(u64::from(ranks), thousandths);
            let part = |fraction: u64| fraction as f64 / (1u128 << 64) as f64;
            let mut slots: Vec<f64> = zipf.slots.iter().map(|slot| part(slot.own)).collect();
            for slot in &zipf.slots {
                slots[slot.other as usize] += 1.0 - part(slot.own);
            }
            let mut worst: f64 = 0.0;
            for (slot, weight) in zipf.slots.iter().zip(&slots) {
                let (wide, level) = (slot.width as f64, part(slot.level));
                for within in 0..slot.width {
                    let falling = (2.0 * (wide - within as f64) - 1.0) / (wide * wide);
                    let level = if slot.width == 1 { 1.0 } else { level };
                    let chance = weight / slots.len() as f64 * (level / wide + (1.0 - level) * falling);
                    worst = worst.max((chance / (law[(slot.first + within) as usize] / all) - 1.0).abs());
                }
            }
            assert!(worst < if thousandths > 1_000 { 1e-3 } else { 1e-4 }, "{ranks} {theta}: {worst}");
        }
    }

    #[test]
    fn drawn_ranks_follow_the_zipf_law() {
        let zipf = Zipf::new(10_000, 990);
        let mut prng = Prng::new(11);
        let mut seen = vec![0u32; 10_000];
        (0..200_000).for_each(|_| seen[zipf.draw(&mut prng) as usize] += 1);
        // By the law, the first rank has 19,560 of 200,000 draws, and the first hundred have half of them.
        assert!((19_000..20_300).contains(&seen[0]), "{}", seen[0]);
        assert!((9_500..10_300).contains(&seen[1]), "{}", seen[1]);
        let hundred: u32 = seen[..100].iter().sum();
        assert!((102_000..107_000).contains(&hundred), "{hundred}");
        let last: u32 = seen[5_000..].iter().sum();
        assert!((13_500..15_500).contains(&last), "{last}");
    }

    #[test]
    fn the_table_does_not_grow_with_the_number_of_ranks() {
        let zipf = Zipf::new(1 << 50, 990);
        assert!(zipf.slots.len() < 3_000, "{}", zipf.slots.len());
        let last = zipf.slots.last().expect("a slot");
        assert_eq!(last.first + last.width, 1 << 50);
    }
}
