//! Reasons for a failed operation: message, exit status and hint. The reasons are the same in both worlds.

use core::fmt;

use units::{Errno, Exit, errno_name};

use crate::op::Op;

/// The reason for which an op failed, the same in both worlds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// There is no such file or directory.
    NotFound,
    /// The name exists already.
    Exists,
    /// The directory still has entries.
    NotEmpty,
    /// The handle has no open file, or its access mode does not permit the op.
    BadHandle,
    /// Fewer bytes moved than the op needs. Holds their number.
    Short(u32),
    /// No space left on the device.
    NoSpace,
    /// The quota is used up.
    Quota,
    /// The file would become larger than permitted.
    TooLarge,
    /// Permission denied.
    Denied,
    /// The file system is read-only.
    ReadOnly,
    /// The device reported an error.
    Io,
    /// The kernel does not permit the operation, whatever the permissions of the file (EPERM).
    NotPermitted,
    /// The kernel rejects the arguments (EINVAL), for another reason than the next two.
    Invalid,
    /// The file system does not support direct I/O.
    NoDirect,
    /// Direct I/O needs another alignment of the size, the offset or the memory.
    Unaligned,
    /// The program was told to stop.
    Interrupted,
    /// A signal interrupted the call, although the program was not told to stop.
    Signal,
    /// The data read differ from the data written.
    Altered,
    /// A simulated machine would never complete the op.
    Unending,
    /// The command ended with this exit status.
    Exited(i32),
    /// This signal ended the command.
    Killed(i32),
    /// The command did not end before its time limit.
    Overdue,
    /// The command did not end before its time limit, or left processes running, and we lack permission to kill them.
    Unkillable,
    /// Any other error number of the kernel.
    Errno(i32),
}

/// Messages for error numbers of failing storage, where the system's own message is less clear. The error's name
/// follows the message.
const WORDS: [(i32, &str); 13] = [
    (6, "the device is gone"),
    (12, "no memory left"),
    (16, "it is in use"),
    (19, "the device is gone"),
    (23, "the machine can open no more files"),
    (24, "this process may open no more files"),
    (74, "the file system is damaged"),
    (107, "the file system's server is gone"),
    (108, "the file system was shut down"),
    (110, "the device or the server did not answer"),
    (112, "the server cannot be reached"),
    (116, "stale file handle"),
    (117, "the file system is damaged"),
];

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::NotFound => f.write_str("no such file or directory (ENOENT)"),
            Reason::Exists => f.write_str("file exists (EEXIST)"),
            Reason::NotEmpty => f.write_str("the directory is not empty (ENOTEMPTY)"),
            Reason::BadHandle => f.write_str("the file is not open for this (EBADF)"),
            Reason::Short(moved) => write!(f, "only {moved} bytes moved"),
            Reason::NoSpace => f.write_str("no space left on the device (ENOSPC)"),
            Reason::Quota => f.write_str("the quota is used up (EDQUOT)"),
            Reason::TooLarge => f.write_str("file too large (EFBIG)"),
            Reason::Denied => f.write_str("permission denied (EACCES)"),
            Reason::ReadOnly => f.write_str("read-only file system (EROFS)"),
            Reason::Io => f.write_str("input/output error (EIO)"),
            Reason::NotPermitted => f.write_str("operation not permitted (EPERM)"),
            Reason::Invalid => f.write_str("invalid argument (EINVAL)"),
            Reason::NoDirect => f.write_str("the file system does not support direct I/O (EINVAL)"),
            Reason::Unaligned => f.write_str("size, offset or memory not aligned as direct I/O needs it here (EINVAL)"),
            Reason::Interrupted => f.write_str("interrupted"),
            Reason::Signal => f.write_str("a signal interrupted the call (EINTR)"),
            Reason::Altered => f.write_str("the data read differ from the data written"),
            Reason::Unending => f.write_str("the simulation would not end"),
            Reason::Exited(status) => write!(f, "it ended with exit status {status}"),
            Reason::Killed(signal) => write!(f, "signal {signal} ended it"),
            Reason::Overdue => f.write_str("it reached the timeout, and diskperf ended it"),
            Reason::Unkillable => f.write_str("diskperf may not end it: it runs as another user"),
            Reason::Errno(number) => match WORDS.iter().find(|(known, _)| known == number) {
                Some((_, words)) => write!(f, "{words} ({})", errno_name(*number).unwrap_or("?")),
                None => write!(f, "{}", Errno(*number)),
            },
        }
    }
}

/// An op and why it failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Failure {
    /// The op.
    pub op: Op,
    /// The reason for its failure.
    pub reason: Reason,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.op, self.reason)
    }
}

impl Failure {
    /// The exit status of a diskperf command that needed the operation.
    pub fn exit(&self) -> Exit {
        match self.reason {
            Reason::Denied | Reason::NotPermitted | Reason::ReadOnly => Exit::Refused,
            Reason::NotFound => Exit::Usage,
            _ => Exit::Failed,
        }
    }

    /// A remedy for the user to try. `None` if there is none to suggest.
    pub fn hint(&self) -> Option<&'static str> {
        if let Op::Run { .. } = self.op {
            return of_command(self.reason);
        }
        Some(match self.reason {
            // A short write ends at the last free byte.
            Reason::Short(_) if self.op.kind().reads() => {
                "the file is shorter than before: check that no program truncates it"
            }
            Reason::Short(_) => "free some space, or use a smaller --size; quotas and ulimit -f also limit files",
            Reason::NoSpace => "free some space, or use a smaller --size",
            Reason::Quota => return Errno::QUOTA.hint(),
            Reason::TooLarge => return Errno::TOO_LARGE.hint(),
            Reason::ReadOnly => return Errno::READ_ONLY.hint(),
            Reason::Io => return Errno::IO.hint(),
            Reason::Signal => "run it again; on FUSE and NFS, signals can interrupt calls",
            Reason::Altered => "do not trust this storage: data written to it were lost or changed; dmesg may say more",
            Reason::NotFound => TARGET_GONE,
            Reason::Unending => "--parts lists the machine's parts; one of them is far too slow",
            Reason::NoDirect => "name a directory whose file system supports direct I/O, such as ext4, xfs or btrfs",
            Reason::Unaligned => "use sizes that are multiples of 4 KiB",
            Reason::Errno(number) => return Errno(number).hint(),
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
            | Reason::Interrupted => return None,
        })
    }
}

/// The hint for a target that disappeared during a run.
pub const TARGET_GONE: &str = "the target was removed or unmounted while it was measured";

/// The hint after the user's command failed or could not be started.
fn of_command(reason: Reason) -> Option<&'static str> {
    Some(match reason {
        Reason::Exited(_) => {
            "try it in an empty folder: the command runs in a private folder of the target ({}), so use absolute \
             paths; if an image: is too small, set size="
        }
        Reason::Killed(_) => "dmesg shows whether the kernel killed it for lack of memory",
        Reason::Unkillable => {
            "end it yourself as its user; diskperf cannot measure commands that switch users (sudo, su)"
        }
        Reason::Overdue => "use a longer --timeout, or give it less work",
        Reason::NotFound => "check whether the run or --prepare removed it",
        Reason::Denied => "chmod +x makes a file executable; a file system mounted with noexec runs none",
        // EAGAIN: fork(2) reached a limit.
        Reason::Errno(11) => "check the process limits: ulimit -u, and pids.max of this control group",
        Reason::Errno(number) => return Errno(number).hint(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_rights_are_refusals_and_missing_files_usage_errors() {
        let exit = |reason| Failure { op: Op::Syncfs, reason }.exit();
        for (reason, status) in [
            (Reason::Denied, Exit::Refused),
            (Reason::ReadOnly, Exit::Refused),
            (Reason::NotFound, Exit::Usage),
            (Reason::Io, Exit::Failed),
        ] {
            assert_eq!(exit(reason), status, "{reason}");
        }
    }

    #[test]
    fn a_hint_depends_on_the_operation() {
        let hint = |op, reason| Failure { op, reason }.hint();
        let command = Op::Run { command: 0 };
        assert_ne!(hint(command, Reason::NotFound), hint(Op::Syncfs, Reason::NotFound));
        assert_eq!(hint(Op::Syncfs, Reason::NotFound), Some(TARGET_GONE));
        assert_eq!(hint(Op::Syncfs, Reason::Errno(5)), hint(Op::Syncfs, Reason::Io));
        assert!(hint(Op::Syncfs, Reason::Io).is_some());
        assert_eq!(hint(command, Reason::Io), None);
        // EAGAIN, EMFILE
        assert!(hint(command, Reason::Errno(11)).is_some_and(|hint| hint.contains("ulimit -u")));
        assert!(hint(command, Reason::Errno(24)).is_some_and(|hint| hint.contains("ulimit -n")));
    }
}
