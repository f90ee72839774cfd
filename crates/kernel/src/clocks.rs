//! The host's clock and the CPU clock of a thread.

use std::fs;
use std::mem::MaybeUninit;

use rustix::time::{ClockId, Timespec, clock_gettime};
use units::{Host, Moment, Nanos};
use workload::CpuTime;

use crate::bounded;

/// The monotonic clock. Reads memory that the kernel shares, without a system call.
#[inline]
pub fn now() -> Moment<Host> {
    Moment::at(nanos(clock_gettime(ClockId::Monotonic)))
}

/// CPU time that was charged to the calling thread since it began.
pub(crate) fn thread_cpu() -> CpuTime {
    let total = nanos(clock_gettime(ClockId::ThreadCPUTime));
    CpuTime { total, user: thread_user().min(total) }
}

/// CPU time that was charged to this process, all its threads, since it began.
pub(crate) fn process_cpu() -> Nanos {
    nanos(clock_gettime(ClockId::ProcessCPUTime))
}

/// CPU time of the kernel workers that do what the calling thread's rings hand to them: threads of this process that
/// are called after it.
pub(crate) fn worker_cpu() -> Nanos {
    let name = format!("iou-wrk-{}\n", rustix::thread::gettid().as_raw_nonzero());
    let Ok(threads) = fs::read_dir("/proc/self/task") else { return Nanos::ZERO };
    let times = threads.flatten().filter_map(|thread| {
        let path = thread.path();
        let is_its = bounded::of_the_kernel(path.join("comm")).is_ok_and(|comm| comm == name);
        let times = if is_its { bounded::of_the_kernel(path.join("schedstat")).ok() } else { None };
        times?.split_whitespace().next()?.parse().ok().map(Nanos)
    });
    times.sum()
}

/// CPU time between two readings. The user part comes from a clock of its own, sampled by the tick, and
/// must not exceed the whole.
pub(crate) fn cpu_between(before: CpuTime, after: CpuTime) -> CpuTime {
    let total = after.total.saturating_sub(before.total);
    CpuTime { total, user: after.user.saturating_sub(before.user).min(total) }
}

fn thread_user() -> Nanos {
    let mut usage = MaybeUninit::<libc::rusage>::uninit();
    // SAFETY: `usage` is writable and of the size the call expects; it is read only after success.
    let user = unsafe {
        if libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()) != 0 {
            return Nanos::ZERO;
        }
        usage.assume_init().ru_utime
    };
    Nanos(user.tv_sec as u64 * 1_000_000_000 + user.tv_usec as u64 * 1_000)
}

fn nanos(time: Timespec) -> Nanos {
    Nanos(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}
