//! The consumption of a phase: converts the observations of the runner for `stats::judge::bottleneck`.

use runner::execution::{PhaseResult, ProgramResult};
use stats::ClockKind;
use stats::judge::bottleneck::{Consumption, DeviceWork, Writeback, allowance, held_back};
use units::Nanos;
use workload::{Counters, Issue, Layer, OpKind, Phase, Steps};

/// Bytes per page. The kernel counts refaults and dirty memory in pages.
pub const PAGE: u64 = 4096;

/// Sums up the kept rounds of a phase. A simulated machine knows exactly how long its device was busy, and throttles
/// nothing.
pub fn gather(runs: &[&PhaseResult], phase: &Phase, clock: ClockKind, is_simulated: bool) -> Consumption {
    let parts = || runs.iter().flat_map(|run| &run.parts);
    let elapsed = parts().map(|part| elapsed(part, clock)).sum();
    let seen = |see: fn(&Counters) -> Option<Nanos>| sum(runs.iter().map(|run| see(&run.counters)));
    let device = device(runs, is_simulated);
    let nothing = is_simulated.then_some(Nanos::ZERO);
    let writes = phase.changes() || runs.iter().any(|run| run.tally().bytes_written > 0);
    let is_command = phase.unit.first == OpKind::Run;
    let computed = parts().map(|part| part.cpu.total).sum::<Nanos>();
    Consumption {
        elapsed,
        several: is_command && (computed > elapsed || runs.iter().any(|run| run.counters.several)),
        programs: runs.iter().map(|run| run.parts.len()).max().unwrap_or(1) as u32,
        depth: depth(phase),
        writes,
        // The CPU clock is read just outside the elapsed time: it may contain a little more.
        user: parts().map(|part| part.cpu.user).sum(),
        system: parts().map(|part| part.cpu.system()).sum(),
        ready: sum(parts().map(|part| part.ready)),
        quota: nothing.or_else(|| seen(|counters| counters.quota.cpu)),
        allowance: allowed(runs, clock),
        held_back: nothing.or_else(|| if writes { sum(runs.iter().map(|run| held(run))) } else { Some(Nanos::ZERO) }),
        flush: nothing
            .or_else(|| sum(runs.iter().flat_map(|run| run.counters.lowest()).map(|layer| layer.used.flushing))),
        foreign: if writes { None } else { foreign(runs) },
        workers: seen(|counters| counters.workers),
        memory_stall: seen(|counters| counters.pressure.memory),
        refaulted: refaulted(runs),
        device,
    }
}

/// The maximum queue depth of the phase.
fn depth(phase: &Phase) -> u32 {
    match phase.steps.issue() {
        Issue::Async(overlap) => overlap.depth,
        Issue::Sync | Issue::Mapped | Issue::Null => 1,
    }
}

fn elapsed(part: &ProgramResult, clock: ClockKind) -> Nanos {
    match clock {
        ClockKind::Returned => part.returned,
        ClockKind::DataDurable => part.data_durable.unwrap_or(part.returned),
        ClockKind::Durable => part.durable.unwrap_or(part.returned),
    }
}

/// The sum; `None` if a part is unknown.
fn sum(mut parts: impl Iterator<Item = Option<Nanos>>) -> Option<Nanos> {
    parts.try_fold(Nanos::ZERO, |sum, part| Some(sum + part?))
}

/// The work of the lowest devices in all rounds; `None` if no device is visible.
fn device(runs: &[&PhaseResult], is_simulated: bool) -> Option<DeviceWork> {
    if !runs.iter().any(|run| !run.counters.layers.is_empty()) {
        return None;
    }
    let mut all = DeviceWork { one_at_a_time: is_simulated, ..DeviceWork::default() };
    let mut names: Vec<&str> = Vec::new();
    for run in runs {
        let layers: Vec<&Layer> = run.counters.lowest().collect();
        // Several devices together are as busy as the busiest.
        all.busy += layers.iter().map(|layer| layer.used.busy).max().unwrap_or_default();
        for Layer { name, used, .. } in layers {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
            all.requests_time += used.reading + used.writing;
            all.requests += used.reads + used.writes;
            all.bytes += used.moved.read + used.moved.written;
        }
    }
    all.name = names.join("+");
    Some(all)
}

fn held(run: &PhaseResult) -> Option<Nanos> {
    let dirtiness = run.dirtiness?;
    let blocked = sum(run.parts.iter().map(|part| part.blocked_in_calls));
    let phase = Writeback {
        dirty_pages: dirtiness.pages,
        free_run: dirtiness.free_run,
        read_bytes: run.counters.accounts?.fetched,
        written_bytes: run.tally().bytes_written,
    };
    held_back(blocked, phase)
}

/// The share of the bytes moved by the devices that was not fetched for the programs. Only valid for phases without
/// writes: a file system's writes for the program cannot be told from its writes for others.
fn foreign(runs: &[&PhaseResult]) -> Option<f64> {
    let mut fetched = 0;
    let mut moved = 0;
    for run in runs {
        fetched += run.counters.accounts?.fetched;
        moved += run.counters.lowest().map(|layer| layer.used.moved.read + layer.used.moved.written).sum::<u64>();
    }
    (moved > 0).then(|| 1.0 - (fetched as f64 / moved as f64).min(1.0))
}

/// The share of the fetched bytes that had been in the page cache shortly before (refaults). `None` if little of the
/// data read was fetched.
fn refaulted(runs: &[&PhaseResult]) -> Option<f64> {
    let mut pages = 0;
    let mut fetched = 0;
    for run in runs {
        pages += run.counters.memory.refaults?;
        fetched += run.counters.accounts?.fetched;
    }
    let read: u64 = runs.iter().map(|run| run.tally().bytes_read).sum();
    (fetched > 0 && fetched >= read / 10 && read > 0).then(|| (pages * PAGE) as f64 / fetched as f64)
}

/// The used share of the tightest limit on the devices directly under the programs.
fn allowed(runs: &[&PhaseResult], clock: ClockKind) -> Option<f64> {
    let mut done = [0; 4];
    let mut wall = Nanos::ZERO;
    for run in runs {
        wall += run.parts.iter().map(|part| elapsed(part, clock)).max().unwrap_or_default();
        for layer in run.counters.layers.iter().filter(|layer| layer.depth == 0) {
            let used = &layer.used;
            for (sum, part) in done.iter_mut().zip([used.moved.read, used.moved.written, used.reads, used.writes]) {
                *sum += part;
            }
        }
    }
    let limits = runs.last()?.counters.quota.io;
    let limits = [limits.read_bytes, limits.written_bytes, limits.reads, limits.writes];
    allowance(&done.into_iter().zip(limits).collect::<Vec<_>>(), wall)
}

#[cfg(test)]
mod tests {
    use runner::execution::{ClaimedClock, MeasureOptions, perform};
    use simulator::Machine;
    use stats::Bottleneck;
    use stats::judge::bottleneck::{limited_by, owners};
    use workload::programs::classic1983::Classic;

    use super::*;

    /// The consumption of one or two programs on the simplest machine.
    fn simulated(classic: Classic, programs: usize) -> Consumption {
        let mut machine = Machine::named("flat", programs).expect("the simplest machine");
        let program = classic.program(1 << 20);
        let Ok(result) =
            perform(&mut machine, &program, MeasureOptions { claim: ClaimedClock::Returned, timed: false });
        gather(&[&result.phases[0]], &program.phases[0], ClockKind::Returned, true)
    }

    #[test]
    fn every_simulated_nanosecond_has_an_owner() {
        for classic in Classic::ALL {
            for programs in [1, 2] {
                let used = simulated(classic, programs);
                let owners = owners(&used);
                assert_eq!(owners.rest, Nanos::ZERO, "{} x {programs}: {owners:?}", classic.name());
                assert_eq!(owners.named().values().sum::<u64>(), used.elapsed.0);
                // Each program also waits for the seeks of the other one.
                assert_eq!(owners.device_queue > Nanos::ZERO, programs == 2);
                assert_eq!(limited_by(&used).what, Bottleneck::Device);
            }
        }
    }
}
