//! A mix of accesses to one file: their sizes, their share of reads, and their locality. A mix can be typed and
//! printed. [`Mix::pattern`] is the pattern of its accesses.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use units::Bytes;

use super::order::{Drawing, Locality, Order, STEEPEST, Thousandths, WHOLE};
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
    /// The order, unless `places` sets it.
    drawing: Drawing,
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
    /// Both `bs` and `sizes`.
    BothSizes,
    /// Not a size of an access.
    Block(String),
    /// Not a size and its weight, or a size that an access cannot have.
    Size(String),
    /// Percentages of `bs` with this sum.
    Percentages(u64),
    /// More sizes than a mix can hold.
    TooManySizes,
    /// Not a percentage.
    Share(String),
    /// The hot part is empty.
    NoPart(String),
    /// Hot and near add up to more than 100 %.
    TooLocal,
    /// Not an order, or not one that this mix can have, and the reason.
    Order(String, String),
    /// Not a number of accesses per second.
    Rate(String),
}

impl fmt::Display for BadMix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BadMix::NotAPair(text) => write!(f, "{text:?} is not KEY=VALUE"),
            BadMix::UnknownKey(text) => {
                write!(f, "unknown key {text:?}; the keys are bs, order, reads, rate, sizes, hot and near")
            }
            BadMix::Twice(text) => write!(f, "{text:?} is given twice"),
            BadMix::BothSizes => f.write_str("bs and sizes both set the sizes of accesses: give one of them"),
            BadMix::Block(text) => write!(f, "{text:?} is not a size up to {LARGEST_ACCESS}, as in 8KiB"),
            BadMix::Size(text) => write!(
                f,
                "{text:?} is not a size with a weight, as in 8KiB:40; sizes have up to {LARGEST_ACCESS}, weights are \
                 whole numbers from 1"
            ),
            BadMix::Percentages(sum) => {
                write!(f, "the percentages of bs sum to {sum}, not to 100; sizes takes any weights")
            }
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
            BadMix::Order(text, why) => write!(f, "order={text}: {why}"),
            BadMix::Rate(text) => {
                write!(f, "{text:?} is not a rate; it is a whole number of accesses a second, up to {FASTEST}")
            }
        }
    }
}

impl core::error::Error for BadMix {}

impl Mix {
    /// A mix of these sizes, each with its weight, with `reads` thousandths of reads. Returns an error if a size or a
    /// weight is zero.
    pub fn new(sizes: &[(u32, u32)], reads: u16, places: Locality) -> Result<Mix, BadMix> {
        let text = |(bytes, weight): &(u32, u32)| format!("{}:{weight}", Size(*bytes));
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
            return Err(BadMix::Share(format!("{}/{}", Percent(hot), Percent(part))));
        }
        let part = if hot == 0 { 0 } else { part };
        Ok(Mix { sizes: all, places: Locality { part, ..places }, drawing: Drawing::Replacement, reads, rate: None })
    }

    /// Draws the blocks in this order. Only uniform accesses can have another order than `replacement`.
    fn drawn(self, drawing: Drawing) -> Result<Mix, BadMix> {
        let why = match drawing {
            Drawing::Replacement => return Ok(self),
            _ if self.places != Locality::default() => "hot and near already set the order".to_owned(),
            Drawing::Permutation if self.sizes.only().is_none() => "it needs one size".to_owned(),
            Drawing::Zipf { thousandths } if !(1..=STEEPEST).contains(&thousandths) => {
                format!("the exponent must be above 0 and at most {}", Thousandths(STEEPEST))
            }
            _ => return Ok(Mix { drawing, ..self }),
        };
        Err(BadMix::Order(drawing.to_string(), why))
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
        let order = match self.drawing {
            Drawing::Replacement => Order::Local(self.places),
            drawing => Order::Drawn(drawing),
        };
        AccessPattern { order, sizes: self.sizes, reads: self.reads }
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
        if self.drawing != Drawing::Replacement {
            write!(f, ",order={}", self.drawing)?;
        }
        self.rate.map_or(Ok(()), |rate| write!(f, ",rate={rate}"))
    }
}

/// Parses a mix. It shares these keys with a load, with the values of `diskperf io`: bs, order, reads and rate. Its own
/// keys are sizes (`bs` with any weights), hot and near. Omitted keys have the values of the default mix, except for
/// the locality, which is uniform.
impl FromStr for Mix {
    type Err = BadMix;

    fn from_str(text: &str) -> Result<Mix, BadMix> {
        let (mut sizes, mut reads, mut rate, mut drawing) = (None, None, None, None);
        let (mut hot, mut near) = (None, None);
        for pair in pairs(text) {
            let (key, value) = pair.split_once('=').ok_or_else(|| BadMix::NotAPair(pair.clone()))?;
            let bad_share = || BadMix::Share(value.to_owned());
            let is_again = match key {
                "bs" | "sizes" => {
                    let is_bs = key == "bs";
                    let read = if is_bs { read_blocks(value)? } else { read_sizes(value)? };
                    match sizes.replace((is_bs, read)) {
                        Some((was_bs, _)) if was_bs != is_bs => return Err(BadMix::BothSizes),
                        before => before.is_some(),
                    }
                }
                "order" => drawing.replace(read_order(value)?).is_some(),
                "reads" => reads.replace(share(value).ok_or_else(bad_share)?).is_some(),
                "near" => near.replace(share(value).ok_or_else(bad_share)?).is_some(),
                "hot" => {
                    let (accesses, part) = value.split_once('/').ok_or_else(bad_share)?;
                    let (accesses, part) = share(accesses).zip(share(part)).ok_or_else(bad_share)?;
                    if part == 0 {
                        return Err(BadMix::NoPart(value.to_owned()));
                    }
                    hot.replace((accesses, part)).is_some()
                }
                "rate" => {
                    let number = value.parse().ok().filter(|rate| (1..=FASTEST).contains(rate));
                    rate.replace(number.ok_or_else(|| BadMix::Rate(value.to_owned()))?).is_some()
                }
                _ => return Err(BadMix::UnknownKey(key.to_owned())),
            };
            if is_again {
                return Err(BadMix::Twice(key.to_owned()));
            }
        }
        let usual = Mix::default();
        let sizes = sizes.map_or_else(|| usual.sizes().to_vec(), |(_, sizes)| sizes);
        let (hot, part) = hot.unwrap_or_default();
        let places = Locality { hot, part, near: near.unwrap_or_default() };
        let mix = Mix::new(&sizes, reads.unwrap_or(usual.reads), places)?;
        mix.at_rate(rate).drawn(drawing.unwrap_or_default())
    }
}

/// Splits a text at its commas, except at those between the sizes of `bs`, which become plus signs.
fn pairs(text: &str) -> Vec<String> {
    let mut pairs: Vec<String> = Vec::new();
    for part in text.split(',') {
        match pairs.last_mut() {
            Some(pair) if pair.starts_with("bs=") && !part.contains('=') => *pair += &format!("+{part}"),
            _ => pairs.push(part.to_owned()),
        }
    }
    pairs
}

/// Reads one size, or several with percentages.
fn read_blocks(text: &str) -> Result<Vec<(u32, u32)>, BadMix> {
    if !text.contains([':', '+']) {
        return read_sizes(&format!("{text}:100")).map_err(|_| BadMix::Block(text.to_owned()));
    }
    let sizes = read_sizes(text)?;
    match sizes.iter().map(|(_, percent)| u64::from(*percent)).sum::<u64>() {
        100 => Ok(sizes),
        sum => Err(BadMix::Percentages(sum)),
    }
}

fn read_order(text: &str) -> Result<Drawing, BadMix> {
    text.parse().map_err(|why| BadMix::Order(text.to_owned(), why))
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
        let zipf = (1..=STEEPEST).prop_map(|thousandths| Drawing::Zipf { thousandths });
        let drawing = prop_oneof![Just(Drawing::Replacement), Just(Drawing::Permutation), zipf];
        (sizes, 0u16..=WHOLE, places, prop::option::of(1u32..=FASTEST), drawing).prop_map(
            |(sizes, reads, (hot, part, near), rate, drawing)| {
                let mut sizes: Vec<(u32, u32)> = sizes.into_iter().collect();
                let mut places = Locality { hot, part, near: near.min(WHOLE - hot) };
                if drawing != Drawing::Replacement {
                    places = Locality::default();
                }
                if drawing == Drawing::Permutation {
                    sizes.truncate(1);
                }
                Mix::new(&sizes, reads, places).expect("a mix").at_rate(rate).drawn(drawing).expect("an order")
            },
        )
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
    fn the_keys_of_a_load_have_the_same_values_in_a_mix() {
        let mix = |text: &str| text.parse::<Mix>().expect(text);
        for (load, own) in [
            ("bs=4k", "sizes=4KiB:100"),
            ("bs=4k:60,64KiB:40,reads=67", "sizes=4KiB:60+64KiB:40,reads=67"),
            ("rate=50,bs=4k:60,64KiB:40", "sizes=4KiB:60+64KiB:40,rate=50"),
            ("reads=67,order=replacement,near=20", "reads=67,near=20"),
        ] {
            assert_eq!(mix(load), mix(own), "{load}");
        }
        for (text, drawing) in [
            ("sizes=4KiB:60+64KiB:40,reads=67,order=zipf:0.99,rate=50", Drawing::Zipf { thousandths: 990 }),
            ("sizes=4KiB:100,reads=66.7,order=permutation", Drawing::Permutation),
        ] {
            assert_eq!(mix(text).to_string(), text);
            assert_eq!(mix(text).pattern().order, Order::Drawn(drawing));
        }
        for (text, key, reason) in [
            ("order=random", "random", "not an order"),
            ("order=zipf:0", "zipf:0", "above 0 and at most 5"),
            ("order=zipf:5.001", "zipf:5.001", "above 0 and at most 5"),
            ("order=permutation", "permutation", "it needs one size"),
            ("near=20,order=zipf:1", "zipf:1", "hot and near"),
        ] {
            let Err(BadMix::Order(order, why)) = text.parse::<Mix>() else { panic!("{text}") };
            assert!(order == key && why.contains(reason), "{text}: {order}: {why}");
        }
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
        let many: Vec<String> = (1..=17).map(|kib| format!("{kib}KiB:1")).collect();
        assert_eq!(why(&format!("sizes={}", many.join("+"))), BadMix::TooManySizes);
        for bad in ["101", "-1", "66.66", "1000", "", ".", "1e1", "99999"] {
            assert_eq!(why(&["reads=", bad].concat()), BadMix::Share(bad.to_owned()));
        }
        assert_eq!(why("bs=4k:60,8k:30"), BadMix::Percentages(90));
        assert_eq!(why("bs=4k,sizes=4k:1"), BadMix::BothSizes);
        assert_eq!(why("sizes=4k:1,bs=4k"), BadMix::BothSizes);
        assert_eq!(why("bs=4k,bs=8k"), BadMix::Twice("bs".to_owned()));
        for bad in ["4kb", "", "65MiB"] {
            assert_eq!(why(&["bs=", bad].concat()), BadMix::Block(bad.to_owned()));
        }
        assert_eq!(why("bs=4k:x"), BadMix::Size("4k:x".to_owned()));
        assert_eq!(why("bs=4k:60,8k"), BadMix::Size("8k".to_owned()));
        assert_eq!(why("reads=1,8k:1"), BadMix::NotAPair("8k:1".to_owned()));
        assert_eq!(why("hot=60"), BadMix::Share("60".to_owned()));
        assert_eq!(why("hot=60/0"), BadMix::NoPart("60/0".to_owned()));
        assert_eq!(why("hot=0/0"), BadMix::NoPart("0/0".to_owned()));
        assert_eq!(why("hot=60/10,near=41"), BadMix::TooLocal);
        for bad in ["0", "10000001", "1.5", "x"] {
            assert_eq!(why(&["rate=", bad].concat()), BadMix::Rate(bad.to_owned()));
        }
    }
}
