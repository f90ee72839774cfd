//! Carries out a campaign: asks for the next step, has a site perform it, keeps the results, and tells an observer.

use runner::execution::{ExecutionResult, WorldFailure};
use units::Nanos;

use super::deadline::Clock;
use super::{Ended, Findings, Rules, State, Step, Turn, Why, next_step};
use crate::error::CampaignError;
use crate::events::Event;
use crate::executions::Executions;
use crate::signals::Stop;

/// Result of one execution; `None` if it did not take place.
pub type Performed = Option<Result<ExecutionResult, WorldFailure<Box<CampaignError>>>>;

/// Place where alternatives are performed: the worlds of a run, machines that were just switched on, or a mock.
pub trait Site {
    /// Performs the executions, and returns their results in the same order. Reports when an execution begins and ends.
    fn perform(&mut self, turns: &[Turn], notify: &mut dyn FnMut(Event)) -> Vec<Performed>;

    /// Loads targets before their executions from now on, so that a credit does not come back while they rest. Returns
    /// true if this is possible here, and was not done before.
    fn hold_load(&mut self) -> bool {
        false
    }

    /// True if this number of rounds may be written here after the loads so far.
    fn affords(&self, _rounds: u32) -> bool {
        true
    }
}

/// Listener of a campaign.
pub trait Observer {
    /// Receives an event.
    fn notify(&mut self, event: Event);

    /// Receives an execution that is left out because it would end too late.
    fn left_out(&mut self, _turn: Turn, _history: &Executions) {}

    /// Receives a result, which was added to the history of its alternative.
    fn performed(&mut self, _turn: Turn, _history: &Executions) {}
}

impl<F: FnMut(Event)> Observer for F {
    fn notify(&mut self, event: Event) {
        self(event);
    }
}

/// Everything that a campaign needs.
pub struct Driver<'a> {
    /// Its rules.
    pub rules: &'a Rules<'a>,
    /// Its site.
    pub site: &'a mut dyn Site,
    /// Request to stop it.
    pub stop: &'a Stop,
    /// Its clock.
    pub clock: Clock<'a>,
    /// Judges the results so far. Not called in a campaign that performs all of its rounds.
    pub judge: &'a dyn Fn(&[Executions]) -> Findings,
    /// Its observer.
    pub observer: &'a mut dyn Observer,
}

/// Results of a campaign.
#[derive(Debug)]
pub struct Outcome {
    /// The executions of each alternative.
    pub executions: Vec<Executions>,
    /// The reason for its end.
    pub why: Why,
    /// The mean time of its rounds; `None` if this process performed no round.
    pub mean_round: Option<Nanos>,
}

impl Driver<'_> {
    /// Performs the executions that are left: all, or those that an earlier process has not finished.
    pub fn run(mut self, mut executions: Vec<Executions>) -> Outcome {
        let mut state = State::new(executions.len(), (self.clock)());
        for (alternative, executions) in executions.iter().enumerate() {
            executions.performed_in().for_each(|round| state.resume(alternative, round));
        }
        loop {
            if self.stop.requested() {
                state.stop();
            }
            match next_step(self.rules, &state, (self.clock)()) {
                Step::Judge => {
                    let findings = (self.judge)(&executions);
                    if findings.has_step() && self.site.hold_load() {
                        self.observer.notify(Event::LoadHeld);
                    }
                    state.judged(findings);
                }
                Step::Round { round, .. } if !self.site.affords(round) => {
                    let mean_round = state.mean_round((self.clock)());
                    return Outcome { executions, why: Why::AllWritten, mean_round };
                }
                Step::Round { round, rounds } => {
                    self.observer.notify(Event::RoundStarted { round, rounds, convergence: state.convergence() });
                    state.begin(round);
                }
                Step::Skip(turn) => {
                    if state.is_left(turn) {
                        self.observer.left_out(turn, &executions[turn.alternative]);
                    }
                    self.observer.notify(Event::ProgramEnded { index: turn.alternative });
                    state.skip();
                }
                Step::Perform(turns) => self.perform(&turns, &mut state, &mut executions),
                Step::End(why) => {
                    let mean_round = state.mean_round((self.clock)());
                    return Outcome { executions, why, mean_round };
                }
            }
        }
    }

    fn perform(&mut self, turns: &[Turn], state: &mut State, executions: &mut [Executions]) {
        let began = (self.clock)();
        let all = self.site.perform(turns, &mut |event| self.observer.notify(event));
        assert_eq!(all.len(), turns.len(), "a site returns a result of every execution");
        if turns.iter().all(|turn| self.rules.untimed[turn.alternative]) {
            state.uncount((self.clock)().saturating_sub(began));
        }
        for (&turn, performed) in turns.iter().zip(all) {
            let executions = &mut executions[turn.alternative];
            match self.add(turn, performed, executions) {
                None => state.give_up(turn),
                Some(ended) => {
                    state.add(turn, ended);
                    self.observer.performed(turn, executions);
                }
            }
        }
    }

    /// Adds a result to its history. Returns `None` if there is no result.
    fn add(&self, turn: Turn, performed: Performed, executions: &mut Executions) -> Option<Ended> {
        let lasted = match performed? {
            Ok(performance) => {
                let lasted = performance.lasted;
                let performance = if self.stop.requested() { performance.broken_off() } else { performance };
                executions.add(turn, self.rules.discards(turn.round), performance);
                lasted
            }
            // After Ctrl-C, the error may only mean that Ctrl-C also ended mkfs. The end of the time does not end mkfs.
            Err(_) if self.stop.requested() && !self.stop.is_late() => return None,
            Err(broken) => {
                executions.break_off(&broken);
                Nanos::ZERO
            }
        };
        Some(Ended { lasted, is_void: executions.failure().is_some() })
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::sync::atomic::Ordering;

    use runner::execution::ProgramFailure;
    use workload::{Failure, Op, Reason};

    use super::*;
    use crate::rounds::deadline::Deadline;
    use crate::rounds::{Limit, Order, Until};

    const S: fn(u64) -> Nanos = Nanos::from_secs;

    /// Two alternatives, in another order in every round.
    fn order(round: u32) -> Vec<usize> {
        if round.is_multiple_of(2) { vec![0, 1] } else { vec![1, 0] }
    }

    fn rules(rounds: u32) -> Rules<'static> {
        let order = Order::Rounds(&order);
        let untimed = vec![false; 2];
        let until = Until::Rounds;
        Rules { rounds, discard_first: false, until, limit: None, order, untimed, forecasts: Vec::new() }
    }

    /// The rounds that may be written.
    const MOST_ROUNDS: u32 = 10;

    /// A site on which every execution takes a second, on a clock that only executions move.
    struct Mock<'a> {
        time: &'a Cell<u64>,
        result: &'a dyn Fn(Turn) -> Performed,
        performed: Vec<(u32, usize)>,
        most_rounds: u32,
    }

    impl Site for Mock<'_> {
        fn affords(&self, rounds: u32) -> bool {
            rounds <= self.most_rounds
        }

        fn perform(&mut self, turns: &[Turn], notify: &mut dyn FnMut(Event)) -> Vec<Performed> {
            let perform = |turn: &Turn| {
                self.performed.push((turn.round, turn.alternative));
                self.time.set(self.time.get() + 1);
                notify(Event::ProgramEnded { index: turn.alternative });
                (self.result)(*turn)
            };
            turns.iter().map(perform).collect()
        }
    }

    /// The calls that the observer received.
    #[derive(Default)]
    struct Notes {
        rounds: Vec<(u32, u32)>,
        ended: Vec<usize>,
        results: Vec<Turn>,
    }

    impl Observer for Notes {
        fn notify(&mut self, event: Event) {
            match event {
                Event::RoundStarted { round, rounds, .. } => self.rounds.push((round, rounds)),
                Event::ProgramEnded { index } => self.ended.push(index),
                _ => panic!("{event:?}"),
            }
        }

        fn performed(&mut self, turn: Turn, executions: &Executions) {
            assert!(executions.performed_in().any(|round| round == turn.round) || executions.failure().is_some());
            self.results.push(turn);
        }
    }

    fn succeeded(_: Turn) -> Performed {
        Some(Ok(ExecutionResult { lasted: S(1), ..ExecutionResult::default() }))
    }

    fn stopped(reason: Reason) -> Performed {
        let failure = Failure { op: Op::Run { command: 0 }, reason };
        let stopped = Some(ProgramFailure { program: 0, phase: None, failure });
        Some(Ok(ExecutionResult { stopped, lasted: S(1), ..ExecutionResult::default() }))
    }

    fn world_failure() -> Performed {
        Some(Err(WorldFailure { phase: None, fault: Box::new(CampaignError::Held) }))
    }

    type Ran = (Outcome, Vec<(u32, usize)>, Notes);

    fn run(rules: &Rules, stop: &Stop, executions: Vec<Executions>, result: &dyn Fn(Turn) -> Performed) -> Ran {
        let time = Cell::new(0);
        let mut site = Mock { time: &time, result, performed: Vec::new(), most_rounds: MOST_ROUNDS };
        let mut notes = Notes::default();
        let judge = |executions: &[Executions]| Findings::Steady(executions[0].rounds() == 3);
        let (clock, observer) = (&|| S(time.get()), &mut notes);
        let driver = Driver { rules, site: &mut site, stop, clock, judge: &judge, observer };
        let outcome = driver.run(executions);
        (outcome, site.performed, notes)
    }

    fn from_the_start(rules: &Rules, result: &dyn Fn(Turn) -> Performed) -> Ran {
        run(rules, &Stop::default(), vec![Executions::default(); 2], result)
    }

    fn kept_rounds(executions: &Executions) -> Vec<u32> {
        executions.kept().map(|(round, _)| round).collect()
    }

    #[test]
    fn rounds_run_in_order_and_the_first_is_discarded() {
        let rules = Rules { discard_first: true, ..rules(3) };
        let (outcome, performed, notes) = from_the_start(&rules, &succeeded);
        assert_eq!(performed, [(1, 1), (1, 0), (2, 0), (2, 1), (3, 1), (3, 0)]);
        assert_eq!((outcome.why, outcome.mean_round), (Why::AllRounds, Some(S(2))));
        assert_eq!(outcome.executions.iter().map(kept_rounds).collect::<Vec<_>>(), [[2, 3], [2, 3]]);
        assert_eq!((notes.rounds, notes.ended), (vec![(1, 3), (2, 3), (3, 3)], vec![1, 0, 0, 1, 1, 0]));
        assert_eq!(notes.results.iter().map(|turn| turn.position).collect::<Vec<_>>(), [1, 2, 1, 2, 1, 2]);
    }

    #[test]
    fn rounds_that_would_end_late_are_not_started() {
        // Rounds of two seconds; a tenth more than six is allowed.
        let limit = Some(Limit::Deadline(Deadline::new(S(0), S(6))));
        let (outcome, performed, _) = from_the_start(&Rules { limit, ..rules(9) }, &succeeded);
        assert_eq!((outcome.why, performed.len()), (Why::TimeOver, 6));
        let untimed = vec![false, true];
        let (outcome, performed, _) = from_the_start(&Rules { limit, untimed, ..rules(9) }, &succeeded);
        assert_eq!((outcome.why, performed.len()), (Why::TimeOver, 12));
    }

    #[test]
    fn rounds_that_would_write_too_much_are_not_started() {
        let (outcome, performed, notes) = from_the_start(&rules(MOST_ROUNDS + 1), &succeeded);
        assert_eq!((outcome.why, performed.len()), (Why::AllWritten, 2 * MOST_ROUNDS as usize));
        assert_eq!(notes.rounds.last(), Some(&(MOST_ROUNDS, MOST_ROUNDS + 1)));
    }

    #[test]
    fn the_results_are_judged_between_rounds() {
        let (outcome, performed, _) = from_the_start(&Rules { until: Until::Steady, ..rules(9) }, &succeeded);
        assert_eq!((outcome.why, performed.len()), (Why::Steady, 6));
    }

    #[test]
    fn a_failure_voids_only_its_alternative() {
        let full = |turn: Turn| if turn.alternative == 0 { stopped(Reason::NoSpace) } else { succeeded(turn) };
        let gone = |turn: Turn| if turn.alternative == 0 { world_failure() } else { succeeded(turn) };
        for result in [&full as &dyn Fn(Turn) -> Performed, &gone] {
            let (outcome, performed, notes) = from_the_start(&rules(3), result);
            assert_eq!(performed, [(1, 1), (1, 0), (2, 1), (3, 1)]);
            assert!(outcome.executions[0].failure().is_some() && outcome.executions[1].failure().is_none());
            // Progress includes executions that no longer take place.
            assert_eq!((notes.ended.len(), notes.results.len()), (6, 4));
        }
    }

    /// A campaign that is stopped while it performs for the third time.
    fn stopped_at_the_third(result: fn() -> Performed) -> Ran {
        let stop = Stop::default();
        let performed = Cell::new(0);
        let stopping = |turn| {
            performed.set(performed.get() + 1);
            if performed.get() < 3 {
                return succeeded(turn);
            }
            stop.flag().store(true, Ordering::Relaxed);
            result()
        };
        run(&rules(3), &stop, vec![Executions::default(); 2], &stopping)
    }

    #[test]
    fn a_request_to_stop_ends_the_campaign_within_a_round() {
        // A signal can also interrupt a call, or make the preparation of the workload fail.
        for result in [|| stopped(Reason::Interrupted), || stopped(Reason::Signal), world_failure, || None] {
            let (outcome, performed, _) = stopped_at_the_third(result);
            assert_eq!((outcome.why, performed), (Why::Stopped, vec![(1, 1), (1, 0), (2, 0)]));
            assert!(outcome.executions.iter().all(|executions| executions.failure().is_none()));
            // The round before is finished.
            assert!(outcome.executions[1].last_finished().is_some_and(|(round, ..)| round == 1));
        }
    }

    #[test]
    fn a_failure_after_the_time_is_over_is_a_failure() {
        let stop = Stop::default();
        let late = |turn: Turn| {
            if turn.round == 1 {
                return succeeded(turn);
            }
            let _timer = stop.start_timer(Nanos::ZERO).expect("a timer");
            while !stop.requested() {
                std::thread::yield_now();
            }
            world_failure()
        };
        let (outcome, performed, _) = run(&rules(3), &stop, vec![Executions::default(); 2], &late);
        assert_eq!((outcome.why, performed.len()), (Why::Stopped, 3));
        assert!(outcome.executions[0].failure().is_some());
    }

    #[test]
    fn a_resumed_campaign_performs_only_unfinished_executions() {
        let (whole, performed, _) = from_the_start(&rules(3), &succeeded);
        for finished in 0..=performed.len() {
            let mut executions = vec![Executions::default(); 2];
            for &(round, alternative) in &performed[..finished] {
                let turn = Turn { alternative, round, position: 1 };
                executions[alternative].add(turn, false, ExecutionResult::default());
            }
            let (outcome, rest, notes) = run(&rules(3), &Stop::default(), executions, &succeeded);
            assert_eq!((&rest[..], notes.ended.len()), (&performed[finished..], 6));
            let rounds = |outcome: &Outcome| outcome.executions.iter().map(kept_rounds).collect::<Vec<_>>();
            assert_eq!(rounds(&outcome), rounds(&whole));
        }
    }

    #[test]
    fn executions_without_a_result_are_given_up() {
        let order = Order::Independent(&[1, 0]);
        let without = |turn: Turn| if turn.round == 2 { None } else { succeeded(turn) };
        let (outcome, performed, notes) = from_the_start(&Rules { order, ..rules(3) }, &without);
        assert_eq!(performed, [(1, 1), (2, 1), (3, 1), (1, 0), (2, 0), (3, 0)]);
        assert_eq!((outcome.why, notes.results.len(), notes.rounds.len()), (Why::AllRounds, 4, 0));
        assert_eq!(outcome.executions.iter().map(kept_rounds).collect::<Vec<_>>(), [[1, 3], [1, 3]]);
    }
}
