//! Divides the elapsed time of a phase among owners.

use std::collections::BTreeMap;

use units::Nanos;

use super::consumption::{Consumption, DeviceWork};
use super::shares::{MAJORITY, of, share_of};
use crate::judge::marks::steadiness::REACHED;

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
    /// Waiting while a program or kernel threads computed that serve the I/O.
    pub server: Nanos,
    /// Waiting for the device to do the programs' own work.
    pub device_service: Nanos,
    /// Waiting while the device worked for other programs.
    pub device_queue: Nanos,
    /// Waiting while the journal committed.
    pub journal: Nanos,
    /// Waiting while kernel threads computed: an upper bound.
    pub kernel_workers: Nanos,
    /// Waiting for the scheduled start of the next operation.
    pub pacing: Nanos,
    /// Unexplained time.
    pub rest: Nanos,
}

/// The names of the owners in a cell, in the order in which they are printed.
pub const OWNERS: [&str; 13] = [
    "user",
    "system",
    "quota",
    "ready",
    "flush",
    "dirty_throttling",
    "server",
    "device_service",
    "device_queue",
    "journal",
    "kernel_workers",
    "pacing",
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
            self.server,
            self.device_service,
            self.device_queue,
            self.journal,
            self.kernel_workers,
            self.pacing,
            self.rest,
        ];
        OWNERS.iter().zip(times).map(|(name, nanos)| ((*name).to_owned(), nanos.0)).collect()
    }

    /// Time waiting for the device, for own work and for that of other programs.
    pub(super) fn device(&self) -> Nanos {
        self.device_service + self.device_queue
    }
}

/// Divides the elapsed time among the owners. Each owner gets its observed time, but no more than the owners before it
/// left:
///   1. CPU time of the programs, which is exact: first in user mode, then in the kernel. If a kernel thread polls, the
///      latter is unknown.
///   2. Used-up quota, then other time in which the programs were runnable but did not run. It is exact, too. The
///      programs were blocked for the remaining time, and the owners of that are known less well, except for pauses.
///   3. The server of the I/O, if it is known to have worked for most of the time. The requests and flushes of the
///      devices above it wait for it.
///   4. Flushes, if the phase changed anything. Flushes are counted apart from other requests.
///   5. Throttling at the dirty limit. The device works meanwhile, but the programs do not wait for it.
///   6. The device: at most the duration of its requests, less the flushes that some requests contain. Its work for
///      other programs, including other programs of the same phase, is `device_queue`.
///   7. The journal: a commit contains requests and flushes of the device, which have their own owners.
///   8. Kernel threads. Only the sum over all threads is known.
///   9. A used-up quota of the device. Requests that wait for it are not counted anywhere else.
///  10. The schedule, if it was kept: the programs waited for the next start.
///  11. The rest.
pub fn owners(used: &Consumption) -> Owners {
    let mut left = used.elapsed;
    let mut take = |wanted: Nanos| {
        let taken = wanted.min(left);
        left = left - taken;
        taken
    };
    let mut owners = Owners {
        // 1
        user: take(used.user),
        system: take(if used.polled { Nanos::ZERO } else { used.system }),
        // 2: waiting for a processor includes used-up quota.
        quota: take(used.quota.unwrap_or_default()),
        ..Owners::default()
    };
    owners.ready = take(used.ready.unwrap_or_default().saturating_sub(owners.quota));
    owners.pacing = take(used.paused);
    // 3
    owners.server = if serves(used) { take(part(used.elapsed, used.serving())) } else { Nanos::ZERO };
    // 4
    owners.flush = take(used.flushing());
    // 5
    owners.dirty_throttling = take(used.held_back.unwrap_or_default());
    // 6
    if let Some(device) = &used.device {
        let waited = take(device.requests_time.saturating_sub(used.flushing()));
        owners.device_service = part(waited.min(longest_service(used, device)), 1.0 - share_of(used.foreign));
        owners.device_queue = waited - owners.device_service;
    }
    // 7
    owners.journal = take(part(used.elapsed, used.committing()).saturating_sub(owners.flush + owners.device()));
    // 8
    owners.kernel_workers = take(used.workers.unwrap_or_default().saturating_sub(owners.server));
    owners.rest = left;
    // 9, 10 and 11
    let unexplained = if holds_requests(used, left) {
        &mut owners.quota
    } else if keeps_pace(used) {
        &mut owners.pacing
    } else {
        return owners;
    };
    *unexplained += std::mem::take(&mut owners.rest);
    owners
}

/// Share of the time from which a server is known to be the reason for waiting: the programs can have waited for
/// something else for at most half as long. Of the two largest owners, one is named if it has twice the time of the
/// other.
const SERVES: f64 = 2.0 / 3.0;

/// True if the server worked for most of the time, and devices below it worked for at most half as long. A device above
/// it waits for it.
pub(super) fn serves(used: &Consumption) -> bool {
    used.serving() >= SERVES && exceeds_devices(used, used.serving())
}

/// True if the server had work for a third of this share of the time or more, in which the programs were blocked:
/// nothing else is then known to be the reason. On a busy machine, both sides also wait for processors.
pub(super) fn may_serve(used: &Consumption, blocked: f64) -> bool {
    let serving = used.may_be_serving();
    serving >= (1.0 - SERVES) * blocked && exceeds_devices(used, serving)
}

/// True if the devices below the server worked for at most half as long as the server.
fn exceeds_devices(used: &Consumption, serving: f64) -> bool {
    let below = used.device.as_ref().filter(|_| used.server.as_ref().is_some_and(|server| !server.is_lowest));
    let worked = |device: &DeviceWork| device.requests_time.max(used.flushing()) + device.discarding_apart;
    let below = below.map_or(0.0, |device| of(worked(device), used.elapsed));
    2.0 * below <= serving
}

/// Shares of a limit between which it can have held requests back. Below half of it, a program waited for something
/// else for most of the time. Above the upper one, the limit was not in force; the tolerance is that of the counters,
/// which count a request again if it is split.
const HOLDS: std::ops::RangeInclusive<f64> = 0.5..=1.1;

/// True if a limit that is set on the device was used up, or nearly.
pub(super) fn is_used_up(used: &Consumption) -> bool {
    used.allowance.is_some_and(|allowance| allowance >= REACHED && HOLDS.contains(&allowance))
}

/// True if a limit that is set on the device held requests back. If only a part of it was used, most of the time must
/// be without another explanation.
fn holds_requests(used: &Consumption, unexplained: Nanos) -> bool {
    let is_in_force = used.allowance.is_some_and(|allowance| HOLDS.contains(&allowance));
    is_used_up(used) || (is_in_force && of(unexplained, used.elapsed) >= MAJORITY)
}

/// Share of the elapsed time that the schedule of a phase must fill, so that its rate is that of the schedule. The rest
/// are late starts and the last operation.
const KEPT: f64 = 0.95;

/// True if the operations were scheduled, and were started nearly as early as scheduled.
pub(super) fn keeps_pace(used: &Consumption) -> bool {
    used.scheduled.is_some_and(|scheduled| used.elapsed > Nanos::ZERO && of(scheduled, used.elapsed) >= KEPT)
}

/// Returns the time of each owner by its name in a cell. The sum is the elapsed time. An owner that was not observed is
/// missing, and its time is part of the rest.
pub fn where_it_went(used: &Consumption) -> BTreeMap<String, u64> {
    let owners = owners(used);
    let seen = |owner: &str| match owner {
        "system" => !used.polled,
        "quota" => used.quota.is_some() || owners.quota > Nanos::ZERO,
        "ready" => used.ready.is_some(),
        "flush" => used.flush.is_some() || !used.writes,
        "dirty_throttling" => used.held_back.is_some(),
        "server" => used.server.is_some(),
        "device_service" | "device_queue" => used.device.is_some(),
        "journal" => used.journal.is_some() || !used.writes,
        "kernel_workers" => used.workers.is_some(),
        _ => true,
    };
    let mut named = owners.named();
    named.retain(|owner, _| seen(owner));
    named
}

/// Returns an upper bound of the service time: the busy time if it is exact, otherwise the elapsed time.
fn longest_service(used: &Consumption, device: &DeviceWork) -> Nanos {
    if device.one_at_a_time { device.busy } else { used.window() }
}

fn part(whole: Nanos, share: f64) -> Nanos {
    Nanos((whole.0 as f64 * share) as u64).min(whole)
}
