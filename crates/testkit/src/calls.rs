//! A program some of whose system calls are answered by a filter and never reach the kernel: as on an older kernel,
//! in a sandbox, or where calls for durability do nothing and answer well, as `systemd-nspawn --suppress-sync=yes`
//! has them for the containers in which packages are built.

use std::collections::BTreeMap;
use std::env::consts::ARCH;
use std::path::Path;
use std::thread;

use libc::c_long;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule, TargetArch,
};

use crate::{Ended, run};

/// The calls that wait for durability.
pub const SYNCS: Calls = Calls::These(&[libc::SYS_fsync, libc::SYS_fdatasync, libc::SYS_syncfs, libc::SYS_sync]);

/// Reserving room in a file.
pub const FALLOCATE: Calls = Calls::These(&[libc::SYS_fallocate]);

/// Writing at a place.
pub const PWRITE: Calls = Calls::These(&[libc::SYS_pwrite64]);

/// Making the data of a file durable.
pub const FDATASYNC: Calls = Calls::These(&[libc::SYS_fdatasync]);

/// What tells of the page cache what is not yet written: cachestat(2), the same number on all architectures.
pub const CACHESTAT: Calls = Calls::These(&[451]);

/// All that tells of the page cache.
pub const PAGE_CACHE: Calls = Calls::These(&[451, libc::SYS_mincore]);

/// What begins to use an io_uring.
pub const IO_URING: Calls = Calls::These(&[libc::SYS_io_uring_setup]);

/// What tells an io_uring beforehand with which files and which memory it will work.
pub const IO_URING_REGISTER: Calls = Calls::These(&[libc::SYS_io_uring_register]);

/// What has an io_uring issue what it was given.
pub const IO_URING_ENTER: Calls = Calls::These(&[libc::SYS_io_uring_enter]);

/// Opening a file that has no name, since Linux 3.11; some file systems cannot.
pub const TMPFILE: Calls = Calls::Opens(libc::O_TMPFILE);

/// What gives a process namespaces of its own.
pub const UNSHARE: Calls = Calls::These(&[libc::SYS_unshare]);

/// Mounting, as it always was.
pub const MOUNT: Calls = Calls::These(&[libc::SYS_mount]);

/// Mounting, as it is since Linux 5.2.
pub const FSOPEN: Calls =
    Calls::These(&[libc::SYS_fsopen, libc::SYS_fsconfig, libc::SYS_fsmount, libc::SYS_move_mount]);

/// LOOP_CONFIGURE (linux/loop.h), which attaches a loop device since Linux 5.8.
pub const LOOP_CONFIGURE: Calls = Calls::Ioctl(0x4c0a);

/// All that came after Linux 4.4: copy_file_range and later.
pub const AFTER_4_4: Calls = Calls::Since(libc::SYS_copy_file_range);

/// What the kernel says to a call that it does not have.
pub const NO_SUCH_CALL: i32 = libc::ENOSYS;

/// What a sandbox says to a call that it does not allow.
pub const NOT_PERMITTED: i32 = libc::EPERM;

/// What the kernel says where a limit on memory is reached.
pub const NO_MEMORY: i32 = libc::ENOMEM;

/// What the kernel says to a request that it does not have.
pub const INVALID: i32 = libc::EINVAL;

/// What a file system says to an operation that it does not have.
pub const NOT_SUPPORTED: i32 = libc::EOPNOTSUPP;

/// What the kernel says that can do it later, maybe.
pub const NOT_NOW: i32 = libc::EAGAIN;

/// System calls.
#[derive(Clone, Copy, Debug)]
pub enum Calls<'a> {
    /// These.
    These(&'a [c_long]),
    /// That one, and all with higher numbers. Numbers are given away in the order of time, so these are the calls
    /// that an older kernel does not have; those of x86-64 and other architectures are one from 424 (Linux 5.1) on.
    Since(c_long),
    /// `ioctl` with this request.
    Ioctl(u32),
    /// `openat` with all of these flags.
    Opens(i32),
    /// `openat` that empties or makes a file which children inherit, as only programs that are measured do.
    Creating,
}

/// The highest number that is asked of the filter: some way above what Linux 6.18 has.
const HIGHEST: c_long = 500;

/// Answers well, and does nothing.
pub const WELL: i32 = 0;

/// Runs a program to its end with a filter that answers these calls with an error number, or with [`WELL`].
pub fn run_answered(calls: Calls, errno: i32, program: &Path, folder: &Path, arguments: &[&str]) -> Ended {
    thread::scope(|scope| {
        // The filter holds for this thread, and for what it starts.
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
