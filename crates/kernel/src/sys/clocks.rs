//! The host's monotonic clock, and CPU times of threads and processes.

use std::fs;
use std::mem::MaybeUninit;
use std::path::Path;

#[cfg(not(target_env = "musl"))]
use rustix::time::clock_gettime;
use rustix::time::{ClockId, Timespec};
use units::{Host, Moment, Nanos};
use workload::CpuTime;

use crate::sys::{read_limited, schedstat};

/// Reads the monotonic clock from memory that the kernel shares (vDSO), without a system call.
#[inline]
pub fn now() -> Moment<Host> {
    Moment::from_zero(nanos(clock_gettime(ClockId::Monotonic)))
}

/// Reads a clock through the C library. In a static program rustix does not find the vDSO, and each reading would be a
/// system call.
#[cfg(target_env = "musl")]
fn clock_gettime(clock: ClockId) -> Timespec {
    let mut time = MaybeUninit::<libc::timespec>::uninit();
    // SAFETY: `time` is writable and has the size that the call expects. The call cannot fail for a clock that every
    // Linux has.
    let time = unsafe {
        libc::clock_gettime(clock as libc::clockid_t, time.as_mut_ptr());
        time.assume_init()
    };
    Timespec { tv_sec: time.tv_sec, tv_nsec: time.tv_nsec }
}

/// CPU time charged to the calling thread since it started.
pub(crate) fn thread_cpu() -> CpuTime {
    let total = nanos(clock_gettime(ClockId::ThreadCPUTime));
    CpuTime { total, user: thread_user().min(total) }
}

/// CPU time charged to all threads of this process since it started, and to the children that it waited for.
pub(crate) fn process_cpu() -> Nanos {
    let waited_for = usage(libc::RUSAGE_CHILDREN).map(|usage| cpu_of(&usage).total);
    nanos(clock_gettime(ClockId::ProcessCPUTime)) + waited_for.unwrap_or_default()
}

/// CPU time in a `rusage`. For ended processes, the kernel has scaled both parts to the exact sum.
pub(crate) fn cpu_of(usage: &libc::rusage) -> CpuTime {
    let (user, system) = (of_timeval(usage.ru_utime), of_timeval(usage.ru_stime));
    CpuTime { total: user + system, user }
}

/// CPU time of the kernel threads that serve the calling thread's rings. If `is_alone`, all such threads of the process
/// count. `None` if it cannot be seen.
pub(crate) fn worker_cpu(is_alone: bool) -> Option<Nanos> {
    let own = (!is_alone).then(|| rustix::thread::gettid().as_raw_nonzero().get());
    workers_of(own, Path::new("/proc/self/task"))
}

/// Sums the CPU time of the io_uring threads of a process that serve the thread `own`, or any thread if `own` is
/// `None`. Their names contain the number of the served thread in the first PID namespace. If no thread here has that
/// number, the served thread is unknown, and this returns `None`.
fn workers_of(own: Option<i32>, tasks: &Path) -> Option<Nanos> {
    let mut all = Nanos::ZERO;
    for thread in fs::read_dir(tasks).ok()?.flatten() {
        let path = thread.path();
        // The thread may have ended since.
        let Ok(comm) = read_limited::of_the_kernel(path.join("comm")) else { continue };
        let comm = comm.trim_end();
        let Some(number) = comm.strip_prefix("iou-wrk-").or_else(|| comm.strip_prefix("iou-sqp-")) else { continue };
        if let Some(own) = own {
            if !tasks.join(number).exists() {
                return None;
            }
            if number != own.to_string() {
                continue;
            }
        }
        match schedstat::read(&path) {
            Some(times) => all += times.ran,
            None if path.exists() => return None,
            None => {}
        }
    }
    Some(all)
}

/// CPU time between two readings. The user part comes from another clock, which the timer tick samples, so it is capped
/// at the total.
pub(crate) fn cpu_between(before: CpuTime, after: CpuTime) -> CpuTime {
    let total = after.total.saturating_sub(before.total);
    CpuTime { total, user: after.user.saturating_sub(before.user).min(total) }
}

fn thread_user() -> Nanos {
    usage(libc::RUSAGE_THREAD).map(|usage| of_timeval(usage.ru_utime)).unwrap_or_default()
}

fn usage(of: libc::c_int) -> Option<libc::rusage> {
    let mut usage = MaybeUninit::<libc::rusage>::uninit();
    // SAFETY: `usage` is writable and has the size that the call expects; it is read only after success.
    unsafe { (libc::getrusage(of, usage.as_mut_ptr()) == 0).then(|| usage.assume_init()) }
}

fn of_timeval(time: libc::timeval) -> Nanos {
    Nanos(time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1_000)
}

fn nanos(time: Timespec) -> Nanos {
    Nanos(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cpu_time_of_workers_is_known_only_if_visible() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let tasks = folder.path();
        let thread = |number: &str, comm: &str, nanos: u64| {
            fs::create_dir(tasks.join(number)).expect("a folder");
            fs::write(tasks.join(number).join("comm"), format!("{comm}\n")).expect("a file");
            fs::write(tasks.join(number).join("schedstat"), format!("{nanos} 1 2\n")).expect("a file");
        };
        thread("7", "diskperf", 1_000);
        thread("8", "diskperf", 1_000);
        thread("9", "iou-wrk-7", 30);
        thread("10", "iou-wrk-8", 500);
        assert_eq!(workers_of(None, tasks), Some(Nanos(530)));
        assert_eq!([workers_of(Some(7), tasks), workers_of(Some(8), tasks)], [Some(Nanos(30)), Some(Nanos(500))]);
        // As in a PID namespace.
        thread("11", "iou-wrk-70", 4);
        assert_eq!([workers_of(None, tasks), workers_of(Some(7), tasks)], [Some(Nanos(534)), None]);
        assert_eq!(workers_of(None, &tasks.join("none")), None);
    }
}
