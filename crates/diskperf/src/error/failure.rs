//! What to try where the kernel, or what lies below it, refused a call.

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
            "the file ended early: somebody made it shorter, or lost a part"
        }
        Reason::Short(_) => "free some space, or ask for less with --size; a quota and ulimit -f end a file, too",
        Reason::NoSpace => "free some space, or ask for less with --size",
        Reason::Quota => QUOTA,
        Reason::TooLarge => TOO_LARGE,
        Reason::ReadOnly => READ_ONLY,
        Reason::Io => BROKEN,
        Reason::Signal => {
            "run it again; where a server answers for the files (FUSE, NFS), signals can break off their calls"
        }
        Reason::Altered => "what was written there is lost or another: do not trust this storage; dmesg may say more",
        Reason::NotFound => GONE,
        Reason::Unending => "some part of this machine is far too slow: --parts shows all of them",
        Reason::NoDirect => "name a directory whose file system supports direct I/O, such as ext4, xfs or btrfs",
        Reason::Unaligned => "ask for sizes that are multiples of 4 KiB",
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
            "try it by hand in an empty folder: it stands in a private one of the target ({}), so name other files by paths \
             from the root; where an image: is too small for it, give that a size="
        }
        Reason::Killed(_) => "dmesg says so where the kernel ended it for want of memory",
        Reason::Unkillable => {
            "end it yourself, as its user, and measure no command that becomes another one (sudo, su)"
        }
        Reason::Overdue => "give it a longer --timeout, or less to do",
        Reason::NotFound => "it was there when the run began, or --prepare was to make it",
        Reason::Denied => "chmod +x makes a file of yours executable; a file system mounted noexec runs none",
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
        1 | 13 => "name a file and a folder that you may write to, as in -o /tmp/results",
        16 => "name another file, as in -o /tmp/results",
        20 => "a folder in this path is a file; name a folder that is there, as in -o /tmp/results",
        36 => "a name has at most 255 bytes and a path 4095; name a shorter one",
        40 => "its links lead in a circle; name the file itself",
        number => return of_number(number),
    })
}

/// What goes away under a run.
pub const GONE: &str = "the target was removed or unmounted while it was measured";

const QUOTA: &str = "ask for less with --size, or have the quota raised";
const READ_ONLY: &str = "the kernel makes a file system read-only where its device fails: dmesg says why";
const TOO_LARGE: &str = "ulimit -f says how large a file may become; a file system has such a limit too";
const BROKEN: &str = "dmesg says what the kernel saw of the device";

/// By its number in Linux (asm-generic/errno.h).
fn of_number(number: i32) -> Option<&'static str> {
    Some(match number {
        // EIO, ENXIO, ENODEV, EUCLEAN
        5 | 6 | 19 | 117 => BROKEN,
        // ENOMEM
        12 => "ulimit -v, and the control groups of this process, say how much memory it may have",
        // ENFILE
        23 => "the whole machine has no more: sysctl fs.file-max",
        // EMFILE
        24 => "let it open more files: ulimit -n 1024",
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
