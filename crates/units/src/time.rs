//! Time spans, and moments of a clock. The clock is part of a moment's type, so that moments of different clocks cannot
//! be subtracted.

use core::cmp::Ordering;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::iter::Sum;
use core::marker::PhantomData;
use core::ops::{Add, AddAssign, Sub};
use core::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::number_with_unit;

/// A time span in nanoseconds. The longest is 584 years (64 bits).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Nanos(pub u64);

impl Nanos {
    /// The empty span.
    pub const ZERO: Nanos = Nanos(0);

    /// Converts microseconds. Saturates at the longest span.
    pub const fn from_micros(micros: u64) -> Nanos {
        Nanos(micros.saturating_mul(1_000))
    }

    /// Converts milliseconds. Saturates at the longest span.
    pub const fn from_millis(millis: u64) -> Nanos {
        Nanos(millis.saturating_mul(1_000_000))
    }

    /// Converts seconds. Saturates at the longest span.
    pub const fn from_secs(seconds: u64) -> Nanos {
        Nanos(seconds.saturating_mul(1_000_000_000))
    }

    /// Returns the span in seconds, for printing and for statistics.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Returns the sum, or the longest span if it is longer.
    #[inline]
    pub fn saturating_add(self, other: Nanos) -> Nanos {
        Nanos(self.0.saturating_add(other.0))
    }

    /// Returns the difference, or zero if `other` is longer.
    #[inline]
    pub fn saturating_sub(self, other: Nanos) -> Nanos {
        Nanos(self.0.saturating_sub(other.0))
    }
}

impl Add for Nanos {
    type Output = Nanos;
    #[inline]
    fn add(self, other: Nanos) -> Nanos {
        Nanos(self.0 + other.0)
    }
}

impl AddAssign for Nanos {
    #[inline]
    fn add_assign(&mut self, other: Nanos) {
        self.0 += other.0;
    }
}

impl Sub for Nanos {
    type Output = Nanos;
    #[inline]
    fn sub(self, other: Nanos) -> Nanos {
        Nanos(self.0 - other.0)
    }
}

impl Sum for Nanos {
    fn sum<I: Iterator<Item = Nanos>>(spans: I) -> Nanos {
        spans.fold(Nanos::ZERO, Add::add)
    }
}

/// Prints three digits and a unit: `350 ns`, `4.08 us`, `12.7 ms`, `1.25 s`, `3 min 20 s`, `1 h 05 min`.
impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0 / 1_000_000_000;
        match self.0 {
            ns if ns < 1_000 => write!(f, "{ns} ns"),
            ns if ns < 1_000_000 => three_digits(f, ns as f64 / 1e3, "us"),
            ns if ns < 1_000_000_000 => three_digits(f, ns as f64 / 1e6, "ms"),
            ns if ns < 120_000_000_000 => three_digits(f, ns as f64 / 1e9, "s"),
            _ if seconds < 3_600 => write!(f, "{} min {:02} s", seconds / 60, seconds % 60),
            _ => write!(f, "{} h {:02} min", seconds / 3_600, seconds % 3_600 / 60),
        }
    }
}

fn three_digits(f: &mut fmt::Formatter<'_>, value: f64, unit: &str) -> fmt::Result {
    let decimals = match value {
        v if v < 9.995 => 2,
        v if v < 99.95 => 1,
        _ => 0,
    };
    write!(f, "{value:.decimals$} {unit}")
}

/// The reason why a text is not a time span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParseNanosError {
    /// The text does not begin with a positive decimal number.
    NotANumber,
    /// The text begins with a negative number.
    Negative,
    /// Zero time.
    Zero,
    /// The unit is missing, or is not ns, us, ms, s, m, min or h.
    Unit,
    /// The number of nanoseconds does not fit into 64 bits.
    TooLong,
}

impl fmt::Display for ParseNanosError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ParseNanosError::NotANumber => "not a time; write a positive number and a unit, as in 90s or 5min",
            ParseNanosError::Negative => "a time cannot be negative",
            ParseNanosError::Zero => "a time must be more than zero",
            ParseNanosError::Unit => "unknown or missing unit of time; use ns, us, ms, s, min or h",
            ParseNanosError::TooLong => "longer than 584 years",
        })
    }
}

impl core::error::Error for ParseNanosError {}

/// Parses `90s`, `1.5h`, `250 ms`. A bare number has no unit and is refused.
impl FromStr for Nanos {
    type Err = ParseNanosError;

    fn from_str(text: &str) -> Result<Nanos, ParseNanosError> {
        let is_negative = |rest: &str| rest.starts_with(|first: char| first.is_ascii_digit() || first == '.');
        let (number, unit) = match number_with_unit::split(text) {
            Some(split) => split,
            None if text.trim().strip_prefix('-').is_some_and(is_negative) => return Err(ParseNanosError::Negative),
            None => return Err(ParseNanosError::NotANumber),
        };
        let scale = match unit {
            "ns" => 1,
            "us" => 1_000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            "m" | "min" => 60_000_000_000,
            "h" => 3_600_000_000_000,
            _ => return Err(ParseNanosError::Unit),
        };
        match number.times(scale).ok_or(ParseNanosError::TooLong)? {
            0 => Err(ParseNanosError::Zero),
            nanos => Ok(Nanos(nanos)),
        }
    }
}

/// The clock of the machine on which diskperf runs.
#[derive(Clone, Copy, Debug)]
pub enum Host {}

/// The clock of a simulated machine.
#[derive(Clone, Copy, Debug)]
pub enum Virtual {}

/// A point on the clock `C`, in nanoseconds since that clock's own zero.
pub struct Moment<C> {
    nanos: u64,
    /// The clock is only a type parameter. `fn() -> C` makes moments `Send` and `Sync` for every clock.
    clock: PhantomData<fn() -> C>,
}

impl<C> Moment<C> {
    /// The zero of the clock.
    pub const ZERO: Moment<C> = Moment::from_zero(Nanos(0));

    /// Creates the moment `since_zero` after the clock's zero.
    #[inline]
    pub const fn from_zero(since_zero: Nanos) -> Moment<C> {
        Moment { nanos: since_zero.0, clock: PhantomData }
    }

    /// Returns the time span between the clock's zero and this moment.
    #[inline]
    pub fn since_zero(self) -> Nanos {
        Nanos(self.nanos)
    }

    /// Returns the time span since `earlier`. Panics if `earlier` is later than this moment: all clocks here are
    /// monotonic, so that would be a bug of diskperf.
    #[inline]
    pub fn since(self, earlier: Moment<C>) -> Nanos {
        Nanos(self.nanos.checked_sub(earlier.nanos).expect("a monotonic clock ran backwards"))
    }
}

impl<C> Add<Nanos> for Moment<C> {
    type Output = Moment<C>;
    #[inline]
    fn add(self, span: Nanos) -> Moment<C> {
        Moment::from_zero(Nanos(self.nanos + span.0))
    }
}

// Not derived: `derive` would also require these traits of the clock, which is only a type parameter.
impl<C> Clone for Moment<C> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}
impl<C> Copy for Moment<C> {}
impl<C> PartialEq for Moment<C> {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.nanos == other.nanos
    }
}
impl<C> Eq for Moment<C> {}
impl<C> PartialOrd for Moment<C> {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl<C> Ord for Moment<C> {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        self.nanos.cmp(&other.nanos)
    }
}
impl<C> Hash for Moment<C> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.nanos.hash(state);
    }
}
impl<C> fmt::Debug for Moment<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "@{}ns", self.nanos)
    }
}

#[cfg(test)]
mod tests {
    use std::string::ToString;

    use super::*;

    #[test]
    fn spans_print_three_digits_and_a_unit() {
        for (nanos, text) in [
            (0, "0 ns"),
            (999, "999 ns"),
            (4_084, "4.08 us"),
            (12_700_000, "12.7 ms"),
            (999_999_999, "1000 ms"),
            (1_250_000_000, "1.25 s"),
            (200_000_000_000, "3 min 20 s"),
            (3_900_000_000_000, "1 h 05 min"),
        ] {
            assert_eq!(Nanos(nanos).to_string(), text);
        }
    }

    #[test]
    fn times_need_a_unit() {
        assert_eq!("90s".parse(), Ok(Nanos::from_secs(90)));
        assert_eq!("1.5 h".parse(), Ok(Nanos::from_secs(5400)));
        assert_eq!("5min".parse(), Ok(Nanos::from_secs(300)));
        assert_eq!("90".parse::<Nanos>(), Err(ParseNanosError::Unit));
        assert_eq!("-1s".parse::<Nanos>(), Err(ParseNanosError::Negative));
        assert_eq!("--json".parse::<Nanos>(), Err(ParseNanosError::NotANumber));
        assert_eq!("0s".parse::<Nanos>(), Err(ParseNanosError::Zero));
        assert_eq!("99999999999h".parse::<Nanos>(), Err(ParseNanosError::TooLong));
    }
}
