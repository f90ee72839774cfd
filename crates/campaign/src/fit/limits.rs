//! The rows and the limits of a choice of sizes.

use units::Nanos;

use crate::fit::cost::Cost;
use crate::fit::sizes::{SizeKind, Sizes};

/// The longest time of a ceiling, as a share of its row's time (`runner::ceiling`).
const CEILING: f64 = 0.1;

/// A row, reduced to its time and its writes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Item {
    /// The size that its cost depends on.
    pub size_kind: SizeKind,
    /// The cost of an execution.
    pub cost: Cost,
    /// Bytes that it writes per unit of its size.
    pub writes: u64,
    /// The number of its test. The rows of a test on several targets are left out together.
    pub test: usize,
    /// The weight of its test in the user's question.
    pub weight: f64,
    /// The number of its results.
    pub results: usize,
    /// True if it is already left out, so that it costs nothing.
    pub omitted: bool,
    /// True if its ceiling is measured in each round.
    pub has_ceiling: bool,
}

impl Item {
    /// Seconds in this number of rounds.
    pub fn seconds(&self, sizes: &Sizes, rounds: u32) -> f64 {
        if self.omitted {
            return 0.0;
        }
        let ceiling = if self.has_ceiling { 1.0 + CEILING } else { 1.0 };
        self.cost.seconds(self.size_kind, sizes) * ceiling * f64::from(rounds)
    }

    /// Bytes written in this number of rounds.
    pub fn written(&self, sizes: &Sizes, rounds: u32) -> u64 {
        if self.omitted { 0 } else { self.writes * self.size_kind.amount(sizes) * u64::from(rounds) }
    }

    /// True if the row does more work if this size grows.
    pub fn grows_with(&self, kind: SizeKind) -> bool {
        self.size_kind == kind || (kind == SizeKind::Records && self.size_kind.is_timed())
    }
}

/// The limits that the rows must fit into.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Time for all rounds; `None` for no limit.
    pub time: Option<Nanos>,
    /// Bytes that may be written in all rounds; `None` for no limit.
    pub written: Option<u64>,
    /// The maximum sizes.
    pub largest: Sizes,
    /// The minimum sizes. A size whose minimum is its maximum is given, and is not bound by the floor.
    pub smallest: Sizes,
    /// True if sizes that are not given must reach the floor.
    pub has_floor: bool,
    /// The number of rounds.
    pub rounds: u32,
    /// The minimum number of rounds.
    pub fewest_rounds: u32,
}

impl Limits {
    /// Limits for rows of given sizes.
    pub fn given(sizes: Sizes, rounds: u32) -> Limits {
        Limits {
            time: None,
            written: None,
            largest: sizes,
            smallest: sizes,
            has_floor: true,
            rounds,
            fewest_rounds: rounds,
        }
    }

    /// True if this size is given.
    pub fn is_given(&self, size_kind: SizeKind) -> bool {
        size_kind.amount(&self.smallest) == size_kind.amount(&self.largest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ceiling_takes_a_tenth_of_the_time_of_its_row() {
        let cost = Cost { fixed: 2.0, ..Cost::default() };
        let row = Item {
            size_kind: SizeKind::Large,
            cost,
            writes: 0,
            test: 0,
            weight: 0.0,
            results: 1,
            omitted: false,
            has_ceiling: true,
        };
        let seconds = |row: Item| row.seconds(&Sizes::SMALLEST, 5);
        assert!((seconds(row) - 11.0).abs() < 1e-9);
        assert!((seconds(Item { has_ceiling: false, ..row }) - 10.0).abs() < 1e-9);
        assert!(seconds(Item { omitted: true, ..row }) == 0.0);
    }
}
