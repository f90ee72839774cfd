//! Divides the elapsed time of a phase among owners, and names what limited its rate. These are pure functions of the
//! observations, the same for measured and simulated cells. Unknown values are `n.m.`; unexplained time is reported as
//! `rest`.

use std::collections::BTreeMap;

use units::Nanos;

use crate::judge::marks::steadiness::REACHED;
use crate::results::bottleneck::{Bottleneck, LimitedBy};

/// The resources that a phase used, over the clock of its cell and all kept rounds. `None` means that a value was not
/// observed; zero means that nothing was used.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Consumption {
    /// Elapsed time. If several programs ran at once, the sum of their times.
    pub elapsed: Nanos,
    /// Number of programs that ran at once.
    pub programs: u32,
    /// Queue depth of each program: its largest number of operations in flight.
    pub depth: u32,
    /// True if a program had several processes or threads. Then their times are not parts of the elapsed time.
    pub several: bool,
    /// True if the phase changed any data or metadata.
    pub writes: bool,
    /// CPU time in user mode.
    pub user: Nanos,
    /// CPU time in the kernel on behalf of the programs.
    pub system: Nanos,
    /// Time in which the programs were runnable but did not run, used-up quota included.
    pub ready: Option<Nanos>,
    /// Time in which the programs were throttled because their CPU quota was used up.
    pub quota: Option<Nanos>,
    /// Used share of the tightest limit that is set on the device.
    pub allowance: Option<f64>,
    /// Time in which the kernel throttled the programs because too many dirty pages were unwritten; see [`held_back`].
    pub held_back: Option<Nanos>,
    /// The work of the lowest devices that did any.
    pub device: Option<DeviceWork>,
    /// Time that the device spent on flushes.
    pub flush: Option<Nanos>,
    /// Share of the device's work for other programs.
    pub foreign: Option<f64>,
    /// CPU time of all kernel threads, for any program.
    pub workers: Option<Nanos>,
    /// Time in which any task of the machine waited for memory.
    pub memory_stall: Option<Nanos>,
    /// Share of the bytes read by the device that had been evicted from the page cache shortly before.
    pub refaulted: Option<f64>,
}

/// The work of a device during the phase, for all programs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeviceWork {
    /// The name of the device.
    pub name: String,
    /// Time in which the device had at least one request in flight. A real kernel looks only at its clock tick and sees
    /// about half of the time of short requests: there it is a lower bound.
    pub busy: Nanos,
    /// Durations of the reads and writes, summed over requests: an upper bound of the service time.
    pub requests_time: Nanos,
    /// Number of reads and writes.
    pub requests: u64,
    /// Bytes read and written.
    pub bytes: u64,
    /// True if the device is known to serve one request at a time; then `busy` is exact.
    pub one_at_a_time: bool,
}

/// The time of the programs by owner. The sum of all owners is the elapsed time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Owners {
    /// CPU time in user mode.
    pub user: Nanos,
    /// CPU time in the kernel on behalf of the programs.
    pub system: Nanos,
    /// The CPU quota or a quota of the device was used up.
    pub quota: Nanos,
    /// Runnable, but no processor was free.
    pub ready: Nanos,
    /// Waiting for flushes of the device.
    pub flush: Nanos,
    /// Throttled because too many dirty pages were unwritten.
    pub dirty_throttling: Nanos,
    /// Waiting for the device to do the programs' own work.
    pub device_service: Nanos,
    /// Waiting while the device worked for other programs.
    pub device_queue: Nanos,
    /// Waiting while kernel threads computed: an upper bound.
    pub kernel_workers: Nanos,
    /// Unexplained time.
    pub rest: Nanos,
}

/// The names of the owners in a cell, in the order in which [`owners`] assigns time.
pub const OWNERS: [&str; 10] = [
    "user",
    "system",
    "quota",
    "ready",
    "flush",
    "dirty_throttling",
    "device_service",
    "device_queue",
    "kernel_workers",
    "rest",
];

impl Owners {
    /// Returns the nanoseconds of each owner, by its name in a cell.
    pub fn named(&self) -> BTreeMap<String, u64> {
        let times = [
            self.user,
            self.system,
            self.quota,
            self.ready,
            self.flush,
            self.dirty_throttling,
            self.device_service,
            self.device_queue,
            self.kernel_workers,
            self.rest,
        ];
        OWNERS.iter().zip(times).map(|(name, nanos)| ((*name).to_owned(), nanos.0)).collect()
    }

    /// Time waiting for the device, for own work and for that of other programs.
    fn device(&self) -> Nanos {
        self.device_service + self.device_queue
    }
}

/// Divides the elapsed time among the owners. Each owner gets its observed time, but no more than the owners before it
/// left:
///   1. CPU time of the programs, which is exact: first in user mode, then in the kernel.
///   2. Used-up quota, then other time in which the programs were runnable but did not run. It is exact, too. The
///      programs were blocked for the remaining time, and the owners of that are known less well.
///   3. Flushes, if the phase changed anything. Flushes are counted apart from other requests.
///   4. Throttling at the dirty limit. The device works meanwhile, but the programs do not wait for it.
///   5. The device: at most the duration of its requests, less the flushes that some requests contain. Its work for
///      other programs, including other programs of the same phase, is `device_queue`.
///   6. Kernel threads. Only the sum over all threads is known.
///   7. A used-up quota of the device. Requests that wait for it are not counted anywhere else.
///   8. The rest.
pub fn owners(used: &Consumption) -> Owners {
    let mut left = used.elapsed;
    let mut take = |wanted: Nanos| {
        let taken = wanted.min(left);
        left = left - taken;
        taken
    };
    // 1
    let user = take(used.user);
    let system = take(used.system);
    // 2: waiting for a processor includes used-up quota.
    let quota = take(used.quota.unwrap_or_default());
    let ready = take(used.ready.unwrap_or_default().saturating_sub(quota));
    // 3
    let flush = take(flushing(used));
    // 4
    let dirty_throttling = take(used.held_back.unwrap_or_default());
    // 5
    let (device_service, device_queue) = match &used.device {
        None => (Nanos::ZERO, Nanos::ZERO),
        Some(device) => {
            let waited = take(device.requests_time.saturating_sub(flushing(used)));
            let service = part(waited.min(longest_service(used, device)), 1.0 - share_of(used.foreign));
            (service, waited - service)
        }
    };
    // 6
    let kernel_workers = take(used.workers.unwrap_or_default());
    // 7
    let device_quota = if is_used_up(used) { take(used.elapsed) } else { Nanos::ZERO };
    // 8
    Owners {
        user,
        system,
        quota: quota + device_quota,
        ready,
        flush,
        dirty_throttling,
        device_service,
        device_queue,
        kernel_workers,
        rest: left,
    }
}

/// True if a limit that is set on the device was used up, or nearly.
fn is_used_up(used: &Consumption) -> bool {
    used.allowance.is_some_and(|allowance| allowance >= REACHED)
}

/// Returns the time of each owner by its name in a cell. The sum is the elapsed time. An owner that was not observed is
/// missing, and its time is part of the rest.
pub fn where_it_went(used: &Consumption) -> BTreeMap<String, u64> {
    let seen = |owner: &str| match owner {
        "quota" => used.quota.is_some() || is_used_up(used),
        "ready" => used.ready.is_some(),
        "flush" => used.flush.is_some() || !used.writes,
        "dirty_throttling" => used.held_back.is_some(),
        "device_service" | "device_queue" => used.device.is_some(),
        "kernel_workers" => used.workers.is_some(),
        _ => true,
    };
    let mut named = owners(used).named();
    named.retain(|owner, _| seen(owner));
    named
}

/// Returns the time of flushes. A read-only phase waits for no flush; any seen belong to other programs.
fn flushing(used: &Consumption) -> Nanos {
    used.flush.filter(|_| used.writes).unwrap_or_default()
}

/// Returns an upper bound of the service time: the busy time if it is exact, otherwise the elapsed time.
fn longest_service(used: &Consumption, device: &DeviceWork) -> Nanos {
    if device.one_at_a_time { device.busy } else { window(used) }
}

/// Elapsed wall clock time. `used.elapsed` is the sum over the programs.
fn window(used: &Consumption) -> Nanos {
    Nanos(used.elapsed.0 / programs(used))
}

fn programs(used: &Consumption) -> u64 {
    u64::from(used.programs.max(1))
}

fn part(whole: Nanos, share: f64) -> Nanos {
    Nanos((whole.0 as f64 * share) as u64).min(whole)
}

/// Returns the share limited to 0 to 1; an unknown or not finite share is 0.
fn share_of(share: Option<f64>) -> f64 {
    share.filter(|share| share.is_finite()).unwrap_or(0.0).clamp(0.0, 1.0)
}

/// Returns the time in which the kernel throttled programs because too many pages were dirty. If the machine was at or
/// over its limit when the last call returned, this is all the time that the programs were blocked in their calls. If
/// the machine was below half of the limit, it is zero. In between, or if the programs also waited for reads, it is
/// unknown (`None`).
pub fn held_back(blocked_in_calls: Option<Nanos>, phase: Writeback) -> Option<Nanos> {
    if phase.dirty_pages < phase.free_run / 2 {
        return Some(Nanos::ZERO);
    }
    let only_writes = phase.read_bytes as f64 <= SOME_METADATA * phase.written_bytes as f64;
    blocked_in_calls.filter(|_| phase.dirty_pages >= phase.free_run && only_writes)
}

/// Dirty pages after the last call of a phase, and the bytes that the phase moved.
#[derive(Clone, Copy, Debug)]
pub struct Writeback {
    /// Number of dirty pages.
    pub dirty_pages: u64,
    /// Up to this number of dirty pages, the kernel throttles no program.
    pub free_run: u64,
    /// Number of bytes read.
    pub read_bytes: u64,
    /// Number of bytes written.
    pub written_bytes: u64,
}

/// Bytes that a write-only program may read, as a share of the bytes it writes: metadata of names and block locations.
const SOME_METADATA: f64 = 0.02;

/// Returns the used share of the tightest limit. Each limit is given as the amount done and the amount allowed per
/// second. Returns `None` if there is no limit.
pub fn allowance(done_and_limits: &[(u64, Option<u64>)], elapsed: Nanos) -> Option<f64> {
    let share = |(done, limit): &(u64, Option<u64>)| Some(*done as f64 / elapsed.as_secs_f64() / (*limit)? as f64);
    done_and_limits.iter().filter_map(share).filter(|share| share.is_finite()).reduce(f64::max)
}

/// Below this elapsed time no share is known: the clocks of both quantities are exact, but start and stop cost time
/// (`summary::CPU_NEEDS_S`).
const LEAST: Nanos = Nanos::from_millis(100);

/// Share of an owner that limits: without it, the program would take half as long. No second owner can have more.
const MAJORITY: f64 = 0.5;

/// Share from which a resource is saturated. A resource that is busy nine tenths of the time can do at most a ninth
/// more: the utilisation law (Denning & Buzen, The operational analysis of queueing network models, 1978).
const SATURATED: f64 = 0.9;

/// A quota that took less than a tenth of the time is not the limit.
const LEAST_QUOTA_SHARE: f64 = 0.1;

/// Of the two largest owners, one is named if it has twice the time of the other: two of three parts.
const CLEARLY: f64 = 2.0;

/// If more than a fifth of the device's work is for other programs, their requests hide our own.
const CROWDED: f64 = 0.2;

/// If requests take one and a half times as long as the programs wait, or more, several were in flight.
const OVERLAPPING: f64 = 1.5;

/// Upper bound of the requests in flight for one program that reads sequentially: one of its own and one of the
/// kernel's read-ahead, plus a tolerance of a quarter.
const READ_AHEAD: f64 = 2.5;

/// Requests of at least the kernel's default read-ahead spend most of their time on the transfer; requests of up to
/// eight pages spend it on latency (VM_READAHEAD_PAGES; half a millisecond at 250 MB/s against a tenth).
const LARGE: u64 = 128 * 1024;
const SMALL: u64 = 32 * 1024;

/// Names the limit of a phase and the figures that show it. If in doubt, the answer is `n.m.`:
///   1. The limit is unknown if the time is too short, or if one program has several processes: one may compute while
///      another waits.
///   2. A quota that took a tenth of the time, or that was nearly used up.
///   3. Memory, if half of the bytes read had been in the page cache before and the programs waited for them. If that
///      is only suspected, or other programs may be short of memory, no limit is named.
///   4. Flushes or throttling, if they took half of the time.
///   5. The CPU, if computing took half of the time, or nine tenths together with waiting for a processor. Exception: a
///      device is saturated and the CPU is not.
///   6. The device, if waiting for it and its flushes took half of the time, or if it is saturated. The flushes are
///      named if they are most of that time; otherwise see `device_or_latency`.
///   7. Otherwise the limit is unknown.
pub fn limited_by(used: &Consumption) -> LimitedBy {
    let owners = owners(used);
    let (what, evidence) = decide(used, &owners);
    LimitedBy { what, evidence }
}

fn decide(used: &Consumption, owners: &Owners) -> (Bottleneck, String) {
    let share = |nanos: Nanos| nanos.0 as f64 / used.elapsed.0 as f64;
    let computing = share(owners.user + owners.system);
    let device = share(owners.device());
    // 1
    if used.elapsed < LEAST {
        return (Bottleneck::NotMeasured, format!("only {} in total", used.elapsed));
    }
    if used.several {
        return (Bottleneck::NotMeasured, "several processes at once".to_owned());
    }
    // 2
    let quota = share(used.quota.unwrap_or_default().min(owners.quota));
    if quota >= LEAST_QUOTA_SHARE && computing + quota + share(owners.ready) >= MAJORITY {
        return (
            Bottleneck::Quota,
            format!("{} throttled by the CPU quota, {} computing", percent(quota), percent(computing)),
        );
    }
    if let Some(allowance) = used.allowance.filter(|_| is_used_up(used)) {
        return (Bottleneck::Quota, format!("{} of the device's cgroup limit used", percent(allowance)));
    }
    // 3
    let refaulted = share_of(used.refaulted);
    let starved = share(used.memory_stall.unwrap_or_default().min(used.elapsed));
    let is_felt = device >= MAJORITY / 2.0 && computing < MAJORITY && share_of(used.foreign) < CROWDED;
    if refaulted >= MAJORITY && is_felt {
        let refaulted = percent(refaulted);
        return (
            Bottleneck::Memory,
            format!("{refaulted} of the bytes read had been in the page cache, {}", waiting(device)),
        );
    }
    if refaulted.max(starved) >= MAJORITY / 2.0 {
        let (refaulted, starved) = (percent(refaulted), percent(starved));
        let why = format!("{refaulted} of the bytes read had been in the page cache, memory pressure {starved}");
        return (Bottleneck::NotMeasured, why);
    }
    // 4
    let flush = share(owners.flush);
    if flush >= MAJORITY {
        return (Bottleneck::Flush, format!("{} waiting for flushes", percent(flush)));
    }
    let throttled = share(owners.dirty_throttling);
    if throttled >= MAJORITY {
        return (Bottleneck::DirtyThrottle, format!("{} held back from writing", percent(throttled)));
    }
    // 5
    let busy = used.device.as_ref().map_or(0.0, |device| device.busy.0 as f64 / window(used).0 as f64).min(1.0);
    let ready = share(owners.ready);
    // A device that other programs keep busy is not the limit of a program that hardly waits for it.
    let is_saturated = busy >= SATURATED && device + flush >= MAJORITY / 2.0;
    if computing >= SATURATED || (!is_saturated && (computing >= MAJORITY || computing + ready >= SATURATED)) {
        let waited = if ready >= 0.01 { format!(", {} runnable", percent(ready)) } else { String::new() };
        return (Bottleneck::Cpu, format!("{} computing{waited}", percent(computing)));
    }
    // 6
    if let Some(work) = &used.device
        && (device + flush >= MAJORITY || is_saturated)
    {
        if flush >= CLEARLY * device && device + flush >= MAJORITY {
            return (Bottleneck::Flush, format!("{} waiting for flushes", percent(flush)));
        }
        if device >= CLEARLY * flush {
            return device_or_latency(used, owners, work, busy);
        }
    }
    // 7
    (Bottleneck::NotMeasured, largest(used, owners))
}

/// Distinguishes a device that cannot do more from a device that had only one request at a time.
///   1. A device known to serve one request at a time cannot do more.
///   2. If other programs use the device, their requests hide ours. Then it is the limit only if it is always busy.
///   3. Small sequential reads of one program at queue depth 1, with or without read-ahead: latency.
///   4. Large requests are limited by the transfer, and several requests in flight use the device fully.
///   5. Writes are issued by kernel threads, any number at a time: the device.
fn device_or_latency(used: &Consumption, owners: &Owners, work: &DeviceWork, busy: f64) -> (Bottleneck, String) {
    let share = (owners.device() + owners.flush).0 as f64 / used.elapsed.0 as f64;
    let size = work.bytes / work.requests.max(1);
    let at_once = work.requests_time.0 as f64 / owners.device().0.max(1) as f64;
    let crowd = share_of(used.foreign);
    // Writes for a program cannot be distinguished from writes for other programs; reads can.
    let is_crowded = crowd >= CROWDED || (used.foreign.is_none() && !used.writes);
    let others =
        if crowd >= 0.01 { format!(", {} of its work for other programs", percent(crowd)) } else { String::new() };
    let figures = format!(
        "{} for {}, at least {} busy, {} per request{others}",
        waiting(share),
        work.name,
        percent(busy),
        units::Bytes(size)
    );
    // 1
    if work.one_at_a_time {
        return (Bottleneck::Device, format!("{} busy, {} for it{others}", percent(busy), waiting(share)));
    }
    // 2
    if is_crowded {
        return (if busy >= SATURATED { Bottleneck::Device } else { Bottleneck::NotMeasured }, figures);
    }
    let is_lone_reader = !used.writes && used.programs == 1 && used.depth == 1;
    let limit = match () {
        // 3
        () if is_lone_reader && size <= SMALL && at_once <= READ_AHEAD => Bottleneck::Latency,
        // 4
        () if size >= LARGE || (at_once >= OVERLAPPING && busy >= MAJORITY) => Bottleneck::Device,
        // 5
        () if used.writes => Bottleneck::Device,
        () => Bottleneck::NotMeasured,
    };
    (limit, figures)
}

fn waiting(share: f64) -> String {
    format!("{} waiting", percent(share))
}

/// Returns the two largest owners in words, to show why neither is the limit.
fn largest(used: &Consumption, owners: &Owners) -> String {
    let mut named: Vec<(String, u64)> = owners.named().into_iter().collect();
    named.sort_by_key(|(_, nanos)| std::cmp::Reverse(*nanos));
    let texts = named.iter().take(2).map(|(name, nanos)| {
        let name = match name.as_str() {
            "rest" => "unattributed",
            "ready" => "runnable",
            "kernel_workers" => "kernel threads",
            "quota" => "cgroup limit",
            name => name,
        };
        format!("{} {}", percent(*nanos as f64 / used.elapsed.0 as f64), name.replace('_', " "))
    });
    texts.collect::<Vec<_>>().join(", ")
}

fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}
