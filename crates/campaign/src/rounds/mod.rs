//! Decides the next step of a campaign, and its end, from the executions so far and from the time, which is an
//! argument. Performs nothing and reads no clock.
//!
//! Policy, in this order:
//!   1. after a request to stop, nothing begins;
//!   2. a round performs every alternative once, in the order of the round. It skips an alternative that an earlier
//!      process performed in this round, that failed, or that would end too late;
//!   3. a campaign ends after its last round, if all alternatives failed, or if all that was left of a round was late;
//!   4. the first round of a process always begins. A later one begins if it would end in time, provided it takes as
//!      long as the mean of those before;
//!   5. a campaign ends as soon as its results are steady, or decide the comparison. A comparison also needs enough
//!      load of each target, because a burst credit may last for many rounds;
//!   6. if there are also real targets, executions on simulated machines do not count towards the time.
//!
//! Independent executions have no rounds: all of them are one step, and may run side by side.

pub mod deadline;
pub mod driver;
pub mod first_load;
pub mod forecast;
pub mod held_load;
pub mod plan_rounds;
#[cfg(test)]
mod tests;
pub mod world_site;

use std::collections::BTreeSet;
use std::mem;

use deadline::Deadline;
use forecast::Forecast;
use units::Nanos;

/// One execution of an alternative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The alternative's index in the plan.
    pub alternative: usize,
    /// The round, from 1.
    pub round: u32,
    /// Its position in the round, from 1.
    pub position: u32,
}

/// The next step of a campaign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// The results so far have to be judged.
    Judge,
    /// A round begins. `rounds` is the expected number of rounds.
    #[expect(missing_docs, reason = "the fields are named after what they hold")]
    Round { round: u32, rounds: u32 },
    /// These executions begin. Several may run side by side.
    Perform(Vec<Turn>),
    /// This execution is left out.
    Skip(Turn),
    /// The campaign ends.
    End(Why),
}

/// The reason why a campaign ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// It was asked to stop.
    Stopped,
    /// All rounds were performed.
    AllRounds,
    /// Every alternative failed or is left out.
    NothingLeft,
    /// The results are steady, or have enough data.
    Steady,
    /// Every comparison is decided.
    Decided,
    /// Another round would end too late.
    TimeOver,
    /// Another round would write more than the user allows.
    AllWritten,
    /// The fewest rounds that decide a comparison need this time, and the budget is shorter.
    #[expect(missing_docs, reason = "the fields are named after what they hold")]
    TooShort { needs: Nanos },
}

/// The progress of a comparison of targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Convergence {
    /// Comparisons that more rounds would not change.
    pub decided: usize,
    /// All comparisons.
    pub all: usize,
    /// Estimate of the rounds that are still needed; `None` if it is unknown, or too large to be useful.
    pub more: Option<u32>,
    /// True if every target had enough load to show that its rates last.
    pub is_loaded: bool,
    /// True if a rate changed its level.
    pub has_step: bool,
}

impl Convergence {
    /// True if another round is useless. Before anything was compared, this is unknown, and false is returned.
    pub fn is_over(&self) -> bool {
        self.all > 0 && self.decided == self.all && self.is_loaded
    }
}

/// Judgement of the results so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Findings {
    /// True if every rate is steady, or has enough data.
    Steady(bool),
    /// The progress of the comparison.
    Decided(Convergence),
}

impl Findings {
    /// True if a rate of a comparison changed its level.
    fn has_step(self) -> bool {
        matches!(self, Findings::Decided(Convergence { has_step: true, .. }))
    }
}

/// The condition that ends a campaign before its last round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// Never.
    Rounds,
    /// When every rate is steady, or has enough data.
    Steady,
    /// When every comparison is decided. Fewer rounds than `least` decide nothing.
    #[expect(missing_docs, reason = "the fields are named after what they hold")]
    Decided { least: u32 },
}

impl Until {
    /// True if this number of rounds can decide the comparison.
    fn has_enough(self, rounds: u32) -> bool {
        matches!(self, Until::Decided { least } if rounds >= least)
    }
}

/// The limit of a campaign's time.
#[derive(Clone, Copy, Debug)]
pub enum Limit {
    /// A time from the first round on. No round begins that would probably end later.
    Budget(Nanos),
    /// A deadline, which includes the time before the first round.
    Deadline(Deadline),
}

/// Order of the executions.
#[derive(Clone, Copy)]
pub enum Order<'a> {
    /// One at a time: the alternatives of each round, in its order.
    Rounds(&'a dyn Fn(u32) -> Vec<usize>),
    /// Each is independent of all others, as on a machine that was just switched on: all rounds of the first
    /// alternative, then of the next.
    Independent(&'a [usize]),
}

/// Rules of a campaign.
pub struct Rules<'a> {
    /// The maximum number of rounds, including a discarded one.
    pub rounds: u32,
    /// True if the first round is discarded.
    pub discard_first: bool,
    /// The condition that ends it earlier.
    pub until: Until,
    /// The limit of its time.
    pub limit: Option<Limit>,
    /// The order of the executions.
    pub order: Order<'a>,
    /// For each alternative: true if its time does not count, because it runs on simulated machines and there are real
    /// targets.
    pub untimed: Vec<bool>,
    /// The forecast of each alternative; empty without trials.
    pub forecasts: Vec<Forecast>,
}

/// The end of an execution.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    /// Its duration, without earlier attempts.
    pub lasted: Nanos,
    /// True if it failed: it would fail again, and its results are void.
    pub is_void: bool,
}

/// The executions of one alternative.
#[derive(Clone, Debug, Default)]
struct Course {
    rounds: BTreeSet<u32>,
    lasted: Nanos,
    is_void: bool,
}

/// The executions so far. A campaign that is resumed begins with those of the earlier process.
#[derive(Clone, Debug)]
pub struct State {
    began: Nanos,
    courses: Vec<Course>,
    /// The round that began last; 0 before the first.
    round: u32,
    /// Executions of the round's order that were performed or skipped.
    passed: usize,
    /// Rounds before it in which this process performed something.
    ran: u32,
    /// True if this process performed something in the current round.
    has_run: bool,
    uncounted: Nanos,
    /// `None` after every execution, until the results are judged again.
    findings: Option<Findings>,
    is_stopped: bool,
}

/// Decides the next step.
pub fn next_step(rules: &Rules, state: &State, now: Nanos) -> Step {
    // 1.
    if state.is_stopped {
        return Step::End(Why::Stopped);
    }
    match rules.order {
        Order::Independent(alternatives) => all_at_once(rules, state, alternatives),
        Order::Rounds(order) => match order(state.round).get(state.passed) {
            // 2.
            Some(&alternative) if state.round > 0 => {
                let turn = Turn { alternative, round: state.round, position: state.passed as u32 + 1 };
                if rules.skips(state, &turn, now) { Step::Skip(turn) } else { Step::Perform(vec![turn]) }
            }
            _ => between_rounds(rules, state, &order(state.round + 1), now),
        },
    }
}

/// Decides whether another round begins.
fn between_rounds(rules: &Rules, state: &State, order: &[usize], now: Nanos) -> Step {
    // A budget in which too few rounds fit is reported after the first one.
    if let Some(needs) = rules.lacks_time(state, now) {
        return Step::End(Why::TooShort { needs });
    }
    // 3.
    if state.round >= rules.rounds {
        return Step::End(Why::AllRounds);
    }
    if order.iter().all(|&alternative| state.courses[alternative].is_void) {
        return Step::End(Why::NothingLeft);
    }
    if state.was_late(order) {
        return Step::End(Why::TimeOver);
    }
    // 4.
    if !rules.allows_round(state, now) {
        return Step::End(Why::TimeOver);
    }
    // 5.
    match (rules.until, state.findings) {
        (Until::Steady | Until::Decided { .. }, None) => return Step::Judge,
        (Until::Steady, Some(Findings::Steady(true))) => return Step::End(Why::Steady),
        (Until::Decided { .. }, Some(Findings::Decided(convergence))) if convergence.is_over() => {
            return Step::End(Why::Decided);
        }
        // One of two targets cannot run the tests: more rounds would not change that.
        (Until::Decided { least }, Some(Findings::Decided(convergence)))
            if convergence.all == 0 && state.round >= least =>
        {
            return Step::End(Why::NothingLeft);
        }
        _ => {}
    }
    Step::Round { round: state.round + 1, rounds: rules.foretold(state, now) }
}

/// All executions that are left, if they are independent.
fn all_at_once(rules: &Rules, state: &State, alternatives: &[usize]) -> Step {
    let left = alternatives.iter().filter(|&&alternative| !state.courses[alternative].is_void);
    let turns = left.flat_map(|&alternative| {
        let is_left = move |round: &u32| !state.courses[alternative].rounds.contains(round);
        (1..=rules.rounds).filter(is_left).map(move |round| Turn { alternative, round, position: 1 })
    });
    let turns: Vec<Turn> = turns.collect();
    if turns.is_empty() { Step::End(Why::AllRounds) } else { Step::Perform(turns) }
}

impl Rules<'_> {
    /// True if the results of a round are discarded.
    pub fn discards(&self, round: u32) -> bool {
        self.discard_first && round == 1
    }

    fn skips(&self, state: &State, turn: &Turn, now: Nanos) -> bool {
        let course = &state.courses[turn.alternative];
        let is_late = match self.limit {
            Some(Limit::Deadline(deadline)) if !self.untimed[turn.alternative] => {
                let lasted: Vec<Nanos> = state.courses.iter().map(|course| course.lasted).collect();
                !deadline.holds(state.counted(now), forecast::expected(&self.forecasts, &lasted, turn.alternative))
            }
            _ => false,
        };
        course.is_void || course.rounds.contains(&turn.round) || is_late
    }

    /// True if there is time for another round.
    fn allows_round(&self, state: &State, now: Nanos) -> bool {
        let Some(mean) = state.mean_round(now) else { return true };
        let counted = state.counted(now);
        match self.limit {
            None => true,
            Some(Limit::Budget(budget)) => counted.saturating_sub(state.began) + mean <= budget,
            // Enough rounds are done: another one is useful, but must not be late.
            Some(Limit::Deadline(deadline)) if self.until.has_enough(state.rounds_run()) => {
                deadline.fits(counted, mean)
            }
            Some(Limit::Deadline(deadline)) => deadline.holds(counted, mean),
        }
    }

    /// The time of the fewest rounds that decide a comparison, if the first round shows that the budget is shorter.
    /// With a deadline, the workloads were made small enough for it.
    fn lacks_time(&self, state: &State, now: Nanos) -> Option<Nanos> {
        let (Until::Decided { least }, Some(Limit::Budget(budget)), 1) = (self.until, self.limit, state.rounds_run())
        else {
            return None;
        };
        let needs = Nanos(state.mean_round(now)?.0.saturating_mul(u64::from(least)));
        (needs > budget).then_some(needs)
    }

    /// The expected number of rounds, including the next one. The spread of the results demands a number, and the time
    /// limits it.
    fn foretold(&self, state: &State, now: Nanos) -> u32 {
        let (Until::Decided { least }, Some(Findings::Decided(convergence))) = (self.until, state.findings) else {
            return self.rounds;
        };
        let before = state.round;
        let wanted = convergence.more.map_or(self.rounds, |more| before.saturating_add(more));
        // The first pair exists after the second round.
        let wanted = if before < 2 { least } else { wanted.max(least).min(self.rounds) };
        let allowed = self.rounds_left(state, now).map_or(wanted, |left| before.saturating_add(left));
        wanted.min(allowed).max(before + 1)
    }

    /// The number of rounds that the time still allows, if each takes the mean time of those before.
    fn rounds_left(&self, state: &State, now: Nanos) -> Option<u32> {
        let counted = state.counted(now);
        let left = match self.limit? {
            Limit::Deadline(deadline) => deadline.rest(counted),
            Limit::Budget(budget) => budget.saturating_sub(counted.saturating_sub(state.began)),
        };
        let rounds = left.0 / state.mean_round(now)?.0.max(1);
        Some(rounds.try_into().unwrap_or(u32::MAX))
    }
}

impl State {
    /// True if an execution has no result of an earlier process, and its alternative has not failed.
    pub fn is_left(&self, turn: Turn) -> bool {
        let course = &self.courses[turn.alternative];
        !course.is_void && !course.rounds.contains(&turn.round)
    }

    /// True if this process performed nothing in the last round, because all that was left would have ended too late.
    fn was_late(&self, alternatives: &[usize]) -> bool {
        let round = self.round;
        let is_left = |&alternative: &usize| self.is_left(Turn { alternative, round, position: 0 });
        round > 0 && !self.has_run && alternatives.iter().any(is_left)
    }

    /// The state of a campaign with this number of alternatives, which begins now.
    pub fn new(alternatives: usize, now: Nanos) -> State {
        State {
            began: now,
            courses: vec![Course::default(); alternatives],
            round: 0,
            passed: 0,
            ran: 0,
            has_run: false,
            uncounted: Nanos::ZERO,
            findings: None,
            is_stopped: false,
        }
    }

    /// Adds an execution of an earlier process.
    pub fn resume(&mut self, alternative: usize, round: u32) {
        self.courses[alternative].rounds.insert(round);
    }

    /// Records a request to stop.
    pub fn stop(&mut self) {
        self.is_stopped = true;
    }

    /// Adds the judgement of the results so far.
    pub fn judged(&mut self, findings: Findings) {
        self.findings = Some(findings);
    }

    /// The progress of the comparison after the last round; `None` if there is no comparison.
    pub fn convergence(&self) -> Option<Convergence> {
        match self.findings {
            Some(Findings::Decided(convergence)) => Some(convergence),
            _ => None,
        }
    }

    /// Begins a round.
    pub fn begin(&mut self, round: u32) {
        self.ran += u32::from(mem::take(&mut self.has_run));
        (self.round, self.passed) = (round, 0);
    }

    /// Leaves out the next execution of the round.
    pub fn skip(&mut self) {
        self.passed += 1;
    }

    /// Records an execution that ended without a result.
    pub fn give_up(&mut self, turn: Turn) {
        self.courses[turn.alternative].rounds.insert(turn.round);
        self.passed += 1;
    }

    /// Records an execution that ended.
    pub fn add(&mut self, turn: Turn, ended: Ended) {
        self.give_up(turn);
        let course = &mut self.courses[turn.alternative];
        course.lasted = ended.lasted;
        course.is_void |= ended.is_void;
        self.has_run = true;
        self.findings = None;
    }

    /// Excludes this time from the limit.
    pub fn uncount(&mut self, time: Nanos) {
        self.uncounted += time;
    }

    /// Rounds in which this process performed something.
    fn rounds_run(&self) -> u32 {
        self.ran + u32::from(self.has_run)
    }

    /// The mean time of the rounds that this process performed; `None` before the first.
    pub fn mean_round(&self, now: Nanos) -> Option<Nanos> {
        let spent = self.counted(now).saturating_sub(self.began);
        spent.0.checked_div(u64::from(self.rounds_run())).map(Nanos)
    }

    /// The moment for the limit: without the time that does not count.
    fn counted(&self, now: Nanos) -> Nanos {
        now.saturating_sub(self.uncounted)
    }
}
