//! Hints for calls that the kernel refused.

use std::io;

use workload::{Failure, Op, Reason};

/// What to try after an op that failed.
pub fn hint(failure: &Failure) -> Option<&'static str> {
    if let Op::Run { .. } = failure.op {
        return of_command(failure.reason);
    }
    Some(match failure.reason {
        // A write that brought less than it was to ends at the last free byte.
        Reason::Short(_) if failure.op.kind().reads() => {
            "the file is shorter than before: check that no program truncates it"
        }
        Reason::Short(_) => "free some space, or use a smaller --size; quotas and ulimit -f also limit files",
        Reason::NoSpace => "free some space, or use a smaller --size",
        Reason::Quota => QUOTA,
        Reason::TooLarge => TOO_LARGE,
        Reason::ReadOnly => READ_ONLY,
        Reason::Io => BROKEN,
        Reason::Signal => "run it again; on FUSE and NFS, signals can interrupt calls",
        Reason::Altered => "do not trust this storage: data written to it were lost or changed; dmesg may say more",
        Reason::NotFound => GONE,
        Reason::Unending => "--parts lists the machine's parts; one of them is far too slow",
        Reason::NoDirect => "name a directory whose file system supports direct I/O, such as ext4, xfs or btrfs",
        Reason::Unaligned => "use sizes that are multiples of 4 KiB",
        Reason::Errno(number) => return of_number(number),
        Reason::Exists
        | Reason::NotEmpty
        | Reason::BadHandle
        | Reason::Denied
        | Reason::NotPermitted
        | Reason::Invalid
        | Reason::Exited(_)
        | Reason::Killed(_)
        | Reason::Overdue
        | Reason::Unkillable
        | Reason::Interrupted => {
            return None;
        }
    })
}

/// What to try after a command of a person's own that failed, or could not be started.
fn of_command(reason: Reason) -> Option<&'static str> {
    Some(match reason {
        Reason::Exited(_) => {
            "try it in an empty folder: the command runs in a private folder of the target ({}), so use absolute paths; if an \
             image: is too small, set size="
        }
        Reason::Killed(_) => "dmesg shows whether the kernel killed it for lack of memory",
        Reason::Unkillable => {
            "end it yourself as its user; diskperf cannot measure commands that switch users (sudo, su)"
        }
        Reason::Overdue => "use a longer --timeout, or give it less work",
        Reason::NotFound => "check whether the run or --prepare removed it",
        Reason::Denied => "chmod +x makes a file executable; a file system mounted with noexec runs none",
        _ => return None,
    })
}

/// What to try after an error of the system.
pub fn of_system(error: &io::Error) -> Option<&'static str> {
    of_number(error.raw_os_error()?)
}

/// What to try after results could not be written to a file.
pub fn of_output(error: &io::Error) -> Option<&'static str> {
    // By number in Linux (asm-generic/errno.h): EPERM and EACCES, EBUSY, ENOTDIR, ENAMETOOLONG, ELOOP.
    Some(match error.raw_os_error()? {
        1 | 13 => "name a file that you may write to, as in -o /tmp/results",
        16 => "name another file, as in -o /tmp/results",
        20 => "a part of this path is a file; use an existing folder, as in -o /tmp/results",
        36 => "use a shorter name: at most 255 bytes, and 4095 for the path",
        40 => "name the file itself; its symbolic links form a loop",
        number => return of_number(number),
    })
}

/// What goes away under a run.
pub const GONE: &str = "the target was removed or unmounted while it was measured";

const QUOTA: &str = "use a smaller --size, or raise the quota";
const READ_ONLY: &str = "the kernel makes a file system read-only if its device fails; dmesg says why";
const TOO_LARGE: &str = "check ulimit -f and the file size limit of the file system";
const BROKEN: &str = "dmesg shows the errors of the device";

/// By its number in Linux (asm-generic/errno.h).
fn of_number(number: i32) -> Option<&'static str> {
    Some(match number {
        // EIO, ENXIO, ENODEV, EUCLEAN
        5 | 6 | 19 | 117 => BROKEN,
        // ENOMEM
        12 => "check the memory limits: ulimit -v, and memory.max of this control group",
        // ENFILE
        23 => "raise the limit of open files of the machine: sysctl fs.file-max",
        // EMFILE
        24 => "raise the limit of open files: ulimit -n 1024",
        // EFBIG
        27 => TOO_LARGE,
        // ENOSPC
        28 => "free some space",
        // EROFS
        30 => READ_ONLY,
        // EDQUOT
        122 => QUOTA,
        _ => return None,
    })
}
