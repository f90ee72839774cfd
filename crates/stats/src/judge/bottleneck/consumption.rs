//! The resources that a phase used.

use units::Nanos;

use super::shares::{LEAST_SHARE, MAJORITY, of, percent};

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
    /// If a program had several processes or threads, their work. Then their times are not parts of the elapsed time.
    pub several: Option<ProcessWork>,
    /// True if the phase changed any data or metadata.
    pub writes: bool,
    /// CPU time in user mode.
    pub user: Nanos,
    /// CPU time in the kernel on behalf of the programs, with that of a kernel thread that polls.
    pub system: Nanos,
    /// True if a kernel thread polls for operations and starts them. It computes without work, too, so `system` shows
    /// nothing.
    pub polled: bool,
    /// Time in which the programs were runnable but did not run, used-up quota included.
    pub ready: Option<Nanos>,
    /// Time in which the programs were throttled because their CPU quota was used up. For several processes, it is
    /// summed over processors.
    pub quota: Option<Nanos>,
    /// Used share of the tightest limit that is set on the device, by the control group that the limit is set on.
    pub allowance: Option<f64>,
    /// Time in which the kernel throttled the programs because too many dirty pages were unwritten; see
    /// [`super::held_back`].
    pub held_back: Option<Nanos>,
    /// The program or the kernel threads that served the I/O and used most CPU time.
    pub server: Option<ServerWork>,
    /// The work of the lowest devices that did any.
    pub device: Option<DeviceWork>,
    /// Time that the device spent on flushes.
    pub flush: Option<Nanos>,
    /// The work of the journal of the file system.
    pub journal: Option<JournalWork>,
    /// Share of the device's work for other programs.
    pub foreign: Option<f64>,
    /// CPU time of all kernel threads, for any program.
    pub workers: Option<Nanos>,
    /// Time in which any task of the machine waited for memory.
    pub memory_stall: Option<Nanos>,
    /// Share of the bytes read by the device that had been evicted from the page cache shortly before.
    pub refaulted: Option<f64>,
    /// The time that the schedule gives to the operations that were done. If several programs ran at once, the sum of
    /// their times. `None` without a schedule.
    pub scheduled: Option<Nanos>,
    /// Pauses between operations, as the workload asks for them.
    pub paused: Nanos,
}

/// The work of a device during the phase, for all programs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeviceWork {
    /// The name of the device.
    pub name: String,
    /// Time in which the device had at least one request in flight. A real kernel looks only at its clock tick and sees
    /// about half of the time of short requests: there it is a lower bound.
    pub busy: Nanos,
    /// Durations of the reads and writes, and of discards for which the programs waited, summed over requests: an upper
    /// bound of the service time.
    pub requests_time: Nanos,
    /// The part of that for discards, which tell the device that it may forget blocks.
    pub discarding: Nanos,
    /// Durations of all other discards: those in the background, and those of other programs.
    pub discarding_apart: Nanos,
    /// Number of reads and writes.
    pub requests: u64,
    /// Bytes read and written.
    pub bytes: u64,
    /// True if the device is known to serve one request at a time; then `busy` is exact.
    pub one_at_a_time: bool,
}

/// The work of a program or of kernel threads that serve the I/O of the programs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ServerWork {
    /// In words: `FUSE server sshfs`, `kernel threads of loop3`.
    pub name: String,
    /// CPU time of its busiest thread.
    pub busiest: Nanos,
    /// CPU time of all its threads.
    pub cpu: Nanos,
    /// Upper bound of the time in which its threads waited for a processor, or those of another server.
    pub waited: Nanos,
    /// CPU time of all kernel threads on the machine, if it consists of kernel threads.
    pub of_workers: Option<Nanos>,
    /// True if no busy device is below it. Then the requests of the device wait for this server.
    pub is_lowest: bool,
}

/// The work of a journal. It commits one transaction at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct JournalWork {
    /// Number of commits.
    pub commits: u64,
    /// Time of the commits.
    pub committing: Nanos,
    /// Mean share of the largest transaction that a commit contained: a lower bound.
    pub filled: f64,
}

/// The work of several processes of a command.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ProcessWork {
    /// CPU time of the busiest process. `None` if no process was seen.
    pub busiest: Option<Nanos>,
    /// Time in which any task of the machine waited for I/O.
    pub io_stall: Option<Nanos>,
}

impl Consumption {
    /// Elapsed wall clock time. `elapsed` is the sum over the programs.
    pub(super) fn window(&self) -> Nanos {
        Nanos(self.elapsed.0 / u64::from(self.programs.max(1)))
    }

    /// Returns the time of flushes. A read-only phase waits for no flush; any seen belong to other programs.
    pub(super) fn flushing(&self) -> Nanos {
        self.flush.filter(|_| self.writes).unwrap_or_default()
    }

    /// Returns the share of the wall clock time in which the device was busy. Zero if no device is visible.
    pub(super) fn busy(&self) -> f64 {
        self.device.as_ref().map_or(0.0, |device| of(device.busy, self.window())).min(1.0)
    }

    /// Returns the share of the wall clock time in which the device did more than discards for which no program waited.
    /// These may overlap with other requests, so this is a lower bound.
    pub(super) fn working(&self) -> f64 {
        (self.busy() - self.discarding_apart()).max(0.0)
    }

    /// Returns the share of the wall clock time for discards for which no program waited.
    fn discarding_apart(&self) -> f64 {
        self.device.as_ref().map_or(0.0, |device| of(device.discarding_apart, self.window())).min(1.0)
    }

    /// Returns the evidence if most of the device's work was discards for which no program waited. They move no bytes,
    /// so the share of work for other programs does not contain them.
    pub(super) fn mostly_discards_apart(&self) -> Option<String> {
        let device = self.device.as_ref()?;
        let (discarding, busy) = (self.discarding_apart(), self.busy());
        (discarding >= LEAST_SHARE && discarding >= MAJORITY * busy).then(|| {
            let busy = percent(busy);
            format!(
                "{} at least {busy} busy, mostly with discards in the background or for other programs",
                device.name
            )
        })
    }

    /// Returns the share of the wall clock time in which the journal committed.
    pub(super) fn committing(&self) -> f64 {
        let journal = self.journal.filter(|journal| self.writes && journal.commits >= COMMITS);
        journal.map_or(0.0, |journal| of(journal.committing, self.window())).min(1.0)
    }

    /// Returns the share of the wall clock time in which the server worked:
    ///   1. its busiest thread;
    ///   2. all its threads together, for each operation in flight. Several threads may take turns.
    ///
    /// Kernel threads count only if they have most of the CPU time of all kernel threads: their names show only what
    /// they did last.
    pub(super) fn serving(&self) -> f64 {
        let Some(server) = &self.server else { return 0.0 };
        if server.of_workers.is_some_and(|all| (server.cpu.0 as f64) < MOST_WORKERS * all.0 as f64) {
            return 0.0;
        }
        let in_flight = u64::from(self.programs.max(1)) * u64::from(self.depth.max(1));
        of(server.busiest, self.window()).max(of(server.cpu, self.window()) / in_flight as f64).min(1.0)
    }

    /// Returns an upper bound of the share of the time in which the server had work: it computed, or waited for a
    /// processor. For kernel threads, that is the CPU time of all kernel threads, and the waits of all workers.
    pub(super) fn may_be_serving(&self) -> f64 {
        let Some(server) = &self.server else { return 0.0 };
        let computing = self.serving().max(of(server.of_workers.unwrap_or_default(), self.window()));
        (computing + of(server.waited, self.window())).min(1.0)
    }
}

/// Commits from which their mean time is known. The kernel's mean is a moving one, in which each commit has a weight of
/// a quarter: after ten, the commits before the phase have a weight of 0.75^10, or 6 %
/// (`jbd2_journal_commit_transaction`).
const COMMITS: u64 = 10;

/// Share of the CPU time of all kernel threads from which some of them are known to have done the work: two of three
/// parts.
const MOST_WORKERS: f64 = 2.0 / 3.0;

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
/// second. At the beginning of each round, the kernel lets pass what a slice of time allows; that is not more than the
/// limit. Returns `None` if there is no limit.
pub fn allowance(done_and_limits: &[(u64, u64)], elapsed: Nanos, rounds: usize) -> Option<f64> {
    let seconds = elapsed.as_secs_f64();
    let share = |&(done, limit): &(u64, u64)| {
        let share = done as f64 / seconds / limit as f64;
        let credit = rounds as f64 * SLICE.as_secs_f64() / seconds;
        share.is_finite().then(|| share.min(1.0).max(share - credit))
    };
    done_and_limits.iter().filter_map(share).reduce(f64::max)
}

/// A slice of time of a throttled group (`DFL_THROTL_SLICE_HD` in block/blk-throttle.c).
const SLICE: Nanos = Nanos::from_millis(100);
