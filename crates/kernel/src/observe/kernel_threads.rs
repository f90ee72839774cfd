//! CPU time of the kernel's own threads: write-back, journals, loop devices. A program's CPU time does not
//! contain it, though the program caused it.

use std::collections::HashMap;

use procfs::process::{Process, StatFlags};
use units::Nanos;

/// A thread of the kernel: its number and when it started. Names change while a worker lives, and numbers
/// are used again.
type Worker = (i32, u64);

/// The CPU time of every kernel thread at one moment, exact in nanoseconds.
pub(crate) struct WorkerTimes(HashMap<Worker, u64>);

impl WorkerTimes {
    /// Reads all of them; nothing where this system does not show them.
    pub(crate) fn read() -> Option<WorkerTimes> {
        let mut times = HashMap::new();
        for process in procfs::process::all_processes().ok()?.flatten() {
            // A thread may end between listing and reading: then it is left out.
            let Ok(stat) = process.stat() else { continue };
            if !is_kernel_thread(stat.flags) {
                continue;
            }
            if let Some(nanos) = run_time(&process) {
                times.insert((stat.pid, stat.starttime), nanos);
            }
        }
        // Some containers show no kernel thread at all.
        (!times.is_empty()).then_some(WorkerTimes(times))
    }

    /// What they used since `earlier`. A worker that was not there then counts in full, one that has ended
    /// since is lost.
    pub(crate) fn since(&self, earlier: &WorkerTimes) -> Nanos {
        let used = self.0.iter().map(|(worker, nanos)| nanos.saturating_sub(*earlier.0.get(worker).unwrap_or(&0)));
        Nanos(used.sum())
    }
}

fn is_kernel_thread(flags: u32) -> bool {
    StatFlags::from_bits_truncate(flags).contains(StatFlags::PF_KTHREAD)
}

fn run_time(process: &Process) -> Option<u64> {
    process.schedstat().ok().map(|schedule| schedule.sum_exec_runtime)
}
