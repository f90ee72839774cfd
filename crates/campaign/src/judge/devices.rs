//! Marks about caches and devices: whether reads came from the device, and writes reached it. Every kept round is
//! judged, and the worst one makes the mark.

use runner::execution::{PAGE, PhaseResult};
use stats::RateBase;
use stats::judge::marks::caches::{Reads, Wanted};
use stats::judge::marks::contents::Writes;
use stats::judge::marks::{Mark, caches, contents, durability};
use workload::{Durability, Layer, Mode, Op, OpKind, Phase, Tally, WriteCache};

use super::CellFacts;

/// The marks of a cell, in their order. A simulated device needs no check.
pub fn marks(facts: &CellFacts) -> impl Iterator<Item = Mark> {
    let judges: &[fn(&CellFacts) -> Option<Mark>] = if facts.simulated {
        &[]
    } else {
        &[from_cache, from_below, unwritten, unflushed, empty, compressed, amplified, untouched]
    };
    judges.iter().filter_map(|judge| judge(facts))
}

/// The mark of the round with the lowest value.
pub(super) fn lowest(facts: &CellFacts, judge: impl Fn(&PhaseResult) -> Option<Mark>) -> Option<Mark> {
    facts.runs.iter().filter_map(|run| judge(run)).min_by(|a, b| value(a).total_cmp(&value(b)))
}

/// The mark of the round with the highest value.
pub(super) fn highest(facts: &CellFacts, judge: impl Fn(&PhaseResult) -> Option<Mark>) -> Option<Mark> {
    facts.runs.iter().filter_map(|run| judge(run)).max_by(|a, b| value(a).total_cmp(&value(b)))
}

fn value(mark: &Mark) -> f64 {
    mark.value.unwrap_or(0.0)
}

/// True if the cell claims that reads came from the device.
pub(super) fn reads_device(facts: &CellFacts) -> bool {
    facts.cold || facts.direct
}

/// Bytes that the programs read from the device: the smaller of two counters. The account of the process excludes reads
/// by others. The counter of the device excludes bytes that a layer between them had cached. Unknown for a load that
/// ran with others: both counters are of all loads.
fn fetched(run: &PhaseResult) -> Option<u64> {
    if run.ran_with_others {
        return None;
    }
    Some(run.counters.device?.read.min(run.counters.accounts?.fetched))
}

/// The mark of files that are partly holes.
fn with_holes(run: &PhaseResult) -> Option<Mark> {
    run.allocation.and_then(|allocation| contents::hole(allocation.empty, allocation.bytes))
}

/// True if the device read less because its files are compressed. At least some bytes must have come from the device.
fn is_compressed(run: &PhaseResult) -> bool {
    fetched(run).is_some_and(|bytes| bytes > 0)
        && run.allocation.is_some_and(|allocation| contents::is_compressed(allocation.compressed, allocation.bytes))
}

/// The bytes that the device had to read. With direct I/O, repeated reads go to the device, too.
pub(super) fn wanted(is_direct: bool, run: &PhaseResult) -> Wanted {
    let read = run.tally().bytes_read;
    let is_less = run.counters.accounts.is_some_and(|accounts| accounts.fetched < read);
    match run.first_reads.filter(|first| *first < read && !is_direct && is_less) {
        Some(first) => Wanted::First(first),
        None => Wanted::All(read),
    }
}

/// The mark if the device read less than that.
fn missed(is_direct: bool, run: &PhaseResult) -> Option<Mark> {
    caches::cache(fetched(run)?, wanted(is_direct, run))
}

/// The mark if the device read less than that because of a cache: holes and compression explain it without one.
fn from_page_cache(is_direct: bool, run: &PhaseResult) -> Option<Mark> {
    missed(is_direct, run).filter(|_| with_holes(run).is_none() && !is_compressed(run))
}

/// The mark if the device read less than that because of compression.
fn from_compressed(is_direct: bool, run: &PhaseResult) -> Option<Mark> {
    missed(is_direct, run).filter(|_| is_compressed(run))?;
    Some(contents::compress_read(fetched(run)?, wanted(is_direct, run).bytes()))
}

/// The marks of a single execution that only read, and claims that all bytes came from the device. If only a part of
/// the file is a hole, it is marked only if bytes are missing: the execution may have read another part.
pub fn of_reads(is_direct: bool, run: &PhaseResult) -> Vec<Mark> {
    let lower = from_lower_cache(run);
    // Other programs may have read as many bytes from the disk.
    let is_all = run.allocation.is_some_and(|allocation| allocation.empty == allocation.bytes);
    let hole = with_holes(run).filter(|_| is_all || lower.is_some() || missed(is_direct, run).is_some());
    let lower = lower.filter(|_| hole.is_none());
    [hole, from_compressed(is_direct, run), from_page_cache(is_direct, run), lower].into_iter().flatten().collect()
}

fn from_cache(facts: &CellFacts) -> Option<Mark> {
    if reads_device(facts) { lowest(facts, |run| from_page_cache(facts.direct, run)) } else { None }
}

fn from_below(facts: &CellFacts) -> Option<Mark> {
    if reads_device(facts) { lowest(facts, |run| own_from_below(facts.phase, run)) } else { None }
}

/// As `from_lower_cache`, if the programs read data. Otherwise the devices read for other programs. The reads of a
/// command are not counted.
fn own_from_below(phase: &Phase, run: &PhaseResult) -> Option<Mark> {
    let may_have_read = phase.unit.first == OpKind::Run || run.tally().bytes_read > 0;
    from_lower_cache(run).filter(|_| may_have_read)
}

/// The first device of a stack that read less than the one above it. The search ends at a level with several devices,
/// because it is unknown which of them should have read.
fn from_lower_cache(run: &PhaseResult) -> Option<Mark> {
    let only = |depth| {
        let mut layers = run.counters.layers_at(depth);
        layers.next().filter(|_| layers.next().is_none())
    };
    let levels = (0..).map_while(|depth| only(depth).zip(only(depth + 1)));
    levels.map(|(above, below)| [above, below].map(reads)).find_map(|[above, below]| caches::lower(above, below))
}

fn reads(layer: &Layer) -> Reads<'_> {
    Reads { device: &layer.name, bytes: layer.used.moved.read }
}

fn unwritten(facts: &CellFacts) -> Option<Mark> {
    if !facts.is_durable() || !facts.phase.changes() {
        return None;
    }
    let own = |run: &PhaseResult| run.unwritten.and_then(|left| durability::dirty(left.pages, left.of));
    let below = |run: &&PhaseResult| (run.grown.map(|pages| pages * PAGE), run.tally().bytes_written);
    let below = || durability::dirty_below_always(&facts.runs.iter().map(below).collect::<Vec<_>>());
    highest(facts, own).or_else(below)
}

fn unflushed(facts: &CellFacts) -> Option<Mark> {
    if !facts.is_durable() {
        return None;
    }
    lowest(facts, no_flush).or_else(|| {
        facts.places.iter().find_map(|place| {
            durability::noflush_by_mount(place.file_system.as_deref().unwrap_or_default(), &place.mount_options)
        })
    })
}

/// The first level of the stack whose write caches were flushed less often than the programs waited for a flush.
fn no_flush(run: &PhaseResult) -> Option<Mark> {
    let tally = run.tally();
    let programs = run.parts.len().max(1) as u64;
    let calls = (tally.count(OpKind::Fsync) + tally.count(OpKind::Fdatasync)) / programs;
    let depths = run.counters.layers.iter().map(|layer| layer.depth).max()?;
    (0..=depths).find_map(|depth| {
        let layers: Vec<&Layer> = run.counters.layers_at(depth).collect();
        let first = layers.first()?;
        // A device that does not count flushes may have received all of them.
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

fn empty(facts: &CellFacts) -> Option<Mark> {
    highest(facts, with_holes)
}

fn compressed(facts: &CellFacts) -> Option<Mark> {
    let written = |run: &PhaseResult| contents::compress(run.counters.device?.written, run.tally().bytes_written);
    if facts.is_durable() {
        return if writes_over_again(facts) { None } else { lowest(facts, written) };
    }
    if reads_device(facts) { lowest(facts, |run| from_compressed(facts.direct, run)) } else { None }
}

/// True if blocks in the page cache may be overwritten before writeback, so that the device gets them only once.
pub(super) fn writes_over_again(facts: &CellFacts) -> bool {
    let at_random = |run: &&PhaseResult| run.tally().count(OpKind::WriteAt) > 0;
    !facts.direct && facts.base == RateBase::Ops && facts.runs.iter().any(at_random)
}

/// Only if all rounds show it, because other programs write to the device, too.
fn amplified(facts: &CellFacts) -> Option<Mark> {
    // The device writes for the loads beside it, too.
    if !facts.is_durable() || facts.runs.iter().any(|run| run.ran_with_others) {
        return None;
    }
    let times = |run: &PhaseResult| contents::amplify(run.counters.device?.written, writes(facts.phase, &run.tally()));
    let marks: Option<Vec<Mark>> = facts.runs.iter().map(|run| times(run)).collect();
    marks?.into_iter().min_by(|a, b| value(a).total_cmp(&value(b)))
}

/// The mark of a command that did not use the device: the device moved nothing, or not the bytes in the command's own
/// account. The work of a command is unknown. Other programs may use the device, too, unless its file system is ours.
fn untouched(facts: &CellFacts) -> Option<Mark> {
    if facts.phase.unit.first != OpKind::Run {
        return None;
    }
    let is_ours = facts.places.is_empty();
    let moved = facts.runs.iter().map(|run| run.counters.device.map(|device| device.read + device.written));
    let own = facts.runs.iter().map(|run| run.counters.accounts.map(|own| own.fetched + own.dirtied));
    contents::untouched(moved.sum::<Option<u64>>()?, own.sum::<Option<u64>>().filter(|_| !is_ours))
}

/// The writes of a phase. Writes at given places do not count as sequential.
fn writes(phase: &Phase, tally: &Tally) -> Writes {
    let calls = if tally.count(OpKind::WriteAt) > 0 { 0 } else { tally.count(OpKind::Write) };
    Writes { bytes: tally.bytes_written, calls, syncs: syncs(phase, tally) }
}

/// The calls that make data durable.
pub(super) const SYNCS: [OpKind; 4] = [OpKind::Fdatasync, OpKind::Fsync, OpKind::FsyncDirectory, OpKind::Syncfs];

/// The number of syncs in the steps of a phase: these calls, and the writes to a file that is open for synchronous
/// writes.
pub(super) fn syncs(phase: &Phase, tally: &Tally) -> u64 {
    let is_synchronous = opened(phase).any(|mode| mode.durability != Durability::None);
    let writes = if is_synchronous { tally.count(OpKind::Write) + tally.count(OpKind::WriteAt) } else { 0 };
    SYNCS.into_iter().map(|kind| tally.count(kind)).sum::<u64>() + writes
}

/// The flags of the files that a phase opens first.
pub(super) fn opened(phase: &Phase) -> impl Iterator<Item = Mode> {
    phase.steps.opening().iter().filter_map(|op| match op {
        Op::Open { mode, .. } | Op::Create { mode, .. } => Some(*mode),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use stats::MarkCode;
    use workload::programs::classic1983::Classic;
    use workload::{Allocation, Counters, DeviceBytes, DeviceUse};

    use super::*;
    use crate::judge::consumption::tests::performed;

    /// Another program reads from a loop device whose file is in the page cache.
    #[test]
    fn reads_of_others_are_not_from_a_cache_below_a_writer() {
        let layer = |name: &str, depth, read| Layer {
            name: name.to_owned(),
            depth,
            below: Vec::new(),
            used: DeviceUse { moved: DeviceBytes { read, ..DeviceBytes::default() }, ..DeviceUse::default() },
            write_cache: None,
            is_file: false,
            is_buffered: false,
        };
        for (classic, code) in [(Classic::Read8192, Some(MarkCode::Lower)), (Classic::Rewrite8192, None)] {
            let (program, result) = performed(classic, 1);
            let mut run = result.phases.into_iter().next().expect("a phase");
            run.counters.layers = vec![layer("loop0", 0, 100 << 20), layer("vda", 1, 0)];
            let mark = own_from_below(&program.phases[0], &run);
            assert_eq!(mark.map(|mark| mark.code), code, "{}", classic.name());
        }
    }

    /// The counters show as many bytes as were read, perhaps by another program.
    #[test]
    fn a_file_that_is_one_hole_is_marked_although_the_bytes_came() {
        let (_, result) = performed(Classic::Read8192, 1);
        let mut run = result.phases.into_iter().next().expect("a phase");
        run.counters = Counters::default();
        for (empty, code) in [(100, Some(MarkCode::Hole)), (99, None)] {
            run.allocation = Some(Allocation { bytes: 100, empty, compressed: 0 });
            let marks = of_reads(false, &run);
            assert_eq!(marks.first().map(|mark| mark.code), code, "{empty} %: {marks:?}");
        }
    }
}
