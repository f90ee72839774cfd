//! `diskperf io`: one workload of the user. `run` does not know this preset, because it needs a workload.

use jobs::{LoadError, ROUNDS, SIZE};
use report::{Layout, Presentation};
use runner::execution::{ClaimedClock, MeasureOptions};
use stats::digits::significant;
use stats::figures::rate::{Average, rate};
use stats::inference::sweep::{Axis, axes};
use stats::{Cell, Latencies, Latency, LatencyKind, OperationFigures, OperationKind, RateBase, Round};
use units::{Bytes, Nanos, whole};
use workload::programs::load::{Load, Pattern};

use super::{MIB_PER_SECOND, OPS_PER_SEC, Preset, Settings, Sizing, groups, too_small};
use crate::error::CampaignError;
use crate::plan::{Before, Row};
use crate::request::schedule::Schedule;
use crate::targets::{Site, Target};

/// Runs one workload of the user.
pub const PRESET: Preset = preset("io", "One workload of your own");

/// A preset whose tests are workloads of the user.
pub const fn preset(name: &'static str, about: &'static str) -> Preset {
    Preset {
        name,
        about,
        schedule: Schedule::fixed(ROUNDS),
        together: false,
        memory: None,
        sizing: Sizing::Fixed,
        before: Before::Nothing,
        options: MeasureOptions { claim: ClaimedClock::Durable, timed: true, ceiling: true, live: None },
        rows: None,
        published: super::unpublished,
        findings,
        presentation: Presentation { layout: Layout::Plain, groups: groups::ALL },
        entry: None,
    }
}

/// The row of a workload on a target.
pub fn row(load: &Load, settings: &Settings, target: &Target) -> Result<Row, CampaignError> {
    if load.direct {
        check_alignment(load, target)?;
    }
    if load.jobs > 1 && target.is_simulated() {
        return Err(refused("jobs", load.jobs, "a simulated drive has one program", "leave out --jobs"));
    }
    let unit = if matches!(load.pattern, Pattern::Read | Pattern::Write) { MIB_PER_SECOND } else { OPS_PER_SEC };
    let (smallest, largest) = (u64::from(load.sizes.smallest()), u64::from(load.sizes.largest()));
    let size = load.size.or(settings.size);
    let (bytes, program, omitted) = match &target.site {
        Site::File { bytes, .. } if !load.pattern.writes() => {
            let asked = size.map_or(*bytes, |size| size.0.min(*bytes));
            (asked, load.given(asked, settings.seed), too_small(asked, largest))
        }
        _ => {
            let bytes = size.unwrap_or(SIZE).0;
            if !bytes.is_multiple_of(smallest) {
                let why = format!("a file holds a whole number of calls of {} (--bs)", Bytes(smallest));
                let hint = match bytes - bytes % smallest {
                    0 => "use a larger file, or a smaller --bs".to_owned(),
                    whole => format!("use --size {whole}B"),
                };
                return Err(refused("size", Bytes(bytes), &why, &hint));
            }
            if bytes < largest {
                let why = format!("it holds no block of {}", Bytes(largest));
                return Err(refused("size", Bytes(bytes), &why, "take a larger file, or a smaller --bs"));
            }
            (bytes, load.program(bytes, settings.seed), None)
        }
    };
    if let Some(stride) = load.stride.filter(|stride| *stride >= bytes) {
        let why = format!("the file has {}, too short for this stride", Bytes(bytes));
        return Err(refused("stride", Bytes(stride), &why, "take a smaller one, or a larger --size"));
    }
    let omitted = omitted.or_else(|| target.refuses_direct().filter(|_| load.direct));
    Ok(Row { omitted, jobs: load.jobs, ..Row::new(program, unit) })
}

fn refused(key: &'static str, given: impl ToString, why: &str, hint: &str) -> CampaignError {
    LoadError::new(key, given, why, hint).into()
}

/// Returns an error if direct I/O does not support the block sizes, as far as the kernel tells beforehand.
fn check_alignment(load: &Load, target: &Target) -> Result<(), CampaignError> {
    match target.direct_alignment() {
        // The alignment of the smallest block suffices: all blocks are its multiples.
        Some(needs) if !load.sizes.smallest().is_multiple_of(needs) => {
            let (block, needs) = (Bytes(u64::from(load.sizes.smallest())), Bytes(u64::from(needs)));
            let why =
                format!("direct I/O (--direct) on {} takes multiples of {needs}, and a block has {block}", target.name);
            let hint = format!("--bs {}, or leave out --direct", needs.to_string().replace(' ', ""));
            Err(refused("bs", block, &why, &hint))
        }
        _ => Ok(()),
    }
}

/// Sentences for what a table of one row does not show: the start of the latencies, their tail, and whether a schedule
/// was kept. For a sweep, its knees.
fn findings(cells: &[Cell]) -> Vec<String> {
    let axes = axes(cells);
    let is_swept = |cell: &&Cell| axes.iter().any(|axis| axis.program == cell.program);
    let said = |cell: &Cell| match cell.latency_ns {
        Some(latency) => Some(tail(cell, latency)),
        None => too_few(cell),
    };
    let of_others = cells.iter().filter(|cell| !is_swept(cell));
    let of_others = of_others.flat_map(|cell| said(cell).into_iter().chain(tails_by_kind(cell)));
    axes.iter().map(Axis::sentence).chain(of_others).collect()
}

/// The tail of each kind of operation, if a workload has several.
fn tails_by_kind(cell: &Cell) -> impl Iterator<Item = String> {
    let has_several = cell.operations.len() > 1;
    let tail = move |OperationFigures { operation, count, latency_ns, .. }: &OperationFigures| match latency_ns {
        Some(latency) => format!("  {}: {}", operation.name(), percentiles(*latency)),
        None => {
            let ends = shortest_and_longest(cell, Some(*operation));
            format!("  {}: {count} of them, too few for percentiles{ends}", operation.name())
        }
    };
    cell.operations.iter().filter(move |_| has_several).map(tail)
}

/// The number of operations and their shortest and longest latency, if they are too few for percentiles.
fn too_few(cell: &Cell) -> Option<String> {
    let done: u64 = cell.kept().map(|round| round.ops).sum();
    let (ends, kept) = (shortest_and_longest(cell, None), kept(cell));
    let name = format!("{} on {}", cell.program, cell.target);
    let operations = operation_word(done);
    cell.measured.then(|| format!("{name}: {done} {operations}, too few for percentiles{ends}{kept}"))
}

/// The shortest and the longest latency of this kind of operation, or of all units of work; empty if none was timed.
fn shortest_and_longest(cell: &Cell, kind: Option<OperationKind>) -> String {
    let mut all = Latencies::default();
    // A round may have no operation of a rare kind.
    cell.kept().filter_map(|round| round.latencies(kind)).for_each(|one| all.add(&one));
    let ends = all.filled().next().zip(all.longest());
    ends.map_or_else(String::new, |((shortest, _), longest)| {
        format!(": shortest {}, longest {}", Nanos(shortest), Nanos(longest))
    })
}

/// The requested and the actual rate; empty without a requested rate. A test that ends soon after a start has completed
/// more per second than was requested: three operations, one per second, take little more than two seconds. Then the
/// sentence has their number instead.
fn kept(cell: &Cell) -> String {
    // The printed rate of a sequential workload counts bytes.
    let base = (RateBase::Ops, cell.state.clock);
    let done = rate(cell.kept(), cell.together, base, OPS_PER_SEC, Average::of_marks(&cell.marks));
    let Some((asked, done)) = cell.number("rate").zip(done) else { return String::new() };
    let requested = format!("; {asked} {} per second requested", operation_word(asked));
    let completed = significant(done.per_second, 3);
    let is_above = done.per_second > asked as f64 && completed != significant(asked as f64, 3);
    if !is_above || !is_as_due(cell, asked) {
        return format!("{requested}, {completed} completed");
    }
    let ops: u64 = cell.kept().map(|round| round.ops).sum();
    let all = if ops == 1 { "the one that was due".to_owned() } else { format!("all {} that were due", whole(ops)) };
    let seconds: f64 = cell.kept().map(|round| round.elapsed_s(cell.state.clock)).sum();
    format!("{requested}, {all} in {} s completed", significant(seconds, 3))
}

/// True if no round has more operations than a single schedule with equal intervals starts in its time. The first one
/// starts with the round.
fn is_as_due(cell: &Cell, rate: u64) -> bool {
    let due = |round: &Round| (round.elapsed_s(cell.state.clock) * rate as f64).floor() + 1.0;
    let is_one = !cell.together && cell.number("write_rate").is_none() && cell.word("arrivals") != Some("poisson");
    is_one && cell.kept().all(|round| round.ops as f64 <= due(round))
}

fn operation_word(count: u64) -> &'static str {
    if count == 1 { "operation" } else { "operations" }
}

fn percentiles(latency: Latency) -> String {
    let time = |nanos: Option<u64>| nanos.map_or_else(|| "n.m.".to_owned(), |nanos| Nanos(nanos).to_string());
    format!(
        "p50 {}, p90 {}, p99 {}, p99.9 {}, longest {} of {}",
        Nanos(latency.p50),
        time(latency.p90),
        time(latency.p99),
        time(latency.p999),
        Nanos(latency.max),
        latency.count,
    )
}

fn tail(cell: &Cell, latency: Latency) -> String {
    let name = format!("{} on {}", cell.program, cell.target);
    let tail = percentiles(latency);
    let from = match latency.kind {
        LatencyKind::Service => "service time, from the issue of each operation",
        LatencyKind::Response => "response time, from the intended start of each operation",
    };
    let kept = kept(cell);
    // An operation after an fsync starts later than intended.
    let beside = [("think_ns", "the pauses"), ("fsync", "the fsyncs"), ("fdatasync", "the fdatasyncs")];
    let beside = beside.into_iter().filter(|(key, _)| cell.number(key).is_some());
    let beside: Vec<&str> = beside.filter(|_| latency.kind == LatencyKind::Service).map(|(_, what)| what).collect();
    let beside = match &beside[..] {
        [] => String::new(),
        words => format!("; the rate includes {}, these times do not", words.join(" and ")),
    };
    format!("{name}: {from}: {tail}{kept}{beside}")
}

#[cfg(test)]
mod tests {
    use stats::{ParameterValue, Provenance, RoundOperation};

    use super::*;

    /// A workload with `--rate 10`. Each round of a second did these numbers of reads of 128 KiB and of fsyncs.
    fn cell(rounds: &[(u64, u64)]) -> Cell {
        let timed = |kind: OperationKind, count: u64| {
            let mut latencies = Latencies::default();
            (1..=count).for_each(|n| latencies.record(Nanos(1000 * n)));
            (count > 0).then(|| RoundOperation::new(kind, kind == OperationKind::Read, &latencies))
        };
        let round = |(reads, syncs): &(u64, u64)| Round {
            bytes: reads * 131_072,
            ops: *reads,
            returned_s: 1.0,
            operations: [timed(OperationKind::Read, *reads), timed(OperationKind::Fsync, *syncs)]
                .into_iter()
                .flatten()
                .collect(),
            ..Round::default()
        };
        let mut cell = Cell {
            measured: true,
            rounds: rounds.iter().map(round).collect(),
            ..Cell::named(Provenance::Measured, "io", "read", "read", "here")
        };
        cell.parameters.insert("rate".to_owned(), ParameterValue::Number(10));
        let base = (RateBase::Bytes, cell.state.clock);
        cell.rate = rate(cell.kept(), false, base, MIB_PER_SECOND, Average::Mean);
        cell
    }

    #[test]
    fn requested_and_completed_rates_count_operations() {
        assert_eq!(kept(&cell(&[(8, 0), (10, 0)])), "; 10 operations per second requested, 9.00 completed");
    }

    #[test]
    fn a_test_that_ends_soon_after_a_start_was_not_faster_than_requested() {
        // Ctrl-C ended the test after 4.3 seconds.
        let ended = |rate: u64, ops: u64| {
            let mut ended = cell(&[(ops, 0)]);
            ended.rounds[0].returned_s = 4.3;
            ended.parameters.insert("rate".to_owned(), ParameterValue::Number(rate));
            ended
        };
        assert_eq!(kept(&ended(1, 5)), "; 1 operation per second requested, all 5 that were due in 4.30 s completed");
        assert_eq!(kept(&ended(1, 4)), "; 1 operation per second requested, 0.930 completed");
        assert_eq!(kept(&ended(1000, 4301)), "; 1000 operations per second requested, 1,000 completed");
        let mut random = ended(1, 5);
        random.parameters.insert("arrivals".to_owned(), ParameterValue::Word("poisson".to_owned()));
        assert_eq!(kept(&random), "; 1 operation per second requested, 1.16 completed");
    }

    #[test]
    fn the_longest_latency_is_printed_even_of_few_operations() {
        let rates = "; 10 operations per second requested, 8.00 completed";
        let few = ": 8 operations, too few for percentiles: shortest 1.00 us, longest 8.00 us";
        assert_eq!(findings(&[cell(&[(8, 0)])]), [format!("read on here{few}{rates}")]);
        // The first round has no fsync.
        let mut both = cell(&[(8, 0), (8, 3)]);
        both.operations = [(OperationKind::Read, 16), (OperationKind::Fsync, 3)]
            .map(|(operation, count)| OperationFigures { operation, count, rate: None, latency_ns: None })
            .into();
        let of_kinds: Vec<String> = tails_by_kind(&both).collect();
        assert_eq!(of_kinds[0], "  read: 16 of them, too few for percentiles: shortest 1.00 us, longest 8.00 us");
        assert_eq!(of_kinds[1], "  fsync: 3 of them, too few for percentiles: shortest 1.00 us, longest 3.00 us");
    }
}
