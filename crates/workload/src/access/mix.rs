//! A mix of accesses to one file: their sizes, their share of reads, and their locality. A mix can be typed and
//! printed, and accesses are drawn from it. This module knows no file and no clock.

use alloc::borrow::ToOwned;
use alloc::string::{String, ToString};
use core::fmt;
use core::str::FromStr;

use units::{Bytes, Prng};

use super::schedule::FASTEST;
use crate::op::{Handle, Op};

/// The maximum number of sizes in a mix. Our choice: the distributions in traces have a few common sizes and a tail.
pub const MOST_MIXED: usize = 16;

/// The largest access. Our choice: larger than the largest request to a block device on Linux.
pub const LARGEST_ACCESS: Bytes = Bytes::mib(64);

/// The distance from the end of the last access within which the next one is near it, on either side. Our choice: eight
/// blocks of 4.2BSD, which are in one cylinder of the drives of the time.
pub const NEAR: Bytes = Bytes::kib(64);

/// A whole, in the unit of shares: tenths of a percent.
pub const WHOLE: u16 = 1000;

/// The sizes, the share of reads and the locality of accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mix {
    /// Bytes and weight of each size; the unused elements are zeros.
    sizes: [(u32, u32); MOST_MIXED],
    count: u8,
    places: Locality,
    reads: u16,
    rate: Option<u32>,
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

/// An error in a mix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BadMix {
    /// Not `KEY=VALUE`.
    NotAPair(String),
    /// No such key.
    UnknownKey(String),
    /// A key or a size was given twice.
    Twice(String),
    /// Not a size and its weight, or a size that an access cannot have.
    Size(String),
    /// More sizes than a mix can hold.
    TooManySizes,
    /// Not a percentage.
    Share(String),
    /// The hot part is empty.
    NoPart(String),
    /// Hot and near add up to more than 100 %.
    TooLocal,
    /// Not a number of accesses per second.
    Rate(String),
}

impl fmt::Display for BadMix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BadMix::NotAPair(text) => write!(f, "{text:?} is not KEY=VALUE"),
            BadMix::UnknownKey(text) => write!(f, "no key {text:?}; there are sizes, reads, hot, near and rate"),
            BadMix::Twice(text) => write!(f, "{text:?} is said twice"),
            BadMix::Size(text) => write!(
                f,
                "{text:?} is not a size with a weight, as in 8KiB:40; sizes have up to {LARGEST_ACCESS}, weights are \
                 whole numbers from 1"
            ),
            BadMix::TooManySizes => write!(f, "more than {MOST_MIXED} sizes"),
            BadMix::Share(text) => write!(
                f,
                "{text:?} is not a percentage; reads and near are percent, as in 66.7, and hot=60/10 sends 60 % of the \
                 accesses to 10 % of the file"
            ),
            BadMix::NoPart(text) => {
                write!(f, "hot={text}: the hot part of the file is empty; take at least 0.1 %, as in hot=60/10")
            }
            BadMix::TooLocal => f.write_str("hot and near are more than 100 % together"),
            BadMix::Rate(text) => {
                write!(f, "{text:?} is no rate; it is a whole number of accesses a second, up to {FASTEST}")
            }
        }
    }
}

impl core::error::Error for BadMix {}

impl Mix {
    /// A mix of these sizes, each with its weight, with `reads` thousandths of reads. Returns an error if a size or a
    /// weight is zero.
    pub fn new(sizes: &[(u32, u32)], reads: u16, places: Locality) -> Result<Mix, BadMix> {
        let text = |(bytes, weight): &(u32, u32)| alloc::format!("{}:{weight}", Size(*bytes));
        let mut all = [(0, 0); MOST_MIXED];
        if sizes.is_empty() {
            return Err(BadMix::Size(String::new()));
        }
        if sizes.len() > MOST_MIXED {
            return Err(BadMix::TooManySizes);
        }
        for (index, size) in sizes.iter().enumerate() {
            if size.0 == 0 || u64::from(size.0) > LARGEST_ACCESS.0 || size.1 == 0 {
                return Err(BadMix::Size(text(size)));
            }
            if sizes[..index].iter().any(|before| before.0 == size.0) {
                return Err(BadMix::Twice(text(size)));
            }
            all[index] = *size;
        }
        let is_share = |share: u16| share <= WHOLE;
        if !is_share(reads) {
            return Err(BadMix::Share(Percent(reads).to_string()));
        }
        let Locality { hot, part, near } = places;
        if !is_share(hot) || !is_share(near) || hot + near > WHOLE {
            return Err(BadMix::TooLocal);
        }
        if hot > 0 && (part == 0 || part > WHOLE) {
            return Err(BadMix::Share(alloc::format!("{}/{}", Percent(hot), Percent(part))));
        }
        let part = if hot == 0 { 0 } else { part };
        Ok(Mix { sizes: all, count: sizes.len() as u8, places: Locality { part, ..places }, reads, rate: None })
    }

    /// Sets the rate, in accesses per second, if there is to be a schedule.
    pub fn at_rate(self, rate: Option<u32>) -> Mix {
        Mix { rate, ..self }
    }

    /// Bytes and weight of each size.
    pub fn sizes(&self) -> &[(u32, u32)] {
        &self.sizes[..usize::from(self.count)]
    }

    /// The locality of the accesses.
    pub fn places(&self) -> Locality {
        self.places
    }

    /// The share of reads, in thousandths.
    pub fn reads(&self) -> u16 {
        self.reads
    }

    /// The rate in accesses per second, if a schedule is requested.
    pub fn rate(&self) -> Option<u32> {
        self.rate
    }

    /// The bytes of the largest access. The file must be at least this large.
    pub fn largest(&self) -> u32 {
        self.sizes().iter().map(|&(bytes, _)| bytes).max().unwrap_or(0)
    }

    /// Returns whether the mix has writes.
    pub fn writes(&self) -> bool {
        self.reads < WHOLE
    }

    /// A length that represents all writes, for callers that need to know whether calls aligned to their own size cut
    /// through pages. It is a length that does, or else the shortest. `None` if the mix has no writes.
    pub(crate) fn cuts(&self) -> Option<u32> {
        let lengths = || self.sizes().iter().map(|&(bytes, _)| bytes);
        let crooked = lengths().find(|length| !length.is_power_of_two() && !length.is_multiple_of(PAGE));
        self.writes().then(|| crooked.or_else(|| lengths().min())).flatten()
    }
}

/// The smallest page size on Linux, in bytes.
const PAGE: u32 = 4096;

/// A size as the user types it: `512B`, `8KiB`.
struct Size(u32);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            mib if mib > 0 && mib.is_multiple_of(1 << 20) => write!(f, "{}MiB", mib >> 20),
            kib if kib > 0 && kib.is_multiple_of(1 << 10) => write!(f, "{}KiB", kib >> 10),
            bytes => write!(f, "{bytes}B"),
        }
    }
}

/// Thousandths as percent: `67`, `66.7`.
struct Percent(u16);

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 % 10 {
            0 => write!(f, "{}", self.0 / 10),
            tenths => write!(f, "{}.{tenths}", self.0 / 10),
        }
    }
}

/// Parses percent into thousandths.
fn share(text: &str) -> Option<u16> {
    let (whole, tenths) = text.split_once('.').unwrap_or((text, "0"));
    let number = |digits: &str, most: usize| {
        let is_number = (1..=most).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| digits.parse::<u16>().ok()).flatten()
    };
    Some(number(whole, 3)? * 10 + number(tenths, 1)?).filter(|&share| share <= WHOLE)
}

/// The form that the user types: `sizes=512B:10+8KiB:40,reads=66.7,hot=60/10,near=20,rate=50`.
impl fmt::Display for Mix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("sizes=")?;
        for (index, &(bytes, weight)) in self.sizes().iter().enumerate() {
            write!(f, "{}{}:{weight}", if index > 0 { "+" } else { "" }, Size(bytes))?;
        }
        write!(f, ",reads={}", Percent(self.reads))?;
        let Locality { hot, part, near } = self.places;
        if hot > 0 {
            write!(f, ",hot={}/{}", Percent(hot), Percent(part))?;
        }
        if near > 0 {
            write!(f, ",near={}", Percent(near))?;
        }
        self.rate.map_or(Ok(()), |rate| write!(f, ",rate={rate}"))
    }
}

/// Omitted keys have the values of the default mix, except for the locality, which is uniform.
impl FromStr for Mix {
    type Err = BadMix;

    fn from_str(text: &str) -> Result<Mix, BadMix> {
        let usual = Mix::default();
        let (mut sizes, mut count) = (usual.sizes, usize::from(usual.count));
        let (mut reads, mut places, mut rate) = (usual.reads, Locality::default(), None);
        let mut seen: [&str; 5] = [""; 5];
        for (index, pair) in text.split(',').enumerate() {
            let (key, value) = pair.split_once('=').ok_or_else(|| BadMix::NotAPair(pair.to_owned()))?;
            if seen.contains(&key) {
                return Err(BadMix::Twice(key.to_owned()));
            }
            let bad_share = || BadMix::Share(value.to_owned());
            match key {
                "sizes" => (sizes, count) = read_sizes(value)?,
                "reads" => reads = share(value).ok_or_else(bad_share)?,
                "near" => places.near = share(value).ok_or_else(bad_share)?,
                "hot" => {
                    let (hot, part) = value.split_once('/').ok_or_else(bad_share)?;
                    (places.hot, places.part) = share(hot).zip(share(part)).ok_or_else(bad_share)?;
                    if places.part == 0 {
                        return Err(BadMix::NoPart(value.to_owned()));
                    }
                }
                "rate" => {
                    let number = value.parse().ok().filter(|rate| (1..=FASTEST).contains(rate));
                    rate = Some(number.ok_or_else(|| BadMix::Rate(value.to_owned()))?);
                }
                _ => return Err(BadMix::UnknownKey(key.to_owned())),
            }
            // There are only five keys, so `index` is in range unless an error follows.
            if let Some(place) = seen.get_mut(index) {
                *place = key;
            }
        }
        Ok(Mix::new(&sizes[..count], reads, places)?.at_rate(rate))
    }
}

type Weights = ([(u32, u32); MOST_MIXED], usize);

fn read_sizes(text: &str) -> Result<Weights, BadMix> {
    let mut sizes = [(0, 0); MOST_MIXED];
    let mut count = 0;
    for one in text.split('+') {
        let bad = || BadMix::Size(one.to_owned());
        let (bytes, weight) = one.split_once(':').ok_or_else(bad)?;
        let bytes = bytes.parse::<Bytes>().ok().filter(|bytes| *bytes <= LARGEST_ACCESS).ok_or_else(bad)?;
        let weight = weight.parse().ok().filter(|weight| *weight > 0).ok_or_else(bad)?;
        *sizes.get_mut(count).ok_or(BadMix::TooManySizes)? = (bytes.0 as u32, weight);
        count += 1;
    }
    Ok((sizes, count))
}

/// The default mix. All values are our choice, because the paper prints no parameter of its "vax mix".
///
/// Sizes: fragments and blocks of the 8K/1K file system. Small ones are frequent, because most files were small: in the
/// traces of Ousterhout et al. 1985, "A Trace-Driven Analysis of the UNIX 4.2 BSD File System", most accesses are to
/// files of a few Kbytes. A tenth has 512 bytes, the block of VMS. Reads: two of three, because about a third of the
/// block accesses in those traces were writes. Both are cited from memory, and only for their order of magnitude.
/// Places: uniform, as in the "vax mix" (Kridle & McKusick 1983, section 3).
impl Default for Mix {
    fn default() -> Mix {
        let sizes = [(512, 10), (1024, 20), (2048, 10), (4096, 20), (8192, 40)];
        Mix::new(&sizes, 667, Locality::default()).expect("the default is a mix")
    }
}

impl Mix {
    /// The default mix with "strong locality characteristics". The paper (section 3) believes that real systems have
    /// them, and gives no figure. Our choice: of ten accesses, six go to a tenth of the file, and two near the access
    /// before.
    pub fn local() -> Mix {
        Mix { places: Locality { hot: 600, part: 100, near: 200 }, ..Mix::default() }
    }
}

/// An iterator over accesses drawn from a mix.
#[derive(Clone, Debug)]
pub struct Mixing {
    mix: Mix,
    handle: Handle,
    /// The size of the file.
    bytes: u64,
    /// The sum of the sizes' weights.
    weights: u64,
    prng: Prng,
    left: u64,
    /// The end of the last access.
    end: u64,
}

impl Mixing {
    /// Draws `accesses` accesses to an open file of `bytes` bytes. Panics if the largest size exceeds the file.
    pub fn new(mix: Mix, handle: Handle, bytes: u64, accesses: u64, seed: u64) -> Mixing {
        assert!(u64::from(mix.largest()) <= bytes, "a file of {bytes} bytes has no access of {}", mix.largest());
        let weights = mix.sizes().iter().map(|&(_, weight)| u64::from(weight)).sum();
        Mixing { mix, handle, bytes, weights, prng: Prng::new(seed), left: accesses, end: 0 }
    }

    /// The mix.
    pub(crate) fn mix(&self) -> &Mix {
        &self.mix
    }

    /// The size of the file in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Reseeds for the round after `rounds` others.
    pub(crate) fn skip_rounds(&mut self, rounds: u32) {
        for _ in 0..rounds {
            self.prng = Prng::new(self.prng.next_u64());
        }
    }

    /// Reseeds for accessor `salt` of several, so that they access different places.
    pub(crate) fn reseed(&mut self, salt: u64) {
        self.prng = Prng::new(self.prng.next_u64() ^ salt);
    }

    /// Draws the next access:
    ///   1. its size, by the weights;
    ///   2. its place: near the last access, in the hot part, or anywhere. The place is inside the file and aligned to
    ///      the largest power of two that divides the size, like blocks and fragments;
    ///   3. read or write.
    pub(crate) fn next(&mut self) -> Option<Op> {
        self.left = self.left.checked_sub(1)?;
        // 1.
        let mut drawn = self.prng.below(self.weights);
        let mut length = 0;
        for &(bytes, weight) in self.mix.sizes() {
            length = bytes;
            match drawn.checked_sub(u64::from(weight)) {
                Some(rest) => drawn = rest,
                None => break,
            }
        }
        // 2.
        let step = 1_u64 << length.trailing_zeros();
        let places = (self.bytes - u64::from(length)) / step + 1;
        let Locality { hot, part, near } = self.mix.places;
        let drawn = self.prng.below(u64::from(WHOLE)) as u16;
        let place = if drawn < near {
            let (here, reach) = (self.end / step, NEAR.0 / step);
            let first = here.saturating_sub(reach).min(places - 1);
            let last = (here + reach).min(places - 1);
            first + self.prng.below(last - first + 1)
        } else if drawn < near + hot {
            self.prng.below(((u128::from(places) * u128::from(part)) / u128::from(WHOLE)).max(1) as u64)
        } else {
            self.prng.below(places)
        };
        let (handle, offset) = (self.handle, place * step);
        self.end = offset + u64::from(length);
        // 3.
        let reads = self.prng.below(u64::from(WHOLE)) < u64::from(self.mix.reads);
        Some(if reads { Op::ReadAt { handle, length, offset } } else { Op::WriteAt { handle, length, offset } })
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use proptest::prelude::*;

    use super::*;

    /// Offset, length, and true for a read.
    fn drawn(mix: Mix, bytes: u64, count: u64, seed: u64) -> Vec<(u64, u32, bool)> {
        let mut mixing = Mixing::new(mix, Handle::new(0), bytes, count, seed);
        core::iter::from_fn(|| mixing.next())
            .map(|op| match op {
                Op::ReadAt { offset, length, .. } => (offset, length, true),
                Op::WriteAt { offset, length, .. } => (offset, length, false),
                other => panic!("no access: {other}"),
            })
            .collect()
    }

    fn mixes() -> impl Strategy<Value = Mix> {
        let sizes = prop::collection::btree_map(1u32..=(1 << 20), 1u32..=u32::MAX, 1..=MOST_MIXED);
        let places = (0u16..=WHOLE, 1u16..=WHOLE, 0u16..=WHOLE);
        (sizes, 0u16..=WHOLE, places, prop::option::of(1u32..=FASTEST)).prop_map(|(sizes, reads, places, rate)| {
            let (hot, part, near) = places;
            let places = Locality { hot, part, near: near.min(WHOLE - hot) };
            Mix::new(&sizes.into_iter().collect::<Vec<_>>(), reads, places).expect("a mix").at_rate(rate)
        })
    }

    proptest! {
        #[test]
        fn printed_mixes_are_read_back(mix in mixes()) {
            prop_assert_eq!(mix.to_string().parse::<Mix>(), Ok(mix));
        }

        #[test]
        fn accesses_are_aligned_and_inside_the_file(mix in mixes(), more in 0u64..1_000_000, seed: u64) {
            let bytes = u64::from(mix.largest()) + more;
            for (offset, length, _) in drawn(mix, bytes, 50, seed) {
                prop_assert!(mix.sizes().iter().any(|size| size.0 == length));
                prop_assert!(offset + u64::from(length) <= bytes);
                prop_assert!(offset.is_multiple_of(1 << length.trailing_zeros()));
            }
        }
    }

    #[test]
    fn accesses_depend_on_seed_and_round() {
        let all = |seed| drawn(Mix::local(), 1 << 20, 100, seed);
        assert_eq!(all(7), all(7));
        assert_ne!(all(7), all(8));
        let round = |rounds| {
            let mut mixing = Mixing::new(Mix::default(), Handle::new(0), 1 << 20, 100, 7);
            mixing.skip_rounds(rounds);
            core::iter::from_fn(|| mixing.next()).collect::<Vec<Op>>()
        };
        assert!(round(0) != round(1) && round(1) != round(2));
    }

    #[test]
    fn shares_of_accesses_are_as_requested() {
        const COUNT: u64 = 20_000;
        let bytes = 256 << 20;
        let is_about = |count: usize, permille: u64| {
            assert!(count.abs_diff((permille * COUNT / 1000) as usize) < 400, "{count} for {permille} of 1000");
        };
        let all = drawn(Mix::local(), bytes, COUNT, 3);
        is_about(all.iter().filter(|access| access.2).count(), 667);
        is_about(all.iter().filter(|access| access.1 == 8192).count(), 400);
        is_about(all.iter().filter(|access| access.1 == 512).count(), 100);
        let near = |pair: &[(u64, u32, bool)]| (pair[0].0 + u64::from(pair[0].1)).abs_diff(pair[1].0) <= NEAR.0;
        is_about(all.windows(2).filter(|pair| near(pair)).count(), 200);
        let far: Vec<_> = all.windows(2).filter(|pair| !near(pair)).map(|pair| pair[1]).collect();
        // The hot six tenths, and a tenth of the two tenths that are uniform.
        is_about(far.iter().filter(|access| access.0 < bytes / 10).count(), 620);
        let uniform = drawn(Mix::default(), bytes, COUNT, 3);
        is_about(uniform.iter().filter(|access| access.0 < bytes / 10).count(), 100);
    }

    #[test]
    fn invalid_mixes_are_refused_with_a_reason() {
        let why = |text: &str| text.parse::<Mix>().expect_err(text);
        assert_eq!(why(""), BadMix::NotAPair(String::new()));
        assert_eq!(why("size=8KiB:1"), BadMix::UnknownKey("size".to_owned()));
        assert_eq!(why("reads=1,reads=1"), BadMix::Twice("reads".to_owned()));
        for bad in ["8KiB", "8KiB:0", "0:1", "8KiB:-1", "65MiB:1", "8kb:1", "8KiB:1.5", "8KiB:4294967296"] {
            assert_eq!(why(&["sizes=", bad].concat()), BadMix::Size(bad.to_owned()));
        }
        assert_eq!(why("sizes=8KiB:1+8KiB:2"), BadMix::Twice("8KiB:2".to_owned()));
        let many: Vec<String> = (1..=17).map(|kib| alloc::format!("{kib}KiB:1")).collect();
        assert_eq!(why(&alloc::format!("sizes={}", many.join("+"))), BadMix::TooManySizes);
        for bad in ["101", "-1", "66.66", "1000", "", ".", "1e1", "99999"] {
            assert_eq!(why(&["reads=", bad].concat()), BadMix::Share(bad.to_owned()));
        }
        assert_eq!(why("hot=60"), BadMix::Share("60".to_owned()));
        assert_eq!(why("hot=60/0"), BadMix::NoPart("60/0".to_owned()));
        assert_eq!(why("hot=0/0"), BadMix::NoPart("0/0".to_owned()));
        assert_eq!(why("hot=60/10,near=41"), BadMix::TooLocal);
        for bad in ["0", "10000001", "1.5", "x"] {
            assert_eq!(why(&["rate=", bad].concat()), BadMix::Rate(bad.to_owned()));
        }
    }

    #[test]
    #[should_panic(expected = "has no access of 8192")]
    fn too_small_files_are_refused() {
        Mixing::new(Mix::default(), Handle::new(0), 4096, 1, 1);
    }
}
