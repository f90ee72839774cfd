//! The floor: the least data from which a rate tells something about the storage. With less, the burst of a throttled
//! volume, a cache or chance decides. Simulated machines have none of these and need no floor.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Nanos, whole};
use workload::RateBase;

use super::marks::{Mark, MarkCode};
use crate::results::clock::ClockKind;
use crate::results::round::Round;

/// Minimum time of a round. Linux lets a throttled group make up for earlier idle time in slices of up to 100 ms
/// (block/blk-throttle.c), so that a shorter round may not meet the limit at all.
pub const ROUND: Nanos = Nanos::from_millis(100);

/// Bytes that a round moves at least, unless it lasts [`LONG_ROUND`]. Chosen: a few times the largest request queue of
/// a drive (256 requests of 128 KiB), and the second that a throttled disk of 60 MiB/s needs for them.
pub const ROUND_BYTES: Bytes = Bytes::mib(64);

/// In this time, a throttled loop device gives at most a quarter more than its limit (tried: 10 to 24 %).
pub const LONG_ROUND: Nanos = Nanos::from_secs(1);

/// Minimum time of all rounds together. Chosen: a stall of 50 ms changes the mean by 5 %, the default margin.
pub const ALL_ROUNDS: Nanos = Nanos::from_secs(1);

/// Minimum extent of random places. Chosen: more than the caches of most drives and controllers.
pub const SPAN: Bytes = Bytes::mib(256);

/// A smaller extent is enough if writing it takes this long in all rounds. Chosen: a twelfth of the minute of `quick`.
pub const SPAN_WRITING: Nanos = Nanos::from_secs(5);

/// Minimum number of single operations, unless they take [`LONG`]. The 99th percentile needs as many.
pub const OPERATIONS: u64 = 1000;

/// In this time, any number of operations or runs is enough. A disk with 100 operations per second does 500.
pub const LONG: Nanos = Nanos::from_secs(5);

/// A 99th percentile of fewer operations is printed with their number: fewer than a hundred are above it.
pub const P99_OPERATIONS: u64 = 10_000;

/// Minimum number of runs of a command, unless they take [`LONG`]. Chosen: Student's interval of ten runs is a third
/// wider than the interval of infinitely many, of five runs a half.
pub const RUNS: u64 = 10;

/// The kind of a test, which decides the data that it needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It moves bytes.
    Bytes,
    /// It does single operations, or handles files.
    Operations,
    /// It runs a command.
    Command,
}

impl Kind {
    /// Returns the kind of a test whose rate counts these units. `is_command` is true for a command of the user.
    pub fn new(base: RateBase, is_command: bool) -> Kind {
        match base {
            _ if is_command => Kind::Command,
            RateBase::Bytes => Kind::Bytes,
            RateBase::Files | RateBase::Ops => Kind::Operations,
        }
    }
}

/// The missing quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// Time of the shortest round, in nanoseconds.
    RoundTime,
    /// Bytes of the smallest round.
    RoundBytes,
    /// Time of all rounds, in nanoseconds.
    Time,
    /// Extent of the random places, in bytes.
    Span,
    /// Single operations in all rounds.
    Operations,
    /// Runs of a command.
    Runs,
}

/// Data that a result lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Shortfall {
    /// The missing quantity.
    pub quantity: Quantity,
    /// The measured amount.
    pub is: u64,
    /// The least amount.
    pub least: u64,
}

impl Shortfall {
    /// Returns the warning of a result that lacks these data.
    pub fn mark(&self) -> Mark {
        Mark { code: MarkCode::Few, value: Some(self.is as f64), text: self.to_string() }
    }

    /// True if more rounds of the same size help.
    pub fn needs_rounds(&self) -> bool {
        matches!(self.quantity, Quantity::Time | Quantity::Operations | Quantity::Runs)
    }
}

/// `400 ms, less than 1.00 s`, `128 operations, fewer than 1,000`.
impl fmt::Display for Shortfall {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let &Shortfall { quantity, is, least } = self;
        match quantity {
            Quantity::RoundTime => write!(f, "a round took {}, less than {}", Nanos(is), Nanos(least)),
            Quantity::RoundBytes => write!(f, "a round moved {}, less than {}", Bytes(is), Bytes(least)),
            Quantity::Time => write!(f, "{}, less than {}", Nanos(is), Nanos(least)),
            Quantity::Span => write!(f, "random places in {}, less than {}", Bytes(is), Bytes(least)),
            Quantity::Operations => write!(f, "{} operations, fewer than {}", whole(is), whole(least)),
            Quantity::Runs => write!(f, "{} runs, fewer than {}", whole(is), whole(least)),
        }
    }
}

/// Returns the data that a result of these kept rounds lacks; `None` if they are enough. `span` is the extent of its
/// random places in bytes, if it has such places and if that extent is judged.
pub fn shortfall(kind: Kind, rounds: &[&Round], clock: ClockKind, span: Option<u64>) -> Option<Shortfall> {
    let time = |round: &&Round| Nanos((round.elapsed_s(clock) * 1e9).round() as u64);
    let all = rounds.iter().map(time).fold(Nanos::ZERO, Nanos::saturating_add);
    let operations: u64 = rounds.iter().map(|round| round.ops).sum();
    let lack = |quantity, is: u64, least: u64| (is < least).then_some(Shortfall { quantity, is, least });
    let long_or = |shortfall: Option<Shortfall>| shortfall.filter(|_| all < LONG);
    if kind == Kind::Command {
        return long_or(lack(Quantity::Runs, rounds.len() as u64, RUNS));
    }
    let short_bytes = || {
        let short = rounds.iter().filter(|round| time(round) < LONG_ROUND);
        lack(Quantity::RoundBytes, short.map(|round| round.bytes).min()?, ROUND_BYTES.0)
    };
    let of_operations = || long_or(lack(Quantity::Operations, operations, OPERATIONS));
    let of_kind = || if kind == Kind::Bytes { short_bytes() } else { of_operations() };
    span.and_then(|span| lack(Quantity::Span, span, SPAN.0))
        .or_else(|| lack(Quantity::Time, all.0, ALL_ROUNDS.0))
        .or_else(|| lack(Quantity::RoundTime, rounds.iter().map(time).min()?.0, ROUND.0))
        .or_else(of_kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(seconds: f64, bytes: u64, ops: u64) -> Round {
        Round { returned_s: seconds, bytes, ops, ..Round::default() }
    }

    /// The text of the data that are missing in `count` equal rounds; empty if they are enough.
    fn said(kind: Kind, count: usize, one: &Round, span: Option<u64>) -> String {
        let rounds = vec![one; count];
        shortfall(kind, &rounds, ClockKind::Returned, span).map_or_else(String::new, |lack| lack.to_string())
    }

    const ENOUGH: u64 = ROUND_BYTES.0;

    #[test]
    fn all_rounds_take_a_second_and_each_a_tenth() {
        let sequential = |count, seconds| said(Kind::Bytes, count, &round(seconds, ENOUGH, 1), None);
        assert_eq!(sequential(5, 0.2), "");
        assert_eq!(sequential(5, 0.199), "995 ms, less than 1.00 s");
        assert_eq!(sequential(10, 0.1), "");
        assert_eq!(sequential(11, 0.0999), "a round took 99.9 ms, less than 100 ms");
        assert_eq!(sequential(4, 0.1), "400 ms, less than 1.00 s");
        // The claimed clock counts.
        let one = Round { durable_s: Some(1.0), ..round(0.001, ENOUGH, 1) };
        assert_eq!(shortfall(Kind::Bytes, &[&one], ClockKind::Durable, None), None);
        assert!(shortfall(Kind::Bytes, &[&one], ClockKind::Returned, None).is_some());
    }

    #[test]
    fn a_round_moves_64_mib_or_takes_a_second() {
        let sequential = |seconds, bytes| said(Kind::Bytes, 5, &round(seconds, bytes, 1), None);
        assert_eq!(sequential(0.9, ENOUGH - (1 << 20)), "a round moved 63 MiB, less than 64 MiB");
        assert_eq!(sequential(0.9, ENOUGH), "");
        assert_eq!(sequential(1.0, 4096), "");
    }

    #[test]
    fn single_operations_are_a_thousand_or_take_five_seconds() {
        let random = |seconds, ops| said(Kind::Operations, 5, &round(seconds, 0, ops), None);
        assert_eq!(random(0.2, 200), "");
        assert_eq!(random(0.2, 199), "995 operations, fewer than 1,000");
        assert_eq!(random(0.99, 100), "500 operations, fewer than 1,000");
        assert_eq!(random(1.0, 100), "");
        assert_eq!(random(0.1, 100_000), "500 ms, less than 1.00 s");
    }

    #[test]
    fn random_places_span_256_mib() {
        let random = |span| said(Kind::Operations, 5, &round(1.0, 0, 1000), span);
        assert_eq!(random(Some(512 << 10)), "random places in 512 KiB, less than 256 MiB");
        assert_eq!((random(Some(SPAN.0)), random(None)), (String::new(), String::new()));
        // Random writes count bytes in the lab's programs.
        let writes = said(Kind::Bytes, 5, &round(1.0, ENOUGH, 1), Some(1 << 20));
        assert_eq!(writes, "random places in 1 MiB, less than 256 MiB");
    }

    #[test]
    fn commands_run_ten_times_or_five_seconds() {
        let command = |count, seconds| said(Kind::Command, count, &round(seconds, 0, 1), None);
        assert_eq!(command(9, 0.5), "9 runs, fewer than 10");
        assert_eq!((command(10, 0.001), command(2, 2.5)), (String::new(), String::new()));
    }

    #[test]
    fn more_rounds_help_only_against_a_lack_of_rounds() {
        let lack = |kind, one: &Round, span| shortfall(kind, &[one], ClockKind::Returned, span).expect("a lack");
        assert!(lack(Kind::Command, &round(0.1, 0, 1), None).needs_rounds());
        assert!(lack(Kind::Operations, &round(0.2, 0, 200), None).needs_rounds());
        assert!(!lack(Kind::Operations, &round(2.0, 0, 2000), Some(1)).needs_rounds());
        let mark = lack(Kind::Operations, &round(2.0, 0, 200), None).mark();
        assert_eq!(
            (mark.code, mark.value, mark.text.as_str()),
            (MarkCode::Few, Some(200.0), "200 operations, fewer than 1,000")
        );
    }

    #[test]
    fn the_kind_follows_from_the_rate() {
        let kinds = [RateBase::Bytes, RateBase::Files, RateBase::Ops].map(|base| Kind::new(base, false));
        assert_eq!(kinds, [Kind::Bytes, Kind::Operations, Kind::Operations]);
        assert_eq!(Kind::new(RateBase::Ops, true), Kind::Command);
    }

    #[test]
    fn no_round_lacks_everything() {
        assert_eq!(said(Kind::Bytes, 0, &Round::default(), None), "0 ns, less than 1.00 s");
    }
}
