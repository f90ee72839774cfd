//! The words that tables use for the codes and units of a document. The codes themselves stay as they are in JSON and
//! CSV.

use stats::{CacheState, Cell, ClockKind, LatencyKind, ParameterValue};

use crate::cell_names::different;

/// The name of a part of the time breakdown.
pub(crate) fn owner(code: &str) -> String {
    match code {
        "quota" => "cgroup limit".to_owned(),
        "ready" => "runnable".to_owned(),
        "kernel_workers" => "kernel threads".to_owned(),
        "pacing" => "schedule".to_owned(),
        "server" => "server CPU".to_owned(),
        "rest" => "unattributed".to_owned(),
        other => other.replace('_', " "),
    }
}

/// The name of a unit of rates.
pub fn unit(unit: &str) -> &str {
    match unit {
        "ops/sec" => "ops/s",
        "files/sec" => "files/s",
        "reads/sec" => "reads/s",
        other => other,
    }
}

/// The condition in which a rate was measured: the page cache before a read, or the end point after a write. The sum of
/// several loads has none of them.
pub(crate) fn condition(cell: &Cell) -> &'static str {
    let is_direct = || cell.parameters.get("direct") == Some(&ParameterValue::Flag(true));
    match (&cell.rate, cell.state.clock, cell.state.cache) {
        (None, ..) => "",
        _ if cell.is_unverified() => "unverified",
        _ if cell.parameters.contains_key("sum_of") => "all workloads",
        (_, ClockKind::Durable, _) => "durable",
        (_, ClockKind::DataDurable, _) => "fdatasync",
        (_, ClockKind::Returned, CacheState::Cold) => "cold cache",
        (_, ClockKind::Returned, CacheState::Warm) => "warm cache",
        (_, ClockKind::Returned, CacheState::Unknown) if is_direct() => "O_DIRECT",
        (_, ClockKind::Returned, CacheState::Unknown | CacheState::Unverified) => "no sync",
    }
}

/// The conditions of several cells, each once: `durable, unverified`.
pub(crate) fn conditions<'a>(cells: impl IntoIterator<Item = &'a Cell>) -> String {
    let conditions = cells.into_iter().map(condition).filter(|condition| !condition.is_empty());
    different(conditions).join(", ")
}

/// The heading above two percentiles.
pub(crate) const fn latency(kind: LatencyKind) -> &'static str {
    match kind {
        LatencyKind::Service => "latency\np50/p99",
        LatencyKind::Response => "response\np50/p99",
    }
}
