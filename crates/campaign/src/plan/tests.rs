//! Tests of the plan.

use runner::execution::ClaimedClock;
use workload::programs::classic1983::Classic;
use workload::programs::load::{Load, Pattern};
use workload::{Arrivals, Rates};

use super::*;
use crate::presets::{MIB_PER_SECOND, OPS_PER_SEC};

fn plan() -> Plan {
    let rows = Classic::ALL.map(|classic| Row::new(classic.program(8192), MIB_PER_SECOND));
    let schedule = Schedule::Fixed { rounds: 3, promised: 2, discard_first: true, must_agree: true };
    let options = MeasureOptions { claim: ClaimedClock::Returned, timed: false, ceiling: false, live: None };
    let alternatives = rows.into_iter().map(|row| Alternative { targets: vec![0], row }).collect();
    Plan::fixed(("test", options), schedule, 7, alternatives)
}

#[test]
fn every_round_runs_each_alternative_once_in_random_order() {
    let plan = plan();
    let orders: Vec<Vec<usize>> = (1..=8).map(|round| plan.order(round)).collect();
    for order in &orders {
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, [0, 1, 2, 3]);
    }
    assert!(orders.windows(2).any(|pair| pair[0] != pair[1]));
    assert_eq!(plan.order(3), plan.order(3));
}

#[test]
fn omitted_rows_are_not_run() {
    let mut plan = plan();
    plan.alternatives[2].row.omitted = Some("too long".to_owned());
    assert!(!plan.order(1).contains(&2));
}

#[test]
fn only_the_first_of_several_rounds_is_discarded() {
    let mut plan = plan();
    assert_eq!([1, 2, 3].map(|round| plan.discards(round)), [true, false, false]);
    plan.rounds = 1;
    assert!(!plan.discards(1));
}
/// A plan whose sizes are chosen, within 1 GiB.
fn fitted(is_strict: bool) -> Plan {
    let limits = Limits::given(Sizes::SMALLEST, 3);
    let fit = Fit { limits, sizes: None, tried: 1 << 20, most_written: Some(Bytes(1 << 30)), is_strict };
    Plan { sizing: PlannedSizing::FitTime(Box::new(fit)), ..plan() }
}

#[test]
fn loads_write_what_the_rounds_leave_of_the_users_limit() {
    let strict = fitted(true);
    let all = strict.writes(0);
    assert!(all > 1 << 20 && all < 1 << 30, "{all}");
    for is_requested in [false, true] {
        assert_eq!(strict.load_limit(0, is_requested), (1 << 30) - all);
    }
    assert_eq!([false, true].map(|is_requested| fitted(false).load_limit(0, is_requested)), [1 << 30, u64::MAX]);
    assert_eq!(plan().load_limit(0, false), u64::MAX);
    let most = (1 << 30) - all;
    assert!(strict.affords(0, 3, most) && !strict.affords(0, 3, most + 1) && !strict.affords(0, 4, most));
    assert!(strict.affords(0, u32::MAX, 0), "the rounds have a limit of their own");
    assert!(fitted(false).affords(0, 4, u64::MAX));
}

#[test]
fn endless_writes_are_announced_with_their_time_or_their_rate() {
    let words = |loads: &[Load]| {
        let row = |load: &Load| Row::new(load.program(1 << 20, 1), OPS_PER_SEC);
        let alternatives = loads.iter().map(|load| Alternative { targets: vec![0], row: row(load) });
        Plan { alternatives: alternatives.collect(), ..plan() }.writes_in_words(0)
    };
    let load = |pattern, time, warmup| Load { warmup, ..Load::new(pattern, workload::Sizes::all(4096), time) };
    let warmup = Some(Nanos::from_secs(5));
    let said = |loads: &[(Nanos, Option<u32>)]| {
        let load = |(time, rate): &(Nanos, Option<u32>)| {
            let rate = rate.map(|rate| (Rates::All(rate), Arrivals::Constant));
            Load { rate, ..load(Pattern::RandomWrite, *time, warmup) }
        };
        words(&loads.iter().map(load).collect::<Vec<Load>>())
    };
    let (forever, short) = (Time::FOREVER.0, Nanos::from_secs(2));
    assert_eq!(said(&[(forever, None)]), "as much as it can until Ctrl-C");
    assert_eq!(said(&[(short, Some(100))]), "as much as the rate allows in 7.00 s a round");
    assert_eq!(said(&[(short, Some(100)), (short, None)]), "as much as it can in 7.00 s a round");
    // A warm-up writes its file again until its time has passed.
    for pattern in [Pattern::Write, Pattern::Commit] {
        assert_eq!(words(&[load(pattern, short, warmup)]), "as much as it can in 7.00 s a round", "{pattern:?}");
        assert!(words(&[load(pattern, short, None)]).starts_with("up to "), "{pattern:?}");
    }
    assert!(words(&[load(Pattern::Read, short, warmup)]).starts_with("up to "), "only the file itself");
}
