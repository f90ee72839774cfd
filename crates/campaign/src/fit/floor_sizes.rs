//! The least sizes at which rows reach the floor, computed from the costs that trials measured. `stats::judge::floor`
//! has the floor and its reasons.

use stats::judge::floor::{ALL_ROUNDS, LONG, LONG_ROUND, OPERATIONS, ROUND, ROUND_BYTES, SPAN, SPAN_WRITING};
use units::Nanos;

use crate::fit::limits::{Item, Limits};
use crate::fit::sizes::{BLOCK, SizeKind, Sizes};

/// Sizes are this much larger than the trials demand, because a round may be a little quicker than its trial. Guess.
const HEADROOM: f64 = 1.2;

/// The same for rounds of a second, whose rate is better known. A throttled group begins with the credit of a slice of
/// 100 ms; in such rounds, a disk of 20 MiB/s wrote 5 to 12 % more than its limit (measured).
const LONG_HEADROOM: f64 = 1.15;

/// The limit of records is this many times the number that the floor needs, if the largest size allows that. A high
/// limit costs little: a slow row ends earlier, by its time. Guess.
const SPARE: f64 = 4.0;

/// The least sizes at which all rows reach the floor in this number of rounds. Given sizes stay. May exceed the largest
/// sizes.
pub fn floor_sizes(items: &[Item], limits: &Limits, rounds: u32) -> Sizes {
    let mut sizes = limits.smallest;
    if !limits.has_floor {
        return sizes;
    }
    if limits.smallest.random != limits.largest.random {
        // This time is enough for the floor, however many operations there are.
        sizes.random = sizes.random.max(Nanos(LONG.0.div_ceil(u64::from(rounds.max(1)))));
    }
    let bound = items.iter().filter(|item| !item.omitted && !limits.is_given(item.size_kind));
    for item in bound {
        let (kind, Some(mut least)) = (item.size_kind, least_amount(item, rounds)) else { continue };
        let most = kind.amount(&limits.largest);
        if kind == SizeKind::Records {
            least = least.max((SPARE * least as f64).min(most as f64) as u64);
        }
        if least > kind.amount(&sizes) {
            // `with_amount` may round up beyond the largest size. Then the largest size is enough.
            let next = kind.with_amount(&sizes, least);
            let is_beyond = least <= most && kind.amount(&next) > most;
            sizes = if is_beyond { kind.with_amount(&sizes, most) } else { next };
        }
    }
    sizes
}

/// The least amount of a row's size; `None` if the row has no floor, because its speed is unknown: on a simulated
/// machine.
fn least_amount(item: &Item, rounds: u32) -> Option<u64> {
    let pace = item.cost.pace;
    if pace <= 0.0 {
        return None;
    }
    let rounds = f64::from(rounds.max(1));
    let each_of = |all: Nanos| all.as_secs_f64() / rounds;
    let lasting = |seconds: f64| HEADROOM * seconds / pace;
    let round = lasting(each_of(ALL_ROUNDS).max(ROUND.as_secs_f64()));
    let operations = OPERATIONS as f64 / rounds;
    let amount = match item.size_kind {
        SizeKind::Large | SizeKind::Copied | SizeKind::SmallCalls => {
            let long = LONG_HEADROOM * LONG_ROUND.as_secs_f64() / pace;
            round.max(long.min(ROUND_BYTES.0 as f64))
        }
        SizeKind::Files => round.max(operations.min(lasting(each_of(LONG)))),
        SizeKind::Records => operations.max(round),
        SizeKind::Spots => {
            // Each round writes the file again.
            let writable = each_of(SPAN_WRITING) / item.cost.each.max(f64::MIN_POSITIVE);
            writable.min(SPAN.0 as f64).max(BLOCK as f64 * operations.max(round))
        }
    };
    Some(amount.ceil() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::cost::Cost;

    fn item(size_kind: SizeKind, each: f64, pace: f64) -> Item {
        let cost = Cost { each, pace, operation: pace, ..Cost::default() };
        Item { size_kind, cost, writes: 1, test: 0, weight: 0.0, results: 1, omitted: false, has_ceiling: false }
    }

    fn limits() -> Limits {
        Limits { smallest: Sizes::SMALLEST, ..Limits::given(Sizes::LARGEST, 5) }
    }

    /// The least size of one row, in five rounds.
    fn least(size_kind: SizeKind, each: f64, pace: f64) -> u64 {
        size_kind.amount(&floor_sizes(&[item(size_kind, each, pace)], &limits(), 5))
    }

    /// True if the size is at least that, and larger by less than headroom and rounding allow.
    fn is_just(size: u64, least: f64) -> bool {
        (least..least * HEADROOM * 1.13).contains(&(size as f64))
    }

    #[test]
    fn sequential_rows_last_a_fifth_of_a_second_and_move_64_mib_or_last_a_second() {
        // 1 GB/s: a second in five rounds. 100 MB/s: 64 MiB. 20 MB/s: a second.
        for (rate, bytes) in [(1e9, 0.2e9), (1e8, ROUND_BYTES.0 as f64), (2e7, 2e7)] {
            let size = least(SizeKind::Large, 2.0 / rate, 1.0 / rate);
            assert!(is_just(size, bytes), "{rate}: {size}");
        }
        // Of twenty rounds, each takes a tenth of a second.
        let many = floor_sizes(&[item(SizeKind::Large, 2e-10, 1e-10)], &limits(), 20).large;
        assert!(is_just(many, 1e9), "{many}");
    }

    #[test]
    fn small_files_are_a_thousand_in_all_or_take_five_seconds() {
        assert!(is_just(least(SizeKind::Files, 0.02, 0.01), 100.0), "5 s of 10 ms");
        assert!(is_just(least(SizeKind::Files, 0.002, 0.001), 200.0));
        assert!(is_just(least(SizeKind::Files, 1e-4, 1e-5), 20_000.0), "a fifth of a second each");
    }

    #[test]
    fn random_places_span_256_mib_or_five_seconds_of_writing() {
        assert_eq!(least(SizeKind::Spots, 1e-9, 1e-4), SPAN.0);
        // 20 MB/s, a second in each of five rounds.
        let slow = least(SizeKind::Spots, 5e-8, 0.01);
        assert!(is_just(slow, 2e7), "{slow}");
        // At a million reads per second, a round needs more blocks than that.
        assert!(least(SizeKind::Spots, 1e-9, 1e-6) > SPAN.0);
    }

    #[test]
    fn timed_rows_take_five_seconds_in_all() {
        let sizes = |rounds| floor_sizes(&[item(SizeKind::Records, 0.0, 1e-4)], &limits(), rounds);
        assert_eq!((sizes(5).random, sizes(10).random), (Nanos::from_secs(1), Nanos::from_millis(500)));
        // Enough records for the time of a round, even if commits are a few times as quick.
        assert!(sizes(5).records >= 8000, "{:?}", sizes(5));
        assert!(is_just(least(SizeKind::Records, 0.0, 0.1), SPARE * 200.0));
    }

    #[test]
    fn given_sizes_and_rows_of_unknown_speed_have_no_floor() {
        let given = Limits { largest: Sizes { large: 1 << 20, ..Sizes::LARGEST }, ..limits() };
        let given = Limits { smallest: Sizes { large: 1 << 20, ..Sizes::SMALLEST }, ..given };
        assert_eq!(floor_sizes(&[item(SizeKind::Large, 1e-9, 1e-9)], &given, 5).large, 1 << 20);
        assert_eq!(floor_sizes(&[item(SizeKind::Large, 0.0, 0.0)], &limits(), 5).large, Sizes::SMALLEST.large);
        let all = Limits::given(Sizes::SMALLEST, 5);
        assert_eq!(floor_sizes(&[item(SizeKind::Records, 0.0, 1e-6)], &all, 5), Sizes::SMALLEST);
        let none = Limits { has_floor: false, ..limits() };
        assert_eq!(floor_sizes(&[item(SizeKind::Large, 1e-9, 1e-9)], &none, 5), Sizes::SMALLEST);
        let left_out = Item { omitted: true, ..item(SizeKind::Large, 1e-9, 1e-9) };
        assert_eq!(floor_sizes(&[left_out], &limits(), 5).large, Sizes::SMALLEST.large);
    }

    #[test]
    fn the_quickest_row_decides() {
        let rows = [item(SizeKind::Large, 1e-8, 1e-8), item(SizeKind::Large, 1e-9, 1e-9)];
        assert!(is_just(floor_sizes(&rows, &limits(), 5).large, 0.2e9));
    }
}
