//! The worlds of a run as the site of a campaign.

use runner::execution::{ExecutionResult, MeasureOptions, WorldFailure};
use units::Nanos;
use workload::Program;

use super::Turn;
use super::deadline::{Clock, Deadline};
use super::driver::{Performed, Site};
use super::held_load::{HeldLoad, lasting_rate};
use crate::error::CampaignError;
use crate::events::Event;
use crate::peers::order::Task;
use crate::peers::{Peers, Standing};
use crate::plan::{Alternative, Plan};
use crate::signals::{Stop, Timer};
use crate::targets::{self, Target};
use crate::worlds::{AnyWorld, Worlds};

/// The worlds of a plan. Performs one execution at a time.
pub struct WorldSite<'a> {
    plan: &'a Plan,
    targets: &'a [Target],
    worlds: &'a mut Worlds,
    peers: &'a mut Peers,
    stop: &'a Stop,
    clock: Clock<'a>,
    late: Option<Late<'a>>,
    held: HeldLoad,
    /// True if the targets are compared, so that waits for calm can begin the load.
    pub compares: bool,
    /// Bytes that loads have written to each target.
    loaded: Vec<u64>,
}

/// Stops everything some time after the deadline. Only a run with real targets has a deadline, and simulated machines
/// do not count towards its time.
struct Late<'a> {
    deadline: Deadline,
    timer: Timer,
    clock: Clock<'a>,
    simulated: Nanos,
}

impl<'a> WorldSite<'a> {
    /// The site of a campaign that begins now, after a load of each target has written these bytes.
    pub fn new(
        (plan, targets, loaded): (&'a Plan, &'a [Target], Vec<u64>),
        (worlds, peers): (&'a mut Worlds, &'a mut Peers),
        (stop, clock): (&'a Stop, Clock<'a>),
        deadline: Option<Deadline>,
    ) -> Result<WorldSite<'a>, CampaignError> {
        let late = |deadline: Deadline| {
            let timer = stop.start_timer(deadline.until_stop(clock()))?;
            Ok::<Late, CampaignError>(Late { deadline, timer, clock, simulated: Nanos::ZERO })
        };
        let late = deadline.map(late).transpose()?;
        Ok(WorldSite {
            plan,
            targets,
            worlds,
            peers,
            stop,
            clock,
            late,
            held: HeldLoad::default(),
            compares: false,
            loaded,
        })
    }

    /// Notes the rates at the end of a load before the first round, each with its alternative.
    pub(super) fn lasting(&mut self, rates: &[(usize, f64)]) {
        rates.iter().for_each(|(alternative, rate)| self.held.lasts(*alternative, *rate));
    }

    /// Counts the rest of all targets from now on, so that each gets its first load: an earlier process held the load,
    /// and credits have come back since.
    pub(super) fn rests_begin(&mut self) {
        let now = (self.clock)();
        (0..self.targets.len()).for_each(|target| self.held.ends(target, now));
    }

    /// Loads a target that has rested, if loads are held. A failure ends the load: the execution reports it. Returns
    /// the rest of the target until now, or that before the load if the load did not use up the credits; `None` if no
    /// load is held.
    fn load_again(&mut self, turn: &Turn, name: &str, notify: &mut dyn FnMut(Event)) -> Option<Nanos> {
        let [target] = self.plan.alternatives[turn.alternative].busy()[..] else { return None };
        let began = (self.clock)();
        let left = self.late.as_ref().map(|late| late.deadline.rest(began));
        let rest = self.held.rest(target, began);
        let due = self.held.due(target, began, left);
        let (mut last, mut rates) = (None, Vec::new());
        let loaded = |site: &WorldSite| (site.clock)().saturating_sub(began);
        // A first load ends by the rate that lasts: a stall does not count.
        let shown = |last, rates: &[f64]| if due.is_first { lasting_rate(rates) } else { last };
        while !self.stop.requested() && self.held.goes_on(turn.alternative, shown(last, &rates), loaded(self), due) {
            match self.load(turn, (name, false), notify) {
                Some(Ok(result)) if result.stopped.is_none() => {
                    (last, _) = self.noted(turn.alternative, target, &result);
                    rates.extend(last);
                }
                _ => break,
            }
        }
        if let Some(rate) = lasting_rate(&rates).filter(|_| due.is_first) {
            self.held.lasts(turn.alternative, rate);
        }
        if self.held.is_high(turn.alternative, last) { rest } else { self.held.rest(target, (self.clock)()) }
    }

    /// Notes an execution on a target. Returns its rate (`None` if it did no work), and true if the rates of the test
    /// are of two kinds.
    fn noted(&mut self, alternative: usize, target: usize, result: &ExecutionResult) -> (Option<f64>, bool) {
        self.held.ends(target, (self.clock)());
        let rate = rate(&self.plan.alternatives[alternative].row.program, result);
        (rate, rate.is_some_and(|rate| self.held.saw(alternative, rate)))
    }

    /// Loads a target with an execution that is not part of a round. Returns `None` if it would write too much.
    pub(super) fn load(
        &mut self,
        turn: &Turn,
        (name, is_requested): (&str, bool),
        notify: &mut dyn FnMut(Event),
    ) -> Performed {
        let alternative = &self.plan.alternatives[turn.alternative];
        let [target] = alternative.busy()[..] else { return None };
        let loaded = self.loaded[target].saturating_add(alternative.writes());
        if loaded > self.plan.load_limit(target, is_requested) {
            return None;
        }
        self.loaded[target] = loaded;
        self.perform_one(turn, (name, true), MeasureOptions { ceiling: false, ..self.plan.options }, notify)
    }

    /// Bytes that loads have written to each target.
    pub(super) fn into_loaded(self) -> Vec<u64> {
        self.loaded
    }

    fn perform_one(
        &mut self,
        turn: &Turn,
        (target, is_hurried): (&str, bool),
        options: MeasureOptions,
        notify: &mut dyn FnMut(Event),
    ) -> Performed {
        let WorldSite { plan, targets, worlds, peers, stop, .. } = self;
        let Alternative { targets: busy, row } = &plan.alternatives[turn.alternative];
        let program = row.program.in_round(turn.round);
        let (alternative, sizes, round) = (turn.alternative, plan.sizes(), Some(turn.round));
        // The peers keep the reason. Rounds that are finished stay.
        if peers.order(Task { alternative, sizes, round, is_hurried }).is_err() {
            stop.request();
            return None;
        }
        let performed = Some(match &row.raw {
            Some(raw) => {
                let world = AnyWorld::on_device(plan, &program, &worlds.node(raw, busy[0]), stop);
                world
                    .map_err(WorldFailure::from)
                    .and_then(|mut world| world.perform(&program, options, target, peers, notify))
            }
            None => {
                let world = worlds.open(plan, busy, targets, stop).map_err(WorldFailure::from);
                match world {
                    Ok(world) => {
                        world.hurry(is_hurried);
                        world.perform(&program, options, target, peers, notify)
                    }
                    Err(failure) => {
                        peers.leave(Standing::Failed);
                        Err(failure)
                    }
                }
            }
        });
        peers.collect(performed, stop)
    }
}

/// Units of work per second of an execution, all phases together. `None` if it did no work or took no time. The work
/// counts, because a program with a time limit always takes the same time.
pub(super) fn rate(program: &Program, result: &ExecutionResult) -> Option<f64> {
    let phases = program.phases.iter().zip(&result.phases);
    let parts = phases.flat_map(|(phase, done)| done.parts.iter().map(|part| phase.unit.done(&part.tally)));
    let rate = parts.sum::<u64>() as f64 / result.measured().as_secs_f64();
    (rate.is_finite() && rate > 0.0).then_some(rate)
}

impl Site for WorldSite<'_> {
    fn hold_load(&mut self) -> bool {
        self.held.begin(self.targets.iter().filter(|target| !target.is_simulated()).count())
    }

    fn affords(&self, rounds: u32) -> bool {
        self.loaded.iter().enumerate().all(|(target, loaded)| self.plan.affords(target, rounds, *loaded))
    }

    fn perform(&mut self, turns: &[Turn], notify: &mut dyn FnMut(Event)) -> Vec<Performed> {
        let perform = |turn: &Turn| {
            let index = turn.alternative;
            let Alternative { targets: busy, row } = &self.plan.alternatives[index];
            let target = targets::names(busy, self.targets);
            notify(Event::ProgramStarted { index, program: row.program.name, target: &target });
            let is_simulated = targets::are_simulated(busy, self.targets);
            let began = self.late.as_ref().filter(|_| is_simulated).map(Late::pause);
            let rest = if is_simulated { None } else { self.load_again(turn, &target, notify) };
            // A wait for calm after a load would bring credits back.
            let mut performed = self.perform_one(turn, (&target, rest.is_some()), self.plan.options, notify);
            if let (Some(rest), Some(Ok(result))) = (rest, &mut performed) {
                // The rest also contains the end of the load and the preparation of this execution. Together they take
                // about as long as the unmeasured parts of this execution.
                result.rested = Some(rest + result.lasted.saturating_sub(result.measured()));
            }
            busy.iter().for_each(|&index| self.held.ends(index, (self.clock)()));
            if let (false, [only], Some(Ok(result))) = (is_simulated, &busy[..], &performed) {
                let (_, is_split) = self.noted(index, *only, result);
                let hides = self.held.waits(result.waited(), result.measured()) || is_split;
                if hides && self.compares && self.hold_load() {
                    notify(Event::LoadHeld);
                }
            }
            if let (Some(late), Some(began)) = (&mut self.late, began) {
                late.go_on(began);
            }
            notify(Event::ProgramEnded { index });
            performed
        };
        turns.iter().map(perform).collect()
    }
}

impl Late<'_> {
    /// Pauses the timer, and returns the present time.
    fn pause(&self) -> Nanos {
        self.timer.set(None);
        (self.clock)()
    }

    /// Starts the timer again.
    fn go_on(&mut self, paused: Nanos) {
        let now = (self.clock)();
        self.simulated += now.saturating_sub(paused);
        self.timer.set(Some(self.deadline.until_stop(now.saturating_sub(self.simulated))));
    }
}

#[cfg(test)]
mod tests {
    use runner::execution::{ClaimedClock, perform};
    use simulator::Machine;
    use workload::OpKind;
    use workload::programs::small_io;

    use super::*;

    #[test]
    fn the_rate_of_a_timed_program_is_its_work() {
        let program = small_io::random_read(1 << 20, 4096, 50, 1).within(Nanos::from_secs(100));
        let mut machine = Machine::named("flat", 1).expect("the simplest machine");
        let options = MeasureOptions { claim: ClaimedClock::Returned, timed: true, ceiling: false, live: None };
        let Ok(mut result) = perform(&mut machine, &program, options);
        let rate_with = |ops: u64, result: &mut ExecutionResult| {
            result.phases[0].parts[0].tally.ops[OpKind::ReadAt as usize] = ops;
            rate(&program, result)
        };
        let [half, whole] = [25, 50].map(|ops| rate_with(ops, &mut result).expect("it did work"));
        assert_eq!(2.0 * half, whole);
        assert_eq!(rate_with(0, &mut result), None);
    }
}
