//! The reason for a verdict: bottlenecks, the devices' work, or warnings.

use std::collections::BTreeMap;

use units::Nanos;
use workload::RateBase;

use crate::compare::reason::Reason;
use crate::compare::target_comparison::Row;
use crate::judge::marks::MarkCode;
use crate::results::bottleneck::Bottleneck;
use crate::results::cell::Cell;

/// Returns the reason if rows are unverified on one of two targets only. Both targets must have measured a row.
pub(super) fn unverified<'a>(rows: impl Iterator<Item = &'a Row<'a>>, both: [usize; 2]) -> Option<Reason> {
    let mut causes: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for [one, other] in measured_on_both(rows, both) {
        let (cell, cause) = match [&one.state.unverified, &other.state.unverified] {
            [Some(cause), None] => (one, cause),
            [None, Some(cause)] => (other, cause),
            [Some(_), Some(_)] | [None, None] => continue,
        };
        let targets = causes.entry(cause.clone()).or_default();
        if !targets.contains(&cell.target) {
            targets.push(cell.target.clone());
        }
    }
    (!causes.is_empty()).then_some(Reason::Unverified(causes))
}

/// Returns the cells of two targets in the rows that both have measured.
fn measured_on_both<'a>(
    rows: impl Iterator<Item = &'a Row<'a>>,
    [first, second]: [usize; 2],
) -> impl Iterator<Item = [&'a Cell; 2]> {
    let is_measured = |both: &[&Cell; 2]| both.iter().all(|cell| cell.rate.is_some());
    rows.filter_map(move |row| Some([row.cells[first]?, row.cells[second]?])).filter(is_measured)
}

/// Returns the warnings that keep these rows from deciding between two targets. Both targets must have measured a row.
pub(super) fn warned<'a>(rows: impl Iterator<Item = &'a Row<'a>>, both: [usize; 2]) -> Option<Reason> {
    let both: Vec<[&Cell; 2]> = measured_on_both(rows, both).collect();
    let mut warnings: BTreeMap<MarkCode, Vec<String>> = BTreeMap::new();
    for cell in [0, 1].into_iter().flat_map(|place| both.iter().map(move |both| both[place])) {
        for code in cell.undeciding() {
            let targets = warnings.entry(code).or_default();
            if !targets.contains(&cell.target) {
                targets.push(cell.target.clone());
            }
        }
    }
    (!warnings.is_empty()).then_some(Reason::Warned(warnings))
}

/// Two counts differ clearly if their ratio is below this. The work of devices for other programs differs by less from
/// run to run. Guess.
const TELLS: f64 = 0.8;

/// Returns the reason why one cell is faster, from the bottlenecks and the work for each operation:
///   1. If they wait for the device: flushes, then bytes written, if the slower one does clearly more.
///   2. The bottlenecks, if they differ.
///   3. If both are CPU-bound: the CPU time, if the slower one uses clearly more.
pub(super) fn why(first: &Cell, second: &Cell) -> Option<String> {
    why_of([&first.target, &second.target], first, second)
}

/// Returns the reason why one cell is faster, as `why` does, with these names for the cells.
pub fn why_of(names: [&str; 2], first: &Cell, second: &Cell) -> Option<String> {
    let limits = [first, second].map(|cell| cell.limited_by.as_ref().map(|limit| limit.what));
    let said = |one: String, other: String| format!("{}: {one}, {}: {other}", names[0], names[1]);
    let waits = |limit: &Bottleneck| {
        matches!(
            limit,
            Bottleneck::Flush
                | Bottleneck::DeviceAndFlush
                | Bottleneck::Journal
                | Bottleneck::Device
                | Bottleneck::Latency
        )
    };
    // 1
    if limits.iter().flatten().any(waits) {
        let unit = unit(first);
        if let Some([one, other]) = slower_does_more(first, second, flushes_per_unit) {
            return Some(said(format!("{} flushes per {unit}", figure(one)), figure(other)));
        }
        if let Some([one, other]) = slower_does_more(first, second, written_per_byte) {
            return Some(said(format!("{} bytes written per byte", figure(one)), figure(other)));
        }
    }
    // 2
    match limits {
        // 3
        [Some(Bottleneck::Cpu), Some(Bottleneck::Cpu)] => slower_does_more(first, second, cpu_per_unit)
            .map(|work| work.map(|nanos| Nanos(nanos.round() as u64)))
            .map(|[one, other]| said(format!("{one} CPU per {}", unit(first)), other.to_string())),
        // A bottleneck of both does not explain why one is faster.
        [Some(one), Some(other)] if one == other => None,
        [Some(one), Some(other)] => Some(said(one.adjective().to_owned(), other.adjective().to_owned())),
        _ => None,
    }
}

/// Returns the work of both if the slower one does clearly more. Otherwise the work explains nothing (`None`).
fn slower_does_more(first: &Cell, second: &Cell, work: fn(&Cell) -> Option<f64>) -> Option<[f64; 2]> {
    let [one, other] = [work(first)?, work(second)?];
    let rate = |cell: &Cell| cell.rate.as_ref().map(|rate| rate.per_second);
    let [more, less] = if one > other { [first, second] } else { [second, first] };
    (differ(one, other) && rate(more)? < rate(less)?).then_some([one, other])
}

/// Returns nanoseconds of CPU time per operation, in the program and in its system calls.
fn cpu_per_unit(cell: &Cell) -> Option<f64> {
    let time = cell.time.as_ref()?;
    let nanos: u64 = ["user", "system"].iter().filter_map(|owner| time.get(*owner)).sum();
    let units = cell.kept().map(|round| round.ops).fold(0, u64::saturating_add);
    (units > 0 && nanos > 0).then(|| nanos as f64 / units as f64)
}

fn differ(one: f64, other: f64) -> bool {
    one.min(other) < TELLS * one.max(other)
}

fn figure(value: f64) -> String {
    if value == 0.0 || value >= 0.1 { format!("{value:.1}") } else { format!("{value:.3}") }
}

/// Returns the name of one unit of work of the cell.
fn unit(cell: &Cell) -> &'static str {
    match (cell.program.as_str(), cell.rate.as_ref().map(|rate| rate.base)) {
        ("commit", _) => "commit",
        (_, Some(RateBase::Files)) => "file",
        _ => "call",
    }
}

fn flushes_per_unit(cell: &Cell) -> Option<f64> {
    let units = cell.kept().map(|round| round.ops).fold(0, u64::saturating_add);
    // For whole files, one or two flushes at the end are not evidence.
    let flushes = cell.io?.flushes as f64 / units as f64;
    (units > 0 && flushes >= 0.01).then_some(flushes)
}

fn written_per_byte(cell: &Cell) -> Option<f64> {
    let bytes = cell.kept().map(|round| round.bytes).fold(0, u64::saturating_add);
    let io = cell.io?;
    // If the test only reads, other programs wrote the bytes.
    (bytes > 0 && io.device_written >= bytes / 4).then(|| io.device_written as f64 / bytes as f64)
}
