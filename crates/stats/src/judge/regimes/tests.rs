use super::*;
use crate::compare::fixtures;
use crate::inference::regimes::tests::Noise;
use crate::results::cell::{CacheState, State};

const MIB: u64 = 1 << 20;

const BYTES: Measure = Measure { base: RateBase::Bytes, clock: ClockKind::Returned, together: false };

/// A round that moved these MiB in quarters of a second, in operations of 1 MiB.
fn long(round: u32, quarters: &[u64]) -> Round {
    let interval = |&mib: &u64| RateInterval { ops: mib, bytes: mib * MIB, ..RateInterval::default() };
    let all: u64 = quarters.iter().sum();
    Round {
        round,
        position: 1,
        bytes: all * MIB,
        ops: all,
        returned_s: quarters.len() as f64 / 4.0,
        intervals: quarters.iter().map(interval).collect(),
        ..Round::default()
    }
}

/// Rounds of 64 MiB that took these seconds.
fn short(seconds: &[f64]) -> Vec<Round> {
    let round = |(&returned_s, round): (&f64, u32)| Round {
        round,
        position: 1,
        bytes: 64 * MIB,
        ops: 64,
        returned_s,
        ..Round::default()
    };
    seconds.iter().zip(1..).map(round).collect()
}

fn kept(round: &Round) -> bool {
    !round.discarded
}

#[test]
fn a_change_inside_a_round_has_its_bytes_and_seconds() {
    let quarters = [vec![412, 288], vec![5; 238]].concat();
    let regimes = regimes_of(&[long(1, &quarters)], BYTES, kept);
    let figures: Vec<(u64, f64, f64)> = regimes.iter().map(|one| (one.bytes / MIB, one.seconds, one.from_s)).collect();
    assert_eq!(figures, [(700, 0.5, 0.0), (1190, 59.5, 0.5)]);
    assert!((regimes[0].per_second - (1400 * MIB) as f64).abs() < 1.0, "{regimes:?}");
    assert!((regimes[1].per_second - (20 * MIB) as f64).abs() < 1.0, "{regimes:?}");
    assert_eq!((regimes[1].first_round, regimes[1].first_whole_round()), (1, 2));
}

#[test]
fn a_change_in_the_second_of_four_rounds_leaves_two_whole_rounds() {
    let steady = |quarters: u64| vec![quarters; 12];
    let rounds = [
        long(1, &steady(100)),
        long(2, &[vec![100; 6], vec![10; 6]].concat()),
        long(3, &steady(10)),
        long(4, &steady(10)),
    ];
    let regimes = regimes_of(&rounds, BYTES, kept);
    assert_eq!(regimes.iter().map(|one| one.bytes / MIB).collect::<Vec<_>>(), [1800, 300]);
    assert_eq!(regimes.iter().map(|one| (one.first_round, one.last_round)).collect::<Vec<_>>(), [(1, 2), (2, 4)]);
    assert_eq!(sustained_from(&regimes, &rounds), Some(3));
    assert_eq!(sustained_from(&regimes, &rounds[..3]), None, "one whole round");
    assert_eq!(sustained_from(&[], &rounds), None);
}

#[test]
fn a_change_between_short_rounds_counts_discarded_rounds_too() {
    let mut rounds = short(&[0.1, 0.1, 0.1, 0.1, 1.0, 1.0, 1.0, 1.0]);
    rounds[0].discarded = true;
    let regimes = regimes_of(&rounds, BYTES, kept);
    let places: Vec<(u32, u32, u64)> =
        regimes.iter().map(|one| (one.first_round, one.last_round, one.bytes / MIB)).collect();
    assert_eq!(places, [(1, 4, 256), (5, 8, 256)]);
    assert_eq!(regimes_of(&short(&[0.1, 1.0, 1.0, 1.0, 1.0, 1.0]), BYTES, kept), [], "an outlier");
    assert_eq!(regimes_of(&[], BYTES, kept), []);
}

#[test]
fn a_burst_at_the_beginning_of_every_round_is_no_regime() {
    let rounds: Vec<Round> = (1..=5).map(|round| long(round, &[vec![400], vec![20; 11]].concat())).collect();
    assert_eq!(regimes_of(&rounds, BYTES, kept), []);
    let halves: Vec<Round> = (1..=5).map(|round| long(round, &[vec![400; 6], vec![20; 6]].concat())).collect();
    assert_eq!(regimes_of(&halves, BYTES, kept), []);
}

#[test]
fn a_slow_last_round_is_no_regime_although_it_has_many_quarters() {
    let rounds: Vec<Round> =
        [100, 104, 98, 101, 60].iter().zip(1..).map(|(mib, round)| long(round, &[*mib; 12])).collect();
    assert_eq!(regimes_of(&rounds, BYTES, kept), []);
}

/// A copy counts each byte twice in its intervals. A phase that writes a fifth of what it reads counts a sixth more.
#[test]
fn regimes_of_a_phase_that_reads_and_writes_count_each_byte_once() {
    let quarters = [vec![100; 6], vec![10; 6]].concat();
    let regimes = |bytes: u64| {
        let round = Round { bytes: bytes * MIB, ..long(1, &quarters) };
        let regimes = regimes_of(&[round], BYTES, kept);
        regimes.iter().map(|one| one.bytes / MIB).collect::<Vec<_>>()
    };
    assert_eq!(regimes(660), [600, 60]);
    assert_eq!(regimes(330), [300, 30], "a copy");
    assert_eq!(regimes(550), [500, 50], "reads of 550 MiB and writes of 110 MiB");
}

/// The calls of a write returned from the page cache, and most of the time was spent on the sync.
#[test]
fn quarters_of_the_page_cache_are_not_judged() {
    let durable = Measure { clock: ClockKind::Durable, ..BYTES };
    let mut round = long(1, &[vec![400; 4], vec![20; 20]].concat());
    assert_eq!(regimes_of(std::slice::from_ref(&round), durable, kept).len(), 2);
    round.durable_s = Some(20.0);
    assert_eq!(regimes_of(&[round], durable, kept), []);
}

/// A burst credit is used up after four rounds. Two of three tests use the device.
fn tests_of_a_target(after: u64) -> Vec<Cell> {
    let speeds = |before: u64, after: u64| -> Vec<u64> {
        (0..10).map(|round| if round < 4 { before } else { after } + round % 3).collect()
    };
    let cell = |program: &str, ops: &[u64]| {
        let mut cell = fixtures::cell("a", program, ops);
        // Every round has the same amount of work.
        cell.rounds.iter_mut().for_each(|round| {
            round.returned_s = 10_000.0 / round.ops as f64;
            (round.ops, round.bytes) = (10_000, 10_000 * 4096);
        });
        cell
    };
    let tests = [("read", 1000, after), ("write", 2000, 2 * after), ("cached", 5000, 5000)];
    tests.map(|(name, before, after)| cell(name, &speeds(before, after))).to_vec()
}

#[test]
fn a_change_of_several_tests_of_a_target_is_one_change() {
    let cells = tests_of_a_target(100);
    let step = target_step(&cells).expect("a change");
    assert_eq!((step.round, step.rises, step.bytes), (5, false, 12 * 10_000 * 4096));
    let ops = Measure { base: RateBase::Ops, ..BYTES };
    let regimes: Vec<usize> = cells.iter().map(|cell| regimes_at(&cell.rounds, ops, &step).len()).collect();
    assert_eq!(regimes, [2, 2, 0], "cached reads stay");
    assert_eq!(regimes_at(&cells[0].rounds, ops, &TargetStep { rises: true, ..step }), []);
    let is_warm = |cell: &Cell| Cell { state: State { cache: CacheState::Warm, ..cell.state.clone() }, ..cell.clone() };
    let warm: Vec<Cell> = cells[..2].iter().cloned().chain([is_warm(&cells[2])]).collect();
    let of_device = target_step(&warm).expect("a change");
    assert_eq!((of_device.round, of_device.bytes), (5, 8 * 10_000 * 4096), "copies of memory are no load");
    assert_eq!(target_step(&tests_of_a_target(1000)), None);
    assert_eq!(target_step(&[]), None);
    let rises = target_step(&tests_of_a_target(4000)).expect("a change");
    assert!(rises.rises && rises.round == 5, "{rises:?}");
}

#[test]
fn a_result_whose_rounds_before_the_step_are_left_out_keeps_its_claim() {
    use crate::judge::marks::{Mark, MarkCode};
    let mut cell = tests_of_a_target(100).remove(0);
    cell.regimes = regimes_at(
        &cell.rounds,
        Measure { base: RateBase::Ops, ..BYTES },
        &TargetStep { round: 5, rises: false, bytes: 0, seconds: 0.0 },
    );
    cell.marks.push(Mark { code: MarkCode::Step, value: None, text: String::new() });
    assert_eq!((cell.is_of_one_regime(), cell.undeciding().next()), (false, Some(MarkCode::Step)));
    let from = sustained_from(&cell.regimes, &cell.rounds).expect("enough rounds");
    cell.rounds.iter_mut().for_each(|round| round.discarded = round.round < from);
    assert_eq!((cell.kept().count(), cell.undeciding().next()), (6, None));
    // A cache that warmed up: the slow rounds were the true ones.
    cell.regimes.reverse();
    assert_eq!(cell.undeciding().next(), Some(MarkCode::Step));
    // Documents of earlier versions have the warning and no regimes.
    cell.regimes.clear();
    assert_eq!(cell.undeciding().next(), Some(MarkCode::Step));
}

/// The tests of a target without any change: six rounds, with noise of their own and noise that all tests of a round
/// share. In long rounds, the quarters of a second have noise that resembles its neighbours.
fn undisturbed_target(seed: u64, tests: usize, long_rounds: bool) -> Vec<Cell> {
    let mut of_rounds = Noise::new(seed, 0.08, 0.3);
    let shared = Noise::new(seed + 2_000_000, 0.08, 0.5).at(1.0, 6);
    let mut of_quarters = Noise::new(seed + 1_000_000, 0.15, 0.5);
    let mut cell = |test: usize| {
        let own = of_rounds.at(100.0, 6).into_iter().zip(&shared).map(|(rate, shared)| rate * shared);
        let rounds = own.zip(1..).map(|(rate, number)| {
            if long_rounds {
                let quarters: Vec<u64> = of_quarters.at(rate, 8).into_iter().map(|mib| mib.max(1.0) as u64).collect();
                long(number, &quarters)
            } else {
                Round { round: number, ..short(&[64.0 / rate]).remove(0) }
            }
        });
        let rounds: Vec<Round> = rounds.collect();
        let plain = fixtures::cell("a", &format!("test{test}"), &[1; 6]);
        Cell { rounds, ..plain }
    };
    (0..tests).map(&mut cell).collect()
}

/// Every result is judged by its quarters of a second, by its rounds, and together with the others of its target: three
/// chances of a false change. Together they are at most one in a hundred results.
#[test]
fn undisturbed_results_have_a_step_in_at_most_one_of_a_hundred() {
    let ops = Measure { base: RateBase::Ops, ..BYTES };
    for long_rounds in [false, true] {
        let mut stepped = 0;
        for seed in 1..=50 {
            let cells = undisturbed_target(seed, 10, long_rounds);
            let of_target = target_step(&cells);
            let has_step = |cell: &&Cell| {
                let own = regimes_of(&cell.rounds, ops, kept);
                !own.is_empty() || of_target.is_some_and(|step| !regimes_at(&cell.rounds, ops, &step).is_empty())
            };
            stepped += cells.iter().filter(has_step).count();
        }
        assert!(stepped <= 5, "{stepped} of 500 with long rounds {long_rounds}");
    }
}
