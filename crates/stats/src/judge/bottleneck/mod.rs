//! Divides the elapsed time of a phase among owners, and names what limited its rate. These are pure functions of the
//! observations, the same for measured and simulated cells. Unknown values are `n.m.`; unexplained time is reported as
//! `rest`. docs/design/bottlenecks.md has the reasons.

mod consumption;
mod owners;
mod several;
mod shares;

use units::Nanos;

pub use consumption::{Consumption, DeviceWork, JournalWork, ProcessWork, ServerWork, Writeback, allowance, held_back};
pub use owners::{OWNERS, Owners, owners, where_it_went};
use owners::{is_used_up, keeps_pace, may_serve, serves};
pub(super) use shares::percent;
use shares::{LEAST_SHARE, MAJORITY, SATURATED, of, share_of};

use crate::results::bottleneck::{Bottleneck, LimitedBy};

/// Below this elapsed time no share is known: the clocks of both quantities are exact, but start and stop cost time
/// (`summary::CPU_NEEDS_S`).
const LEAST: Nanos = Nanos::from_millis(100);

/// Of the two largest owners, one is named if it has twice the time of the other: two of three parts.
const CLEARLY: f64 = 2.0;

/// Share of the commits of a journal from which the programs waited for them: two of three parts.
const MOST: f64 = 2.0 / 3.0;

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

/// A journal with this number of commits per second is too small if they are at least half full. The kernel commits
/// every 5 s if no program asks for it (mount option `commit`), which is a 25th of that.
const FULL_COMMITS_PER_SECOND: f64 = 5.0;

/// Names the limit of a phase and the figures that show it. If in doubt, the answer is `n.m.`:
///   1. The limit is unknown if the time is too short. For a program with several processes, see `several`.
///   2. The schedule; see `by_schedule`.
///   3. A quota that took a tenth of the time, or that held requests back.
///   4. If a kernel thread polls, the programs may have waited for it: no limit is named.
///   5. Memory, if half of the bytes read had been in the page cache before and the programs waited for them. If that
///      is only suspected, or other programs may be short of memory, no limit is named.
///   6. The server, the flushes, the throttling or the journal that the programs waited for; see `by_waiting`.
///   7. The CPU, if computing took half of the time, or nine tenths together with waiting for a processor. Exception: a
///      device is saturated and the CPU is not.
///   8. No limit is named if most of the device's work was discards for which no program waited.
///   9. The flushes, if waiting for the device and its flushes took half of the time, and flushes are most of that. The
///      device, if waiting for it alone took half of the time, or if it is saturated: a journal that writes small
///      blocks between its flushes is also a wait for the device. See `device_or_latency`. Both, if they took half of
///      the time only together, and a tenth each: a device that was busy that long did both. If other programs used the
///      device, too, its flushes may have waited for their requests.
///  10. Otherwise the limit is unknown. Another observation may name it, such as a ceiling that the rate reached. This
///      does not hold if a program writes to a device that was busy for less than half of the time, or if other
///      programs used the device.
pub fn limited_by(used: &Consumption) -> (LimitedBy, Rule) {
    let owners = owners(used);
    if let Some((what, evidence)) = decide(used, &owners) {
        return (LimitedBy { what, evidence }, Rule::Decided);
    }
    // 10
    let is_idle = used.writes && used.working() < MAJORITY;
    let rule = if is_idle || share_of(used.foreign) >= CROWDED { Rule::Decided } else { Rule::Open };
    let poller = if used.polled { ", a kernel thread polls" } else { "" };
    (LimitedBy { what: Bottleneck::NotMeasured, evidence: largest(used, &owners) + poller }, rule)
}

/// The kind of the rule that gave a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// It names the limit, or knows why nothing can be named.
    Decided,
    /// It knows nothing about the limit, so another observation may name it.
    Open,
}

fn decide(used: &Consumption, owners: &Owners) -> Option<(Bottleneck, String)> {
    // 1
    if used.elapsed < LEAST {
        return Some((Bottleneck::NotMeasured, format!("only {} in total", used.elapsed)));
    }
    if let Some(work) = &used.several {
        return Some(several::limit(used, work));
    }
    // 2 and 3
    if let Some(found) = by_schedule(used, owners).or_else(|| by_quota(used, owners)) {
        return Some(found);
    }
    // 4
    if used.polled {
        return None;
    }
    // 5 and 6
    if let Some(found) = by_memory(used, owners).or_else(|| by_waiting(used, owners)) {
        return Some(found);
    }
    // 7
    let share = |nanos: Nanos| of(nanos, used.elapsed);
    let (computing, ready) = (share(owners.user + owners.system), share(owners.ready));
    let (device, flush, busy) = (share(owners.device()), share(owners.flush), used.working());
    // A device that other programs keep busy is not the limit of a program that hardly waits for it.
    let is_saturated = busy >= SATURATED && device + flush >= MAJORITY / 2.0;
    if computing >= SATURATED || (!is_saturated && (computing >= MAJORITY || computing + ready >= SATURATED)) {
        let waited = if ready >= 0.01 { format!(", {} runnable", percent(ready)) } else { String::new() };
        return Some((Bottleneck::Cpu, format!("{} computing{waited}", percent(computing))));
    }
    // 8
    if let Some(why) = used.mostly_discards_apart() {
        return Some((Bottleneck::NotMeasured, why));
    }
    // 9
    if let Some(work) = &used.device
        && (device + flush >= MAJORITY || is_saturated)
    {
        if flush >= CLEARLY * device && device + flush >= MAJORITY {
            return Some((Bottleneck::Flush, format!("{} waiting for flushes", percent(flush))));
        }
        if device >= CLEARLY * flush && (device >= MAJORITY || is_saturated) {
            return Some(device_or_latency(used, owners, work, busy));
        }
        let is_crowded = share_of(used.foreign) >= CROWDED;
        if device.min(flush) >= LEAST_SHARE && device + flush >= MAJORITY && busy >= MAJORITY && !is_crowded {
            let (parts, busy) = (parts(used, owners, work), percent(busy));
            let why = format!("{} for {}{parts}, at least {busy} busy", waiting(device + flush), work.name);
            return Some((Bottleneck::DeviceAndFlush, why));
        }
    }
    None
}

/// Names the schedule of the operations:
///   1. Pauses that take half of the time limit the rate. So does a schedule that was kept, whatever the programs
///      waited for. If a resource was saturated, a faster schedule would not raise the rate, and the reason is unknown.
///   2. If the schedule was not kept, but the programs were idle for a tenth of the time, the reason is unknown: random
///      starts may have been late by chance.
fn by_schedule(used: &Consumption, owners: &Owners) -> Option<(Bottleneck, String)> {
    let paused = of(used.paused.min(owners.pacing), used.elapsed);
    if paused >= MAJORITY {
        return Some((Bottleneck::Pacing, format!("{} in pauses", percent(paused))));
    }
    let kept = of(used.scheduled?, used.elapsed);
    let said = format!("the schedule filled {} of the time", percent(kept.min(1.0)));
    let computing = of(owners.user + owners.system, used.elapsed);
    let full = [("computing", computing), ("busy device", used.busy()), ("busy server", used.serving())];
    let full = full.into_iter().find(|(_, share)| *share >= SATURATED);
    match full {
        // 1
        None if keeps_pace(used) => Some((Bottleneck::Pacing, said)),
        Some((words, share)) if keeps_pace(used) => {
            Some((Bottleneck::NotMeasured, format!("{said}, {words} {}", percent(share))))
        }
        // 2
        None if of(owners.rest, used.elapsed) >= LEAST_SHARE => {
            Some((Bottleneck::NotMeasured, format!("{said}, {}", largest(used, owners))))
        }
        _ => None,
    }
}

/// Names a quota.
fn by_quota(used: &Consumption, owners: &Owners) -> Option<(Bottleneck, String)> {
    let share = |nanos: Nanos| of(nanos, used.elapsed);
    let computing = share(owners.user + owners.system);
    let quota = used.quota.unwrap_or_default().min(owners.quota);
    let held_back = owners.quota - quota;
    let quota = share(quota);
    if quota >= LEAST_SHARE && computing + quota + share(owners.ready) >= MAJORITY {
        let why = format!("{} throttled by the CPU quota, {} computing", percent(quota), percent(computing));
        return Some((Bottleneck::Quota, why));
    }
    let is_reached = is_used_up(used) || share(held_back) >= MAJORITY;
    let allowance = used.allowance.filter(|_| is_reached)?;
    Some((Bottleneck::Quota, format!("{} of the device's cgroup limit used", percent(allowance))))
}

/// Names a lack of memory. If it is only suspected, no limit is named.
fn by_memory(used: &Consumption, owners: &Owners) -> Option<(Bottleneck, String)> {
    let share = |nanos: Nanos| of(nanos, used.elapsed);
    let device = share(owners.device());
    let refaulted = share_of(used.refaulted);
    let starved = share(used.memory_stall.unwrap_or_default().min(used.elapsed));
    let is_felt =
        device >= MAJORITY / 2.0 && share(owners.user + owners.system) < MAJORITY && share_of(used.foreign) < CROWDED;
    if refaulted >= MAJORITY && is_felt {
        let refaulted = percent(refaulted);
        let why = format!("{refaulted} of the bytes read had been in the page cache, {}", waiting(device));
        return Some((Bottleneck::Memory, why));
    }
    if refaulted.max(starved) < MAJORITY / 2.0 {
        return None;
    }
    let (refaulted, starved) = (percent(refaulted), percent(starved));
    let why = format!("{refaulted} of the bytes read had been in the page cache, memory pressure {starved}");
    Some((Bottleneck::NotMeasured, why))
}

/// Names the owner of the time in which the programs were blocked for half of the time or more:
///   1. The server of their I/O, if it worked for most of the time. If it worked, or waited for a processor, for a
///      third of the blocked time, the devices above it may have waited for it, and nothing else is named.
///   2. Flushes or throttling at the dirty limit. Flushes may have waited for discards that were most of the device's
///      work, but not for this program.
///   3. A journal that is too small: each commit was half full, and one followed the other. If the device is saturated,
///      a larger journal may not help.
///   4. Commits of the journal, which take most of the time, if flushes and the device do not explain half of it.
fn by_waiting(used: &Consumption, owners: &Owners) -> Option<(Bottleneck, String)> {
    let share = |nanos: Nanos| of(nanos, used.elapsed);
    let blocked = 1.0 - share(owners.user + owners.system + owners.ready + owners.quota + owners.pacing);
    // 1
    if let Some(server) = used.server.as_ref().filter(|_| blocked >= MAJORITY && serves(used)) {
        return Some((Bottleneck::Server, format!("{} computing in {}", percent(used.serving()), server.name)));
    }
    if let Some(server) = used.server.as_ref().filter(|_| blocked >= MAJORITY && may_serve(used, blocked)) {
        let figure = percent(used.may_be_serving());
        return Some((Bottleneck::NotMeasured, format!("up to {figure} computing or runnable in {}", server.name)));
    }
    // 2
    let (flush, throttled) = (share(owners.flush), share(owners.dirty_throttling));
    if flush >= MAJORITY && used.mostly_discards_apart().is_none() {
        return Some((Bottleneck::Flush, format!("{} waiting for flushes", percent(flush))));
    }
    if throttled >= MAJORITY {
        return Some((Bottleneck::DirtyThrottle, format!("{} held back from writing", percent(throttled))));
    }
    // 3
    let journal = used.journal.filter(|_| used.committing() > 0.0 && blocked >= MAJORITY)?;
    let per_second = journal.commits as f64 / used.window().as_secs_f64();
    let committing = percent(used.committing());
    if share_of(Some(journal.filled)) >= MAJORITY && per_second >= FULL_COMMITS_PER_SECOND {
        let is_free = used.busy() < SATURATED;
        let limit = if is_free { Bottleneck::Journal } else { Bottleneck::NotMeasured };
        let filled = percent(share_of(Some(journal.filled)));
        return Some((
            limit,
            format!("{} commits, each at least {filled} full, {committing} committing", journal.commits),
        ));
    }
    // 4
    let is_device = share(owners.device()) + flush >= MAJORITY;
    let why = || format!("{committing} committing, {} commits", journal.commits);
    (used.committing() >= MOST && !is_device).then(|| (Bottleneck::Journal, why()))
}

/// Distinguishes a device that cannot do more from a device that had only one request at a time.
///   1. A device known to serve one request at a time cannot do more. Kernel threads may write in the background: only
///      a device that was busy for half of the time can have limited a program that writes.
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
    let is_sized = 2 * work.discarding.0 <= work.requests_time.0;
    let size_words = if is_sized { format!(", {} per request", units::Bytes(size)) } else { String::new() };
    let figures = format!(
        "{} for {}{}, at least {} busy{size_words}{others}",
        waiting(share),
        work.name,
        parts(used, owners, work),
        percent(busy)
    );
    // 1
    if work.one_at_a_time {
        return (Bottleneck::Device, format!("{} busy, {} for it{others}", percent(busy), waiting(share)));
    }
    if used.writes && busy < MAJORITY {
        return (Bottleneck::NotMeasured, figures);
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

/// Returns the parts of the waiting for a device that are neither reads nor writes. Requests overlap, so discards have
/// the same share of the waiting as of the requests' time.
fn parts(used: &Consumption, owners: &Owners, work: &DeviceWork) -> String {
    let discarding = of(owners.device(), used.elapsed) * of(work.discarding, work.requests_time).min(1.0);
    let named = [("flushes", of(owners.flush, used.elapsed)), ("discards", discarding)];
    let texts = named.iter().filter(|(_, share)| *share >= LEAST_SHARE);
    let texts: Vec<String> = texts.map(|(name, share)| format!("{} {name}", percent(*share))).collect();
    if texts.is_empty() { String::new() } else { format!(" ({})", texts.join(", ")) }
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
            "server" => "server CPU",
            "pacing" => "schedule",
            name => name,
        };
        format!("{} {}", percent(*nanos as f64 / used.elapsed.0 as f64), name.replace('_', " "))
    });
    texts.collect::<Vec<_>>().join(", ")
}
