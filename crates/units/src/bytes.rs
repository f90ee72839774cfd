//! A number of bytes, and the sizes people type. The seeds disagree on what a Kbyte is (1024 in the paper
//! of 1983, 1000 in the lab's `largefb`), so a unit that could mean both is refused, never guessed.

use core::fmt;
use core::str::FromStr;

use crate::suffixed;

/// A number of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

impl Bytes {
    /// A whole number of KiB (1024 bytes).
    pub const fn kib(count: u64) -> Bytes {
        Bytes(count << 10)
    }

    /// A whole number of MiB (1024 KiB).
    pub const fn mib(count: u64) -> Bytes {
        Bytes(count << 20)
    }
}

const BINARY: [(&str, u64); 5] = [("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1)];

/// The largest binary unit that divides the number exactly, else the largest it reaches, with two decimals.
impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (unit, size) in BINARY {
            if self.0 >= size && self.0.is_multiple_of(size) && self.0 / size < 10_000 {
                return write!(f, "{} {unit}", self.0 / size);
            }
        }
        for (unit, size) in BINARY {
            if self.0 >= size {
                return write!(f, "{:.2} {unit}", self.0 as f64 / size as f64);
            }
        }
        write!(f, "0 B")
    }
}

/// Why a text is not a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParseBytesError {
    /// The text does not begin with a positive decimal number.
    NotANumber,
    /// Nothing, or less than one byte.
    Zero,
    /// K, M, G or T alone: 1000 or 1024?
    Ambiguous(char),
    /// Not a unit of size.
    Unit,
    /// More than 64 bits of bytes.
    TooLarge,
}

impl fmt::Display for ParseBytesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParseBytesError::NotANumber => f.write_str("not a size; write a positive number and a unit, as in 8KiB"),
            ParseBytesError::Zero => f.write_str("a size must be at least one byte"),
            ParseBytesError::Ambiguous(unit) => {
                write!(f, "ambiguous unit {unit}; write {unit}iB (powers of 1024) or {unit}B (powers of 1000)")
            }
            ParseBytesError::Unit => f.write_str("unknown unit of size; use B, KiB, MiB, GiB, TiB or kB, MB, GB, TB"),
            ParseBytesError::TooLarge => f.write_str("more bytes than 64 bits can count"),
        }
    }
}

impl core::error::Error for ParseBytesError {}

/// `8192`, `8KiB`, `1.5 GiB`, `100MB`; a bare number counts bytes.
impl FromStr for Bytes {
    type Err = ParseBytesError;

    fn from_str(text: &str) -> Result<Bytes, ParseBytesError> {
        let (number, unit) = suffixed::split(text).ok_or(ParseBytesError::NotANumber)?;
        let scale = match unit {
            "" | "B" => 1,
            "KiB" => 1 << 10,
            "MiB" => 1 << 20,
            "GiB" => 1 << 30,
            "TiB" => 1 << 40,
            "kB" | "KB" => 1_000,
            "MB" => 1_000_000,
            "GB" => 1_000_000_000,
            "TB" => 1_000_000_000_000,
            "k" | "K" | "m" | "M" | "g" | "G" | "t" | "T" => {
                let letter = unit.as_bytes()[0].to_ascii_uppercase();
                return Err(ParseBytesError::Ambiguous(char::from(letter)));
            }
            _ => return Err(ParseBytesError::Unit),
        };
        match number.times(scale).ok_or(ParseBytesError::TooLarge)? {
            0 => Err(ParseBytesError::Zero),
            bytes => Ok(Bytes(bytes)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::string::ToString;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn sizes_that_could_mean_two_things_are_refused() {
        assert_eq!("8KiB".parse(), Ok(Bytes(8192)));
        assert_eq!("100MB".parse(), Ok(Bytes(100_000_000)));
        assert_eq!("1.5 GiB".parse(), Ok(Bytes(1_610_612_736)));
        assert_eq!("8192".parse(), Ok(Bytes(8192)));
        assert_eq!("8K".parse::<Bytes>(), Err(ParseBytesError::Ambiguous('K')));
        assert_eq!("8m".parse::<Bytes>(), Err(ParseBytesError::Ambiguous('M')));
        assert_eq!("8 Kbytes".parse::<Bytes>(), Err(ParseBytesError::Unit));
        assert_eq!("0".parse::<Bytes>(), Err(ParseBytesError::Zero));
        assert_eq!("0.5B".parse::<Bytes>(), Err(ParseBytesError::Zero));
        assert_eq!("-8KiB".parse::<Bytes>(), Err(ParseBytesError::NotANumber));
        assert_eq!("".parse::<Bytes>(), Err(ParseBytesError::NotANumber));
        assert_eq!("99999999TiB".parse::<Bytes>(), Err(ParseBytesError::TooLarge));
    }

    #[test]
    fn exact_multiples_print_without_decimals() {
        assert_eq!(Bytes(8192).to_string(), "8 KiB");
        assert_eq!(Bytes::mib(8).to_string(), "8 MiB");
        assert_eq!(Bytes(100_000_000).to_string(), "95.37 MiB");
        assert_eq!(Bytes(0).to_string(), "0 B");
    }

    proptest! {
        #[test]
        fn what_is_printed_exactly_parses_back(count in 1u64..10_000, unit in 0usize..5) {
            let bytes = Bytes(count * BINARY[unit].1);
            prop_assert_eq!(bytes.to_string().parse(), Ok(bytes));
        }

        #[test]
        fn no_text_panics(text in ".{0,24}") {
            let _ = text.parse::<Bytes>();
        }
    }
}
