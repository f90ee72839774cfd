//! Tests of comparisons of made-up targets.

use super::*;
use crate::compare::fixtures::{cell, stepped};
use crate::compare::stages::steps;
use crate::judge::floor::{Quantity, Shortfall};
use crate::judge::marks::Mark;
use crate::results::bottleneck::{Bottleneck, LimitedBy};
use crate::results::cell::Io;

fn limited(cell: Cell, what: Bottleneck, flushes: u64, device_written: u64) -> Cell {
    let limited_by = Some(LimitedBy { what, evidence: String::new() });
    let io = Io { program_bytes: Some(1), device_read: 0, device_written, device_written_at_return: 0, flushes };
    Cell { limited_by, io: Some(io), ..cell }
}

#[test]
fn the_same_row_of_each_target_is_compared_in_rounds_that_both_have() {
    let cells = [
        cell("a", "commit", &[100; 7]),
        cell("a", "copy", &[10; 7]),
        cell("a", "copy", &[20; 7]),
        cell("b", "commit", &[200; 6]),
        cell("b", "copy", &[10; 6]),
        cell("b", "copy", &[10; 6]),
        cell("c", "copy", &[10; 6]),
    ];
    let names = ["a", "b", "c"];
    let rows = rows(&cells, &names);
    assert_eq!(
        rows.iter().map(|row| row.key).collect::<Vec<_>>(),
        [("commit", "commit", 0), ("copy", "copy", 0), ("copy", "copy", 1)]
    );
    assert!(rows[0].cells[2].is_none());
    let all = compare(&rows, every_two(3), None, 0.05);
    let said = |one: &Compared| (one.targets, one.row, one.pairs.count(), one.judged.verdict);
    let said: Vec<_> = all.iter().map(said).collect();
    let (same, first, second) = (Verdict::Same, Verdict::Slower, Verdict::Faster);
    assert_eq!(
        said,
        [
            ((0, 1), Some(0), 6, second),
            ((0, 1), Some(1), 6, same),
            ((0, 1), Some(2), 6, first),
            ((0, 2), Some(1), 6, same),
            ((1, 2), Some(1), 6, same),
        ]
    );
    let told = all[2].comparison(&rows, &names, "copy".to_owned(), 0.05);
    assert_eq!((told.faster.as_deref(), told.ratio.map(|ratio| (100.0 * ratio).round())), (Some("a"), Some(50.0)));
}

/// Holm's levels are less strict if fewer comparisons are made: for four stages, the three steps and their sum,
/// instead of all six pairs.
#[test]
fn of_stages_only_the_steps_and_their_sum_are_compared() {
    let cells = ["a", "b", "c", "d"].map(|name| cell(name, "commit", &[100, 110, 90, 105, 95, 100]));
    let names = ["a", "b", "c", "d"];
    let rows = rows(&cells, &names);
    let level = |targets: Vec<(usize, usize)>| {
        let all = compare(&rows, targets.iter().copied(), None, 0.05);
        assert_eq!(all.iter().map(|one| one.targets).collect::<Vec<_>>(), targets);
        all[0].judged.estimate.confidence
    };
    let of_stages = level(steps(4).map(|(_, two)| two).collect());
    assert!((of_stages - (1.0 - 0.05 / 4.0)).abs() < 1e-12, "{of_stages}");
    assert!((level(every_two(4).collect()) - (1.0 - 0.05 / 6.0)).abs() < 1e-12);
}

/// Twice as fast with a weight of three quarters, half as fast with the rest: the square root of two.
#[test]
fn a_use_weighs_the_logarithms() {
    let cells = [
        cell("a", "commit", &[100; 6]),
        cell("a", "copy", &[100; 6]),
        cell("b", "commit", &[200; 6]),
        cell("b", "copy", &[50; 6]),
    ];
    let rows = rows(&cells, &["a", "b"]);
    let purpose = Weighed { name: "x".to_owned(), weights: vec![0.75, 0.25], missing: Vec::new() };
    let all = compare(&rows, every_two(2), Some(&purpose), 0.05);
    let last = all.last().expect("the use");
    assert!(
        last.row.is_none() && (last.judged.estimate.ratio.expect("a ratio") - 2.0_f64.sqrt()).abs() < 1e-9,
        "{:?}",
        last.judged
    );
}

/// Leaving the round out would call the second target as fast as the first.
#[test]
fn a_round_in_which_one_did_nothing_is_said_and_decides_nothing() {
    let mut cells = [cell("a", "commit", &[100; 7]), cell("b", "commit", &[100, 100, 0, 100, 100, 100, 100])];
    let said = |cells: &[Cell]| {
        let rows = rows(cells, &["a", "b"]);
        let purpose = Weighed { name: "x".to_owned(), weights: vec![1.0], missing: Vec::new() };
        let all = compare(&rows, every_two(2), Some(&purpose), 0.05);
        all.iter().map(|one| one.comparison(&rows, &["a", "b"], String::new(), 0.05)).collect::<Vec<_>>()
    };
    for one in said(&cells) {
        assert_eq!((one.verdict, one.pairs, one.ratio), (TargetVerdict::Undecided, 7, None));
        assert!(one.why.is_some_and(|why| why.ends_with("no operation in 1 round")));
    }
    cells[1] = cell("b", "commit", &[0; 7]);
    assert_eq!(said(&cells)[0].why.as_deref(), Some("no operation in 7 rounds"));
}

/// The rates are equal, but credits that came back during the rests may have raised either by a fifth.
#[test]
fn burst_credits_are_a_reason_that_no_round_removes() {
    let mut cells = ["a", "b"].map(|target| cell(target, "commit", &[100; 6]));
    let said = |cells: &[Cell]| {
        let rows = rows(cells, &["a", "b"]);
        compare(&rows, every_two(2), None, 0.05)[0].comparison(&rows, &["a", "b"], String::new(), 0.05)
    };
    assert_eq!(said(&cells).verdict, TargetVerdict::Same);
    cells.iter_mut().flat_map(|cell| &mut cell.rounds).for_each(|round| round.rested_s = Some(0.2));
    let masked = said(&cells);
    assert_eq!((masked.verdict, masked.more_rounds), (TargetVerdict::Undecided, None));
    assert_eq!(masked.why.as_deref(), Some("burst credits may have come back"));
}

/// One rate is twice the other, and only the visibility of the devices decides whether that counts.
#[test]
fn unverified_results_decide_only_among_themselves() {
    let verdict = |blind: [bool; 2]| {
        let mut cells = [cell("a", "commit", &[100; 6]), cell("b", "commit", &[200; 6])];
        for (cell, is_blind) in cells.iter_mut().zip(blind) {
            cell.state.unverified = is_blind.then(|| "no device".to_owned());
        }
        let rows = rows(&cells, &["a", "b"]);
        let purpose = Weighed { name: "x".to_owned(), weights: vec![1.0], missing: Vec::new() };
        let all = compare(&rows, every_two(2), Some(&purpose), 0.05);
        let all: Vec<Comparison> =
            all.iter().map(|one| one.comparison(&rows, &["a", "b"], String::new(), 0.05)).collect();
        // The use has the verdict of its only program.
        assert_eq!(all[0].verdict, all[1].verdict);
        all.into_iter().next().map(|one| (one.verdict, one.more_rounds, one.why)).expect("a comparison")
    };
    for blind in [[false, false], [true, true]] {
        assert_eq!(verdict(blind).0, TargetVerdict::Faster);
    }
    for (blind, name) in [([true, false], "a"), ([false, true], "b")] {
        let why = format!("unverified on {name}: no device");
        assert_eq!(verdict(blind), (TargetVerdict::Undecided, None, Some(why)));
    }
}

/// One rate is twice the other, and only the warnings decide whether that counts.
#[test]
fn a_result_whose_label_is_false_decides_nothing() {
    let verdicts = |code: Option<MarkCode>| {
        let marks = code.map(|code| Mark { code, value: None, text: String::new() });
        let marked = Cell { marks: marks.into_iter().collect(), ..cell("b", "commit", &[200; 6]) };
        let cells =
            [cell("a", "commit", &[100; 6]), cell("a", "copy", &[100; 6]), marked, cell("b", "copy", &[200; 6])];
        let rows = rows(&cells, &["a", "b"]);
        let purpose = Weighed { name: "x".to_owned(), weights: vec![0.5, 0.5], missing: Vec::new() };
        let all = compare(&rows, every_two(2), Some(&purpose), 0.05);
        all.iter().map(|one| one.comparison(&rows, &["a", "b"], String::new(), 0.05)).collect::<Vec<_>>()
    };
    let (faster, open) = (TargetVerdict::Faster, TargetVerdict::Undecided);
    let of = |all: &[Comparison]| all.iter().map(|one| one.verdict).collect::<Vec<_>>();
    for code in MarkCode::ALL.into_iter().filter(|code| code.decides_nothing()) {
        let all = verdicts(Some(code));
        // The program with the warning, the program without it, and the use that contains both.
        assert_eq!(of(&all), [open, faster, open], "{code:?}");
        let why = format!("warning {} (b)", code.name());
        for one in [&all[0], &all[2]] {
            assert_eq!(one.why.as_deref(), Some(why.as_str()));
            assert_eq!((one.faster.as_deref(), one.matters, one.more_rounds), (None, false, None));
            assert!(one.ratio.is_some_and(|ratio| ratio > 1.0), "the ratio stays");
        }
    }
    let harmless = MarkCode::ALL.into_iter().filter(|code| !code.decides_nothing());
    for code in harmless.map(Some).chain([None]) {
        assert_eq!(of(&verdicts(code)), [faster; 3], "{code:?}");
    }
}

/// `few` alone only widens an interval. Below the floor, it leaves the comparison open.
#[test]
fn a_result_below_the_floor_decides_nothing() {
    let below = Some(Shortfall { quantity: Quantity::Time, is: 1, least: 2 });
    let few = Mark { code: MarkCode::Few, value: None, text: String::new() };
    for (below_floor, verdict) in [(None, TargetVerdict::Faster), (below, TargetVerdict::Undecided)] {
        let one = Cell { marks: vec![few.clone()], below_floor, ..cell("b", "commit", &[200; 6]) };
        let cells = [cell("a", "commit", &[100; 6]), one];
        let rows = rows(&cells, &["a", "b"]);
        let all = compare(&rows, every_two(2), None, 0.05);
        let said = all[0].comparison(&rows, &["a", "b"], String::new(), 0.05);
        assert_eq!(said.verdict, verdict);
        assert_eq!(said.why.as_deref(), below_floor.map(|_| "warning few (b)"));
    }
}

/// The first target is ten times as fast until its credit is used up, and then half as fast.
#[test]
fn targets_are_compared_by_their_last_level() {
    let compared = |first: &[u64], second: &[u64]| {
        let cells = [stepped("a", "commit", first), cell("b", "commit", second)];
        let rows = rows(&cells, &["a", "b"]);
        let all = compare(&rows, every_two(2), None, 0.05);
        (all[0].judged.is_narrow, all[0].comparison(&rows, &["a", "b"], String::new(), 0.05))
    };
    let (fast, slow) = ([1000, 1001, 999, 1000], [50, 51, 50, 49, 50, 51, 50]);
    let (is_narrow, one) = compared(&[&fast[..], &slow].concat(), &[100; 11]);
    assert_eq!((one.verdict, one.faster.as_deref(), one.pairs), (TargetVerdict::Faster, Some("b"), 7));
    assert!(is_narrow && one.low.zip(one.high).is_some_and(|(low, high)| low < 2.0 && high > 1.9), "{one:?}");
    assert_eq!(one.marks, [MarkCode::Step], "the warning stays");
    // Five pairs are too few, and the rounds before forecast nothing.
    let (_, one) = compared(&[&fast[..], &slow[..5]].concat(), &[100; 9]);
    assert_eq!((one.verdict, one.pairs, one.more_rounds), (TargetVerdict::Undecided, 5, None));
    assert_eq!(one.why.as_deref(), Some("a rate changed its level"));
    // The change was in the last round but one: the rate is a mean of both levels.
    let mut mean = stepped("a", "commit", &[&fast[..], &slow[..3]].concat());
    mean.rounds.iter_mut().for_each(|round| round.discarded = false);
    let cells = [mean, cell("b", "commit", &[100; 7])];
    let rows = rows(&cells, &["a", "b"]);
    let all = compare(&rows, every_two(2), None, 0.05);
    assert_eq!((all[0].judged.is_narrow, all[0].judged.verdict), (false, Verdict::Undecided));
}

/// The run ended in the last round, before the third target.
#[test]
fn a_round_that_a_third_target_lacks_counts_for_the_others() {
    let cells = [cell("a", "commit", &[100; 7]), cell("b", "commit", &[200; 7]), cell("c", "commit", &[100; 6])];
    let rows = rows(&cells, &["a", "b", "c"]);
    let pairs: Vec<usize> = compare(&rows, every_two(3), None, 0.05).iter().map(|one| one.pairs.count()).collect();
    assert_eq!(pairs, [7, 6, 6]);
}

/// Figures are those of the rounds that all targets kept. A verdict uses more rounds if a third target has a step.
#[test]
fn a_step_of_one_target_costs_the_others_no_rounds() {
    let (fast, slow) = ([1000, 1001, 999, 1000], [50, 51, 50, 49, 50, 51, 50]);
    let cells = [
        cell("a", "commit", &[100; 11]),
        cell("b", "commit", &[200; 11]),
        stepped("c", "commit", &[&fast[..], &slow].concat()),
    ];
    let rows = rows(&cells, &["a", "b", "c"]);
    let pairs: Vec<usize> = compare(&rows, every_two(3), None, 0.05).iter().map(|one| one.pairs.count()).collect();
    assert_eq!(pairs, [11, 7, 7]);
    let rounds: Vec<Option<u32>> = rows[0].figures().iter().map(|rate| Some(rate.as_ref()?.rounds)).collect();
    assert_eq!(rounds, [Some(7); 3]);
}

#[test]
fn the_device_tells_why_where_it_is_waited_for() {
    let [mut a, b] = ["ext4", "xfs"].map(|name| cell(name, "commit", &[100; 6]));
    let slower = |cell: &mut Cell| cell.rate.iter_mut().for_each(|rate| rate.per_second /= 2.0);
    slower(&mut a);
    let [one, other] = [limited(a.clone(), Bottleneck::Flush, 1200, 1), limited(b.clone(), Bottleneck::Flush, 600, 1)];
    assert_eq!(why(&one, &other).as_deref(), Some("ext4: 2.0 flushes per commit, xfs: 1.0"));
    // The numbers of flushes are almost equal, the bytes differ.
    let bytes = 600 * 4096;
    let [one, other] =
        [limited(a.clone(), Bottleneck::Device, 600, 2 * bytes), limited(b.clone(), Bottleneck::Device, 600, bytes)];
    assert_eq!(why(&one, &other).as_deref(), Some("ext4: 2.0 bytes written per byte, xfs: 1.0"));
    let [one, other] = [limited(a.clone(), Bottleneck::Cpu, 1200, 1), limited(b.clone(), Bottleneck::Device, 1150, 1)];
    assert_eq!(why(&one, &other).as_deref(), Some("ext4: CPU-bound, xfs: device-bound"));
    // The faster one flushes and writes more: the reason is the bottlenecks.
    let [one, other] =
        [limited(a.clone(), Bottleneck::Cpu, 600, bytes), limited(b.clone(), Bottleneck::Flush, 1200, 2 * bytes)];
    assert_eq!(why(&one, &other).as_deref(), Some("ext4: CPU-bound, xfs: flush-bound"));
    assert_eq!(why(&other, &one).as_deref(), Some("xfs: flush-bound, ext4: CPU-bound"));
    // Both are CPU-bound, and the slower one uses more CPU time. 600 calls each.
    let [mut one, mut other] = [limited(a.clone(), Bottleneck::Cpu, 0, 0), limited(b.clone(), Bottleneck::Cpu, 0, 0)];
    one.rate.clone_from(&b.rate);
    slower(&mut other);
    let timed = |cell: Cell, nanos: u64| Cell {
        time: Some(BTreeMap::from([("system".to_owned(), nanos), ("device_service".to_owned(), 7)])),
        ..cell
    };
    let [few, many] = [timed(one.clone(), 600_000), timed(other.clone(), 1_200_000)];
    assert_eq!(why(&few, &many).as_deref(), Some("ext4: 1.00 us CPU per commit, xfs: 2.00 us"));
    // The faster one uses more CPU time, which is not a reason.
    assert_eq!(why(&timed(one.clone(), 1_200_000), &timed(other, 600_000)), None);
    // A bottleneck of both is not a reason.
    assert_eq!(why(&one, &limited(b.clone(), Bottleneck::Cpu, 0, 0)), None);
    assert_eq!(why(&a, &b), None);
}
