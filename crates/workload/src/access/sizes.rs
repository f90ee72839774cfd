//! The sizes of accesses, each with its weight.

use alloc::string::String;
use core::fmt::Write;

use units::Prng;

/// The maximum number of sizes. Our choice: the distributions in traces have a few common sizes and a tail.
pub const MOST_SIZES: usize = 16;

/// The sizes of accesses, each with its weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sizes {
    /// Bytes and weight of each size; the unused elements are zeros.
    weights: [(u32, u32); MOST_SIZES],
    count: u8,
}

impl Sizes {
    /// One size for all accesses.
    pub const fn all(bytes: u32) -> Sizes {
        let mut weights = [(0, 0); MOST_SIZES];
        weights[0] = (bytes, 1);
        Sizes { weights, count: 1 }
    }

    /// Several sizes with their percentages. `None` if the percentages do not add up to 100, if there are more than
    /// [`MOST_SIZES`], or if a size is not a multiple of the smallest.
    pub fn shared(shares: &[(u32, u32)]) -> Option<Sizes> {
        let sizes = Sizes::weighted(shares).filter(|sizes| sizes.sum() == 100)?;
        let smallest = Some(sizes.smallest()).filter(|bytes| *bytes > 0)?;
        shares.iter().all(|(bytes, _)| bytes.is_multiple_of(smallest)).then_some(sizes)
    }

    /// Several sizes with any weights. `None` if there are more than [`MOST_SIZES`].
    pub(super) fn weighted(sizes: &[(u32, u32)]) -> Option<Sizes> {
        let mut weights = [(0, 0); MOST_SIZES];
        weights.get_mut(..sizes.len())?.copy_from_slice(sizes);
        Some(Sizes { weights, count: sizes.len() as u8 })
    }

    /// Bytes and weight of each size.
    pub fn weights(&self) -> &[(u32, u32)] {
        &self.weights[..usize::from(self.count)]
    }

    /// The size, if there is only one.
    pub fn only(&self) -> Option<u32> {
        if let [(bytes, _)] = self.weights() { Some(*bytes) } else { None }
    }

    /// The smallest size.
    pub fn smallest(&self) -> u32 {
        self.bytes().min().unwrap_or_default()
    }

    /// The largest size.
    pub fn largest(&self) -> u32 {
        self.bytes().max().unwrap_or_default()
    }

    /// The form in the key of a cell: `4096:60,65536:40`.
    pub fn words(&self) -> String {
        let mut words = String::new();
        for (bytes, percent) in self.weights() {
            let comma = if words.is_empty() { "" } else { "," };
            let _ = write!(words, "{comma}{bytes}:{percent}");
        }
        words
    }

    pub(super) fn bytes(&self) -> impl Iterator<Item = u32> {
        self.weights().iter().map(|&(bytes, _)| bytes)
    }

    /// The sum of the weights.
    pub(super) fn sum(&self) -> u64 {
        self.weights().iter().map(|&(_, weight)| u64::from(weight)).sum()
    }

    /// Draws a size. `sum` is the sum of the weights.
    pub(super) fn draw(&self, sum: u64, prng: &mut Prng) -> u32 {
        let mut left = prng.below(sum);
        for &(bytes, weight) in self.weights() {
            match left.checked_sub(u64::from(weight)) {
                Some(beyond) => left = beyond,
                None => return bytes,
            }
        }
        self.largest()
    }

    /// The largest size that does not exceed `left`.
    pub(super) fn within(&self, left: u64) -> Option<u32> {
        self.bytes().filter(|bytes| u64::from(*bytes) <= left).max()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
