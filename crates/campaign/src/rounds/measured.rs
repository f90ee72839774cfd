//! The rounds of `run` and `choose`: the rules of a plan, its worlds as the site, and an observer that stores results.

use std::collections::BTreeSet;

use stats::Cell;

use super::deadline::{Clock, Deadline};
use super::driver::{Driver, Observer, Outcome};
use super::world_site::WorldSite;
use super::{Findings, Limit, Order, Rules, Turn, Until};
use crate::choose::Conductor;
use crate::error::CampaignError;
use crate::events::Event;
use crate::executions::History;
use crate::plan::Alternative;
use crate::results::{self, Scene, all_cells};
use crate::run_writer::Keeper;
use crate::signals::Stop;
use crate::targets::{Target, are_simulated, names};
use crate::worlds::Worlds;

/// The rounds of a plan. A failure voids the cells of its own test and target only.
pub struct Rounds<'a> {
    /// The plan and its targets.
    pub scene: Scene<'a>,
    /// Goal of a comparison.
    pub conductor: Option<&'a Conductor<'a>>,
    /// Request to stop.
    pub stop: &'a Stop,
    /// The time.
    pub clock: Clock<'a>,
    /// End of the run, if it was made to fit into a time.
    pub deadline: Option<Deadline>,
}

impl Rounds<'_> {
    /// Performs the executions that are left.
    pub fn run(
        &self,
        worlds: &mut Worlds,
        keeper: &mut Option<Keeper>,
        histories: Vec<History>,
        notify: &mut dyn FnMut(Event),
    ) -> Result<Outcome, CampaignError> {
        let Rounds { scene, stop, clock, deadline, .. } = *self;
        let order = |round| scene.plan.order(round);
        let driver = Driver {
            rules: &self.rules(&order),
            site: &mut WorldSite::new((scene.plan, scene.targets), worlds, (stop, clock), deadline)?,
            stop,
            clock,
            judge: &|histories| self.judge(histories),
            observer: &mut Recorder {
                scene,
                all: all_cells(scene, &histories),
                keeper,
                notify,
                left_out: BTreeSet::new(),
            },
        };
        Ok(driver.run(histories))
    }

    fn rules<'a>(&self, order: &'a dyn Fn(u32) -> Vec<usize>) -> Rules<'a> {
        let Scene { plan, targets, .. } = self.scene;
        let has_real = !targets.iter().all(Target::is_simulated);
        let is_untimed = |alternative: &Alternative| has_real && are_simulated(&alternative.targets, targets);
        Rules {
            rounds: plan.rounds,
            discard_first: plan.discards(1),
            until: match self.conductor {
                Some(_) => Until::Decided { least: plan.schedule.least_to_decide() },
                None if plan.schedule.is_until_steady() => Until::Steady,
                None => Until::Rounds,
            },
            limit: self.deadline.map(Limit::Deadline).or(plan.budget.map(Limit::Budget)),
            order: Order::Rounds(order),
            untimed: plan.alternatives.iter().map(is_untimed).collect(),
        }
    }

    fn judge(&self, histories: &[History]) -> Findings {
        let Scene { plan, .. } = self.scene;
        match self.conductor {
            Some(conductor) => Findings::Decided(conductor.standing(&all_cells(self.scene, histories))),
            None => {
                let mut all = plan.alternatives.iter().zip(histories);
                Findings::Steady(all.all(|(one, history)| results::is_settled(plan, one, history)))
            }
        }
    }
}

/// Stores every execution before the next one begins, and reports the first figures.
struct Recorder<'a> {
    scene: Scene<'a>,
    /// All cells of the run. The report of the first figures needs their names.
    all: Vec<Cell>,
    keeper: &'a mut Option<Keeper>,
    notify: &'a mut dyn FnMut(Event),
    /// Alternatives whose left-out executions were reported.
    left_out: BTreeSet<usize>,
}

impl Observer for Recorder<'_> {
    fn notify(&mut self, event: Event) {
        (self.notify)(event);
    }

    fn left_out(&mut self, turn: Turn, history: &History) {
        // The cell of a program that was never executed has the reason.
        if !history.is_empty() && self.left_out.insert(turn.alternative) {
            let Alternative { targets, row } = &self.scene.plan.alternatives[turn.alternative];
            let target = names(targets, self.scene.targets);
            (self.notify)(Event::ExecutionsLeftOut { target: &target, program: row.program.name });
        }
    }

    fn performed(&mut self, turn: Turn, history: &History) {
        let (plan, index) = (self.scene.plan, turn.alternative);
        if self.keeper.is_none() && turn.round > 1 {
            return;
        }
        let cells = results::cells(self.scene, &plan.alternatives[index], history);
        if let Some(keeper) = self.keeper {
            keeper.keep((index, history), (plan.first_cell(index), cells.clone()), self.notify);
        }
        if turn.round == 1 {
            (self.notify)(Event::FirstFigures { cells: &cells, all: &self.all });
        }
    }
}
