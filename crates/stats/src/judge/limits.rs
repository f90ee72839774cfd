//! Where the time went, and what kept the rate from being higher: pure functions of what was seen, the same
//! for measured and for simulated cells. What cannot be told is `n.m.`, and time that nothing explains is
//! printed as such.

use std::collections::BTreeMap;

use units::Nanos;

use crate::results::cell::LimitedBy;

/// What a phase used, over the clock that its cell claims and over all kept rounds. Nothing is what was not
/// seen; zero is what was seen not to be.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Consumption {
    /// How long it took, summed over programs where several ran at once.
    pub elapsed: Nanos,
    /// How many programs ran at once.
    pub programs: u32,
    /// How many operations each had under way at most.
    pub depth: u32,
    /// Whether it was several processes or threads, so that their times are no parts of the elapsed time.
    pub several: bool,
    /// Whether it changed anything.
    pub writes: bool,
    /// CPU time in the programs themselves.
    pub user: Nanos,
    /// CPU time in the kernel on their behalf.
    pub system: Nanos,
    /// Time in which they could have run and did not, used-up quota included.
    pub ready: Option<Nanos>,
    /// Time in which their quota of the CPU was used up.
    pub quota: Option<Nanos>,
    /// The share that was used of the tightest limit that was set on the device.
    pub allowance: Option<f64>,
    /// Time in which they were held back because too much waited to be written; see [`held_back`].
    pub held_back: Option<Nanos>,
    /// What the lowest devices did that did anything.
    pub device: Option<DeviceWork>,
    /// Time of the device's flushes.
    pub flush: Option<Nanos>,
    /// The share of the device's work that was done for others.
    pub foreign: Option<f64>,
    /// CPU time of kernel threads, anybody's.
    pub workers: Option<Nanos>,
    /// Time in which some task, anybody's, waited for memory.
    pub memory_stall: Option<Nanos>,
    /// The share of what the device read that had been in memory shortly before.
    pub refaulted: Option<f64>,
}

/// What a device did meanwhile, for everybody.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeviceWork {
    /// Its name.
    pub name: String,
    /// Time in which it had at least one request. A real kernel looks at the tick of its clock only, and
    /// sees about half of what short requests take: there it is a lower bound.
    pub busy: Nanos,
    /// The times of its reads and writes, summed over requests: an upper bound.
    pub requests_time: Nanos,
    /// How many those were.
    pub requests: u64,
    /// Bytes that they moved.
    pub bytes: u64,
    /// Whether it is known to serve one request at a time; then `busy` is exact.
    pub one_at_a_time: bool,
}

/// The time of the programs by owner; all together are the elapsed time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Owners {
    /// In the programs.
    pub user: Nanos,
    /// In the kernel on their behalf.
    pub system: Nanos,
    /// Their quota of the CPU was used up, or one of the device.
    pub quota: Nanos,
    /// They could have run, and no processor was free.
    pub ready: Nanos,
    /// Waiting for the device to make data durable.
    pub flush: Nanos,
    /// Held back because too much waited to be written.
    pub dirty_throttling: Nanos,
    /// Waiting for the device to do their work.
    pub device_service: Nanos,
    /// Waiting while the device did somebody else's.
    pub device_queue: Nanos,
    /// Waiting, at most so long, for kernel threads that computed.
    pub kernel_workers: Nanos,
    /// Nothing seen explains it.
    pub rest: Nanos,
}

/// The names of the owners in a cell, in the order in which they take their time; see [`owners`].
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
    /// The owners by the names they have in a cell.
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

    /// Waiting for the device, whoever it worked for.
    fn device(&self) -> Nanos {
        self.device_service + self.device_queue
    }
}

/// Where the time went. Each owner takes what it was seen to take, but no more than those before it left:
///   1. the CPU time of the programs, which is exact: first their own, then the kernel's;
///   2. used-up quota, then what else kept them from running though they could: exact, too;
///      what is left they were blocked, and for what is known less well:
///   3. flushes, which are counted apart from other requests, where anything was changed;
///   4. being held back by the dirty limit: the device works meanwhile, but nobody waits for it;
///   5. the device: no longer than its requests took, less the flushes that some of them contain. Its work
///      for others, and for the other ones of several programs, is the queue;
///   6. kernel threads, of which only all together are seen;
///   7. a quota of the device that was used up: requests wait for it where nobody counts them;
///   8. the rest.
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
    // 2: waiting for a processor contains used-up quota.
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

/// Whether a limit that was set on the device was used up, or nearly.
fn is_used_up(used: &Consumption) -> bool {
    used.allowance.is_some_and(|allowance| allowance >= SATURATED)
}

/// Where the time went, by the names that owners have in a cell; all together are the elapsed time. Who was
/// not seen is not there: whatever such an owner had is part of the rest.
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

/// Who changes nothing waits for no flush: those that were seen are others'.
fn flushing(used: &Consumption) -> Nanos {
    used.flush.filter(|_| used.writes).unwrap_or_default()
}

/// A device works for no longer than it was busy, or than the programs took where that is not known.
fn longest_service(used: &Consumption, device: &DeviceWork) -> Nanos {
    if device.one_at_a_time { device.busy } else { window(used) }
}

/// By the wall clock.
fn window(used: &Consumption) -> Nanos {
    Nanos(used.elapsed.0 / programs(used))
}

fn programs(used: &Consumption) -> u64 {
    u64::from(used.programs.max(1))
}

fn part(whole: Nanos, share: f64) -> Nanos {
    Nanos((whole.0 as f64 * share) as u64).min(whole)
}

/// A share that makes sense, whatever was computed.
fn share_of(share: Option<f64>) -> f64 {
    share.filter(|share| share.is_finite()).unwrap_or(0.0).clamp(0.0, 1.0)
}

/// How long programs were held back because too much waited to be written: all the time that they were
/// blocked in their calls, where the machine was over its limit when the last call returned; none where it
/// was below half of it. In between, or where they also waited to read, it cannot be told.
///
/// `unwritten` pages waited to be written, and up to `free_run` pages nobody is held back. `fetched` bytes
/// had to be read meanwhile, for `written` bytes.
pub fn held_back(
    blocked_in_calls: Option<Nanos>,
    (unwritten, free_run): (u64, u64),
    (fetched, written): (u64, u64),
) -> Option<Nanos> {
    if unwritten < free_run / 2 {
        return Some(Nanos::ZERO);
    }
    let only_writes = fetched as f64 <= SOME_METADATA * written as f64;
    blocked_in_calls.filter(|_| unwritten >= free_run && only_writes)
}

/// What a program that only writes may have to read on the way: the places where names and blocks are kept.
const SOME_METADATA: f64 = 0.02;

/// The share that was used of the tightest of some limits: each is what was done and what may be done in a
/// second. Nothing where there is no limit.
pub fn allowance(done_and_limits: &[(u64, Option<u64>)], elapsed: Nanos) -> Option<f64> {
    let share = |(done, limit): &(u64, Option<u64>)| Some(*done as f64 / elapsed.as_secs_f64() / (*limit)? as f64);
    done_and_limits.iter().filter_map(share).filter(|share| share.is_finite()).reduce(f64::max)
}

/// What can keep a rate from being higher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Computing, or waiting for a processor.
    Cpu,
    /// The device cannot do more.
    Device,
    /// One request after the other: the device could do more at once.
    Latency,
    /// Making data durable.
    Flush,
    /// Too much waits to be written.
    DirtyThrottle,
    /// A limit that somebody set.
    Quota,
    /// What was read before did not stay in memory.
    Memory,
    /// It cannot be told.
    NotMeasured,
}

impl Limit {
    /// All of them.
    pub const ALL: [Limit; 8] = [
        Limit::Cpu,
        Limit::Device,
        Limit::Latency,
        Limit::Flush,
        Limit::DirtyThrottle,
        Limit::Quota,
        Limit::Memory,
        Limit::NotMeasured,
    ];

    /// As it is printed.
    pub const fn name(self) -> &'static str {
        match self {
            Limit::Cpu => "cpu",
            Limit::Device => "device",
            Limit::Latency => "latency",
            Limit::Flush => "flush",
            Limit::DirtyThrottle => "dirty throttle",
            Limit::Quota => "quota",
            Limit::Memory => "memory",
            Limit::NotMeasured => "n.m.",
        }
    }
}

/// Below so much elapsed time no share says anything: the clocks on both sides are exact, but start and stop
/// are not free (`summary::CPU_NEEDS_S`).
const LEAST: Nanos = Nanos::from_millis(100);

/// Without an owner of half of the time, a program would take less than half as long; no other owner can
/// say the same.
const MAJORITY: f64 = 0.5;

/// What is at work nine tenths of the time can at best do a ninth more: the utilisation law (Denning &
/// Buzen, The operational analysis of queueing network models, 1978).
const SATURATED: f64 = 0.9;

/// A quota that took less than a tenth of the time is not what limits.
const FELT: f64 = 0.1;

/// Of two owners that have the most together, one is named where it has twice as much as the other: two of
/// three parts.
const CLEARLY: f64 = 2.0;

/// Above a fifth of the device's work for others, one's own requests cannot be told from theirs.
const CROWDED: f64 = 0.2;

/// Requests that take half as much again as the programs wait, or more: several were under way.
const OVERLAPPING: f64 = 1.5;

/// A program that reads one thing after the other has one request under way and the kernel, which reads the
/// next window ahead, another one; to a quarter.
const READ_AHEAD: f64 = 2.5;

/// Requests of the kernel's default read-ahead or more spend their time moving bytes, those of eight pages
/// or less spend it on the way (VM_READAHEAD_PAGES; half a millisecond at 250 MB/s against a tenth).
const LARGE: u64 = 128 * 1024;
const SMALL: u64 = 32 * 1024;

/// What limited a phase, and the figures that tell. Rather `n.m.` than wrong:
///   1. too short a time tells nothing, nor do several processes of one program: one may compute while another waits;
///   2. a quota that was felt or nearly used up;
///   3. memory, where half of what was read had been there before and waiting for it was felt; where that is
///      only suspected, or somebody else may be short of memory, nothing else is named;
///   4. flushes, or being held back, for half of the time;
///   5. the CPU: half of the time, or with waiting for it nine tenths - unless a device is saturated and
///      the CPU is not;
///   6. the device, where waiting for it and its flushes took half of the time, or where it is saturated:
///      its flushes where they are most of that, else see `device_or_latency`;
///   7. else it cannot be told.
pub fn limited_by(used: &Consumption) -> LimitedBy {
    let owners = owners(used);
    let (limit, evidence) = decide(used, &owners);
    LimitedBy { what: limit.name().to_owned(), evidence }
}

fn decide(used: &Consumption, owners: &Owners) -> (Limit, String) {
    let share = |nanos: Nanos| nanos.0 as f64 / used.elapsed.0 as f64;
    let computing = share(owners.user + owners.system);
    let device = share(owners.device());
    // 1
    if used.elapsed < LEAST {
        return (Limit::NotMeasured, format!("only {} in total", used.elapsed));
    }
    if used.several {
        return (Limit::NotMeasured, "several processes at once".to_owned());
    }
    // 2
    let quota = share(used.quota.unwrap_or_default().min(owners.quota));
    if quota >= FELT && computing + quota + share(owners.ready) >= MAJORITY {
        return (
            Limit::Quota,
            format!("{} throttled by the CPU quota, {} computing", percent(quota), percent(computing)),
        );
    }
    if let Some(allowance) = used.allowance.filter(|_| is_used_up(used)) {
        return (Limit::Quota, format!("{} of the device's cgroup limit used", percent(allowance)));
    }
    // 3
    let refaulted = share_of(used.refaulted);
    let starved = share(used.memory_stall.unwrap_or_default().min(used.elapsed));
    let is_felt = device >= MAJORITY / 2.0 && computing < MAJORITY && share_of(used.foreign) < CROWDED;
    if refaulted >= MAJORITY && is_felt {
        let refaulted = percent(refaulted);
        return (
            Limit::Memory,
            format!("{refaulted} of the bytes read had been in the page cache, {}", waiting(device)),
        );
    }
    if refaulted.max(starved) >= MAJORITY / 2.0 {
        let (refaulted, starved) = (percent(refaulted), percent(starved));
        let why = format!("{refaulted} of the bytes read had been in the page cache, memory pressure {starved}");
        return (Limit::NotMeasured, why);
    }
    // 4
    let flush = share(owners.flush);
    if flush >= MAJORITY {
        return (Limit::Flush, format!("{} waiting for flushes", percent(flush)));
    }
    let throttled = share(owners.dirty_throttling);
    if throttled >= MAJORITY {
        return (Limit::DirtyThrottle, format!("{} held back from writing", percent(throttled)));
    }
    // 5
    let busy = used.device.as_ref().map_or(0.0, |device| device.busy.0 as f64 / window(used).0 as f64).min(1.0);
    let ready = share(owners.ready);
    // A device that others keep busy limits nobody who hardly waits for it.
    let is_saturated = busy >= SATURATED && device + flush >= MAJORITY / 2.0;
    if computing >= SATURATED || (!is_saturated && (computing >= MAJORITY || computing + ready >= SATURATED)) {
        let waited = if ready >= 0.01 { format!(", {} runnable", percent(ready)) } else { String::new() };
        return (Limit::Cpu, format!("{} computing{waited}", percent(computing)));
    }
    // 6
    if let Some(work) = &used.device
        && (device + flush >= MAJORITY || is_saturated)
    {
        if flush >= CLEARLY * device && device + flush >= MAJORITY {
            return (Limit::Flush, format!("{} waiting for flushes", percent(flush)));
        }
        if device >= CLEARLY * flush {
            return device_or_latency(used, owners, work, busy);
        }
    }
    // 7
    (Limit::NotMeasured, largest(used, owners))
}

/// Tells a device that cannot do more from one that was only asked for one thing at a time.
///   1. A device known to serve one at a time cannot do more.
///   2. Where others use it too, their requests hide ours: then it must be busy all the time.
///   3. Small reads of one program, one after the other: latency, also with the next one read ahead.
///   4. Large requests move bytes, several at once fill it.
///   5. Writes go through other hands, and come in any number: the device.
fn device_or_latency(used: &Consumption, owners: &Owners, work: &DeviceWork, busy: f64) -> (Limit, String) {
    let share = (owners.device() + owners.flush).0 as f64 / used.elapsed.0 as f64;
    let size = work.bytes / work.requests.max(1);
    let at_once = work.requests_time.0 as f64 / owners.device().0.max(1) as f64;
    let crowd = share_of(used.foreign);
    // What is written for a program cannot be told from what is written for others; what is read can.
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
        return (Limit::Device, format!("{} busy, {} for it{others}", percent(busy), waiting(share)));
    }
    // 2
    if is_crowded {
        return (if busy >= SATURATED { Limit::Device } else { Limit::NotMeasured }, figures);
    }
    let is_lone_reader = !used.writes && used.programs == 1 && used.depth == 1;
    let limit = match () {
        // 3
        () if is_lone_reader && size <= SMALL && at_once <= READ_AHEAD => Limit::Latency,
        // 4
        () if size >= LARGE || (at_once >= OVERLAPPING && busy >= MAJORITY) => Limit::Device,
        // 5
        () if used.writes => Limit::Device,
        () => Limit::NotMeasured,
    };
    (limit, figures)
}

fn waiting(share: f64) -> String {
    format!("{} waiting", percent(share))
}

/// The two largest owners: why no one of them is it.
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
