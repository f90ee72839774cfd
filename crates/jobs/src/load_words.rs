//! Values of a workload's keys, as typed and as in a job file: names, sizes and times with their units, mixed block
//! sizes, orders. This module checks the form of each value; `resolved_load` checks whether it makes
//! sense in its workload.

use std::fmt;
use std::str::FromStr;

use clap::ValueEnum;
use schemars::JsonSchema;
use serde::de::{Deserializer, Error, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use units::{Bytes, Nanos};
use workload::{Drawing, FASTEST, Rates};

/// Patterns of reads and writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PatternName {
    /// Random reads
    #[default]
    Randread,
    /// Random overwrites
    Randwrite,
    /// Random reads and overwrites, mixed by --reads
    Randrw,
    /// Sequential reads
    Read,
    /// Sequential writes of a new file
    Write,
    /// Appends, each followed by fdatasync, as a database commits
    Commit,
}

/// Ways to issue operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    /// io_uring for depths above 1, if available; otherwise plain calls
    #[default]
    Auto,
    /// Plain calls, one at a time
    Posix,
    /// io_uring; an error if it is not available
    Uring,
    /// io_uring with a polling kernel thread, which needs a processor of its own
    Sqpoll,
    /// Copies from and to the mapped file
    Mmap,
    /// No I/O: each operation counts as done at once, to measure the overhead of diskperf
    Null,
}

/// Distributions of the time between starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ArrivalsName {
    /// The same time between all starts
    Constant,
    /// Random times, exponentially distributed
    Poisson,
}

/// Flags of synchronous writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SyncName {
    /// O_DSYNC: data, and the metadata needed to read them back
    Dsync,
    /// O_SYNC: data and all metadata of the file
    Sync,
}

/// The name of a value on the command line, in job files and in JSON.
pub(crate) fn name(value: impl ValueEnum) -> String {
    value.to_possible_value().map_or_else(String::new, |name| name.get_name().to_owned())
}

/// A size, as in 4KiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size(pub Bytes);

/// A time, as in 10s, or forever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Time(pub Nanos);

impl Time {
    /// Until Ctrl-C. As a number, a hundred years, which fit into the moments of a clock.
    pub const FOREVER: Time = Time(Nanos::from_secs(100 * 365 * 24 * 3600));
}

/// The word for [`Time::FOREVER`].
const FOREVER: &str = "forever";

/// Block sizes: one, as in 4KiB, or several with percentages, as in 4KiB:60,64KiB:40.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocks(pub Vec<(Size, Option<u32>)>);

/// An order: replacement, permutation, or zipf:THETA as in zipf:0.99.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order(pub Drawing);

/// Operations per second: of reads and writes together, as in 1000, or of each, as in 700/300.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate(pub Rates);

/// Operations per second.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "describes the forms only")]
pub(crate) enum RateForms {
    /// Of all operations.
    All(u32),
    /// Of reads and of writes, as in 700/300.
    Apart(#[schemars(regex(pattern = "^[0-9]+/[0-9]+$"))] String),
}

/// Deserializes these types from a string, and serializes them as a string.
macro_rules! words {
    ($($word:ty),*) => {$(
        impl<'de> Deserialize<'de> for $word {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<$word, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
            }
        }

        impl Serialize for $word {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
    )*};
}

words!(Size, Time, Blocks, Order);

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Size, String> {
        text.parse().map(Size).map_err(|error: units::ParseBytesError| error.to_string())
    }
}

impl FromStr for Time {
    type Err = String;

    fn from_str(text: &str) -> Result<Time, String> {
        if text == FOREVER {
            return Ok(Time::FOREVER);
        }
        text.parse().map(Time).map_err(|error: units::ParseNanosError| error.to_string())
    }
}

impl FromStr for Blocks {
    type Err = String;

    fn from_str(text: &str) -> Result<Blocks, String> {
        let block = |part: &str| match part.split_once(':') {
            None => Ok((part.parse()?, None)),
            Some((size, percent)) => match percent.trim().parse() {
                Ok(percent) => Ok((size.parse()?, Some(percent))),
                Err(_) => Err(format!("{percent:?} is not a percentage; write a whole number, as in 60")),
            },
        };
        text.split(',').map(block).collect::<Result<_, _>>().map(Blocks)
    }
}

impl FromStr for Order {
    type Err = String;

    fn from_str(text: &str) -> Result<Order, String> {
        text.parse().map(Order)
    }
}

impl FromStr for Rate {
    type Err = String;

    fn from_str(text: &str) -> Result<Rate, String> {
        let number = |text: &str| {
            let text = text.trim();
            let is_whole = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            text.parse().map_err(|_| match is_whole {
                true => rate_limits(),
                false => format!("{text:?} is not a number of operations per second; write 1000, or 700/300"),
            })
        };
        Ok(Rate(match text.split_once('/') {
            None => Rates::All(number(text)?),
            Some((reads, writes)) => Rates::Apart { reads: number(reads)?, writes: number(writes)? },
        }))
    }
}

/// The reason why a number that does not fit into 32 bits is not a rate.
fn rate_limits() -> String {
    format!("it must be from 1 to {FASTEST}")
}

impl Serialize for Rate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Rates::All(rate) => rate.serialize(serializer),
            Rates::Apart { .. } => serializer.collect_str(self),
        }
    }
}

impl<'de> Deserialize<'de> for Rate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Rate, D::Error> {
        struct NumberOrText;

        impl Visitor<'_> for NumberOrText {
            type Value = Rate;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("operations per second, as in 1000 or \"700/300\"")
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Rate, E> {
                let rate = u32::try_from(number).map_err(|_| E::custom(rate_limits()))?;
                Ok(Rate(Rates::All(rate)))
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<Rate, E> {
                let rate = u32::try_from(number).map_err(|_| E::custom(rate_limits()))?;
                Ok(Rate(Rates::All(rate)))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Rate, E> {
                text.parse().map_err(E::custom)
            }
        }

        deserializer.deserialize_any(NumberOrText)
    }
}

/// Prints the number in the largest unit that divides it, so that no digit is lost.
fn exact(f: &mut fmt::Formatter<'_>, number: u64, units: &[(u64, &str)]) -> fmt::Result {
    let (size, unit) = units.iter().find(|(size, _)| number.is_multiple_of(*size)).expect("the last divides all");
    write!(f, "{}{unit}", number / size)
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        exact(f, self.0.0, &[(1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"), (1, "B")])
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Time::FOREVER {
            return f.write_str(FOREVER);
        }
        exact(f, self.0.0, &[(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us"), (1, "ns")])
    }
}

impl fmt::Display for Blocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (size, percent)) in self.0.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(f, "{comma}{size}")?;
            percent.iter().try_for_each(|percent| write!(f, ":{percent}"))?;
        }
        Ok(())
    }
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Rates::All(rate) => write!(f, "{rate}"),
            Rates::Apart { reads, writes } => write!(f, "{reads}/{writes}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn printed_sizes_and_times_are_read_back(number in 1u64.., zeros in 0u32..40) {
            let number = (number >> zeros << (zeros / 2)).max(1);
            let (size, time) = (Size(Bytes(number)), Time(Nanos(number)));
            prop_assert_eq!(size.to_string().parse(), Ok(size));
            prop_assert_eq!(time.to_string().parse(), Ok(time));
        }
    }

    proptest! {
        #[test]
        fn shares_and_orders_are_read_back(
            sizes in proptest::collection::vec((1u64..1 << 30, proptest::option::of(0u32..200)), 1..9),
            thousandths: u32,
        ) {
            let blocks = Blocks(sizes.into_iter().map(|(bytes, percent)| (Size(Bytes(bytes)), percent)).collect());
            prop_assert_eq!(blocks.to_string().parse(), Ok(blocks));
            let order = Order(Drawing::Zipf { thousandths });
            prop_assert_eq!(order.to_string().parse(), Ok(order));
        }

        #[test]
        fn no_text_panics(text in "[0-9a-zA-Z:,.]{0,24}") {
            let _ = (text.parse::<Blocks>(), text.parse::<Order>(), text.parse::<Size>(), text.parse::<Time>());
        }
    }

    #[test]
    fn rates_are_a_number_or_two() {
        for (text, json, rates) in
            [("1000", "1000", Rates::All(1000)), ("700/300", "\"700/300\"", Rates::Apart { reads: 700, writes: 300 })]
        {
            assert_eq!(text.parse(), Ok(Rate(rates)));
            assert_eq!(Rate(rates).to_string(), text);
            assert_eq!(serde_json::to_string(&Rate(rates)).expect("JSON"), json);
            assert_eq!(serde_json::from_str::<Rate>(json).expect("a rate"), Rate(rates));
        }
        for text in ["700/", "/300", "1/2/3", "-1", "1.5", "1k"] {
            assert!(text.parse::<Rate>().is_err(), "{text}");
        }
        for text in ["4294967296", "700/4294967296"] {
            assert_eq!(text.parse::<Rate>(), Err("it must be from 1 to 10000000".to_owned()), "{text}");
        }
        assert!(serde_json::from_str::<Rate>("4294967296").is_err() && serde_json::from_str::<Rate>("-1").is_err());
    }

    #[test]
    fn forever_is_a_time() {
        assert_eq!("forever".parse(), Ok(Time::FOREVER));
        assert_eq!(Time::FOREVER.to_string(), "forever");
    }

    #[test]
    fn a_wrong_value_is_refused_with_a_reason() {
        for (order, said) in [
            ("random", "not an order"),
            ("zipf:", "not an exponent"),
            ("zipf:-1", "not an exponent"),
            ("zipf:0.9999", "three decimals"),
            ("zipf:1e3", "not an exponent"),
        ] {
            assert!(order.parse::<Order>().expect_err(order).contains(said), "{order}");
        }
        for (blocks, said) in
            [("4KiB:x", "not a percentage"), ("4KiB,", "not a size"), ("4kb:60", "ambiguous"), (":60", "not a size")]
        {
            assert!(blocks.parse::<Blocks>().expect_err(blocks).contains(said), "{blocks}");
        }
    }
}
