//! A mix of accesses to one file: how large they are, how many of them read, and where they fall. A description that
//! can be typed and printed, and the accesses drawn from it. Knows no file and no clock.

use alloc::borrow::ToOwned;
use alloc::string::{String, ToString};
use core::fmt;
use core::str::FromStr;

use units::{Bytes, Prng};

use super::schedule::FASTEST;
use crate::op::{Handle, Op};

/// The most sizes of a mix. Ours: the distributions of traces have a few common sizes and a tail.
pub const MOST_MIXED: usize = 16;

/// The largest access: ours, more than one request to a block device has on Linux.
pub const LARGEST_ACCESS: Bytes = Bytes::mib(64);

/// How far from the end of the last access the next is still near it, on either side. Ours: eight blocks of 4.2BSD,
/// which lie in one cylinder of the drives of the time.
pub const NEAR: Bytes = Bytes::kib(64);

/// All of something, in the parts that shares are counted in: tenths of a percent.
pub const WHOLE: u16 = 1000;

/// How large accesses are, how many of them read, and where they fall.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mix {
    /// Bytes and weight of each size; behind the last, zeros.
    sizes: [(u32, u32); MOST_MIXED],
    count: u8,
    places: Locality,
    reads: u16,
    rate: Option<u32>,
}

/// Where accesses fall. What is neither hot nor near falls anywhere, each place as likely as another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Locality {
    /// The share that falls into the hot part, in thousandths.
    pub hot: u16,
    /// How much of the file the hot part is, from its beginning, in thousandths.
    pub part: u16,
    /// The share that falls within [`NEAR`] of the end of the access before, in thousandths.
    pub near: u16,
}

/// What is wrong with a mix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BadMix {
    /// Not `KEY=VALUE`.
    NotAPair(String),
    /// No such key.
    UnknownKey(String),
    /// Said twice.
    Twice(String),
    /// Not a size and its weight, or not one that an access can have.
    Size(String),
    /// More of them than a mix has.
    TooManySizes,
    /// Not a share of a hundred.
    Share(String),
    /// A hot part of nothing.
    NoPart(String),
    /// Hot and near are more than all.
    TooLocal,
    /// Not a number of accesses in a second.
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
    /// Accesses of these sizes, each as likely as its weight says, of which so many thousandths are reads. Weights and
    /// sizes are not zero.
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

    /// The same, so many of which begin in a second, where a schedule is asked for.
    pub fn at_rate(self, rate: Option<u32>) -> Mix {
        Mix { rate, ..self }
    }

    /// Bytes and weight of each size.
    pub fn sizes(&self) -> &[(u32, u32)] {
        &self.sizes[..usize::from(self.count)]
    }

    /// Where they fall.
    pub fn places(&self) -> Locality {
        self.places
    }

    /// How many of a thousand are reads.
    pub fn reads(&self) -> u16 {
        self.reads
    }

    /// How many begin in a second, where a schedule is asked for.
    pub fn rate(&self) -> Option<u32> {
        self.rate
    }

    /// The bytes of the largest access: a file has at least as many.
    pub fn largest(&self) -> u32 {
        self.sizes().iter().map(|&(bytes, _)| bytes).max().unwrap_or(0)
    }

    /// Whether there are writes among them.
    pub fn writes(&self) -> bool {
        self.reads < WHOLE
    }

    /// One length that stands for those of all writes, where it matters whether calls that begin at their own multiples
    /// cut through pages: one that does, else the shortest.
    pub(crate) fn cuts(&self) -> Option<u32> {
        let lengths = || self.sizes().iter().map(|&(bytes, _)| bytes);
        let crooked = lengths().find(|length| !length.is_power_of_two() && !length.is_multiple_of(PAGE));
        self.writes().then(|| crooked.or_else(|| lengths().min())).flatten()
    }
}

/// Bytes of a page of memory, the smallest there is on Linux.
const PAGE: u32 = 4096;

/// A size as it is typed: `512B`, `8KiB`.
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

/// Percent as thousandths.
fn share(text: &str) -> Option<u16> {
    let (whole, tenths) = text.split_once('.').unwrap_or((text, "0"));
    let number = |digits: &str, most: usize| {
        let is_number = (1..=most).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| digits.parse::<u16>().ok()).flatten()
    };
    Some(number(whole, 3)? * 10 + number(tenths, 1)?).filter(|&share| share <= WHOLE)
}

/// As it can be typed: `sizes=512B:10+8KiB:40,reads=66.7,hot=60/10,near=20,rate=50`.
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

/// What is not said is as in the default mix, but for places: those are uniform.
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
            // There are no more keys than places for them.
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

/// The default mix: ours throughout, as the paper prints no parameter of its "vax mix".
///
/// Sizes: fragments and blocks of the 8K/1K file system, small ones as most files were small (in the traces of
/// Ousterhout et al. 1985, "A Trace-Driven Analysis of the UNIX 4.2 BSD File System", most accesses are to files of a
/// few Kbytes), and a tenth of 512 bytes, the block of VMS. Reads: two of three, as about a third of the block accesses
/// of those traces were writes. Both cited from memory, and for their order of magnitude only. Places: anywhere, as in
/// the "vax mix" (Kridle & McKusick 1983, section 3).
impl Default for Mix {
    fn default() -> Mix {
        let sizes = [(512, 10), (1024, 20), (2048, 10), (4096, 20), (8192, 40)];
        Mix::new(&sizes, 667, Locality::default()).expect("the default is a mix")
    }
}

impl Mix {
    /// The default mix with "strong locality characteristics", which the paper (section 3) believes real systems to
    /// have and gives no figure for. Ours: of ten accesses six fall into a tenth of the file, and two near the one
    /// before.
    pub fn local() -> Mix {
        Mix { places: Locality { hot: 600, part: 100, near: 200 }, ..Mix::default() }
    }
}

/// The accesses of a mix, drawn one after the other.
#[derive(Clone, Debug)]
pub struct Mixing {
    mix: Mix,
    handle: Handle,
    /// Of the file.
    bytes: u64,
    /// The sum of the sizes' weights.
    weights: u64,
    prng: Prng,
    left: u64,
    /// Where the last access ended.
    end: u64,
}

impl Mixing {
    /// So many accesses to an open file of so many bytes. Panics where the largest does not fit into it.
    pub fn new(mix: Mix, handle: Handle, bytes: u64, accesses: u64, seed: u64) -> Mixing {
        assert!(u64::from(mix.largest()) <= bytes, "a file of {bytes} bytes has no access of {}", mix.largest());
        let weights = mix.sizes().iter().map(|&(_, weight)| u64::from(weight)).sum();
        Mixing { mix, handle, bytes, weights, prng: Prng::new(seed), left: accesses, end: 0 }
    }

    /// What they are drawn from.
    pub(crate) fn mix(&self) -> &Mix {
        &self.mix
    }

    /// Of the file.
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

    /// The next access:
    ///   1. its size by the weights;
    ///   2. its place: near the last one, in the hot part, or anywhere; at a multiple of the largest power of two that
    ///      divides its size, as blocks and fragments lie, and inside the file;
    ///   3. a read or a write.
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

    /// Offset, length, and whether it reads.
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
        fn what_is_printed_is_read_as_the_same(mix in mixes()) {
            prop_assert_eq!(mix.to_string().parse::<Mix>(), Ok(mix));
        }

        #[test]
        fn every_access_lies_in_the_file_where_its_size_may_lie(mix in mixes(), more in 0u64..1_000_000, seed: u64) {
            let bytes = u64::from(mix.largest()) + more;
            for (offset, length, _) in drawn(mix, bytes, 50, seed) {
                prop_assert!(mix.sizes().iter().any(|size| size.0 == length));
                prop_assert!(offset + u64::from(length) <= bytes);
                prop_assert!(offset.is_multiple_of(1 << length.trailing_zeros()));
            }
        }
    }

    #[test]
    fn the_same_seed_draws_the_same_and_another_round_others() {
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
    fn shares_are_as_they_were_asked_for() {
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
        // The hot six tenths, and a tenth of the two that fall anywhere.
        is_about(far.iter().filter(|access| access.0 < bytes / 10).count(), 620);
        let uniform = drawn(Mix::default(), bytes, COUNT, 3);
        is_about(uniform.iter().filter(|access| access.0 < bytes / 10).count(), 100);
    }

    #[test]
    fn what_is_no_mix_says_why() {
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
    fn a_file_that_is_too_small_is_refused() {
        Mixing::new(Mix::default(), Handle::new(0), 4096, 1, 1);
    }
}
