//! Marks about the machine and the run: times too short for the clock, noise, changed settings, file systems in memory
//! or on images, and cells that did not alternate.

use std::collections::BTreeMap;

use kernel::observe::host::processors;
use runner::execution::{ExecutionResult, PhaseResult};
use stats::judge::marks::{Mark, clock, location, rounds};
use stats::judge::noise::{Disturbance, Window, disturbances, environment, of_run, stand_out};
use stats::{Cell, Environment, Noise, ParameterValue, Provenance, Round};
use workload::Phase;

use super::CellFacts;
use super::window::windows;
use crate::executions::Executions;
use crate::plan::Plan;
use crate::targets::{Target, are_simulated};

/// The marks that follow from one cell alone.
pub fn marks(facts: &CellFacts) -> impl Iterator<Item = Mark> {
    of_clock(facts).into_iter().chain(of_place(facts)).chain(location::env(facts.settings.iter().copied()))
}

/// The mark if the shortest round was too short for the clock.
fn of_clock(facts: &CellFacts) -> Option<Mark> {
    let shortest = facts.rounds.iter().map(|round| round.elapsed_s(facts.clock)).min_by(f64::total_cmp)?;
    clock::short(shortest, facts.clock_floor?)
}

/// Marks about the storage of the targets. An image always matters, memory only if the cell claims a device.
fn of_place(facts: &CellFacts) -> impl Iterator<Item = Mark> {
    let nested = facts.infos.iter().find_map(|info| info.nested_in.as_deref()).map(location::nested);
    let in_memory = facts.infos.iter().find_map(|info| info.in_memory.as_deref()).filter(|_| facts.claims_device());
    nested.into_iter().chain(in_memory.map(location::memory))
}

/// Adds the worst disturbance of this phase to every round. A cell gets this mark only if it stands out: on a busy
/// machine, every round is noisy.
pub fn mark_rounds(rounds: &mut [Round], runs: &[&PhaseResult], phase: &Phase) {
    let Some(cpus) = processors() else { return };
    for (round, run) in rounds.iter_mut().zip(runs) {
        let (before, during) = windows(run, phase, cpus);
        round.marks.extend(disturbances(&before, &during).first().map(Disturbance::mark));
    }
}

/// Sets the environment of every real cell, marks cells that were disturbed more than the rest, and returns the noise
/// of the run. `cells` are those of the plan's alternatives, in order.
pub fn noise(plan: &Plan, targets: &[Target], executions: &[Executions], cells: &mut [Cell]) -> Option<Noise> {
    let cpus = processors()?;
    let mut of_rounds: BTreeMap<u32, Vec<(Window, Window)>> = BTreeMap::new();
    let mut of_cells: Vec<(usize, Vec<Disturbance>)> = Vec::new();
    let mut cell = 0;
    for (alternative, executions) in plan.alternatives.iter().zip(executions) {
        let is_real = !are_simulated(&alternative.targets, targets);
        for (index, phase) in alternative.row.program.phases.iter().enumerate() {
            let run = |(round, result): (u32, &ExecutionResult)| {
                let run: &PhaseResult = result.phases.get(index)?;
                Some((round, windows(run, phase, cpus)))
            };
            let seen: Vec<(u32, (Window, Window))> =
                if is_real { executions.kept().filter_map(run).collect() } else { Vec::new() };
            let others =
                || executions.kept().flat_map(|(round, result)| result.hosts.iter().map(move |one| (round, one)));
            if let Some((before, during)) = sum(seen.iter().map(|(_, windows)| *windows)) {
                // A noisy host makes the result of all hosts noisy.
                let others = others().filter_map(run).map(|(_, (before, during))| environment(&before, &during));
                cells[cell].state.environment = others.fold(environment(&before, &during), worse);
                if cells[cell].measured {
                    of_cells.push((cell, disturbances(&before, &during)));
                }
            }
            seen.into_iter().for_each(|(round, windows)| of_rounds.entry(round).or_default().push(windows));
            cell += 1;
        }
    }
    let weights: Vec<f64> = of_cells.iter().map(|(_, found)| found.first().map_or(0.0, Disturbance::weight)).collect();
    for ((cell, found), stands_out) in of_cells.iter().zip(stand_out(&weights)) {
        if stands_out {
            cells[*cell].marks.extend(found.first().map(Disturbance::mark));
        }
    }
    let of_rounds = of_rounds.into_iter().filter_map(|(round, windows)| {
        let (before, during) = sum(windows.into_iter())?;
        Some((round, disturbances(&before, &during)))
    });
    of_run(&of_rounds.collect::<Vec<_>>())
}

/// The worse of two environments.
fn worse(one: Environment, other: Environment) -> Environment {
    match (one, other) {
        (Environment::Noisy, _) | (_, Environment::Noisy) => Environment::Noisy,
        (Environment::NotMeasured, _) | (_, Environment::NotMeasured) => Environment::NotMeasured,
        (Environment::Quiet, Environment::Quiet) => Environment::Quiet,
    }
}

/// The sums of the windows before the phases, and of those during the phases.
fn sum(windows: impl Iterator<Item = (Window, Window)>) -> Option<(Window, Window)> {
    windows.reduce(|(before, during), (more_before, more)| (before.and(&more_before), during.and(&more)))
}

/// Parameters that differ between targets, not between programs.
const OF_TARGET: [&str; 4] = ["drives", "engine", "file_system", "tune"];

/// Marks cells that did not alternate with the cells that a reader compares them with: those that differ in the target
/// only.
pub fn order(cells: &mut [Cell]) {
    let is_compared = |cell: &Cell| cell.measured && !cell.together && cell.provenance == Provenance::Measured;
    let parameters = |cell: &Cell| -> BTreeMap<String, ParameterValue> {
        let own = cell.parameters.iter().filter(|(name, _)| !OF_TARGET.contains(&name.as_str()));
        own.map(|(name, value)| (name.clone(), value.clone())).collect()
    };
    let same = |a: &Cell, b: &Cell| {
        a.target != b.target && (&a.program, &a.phase) == (&b.program, &b.phase) && parameters(a) == parameters(b)
    };
    // Rounds that are left out because of their regime were interleaved, too.
    let counts = |cell: &Cell, round: &Round| !round.discarded || !cell.regimes.is_empty();
    let rounds = |cell: &Cell| -> Vec<u32> {
        cell.rounds.iter().filter(|round| counts(cell, round)).map(|round| round.round).collect()
    };
    let kept: Vec<Vec<u32>> = cells.iter().map(rounds).collect();
    let marks: Vec<Option<Mark>> = cells
        .iter()
        .enumerate()
        .map(|(index, cell)| {
            if !is_compared(cell) {
                return None;
            }
            let others = cells.iter().enumerate().filter(|(_, other)| is_compared(other) && same(cell, other));
            rounds::order(&kept[index], &others.map(|(other, _)| kept[other].as_slice()).collect::<Vec<_>>())
        })
        .collect();
    cells.iter_mut().zip(marks).for_each(|(cell, mark)| cell.marks.extend(mark));
}
