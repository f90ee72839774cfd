//! Marks about the machine and the run: times too short for the clock, noise, changed settings, file systems in memory
//! or on images, and cells that did not alternate.

use std::collections::BTreeMap;

use kernel::observe::host::processors;
use runner::execution::{ExecutionResult, PhaseResult};
use stats::judge::marks::{Mark, clock, location, rounds};
use stats::judge::noise::{Disturbance, Window, disturbances, environment, of_run, of_run_on_hosts, stand_out};
use stats::{Cell, Environment, HostInfo, Noise, ParameterValue, Provenance, Round};
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
pub fn mark_rounds(rounds: &mut [Round], runs: &[&PhaseResult], phase: &Phase, cpus: Option<u32>) {
    let Some(cpus) = cpus else { return };
    for (round, run) in rounds.iter_mut().zip(runs) {
        let (before, during) = windows(run, phase, cpus);
        round.marks.extend(disturbances(&before, &during).first().map(Disturbance::mark));
    }
}

/// The windows before a phase and during it.
type Windows = (Window, Window);

/// The disturbances of a cell on each host, with the rank of the host.
struct Disturbed {
    cell: usize,
    hosts: Vec<(usize, Vec<Disturbance>)>,
}

impl Disturbed {
    /// The host with the worst disturbance, and that disturbance.
    fn worst(&self) -> Option<(usize, &Disturbance)> {
        let worst = self.hosts.iter().filter_map(|(rank, found)| Some((*rank, found.first()?)));
        worst.max_by(|(_, one), (_, other)| one.weight().total_cmp(&other.weight()))
    }
}

/// Sets the environment of every real cell, marks cells that were disturbed more than the rest, and returns the noise
/// of the run. `cells` are those of the plan's alternatives, in order. A noisy host makes the result of all hosts
/// noisy, and is named.
pub fn noise(
    plan: &Plan,
    targets: &[Target],
    (executions, hosts): (&[Executions], &[HostInfo]),
    cells: &mut [Cell],
) -> Option<Noise> {
    let cpus = processors_of(hosts)?;
    let mut of_rounds: Vec<BTreeMap<u32, Vec<Windows>>> = vec![BTreeMap::new(); cpus.len()];
    let mut of_cells: Vec<Disturbed> = Vec::new();
    let mut cell = 0;
    for (alternative, executions) in plan.alternatives.iter().zip(executions) {
        let is_real = !are_simulated(&alternative.targets, targets);
        for (index, phase) in alternative.row.program.phases.iter().enumerate() {
            let mut all: Vec<(usize, Windows)> = Vec::new();
            for (rank, of_rounds) in of_rounds.iter_mut().enumerate().filter(|_| is_real) {
                let run = |(round, result): (u32, &ExecutionResult)| {
                    let run: &PhaseResult = on_host(result, rank)?.phases.get(index)?;
                    Some((round, windows(run, phase, cpus[rank])))
                };
                let seen: Vec<(u32, Windows)> = executions.kept().filter_map(run).collect();
                all.extend(sum(seen.iter().map(|(_, windows)| *windows)).map(|windows| (rank, windows)));
                seen.into_iter().for_each(|(round, windows)| of_rounds.entry(round).or_default().push(windows));
            }
            let environments = all.iter().map(|(_, (before, during))| environment(before, during));
            if let Some(environment) = environments.reduce(worse) {
                cells[cell].state.environment = environment;
                if cells[cell].measured {
                    let hosts = all.iter().map(|(rank, (before, during))| (*rank, disturbances(before, during)));
                    let hosts = hosts.collect();
                    of_cells.push(Disturbed { cell, hosts });
                }
            }
            cell += 1;
        }
    }
    let weights: Vec<f64> = of_cells.iter().map(|cell| cell.worst().map_or(0.0, |(_, worst)| worst.weight())).collect();
    for (disturbed, _) in of_cells.iter().zip(stand_out(&weights)).filter(|(_, stands_out)| *stands_out) {
        disturbed.worst().into_iter().for_each(|worst| mark(&mut cells[disturbed.cell], worst));
    }
    let of_host = |rounds: BTreeMap<u32, Vec<Windows>>| {
        let of_rounds = rounds.into_iter().filter_map(|(round, windows)| {
            let (before, during) = sum(windows.into_iter())?;
            Some((round, disturbances(&before, &during)))
        });
        of_rounds.collect::<Vec<_>>()
    };
    let mut of_hosts: Vec<_> = of_rounds.into_iter().map(of_host).collect();
    match hosts {
        [] => of_run(&of_hosts.pop()?),
        hosts => of_run_on_hosts(&hosts.iter().map(|host| &*host.name).zip(of_hosts).collect::<Vec<_>>()),
    }
}

/// Marks a cell with this disturbance. On several hosts, the mark has the name of the host.
fn mark(cell: &mut Cell, (rank, worst): (usize, &Disturbance)) {
    let mark = worst.mark();
    let mark = match cell.hosts.get_mut(rank) {
        None => mark,
        Some(host) => {
            host.warnings.push(mark.code.name().to_owned());
            Mark { text: format!("{}: {}", host.name, mark.text), ..mark }
        }
    };
    cell.marks.push(mark);
}

/// The number of processors of each host; only that of this one if it is alone. `None` if it is unknown.
fn processors_of(hosts: &[HostInfo]) -> Option<Vec<u32>> {
    match hosts {
        [] => Some(vec![processors()?]),
        hosts => hosts.iter().map(|host| host.cpus.try_into().ok()).collect(),
    }
}

/// The result of the host of this rank. `None` if that host did not end the execution.
fn on_host(result: &ExecutionResult, rank: usize) -> Option<&ExecutionResult> {
    match rank.checked_sub(1) {
        None => Some(result),
        Some(other) => result.hosts.get(other),
    }
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

#[cfg(test)]
mod tests {
    use runner::execution::{ClaimedClock, MeasureOptions, perform};
    use simulator::Machine;
    use stats::HostFigures;
    use stats::judge::marks::MarkCode;
    use units::Nanos;
    use workload::programs::classic1983::Classic;

    use super::*;
    use crate::plan::{Alternative, Row};
    use crate::presets::MIB_PER_SECOND;
    use crate::rounds::Turn;
    use crate::targets::TargetArgument;

    const OPTIONS: MeasureOptions =
        MeasureOptions { claim: ClaimedClock::Returned, timed: false, ceiling: false, live: None };

    /// An execution in which other virtual machines had this share of the processors' time.
    fn stolen(row: &Row, share: f64) -> ExecutionResult {
        let mut machine = Machine::named("flat", 1).expect("the simplest machine");
        let Ok(mut result) = perform(&mut machine, &row.program, OPTIONS);
        let counters = &mut result.phases[0].counters;
        counters.elapsed = Nanos::from_secs(1);
        counters.steal = Some(Nanos((1e9 * share) as u64));
        result
    }

    #[test]
    fn a_disturbance_of_another_host_is_a_warning_with_its_name() {
        let folder = tempfile::tempdir().expect("a folder");
        let argument: TargetArgument = format!("a={}", folder.path().display()).into();
        let targets = Target::resolve_all(&[argument]).expect("a target");
        let row = Row::new(Classic::ALL[0].program(1 << 20), MIB_PER_SECOND);
        // Only the last test is disturbed.
        let executions = [0.0, 0.0, 0.5].map(|share| {
            let both = ExecutionResult { hosts: vec![stolen(&row, share)], ..stolen(&row, 0.0) };
            let mut executions = Executions::default();
            executions.add(Turn { alternative: 0, round: 1, position: 1 }, false, both);
            executions
        });
        let schedule = crate::presets::LOAD.schedule.clone();
        let alternatives = vec![Alternative { targets: vec![0], row }; 3];
        let plan = Plan::fixed(("test", OPTIONS), schedule, 7, alternatives);
        let host = |name: &str| HostInfo { name: name.to_owned(), cpus: 1, ..HostInfo::default() };
        let figures = |name: &str| HostFigures {
            name: name.to_owned(),
            per_second: None,
            of_median: None,
            cpu_percent: None,
            cache: stats::CacheState::Unknown,
            warnings: Vec::new(),
        };
        let mut cell = Cell::named(Provenance::Measured, "test", "p", "p", "a");
        (cell.measured, cell.hosts) = (true, vec![figures("n0"), figures("n1")]);
        let mut cells = [cell.clone(), cell.clone(), cell];
        let hosts = [host("n0"), host("n1")];
        let noise = noise(&plan, &targets, (&executions, &hosts), &mut cells).expect("noise");
        assert!(noise.text.contains("CPU steal") && noise.text.ends_with(" on n1"), "{noise:?}");
        let [quiet, _, cell] = cells;
        assert_eq!((quiet.marks, cell.state.environment), (Vec::new(), Environment::Noisy));
        let mark = cell.marks.iter().find(|mark| mark.code == MarkCode::Noise).expect("a warning");
        assert_eq!(mark.text, "n1: CPU steal 50 %");
        assert_eq!([&cell.hosts[0].warnings[..], &cell.hosts[1].warnings[..]], [&[][..], &["noise".to_owned()]]);
    }
}
