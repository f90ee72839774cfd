//! Programs on simulated machines, each switched on for one execution.

pub mod csv_sweep;
pub mod faster_resources;
mod fresh_machines;
mod parallel;
pub mod parts;
mod points;
pub mod request;
mod single_execution;
pub mod timeline;

use std::num::NonZeroUsize;
use std::path::Path;
use std::time::Instant;

use campaign::events::Event;
use campaign::executions::Executions;
use campaign::plan::{Alternative, Plan};
use campaign::presets::Preset;
use campaign::request::schedule::Schedule;
use campaign::results::{self, RunContext};
use campaign::rounds::deadline::since;
use campaign::rounds::driver::{Driver, Outcome};
use campaign::rounds::{Findings, Order, Rules, Until};
use campaign::signals::Stop;
use campaign::targets::prepared_target;
use campaign::targets::{Simulated, Target};
use fresh_machines::FreshMachines;
use simulator::Chance;
use stats::{Cell, Problem, TargetInfo};

use crate::error::{ArgumentError, Error};

/// A plan for machines that are switched on again for each of `phases` rotational positions.
pub fn of_machines(preset: &'static Preset, phases: u32, seed: u64, alternatives: Vec<Alternative>) -> Plan {
    Plan::fixed((preset.name, preset.options_on(&[])), Schedule::Phases(phases), seed, alternatives)
}

/// The description of the machine: one for all swept values, with all its file systems.
pub fn infos(targets: &[Target]) -> Result<Vec<TargetInfo>, Error> {
    let Some(first) = targets.first() else { return Ok(Vec::new()) };
    let mut file_systems: Vec<String> = Vec::new();
    for name in targets.iter().filter_map(Target::file_system) {
        if !file_systems.contains(&name) {
            file_systems.push(name);
        }
    }
    Ok(vec![TargetInfo { file_system: Some(file_systems.join(", ")), ..prepared_target::info(first)? }])
}

/// Makes the cells of all alternatives from their executions: [`results::all_cells`], or [`cells_apart`].
pub type MakeCells = fn(RunContext, &[Executions]) -> Vec<Cell>;

/// The cells of a step of a sweep: no cell depends on the other cells of the step.
pub fn cells_apart(context: RunContext, executions: &[Executions]) -> Vec<Cell> {
    let all = context.plan.alternatives.iter().zip(executions);
    all.flat_map(|(alternative, executions)| results::cells(context, alternative, executions)).collect()
}

/// Runs every program at every rotational position. Returns the cells, and the problems of programs that failed.
pub fn perform_all(
    plan: &Plan,
    (targets, infos): (&[Target], &[TargetInfo]),
    make_cells: MakeCells,
    threads: Option<NonZeroUsize>,
    stop: &Stop,
    notify: &mut dyn FnMut(Event),
) -> (Vec<Cell>, Vec<Problem>) {
    notify(Event::Started(plan));
    let order = wanted(plan);
    let rules = Rules {
        rounds: plan.rounds,
        discard_first: plan.discards(1),
        until: Until::Rounds,
        limit: None,
        order: Order::Independent(&order),
        untimed: vec![true; plan.alternatives.len()],
        forecasts: Vec::new(),
    };
    let began = Instant::now();
    let driver = Driver {
        rules: &rules,
        site: &mut FreshMachines::new(plan, targets, threads, stop),
        stop,
        clock: &|| since(began),
        judge: &|_| Findings::Steady(false),
        observer: &mut |event: Event| notify(event),
    };
    let Outcome { executions, .. } = driver.run(vec![Executions::default(); plan.alternatives.len()]);
    notify(Event::Finished);
    let context = RunContext { plan, targets, infos, clock_floor: None, hosts: &[] };
    let all = plan.alternatives.iter().zip(&executions);
    let problems = all.filter_map(|(alternative, executions)| results::problem(targets, alternative, executions));
    (make_cells(context, &executions), problems.collect())
}

/// Draws the timeline of the first run, and returns its title.
pub fn draw(path: &Path, plan: &Plan, targets: &[Target], stop: &Stop) -> Result<String, Error> {
    let Some(&first) = wanted(plan).first() else { return Err(ArgumentError::NothingToDraw.into()) };
    let Alternative { targets: busy, row } = &plan.alternatives[first];
    let target = &targets[busy[0]];
    let chance = Chance { seed: plan.seed, phase: 0, phases: plan.rounds };
    let marks = single_execution::timeline(target, busy.len(), &row.program, plan.options, chance, stop);
    let drives = if busy.len() == 1 { "1 drive".to_owned() } else { format!("{} drives", busy.len()) };
    let file_system = target.file_system().unwrap_or_default();
    let turn =
        target.simulated().and_then(Simulated::turn).map_or_else(String::new, |turn| format!("; a turn takes {turn}"));
    let title = format!("{} on {target}, {file_system}, {drives}{turn}", row.program.name);
    timeline::write(path, &title, &marks)?;
    Ok(title)
}

/// The alternatives that are not omitted, in the order of the plan. The order has no effect, as the machines are
/// switched on again.
fn wanted(plan: &Plan) -> Vec<usize> {
    (0..plan.alternatives.len()).filter(|&index| plan.alternatives[index].row.omitted.is_none()).collect()
}
