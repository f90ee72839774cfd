//! The words of a load: sizes and times with their units, as they are typed and as they stand in a job file.

use std::fmt;
use std::str::FromStr;

use serde::de::{Deserialize, Deserializer, Error};
use units::{Bytes, Nanos};

/// A size, as in 4KiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size(pub Bytes);

/// A time, as in 10s.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Time(pub Nanos);

/// What can be read from one word.
macro_rules! words {
    ($($word:ty),*) => {$(
        impl<'de> Deserialize<'de> for $word {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<$word, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
            }
        }
    )*};
}

words!(Size, Time);

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Size, String> {
        text.parse().map(Size).map_err(|error: units::ParseBytesError| error.to_string())
    }
}

impl FromStr for Time {
    type Err = String;

    fn from_str(text: &str) -> Result<Time, String> {
        text.parse().map(Time).map_err(|error: units::ParseNanosError| error.to_string())
    }
}

/// The largest unit that divides it, so that nothing is lost.
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
        exact(f, self.0.0, &[(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us"), (1, "ns")])
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_printed_is_read_back(number in 1u64.., zeros in 0u32..40) {
            let number = (number >> zeros << (zeros / 2)).max(1);
            let (size, time) = (Size(Bytes(number)), Time(Nanos(number)));
            prop_assert_eq!(size.to_string().parse(), Ok(size));
            prop_assert_eq!(time.to_string().parse(), Ok(time));
        }
    }
}
