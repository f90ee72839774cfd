//! The cells of several hosts: a cell for each host, as if it had measured alone, and the combined one.

use std::collections::BTreeMap;

use runner::peers::HostStart;
use stats::figures::hosts::{self, HostCell, Start};
use stats::figures::summary::RateUnit;
use stats::{Cell, HostInfo, RateBase};

use crate::executions::Executions;

/// The executions of each host; empty if one host measures.
pub fn executions<'a>(hosts: &'a [HostInfo], executions: &Executions) -> Vec<(&'a HostInfo, Executions)> {
    hosts.iter().enumerate().map(|(index, host)| (host, executions.of_host(index))).collect()
}

/// The combined cell of a phase. `cell` makes the cell of one host from its executions and its number of processors.
pub fn combined(
    of_hosts: &[(&HostInfo, Executions)],
    phase: usize,
    (base, unit): (RateBase, RateUnit),
    cell: &dyn Fn(&Executions, Option<u32>) -> Cell,
) -> Cell {
    let one = |(host, executions): &(&HostInfo, Executions)| HostCell {
        name: host.name.clone(),
        cell: cell(executions, host.cpus.try_into().ok()),
        starts: starts(executions, phase),
    };
    let cells: Vec<HostCell> = of_hosts.iter().map(one).collect();
    hosts::combined(&cells, base, unit).expect("there are hosts")
}

/// The start of a phase in each round.
fn starts(executions: &Executions, phase: usize) -> BTreeMap<u32, Start> {
    let start = |(round, start): (u32, HostStart)| {
        (round, Start { late_ns: start.late.0, uncertainty_ns: start.uncertainty.0 })
    };
    let all = executions.runs.iter().filter_map(|run| Some((run.round, run.result.phases.get(phase)?.start?)));
    all.map(start).collect()
}
