//! The worlds of a run as the site of a campaign.

use runner::execution::WorldFailure;
use units::Nanos;

use super::Turn;
use super::deadline::{Clock, Deadline};
use super::driver::{Performed, Site};
use crate::error::CampaignError;
use crate::events::Event;
use crate::plan::{Alternative, Plan};
use crate::signals::{Stop, Timer};
use crate::targets::{self, Target};
use crate::worlds::{AnyWorld, Worlds};

/// The worlds of a plan. Performs one execution at a time.
pub struct WorldSite<'a> {
    plan: &'a Plan,
    targets: &'a [Target],
    worlds: &'a mut Worlds,
    stop: &'a Stop,
    late: Option<Late<'a>>,
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
    /// The site of a campaign that begins now.
    pub fn new(
        (plan, targets): (&'a Plan, &'a [Target]),
        worlds: &'a mut Worlds,
        (stop, clock): (&'a Stop, Clock<'a>),
        deadline: Option<Deadline>,
    ) -> Result<WorldSite<'a>, CampaignError> {
        let late = |deadline: Deadline| {
            let timer = stop.start_timer(deadline.until_stop(clock()))?;
            Ok::<Late, CampaignError>(Late { deadline, timer, clock, simulated: Nanos::ZERO })
        };
        Ok(WorldSite { plan, targets, worlds, stop, late: deadline.map(late).transpose()? })
    }

    fn perform_one(&mut self, turn: &Turn, target: &str, notify: &mut dyn FnMut(Event)) -> Performed {
        let WorldSite { plan, targets, worlds, stop, .. } = self;
        let Alternative { targets: busy, row } = &plan.alternatives[turn.alternative];
        let program = row.program.in_round(turn.round);
        Some(match &row.raw {
            Some(raw) => {
                let world = AnyWorld::on_device(plan, &program, &worlds.node(raw, busy[0]), stop);
                world
                    .map_err(WorldFailure::from)
                    .and_then(|mut world| world.perform(&program, plan.options, target, notify))
            }
            None => {
                let world = worlds.open(plan, busy, targets, stop).map_err(WorldFailure::from);
                world.and_then(|world| world.perform(&program, plan.options, target, notify))
            }
        })
    }
}

impl Site for WorldSite<'_> {
    fn perform(&mut self, turns: &[Turn], notify: &mut dyn FnMut(Event)) -> Vec<Performed> {
        let perform = |turn: &Turn| {
            let index = turn.alternative;
            let Alternative { targets: busy, row } = &self.plan.alternatives[index];
            let target = targets::names(busy, self.targets);
            notify(Event::ProgramStarted { index, program: row.program.name, target: &target });
            let is_simulated = targets::are_simulated(busy, self.targets);
            let began = self.late.as_ref().filter(|_| is_simulated).map(Late::pause);
            let performed = self.perform_one(turn, &target, notify);
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
