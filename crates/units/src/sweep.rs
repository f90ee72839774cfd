//! The syntax of values that are swept: a list of values and ranges, such as `1..256*2`, `0..8+1ms` or `fifo,disksort`.
//! The callers know the numbers and their units.

/// A part of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'a> {
    /// A value.
    Value(&'a str),
    /// A range.
    Range(Range<'a>),
}

/// A range: `first..last*factor`, `first..last+step` or `first..last`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range<'a> {
    /// The first value.
    pub first: &'a str,
    /// The last value, which a step may miss.
    pub last: &'a str,
    /// The growth from one value to the next, if it is given.
    pub growth: Option<Growth<'a>>,
}

/// The growth from one value to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth<'a> {
    /// Multiplied by this factor.
    Times(&'a str),
    /// Increased by this step.
    Plus(&'a str),
}

/// The form of a range, for errors.
pub const RANGE: &str = "FIRST..LAST*FACTOR, FIRST..LAST+STEP or FIRST..LAST, with whole factors from 2 on";

/// The parts of a list, in order. A part may be empty.
pub fn parts(text: &str) -> impl Iterator<Item = Part<'_>> {
    text.split(',').map(|part| match part.split_once("..") {
        None => Part::Value(part.trim()),
        Some((first, rest)) => {
            let (last, growth) = match rest.find(['*', '+']) {
                Some(at) if rest[at..].starts_with('*') => (&rest[..at], Some(Growth::Times(rest[at + 1..].trim()))),
                Some(at) => (&rest[..at], Some(Growth::Plus(rest[at + 1..].trim()))),
                None => (rest, None),
            };
            Part::Range(Range { first: first.trim(), last: last.trim(), growth })
        }
    })
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    #[test]
    fn a_list_has_values_and_ranges() {
        let range = |first, last, growth| Part::Range(Range { first, last, growth });
        let all: Vec<Part> = parts("4k, 8k..1M*2,0..8+1ms,1..3,").collect();
        let expected = [
            Part::Value("4k"),
            range("8k", "1M", Some(Growth::Times("2"))),
            range("0", "8", Some(Growth::Plus("1ms"))),
            range("1", "3", None),
            Part::Value(""),
        ];
        assert_eq!(all, expected);
    }
}
