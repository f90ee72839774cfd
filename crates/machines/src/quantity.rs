//! Numbers with units, read exactly: a decimal number times its unit must be a whole number of the simulator's units.
//! No floating point is used.

use std::fmt;

/// The quantity of a number. The simulator counts each in whole units. Printed values use the first unit of its list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Counted in nanoseconds.
    Time,
    /// Counted in bytes.
    Size,
    /// Counted in bytes per second.
    Rate,
    /// Counted in thousandths.
    Share,
    /// Counted in parts of a million.
    Ppm,
    /// Counted in thousandths of a turn per minute.
    Speed,
    /// Counted in picoseconds per byte.
    TimePerByte,
    /// Counted in thousandths of a request per second.
    RequestRate,
    /// A whole number, with the name of the counted things.
    Count(&'static str),
}

/// A unit: its name, and its size in the simulator's units.
struct Unit(&'static str, u64);

const TIMES: &[Unit] = &[Unit("ns", 1), Unit("us", 1_000), Unit("ms", 1_000_000), Unit("s", 1_000_000_000)];
const SIZES: &[Unit] =
    &[Unit("bytes", 1), Unit("KiB", 1 << 10), Unit("MiB", 1 << 20), Unit("GiB", 1 << 30), Unit("TiB", 1 << 40)];
const RATES: &[Unit] =
    &[Unit("bytes/s", 1), Unit("kB/s", 1_000), Unit("KiB/s", 1 << 10), Unit("MB/s", 1_000_000), Unit("MiB/s", 1 << 20)];
const SHARES: &[Unit] = &[Unit("permille", 1), Unit("percent", 10), Unit("times", 1_000)];
const PPM: &[Unit] = &[Unit("ppm", 1), Unit("permille", 1_000), Unit("percent", 10_000)];
const SPEEDS: &[Unit] = &[Unit("turns/min", 1_000)];
const TIMES_PER_BYTE: &[Unit] = &[Unit("ps/byte", 1), Unit("ns/byte", 1_000)];
const REQUEST_RATES: &[Unit] = &[Unit("requests/s", 1_000)];

impl Quantity {
    /// The names of the units that it can have.
    pub fn units(self) -> Vec<&'static str> {
        match self.known() {
            Some(units) => units.iter().map(|Unit(name, _)| *name).collect(),
            None => self.things().into_iter().collect(),
        }
    }

    /// Returns the size of the unit with that name in the simulator's units; `None` if it is not a unit of this
    /// quantity.
    fn factor(self, unit: &str) -> Option<u64> {
        match self.known() {
            Some(units) => units.iter().find(|Unit(name, _)| *name == unit).map(|Unit(_, factor)| *factor),
            None => (self.things() == Some(unit)).then_some(1),
        }
    }

    fn known(self) -> Option<&'static [Unit]> {
        Some(match self {
            Quantity::Time => TIMES,
            Quantity::Size => SIZES,
            Quantity::Rate => RATES,
            Quantity::Share => SHARES,
            Quantity::Ppm => PPM,
            Quantity::Speed => SPEEDS,
            Quantity::TimePerByte => TIMES_PER_BYTE,
            Quantity::RequestRate => REQUEST_RATES,
            Quantity::Count(_) => return None,
        })
    }

    fn things(self) -> Option<&'static str> {
        match self {
            Quantity::Count(things) => Some(things),
            _ => None,
        }
    }

    /// Converts a number with a unit into the simulator's units.
    pub fn count(self, number: Decimal, unit: &str) -> Result<u64, Unfit> {
        let factor = self.factor(unit).ok_or(Unfit::Unit)?;
        let scale = 10u128.checked_pow(number.decimals).ok_or(Unfit::TooFine)?;
        let scaled = u128::from(number.digits).checked_mul(u128::from(factor)).ok_or(Unfit::TooLarge)?;
        // A rate of 526.2 KiB/s is not a whole number of bytes per second. Less than one byte per second does not
        // matter.
        let counted = match self {
            Quantity::Rate => scaled / scale,
            _ if !scaled.is_multiple_of(scale) => return Err(Unfit::TooFine),
            _ => scaled / scale,
        };
        u64::try_from(counted).map_err(|_| Unfit::TooLarge)
    }

    /// Converts numbers in the simulator's units into decimal numbers of one unit, exactly. It is the largest unit that
    /// is not larger than the smallest of them, except zero, and in which all of them are decimal numbers.
    pub fn written(self, counts: &[u64]) -> (Vec<Decimal>, &'static str) {
        let own = [Unit(self.things().unwrap_or_default(), 1)];
        let units = self.known().unwrap_or(&own);
        let least = counts.iter().copied().filter(|count| *count > 0).min().unwrap_or(0);
        let in_unit = |Unit(_, factor): &Unit| -> Option<Vec<Decimal>> {
            counts.iter().map(|count| Decimal::divided(*count, *factor)).collect()
        };
        let fitting = units.iter().rev().filter(|Unit(_, factor)| *factor <= least);
        let mut written = fitting.filter_map(|unit| Some((in_unit(unit)?, unit.0)));
        let smallest = || {
            let unit = &units[0];
            (in_unit(unit).unwrap_or_default(), unit.0)
        };
        written.next().unwrap_or_else(smallest)
    }
}

/// The reason why a number cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// Its unit belongs to another quantity.
    Unit,
    /// It is not a whole number of the simulator's units.
    TooFine,
    /// It does not fit into 64 bits.
    TooLarge,
}

/// A decimal number, 0 or more, as written: `0.085` is 85 with three decimals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decimal {
    digits: u64,
    decimals: u32,
}

impl Decimal {
    /// True if the number is zero.
    pub fn is_zero(self) -> bool {
        self.digits == 0
    }

    /// True if it is a whole number of at least `least`.
    pub fn is_whole_from(self, least: u64) -> bool {
        self.decimals == 0 && self.digits >= least
    }

    /// True if it is at most `other`.
    pub fn is_at_most(self, other: Decimal) -> bool {
        self.aligned(other).is_some_and(|(this, other, _)| this <= other)
    }

    /// Returns the sum; `None` on overflow.
    pub fn plus(self, other: Decimal) -> Option<Decimal> {
        let (this, other, decimals) = self.aligned(other)?;
        Some(Decimal { digits: this.checked_add(other)?, decimals }.shortened())
    }

    /// Returns the product with a whole number; `None` on overflow.
    pub fn times(self, whole: Decimal) -> Option<Decimal> {
        Some(Decimal { digits: self.digits.checked_mul(whole.digits)?, ..self }.shortened())
    }

    /// Returns the digits of both numbers with the same number of decimals, and that number.
    fn aligned(self, other: Decimal) -> Option<(u64, u64, u32)> {
        let decimals = self.decimals.max(other.decimals);
        let scaled = |number: Decimal| number.digits.checked_mul(10u64.checked_pow(decimals - number.decimals)?);
        Some((scaled(self)?, scaled(other)?, decimals))
    }

    /// Returns the product with another number, rounded to a whole number of `count`'s unit; `None` on overflow.
    pub fn of(self, count: u64) -> Option<u64> {
        let scale = 10u128.checked_pow(self.decimals)?;
        let scaled = u128::from(self.digits).checked_mul(u128::from(count))?;
        u64::try_from((scaled + scale / 2) / scale).ok()
    }

    /// Returns `count / factor` if it is a decimal number: the factor is a power of ten, or divides the count.
    fn divided(count: u64, factor: u64) -> Option<Decimal> {
        if count.is_multiple_of(factor) {
            return Some(Decimal { digits: count / factor, decimals: 0 });
        }
        let decimals = factor.ilog10();
        (10u64.pow(decimals) == factor).then(|| Decimal { digits: count, decimals }.shortened())
    }

    /// Removes trailing zeros from the decimals.
    fn shortened(mut self) -> Decimal {
        while self.decimals > 0 && self.digits.is_multiple_of(10) {
            self.digits /= 10;
            self.decimals -= 1;
        }
        self
    }

    /// Reads `3961`, `0.5` or `1_000`. Returns `None` for other forms, or if the digits do not fit into 64 bits.
    pub fn read(text: &str) -> Option<Decimal> {
        let text = text.trim().replace('_', "");
        let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
        if whole.is_empty() || !whole.bytes().chain(fraction.bytes()).all(|digit| digit.is_ascii_digit()) {
            return None;
        }
        let fraction = fraction.trim_end_matches('0');
        let digits = format!("{whole}{fraction}").parse().ok()?;
        Some(Decimal { digits, decimals: fraction.len() as u32 })
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.decimals as usize + 1;
        let digits = format!("{:0width$}", self.digits);
        let (whole, fraction) = digits.split_at(digits.len() - self.decimals as usize);
        f.write_str(whole)?;
        if fraction.is_empty() { Ok(()) } else { write!(f, ".{fraction}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Decimal {
        Decimal::read(text).unwrap_or_else(|| panic!("{text}"))
    }

    #[test]
    fn decimals_are_kept_as_written() {
        for (text, printed) in [("3961", "3961"), ("0.085", "0.085"), ("1.50", "1.5"), ("1_000.0", "1000"), ("0", "0")]
        {
            assert_eq!(decimal(text).to_string(), printed);
        }
        for text in ["", "-1", "1e3", "0x10", ".5", "inf", "1.2.3", "99999999999999999999999"] {
            assert_eq!(Decimal::read(text), None, "{text}");
        }
    }

    #[test]
    fn units_are_exact() {
        let count = |quantity: Quantity, text, unit| quantity.count(decimal(text), unit);
        assert_eq!(count(Quantity::Time, "614.2", "us"), Ok(614_200));
        assert_eq!(count(Quantity::Speed, "3961.5", "turns/min"), Ok(3_961_500));
        assert_eq!(count(Quantity::Share, "1.456", "times"), Ok(1456));
        assert_eq!(count(Quantity::Ppm, "2.609", "percent"), Ok(26_090));
        assert_eq!(count(Quantity::Size, "4", "MiB"), Ok(4 << 20));
        assert_eq!(count(Quantity::Rate, "526.2", "KiB/s"), Ok(538_828));
        assert_eq!(count(Quantity::Count("heads"), "20", "heads"), Ok(20));
        assert_eq!(count(Quantity::Time, "0.0001", "us"), Err(Unfit::TooFine));
        assert_eq!(count(Quantity::Count("heads"), "1.5", "heads"), Err(Unfit::TooFine));
        assert_eq!(count(Quantity::Count("heads"), "20", "sectors"), Err(Unfit::Unit));
        assert_eq!(count(Quantity::Time, "3", "turns/min"), Err(Unfit::Unit));
        assert_eq!(count(Quantity::Time, "99999999999999", "s"), Err(Unfit::TooLarge));
        assert_eq!(count(Quantity::TimePerByte, "4.99", "ns/byte"), Ok(4990));
        assert_eq!(count(Quantity::RequestRate, "1500.5", "requests/s"), Ok(1_500_500));
    }

    #[test]
    fn numbers_are_written_in_the_largest_exact_unit() {
        let written = |quantity: Quantity, counts: &[u64]| {
            let (numbers, unit) = quantity.written(counts);
            format!("{} {unit}", numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "))
        };
        assert_eq!(written(Quantity::Time, &[1_094_500, 20_000]), "1094.5 20 us");
        assert_eq!(written(Quantity::Time, &[0]), "0 ns");
        assert_eq!(written(Quantity::Size, &[5 << 30]), "5 GiB");
        assert_eq!(written(Quantity::Size, &[(5 << 30) + 1]), "5368709121 bytes");
        assert_eq!(written(Quantity::Rate, &[125 << 20]), "125 MiB/s");
        assert_eq!(written(Quantity::Rate, &[1_234_567]), "1.234567 MB/s");
        assert_eq!(written(Quantity::Count("requests"), &[7]), "7 requests");
    }
}
