//! The rounds of `run` and `choose`: the rules of a plan, its worlds as the site, and an observer that stores results.

use std::collections::BTreeSet;

use stats::Cell;

use super::deadline::{Clock, Deadline};
use super::driver::{Driver, Observer, Outcome, Site};
use super::first_load::FirstLoad;
use super::forecast::Forecast;
use super::world_site::WorldSite;
use super::{Findings, Limit, Order, Rules, Turn, Until};
use crate::choose::StopRule;
use crate::error::CampaignError;
use crate::events::Event;
use crate::executions::Executions;
use crate::peers::Peers;
use crate::plan::Alternative;
use crate::results::{self, RunContext, all_cells};
use crate::run_writer::RunWriter;
use crate::signals::Stop;
use crate::targets::{Target, are_simulated, names};
use crate::worlds::Worlds;

/// The rounds of a plan. A failure voids the cells of its own test and target only.
pub struct Rounds<'a> {
    /// The plan and its targets.
    pub context: RunContext<'a>,
    /// Goal of a comparison.
    pub stop_rule: Option<&'a StopRule<'a>>,
    /// Request to stop.
    pub stop: &'a Stop,
    /// The time.
    pub clock: Clock<'a>,
    /// End of the run, if it was made to fit into a time.
    pub deadline: Option<Deadline>,
    /// True if targets are loaded before their executions from the first round on (`--sustained`).
    pub holds_load: bool,
    /// The load before the first round.
    pub first: FirstLoad,
}

impl Rounds<'_> {
    /// Performs the executions that are left.
    pub fn run(
        &self,
        (worlds, peers): (&mut Worlds, &mut Peers),
        writer: &mut Option<RunWriter>,
        executions: Vec<Executions>,
        notify: &mut dyn FnMut(Event),
    ) -> Result<Outcome, CampaignError> {
        let Rounds { context, stop, clock, deadline, .. } = *self;
        let order = |round| context.plan.order(round);
        let written = self.first.written.clone();
        let mut site =
            WorldSite::new((context.plan, context.targets, written), (worlds, peers), (stop, clock), deadline)?;
        site.lasting(&self.first.rates);
        site.compares = self.stop_rule.is_some();
        let has_rested = executions.iter().any(Executions::have_rested);
        if self.holds_load || has_rested {
            site.hold_load();
        }
        if has_rested {
            site.rests_begin();
        }
        let driver = Driver {
            rules: &self.rules(&order),
            site: &mut site,
            stop,
            clock,
            judge: &|executions| self.judge(executions),
            observer: &mut Recorder {
                context,
                all: all_cells(context, &executions),
                writer,
                notify,
                left_out: BTreeSet::new(),
            },
        };
        Ok(driver.run(executions))
    }

    fn rules<'a>(&self, order: &'a dyn Fn(u32) -> Vec<usize>) -> Rules<'a> {
        let RunContext { plan, targets, .. } = self.context;
        let has_real = !targets.iter().all(Target::is_simulated);
        let forecast = |alternative: &Alternative| Forecast {
            targets: alternative.busy(),
            time: alternative.row.forecast.unwrap_or_default(),
        };
        let is_untimed = |alternative: &Alternative| has_real && are_simulated(&alternative.targets, targets);
        Rules {
            rounds: plan.rounds,
            discard_first: plan.discards(1),
            until: match self.stop_rule {
                Some(_) => Until::Decided { least: plan.schedule.least_to_decide() },
                None if plan.schedule.is_until_steady() || plan.schedule.is_until_enough() => Until::Steady,
                None => Until::Rounds,
            },
            limit: self.deadline.map(Limit::Deadline).or(plan.budget.map(Limit::Budget)),
            order: Order::Rounds(order),
            untimed: plan.alternatives.iter().map(is_untimed).collect(),
            forecasts: plan.alternatives.iter().map(forecast).collect(),
        }
    }

    fn judge(&self, executions: &[Executions]) -> Findings {
        let RunContext { plan, .. } = self.context;
        match self.stop_rule {
            Some(stop_rule) => Findings::Decided(stop_rule.convergence(&all_cells(self.context, executions))),
            None => {
                let is_done = if plan.schedule.is_until_enough() { results::has_enough } else { results::is_settled };
                let mut all = plan.alternatives.iter().zip(executions);
                Findings::Steady(all.all(|(one, executions)| is_done(plan, one, executions)))
            }
        }
    }
}

/// Stores every execution before the next one begins, and reports the first figures.
struct Recorder<'a> {
    context: RunContext<'a>,
    /// All cells of the run. The report of the first figures needs their names.
    all: Vec<Cell>,
    writer: &'a mut Option<RunWriter>,
    notify: &'a mut dyn FnMut(Event),
    /// Alternatives whose left-out executions were reported.
    left_out: BTreeSet<usize>,
}

impl Observer for Recorder<'_> {
    fn notify(&mut self, event: Event) {
        (self.notify)(event);
    }

    fn left_out(&mut self, turn: Turn, executions: &Executions) {
        // The cell of a program that was never executed has the reason.
        if !executions.is_empty() && self.left_out.insert(turn.alternative) {
            let Alternative { targets, row } = &self.context.plan.alternatives[turn.alternative];
            let target = names(targets, self.context.targets);
            (self.notify)(Event::ExecutionsLeftOut { target: &target, program: row.program.name });
        }
    }

    fn performed(&mut self, turn: Turn, executions: &Executions) {
        let (plan, index) = (self.context.plan, turn.alternative);
        if self.writer.is_none() && turn.round > 1 {
            return;
        }
        let cells = results::cells(self.context, &plan.alternatives[index], executions);
        if let Some(writer) = self.writer {
            writer.keep((index, executions), (plan.first_cell(index), cells.clone()), self.notify);
        }
        if turn.round == 1 {
            (self.notify)(Event::FirstFigures { cells: &cells, all: &self.all });
        }
    }
}
