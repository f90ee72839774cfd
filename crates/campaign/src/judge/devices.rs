//! Marks about caches and devices: where what was read came from, where what was written went. Every kept round is
//! judged, and the worst one speaks.

use runner::execution::PhaseRun;
use stats::RateBase;
use stats::judge::marks::caches::Wanted;
use stats::judge::marks::{Mark, caches, contents, durability};
use workload::{Layer, OpKind, Tally, WriteCache};

use super::Case;
use crate::judge::consumption::PAGE;

/// The marks of a cell, in their order. A simulated device does as it is told.
pub fn marks(case: &Case) -> impl Iterator<Item = Mark> {
    let judges: &[fn(&Case) -> Option<Mark>] = if case.simulated {
        &[]
    } else {
        &[from_cache, from_below, unwritten, unflushed, empty, compressed, amplified, untouched]
    };
    judges.iter().filter_map(|judge| judge(case))
}

/// Of the marks of all rounds, the one whose value is the lowest.
fn lowest(case: &Case, judge: impl Fn(&PhaseRun) -> Option<Mark>) -> Option<Mark> {
    case.runs.iter().filter_map(|run| judge(run)).min_by(|a, b| value(a).total_cmp(&value(b)))
}

/// The one whose value is the highest.
fn highest(case: &Case, judge: impl Fn(&PhaseRun) -> Option<Mark>) -> Option<Mark> {
    case.runs.iter().filter_map(|run| judge(run)).max_by(|a, b| value(a).total_cmp(&value(b)))
}

fn value(mark: &Mark) -> f64 {
    mark.value.unwrap_or(0.0)
}

/// Whether what is read is claimed to come from the device.
fn reads_device(case: &Case) -> bool {
    case.cold || case.direct
}

/// What came from the device for the programs. Their own account does not see what others read from it; the
/// device's does not see what a layer between them had.
fn fetched(run: &PhaseRun) -> Option<u64> {
    Some(run.witness.device?.read.min(run.witness.accounts?.fetched))
}

/// What is wrong with files that are partly holes.
fn with_holes(run: &PhaseRun) -> Option<Mark> {
    run.laid.and_then(|laid| contents::hole(laid.empty, laid.bytes))
}

/// Whether the device read less because it has the files compressed. Some of it must have come from there.
fn is_compressed(run: &PhaseRun) -> bool {
    fetched(run).is_some_and(|bytes| bytes > 0)
        && run.laid.is_some_and(|laid| contents::is_compressed(laid.compressed, laid.bytes))
}

/// What the device had to read for the programs. Past the page cache nothing is there for the second time.
fn wanted(case: &Case, run: &PhaseRun) -> Wanted {
    let read = run.tally().bytes_read;
    match run.first_reads.filter(|first| *first < read && !case.direct) {
        Some(first) => Wanted::First(first),
        None => Wanted::All(read),
    }
}

/// What is wrong where the device read less than that.
fn missed(case: &Case, run: &PhaseRun) -> Option<Mark> {
    caches::cache(fetched(run)?, wanted(case, run))
}

/// Unless something else explains it.
fn from_cache(case: &Case) -> Option<Mark> {
    let from = |run: &PhaseRun| missed(case, run).filter(|_| with_holes(run).is_none() && !is_compressed(run));
    if reads_device(case) { lowest(case, from) } else { None }
}

fn from_below(case: &Case) -> Option<Mark> {
    if reads_device(case) { lowest(case, from_lower_cache) } else { None }
}

/// The first device of a chain that read less than the one above it. Where one stands on several, or several
/// stand side by side, which of them should have read is not told.
fn from_lower_cache(run: &PhaseRun) -> Option<Mark> {
    let only = |depth| {
        let mut layers = run.witness.at(depth);
        layers.next().filter(|_| layers.next().is_none())
    };
    (0..).map_while(|depth| only(depth).zip(only(depth + 1))).find_map(|(above, below): (&Layer, &Layer)| {
        caches::lower(below.used.moved.read, above.used.moved.read, (&above.name, &below.name))
    })
}

fn unwritten(case: &Case) -> Option<Mark> {
    if !case.is_durable() || !case.phase.changes() {
        return None;
    }
    let own = |run: &PhaseRun| run.unwritten.and_then(|left| durability::dirty(left.pages, left.of));
    let below = |run: &&PhaseRun| (run.grown.map(|pages| pages * PAGE), run.tally().bytes_written);
    let below = || durability::dirty_below_always(&case.runs.iter().map(below).collect::<Vec<_>>());
    highest(case, own).or_else(below)
}

fn unflushed(case: &Case) -> Option<Mark> {
    if !case.is_durable() {
        return None;
    }
    lowest(case, no_flush).or_else(|| {
        case.places.iter().find_map(|place| {
            durability::noflush_by_mount(place.file_system.as_deref().unwrap_or_default(), &place.mount_options)
        })
    })
}

/// The first depth at which a write cache was not flushed as often as the programs waited for that.
fn no_flush(run: &PhaseRun) -> Option<Mark> {
    let tally = run.tally();
    let programs = run.parts.len().max(1) as u64;
    let calls = (tally.count(OpKind::Fsync) + tally.count(OpKind::Fdatasync)) / programs;
    let depths = run.witness.layers.iter().map(|layer| layer.depth).max()?;
    (0..=depths).find_map(|depth| {
        let layers: Vec<&Layer> = run.witness.at(depth).collect();
        let first = layers.first()?;
        // One that does not count flushes may have had them all.
        let keeps = |layer: &Layer| {
            layer.used.flushing.is_some()
                && matches!(layer.write_cache, Some(WriteCache::Back | WriteCache::Overridden))
        };
        if !layers.iter().all(|layer| keeps(layer) && layer.used.writes > 0) {
            return None;
        }
        let seen = durability::Flushing {
            device: &first.name,
            flushes: layers.iter().map(|layer| layer.used.moved.flushes).sum(),
            overridden: layers.iter().any(|layer| layer.write_cache == Some(WriteCache::Overridden)),
        };
        durability::noflush(seen, calls)
    })
}

fn empty(case: &Case) -> Option<Mark> {
    highest(case, with_holes)
}

fn compressed(case: &Case) -> Option<Mark> {
    let written = |run: &PhaseRun| contents::compress(run.witness.device?.written, run.tally().bytes_written);
    if case.is_durable() {
        return if writes_over_again(case) { None } else { lowest(case, written) };
    }
    let read = |run: &PhaseRun| {
        missed(case, run).filter(|_| is_compressed(run))?;
        Some(contents::compress_read(fetched(run)?, wanted(case, run).bytes()))
    };
    if reads_device(case) { lowest(case, read) } else { None }
}

/// Whether blocks in memory may be written over again before the device has them, and then go there once.
fn writes_over_again(case: &Case) -> bool {
    let at_random = |run: &&PhaseRun| run.tally().count(OpKind::WriteAt) > 0;
    !case.direct && case.base == RateBase::Ops && case.runs.iter().any(at_random)
}

/// Only where all rounds say so: others write to the device too.
fn amplified(case: &Case) -> Option<Mark> {
    if !case.is_durable() {
        return None;
    }
    let times = |run: &PhaseRun| {
        let tally = run.tally();
        contents::amplify(run.witness.device?.written, tally.bytes_written, calls_in_order(&tally))
    };
    let marks: Option<Vec<Mark>> = case.runs.iter().map(|run| times(run)).collect();
    marks?.into_iter().min_by(|a, b| value(a).total_cmp(&value(b)))
}

/// The mark of a command whose device had no part in it: the device moved nothing, or not what the command's own
/// account contains. The work of a command is unknown. Other programs use the device too, unless it is under a file
/// system of ours.
fn untouched(case: &Case) -> Option<Mark> {
    if case.phase.unit.first != OpKind::Run {
        return None;
    }
    let is_ours = case.places.is_empty();
    let moved = case.runs.iter().map(|run| run.witness.device.map(|device| device.read + device.written));
    let own = case.runs.iter().map(|run| run.witness.accounts.map(|own| own.fetched + own.dirtied));
    contents::untouched(moved.sum::<Option<u64>>()?, own.sum::<Option<u64>>().filter(|_| !is_ours))
}

/// The writes that began at the end of the write before; 0 if some writes were elsewhere.
fn calls_in_order(tally: &Tally) -> u64 {
    if tally.count(OpKind::WriteAt) > 0 { 0 } else { tally.count(OpKind::Write) }
}
