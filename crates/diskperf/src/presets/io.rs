//! `diskperf io`: one load of a person's own, in the place of a preset. No name of a preset: a load must be given.

use stats::{Cell, Latency, LatencyKind};
use units::{Bytes, Nanos};
use workload::programs::load::{Load, Pattern};

use super::{MIB_PER_SECOND, OPS_PER_SEC, Preset, Settings, too_small};
use crate::error::Error;
use crate::plan::{Before, Row};
use crate::runner::{Claim, How};
use crate::target::{Site, Target};

pub const PRESET: Preset = Preset {
    name: "io",
    about: "one load of your own",
    rounds: 5,
    discard_first: false,
    must_agree: false,
    together: false,
    memory: None,
    budget: None,
    before: Before::Nothing,
    how: How { claim: Claim::Durable, timed: true },
    rows,
    findings,
};

/// Bytes of the file where nothing else is asked for: written in a second or so, and more than a drive keeps in its own
/// memory.
const FILE: Bytes = Bytes::mib(256);

fn rows(settings: &Settings, target: &Target) -> Result<Vec<Row>, Error> {
    let load = settings.load.expect("only the command io runs this, with a load");
    if load.direct {
        check_alignment(&load, target)?;
    }
    let unit = if matches!(load.pattern, Pattern::Read | Pattern::Write) { MIB_PER_SECOND } else { OPS_PER_SEC };
    let block = u64::from(load.block);
    let (program, omitted) = match &target.site {
        Site::File { bytes, .. } if !load.pattern.writes() => {
            let asked = settings.size.map_or(*bytes, |size| size.0.min(*bytes));
            (load.given(asked, settings.seed), too_small(*bytes, block))
        }
        _ => (load.program(settings.size_in_calls(FILE, block)?, settings.seed), None),
    };
    let omitted = omitted.or_else(|| target.refuses_direct().filter(|_| load.direct));
    Ok(vec![Row { omitted, ..Row::new(program, unit) }])
}

/// Refuses blocks that cannot go past the page cache, where the kernel says beforehand what can.
fn check_alignment(load: &Load, target: &Target) -> Result<(), Error> {
    match target.direct_alignment() {
        Some(needs) if !load.block.is_multiple_of(needs) => {
            let (block, needs) = (Bytes(u64::from(load.block)), Bytes(u64::from(needs)));
            Err(Error::Unaligned { target: target.name.clone(), block, needs })
        }
        _ => Ok(()),
    }
}

/// What a table of one row has no place for: from when times are counted, how long the tail is, and whether a schedule
/// was kept.
fn findings(cells: &[Cell]) -> Vec<String> {
    cells.iter().filter_map(|cell| Some(tail(cell, cell.latency_ns?))).collect()
}

fn tail(cell: &Cell, latency: Latency) -> String {
    let name = format!("{} on {}", cell.program, cell.target);
    let time = |nanos: Option<u64>| nanos.map_or_else(|| "n.m.".to_owned(), |nanos| Nanos(nanos).to_string());
    let tail = format!(
        "p50 {}, p90 {}, p99 {}, p99.9 {}, longest {} of {}",
        Nanos(latency.p50),
        time(latency.p90),
        time(latency.p99),
        time(latency.p999),
        Nanos(latency.max),
        latency.count,
    );
    let from = match latency.kind {
        LatencyKind::Service => "service time, from the issue of each operation",
        LatencyKind::Response => "response time, from the intended start of each operation",
    };
    let kept = match (cell.number("rate"), &cell.rate) {
        (Some(asked), Some(rate)) => format!("; {asked} per second were to begin, {:.0} were done", rate.per_second),
        _ => String::new(),
    };
    format!("{name}: {from}: {tail}{kept}")
}
