//! Machines that are switched on for each execution, as the site of a campaign: executions run side by side.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use campaign::events::Event;
use campaign::plan::{Alternative, Plan};
use campaign::rounds::Turn;
use campaign::rounds::driver::{Performed, Site};
use campaign::signals::Stop;
use campaign::targets::Target;
use runner::execution::ExecutionResult;
use simulator::Chance;
use workload::Reason;

use super::parallel::side_by_side;
use super::single_execution;

/// The machines of a plan. A round is a position of the platters.
pub struct FreshMachines<'a> {
    plan: &'a Plan,
    targets: &'a [Target],
    threads: NonZeroUsize,
    stop: &'a Stop,
}

impl<'a> FreshMachines<'a> {
    /// `threads` is the number of threads [default: one for each processor].
    pub fn new(
        plan: &'a Plan,
        targets: &'a [Target],
        threads: Option<NonZeroUsize>,
        stop: &'a Stop,
    ) -> FreshMachines<'a> {
        let threads = threads.or_else(|| thread::available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN);
        FreshMachines { plan, targets, threads, stop }
    }

    fn perform_one(&self, Turn { alternative, round, .. }: Turn) -> ExecutionResult {
        let Alternative { targets: busy, row } = &self.plan.alternatives[alternative];
        let chance = Chance { seed: self.plan.seed, phase: round - 1, phases: self.plan.rounds };
        single_execution::perform(
            &self.targets[busy[0]],
            busy.len(),
            &row.program,
            self.plan.options,
            chance,
            self.stop,
        )
    }
}

impl Site for FreshMachines<'_> {
    /// If a simulation would not end, the workload is not simulated at later positions of the platters. It is simulated
    /// at all earlier ones, whichever thread finds out first.
    fn perform(&mut self, turns: &[Turn], notify: &mut dyn FnMut(Event)) -> Vec<Performed> {
        let endless: Vec<AtomicU32> = self.plan.alternatives.iter().map(|_| AtomicU32::new(u32::MAX)).collect();
        let is_useless = |turn: Turn| turn.round > endless[turn.alternative].load(Ordering::Relaxed);
        let job = |index: usize| {
            let turn = turns[index];
            if is_useless(turn) {
                return None;
            }
            let performance = self.perform_one(turn);
            if performance.stopped.is_some_and(|stopped| stopped.failure.reason == Reason::Unending) {
                endless[turn.alternative].fetch_min(turn.round, Ordering::Relaxed);
            }
            Some(performance)
        };
        let ended = |index: usize| notify(Event::ProgramEnded { index: turns[index].alternative });
        let performances = side_by_side(turns.len(), self.threads, &|| self.stop.requested(), &job, ended);
        let all = turns.iter().zip(performances);
        all.map(|(turn, performance)| performance.flatten().filter(|_| !is_useless(*turn)).map(Ok)).collect()
    }
}
