//! A mix of accesses to one file: their sizes, their share of reads, and their locality. A mix can be typed and
//! printed. [`Mix::pattern`] is the pattern of its accesses.

use alloc::borrow::ToOwned;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use units::Bytes;

use super::order::{Locality, Order, WHOLE};
use super::pattern::AccessPattern;
use super::schedule::FASTEST;
use super::sizes::{MOST_SIZES, Sizes};

/// The largest access. Our choice: larger than the largest request to a block device on Linux.
pub const LARGEST_ACCESS: Bytes = Bytes::mib(64);

/// The sizes, the share of reads and the locality of accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mix {
    sizes: Sizes,
    places: Locality,
    reads: u16,
    rate: Option<u32>,
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
            BadMix::TooManySizes => write!(f, "more than {MOST_SIZES} sizes"),
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
        if sizes.is_empty() {
            return Err(BadMix::Size(String::new()));
        }
        let all = Sizes::weighted(sizes).ok_or(BadMix::TooManySizes)?;
        for (index, size) in sizes.iter().enumerate() {
            if size.0 == 0 || u64::from(size.0) > LARGEST_ACCESS.0 || size.1 == 0 {
                return Err(BadMix::Size(text(size)));
            }
            if sizes[..index].iter().any(|before| before.0 == size.0) {
                return Err(BadMix::Twice(text(size)));
            }
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
        Ok(Mix { sizes: all, places: Locality { part, ..places }, reads, rate: None })
    }

    /// Sets the rate, in accesses per second, if there is to be a schedule.
    pub fn at_rate(self, rate: Option<u32>) -> Mix {
        Mix { rate, ..self }
    }

    /// Bytes and weight of each size.
    pub fn sizes(&self) -> &[(u32, u32)] {
        self.sizes.weights()
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
        self.sizes.largest()
    }

    /// Returns whether the mix has writes.
    pub fn writes(&self) -> bool {
        self.reads < WHOLE
    }

    /// The pattern of the accesses.
    pub fn pattern(&self) -> AccessPattern {
        AccessPattern { order: Order::Local(self.places), sizes: self.sizes, reads: self.reads }
    }
}

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
        let mut sizes = usual.sizes().to_vec();
        let (mut reads, mut places, mut rate) = (usual.reads, Locality::default(), None);
        let mut seen: [&str; 5] = [""; 5];
        for (index, pair) in text.split(',').enumerate() {
            let (key, value) = pair.split_once('=').ok_or_else(|| BadMix::NotAPair(pair.to_owned()))?;
            if seen.contains(&key) {
                return Err(BadMix::Twice(key.to_owned()));
            }
            let bad_share = || BadMix::Share(value.to_owned());
            match key {
                "sizes" => sizes = read_sizes(value)?,
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
        Ok(Mix::new(&sizes, reads, places)?.at_rate(rate))
    }
}

fn read_sizes(text: &str) -> Result<Vec<(u32, u32)>, BadMix> {
    let read = |one: &str| {
        let bad = || BadMix::Size(one.to_owned());
        let (bytes, weight) = one.split_once(':').ok_or_else(bad)?;
        let bytes = bytes.parse::<Bytes>().ok().filter(|bytes| *bytes <= LARGEST_ACCESS).ok_or_else(bad)?;
        let weight = weight.parse().ok().filter(|weight| *weight > 0).ok_or_else(bad)?;
        Ok((bytes.0 as u32, weight))
    };
    text.split('+').map(read).collect()
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::access::order::NEAR;
    use crate::op::Handle;

    /// Offset, length, and true for a read.
    fn drawn(mix: Mix, bytes: u64, count: u64, seed: u64) -> Vec<(u64, u32, bool)> {
        let accesses = mix.pattern().accesses(Handle::new(0), bytes, count, seed);
        accesses.map(|io| (io.offset, io.length, !io.write)).collect()
    }

    fn mixes() -> impl Strategy<Value = Mix> {
        let sizes = prop::collection::btree_map(1u32..=(1 << 20), 1u32..=u32::MAX, 1..=MOST_SIZES);
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
            let mut accesses = Mix::default().pattern().accesses(Handle::new(0), 1 << 20, 100, 7);
            (0..rounds).for_each(|_| accesses.reseed(0, false));
            accesses.collect::<Vec<_>>()
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
}
