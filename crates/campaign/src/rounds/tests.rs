//! Tests of the decisions alone: every execution takes the time that the test says, and only executions move the clock.

use proptest::prelude::*;

use super::*;

const S: fn(u64) -> Nanos = Nanos::from_secs;

/// Three alternatives, in another order in every round.
fn rotating_order(round: u32) -> Vec<usize> {
    (0..3).map(|index| (index + round as usize) % 3).collect()
}

fn single_alternative(_: u32) -> Vec<usize> {
    vec![0]
}

fn rules(rounds: u32) -> Rules<'static> {
    let order = Order::Rounds(&rotating_order);
    let (until, untimed) = (Until::Rounds, vec![false; 3]);
    Rules { rounds, discard_first: false, until, limit: None, order, untimed, forecasts: Vec::new() }
}

/// A campaign whose steps are carried out at once.
struct Play<'a> {
    rules: Rules<'a>,
    state: State,
    now: Nanos,
    /// True if the execution fails, so that its alternative is not performed again.
    fails: &'a dyn Fn(Turn) -> bool,
    /// The time of each execution.
    lasts: &'a dyn Fn(Turn) -> Nanos,
    findings: Findings,
    performed: Vec<(u32, usize)>,
    /// The expected number of rounds, when each began.
    foretold: Vec<u32>,
}

impl<'a> Play<'a> {
    fn new(rules: Rules<'a>) -> Play<'a> {
        let state = State::new(rules.untimed.len(), S(7));
        let (findings, performed, foretold) = (Findings::Steady(false), Vec::new(), Vec::new());
        Play { rules, state, now: S(7), fails: &|_| false, lasts: &|_| S(1), findings, performed, foretold }
    }

    /// Carries out one step. Returns the reason as an error at the end.
    fn perform_step(&mut self) -> Result<(), Why> {
        match next_step(&self.rules, &self.state, self.now) {
            Step::Judge => self.state.judged(self.findings),
            Step::Round { round, rounds } => {
                self.foretold.push(rounds);
                self.state.begin(round);
            }
            Step::Skip(_) => self.state.skip(),
            Step::Perform(turns) => turns.into_iter().for_each(|turn| {
                let lasted = (self.lasts)(turn);
                self.now += lasted;
                self.performed.push((turn.round, turn.alternative));
                if self.rules.untimed[turn.alternative] {
                    self.state.uncount(lasted);
                }
                self.state.add(turn, Ended { lasted, is_void: (self.fails)(turn) });
            }),
            Step::End(why) => return Err(why),
        }
        Ok(())
    }

    fn play_on(&mut self) -> Why {
        loop {
            if let Err(why) = self.perform_step() {
                return why;
            }
        }
    }

    fn until_performed(&mut self, count: usize) {
        while self.performed.len() < count {
            self.perform_step().expect("more to perform");
        }
    }

    /// The rounds in which an alternative was performed.
    fn rounds_of(&self, alternative: usize) -> Vec<u32> {
        self.performed.iter().filter(|(_, other)| *other == alternative).map(|(round, _)| *round).collect()
    }
}

#[test]
fn every_round_performs_each_alternative_once_in_its_order() {
    let mut play = Play::new(rules(3));
    assert_eq!(play.play_on(), Why::AllRounds);
    assert_eq!(play.performed, [(1, 1), (1, 2), (1, 0), (2, 2), (2, 0), (2, 1), (3, 0), (3, 1), (3, 2)]);
    assert_eq!(play.foretold, [3, 3, 3]);
}

#[test]
fn a_turn_knows_its_position() {
    let mut state = State::new(3, S(0));
    state.begin(1);
    state.skip();
    let turn = Turn { alternative: 2, round: 1, position: 2 };
    assert_eq!(next_step(&rules(3), &state, S(0)), Step::Perform(vec![turn]));
}

#[test]
fn only_the_first_round_is_discarded() {
    let rules = Rules { discard_first: true, ..rules(3) };
    assert_eq!([1, 2, 3].map(|round| rules.discards(round)), [true, false, false]);
    assert!(!Rules { discard_first: false, ..rules }.discards(1));
}

#[test]
fn failed_alternatives_are_not_repeated() {
    let mut play = Play::new(rules(3));
    play.fails = &|turn| turn.alternative == 2 && turn.round == 2;
    assert_eq!(play.play_on(), Why::AllRounds);
    assert_eq!(play.rounds_of(2), [1, 2]);
    assert_eq!(play.rounds_of(0), [1, 2, 3]);

    let mut play = Play::new(rules(3));
    play.fails = &|_| true;
    assert_eq!((play.play_on(), play.performed.len()), (Why::NothingLeft, 3));
    assert_eq!(Play::new(Rules { order: Order::Rounds(&|_| Vec::new()), ..rules(3) }).play_on(), Why::NothingLeft);
}

#[test]
fn a_request_to_stop_ends_a_round_in_the_middle() {
    let mut play = Play::new(rules(3));
    play.until_performed(4);
    play.state.stop();
    assert_eq!((play.play_on(), play.performed.len()), (Why::Stopped, 4));
}

#[test]
fn rounds_that_would_exceed_the_budget_are_not_started() {
    for (budget, rounds) in [(1, 1), (8, 2), (9, 3), (11, 3), (1000, 5)] {
        let mut play = Play::new(Rules { limit: Some(Limit::Budget(S(budget))), ..rules(5) });
        let why = play.play_on();
        assert_eq!(play.foretold.len(), rounds, "{budget}");
        assert_eq!(why, if rounds < 5 { Why::TimeOver } else { Why::AllRounds });
    }
}

#[test]
fn a_deadline_includes_trials_and_ends_a_late_round() {
    // 30 s were spent on trials: 36 s are left until 66 s.
    let limit = Some(Limit::Deadline(Deadline::new(S(0), S(60))));
    let mut play = Play::new(Rules { limit, ..rules(9) });
    (play.now, play.state) = (S(30), State::new(3, S(30)));
    play.lasts = &|turn| if turn.alternative == 0 { S(8) } else { S(1) };
    assert_eq!(play.play_on(), Why::TimeOver);
    assert_eq!((play.performed.len(), play.now), (9, S(60)));

    // In the second round one alternative is slower than before, and another one begins too late.
    let mut play = Play::new(Rules { limit, ..rules(9) });
    (play.now, play.state) = (S(30), State::new(3, S(30)));
    play.lasts = &|turn| S([5, 5, 5 + 10 * u64::from(turn.round == 2)][turn.alternative]);
    assert_eq!(play.play_on(), Why::TimeOver);
    assert_eq!(play.performed, [(1, 1), (1, 2), (1, 0), (2, 2), (2, 0)]);
}

#[test]
fn the_first_round_of_a_disk_slower_than_its_trials_ends_in_time() {
    let limit = Some(Limit::Deadline(Deadline::new(S(0), S(60)).strict()));
    let forecasts = vec![Forecast { targets: vec![0], time: S(2) }; 3];
    let mut play = Play::new(Rules { limit, forecasts, ..rules(9) });
    // Each execution takes ten times as long as its forecast.
    play.lasts = &|_| S(20);
    assert_eq!(play.play_on(), Why::TimeOver);
    assert_eq!((play.performed.len(), play.now), (2, S(47)));
}

#[test]
fn a_campaign_after_its_deadline_performs_nothing() {
    let limit = Some(Limit::Deadline(Deadline::new(S(0), S(1))));
    let mut play = Play::new(Rules { limit, ..rules(9) });
    (play.now, play.state) = (S(50), State::new(3, S(50)));
    assert_eq!(play.play_on(), Why::TimeOver);
    assert_eq!((play.foretold.len(), play.performed.len()), (1, 0));
}

#[test]
fn simulated_executions_do_not_use_the_budget() {
    for limit in [Limit::Budget(S(10)), Limit::Deadline(Deadline::new(S(7), S(10)))] {
        let untimed = vec![true, false, true];
        let mut play = Play::new(Rules { limit: Some(limit), untimed, ..rules(9) });
        play.lasts = &|turn| if turn.alternative == 1 { S(1) } else { S(100) };
        assert_eq!(play.play_on(), Why::AllRounds, "{limit:?}");
        assert_eq!(play.performed.len(), 27);
    }
}

#[test]
fn a_campaign_ends_once_rates_are_steady() {
    let mut play = Play::new(Rules { until: Until::Steady, ..rules(25) });
    play.until_performed(15);
    play.findings = Findings::Steady(true);
    assert_eq!((play.play_on(), play.performed.len()), (Why::Steady, 15));
}

fn comparison(rounds: u32, limit: Option<Limit>) -> Rules<'static> {
    let (until, order) = (Until::Decided { least: 6 }, Order::Rounds(&single_alternative));
    Rules { rounds, discard_first: false, until, limit, order, untimed: vec![false], forecasts: Vec::new() }
}

fn convergence(decided: usize, all: usize, more: Option<u32>) -> Findings {
    Findings::Decided(Convergence { decided, all, more, is_loaded: true, has_step: false })
}

#[test]
fn a_comparison_without_pairs_ends_after_the_least_rounds() {
    let mut play = Play::new(comparison(10_000, None));
    play.findings = convergence(0, 0, None);
    assert_eq!((play.play_on(), play.performed.len()), (Why::NothingLeft, 6));
}

#[test]
fn a_campaign_ends_once_its_comparison_is_decided() {
    let mut play = Play::new(comparison(10_000, None));
    play.findings = convergence(0, 0, None);
    play.until_performed(2);
    play.findings = convergence(1, 3, Some(9));
    play.until_performed(7);
    play.findings = convergence(2, 3, Some(1));
    play.until_performed(8);
    play.findings = convergence(3, 3, None);
    assert_eq!((play.play_on(), play.performed.len()), (Why::Decided, 8));
    // At least six; later as many as the spread demands.
    assert_eq!(play.foretold, [6, 6, 11, 12, 13, 14, 15, 8]);
    // Before anything was compared, the comparison is not decided.
    assert!(!Convergence { decided: 0, all: 0, more: None, is_loaded: true, has_step: false }.is_over());
    let three = Convergence { decided: 3, all: 3, more: None, is_loaded: true, has_step: false };
    assert!(three.is_over() && !Convergence { is_loaded: false, ..three }.is_over());
}

#[test]
fn the_time_bounds_the_expected_rounds() {
    let mut play = Play::new(comparison(10_000, Some(Limit::Budget(S(8)))));
    play.findings = convergence(0, 1, Some(500));
    assert_eq!((play.play_on(), play.performed.len()), (Why::TimeOver, 8));
    assert_eq!(play.foretold, [6, 6, 8, 8, 8, 8, 8, 8]);
}

#[test]
fn a_budget_too_short_to_decide_is_reported_after_one_round() {
    let mut play = Play::new(comparison(10_000, Some(Limit::Budget(S(5)))));
    play.findings = convergence(0, 1, None);
    assert_eq!(play.play_on(), Why::TooShort { needs: S(6) });
    assert_eq!(play.performed.len(), 1);
    // With a deadline, the workloads were already made small enough.
    let mut play = Play::new(comparison(10_000, Some(Limit::Deadline(Deadline::new(S(7), S(5))))));
    play.findings = convergence(0, 1, None);
    assert_eq!(play.play_on(), Why::TimeOver);
}

#[test]
fn a_comparison_with_enough_rounds_ends_within_its_time() {
    // Only rounds that are needed may end up to a tenth late.
    let over = |rounds| {
        let mut play = Play::new(comparison(10_000, Some(Limit::Deadline(Deadline::new(S(7), S(rounds))))));
        play.lasts = &|_| Nanos::from_millis(1_080);
        play.findings = convergence(0, 1, None);
        assert_eq!(play.play_on(), Why::TimeOver);
        play.performed.len()
    };
    assert_eq!((over(6), over(7)), (6, 6));
}

#[test]
fn independent_executions_are_one_step() {
    let order = Order::Independent(&[2, 0]);
    let rules = Rules { order, ..rules(3) };
    let mut state = State::new(3, S(0));
    state.resume(2, 2);
    let Step::Perform(turns) = next_step(&rules, &state, S(0)) else { panic!("executions") };
    let order: Vec<(usize, u32)> = turns.iter().map(|turn| (turn.alternative, turn.round)).collect();
    assert_eq!(order, [(2, 1), (2, 3), (0, 1), (0, 2), (0, 3)]);
    turns.into_iter().for_each(|turn| state.give_up(turn));
    assert_eq!(next_step(&rules, &state, S(0)), Step::End(Why::AllRounds));
    state.stop();
    assert_eq!(next_step(&rules, &state, S(0)), Step::End(Why::Stopped));
}

proptest! {
    /// A process that ends after any number of executions leaves the rest, in the same order, to the one that resumes.
    #[test]
    fn a_resumed_campaign_performs_the_remaining_executions(rounds in 1..6u32, finished in 0..16usize) {
        let mut whole = Play::new(rules(rounds));
        whole.play_on();
        let finished = finished.min(whole.performed.len());
        let mut resumed = Play::new(rules(rounds));
        whole.performed[..finished].iter().for_each(|(round, alternative)| resumed.state.resume(*alternative, *round));
        prop_assert_eq!(resumed.play_on(), Why::AllRounds);
        prop_assert_eq!(&resumed.performed[..], &whole.performed[finished..]);
    }

    /// An execution that was interrupted or void is not among the finished ones, and is performed again.
    #[test]
    fn executions_without_a_result_are_repeated(rounds in 1..6u32, without in 0..16usize) {
        let mut whole = Play::new(rules(rounds));
        whole.play_on();
        let without = without % whole.performed.len();
        let mut resumed = Play::new(rules(rounds));
        for (place, (round, alternative)) in whole.performed.iter().enumerate() {
            if place != without {
                resumed.state.resume(*alternative, *round);
            }
        }
        resumed.play_on();
        prop_assert_eq!(&resumed.performed, &[whole.performed[without]]);
    }
}
