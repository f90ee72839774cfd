//! Tests of comparisons of made-up cells.

use super::*;
use crate::compare::fixtures;
use crate::judge::floor::{Quantity, Shortfall};
use crate::results::cell::CacheState;
use crate::results::clock::ClockKind;

/// A cell whose rounds did these numbers of operations on a file of this size.
fn cell(target: &str, program: &str, file_bytes: u64, rates: &[u64]) -> Cell {
    let parameters = BTreeMap::from([("file_bytes".to_owned(), ParameterValue::Number(file_bytes))]);
    Cell { parameters, ..fixtures::cell(target, program, rates) }
}

fn one(then: &Cell, now: &Cell) -> ComparedCell {
    let found = [found(then, now, true)];
    let judged = judge_found(&found, 0.05).pop().flatten();
    let unguarded = fail_conditions::obstacle(then, now, found[0].as_ref(), false);
    ComparedCell { unguarded, ..compared_cell((then, now), String::new(), found[0].as_ref().zip(judged), 0.05) }
}

#[test]
fn cells_are_the_same_where_only_amounts_differ_and_those_that_differ_in_nothing_come_first() {
    let then = [cell("a", "copy", 64, &[1]), cell("a", "copy", 32, &[1]), cell("a", "gone", 1, &[1])];
    let now = [cell("b", "copy", 32, &[1]), cell("b", "copy", 16, &[1]), cell("b", "new", 1, &[1])];
    let paired = paired(&then, &now, true);
    let sizes = |(then, now): &(&Cell, &Cell)| [then, now].map(|cell| cell.number("file_bytes").expect("a size"));
    assert_eq!(paired.pairs.iter().map(sizes).collect::<Vec<_>>(), [[32, 32], [64, 16]]);
    let names = |cells: Vec<&Cell>| cells.iter().map(|cell| cell.program.clone()).collect::<Vec<_>>();
    assert_eq!((names(paired.only_then), names(paired.only_now)), (vec!["gone".to_owned()], vec!["new".to_owned()]));
    // If there are several targets, their names count.
    assert!(super::paired(&then, &now, false).pairs.is_empty());
}

/// One run printed operations per second, the other KiB/s. The rounds have both bytes and operations.
#[test]
fn rates_are_compared_in_what_the_first_counts() {
    let then = cell("a", "read", 1, &[100, 101, 99, 100, 102]);
    let mut now = cell("a", "read", 1, &[200, 201, 199, 202, 198]);
    let rate = now.rate.as_mut().expect("a rate");
    (rate.base, rate.unit, rate.per_second, rate.value) = (RateBase::Bytes, "KiB/s".to_owned(), 200.0 * 4096.0, 800.0);
    let compared = one(&then, &now);
    assert_eq!(compared.finding, Verdict::Faster);
    assert!((compared.ratio.expect("a ratio") - 1.992).abs() < 0.001, "{compared:?}");
    let rate = compared.now.expect("a rate");
    assert_eq!((rate.unit.as_str(), rate.base), ("ops/sec", RateBase::Ops));
    // Geometric means, so that they have the ratio.
    let first = compared.then.expect("a rate");
    assert!((rate.value / first.value - compared.ratio.expect("a ratio")).abs() < 1e-12, "{rate:?}");
    assert!((199.9..200.0).contains(&rate.value), "{rate:?}");
    assert!(rate.low.is_some_and(|low| low < 200.0 && low > 190.0), "{rate:?}");
}

#[test]
fn a_condition_fails_where_it_is_sure_and_large_enough_and_where_nothing_is_measured_any_more() {
    let then = cell("a", "read", 1, &[100, 101, 99, 100, 102]);
    let says = |rates: &[u64], part: f64| one(&then, &cell("a", "read", 1, rates)).is_slower_by(part);
    let slower = [80, 81, 79, 80, 82];
    assert_eq!((says(&slower, 0.05), says(&slower, 0.19)), (Outcome::Slower, Outcome::Slower));
    assert_eq!(says(&slower, 0.25), Outcome::Well);
    assert_eq!(says(&[100, 99, 101, 100, 102], 0.05), Outcome::Well);
    assert_eq!(says(&[150, 60, 40, 90, 120], 0.05), Outcome::Undecided);
    assert_eq!(says(&[50, 50, 50], 0.05), Outcome::Unguarded(Reason::FewRounds(2, 5)));
    assert_eq!(says(&[], 0.05), Outcome::Missing);
    let none = cell("a", "read", 1, &[]);
    assert_eq!(one(&none, &then).is_slower_by(0.05), Outcome::New);
    // A cell without any work is slower, and rounds without work leave the cell without a usable rate.
    assert_eq!(says(&[0; 5], 0.05), Outcome::Slower);
    assert_eq!(says(&[100, 0, 100, 101, 99, 100], 0.05), Outcome::Unguarded(Reason::IdleIn("new", 1, 6)));
    let few = one(&then, &cell("a", "read", 1, &[50, 50, 50]));
    assert_eq!((few.finding, few.missing_rounds), (Verdict::Undecided, 2));
}

/// A burst credit in both runs, of which the second used up less.
#[test]
fn runs_are_compared_by_their_last_level() {
    let (fast, slow) = (vec![1000, 1001, 999, 1000], vec![100, 101, 99, 100, 102]);
    let run = |fast: &[u64], slow: &[u64]| fixtures::stepped("a", "read", &[fast, slow].concat());
    let sustained = one(&run(&fast, &slow), &run(&[fast.clone(), fast.clone()].concat(), &slow));
    assert_eq!((sustained.finding, sustained.needed_rounds), (Verdict::Same, None));
    assert!(sustained.ratio.is_some_and(|ratio| (0.99..1.01).contains(&ratio)), "{sustained:?}");
    assert_eq!(sustained.unguarded, None);
    // All rounds count, as in a run of which too few followed the change.
    let mut mean = run(&fast, &slow);
    mean.rounds.iter_mut().for_each(|round| round.discarded = false);
    let open = one(&run(&fast, &slow), &mean);
    assert_eq!((open.finding, open.matters, open.needed_rounds), (Verdict::Undecided, false, None));
    assert_eq!(open.why.as_deref(), Some("its rate in new has the warning step"));
    assert_eq!(open.unguarded, Some(Reason::WarnedIn("new", MarkCode::Step)));
}

/// The rates are equal, but credits that came back during the rests may have raised either by a fifth.
#[test]
fn burst_credits_are_a_reason_that_no_round_removes() {
    let mut cell = cell("a", "read", 1, &[100, 101, 99, 100, 102]);
    assert_eq!(one(&cell, &cell).finding, Verdict::Same);
    cell.rounds.iter_mut().for_each(|round| round.rested_s = Some(0.2));
    let masked = one(&cell, &cell);
    assert_eq!((masked.finding, masked.missing_rounds, masked.needed_rounds), (Verdict::Undecided, 0, None));
    assert_eq!(masked.why.as_deref(), Some("burst credits may have come back"));
}

#[test]
fn what_is_simulated_is_exact_where_no_round_differs_from_another() {
    let of = |rates: &[u64]| Cell { provenance: Provenance::Simulated, ..cell("a", "read", 1, rates) };
    let simulated = |rate: u64| of(&[rate; 2]);
    let said = one(&simulated(100), &simulated(90));
    assert_eq!((said.finding, said.confidence, said.low == said.high), (Verdict::Slower, Some(1.0), true));
    assert_eq!(said.is_slower_by(0.05), Outcome::Slower);
    assert_eq!(one(&simulated(100), &simulated(98)).finding, Verdict::Same);
    let real = one(&simulated(100), &cell("a", "read", 1, &[90, 91, 89, 90, 92]));
    assert_eq!(real.finding, Verdict::Undecided);
    // The platters were in another rotational position in each round, or in the other run: then chance has an effect.
    let turning = one(&of(&[100, 140, 60, 90, 110]), &of(&[110, 60, 140, 70, 100]));
    assert_eq!((turning.finding, turning.confidence), (Verdict::Undecided, Some(0.95)));
    let alone = one(&of(&[100]), &of(&[90]));
    assert_eq!(alone.is_slower_by(0.05), Outcome::Unguarded(Reason::FewRounds(4, 5)));
    assert!(!found(&simulated(100), &simulated(90), false).expect("rounds").is_exact);
}

/// Two cells of each run differ in amounts, so their partners are unknown.
#[test]
fn other_amounts_are_compared_only_where_one_is_left_of_each() {
    let sized = |size: u64| cell("a", "copy", size, &[1]);
    let (then, now) = ([sized(64), sized(32)], [sized(128), sized(256)]);
    let paired = super::paired(&then, &now, true);
    assert_eq!((paired.pairs.len(), paired.only_then.len(), paired.only_now.len()), (0, 2, 2));
    // On another drive, the amounts identify the cells.
    let on = |drive: &str, size: u64| {
        let mut cell = sized(size);
        cell.parameters.insert("drive.rpm".to_owned(), ParameterValue::Word(drive.to_owned()));
        cell
    };
    let (then, now) = ([on("a", 64), on("a", 32)], [on("b", 32), on("b", 64)]);
    let paired = super::paired(&then, &now, true);
    assert!(
        paired.pairs.len() == 2
            && paired.pairs.iter().all(|(one, other)| { one.number("file_bytes") == other.number("file_bytes") })
    );
}

#[test]
fn what_is_not_what_it_says_or_of_another_amount_is_not_guarded() {
    let rates = [100, 101, 99, 100, 102];
    let then = cell("a", "read", 1, &rates);
    let why = |then: &Cell, now: &Cell| match one(then, now).is_slower_by(0.05) {
        Outcome::Unguarded(why) => why.to_string(),
        other => format!("{other:?}"),
    };
    assert_eq!(why(&then, &then), "Well");
    let marked = |code: MarkCode| {
        let mark = Mark { code, value: None, text: String::new() };
        Cell { marks: vec![mark], ..then.clone() }
    };
    assert_eq!(why(&then, &marked(MarkCode::Cache)), "its rate in new has the warning cache");
    assert_eq!(why(&marked(MarkCode::Lower), &then), "its rate in base has the warning lower");
    assert_eq!(why(&then, &marked(MarkCode::Noise)), "Well");
    assert_eq!(why(&then, &cell("a", "read", 2, &rates)), "file_bytes differs");
    let mut warm = then.clone();
    warm.state.cache = CacheState::Warm;
    assert_eq!(why(&then, &warm), "the cache state differs");
    let mut unverified = then.clone();
    unverified.state.unverified = Some("no device".to_owned());
    let reason = |name: &str| format!("unverified in {name}: no device");
    assert_eq!(
        [why(&then, &unverified), why(&unverified, &then), why(&unverified, &unverified)],
        [reason("new"), reason("base"), "Well".to_owned()]
    );
    let mut durable = then.clone();
    durable.state.clock = ClockKind::DataDurable;
    durable.rounds.iter_mut().for_each(|round| round.data_durable_s = Some(1.0));
    assert_eq!(why(&then, &durable), "the end point of the measurement differs");
    let found = found(&then, &then, true);
    let interrupted = fail_conditions::obstacle(&then, &then, found.as_ref(), true);
    assert_eq!(interrupted.map(|reason| reason.to_string()).as_deref(), Some("new was interrupted"));
}

/// One run is twice as fast as the other. That decides something only if both or none could be checked.
#[test]
fn an_unverified_run_is_compared_only_with_another_one() {
    let plain = cell("a", "read", 1, &[100, 101, 99, 100, 102]);
    let fast = cell("a", "read", 1, &[200, 202, 198, 200, 204]);
    let blind = |cell: &Cell| {
        let mut cell = cell.clone();
        cell.state.unverified = Some("no device".to_owned());
        cell
    };
    assert_eq!(one(&plain, &fast).finding, Verdict::Faster);
    let both = one(&blind(&plain), &blind(&fast));
    assert_eq!((both.finding, both.why.as_deref()), (Verdict::Faster, Some("unverified in both")));
    let mixed = one(&plain, &blind(&fast));
    assert_eq!(
        (mixed.finding, mixed.matters, mixed.missing_rounds, mixed.needed_rounds),
        (Verdict::Undecided, false, 0, None)
    );
    assert_eq!(mixed.why.as_deref(), Some("unverified in new: no device"));
    // Fewer rounds than needed are not the reason.
    let few = one(&blind(&plain), &cell("a", "read", 1, &[50, 50, 50]));
    assert_eq!((few.finding, few.missing_rounds), (Verdict::Undecided, 0));
}

/// One run is twice as fast as the other. A warning that its label is false decides, in either run.
#[test]
fn a_result_whose_label_is_false_decides_nothing_in_either_run() {
    let (then, now) = (cell("a", "read", 1, &[100, 101, 99, 100, 102]), cell("a", "read", 1, &[200; 5]));
    let marked = |cell: &Cell, code: MarkCode| Cell {
        marks: vec![Mark { code, value: None, text: String::new() }],
        ..cell.clone()
    };
    for code in MarkCode::ALL {
        let both = [(one(&marked(&then, code), &now), "base"), (one(&then, &marked(&now, code)), "new")];
        for (compared, run) in both {
            if code.decides_nothing() {
                assert_eq!((compared.finding, compared.matters), (Verdict::Undecided, false), "{code:?} in {run}");
                assert_eq!(compared.why, Some(format!("its rate in {run} has the warning {}", code.name())));
                assert_eq!((compared.missing_rounds, compared.needed_rounds), (0, None));
                assert!(compared.ratio.is_some_and(|ratio| ratio > 1.9), "the ratio stays");
            } else {
                assert_eq!(compared.finding, Verdict::Faster, "{code:?} in {run}");
            }
        }
    }
    let below_floor = Some(Shortfall { quantity: Quantity::Time, is: 1, least: 2 });
    let below = one(&then, &Cell { below_floor, ..now.clone() });
    assert_eq!((below.finding, below.matters), (Verdict::Undecided, false));
    assert_eq!(below.why.as_deref(), Some("its rate in new has the warning few"));
    // Rounds that chance does not affect decide nothing either.
    let simulated = |rate: u64| Cell { provenance: Provenance::Simulated, ..cell("a", "read", 1, &[rate; 2]) };
    let exact = one(&simulated(100), &marked(&simulated(50), MarkCode::Short));
    assert_eq!((exact.finding, exact.confidence), (Verdict::Undecided, Some(1.0)));
    // Two rounds are too few, and are not the reason.
    let few = one(&then, &marked(&cell("a", "read", 1, &[50, 50]), MarkCode::Cache));
    assert_eq!((few.missing_rounds, few.why.as_deref()), (0, Some("its rate in new has the warning cache")));
}
