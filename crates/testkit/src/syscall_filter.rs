//! Runs a program with a seccomp filter that answers some of its system calls, so that they never reach the kernel. The
//! filter imitates an older kernel, a sandbox, or sync calls that succeed without effect. `systemd-nspawn
//! --suppress-sync=yes` does the latter in the containers in which packages are built.

use std::collections::BTreeMap;
use std::env::consts::ARCH;
use std::path::Path;
use std::thread;

use libc::c_long;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule, TargetArch,
};

use crate::{ProgramOutput, run};

/// The calls that wait until data are durable.
pub const SYNCS: Calls = Calls::These(&[libc::SYS_fsync, libc::SYS_fdatasync, libc::SYS_syncfs, libc::SYS_sync]);

/// The call that reserves space in a file.
pub const FALLOCATE: Calls = Calls::These(&[libc::SYS_fallocate]);

/// The call that writes at an offset.
pub const PWRITE: Calls = Calls::These(&[libc::SYS_pwrite64]);

/// The call that makes the data of a file durable.
pub const FDATASYNC: Calls = Calls::These(&[libc::SYS_fdatasync]);

/// The call that reports dirty pages of the page cache: cachestat(2), the same number on all architectures.
pub const CACHESTAT: Calls = Calls::These(&[451]);

/// All calls that report the state of the page cache.
pub const PAGE_CACHE: Calls = Calls::These(&[451, libc::SYS_mincore]);

/// The call that creates an io_uring.
pub const IO_URING: Calls = Calls::These(&[libc::SYS_io_uring_setup]);

/// The call that registers files and memory with an io_uring.
pub const IO_URING_REGISTER: Calls = Calls::These(&[libc::SYS_io_uring_register]);

/// The call that submits the entries of an io_uring.
pub const IO_URING_ENTER: Calls = Calls::These(&[libc::SYS_io_uring_enter]);

/// Opening an unnamed file, since Linux 3.11; some file systems do not support it.
pub const TMPFILE: Calls = Calls::Opens(libc::O_TMPFILE);

/// The call that creates namespaces for a process.
pub const UNSHARE: Calls = Calls::These(&[libc::SYS_unshare]);

/// The classic call to mount.
pub const MOUNT: Calls = Calls::These(&[libc::SYS_mount]);

/// The calls to mount since Linux 5.2.
pub const FSOPEN: Calls =
    Calls::These(&[libc::SYS_fsopen, libc::SYS_fsconfig, libc::SYS_fsmount, libc::SYS_move_mount]);

/// LOOP_CONFIGURE (linux/loop.h), which attaches a loop device since Linux 5.8.
pub const LOOP_CONFIGURE: Calls = Calls::Ioctl(0x4c0a);

/// All calls added after Linux 4.4: copy_file_range and later.
pub const AFTER_4_4: Calls = Calls::Since(libc::SYS_copy_file_range);

/// The error for a call that the kernel does not have.
pub const NO_SUCH_CALL: i32 = libc::ENOSYS;

/// The error for a call that a sandbox forbids.
pub const NOT_PERMITTED: i32 = libc::EPERM;

/// The error if a memory limit is reached.
pub const NO_MEMORY: i32 = libc::ENOMEM;

/// The error for a request that the kernel does not support.
pub const INVALID: i32 = libc::EINVAL;

/// The error for an operation that a file system does not support.
pub const NOT_SUPPORTED: i32 = libc::EOPNOTSUPP;

/// The error for a call that may succeed later.
pub const NOT_NOW: i32 = libc::EAGAIN;

/// A set of system calls.
#[derive(Clone, Copy, Debug)]
pub enum Calls<'a> {
    /// The calls with these numbers.
    These(&'a [c_long]),
    /// The call with this number, and all with higher numbers. Numbers are assigned in order of time, so an older
    /// kernel lacks these calls. From 424 (Linux 5.1) on, x86-64 and other architectures have the same numbers.
    Since(c_long),
    /// `ioctl` with this request.
    Ioctl(u32),
    /// `openat` with all of these flags.
    Opens(i32),
    /// `openat` that truncates or creates a file which children inherit. Only measured programs do that.
    Creating,
}

/// The highest number that the filter checks: well above the last call of Linux 6.18.
const HIGHEST: c_long = 500;

/// The error number of a call that succeeds without effect.
pub const WELL: i32 = 0;

/// Runs a program to its end with a filter that answers these calls with an error number, or with [`WELL`].
pub fn run_answered(calls: Calls, errno: i32, program: &Path, folder: &Path, arguments: &[&str]) -> ProgramOutput {
    thread::scope(|scope| {
        // The filter applies to this thread and to the processes that it starts.
        let running = scope.spawn(|| {
            seccompiler::apply_filter(&filter(calls, errno)).expect("a filter of system calls");
            run(program, folder, arguments)
        });
        running.join().expect("the program can be started")
    })
}

fn filter(calls: Calls, errno: i32) -> BpfProgram {
    let always = |calls: &mut dyn Iterator<Item = c_long>| calls.map(|call| (call, Vec::new())).collect();
    let rules: BTreeMap<i64, Vec<SeccompRule>> = match calls {
        Calls::These(calls) => always(&mut calls.iter().copied()),
        Calls::Since(first) => always(&mut (first..=HIGHEST)),
        Calls::Ioctl(request) => {
            let is_it = SeccompCondition::new(1, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, u64::from(request));
            let rule = is_it.and_then(|condition| SeccompRule::new(vec![condition])).expect("a rule");
            BTreeMap::from([(libc::SYS_ioctl, vec![rule])])
        }
        Calls::Opens(flags) => {
            let flags = flags as u64;
            let has_them = SeccompCmpOp::MaskedEq(flags);
            let condition = SeccompCondition::new(2, SeccompCmpArgLen::Dword, has_them, flags);
            let rule = condition.and_then(|condition| SeccompRule::new(vec![condition])).expect("a rule");
            BTreeMap::from([(libc::SYS_openat, vec![rule])])
        }
        Calls::Creating => {
            let flags = u64::from((libc::O_CREAT | libc::O_TRUNC).unsigned_abs());
            let asked = SeccompCmpOp::MaskedEq(flags | u64::from(libc::O_CLOEXEC.unsigned_abs()));
            let is_it = SeccompCondition::new(2, SeccompCmpArgLen::Dword, asked, flags);
            let rule = is_it.and_then(|condition| SeccompRule::new(vec![condition])).expect("a rule");
            BTreeMap::from([(libc::SYS_openat, vec![rule])])
        }
    };
    let architecture = TargetArch::try_from(ARCH).expect("an architecture that filters are known for");
    let answer = SeccompAction::Errno(errno.unsigned_abs());
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, answer, architecture);
    filter.and_then(BpfProgram::try_from).expect("a filter")
}
