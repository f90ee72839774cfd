//! The times of kernel threads: write-back, journals, loop devices. A program's CPU time does not include their CPU
//! time, although the program caused the work.

use std::collections::HashMap;

use procfs::process::{Process, StatFlags};
use units::Nanos;

use crate::sys::schedstat::ThreadTimes;

/// A kernel thread: its process id and its start time. A worker's name changes while it lives, and ids are reused.
type Worker = (i32, u64);

/// The name and the times of every kernel thread at one moment.
pub(crate) struct WorkerTimes(HashMap<Worker, (String, ThreadTimes)>);

impl WorkerTimes {
    /// Reads the times of all kernel threads. Returns `None` if this system does not show them.
    pub(crate) fn read() -> Option<WorkerTimes> {
        let mut times = HashMap::new();
        for process in procfs::process::all_processes().ok()?.flatten() {
            // A thread that ends between listing and reading is left out.
            let Ok(stat) = process.stat() else { continue };
            if !is_kernel_thread(stat.flags) {
                continue;
            }
            if let Some(own) = thread_times(&process) {
                times.insert((stat.pid, stat.starttime), (stat.comm, own));
            }
        }
        // Some containers show no kernel thread at all.
        (!times.is_empty()).then_some(WorkerTimes(times))
    }

    /// The name of each thread, and its times since `earlier`. Threads that started since then count in
    /// full; those that ended are not counted.
    pub(crate) fn since(&self, earlier: &WorkerTimes) -> Vec<(&str, ThreadTimes)> {
        let before = |worker: &Worker| earlier.0.get(worker).map_or_else(ThreadTimes::default, |(_, times)| *times);
        self.0.iter().map(|(worker, (name, times))| (name.as_str(), times.since(before(worker)))).collect()
    }
}

fn is_kernel_thread(flags: u32) -> bool {
    StatFlags::from_bits_truncate(flags).contains(StatFlags::PF_KTHREAD)
}

fn thread_times(process: &Process) -> Option<ThreadTimes> {
    let schedule = process.schedstat().ok()?;
    Some(ThreadTimes { ran: Nanos(schedule.sum_exec_runtime), waited: Nanos(schedule.run_delay) })
}
