//! The order in which the blocks of a file are accessed.

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use units::{Bytes, Prng};

use super::feistel::Feistel;
use super::sizes::Sizes;
use super::zipf::Zipf;

/// The distance from the end of the last access within which the next one is near it, on either side. Our choice: eight
/// blocks of 4.2BSD, which are in one cylinder of the drives of the time.
pub const NEAR: Bytes = Bytes::kib(64);

/// The whole, 100 %: shares are in tenths of a percent.
pub const WHOLE: u16 = 1000;

/// The order of accesses to a file. A block has the smallest size of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// From the beginning of the file to its end.
    Sequential,
    /// Every `blocks`-th block to the end of the file, then again from the second block, and so on, until each block
    /// was accessed once.
    Strided {
        /// The distance in blocks.
        blocks: u64,
    },
    /// Random, without an end.
    Drawn(Drawing),
    /// Every block once, in random order. A list in memory holds the order, so that a file has fewer than 2^32 blocks.
    Shuffled,
    /// Every block once, this number of blocks apart, around the end of the file. If that would miss blocks, the
    /// distance is the next larger one that misses none. Kept as a list in memory.
    Around(u32),
    /// Partly in one part of the file, partly near the last access.
    Local(Locality),
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

/// The largest exponent of Zipf's law, in thousandths. Chosen: with 5, one block gets 96 % of the operations.
pub const STEEPEST: u32 = 5_000;

/// The form that the user types: `replacement`, `permutation`, `zipf:0.99`.
impl fmt::Display for Drawing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Drawing::Replacement => f.write_str("replacement"),
            Drawing::Permutation => f.write_str("permutation"),
            Drawing::Zipf { thousandths } => write!(f, "zipf:{}", Thousandths(*thousandths)),
        }
    }
}

impl FromStr for Drawing {
    type Err = String;

    fn from_str(text: &str) -> Result<Drawing, String> {
        match (text, text.strip_prefix("zipf:")) {
            ("replacement", _) => Ok(Drawing::Replacement),
            ("permutation", _) => Ok(Drawing::Permutation),
            (_, Some(theta)) => match thousandths(theta) {
                Some(thousandths) => Ok(Drawing::Zipf { thousandths }),
                None => Err(format!("{theta:?} is not an exponent; write at most three decimals, as in zipf:0.99")),
            },
            _ => Err("not an order; write replacement, permutation, or zipf:THETA as in zipf:0.99".to_owned()),
        }
    }
}

/// A number with at most three decimals, in thousandths.
fn thousandths(text: &str) -> Option<u32> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let is_number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || decimals.len() > 3 || !is_number(whole) || !is_number(decimals) {
        return None;
    }
    whole.parse::<u32>().ok()?.checked_mul(1000)?.checked_add(format!("{decimals:0<3}").parse().ok()?)
}

/// The distribution of accesses over the file. Accesses that are neither hot nor near are uniform.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Locality {
    /// The share of accesses to the hot part, in thousandths.
    pub hot: u16,
    /// The size of the hot part, at the beginning of the file, in thousandths of the file.
    pub part: u16,
    /// The share of accesses within [`NEAR`] of the end of the access before, in thousandths.
    pub near: u16,
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

/// The file as an order sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    /// Bytes of the file.
    pub(super) bytes: u64,
    /// Bytes of a block.
    pub(super) block: u32,
    /// The number of whole blocks.
    pub(super) blocks: u64,
}

/// The state from which the next place follows.
#[derive(Clone, Debug)]
pub(super) enum OrderState {
    Sequential { next: u64 },
    Strided { next: u64, lane: u64, stride: u64 },
    Replacement,
    Permutation { feistel: Box<Feistel>, next: u64 },
    Zipf(Box<(Zipf, Feistel)>),
    Listed(vec::IntoIter<u32>),
    Local { locality: Locality, end: u64 },
}

impl Order {
    /// The state before the first of at most `count` accesses. Panics if a stride is zero, or if a list has 2^32 blocks
    /// or more.
    pub(super) fn state(self, extent: Extent, count: u64, prng: &mut Prng) -> OrderState {
        let blocks = extent.blocks;
        let list = || u32::try_from(blocks).expect("fewer than 2^32 blocks");
        match self {
            Order::Sequential => OrderState::Sequential { next: 0 },
            Order::Strided { blocks: stride } => {
                assert!(stride > 0, "a stride of nothing");
                OrderState::Strided { next: 0, lane: 0, stride }
            }
            Order::Drawn(Drawing::Replacement) => OrderState::Replacement,
            Order::Drawn(Drawing::Permutation) => {
                OrderState::Permutation { feistel: Box::new(Feistel::new(blocks, prng)), next: 0 }
            }
            Order::Drawn(Drawing::Zipf { thousandths }) => {
                OrderState::Zipf(Box::new((Zipf::new(blocks, thousandths), Feistel::new(blocks, prng))))
            }
            Order::Shuffled => {
                let mut all: Vec<u32> = (0..list()).collect();
                prng.shuffle(&mut all);
                all.truncate(usize::try_from(count).unwrap_or(usize::MAX));
                OrderState::Listed(all.into_iter())
            }
            Order::Around(stride) => {
                let stride = u64::from(coprime(stride, list()));
                let all = (0..count.min(blocks)).map(|index| (index * stride % blocks) as u32);
                OrderState::Listed(all.collect::<Vec<u32>>().into_iter())
            }
            Order::Local(locality) => OrderState::Local { locality, end: 0 },
        }
    }
}

impl OrderState {
    /// Returns whether some bytes may be accessed more than once.
    pub(super) fn touches_again(&self) -> bool {
        match self {
            OrderState::Replacement
            | OrderState::Permutation { .. }
            | OrderState::Zipf(_)
            | OrderState::Local { .. } => true,
            OrderState::Sequential { .. } | OrderState::Strided { .. } | OrderState::Listed(_) => false,
        }
    }

    /// Returns whether the places have no order on which a drive or the kernel could read ahead.
    pub(super) fn is_random(&self) -> bool {
        match self {
            OrderState::Sequential { .. } | OrderState::Strided { .. } => false,
            OrderState::Replacement
            | OrderState::Permutation { .. }
            | OrderState::Zipf(_)
            | OrderState::Listed(_)
            | OrderState::Local { .. } => true,
        }
    }

    /// Draws again the permutations that were drawn at the start. `keeps_hot` keeps the frequent blocks of Zipf's law.
    pub(super) fn reseed(&mut self, keeps_hot: bool, prng: &mut Prng) {
        match self {
            OrderState::Permutation { feistel, .. } => **feistel = Feistel::new(feistel.count(), prng),
            OrderState::Zipf(zipf) if !keeps_hot => zipf.1 = Feistel::new(zipf.1.count(), prng),
            OrderState::Zipf(_)
            | OrderState::Sequential { .. }
            | OrderState::Strided { .. }
            | OrderState::Replacement
            | OrderState::Listed(_)
            | OrderState::Local { .. } => {}
        }
    }

    /// Returns the offset and the length of the next access. `length` is the drawn length. At the end of a sequential
    /// order, the returned length may be shorter: the largest of `sizes` that fits.
    pub(super) fn place(
        &mut self,
        length: u32,
        sizes: Option<&Sizes>,
        extent: Extent,
        prng: &mut Prng,
    ) -> Option<(u64, u32)> {
        let Extent { bytes, block, blocks } = extent;
        let (long, short) = (u64::from(length), u64::from(block));
        let offset = match self {
            OrderState::Sequential { next } => return sequential(next, length, sizes, bytes),
            OrderState::Strided { next, lane, stride } => strided(next, lane, *stride, blocks)? * short,
            OrderState::Replacement if length == block => prng.below(blocks) * short,
            OrderState::Replacement => prng.below(bytes / long) * long,
            OrderState::Permutation { feistel, next } => {
                if *next == feistel.count() {
                    **feistel = Feistel::new(*next, prng);
                    *next = 0;
                }
                *next += 1;
                feistel.permute(*next - 1) * short
            }
            OrderState::Zipf(zipf) => {
                let place = zipf.1.permute(zipf.0.draw(prng)) * short;
                if length == block { place } else { around(place, long, bytes) }
            }
            OrderState::Listed(blocks) => u64::from(blocks.next()?) * short,
            OrderState::Local { locality, end } => {
                let offset = locality.place(*end, length, bytes, prng);
                *end = offset + long;
                offset
            }
        };
        Some((offset, length))
    }
}

fn sequential(next: &mut u64, mut length: u32, sizes: Option<&Sizes>, bytes: u64) -> Option<(u64, u32)> {
    let left = bytes - *next;
    if u64::from(length) > left {
        length = sizes?.within(left)?;
    }
    *next += u64::from(length);
    Some((*next - u64::from(length), length))
}

/// The number of the next block.
fn strided(next: &mut u64, lane: &mut u64, stride: u64, blocks: u64) -> Option<u64> {
    if *next >= blocks {
        *lane += 1;
        *next = *lane;
    }
    if *lane >= stride.min(blocks) {
        return None;
    }
    *next += stride;
    Some(*next - stride)
}

/// The offset of the block of this length that contains `place`. If the file ends within that block, the offset of the
/// last whole block.
fn around(place: u64, length: u64, bytes: u64) -> u64 {
    (place / length).min(bytes / length - 1) * length
}

impl Locality {
    /// The offset of an access: near `end`, in the hot part, or anywhere. It is inside the file and aligned to the
    /// largest power of two that divides the length, like blocks and fragments.
    fn place(self, end: u64, length: u32, bytes: u64, prng: &mut Prng) -> u64 {
        let step = 1_u64 << length.trailing_zeros();
        let places = (bytes - u64::from(length)) / step + 1;
        let Locality { hot, part, near } = self;
        let drawn = prng.below(u64::from(WHOLE)) as u16;
        let place = if drawn < near {
            let (here, reach) = (end / step, NEAR.0 / step);
            let first = here.saturating_sub(reach).min(places - 1);
            let last = (here + reach).min(places - 1);
            first + prng.below(last - first + 1)
        } else if drawn < near + hot {
            prng.below(((u128::from(places) * u128::from(part)) / u128::from(WHOLE)).max(1) as u64)
        } else {
            prng.below(places)
        };
        place * step
    }
}

/// The smallest stride from `stride` on that is coprime to the number of blocks, so that every block is accessed once.
fn coprime(stride: u32, blocks: u32) -> u32 {
    let divisor = |mut a: u32, mut b: u32| {
        while b != 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    // Strides that are congruent modulo `blocks` visit the same blocks.
    (stride.checked_rem(blocks).unwrap_or(0).max(1)..).find(|&candidate| divisor(candidate, blocks) == 1).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousandths_are_printed_as_decimals() {
        for (thousandths, words) in [(990, "0.99"), (1_000, "1"), (1_005, "1.005"), (200, "0.2"), (0, "0")] {
            assert_eq!(format!("{}", Thousandths(thousandths)), words);
        }
    }
}
