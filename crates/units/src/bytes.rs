//! A number of bytes, and the sizes that users type. A single letter is a power of two, as in fio, dd and ls: `4k` is
//! 4096. `iB` is a power of two too. `kB`, `MB`, `GB` and `TB` are powers of ten (SI). `kb` and similar units in small
//! letters are refused: in fio they are powers of two, in SI they would be bits.

use core::fmt;
use core::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::number_with_unit;

/// A number of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
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

/// Prints the largest binary unit that divides the number exactly. If no such unit keeps the count below 10,000, prints
/// the largest unit that fits, with two decimals.
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

/// The reason why a text is not a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParseBytesError {
    /// The text does not begin with a positive decimal number.
    NotANumber,
    /// Zero, or a larger unit's fraction that is less than one byte.
    Zero,
    /// A fraction of a byte, as in `1.5` or `1.5B`.
    Fraction,
    /// `kb`, `mb`, `gb` or `tb`. The field is the letter of the prefix.
    Ambiguous(char),
    /// An unknown unit.
    Unit,
    /// The number of bytes does not fit into 64 bits.
    TooLarge,
}

impl fmt::Display for ParseBytesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParseBytesError::NotANumber => f.write_str("not a size; write a positive number and a unit, as in 8KiB"),
            ParseBytesError::Zero => f.write_str("a size must be at least one byte"),
            ParseBytesError::Fraction => f.write_str("a number of bytes must be whole; write a unit, as in 1.5KiB"),
            ParseBytesError::Ambiguous(letter) => {
                let binary = letter.to_ascii_uppercase();
                let decimal = if *letter == 'k' { 'k' } else { binary };
                write!(
                    f,
                    "ambiguous unit {letter}b; write {letter} or {binary}iB (powers of 1024), or {decimal}B \
                     (powers of 1000)"
                )
            }
            ParseBytesError::Unit => f.write_str(
                "unknown unit of size; use k, M, G, T or KiB, MiB, GiB, TiB (powers of 1024), or kB, MB, GB, TB \
                 (powers of 1000)",
            ),
            ParseBytesError::TooLarge => f.write_str("size too large (more than 64 bits)"),
        }
    }
}

impl core::error::Error for ParseBytesError {}

/// Parses `8192`, `8k`, `8KiB`, `1.5 GiB`, `100MB`; a bare number counts bytes.
impl FromStr for Bytes {
    type Err = ParseBytesError;

    fn from_str(text: &str) -> Result<Bytes, ParseBytesError> {
        let (number, unit) = number_with_unit::split(text).ok_or(ParseBytesError::NotANumber)?;
        let mut letters = unit.chars();
        let scale = match letters.next() {
            None => 1,
            Some(letter) => match (power(letter), letters.as_str()) {
                (None, "") if matches!(letter, 'b' | 'B') => 1,
                (Some(power), "" | "i" | "ib" | "iB") => 1024_u64.pow(power),
                (Some(power), "B") => 1000_u64.pow(power),
                (Some(_), "b") => return Err(ParseBytesError::Ambiguous(letter.to_ascii_lowercase())),
                _ => return Err(ParseBytesError::Unit),
            },
        };
        if scale == 1 && !number.is_whole() {
            return Err(ParseBytesError::Fraction);
        }
        match number.times(scale).ok_or(ParseBytesError::TooLarge)? {
            0 => Err(ParseBytesError::Zero),
            bytes => Ok(Bytes(bytes)),
        }
    }
}

/// Returns the power of 1000 or 1024 that a prefix letter stands for, or `None` if the letter is not a prefix.
fn power(letter: char) -> Option<u32> {
    Some(match letter {
        'k' | 'K' => 1,
        'm' | 'M' => 2,
        'g' | 'G' => 3,
        't' | 'T' => 4,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use std::string::ToString;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn equivalent_spellings_have_the_same_value() {
        const KIB: u64 = 1 << 10;
        const MIB: u64 = 1 << 20;
        const GIB: u64 = 1 << 30;
        const TIB: u64 = 1 << 40;
        for (texts, value) in [
            ("4096 4096b 4096B 4k 4K 4ki 4Ki 4kib 4Kib 4kiB 4KiB", 4 * KIB),
            ("1m 1M 1mi 1Mi 1mib 1Mib 1MiB 1024k", MIB),
            ("1g 1G 1gi 1Gi 1gib 1GiB 1024m", GIB),
            ("1t 1T 1ti 1Ti 1tib 1TiB 1024G", TIB),
            ("1kB 1KB", 1_000),
            ("1mB 1MB", 1_000_000),
            ("1gB 1GB", 1_000_000_000),
            ("1tB 1TB", 1_000_000_000_000),
            ("1.5k 1.5KiB", KIB + KIB / 2),
            ("0.5kB", 500),
            ("8.0 8.0B", 8),
            ("16777215T", 16_777_215 * TIB),
            ("18446744073709551615", u64::MAX),
        ] {
            for text in texts.split(' ') {
                assert_eq!(text.parse(), Ok(Bytes(value)), "{text}");
            }
        }
        assert_eq!("1.5 GiB".parse(), Ok(Bytes(1_610_612_736)));
    }

    #[test]
    fn invalid_spellings_are_refused() {
        for (text, error) in [
            ("4kb", ParseBytesError::Ambiguous('k')),
            ("4Kb", ParseBytesError::Ambiguous('k')),
            ("1mb", ParseBytesError::Ambiguous('m')),
            ("8 Kbytes", ParseBytesError::Unit),
            ("8p", ParseBytesError::Unit),
            ("8é", ParseBytesError::Unit),
            ("8i", ParseBytesError::Unit),
            ("8bB", ParseBytesError::Unit),
            ("8KIB", ParseBytesError::Unit),
            ("0", ParseBytesError::Zero),
            ("1.5", ParseBytesError::Fraction),
            ("0.5B", ParseBytesError::Fraction),
            ("0.000000001k", ParseBytesError::Zero),
            ("0k", ParseBytesError::Zero),
            ("-8KiB", ParseBytesError::NotANumber),
            ("k", ParseBytesError::NotANumber),
            ("", ParseBytesError::NotANumber),
            ("16777216T", ParseBytesError::TooLarge),
            ("18446744073709551616", ParseBytesError::TooLarge),
            ("99999999999999999999999999999999999999999999999999.5k", ParseBytesError::TooLarge),
            ("99999999TiB", ParseBytesError::TooLarge),
            ("18446744073709551615k", ParseBytesError::TooLarge),
        ] {
            assert_eq!(text.parse::<Bytes>(), Err(error), "{text}");
        }
        assert_eq!(
            ParseBytesError::Ambiguous('m').to_string(),
            "ambiguous unit mb; write m or MiB (powers of 1024), or MB (powers of 1000)"
        );
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
        fn exactly_printed_sizes_parse_back(count in 1u64..10_000, unit in 0usize..5) {
            let bytes = Bytes(count * BINARY[unit].1);
            prop_assert_eq!(bytes.to_string().parse(), Ok(bytes));
        }

        #[test]
        fn no_text_panics(text in ".{0,24}") {
            let _ = text.parse::<Bytes>();
        }
    }
}
