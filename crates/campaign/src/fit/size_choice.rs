//! Chooses the sizes of a preset's programs and the number of rounds, so that every result reaches the floor and all
//! fit into a time and a number of bytes written. Decides only: the caller measures the cost of the rows.
//!
//! Policy:
//!   1. sizes start at the floor, as the trials predict it (`floor_sizes`); given sizes stay. A test whose floor has no
//!      room is left out, as n.m.;
//!   2. while too much is written or it takes too long, there are fewer rounds, down to their minimum: an interval of
//!      fewer than five rounds is not informative;
//!   3. then tests are left out, as n.m., with the time or bytes that they need: those with the least weight first. Of
//!      the same weight, the one that costs most for each of its results; of the same cost, the later one;
//!   4. of the tests that were left out, those that fit after all come back, the last one first;
//!   5. then sizes grow, the smallest multiple of its floor first, until the time or the bytes are used.

use units::{Bytes, Nanos};

use crate::fit::duration_words::about;
use crate::fit::floor_sizes::floor_sizes;
use crate::fit::limits::{Item, Limits};
use crate::fit::sizes::{SizeKind, Sizes};

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
    /// The time that all rows need in the fewest rounds, if that was too long.
    pub needed: Option<Nanos>,
}

impl Fitted {
    /// True if no row is left that takes time.
    pub fn is_empty(&self) -> bool {
        self.time == Nanos::ZERO
    }
}

/// Finds the largest sizes at which these rows fit.
pub fn fit(items: &[Item], limits: &Limits) -> Fitted {
    let mut choice = Choice { items: items.to_vec(), omitted: vec![None; items.len()], limits, rounds: limits.rounds };
    choice.leave_out_what_has_no_room();
    let fewest = limits.fewest_rounds.min(limits.rounds);
    choice.rounds = (fewest..=limits.rounds).rev().find(|&rounds| choice.fits_in(rounds)).unwrap_or(fewest);
    let needed = choice.leave_out_what_exceeds();
    let sizes = choice.shown(&choice.grown(), items);
    let Choice { items, omitted, rounds, .. } = choice;
    let time =
        |items: &[Item]| Nanos((items.iter().map(|item| item.seconds(&sizes, rounds)).sum::<f64>() * 1e9) as u64);
    Fitted {
        sizes,
        rounds,
        omitted,
        times: items.iter().map(|item| time(&[*item])).collect(),
        time: time(&items),
        written: items.iter().map(|item| item.written(&sizes, rounds)).sum(),
        needed,
    }
}

/// The state of the choice.
struct Choice<'a> {
    items: Vec<Item>,
    /// For each row, the reason for leaving it out.
    omitted: Vec<Option<String>>,
    limits: &'a Limits,
    rounds: u32,
}

/// The exceeded limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Excess {
    Written,
    Time,
}

impl Choice<'_> {
    /// The sizes at the floor.
    fn least(&self) -> Sizes {
        floor_sizes(&self.items, self.limits, self.rounds)
    }

    fn fits_in(&self, rounds: u32) -> bool {
        self.excess(&floor_sizes(&self.items, self.limits, rounds), rounds).is_none()
    }

    fn excess(&self, sizes: &Sizes, rounds: u32) -> Option<Excess> {
        let written = self.items.iter().map(|item| item.written(sizes, rounds)).fold(0, u64::saturating_add);
        let seconds: f64 = self.items.iter().map(|item| item.seconds(sizes, rounds)).sum();
        if self.limits.written.is_some_and(|limit| written > limit) {
            Some(Excess::Written)
        } else if self.limits.time.is_some_and(|limit| seconds > limit.as_secs_f64()) {
            Some(Excess::Time)
        } else {
            None
        }
    }

    /// The tests that are not left out, in order.
    fn tests(&self) -> Vec<usize> {
        let mut tests: Vec<usize> = self.items.iter().filter(|item| !item.omitted).map(|item| item.test).collect();
        tests.sort_unstable();
        tests.dedup();
        tests
    }

    fn members(&self, test: usize) -> impl Iterator<Item = &Item> {
        self.items.iter().filter(move |item| item.test == test && !item.omitted)
    }

    fn leave_out(&mut self, test: usize, reason: &str) {
        for (item, omitted) in self.items.iter_mut().zip(&mut self.omitted) {
            if item.test == test && !item.omitted {
                item.omitted = true;
                *omitted = Some(reason.to_owned());
            }
        }
    }

    /// Brings a test back, with the rows that this choice left out.
    fn bring_back(&mut self, test: usize) {
        for (item, omitted) in self.items.iter_mut().zip(&mut self.omitted) {
            if item.test == test && omitted.take().is_some() {
                item.omitted = false;
            }
        }
    }

    /// 1.
    fn leave_out_what_has_no_room(&mut self) {
        for test in self.tests() {
            let alone: Vec<Item> = self.members(test).copied().collect();
            let kind = alone[0].size_kind;
            let (needs, most) = (floor_sizes(&alone, self.limits, self.rounds), kind.amount(&self.limits.largest));
            if kind.amount(&needs) > most {
                let bytes = |amount: u64| Bytes(amount.saturating_mul(kind.unit_bytes()));
                let (needs, most) = (bytes(kind.amount(&needs)), bytes(most));
                self.leave_out(test, &format!("needs {needs} at a time; the limit here is {most}"));
            }
        }
    }

    /// 3. and 4. Returns the time of all tests, if it was too long.
    fn leave_out_what_exceeds(&mut self) -> Option<Nanos> {
        let mut needed = None;
        let mut left_out = Vec::new();
        loop {
            let sizes = self.least();
            let Some(excess) = self.excess(&sizes, self.rounds) else { break };
            let cost = |test: usize| -> (f64, f64) {
                let members = || self.members(test);
                let seconds = members().map(|item| item.seconds(&sizes, self.rounds)).sum();
                (seconds, members().map(|item| item.written(&sizes, self.rounds)).max().unwrap_or(0) as f64)
            };
            if excess == Excess::Time {
                let all: f64 = self.tests().into_iter().map(|test| cost(test).0).sum();
                needed.get_or_insert(Nanos((all * 1e9) as u64));
            }
            let burden = |&test: &usize| {
                let (seconds, written) = cost(test);
                let (results, weight) = self.members(test).next().map_or((1, 0.0), |item| (item.results, item.weight));
                let each = if excess == Excess::Time { seconds } else { written } / results.max(1) as f64;
                (-weight, each)
            };
            let order = |a: &(f64, f64), b: &(f64, f64)| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1));
            let next = self.tests().into_iter().max_by(|a, b| order(&burden(a), &burden(b)));
            let Some(test) = next else { break };
            let (seconds, written) = cost(test);
            let reason = match excess {
                Excess::Time => self.late(Nanos((seconds * 1e9) as u64)),
                Excess::Written => self.too_much(Bytes(written as u64)),
            };
            self.leave_out(test, &reason);
            left_out.push((test, reason));
        }
        for (test, reason) in left_out.into_iter().rev() {
            self.bring_back(test);
            if !self.fits_in(self.rounds) {
                self.leave_out(test, &reason);
            }
        }
        needed
    }

    fn late(&self, needs: Nanos) -> String {
        let time = about(self.limits.time.unwrap_or_default());
        format!("needs about {} of the {time} that are left", about(needs))
    }

    fn too_much(&self, needs: Bytes) -> String {
        let of = Bytes(self.limits.written.unwrap_or(0));
        format!("would write {needs}; all tests together may write {of}, unless --max-write allows more")
    }

    /// 5.
    fn grown(&self) -> Sizes {
        let least = self.least();
        let mut sizes = least;
        let is_used = |kind: &SizeKind| self.items.iter().any(|item| !item.omitted && item.grows_with(*kind));
        let used: Vec<SizeKind> = SizeKind::ALL.into_iter().filter(is_used).collect();
        loop {
            let larger = used.iter().filter_map(|&kind| {
                let larger = kind.grown(&sizes).min(&self.limits.largest);
                let is_possible = larger != sizes && self.excess(&larger, self.rounds).is_none();
                is_possible.then(|| (kind.multiple(&sizes, &least), larger))
            });
            let Some((_, larger)) = larger.min_by(|a, b| a.0.total_cmp(&b.0)) else { return sizes };
            sizes = larger;
        }
    }
}

impl Choice<'_> {
    /// These sizes, with the floor of tests that were left out: their rows state it.
    fn shown(&self, sizes: &Sizes, all: &[Item]) -> Sizes {
        let floor = floor_sizes(all, self.limits, self.rounds).min(&self.limits.largest);
        let is_unused = |kind: &SizeKind| !self.items.iter().any(|item| !item.omitted && item.size_kind == *kind);
        SizeKind::ALL
            .into_iter()
            .filter(is_unused)
            .fold(*sizes, |sizes, kind| kind.with_amount(&sizes, kind.amount(&floor)))
    }
}

impl SizeKind {
    /// These sizes with this one larger by a quarter. With the records, the time of all timed rows grows.
    fn grown(self, sizes: &Sizes) -> Sizes {
        let amount = self.amount(sizes);
        let larger = self.with_amount(sizes, amount + (amount / 4).max(1));
        let random = if self == SizeKind::Records { Nanos(sizes.random.0 / 4 * 5) } else { sizes.random };
        Sizes { random, ..larger }
    }

    /// The size as a multiple of another one.
    fn multiple(self, sizes: &Sizes, least: &Sizes) -> f64 {
        match self {
            SizeKind::Records => sizes.random.as_secs_f64() / least.random.as_secs_f64(),
            kind => kind.amount(sizes) as f64 / kind.amount(least).max(1) as f64,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use stats::judge::floor::{LONG_ROUND, ROUND, ROUND_BYTES};

    use super::*;
    use crate::fit::cost::Cost;

    /// The tests of `quick`: bytes written per unit of the size, and the number of results.
    const ROWS: [(SizeKind, u64, usize); 11] = [
        (SizeKind::Large, 1, 1),
        (SizeKind::Large, 1, 1),
        (SizeKind::Large, 1, 1),
        (SizeKind::Large, 2, 1),
        (SizeKind::Spots, 1, 1),
        (SizeKind::Records, 4096, 1),
        (SizeKind::Spots, 1, 1),
        (SizeKind::Files, 4096, 3),
        (SizeKind::SmallCalls, 2, 1),
        (SizeKind::Copied, 2, 1),
        (SizeKind::Copied, 2, 1),
    ];

    /// The rows on a disk with this number of bytes and of operations per second. A prepared file is written first. A
    /// small file takes an operation to be read, and little more: its writes are merged.
    fn disk(bytes: f64, operations: f64) -> Vec<Item> {
        let item = |(test, (size_kind, writes, results)): (usize, (SizeKind, u64, usize))| {
            // write_4096 and write_8192 need no file.
            let passes = if size_kind == SizeKind::Large && (test == 1 || test == 2) { 1.0 } else { 2.0 };
            let (each, pace) = match size_kind {
                SizeKind::Files => (1.3 / operations, 0.1 / operations),
                SizeKind::Records => (0.0, 1.0 / operations),
                SizeKind::Spots => (1.0 / bytes, 1.0 / operations),
                SizeKind::SmallCalls => (2.0 / bytes.min(30e6), 1.0 / bytes.min(30e6)),
                SizeKind::Large | SizeKind::Copied => (passes / bytes, 1.0 / bytes),
            };
            let operation = if size_kind.is_timed() { 1.0 / operations } else { 0.0 };
            let cost = Cost { fixed: 0.05, each, operation, pace, ..Cost::default() };
            Item { size_kind, cost, writes, test, weight: 0.0, results, omitted: false, has_ceiling: false }
        };
        ROWS.into_iter().enumerate().map(item).collect()
    }

    fn limits(time: Option<u64>, written: Option<u64>) -> Limits {
        let time = time.map(Nanos::from_millis);
        Limits { time, written, smallest: Sizes::SMALLEST, ..Limits::given(Sizes::LARGEST, 5) }
    }

    fn results(items: &[Item], fitted: &Fitted) -> usize {
        items.iter().zip(&fitted.omitted).filter(|(_, reason)| reason.is_none()).map(|(item, _)| item.results).sum()
    }

    /// The rest of the minute after four seconds of trials, as `left` computes it.
    const MINUTE: u64 = 47_600;

    #[test]
    fn a_disk_of_20_mib_and_100_operations_has_seven_results_in_a_minute() {
        let items = disk(20.0 * 1_048_576.0, 100.0);
        let fitted = fit(&items, &limits(Some(MINUTE), Some(16 << 30)));
        assert!(fitted.time <= Nanos::from_millis(MINUTE) && fitted.rounds == 5, "{fitted:?}");
        assert!(results(&items, &fitted) >= 7, "{fitted:?}");
        let reasons: Vec<&String> = fitted.omitted.iter().flatten().collect();
        assert!(!reasons.is_empty() && reasons.iter().all(|reason| reason.starts_with("needs about ")), "{reasons:?}");
        // Those that run reach the floor.
        assert!(fitted.sizes.random >= LONG_ROUND && fitted.sizes.large >= 20 << 20, "{fitted:?}");
    }

    #[test]
    fn a_fast_disk_measures_all_and_uses_its_minute_or_its_bytes() {
        for (bytes, operations, least) in [(1e9, 1e5, 10), (500e6, 1e4, 10), (100e6, 2e3, 8)] {
            let items = disk(bytes, operations);
            let fitted = fit(&items, &limits(Some(MINUTE), Some(16 << 30)));
            assert!(results(&items, &fitted) >= least, "{bytes}: {fitted:?}");
            let is_full = fitted.time.0 * 10 > MINUTE * 1_000_000 * 7 || fitted.written > (16 << 30) / 10 * 7;
            assert!(is_full, "{bytes}: {fitted:?}");
            assert!(fitted.time <= Nanos::from_millis(MINUTE) && fitted.written <= 16 << 30, "{fitted:?}");
        }
    }

    #[test]
    fn rounds_are_fewer_before_tests_are_left_out() {
        let items = disk(500e6, 1e4);
        let ten = |millis| fit(&items, &Limits { rounds: 10, fewest_rounds: 6, ..limits(Some(millis), None) });
        let needs = |rounds| {
            let sizes = floor_sizes(&items, &limits(None, None), rounds);
            (items.iter().map(|item| item.seconds(&sizes, rounds)).sum::<f64>() * 1e3) as u64 + 1
        };
        let is_whole = |fitted: &Fitted| fitted.omitted.iter().all(Option::is_none);
        let long = ten(needs(10));
        assert!(long.rounds == 10 && is_whole(&long), "{long:?}");
        let short = ten(needs(6));
        assert!((6..10).contains(&short.rounds) && is_whole(&short) && short.needed.is_none(), "{short:?}");
        let shorter = ten(needs(6) / 2);
        assert!(shorter.rounds == 6 && !is_whole(&shorter) && !shorter.is_empty(), "{shorter:?}");
        assert!(shorter.needed.is_some_and(|needed| needed > Nanos::from_millis(needs(6) / 2)), "{shorter:?}");
    }

    #[test]
    fn the_least_weighted_tests_are_left_out_first() {
        let mut items = disk(60e6, 1500.0);
        // As for --need 'read_8192>=100MiB/s,randread>=3000/s'.
        [0, 4, 6].into_iter().for_each(|test| items[test].weight = 1.0);
        let fitted = fit(&items, &Limits { rounds: 10, fewest_rounds: 6, ..limits(Some(36_000), Some(16 << 30)) });
        let left: Vec<usize> = (0..items.len()).filter(|test| fitted.omitted[*test].is_none()).collect();
        assert!([0, 4, 6].iter().all(|test| left.contains(test)), "{left:?}: {fitted:?}");
        assert!(left.len() < items.len() && fitted.rounds == 6, "{fitted:?}");
    }

    #[test]
    fn a_test_is_left_out_on_all_targets_together() {
        let mut items = disk(500e6, 1e4);
        items.extend(disk(5e6, 100.0));
        let fitted = fit(&items, &limits(Some(60_000), None));
        let (first, second) = fitted.omitted.split_at(ROWS.len());
        let is_left = |omitted: &[Option<String>]| omitted.iter().map(Option::is_none).collect::<Vec<bool>>();
        assert_eq!(is_left(first), is_left(second));
        assert!(is_left(first).contains(&true) && is_left(first).contains(&false));
    }

    #[test]
    fn tests_that_fit_after_all_come_back() {
        let mut items = disk(500e6, 1e4);
        // The light test is left out in favour of the heavy one. The heavy one does not fit either, so the light one
        // comes back.
        (items[1].weight, items[3].weight) = (0.5, 1.0);
        items[3].cost.fixed = 100.0;
        let fitted = fit(&[items[1], items[3]], &limits(Some(20_000), None));
        assert_eq!(fitted.omitted[0], None);
        assert_eq!(fitted.omitted[1].as_deref().map(|reason| reason.starts_with("needs about ")), Some(true));
    }

    #[test]
    fn nothing_is_measured_below_the_floor() {
        let items = disk(20e6, 100.0);
        let fitted = fit(&items, &limits(Some(1000), None));
        assert!(fitted.is_empty() && fitted.needed.is_some(), "{fitted:?}");
        // The floor does not apply to given sizes.
        let given = Limits { time: Some(Nanos::from_secs(10)), ..Limits::given(Sizes::SMALLEST, 5) };
        let fitted = fit(&items, &given);
        assert_eq!((fitted.sizes, fitted.is_empty()), (Sizes::SMALLEST, false));
    }

    #[test]
    fn a_floor_without_room_is_left_out() {
        let items = disk(1e9, 1e5);
        let small = Limits { largest: Sizes { large: 32 << 20, ..Sizes::LARGEST }, ..limits(None, None) };
        let fitted = fit(&items, &small);
        for (item, omitted) in items.iter().zip(&fitted.omitted) {
            assert_eq!(omitted.is_some(), item.size_kind == SizeKind::Large, "{item:?}: {omitted:?}");
        }
        let reason = fitted.omitted[0].as_deref().expect("a reason");
        assert!(reason.ends_with(" at a time; the limit here is 32 MiB"), "{reason}");
    }

    #[test]
    fn too_many_bytes_are_not_written() {
        let items = disk(1e9, 1e5);
        let fitted = fit(&items, &limits(None, Some(2 << 30)));
        assert!(fitted.written <= 2 << 30 && !fitted.is_empty(), "{fitted:?}");
        let reasons: Vec<&String> = fitted.omitted.iter().flatten().collect();
        let is_it = |reason: &&String| reason.starts_with("would write ") && reason.contains("may write 2 GiB");
        assert!(!reasons.is_empty() && reasons.iter().all(is_it), "{reasons:?}");
    }

    proptest! {
        #[test]
        fn remaining_rows_fit_and_reach_the_floor(
            bytes in 1e5f64..1e10,
            operations in 1f64..1e6,
            time in 100u64..1_000_000,
            written in prop::option::of(0u64..1 << 40),
        ) {
            let items = disk(bytes, operations);
            let fitted = fit(&items, &limits(Some(time), written));
            prop_assert!(written.is_none_or(|written| fitted.written <= written));
            prop_assert!(fitted.time <= Nanos::from_millis(time));
            for (item, _) in items.iter().zip(&fitted.omitted).filter(|(_, reason)| reason.is_none()) {
                let amount = item.size_kind.amount(&fitted.sizes) as f64;
                if matches!(item.size_kind, SizeKind::Large | SizeKind::Copied) {
                    let lasts = amount * item.cost.pace;
                    let enough = ROUND_BYTES.0 as f64;
                    prop_assert!(lasts >= 1.0 / 5.0 && lasts >= ROUND.as_secs_f64());
                    prop_assert!(lasts >= LONG_ROUND.as_secs_f64() || amount >= enough);
                }
            }
        }

        #[test]
        fn requested_sizes_are_not_changed(large in 13u32..40, time in 1u64..100_000) {
            let mut limits = limits(Some(time), None);
            (limits.largest.large, limits.smallest.large) = (1 << large, 1 << large);
            prop_assert_eq!(fit(&disk(1e7, 100.0), &limits).sizes.large, 1 << large);
        }
    }
}
