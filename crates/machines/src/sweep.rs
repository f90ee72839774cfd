//! A sweep: one field with many values, such as `controller.buffer_sectors=1..256*2`; and a part of its points.

use std::ops::Range as Indices;
use std::str::FromStr;

use units::sweep::{Growth, Part, RANGE, Range, parts};

use crate::quantity::Decimal;

/// A field and the values that it takes one after another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sweep {
    /// The dotted name of the field, or the kind of a part.
    pub key: String,
    /// Its values, as `--set` takes them.
    pub values: Vec<String>,
}

/// Maximum number of values. Longer tables are unreadable.
const MOST: usize = 10_000;

/// The reason why a sweep is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadSweep {
    /// The field or the values are missing.
    #[error(
        "is not FIELD=VALUES; write controller.buffer_sectors=1..256*2, file_system.rotational_delay=0..8+1ms or \
             controller.queue=fifo,disksort"
    )]
    NoValues,
    /// A range has another form.
    #[error("a range is {}", RANGE)]
    NoRange,
    /// There are more values than a table can show.
    #[error("more than 10,000 values")]
    TooMany,
}

impl FromStr for Sweep {
    type Err = BadSweep;

    fn from_str(text: &str) -> Result<Sweep, BadSweep> {
        let (key, values) = text.split_once('=').ok_or(BadSweep::NoValues)?;
        let mut all = Vec::new();
        for part in parts(values) {
            match part {
                Part::Range(one) => all.extend(range(one)?),
                Part::Value("") => return Err(BadSweep::NoValues),
                Part::Value(value) => all.push(value.to_owned()),
            }
        }
        match all.len() {
            _ if key.trim().is_empty() => Err(BadSweep::NoValues),
            count if count > MOST => Err(BadSweep::TooMany),
            _ => Ok(Sweep { key: key.trim().to_owned(), values: all }),
        }
    }
}

/// A part of the points of a sweep, as in `2/4`. The parts are consecutive, and together they have all points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SweepPart {
    /// Its number, from 1.
    number: u32,
    /// The number of parts.
    of: u32,
}

/// The error of a word that names no part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("write K/N for part K of N, with K from 1 to N, as in 1/4")]
pub struct BadPart;

impl SweepPart {
    /// The whole sweep.
    pub const WHOLE: SweepPart = SweepPart { number: 1, of: 1 };

    /// The indices of its points, if the sweep has `count` points. The sizes of two parts differ by one point at most.
    pub fn points(self, count: usize) -> Indices<usize> {
        let before = |parts: u32| (count as u128 * u128::from(parts) / u128::from(self.of)) as usize;
        before(self.number - 1)..before(self.number)
    }

    /// True for the part with the first point.
    pub fn is_first(self) -> bool {
        self.number == 1
    }

    /// True for the part with the last point.
    pub fn is_last(self) -> bool {
        self.number == self.of
    }
}

impl FromStr for SweepPart {
    type Err = BadPart;

    fn from_str(text: &str) -> Result<SweepPart, BadPart> {
        let (number, of) = text.split_once('/').ok_or(BadPart)?;
        let read = |text: &str| text.parse::<u32>().map_err(|_| BadPart);
        let part = SweepPart { number: read(number)?, of: read(of)? };
        if (1..=part.of).contains(&part.number) { Ok(part) } else { Err(BadPart) }
    }
}

/// Returns the values of a range. Each number may have a unit, which must be the same for all.
fn range(Range { first, last, growth }: Range) -> Result<Vec<String>, BadSweep> {
    let (by, multiplies) = match growth {
        Some(Growth::Times(by)) => (by, true),
        Some(Growth::Plus(by)) => (by, false),
        None => ("1", false),
    };
    let mut unit = "";
    let read = (number(first, &mut unit), number(last, &mut unit), number(by, &mut unit));
    let (Some(first), Some(last), Some(by_number)) = read else { return Err(BadSweep::NoRange) };
    let grows = if multiplies { by_number.is_whole_from(2) && !first.is_zero() } else { !by_number.is_zero() };
    if !grows {
        return Err(BadSweep::NoRange);
    }
    let mut values = Vec::new();
    let mut value = Some(first);
    while let Some(now) = value.filter(|now| now.is_at_most(last)) {
        if values.len() == MOST {
            return Err(BadSweep::TooMany);
        }
        values.push(format!("{now}{unit}"));
        value = if multiplies { now.times(by_number) } else { now.plus(by_number) };
    }
    if values.is_empty() { Err(BadSweep::NoRange) } else { Ok(values) }
}

/// Reads a number, and its unit if it has one. `None` if the unit differs from that of a number before.
fn number<'a>(text: &'a str, unit: &mut &'a str) -> Option<Decimal> {
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let own = text[end..].trim();
    if !own.is_empty() && !unit.is_empty() && own != *unit {
        return None;
    }
    if !own.is_empty() {
        *unit = own;
    }
    Decimal::read(&text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Result<Vec<String>, BadSweep> {
        text.parse::<Sweep>().map(|sweep| sweep.values)
    }

    #[test]
    fn ranges_grow_by_factors_or_by_steps() {
        assert_eq!(values("a.b=1..256*2").expect("fine"), ["1", "2", "4", "8", "16", "32", "64", "128", "256"]);
        assert_eq!(values("a=3..20*3").expect("fine"), ["3", "9"]);
        assert_eq!(values("a=0..1+0.25ms").expect("fine"), ["0ms", "0.25ms", "0.5ms", "0.75ms", "1ms"]);
        assert_eq!(values("a=2ms..4ms").expect("fine"), ["2ms", "3ms", "4ms"]);
        assert_eq!(values("a=fifo,disksort").expect("fine"), ["fifo", "disksort"]);
        assert_eq!(values("a=1..3,10..20+10").expect("fine"), ["1", "2", "3", "10", "20"]);
    }

    #[test]
    fn parts_follow_each_other_and_have_all_points() {
        for (count, of) in [(10_000, 4), (10, 3), (3, 7), (0, 2), (usize::MAX, 5), (5, u32::MAX)] {
            let parts = (1..=of.min(9)).map(|number| SweepPart { number, of }.points(count));
            let mut next = 0;
            for part in parts {
                assert_eq!(part.start, next);
                assert!((count / of as usize..=count / of as usize + 1).contains(&part.len()), "{part:?}");
                next = part.end;
            }
            assert_eq!(SweepPart { number: of, of }.points(count).end, count);
        }
        assert_eq!(SweepPart::WHOLE.points(7), 0..7);
    }

    #[test]
    fn words_that_name_no_part_are_refused() {
        assert_eq!("2/4".parse(), Ok(SweepPart { number: 2, of: 4 }));
        for text in ["0/4", "5/4", "a/b", "1", "1/", "/4", "1/4/2", "-1/4", "0/0", "1/4294967296", ""] {
            assert_eq!(text.parse::<SweepPart>(), Err(BadPart), "{text}");
        }
    }

    #[test]
    fn endless_ranges_are_refused() {
        for text in ["a=0..8*2", "a=1..8*1", "a=1..8+0", "a=8..1", "a=x..y", "a=1..8*1.5", "a=1us..8ms", "a=1..2**3"] {
            assert_eq!(values(text), Err(BadSweep::NoRange), "{text}");
        }
        for text in ["a", "=1", "a=", "a=1,,2"] {
            assert_eq!(values(text), Err(BadSweep::NoValues), "{text}");
        }
        assert_eq!(values("a=1..99999999"), Err(BadSweep::TooMany));
    }
}
