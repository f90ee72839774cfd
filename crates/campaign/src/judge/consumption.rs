//! The consumption of a phase: converts the observations of the runner for `stats::judge::bottleneck`.

use std::collections::BTreeMap;

use kernel::observe::mount::Place;
use runner::execution::{PAGE, PhaseResult, ProgramResult};
use stats::ClockKind;
use stats::judge::bottleneck::{
    Consumption, DeviceWork, JournalWork, ProcessWork, ServerWork, Writeback, allowance, held_back,
};
use units::Nanos;
use workload::{CacheState, Counters, IoKind, IoLimit, Issue, Layer, OpKind, Phase, Step, Steps, Stream};

use super::devices::{SYNCS, opened, syncs};

/// Sums up the kept rounds of a phase. A simulated machine knows exactly how long its device was busy, and throttles
/// nothing.
///
/// `places` are the file systems of the targets; `None` for one that diskperf created, and for a device.
pub fn gather(
    runs: &[&PhaseResult],
    phase: &Phase,
    clock: ClockKind,
    places: &[Option<&Place>],
    is_simulated: bool,
) -> Consumption {
    let parts = || runs.iter().flat_map(|run| &run.parts);
    let elapsed = parts().map(|part| elapsed(part, clock)).sum();
    let seen = |see: fn(&Counters) -> Option<Nanos>| sum(runs.iter().map(|run| see(&run.counters)));
    let nothing = is_simulated.then_some(Nanos::ZERO);
    let (writes, is_command) = (writes(runs, phase), is_command(phase));
    let computed = parts().map(|part| part.cpu.total).sum::<Nanos>();
    let waits = !is_command || has_own_io(runs);
    let is_several = is_command && (computed > elapsed || runs.iter().any(|run| run.counters.several));
    let ran_with_others = runs.iter().any(|run| run.ran_with_others);
    // Kernel threads serve all workloads of a group.
    let workers = seen(|counters| counters.workers).filter(|_| !ran_with_others);
    let units = |part: &ProgramResult| phase.unit.done(&part.tally);
    let ready = sum(parts().map(|part| part.ready));
    let flushing = nothing.map(|none| (none, none)).or_else(|| flushing(runs, phase, clock));
    let of_others = flushing.filter(|_| writes).map_or(Nanos::ZERO, |(all, own)| all - own);
    Consumption {
        elapsed,
        several: is_several.then(|| ProcessWork {
            busiest: seen(|counters| counters.busiest_process),
            io_stall: seen(|counters| counters.pressure.io),
        }),
        programs: runs.iter().map(|run| run.parts.len()).max().unwrap_or(1) as u32,
        depth: depth(phase),
        writes,
        // The CPU clock is read just outside the elapsed time: it may contain a little more.
        user: parts().map(|part| part.cpu.user).sum(),
        system: parts().map(|part| part.cpu.system()).sum(),
        polled: !is_simulated && matches!(phase.steps.issue(), Issue::Async(overlap) if overlap.polled),
        ready,
        // The counter also has the time of all other throttled programs of the group, on each processor. Kernel threads
        // of io_uring may be throttled while the program sleeps. The wait of a command is known if it is one thread.
        quota: nothing.or_else(|| seen(|counters| counters.quota.cpu)).map(|quota| {
            let is_own = phase.steps.issue() == Issue::Sync;
            ready.filter(|_| is_own).map_or(quota, |ready| quota.min(ready))
        }),
        allowance: allowed(runs, phase, clock),
        held_back: nothing
            .or_else(|| if writes { sum(runs.iter().map(|run| held(run, phase))) } else { Some(Nanos::ZERO) }),
        flush: flushing.map(|(_, own)| own).filter(|_| waits),
        foreign: match ran_with_others {
            true => beside(runs),
            false if writes => None,
            false => foreign(runs),
        },
        server: if is_simulated { Some(ServerWork::default()) } else { server(runs, workers) },
        journal: if is_simulated { Some(JournalWork::default()) } else { journal(runs).filter(|_| waits) },
        workers,
        memory_stall: seen(|counters| counters.pressure.memory),
        refaulted: refaulted(runs, is_command),
        scheduled: sum(parts().map(|part| phase.steps.scheduled(units(part)))).filter(|_| phase.steps.is_paced()),
        paused: parts().map(|part| phase.steps.paused(units(part))).sum(),
        // The time of a write includes that of its flushes.
        device: device(runs, places, is_simulated)
            .filter(|_| waits)
            .map(|work| DeviceWork { requests_time: work.requests_time.saturating_sub(of_others), ..work }),
    }
}

fn is_command(phase: &Phase) -> bool {
    phase.unit.first == OpKind::Run
}

/// True if the programs changed any data or metadata.
fn writes(runs: &[&PhaseResult], phase: &Phase) -> bool {
    phase.changes() || runs.iter().any(|run| run.tally().bytes_written > 0)
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
fn device(runs: &[&PhaseResult], places: &[Option<&Place>], is_simulated: bool) -> Option<DeviceWork> {
    if !runs.iter().any(|run| !run.counters.layers.is_empty()) {
        return None;
    }
    let mut all = DeviceWork { one_at_a_time: is_simulated, ..DeviceWork::default() };
    let mut names: Vec<&str> = Vec::new();
    let may_wait = !places.is_empty() && places.iter().all(|place| place.is_some_and(discards_at_once));
    for run in runs {
        let waits = may_wait && frees_at_once(run);
        let layers: Vec<&Layer> = run.counters.lowest().collect();
        // Several devices together are as busy as the busiest.
        all.busy += layers.iter().map(|layer| layer.used.busy).max().unwrap_or_default();
        for Layer { name, used, .. } in layers {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
            let (waited, apart) = if waits { (used.discarding, Nanos::ZERO) } else { (Nanos::ZERO, used.discarding) };
            all.requests_time += used.reading + used.writing + waited;
            all.requests += used.reads + used.writes;
            all.discarding += waited;
            all.discarding_apart += apart;
            all.bytes += used.moved.read + used.moved.written;
        }
    }
    all.name = names.join("+");
    Some(all)
}

/// True if a program that frees blocks on this file system may have to wait for their discards. Only ext4 does that.
/// Others (xfs, btrfs) discard in the background, and so does `fstrim`. In an image, the discards are those of the file
/// system around it.
fn discards_at_once(place: &Place) -> bool {
    let is_ext4 = place.file_system.as_deref() == Some("ext4");
    is_ext4 && place.nested_in.is_none() && place.mount_options.iter().any(|option| option == "discard")
}

/// True if a program waited for discards, if its ext4 discards at all: it deleted files or directories, and there is no
/// journal (`ext4_mb_clear_bb` in fs/ext4/mballoc.c). With a journal, ext4 discards after the commit, since Linux 5.15
/// in the background. Nothing else in a measured phase of a test frees blocks, apart from the one file that a warm-up
/// left. It is unknown whether a command does.
fn frees_at_once(run: &PhaseResult) -> bool {
    let tally = run.tally();
    tally.count(OpKind::Unlink) + tally.count(OpKind::Rmdir) > 0 && run.counters.journal.is_none()
}

/// The time that the lowest devices spent on flushes in all rounds, and the part of it that the programs may have
/// waited for. `None` if a device does not time them.
fn flushing(runs: &[&PhaseResult], phase: &Phase, clock: ClockKind) -> Option<(Nanos, Nanos)> {
    let (mut all, mut own) = (Nanos::ZERO, Nanos::ZERO);
    for run in runs {
        let time = sum(run.counters.lowest().map(|layer| layer.used.flushing))?;
        all += time;
        own += Nanos((time.0 as f64 * own_flushes(run, phase, clock)) as u64).min(time);
    }
    Some((all, own))
}

/// The most flushes of a disk for one sync. A file system flushes before and after the last block of a sync. A loop
/// device makes each of them a sync of its file, and there may be two such levels.
const FLUSHES_PER_SYNC: u64 = 8;

/// The share of the flushes that the syncs of the programs and the commits of the journal can have caused. Other loads
/// may have caused the commits. The syncs of a command are not counted.
fn own_flushes(run: &PhaseResult, phase: &Phase, clock: ClockKind) -> f64 {
    let seen = run.counters.lowest().map(|layer| layer.used.moved.flushes).max().unwrap_or(0);
    let commits = run.counters.journal.filter(|_| !run.ran_with_others).map_or(0, |journal| journal.commits);
    let in_stream = |stream: &Stream| {
        let is_sync = |step: &Step| matches!(step, Step::Op(op) if SYNCS.contains(&op.kind()));
        stream.clone().filter(is_sync).count() as u64
    };
    let at_the_end = match clock {
        ClockKind::Returned => 0,
        ClockKind::DataDurable | ClockKind::Durable => in_stream(&phase.data) + in_stream(&phase.durable),
    };
    let own = syncs(phase, &run.tally()) + at_the_end * run.parts.len() as u64 + commits;
    let most = own.saturating_mul(FLUSHES_PER_SYNC);
    // md, dm and bcache flush their own metadata, also for writes without a sync.
    let is_stacked =
        run.counters.layers.iter().any(|layer| ["md", "dm-", "bcache"].iter().any(|kind| layer.name.starts_with(kind)));
    if is_command(phase) || is_stacked || seen <= most { 1.0 } else { most as f64 / seen as f64 }
}

/// The time in which the kernel throttled the programs in one round. It throttles only writes to the page cache. A
/// program that syncs was also blocked in its syncs, so the time is then unknown. Not seen: ext4 with `data=journal`,
/// and btrfs with checksums (Linux 6.15), which write through the page cache in spite of `O_DIRECT`.
fn held(run: &PhaseResult, phase: &Phase) -> Option<Nanos> {
    if opened(phase).any(|mode| mode.direct) {
        return Some(Nanos::ZERO);
    }
    // Beside other workloads, the dirty data may be theirs.
    let dirtiness = run.dirtiness.filter(|_| !run.ran_with_others)?;
    let blocked = sum(run.parts.iter().map(|part| part.blocked_in_calls));
    let blocked = blocked.filter(|_| syncs(phase, &run.tally()) == 0);
    let phase = Writeback {
        dirty_pages: dirtiness.pages,
        free_run: dirtiness.free_run,
        read_bytes: run.counters.accounts?.fetched,
        written_bytes: run.tally().bytes_written.max(run.counters.accounts?.dirtied),
    };
    held_back(blocked, phase)
}

/// Least share of the bytes moved by the devices that a command must have read or written, so that it can have waited
/// for them. A commit of one block writes it, the journal and metadata: a fifth is its own. Half of that is a guess.
const OWN_IO: f64 = 0.1;

/// True if the devices worked for this command, and not only for other programs. A test waits for the device, because
/// it does nothing else.
fn has_own_io(runs: &[&PhaseResult]) -> bool {
    let own = runs.iter().filter_map(|run| run.counters.accounts).map(|accounts| accounts.fetched + accounts.dirtied);
    let layers = runs.iter().flat_map(|run| run.counters.lowest());
    let moved: u64 = layers.map(|layer| layer.used.moved.read + layer.used.moved.written).sum();
    own.sum::<u64>() as f64 >= OWN_IO * moved as f64
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

/// The share of the bytes moved by the devices that this workload did not move: at least that was for those beside it.
fn beside(runs: &[&PhaseResult]) -> Option<f64> {
    let layers = runs.iter().flat_map(|run| run.counters.lowest());
    let moved: u64 = layers.map(|layer| layer.used.moved.read + layer.used.moved.written).sum();
    let own: u64 = runs.iter().map(|run| run.tally().bytes_read + run.tally().bytes_written).sum();
    (moved > 0).then(|| 1.0 - (own as f64 / moved as f64).min(1.0))
}

/// The share of the fetched bytes that had been in the page cache shortly before (refaults). `None` if little of the
/// data read was fetched. The first reads of cold files do not count: diskperf evicted these bytes before the phase. If
/// the kernel did so before diskperf, they are refaults, too.
fn refaulted(runs: &[&PhaseResult], is_command: bool) -> Option<f64> {
    let mut pages = 0;
    let mut fetched = 0;
    for run in runs {
        let is_cold = run.cache == CacheState::Cold && !is_command;
        let own = run.counters.accounts?.fetched;
        // Without a number, all reads are first reads.
        let again = if is_cold { run.first_reads.map_or(0, |first| own.saturating_sub(first)) } else { own };
        pages += run.counters.memory.refaults?.min(again / PAGE);
        fetched += own;
    }
    let read: u64 = runs.iter().map(|run| run.tally().bytes_read).sum();
    (fetched > 0 && fetched >= read / 10 && read > 0).then(|| (pages * PAGE) as f64 / fetched as f64)
}

/// The used share of the tightest limit, by the control group that it is set on. Other programs' I/O does not count.
fn allowed(runs: &[&PhaseResult], phase: &Phase, clock: ClockKind) -> Option<f64> {
    let elapsed = |run: &&PhaseResult| run.parts.iter().map(|part| elapsed(part, clock)).max().unwrap_or_default();
    let used: Vec<(u64, u64)> = own_limits(runs, phase).map(|limit| (used_of(runs, limit), limit.allowed)).collect();
    allowance(&used, runs.iter().map(elapsed).sum(), runs.len())
}

/// The limits on what the programs did: on reads, on writes, or on both. It is unknown what a command did. A test that
/// reads no data may wait for reads all the same: of metadata, or of blocks that it changes in part.
pub fn own_limits<'a>(runs: &[&'a PhaseResult], phase: &Phase) -> impl Iterator<Item = &'a IoLimit> {
    let has_fetched = |run: &PhaseResult| {
        let accounts = run.counters.accounts.filter(|_| !run.ran_with_others);
        accounts.is_some_and(|accounts| accounts.fetched > 0 && accounts.fetched >= run.tally().bytes_written)
    };
    let has_read = runs.iter().any(|run| run.tally().bytes_read > 0 || has_fetched(run));
    let (reads, writes) = (is_command(phase) || has_read, is_command(phase) || writes(runs, phase));
    let limits = runs.last().into_iter().flat_map(|run| &run.counters.io_limits);
    limits.filter(move |limit| match limit.kind {
        IoKind::ReadBytes | IoKind::Reads => reads,
        IoKind::WrittenBytes | IoKind::Writes => writes,
    })
}

/// The use of a limit in all rounds: what its group did, but no more than the device did. Version 1 of control groups
/// counts a request again if it is split.
pub fn used_of(runs: &[&PhaseResult], limit: &IoLimit) -> u64 {
    let used = |run: &&PhaseResult| {
        let done = run.counters.io_limits.iter().find(|other| other.is_same(limit))?.done;
        let device = run.counters.layers.iter().find(|layer| layer.name == limit.device);
        Some(device.map_or(done, |device| done.min(limit.kind.done_by(&device.used))))
    };
    runs.iter().filter_map(used).sum()
}

/// The server with the busiest thread, in all rounds. Without any, a server that did nothing. `None` if the servers are
/// not visible.
fn server(runs: &[&PhaseResult], workers: Option<Nanos>) -> Option<ServerWork> {
    let mut servers: BTreeMap<&str, ServerWork> = BTreeMap::new();
    for run in runs {
        for server in run.counters.servers.as_ref()? {
            let new = || ServerWork { name: server.name.clone(), is_lowest: true, ..ServerWork::default() };
            let work = servers.entry(&server.name).or_insert_with(new);
            work.busiest += server.busiest;
            work.cpu += server.cpu;
            work.waited += server.waited;
            work.of_workers = workers.filter(|_| server.is_kernel);
            let mut below = run.counters.layers.iter().filter(|layer| layer.depth >= server.below);
            work.is_lowest &= !below.any(|layer| layer.used.did_anything());
        }
    }
    // A busier server does not hide the waits of another one.
    let waited = servers.values().map(|work| work.waited).max().unwrap_or_default();
    let busiest = servers.into_values().max_by_key(|work| work.busiest);
    Some(busiest.map_or_else(ServerWork::default, |work| ServerWork { waited, ..work }))
}

/// The work of the journal in all rounds. `None` if there is no visible journal.
fn journal(runs: &[&PhaseResult]) -> Option<JournalWork> {
    let mut work = JournalWork::default();
    let (mut blocks, mut most) = (0, 0);
    for run in runs {
        let journal = run.counters.journal?;
        work.commits += journal.commits;
        work.committing += Nanos(journal.commit_time.0.saturating_mul(journal.commits));
        blocks += journal.blocks;
        most += journal.commits.saturating_mul(journal.most_blocks);
    }
    work.filled = if most == 0 { 0.0 } else { blocks as f64 / most as f64 };
    Some(work)
}

#[cfg(test)]
pub(super) mod tests;
