//! Chooses the sizes of a preset's programs, so that all fit into a time and a number of bytes written. If the sizes
//! are given, it chooses rows and rounds alone. Decides only: the caller measures the cost of the rows.
//!
//! Policy:
//!   1. all sizes start at their maximum, because large files are more informative than small ones;
//!   2. while too much is written or it takes too long, the group of rows that writes or takes most is halved, down to
//!      its minimum;
//!   3. then timed rows get less time, down to their minimum;
//!   4. then the most expensive row is left out, as n.m., with the time or bytes that it needs. Of two rows with the
//!      same cost, the later one goes first. For lack of time, a minimum of rows always stays; for lack of bytes, none;
//!   5. then the number of rounds is reduced, down to its minimum. If sizes can shrink, that is the requested number:
//!      an interval of fewer than five rounds is not informative.

use units::{Bytes, Nanos};

use crate::fit::cost::Cost;
use crate::fit::duration_words::about;
use crate::fit::sizes::{SizeKind, Sizes};

/// The sizes that are halved together.
const GROUPS: [&[SizeKind]; 4] =
    [&[SizeKind::Large, SizeKind::Spots], &[SizeKind::Files], &[SizeKind::Copied], &[SizeKind::Records]];

/// A row, reduced to its time and its writes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Item {
    /// The size that its cost depends on.
    pub size_kind: SizeKind,
    /// The cost of an execution.
    pub cost: Cost,
    /// The maximum number of operations of a timed row.
    pub operations: u64,
    /// Bytes that it writes per unit of its size.
    pub writes: u64,
    /// The group of rows of which a minimum stays.
    pub group: usize,
    /// True if it is already left out, so that it costs nothing.
    pub omitted: bool,
}

impl Item {
    fn seconds(&self, sizes: &Sizes, rounds: u32) -> f64 {
        if self.omitted { 0.0 } else { self.cost.seconds(self.size_kind, sizes, self.operations) * f64::from(rounds) }
    }

    fn time(&self, sizes: &Sizes, rounds: u32) -> Nanos {
        Nanos((self.seconds(sizes, rounds) * 1e9) as u64)
    }

    fn written(&self, sizes: &Sizes, rounds: u32) -> u64 {
        if self.omitted { 0 } else { self.writes * self.size_kind.amount(sizes) * u64::from(rounds) }
    }

    /// The reason for leaving it out.
    fn reason(&self, excess: Excess, sizes: &Sizes, limits: &Limits) -> String {
        match excess {
            Excess::Written => {
                let (needs, of) = (Bytes(self.written(sizes, limits.rounds)), Bytes(limits.written.unwrap_or(0)));
                format!("would write {needs}, and no more than {of} are written here unless --size asks for it")
            }
            Excess::Time => {
                let needs = about(self.time(sizes, limits.rounds));
                let time = about(limits.time.unwrap_or_default());
                if limits.is_rest {
                    format!("needs about {needs} of the {time} that are left")
                } else {
                    format!("needs about {needs} of the budget of {time}")
                }
            }
        }
    }
}

/// The limits that the rows must fit into.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Time for all rounds; `None` for no limit.
    pub time: Option<Nanos>,
    /// True if this time is the rest of a longer one, part of which the trials have used.
    pub is_rest: bool,
    /// Bytes that may be written in all rounds; `None` for no limit.
    pub written: Option<u64>,
    /// The maximum sizes.
    pub largest: Sizes,
    /// The minimum sizes. A size whose minimum is its maximum was requested, and is never reduced.
    pub smallest: Sizes,
    /// The number of rounds.
    pub rounds: u32,
    /// The minimum number of rounds.
    pub fewest_rounds: u32,
    /// The minimum number of rows of each group, for lack of time.
    pub fewest_rows: usize,
}

impl Limits {
    /// Limits for rows of given sizes. No round is left out, and at least one row stays.
    pub fn fixed(sizes: Sizes, time: Option<Nanos>, rounds: u32) -> Limits {
        Limits {
            time,
            is_rest: false,
            written: None,
            largest: sizes,
            smallest: sizes,
            rounds,
            fewest_rounds: rounds,
            fewest_rows: 1,
        }
    }
}

/// The result of fitting.
#[derive(Clone, Debug, PartialEq)]
pub struct Fitted {
    /// The chosen sizes.
    pub sizes: Sizes,
    /// The number of rounds.
    pub rounds: u32,
    /// For each row, the reason for leaving it out; `None` if it is run.
    pub omitted: Vec<Option<String>>,
    /// The expected time of each row in all rounds.
    pub times: Vec<Nanos>,
    /// The expected time of all rows.
    pub time: Nanos,
    /// The bytes written.
    pub written: u64,
    /// The time of all rows at their minimum, if that was too long.
    pub needed: Option<Nanos>,
}

/// Finds the largest sizes at which these rows fit.
pub fn fit(items: &[Item], limits: &Limits) -> Fitted {
    let mut items = items.to_vec();
    let mut omitted = vec![None; items.len()];
    let mut needed = None;
    // After a row is left out, the others may be larger again.
    let sizes = loop {
        let sizes = shrink(&items, limits);
        let Some(excess) = excess(&items, &sizes, limits) else { break sizes };
        if excess == Excess::Time {
            needed.get_or_insert_with(|| time_of(&items, &sizes, limits.rounds));
        }
        // 4.
        let weight = |index: &usize| match excess {
            Excess::Written => items[*index].written(&sizes, limits.rounds) as f64,
            Excess::Time => items[*index].seconds(&sizes, limits.rounds),
        };
        let can_go = |index: &usize| {
            !items[*index].omitted && (excess == Excess::Written || peers(&items, *index) > limits.fewest_rows)
        };
        let dearest = (0..items.len()).filter(can_go).max_by(|a, b| weight(a).total_cmp(&weight(b)));
        let Some(index) = dearest else { break sizes };
        omitted[index] = Some(items[index].reason(excess, &sizes, limits));
        items[index].omitted = true;
    };
    // 5.
    let mut rounds = limits.rounds;
    if let (Some(Excess::Time), Some(time)) = (excess(&items, &sizes, limits), limits.time) {
        let fitting = time.0.checked_div(time_of(&items, &sizes, 1).0).and_then(|rounds| rounds.try_into().ok());
        rounds = rounds.min(fitting.unwrap_or(rounds).max(limits.fewest_rounds));
    }
    let times = items.iter().map(|item| item.time(&sizes, rounds)).collect();
    let time = time_of(&items, &sizes, rounds);
    let written = items.iter().map(|item| item.written(&sizes, rounds)).sum();
    Fitted { sizes, rounds, omitted, times, time, written, needed }
}

/// The number of rows in the group of this row that are not left out.
fn peers(items: &[Item], index: usize) -> usize {
    items.iter().filter(|item| !item.omitted && item.group == items[index].group).count()
}

fn time_of(items: &[Item], sizes: &Sizes, rounds: u32) -> Nanos {
    Nanos((items.iter().map(|item| item.seconds(sizes, rounds)).sum::<f64>() * 1e9) as u64)
}

/// The largest sizes at which these rows fit, or the smallest if they do not.
fn shrink(items: &[Item], limits: &Limits) -> Sizes {
    let mut sizes = limits.largest;
    // 2.
    while let Some(excess) = excess(items, &sizes, limits) {
        let weight = |group: &[SizeKind]| -> f64 {
            let members = items.iter().filter(|item| !item.omitted && group.contains(&item.size_kind));
            members
                .map(|item| match excess {
                    Excess::Written => (item.writes * item.size_kind.amount(&sizes)) as f64,
                    Excess::Time => item.cost.each * item.size_kind.amount(&sizes) as f64,
                })
                .sum()
        };
        let can_shrink = |group: &&&[SizeKind]| {
            let size_kind = group[0];
            weight(group) > 0.0 && size_kind.amount(&sizes) / 2 >= size_kind.amount(&limits.smallest).max(1)
        };
        let heaviest = GROUPS.iter().filter(can_shrink).max_by(|a, b| weight(a).total_cmp(&weight(b)));
        let Some(group) = heaviest else { break };
        sizes = group[0].halved(&sizes);
    }
    // 3.
    while excess(items, &sizes, limits) == Some(Excess::Time) && sizes.random.0 / 2 >= limits.smallest.random.0 {
        sizes.random = Nanos(sizes.random.0 / 2);
    }
    sizes
}

/// The exceeded limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Excess {
    Written,
    Time,
}

fn excess(items: &[Item], sizes: &Sizes, limits: &Limits) -> Option<Excess> {
    let written: u64 = items.iter().map(|item| item.written(sizes, limits.rounds)).sum();
    let seconds: f64 = items.iter().map(|item| item.seconds(sizes, limits.rounds)).sum();
    if limits.written.is_some_and(|limit| written > limit) {
        Some(Excess::Written)
    } else if limits.time.is_some_and(|limit| seconds > limit.as_secs_f64()) {
        Some(Excess::Time)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The rows of `quick`, and the bytes that each writes per unit of its size.
    const ROWS: [(SizeKind, u64); 10] = [
        (SizeKind::Large, 1),
        (SizeKind::Large, 1),
        (SizeKind::Large, 1),
        (SizeKind::Large, 2),
        (SizeKind::Spots, 1),
        (SizeKind::Records, 4096),
        (SizeKind::Files, 4096),
        (SizeKind::Copied, 2),
        (SizeKind::Copied, 2),
        (SizeKind::Copied, 2),
    ];

    fn items(cost: impl Fn(SizeKind) -> Cost) -> Vec<Item> {
        let item = |(size_kind, writes)| Item {
            size_kind,
            cost: cost(size_kind),
            operations: 10_000,
            writes,
            group: 0,
            omitted: false,
        };
        ROWS.map(item).into()
    }

    /// The rows on a disk with this number of bytes and of operations per second.
    fn disk(bytes: f64, operations: f64) -> Vec<Item> {
        items(|size_kind| Cost {
            fixed: 0.05,
            each: match size_kind {
                SizeKind::Files => 3.0 / operations,
                SizeKind::Records => 0.0,
                SizeKind::Large | SizeKind::Spots | SizeKind::Copied => 2.0 / bytes,
            },
            operation: if size_kind.is_timed() { 1.0 / operations } else { 0.0 },
            is_bound: false,
        })
    }

    fn limits(time: Option<u64>, written: Option<u64>) -> Limits {
        let fixed = Limits::fixed(Sizes::LARGEST, time.map(Nanos::from_millis), 5);
        Limits { is_rest: true, written, smallest: Sizes::SMALLEST, ..fixed }
    }

    #[test]
    fn four_gib_allow_128_mib_files_and_all_other_sizes_in_full() {
        let fitted = fit(&disk(1e9, 1e5), &limits(None, Some(4 << 30)));
        assert_eq!(fitted.sizes, Sizes { large: 128 << 20, ..Sizes::LARGEST });
        assert!(fitted.written <= 4 << 30 && fitted.omitted.iter().all(Option::is_none));
    }

    #[test]
    fn a_slow_disk_keeps_every_row_with_small_files_and_short_times() {
        let fitted = fit(&disk(20e6, 100.0), &limits(Some(45_000), Some(4 << 30)));
        assert!(fitted.time <= Nanos::from_secs(45) && fitted.omitted.iter().all(Option::is_none), "{fitted:?}");
        assert_eq!(fitted.sizes.random, Sizes::LARGEST.random, "sizes shrink first");
        assert!(fitted.sizes.large < 16 << 20 && fitted.sizes.files < 1024, "{fitted:?}");
        // Here, smaller files are not enough.
        let fitted = fit(&disk(20e6, 100.0), &limits(Some(8_000), None));
        assert!(fitted.sizes.random < Sizes::LARGEST.random, "{fitted:?}");
    }

    /// The slow row is the only one of its group, so it stays, and the others cost nothing.
    #[test]
    fn an_omitted_row_is_not_omitted_again() {
        let mut rows = items(|_| Cost::default());
        rows[0] = Item { group: 1, cost: Cost { fixed: 100.0, ..Cost::default() }, ..rows[0] };
        let fitted = fit(&rows, &limits(Some(1_000), None));
        assert_eq!(fitted.omitted[0], None);
        assert_eq!(fitted.omitted.iter().flatten().count(), rows.len() - 2, "one row of each group stays");
    }

    #[test]
    fn omitted_rows_name_the_time_they_need() {
        let slow =
            |size_kind| Cost { fixed: if size_kind == SizeKind::Files { 30.0 } else { 0.01 }, ..Cost::default() };
        let fitted = fit(&items(slow), &limits(Some(45_000), None));
        let reasons: Vec<&str> = fitted.omitted.iter().flatten().map(String::as_str).collect();
        assert_eq!(reasons, ["needs about 3 min of the 45 s that are left"]);
        assert_eq!(fitted.sizes, Sizes::LARGEST, "the others need not be small for it");
        let fitted = fit(&disk(1e9, 1e5), &limits(None, Some(1 << 20)));
        assert!(fitted.written <= 1 << 20);
        let reasons: Vec<&String> = fitted.omitted.iter().flatten().collect();
        let is_it = |reason: &&&String| reason.starts_with("would write 640 KiB, and no more than 1 MiB");
        assert_eq!(reasons.iter().filter(is_it).count(), 4, "{reasons:?}");
    }

    proptest! {
        #[test]
        fn remaining_rows_fit_or_have_their_least_size(
            bytes in 1e5f64..1e10,
            operations in 1f64..1e6,
            time in 100u64..1_000_000,
            written in prop::option::of(0u64..1 << 40),
        ) {
            let limits = limits(Some(time), written);
            let fitted = fit(&disk(bytes, operations), &limits);
            let left = fitted.omitted.iter().filter(|reason| reason.is_none()).count();
            let Sizes { large, copied, files, random, records } = fitted.sizes;
            prop_assert!(written.is_none_or(|written| fitted.written <= written));
            if fitted.time > Nanos::from_millis(time) {
                prop_assert_eq!((left, random), (1, Sizes::SMALLEST.random));
            }
            let powers = [large, copied, u64::from(files), u64::from(records)];
            prop_assert!(powers.iter().all(|size| size.is_power_of_two()));
        }

        #[test]
        fn requested_sizes_are_not_changed(large in 13u32..40, time in 1u64..100_000) {
            let mut limits = limits(Some(time), None);
            (limits.largest.large, limits.smallest.large) = (1 << large, 1 << large);
            prop_assert_eq!(fit(&disk(1e7, 100.0), &limits).sizes.large, 1 << large);
        }
    }
}
