//! One result from those of several hosts that did the same work at the same time.
//!
//! Policy:
//!   1. The rate is the work of all hosts, divided by the time from the common start to the last end, as in IOR.
//!   2. The rate while all hosts were busy ends with the first host that ends. It is counted in whole intervals, and
//!      needs rounds of 5 s: the intervals begin at each host's own first operation. Writes that must be durable have
//!      no such rate: their intervals show the page cache.
//!   3. A claim holds if it holds on every host. A warning on one host is a warning of the result, with its name.
//!   4. A bottleneck is named if it is that of every host. The time of one host says nothing about another one.
//!   5. The result has the warning `uneven` if one host is slow in every round.
//!   6. It has the warning `apart` if the hosts did not start together.

use std::collections::BTreeMap;

use workload::RateBase;

use crate::figures::rate::{Average, rate};
use crate::figures::summary::{RateUnit, mean_and_half_width, median, round_rate};
use crate::judge::marks::hosts as marks;
use crate::results::cell::{CacheState, Cell, CpuPercent, HostFigures, Io, LowerCache, OperationFigures};
use crate::results::clock::ClockKind;
use crate::results::latency::{Latencies, LatencyKind};
use crate::results::operation::{OperationKind, RoundOperation};
use crate::results::rate_interval::{INTERVAL, RateInterval};
use crate::results::round::{CpuSeconds, Round, RoundPart, StartSpread};

/// The shortest round of which the time with all hosts busy is counted (2): an interval is then 5 % of it.
const LEAST_BUSY_S: f64 = 5.0;

/// The start of a round on one host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Start {
    /// Nanoseconds from the common start to its first operation.
    pub late_ns: u64,
    /// The maximum error of that time.
    pub uncertainty_ns: u64,
}

/// The result of one host.
#[derive(Clone, Debug)]
pub struct HostCell {
    /// Name of the host.
    pub name: String,
    /// Its result, as if it had measured alone.
    pub cell: Cell,
    /// The start of each round.
    pub starts: BTreeMap<u32, Start>,
}

/// Returns the result of all hosts together, with the figures of each. `unit` is the unit of its rate.
pub fn combined(hosts: &[HostCell], base: RateBase, unit: RateUnit) -> Option<Cell> {
    let first = &hosts.first()?.cell;
    let clock = first.state.clock;
    let measured = hosts.iter().all(|host| host.cell.measured);
    let rounds: Vec<Round> = first.rounds.iter().filter_map(|round| merged(hosts, round.round, base, clock)).collect();
    let kept = || rounds.iter().filter(|round| !round.discarded);
    let of_rounds: Vec<Vec<f64>> = kept().filter_map(|round| rates(hosts, round.round, base, clock)).collect();
    let figures = figures(hosts, &of_rounds);
    // 3, 5, 6
    let mut all = marks::of_all(&hosts.iter().map(|host| (&*host.name, &*host.cell.marks)).collect::<Vec<_>>());
    if measured {
        all.extend(marks::uneven(&hosts.iter().map(|host| &*host.name).collect::<Vec<_>>(), &of_rounds));
        all.extend(marks::apart(kept().filter_map(|round| Some((round.start_spread?, round.elapsed_s(clock))))));
    }
    let average = Average::of_marks(&all);
    let is_same = |same: &dyn Fn(&Cell) -> bool| hosts.iter().all(|host| same(&host.cell));
    let unmeasured = hosts.iter().find(|host| !host.cell.measured);
    let busy: Option<Vec<f64>> = kept().map(|round| while_all_are_busy(hosts, round.round, base, clock)).collect();
    let busy = busy.filter(|busy| measured && !busy.is_empty());
    let limit = |cell: &Cell| cell.limited_by.as_ref().map(|limit| limit.what.title());
    let (cache, cache_reason) = cache(hosts);
    let mut cell = Cell {
        together: false,
        overlap: None,
        measured,
        reason: unmeasured.and_then(|host| host.cell.reason.clone()),
        // 1
        rate: measured.then(|| rate(kept(), false, (base, clock), unit, average)).flatten(),
        cpu_percent: mean_cpu(hosts),
        latency_ns: first.latency_ns.and_then(|latency| latencies(kept(), None)?.summary(latency.kind)),
        operations: if measured {
            operations(first, &kept().collect::<Vec<_>>(), (clock, average))
        } else {
            Vec::new()
        },
        io: hosts.iter().map(|host| host.cell.io).reduce(|sum, io| Some(sum_io(sum?, io?))).flatten(),
        // 4
        time: None,
        breakdown: None,
        limited_by: first.limited_by.clone().filter(|_| is_same(&|cell| limit(cell) == limit(first))),
        of_limit: None,
        marks: all,
        below_floor: hosts.iter().find_map(|host| host.cell.below_floor),
        effect: first.effect.clone().filter(|_| is_same(&|cell| cell.effect == first.effect)),
        regimes: Vec::new(),
        hosts: figures,
        // 2
        all_busy_per_second: busy.map(|busy| mean_and_half_width(&busy).0),
        ..first.clone()
    };
    cell.state.cache = cache;
    cell.state.cache_reason = cache_reason;
    let is_lower = hosts.iter().any(|host| host.cell.state.lower_cache == Some(LowerCache::Warm));
    cell.state.lower_cache = cell.state.lower_cache.map(|one| if is_lower { LowerCache::Warm } else { one });
    cell.state.unverified = hosts.iter().find_map(|host| host.cell.state.unverified.clone());
    cell.rounds = rounds;
    Some(cell)
}

/// Returns the state that all hosts have. If they have different ones, returns the reason.
fn cache(hosts: &[HostCell]) -> (CacheState, Option<String>) {
    let first = &hosts[0].cell.state;
    match hosts.iter().find(|host| host.cell.state.cache != first.cache) {
        None => (first.cache, first.cache_reason.clone()),
        Some(other) => {
            let reason = format!("{} and {} had different states", hosts[0].name, other.name);
            (CacheState::Unknown, Some(reason))
        }
    }
}

fn round_of(host: &HostCell, round: u32) -> Option<(&Round, Start)> {
    let found = host.cell.rounds.iter().find(|one| one.round == round)?;
    Some((found, host.starts.get(&round).copied().unwrap_or_default()))
}

/// Adds up a round of all hosts. `None` if a host has no such round.
fn merged(hosts: &[HostCell], number: u32, base: RateBase, clock: ClockKind) -> Option<Round> {
    let all: Vec<(&Round, Start)> = hosts.iter().map(|host| round_of(host, number)).collect::<Option<_>>()?;
    let parts: Vec<RoundPart> = all.iter().flat_map(|(round, start)| parts(round, *start)).collect();
    let last = |time: fn(&RoundPart) -> Option<f64>| parts.iter().filter_map(time).max_by(f64::total_cmp);
    let sum = |seconds: fn(&CpuSeconds) -> Option<f64>| {
        all.iter().map(|(round, _)| seconds(&round.cpu_s)).sum::<Option<f64>>()
    };
    let late = || all.iter().map(|(_, start)| start.late_ns);
    let named = hosts.iter().zip(&all).map(|(host, (round, _))| (&*host.name, &*round.marks));
    let mut round = Round {
        round: number,
        position: all[0].0.position,
        discarded: all.iter().any(|(round, _)| round.discarded),
        bytes: parts.iter().map(|part| part.bytes).sum(),
        ops: parts.iter().map(|part| part.ops).sum(),
        returned_s: last(|part| Some(part.returned_s))?,
        data_durable_s: last(|part| part.data_durable_s),
        durable_s: last(|part| part.durable_s),
        rested_s: all[0].0.rested_s,
        cpu_s: CpuSeconds {
            process: sum(|cpu| Some(cpu.process)).unwrap_or(0.0),
            user: sum(|cpu| Some(cpu.user)).unwrap_or(0.0),
            kernel_workers: sum(|cpu| cpu.kernel_workers),
            machine: sum(|cpu| cpu.machine),
        },
        intervals: RateInterval::of_all(all.iter().map(|(round, _)| round.intervals.clone()).collect()),
        operations: merged_operations(&all),
        marks: marks::of_all(&named.collect::<Vec<_>>()),
        start_spread: Some(StartSpread {
            nanos: late().max()? - late().min()?,
            uncertainty_ns: of_two(all.iter().map(|(_, start)| start.uncertainty_ns)),
        }),
        parts,
        ..Round::default()
    };
    round.per_second = round_rate(&round, false, base, clock);
    Some(round)
}

/// Returns the error of a time between two hosts: each clock was compared with that of the first host only.
fn of_two(uncertainties: impl Iterator<Item = u64>) -> u64 {
    let mut all: Vec<u64> = uncertainties.collect();
    all.sort_unstable_by(|one, other| other.cmp(one));
    all.iter().take(2).sum()
}

/// Returns the programs of a host, with times from the common start.
fn parts(round: &Round, start: Start) -> Vec<RoundPart> {
    let late = start.late_ns as f64 / 1e9;
    let mut parts = round.parts.clone();
    if parts.is_empty() {
        parts.push(RoundPart {
            bytes: round.bytes,
            ops: round.ops,
            returned_s: round.returned_s,
            data_durable_s: round.data_durable_s,
            durable_s: round.durable_s,
            process_s: round.cpu_s.process,
        });
    }
    for part in &mut parts {
        part.returned_s += late;
        part.data_durable_s = part.data_durable_s.map(|time| time + late);
        part.durable_s = part.durable_s.map(|time| time + late);
    }
    parts
}

fn merged_operations(all: &[(&Round, Start)]) -> Vec<RoundOperation> {
    let mut kinds: BTreeMap<(OperationKind, bool), Latencies> = BTreeMap::new();
    for one in all.iter().flat_map(|(round, _)| &round.operations) {
        one.add_to(kinds.entry((one.operation, one.unit)).or_default());
    }
    kinds.into_iter().map(|((kind, is_unit), latencies)| RoundOperation::new(kind, is_unit, &latencies)).collect()
}

/// Returns the latencies of all kept rounds; `None` if a round lacks them.
fn latencies<'a>(rounds: impl Iterator<Item = &'a Round>, kind: Option<OperationKind>) -> Option<Latencies> {
    let mut all = Latencies::default();
    for round in rounds {
        all.add(&round.latencies(kind)?);
    }
    Some(all)
}

fn operations(first: &Cell, kept: &[&Round], (clock, average): (ClockKind, Average)) -> Vec<OperationFigures> {
    let of_kind = |one: &OperationFigures| {
        let count = |round: &Round| -> u64 {
            round.operations.iter().filter(|other| other.operation == one.operation).map(|other| other.count).sum()
        };
        let rounds: Vec<Round> = kept.iter().map(|round| Round { ops: count(round), ..(*round).clone() }).collect();
        let unit = RateUnit { name: "ops/sec", size: 1.0 };
        OperationFigures {
            operation: one.operation,
            count: rounds.iter().map(|round| round.ops).sum(),
            rate: rate(&rounds, false, (RateBase::Ops, clock), unit, average),
            latency_ns: latencies(kept.iter().copied(), Some(one.operation))
                .and_then(|all| all.summary(one.latency_ns.map_or(LatencyKind::Service, |latency| latency.kind))),
        }
    };
    first.operations.iter().map(of_kind).collect()
}

/// Returns the rate of each host in a round, from its own first operation to its own last one. `None` if one has none.
fn rates(hosts: &[HostCell], number: u32, base: RateBase, clock: ClockKind) -> Option<Vec<f64>> {
    hosts.iter().map(|host| round_rate(round_of(host, number)?.0, host.cell.together, base, clock)).collect()
}

/// 2. Returns the rate of a round until the first host ended; `None` if it was too short or not counted.
fn while_all_are_busy(hosts: &[HostCell], number: u32, base: RateBase, clock: ClockKind) -> Option<f64> {
    if clock != ClockKind::Returned {
        return None;
    }
    let all: Vec<(&Round, Start)> = hosts.iter().map(|host| round_of(host, number)).collect::<Option<_>>()?;
    let first_end = all.iter().map(|(round, _)| round.returned_s).min_by(f64::total_cmp)?;
    if first_end < LEAST_BUSY_S {
        return None;
    }
    let whole = (first_end / INTERVAL.as_secs_f64()) as usize;
    let mut amount = 0;
    for (round, _) in all {
        // The last interval may be missing; long rounds lack more.
        let intervals = round.intervals.get(..whole).or_else(|| round.intervals.get(..whole - 1))?;
        amount += intervals.iter().map(|one| if base == RateBase::Bytes { one.bytes } else { one.ops }).sum::<u64>();
    }
    Some(amount as f64 / (whole as f64 * INTERVAL.as_secs_f64()))
}

/// Returns the figures of each host. `of_rounds` are the rates of all hosts in each round.
fn figures(hosts: &[HostCell], of_rounds: &[Vec<f64>]) -> Vec<HostFigures> {
    let mean = |index: usize| {
        let rates: Vec<f64> = of_rounds.iter().map(|rates| rates[index]).collect();
        (!rates.is_empty()).then(|| mean_and_half_width(&rates).0)
    };
    let means: Vec<Option<f64>> = (0..hosts.len()).map(mean).collect();
    let middle = means.iter().copied().collect::<Option<Vec<f64>>>().and_then(|means| median(&means));
    let figures = hosts.iter().zip(means).map(|(host, per_second)| HostFigures {
        name: host.name.clone(),
        per_second,
        of_median: per_second.zip(middle.filter(|middle| *middle > 0.0)).map(|(own, middle)| own / middle),
        cpu_percent: host.cell.cpu_percent,
        cache: host.cell.state.cache,
        warnings: host.cell.marks.iter().map(|mark| mark.code.name().to_owned()).collect(),
    });
    figures.collect()
}

/// Returns the mean CPU load of the hosts; `None` if it is not known of one.
fn mean_cpu(hosts: &[HostCell]) -> Option<CpuPercent> {
    let all: Vec<CpuPercent> = hosts.iter().map(|host| host.cell.cpu_percent).collect::<Option<_>>()?;
    let mean = |percent: fn(&CpuPercent) -> Option<f64>| {
        let sum: Option<f64> = all.iter().map(percent).sum();
        sum.map(|sum| sum / all.len() as f64)
    };
    Some(CpuPercent {
        process: mean(|cpu| Some(cpu.process))?,
        kernel_workers: mean(|cpu| cpu.kernel_workers),
        machine: mean(|cpu| cpu.machine),
    })
}

fn sum_io(sum: Io, io: Io) -> Io {
    Io {
        program_bytes: sum.program_bytes.zip(io.program_bytes).map(|(sum, one)| sum + one),
        device_read: sum.device_read + io.device_read,
        device_written: sum.device_written + io.device_written,
        device_written_at_return: sum.device_written_at_return + io.device_written_at_return,
        flushes: sum.flushes + io.flushes,
    }
}

#[cfg(test)]
mod tests {
    use crate::judge::marks::{Mark, MarkCode};
    use crate::results::cell::Provenance;

    use super::*;

    const MIB: RateUnit = RateUnit { name: "MiB/s", size: 1048576.0 };

    /// A host with rounds of these seconds, in which it moved 100 bytes each.
    fn host(name: &str, seconds: &[f64], late_ms: u64) -> HostCell {
        let mut cell = Cell::named(Provenance::Measured, "io", "read", "run", "t");
        cell.measured = true;
        let round = |(index, seconds): (usize, &f64)| Round {
            round: index as u32 + 1,
            bytes: 100,
            ops: 10,
            returned_s: *seconds,
            intervals: vec![RateInterval { ops: 1, bytes: 10, ..RateInterval::default() }; (seconds / 0.25) as usize],
            ..Round::default()
        };
        cell.rounds = seconds.iter().enumerate().map(round).collect();
        let start = Start { late_ns: late_ms * 1_000_000, uncertainty_ns: 500 };
        let starts = cell.rounds.iter().map(|round| (round.round, start)).collect();
        HostCell { name: name.to_owned(), cell, starts }
    }

    fn all(hosts: &[HostCell]) -> Cell {
        combined(hosts, RateBase::Bytes, MIB).expect("hosts")
    }

    #[test]
    fn the_last_end_counts_from_the_common_start() {
        let cell = all(&[host("a", &[4.0, 4.0], 0), host("b", &[7.0, 9.0], 1000)]);
        let rates: Vec<Option<f64>> = cell.rounds.iter().map(|round| round.per_second).collect();
        assert_eq!(rates, [Some(25.0), Some(20.0)]);
        assert_eq!(cell.rate.as_ref().map(|rate| rate.per_second), Some(22.5));
        assert_eq!(cell.rounds[0].start_spread, Some(StartSpread { nanos: 1_000_000_000, uncertainty_ns: 1_000 }));
        assert_eq!((cell.rounds[0].bytes, cell.rounds[0].parts.len()), (200, 2));
        assert!(cell.marks.iter().any(|mark| mark.code == MarkCode::Apart));
    }

    #[test]
    fn the_time_with_all_hosts_busy_needs_rounds_of_seconds() {
        assert_eq!(all(&[host("a", &[4.9], 0), host("b", &[9.0], 0)]).all_busy_per_second, None);
        let busy = all(&[host("a", &[5.0], 0), host("b", &[10.0], 0)]).all_busy_per_second;
        assert_eq!(busy, Some(2.0 * 20.0 * 10.0 / 5.0));
    }

    #[test]
    fn a_host_that_is_always_slow_is_named() {
        let slow = all(&[host("a", &[1.0, 1.0], 0), host("b", &[2.0, 2.0], 0), host("c", &[1.0, 1.0], 0)]);
        let mark = slow.marks.iter().find(|mark| mark.code == MarkCode::Uneven).expect("a warning");
        assert!(mark.text.starts_with("b ") && mark.value == Some(0.5), "{mark:?}");
        assert_eq!(slow.hosts[1].of_median, Some(0.5));
        let once = all(&[host("a", &[1.0, 1.0], 0), host("b", &[2.0, 1.0], 0), host("c", &[1.0, 1.0], 0)]);
        assert!(once.marks.is_empty(), "{:?}", once.marks);
    }

    #[test]
    fn a_claim_of_one_host_alone_is_no_claim() {
        let mut hosts = [host("a", &[1.0], 0), host("b", &[1.0], 0)];
        hosts[0].cell.state.cache = CacheState::Cold;
        hosts[1].cell.marks.push(Mark { code: MarkCode::Cache, value: Some(0.5), text: "half".to_owned() });
        let cell = all(&hosts);
        assert_eq!(cell.state.cache, CacheState::Unknown);
        assert_eq!(cell.marks, [Mark { code: MarkCode::Cache, value: Some(0.5), text: "b: half".to_owned() }]);
        assert_eq!(cell.hosts[1].warnings, ["cache"]);
        hosts[1].cell.measured = false;
        hosts[1].cell.reason = Some("no space".to_owned());
        let cell = all(&hosts);
        assert_eq!((cell.measured, cell.rate, cell.reason.as_deref()), (false, None, Some("no space")));
    }
}
