//! The cells of several hosts: a cell for each host, as if it had measured alone, and the combined one.

use std::collections::BTreeMap;

use runner::peers::HostStart;
use stats::figures::hosts::{self, HostCell, Start};
use stats::figures::summary::RateUnit;
use stats::{Cell, HostInfo, RateBase};

use crate::executions::Executions;

/// The name and the executions of each host; empty if one host measures.
pub fn executions(hosts: &[HostInfo], executions: &Executions) -> Vec<(String, Executions)> {
    let all = hosts.iter().enumerate();
    all.map(|(index, host)| (host.name.clone(), executions.of_host(index))).collect()
}

/// The combined cell of a phase. `cell` makes the cell of one host.
pub fn combined(
    of_hosts: &[(String, Executions)],
    phase: usize,
    (base, unit): (RateBase, RateUnit),
    cell: &dyn Fn(&Executions) -> Cell,
) -> Cell {
    let one = |(name, executions): &(String, Executions)| HostCell {
        name: name.clone(),
        cell: cell(executions),
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
