//! The error numbers of Linux, with their names and their messages. Errors of the kernel are printed with both.

use core::fmt;

/// Numbers, names and messages, from include/uapi/asm-generic/errno-base.h and errno.h, and from strerror(3) of glibc.
/// x86-64, 64-bit ARM, RISC-V and most other architectures use these numbers; 41 and 58 are second names of 11 and 35.
const ALL: [(i32, &str, &str); 131] = [
    (1, "EPERM", "Operation not permitted"),
    (2, "ENOENT", "No such file or directory"),
    (3, "ESRCH", "No such process"),
    (4, "EINTR", "Interrupted system call"),
    (5, "EIO", "Input/output error"),
    (6, "ENXIO", "No such device or address"),
    (7, "E2BIG", "Argument list too long"),
    (8, "ENOEXEC", "Exec format error"),
    (9, "EBADF", "Bad file descriptor"),
    (10, "ECHILD", "No child processes"),
    (11, "EAGAIN", "Resource temporarily unavailable"),
    (12, "ENOMEM", "Cannot allocate memory"),
    (13, "EACCES", "Permission denied"),
    (14, "EFAULT", "Bad address"),
    (15, "ENOTBLK", "Block device required"),
    (16, "EBUSY", "Device or resource busy"),
    (17, "EEXIST", "File exists"),
    (18, "EXDEV", "Invalid cross-device link"),
    (19, "ENODEV", "No such device"),
    (20, "ENOTDIR", "Not a directory"),
    (21, "EISDIR", "Is a directory"),
    (22, "EINVAL", "Invalid argument"),
    (23, "ENFILE", "Too many open files in system"),
    (24, "EMFILE", "Too many open files"),
    (25, "ENOTTY", "Inappropriate ioctl for device"),
    (26, "ETXTBSY", "Text file busy"),
    (27, "EFBIG", "File too large"),
    (28, "ENOSPC", "No space left on device"),
    (29, "ESPIPE", "Illegal seek"),
    (30, "EROFS", "Read-only file system"),
    (31, "EMLINK", "Too many links"),
    (32, "EPIPE", "Broken pipe"),
    (33, "EDOM", "Numerical argument out of domain"),
    (34, "ERANGE", "Numerical result out of range"),
    (35, "EDEADLK", "Resource deadlock avoided"),
    (36, "ENAMETOOLONG", "File name too long"),
    (37, "ENOLCK", "No locks available"),
    (38, "ENOSYS", "Function not implemented"),
    (39, "ENOTEMPTY", "Directory not empty"),
    (40, "ELOOP", "Too many levels of symbolic links"),
    (42, "ENOMSG", "No message of desired type"),
    (43, "EIDRM", "Identifier removed"),
    (44, "ECHRNG", "Channel number out of range"),
    (45, "EL2NSYNC", "Level 2 not synchronized"),
    (46, "EL3HLT", "Level 3 halted"),
    (47, "EL3RST", "Level 3 reset"),
    (48, "ELNRNG", "Link number out of range"),
    (49, "EUNATCH", "Protocol driver not attached"),
    (50, "ENOCSI", "No CSI structure available"),
    (51, "EL2HLT", "Level 2 halted"),
    (52, "EBADE", "Invalid exchange"),
    (53, "EBADR", "Invalid request descriptor"),
    (54, "EXFULL", "Exchange full"),
    (55, "ENOANO", "No anode"),
    (56, "EBADRQC", "Invalid request code"),
    (57, "EBADSLT", "Invalid slot"),
    (59, "EBFONT", "Bad font file format"),
    (60, "ENOSTR", "Device not a stream"),
    (61, "ENODATA", "No data available"),
    (62, "ETIME", "Timer expired"),
    (63, "ENOSR", "Out of streams resources"),
    (64, "ENONET", "Machine is not on the network"),
    (65, "ENOPKG", "Package not installed"),
    (66, "EREMOTE", "Object is remote"),
    (67, "ENOLINK", "Link has been severed"),
    (68, "EADV", "Advertise error"),
    (69, "ESRMNT", "Srmount error"),
    (70, "ECOMM", "Communication error on send"),
    (71, "EPROTO", "Protocol error"),
    (72, "EMULTIHOP", "Multihop attempted"),
    (73, "EDOTDOT", "RFS specific error"),
    (74, "EBADMSG", "Bad message"),
    (75, "EOVERFLOW", "Value too large for defined data type"),
    (76, "ENOTUNIQ", "Name not unique on network"),
    (77, "EBADFD", "File descriptor in bad state"),
    (78, "EREMCHG", "Remote address changed"),
    (79, "ELIBACC", "Can not access a needed shared library"),
    (80, "ELIBBAD", "Accessing a corrupted shared library"),
    (81, "ELIBSCN", ".lib section in a.out corrupted"),
    (82, "ELIBMAX", "Attempting to link in too many shared libraries"),
    (83, "ELIBEXEC", "Cannot exec a shared library directly"),
    (84, "EILSEQ", "Invalid or incomplete multibyte or wide character"),
    (85, "ERESTART", "Interrupted system call should be restarted"),
    (86, "ESTRPIPE", "Streams pipe error"),
    (87, "EUSERS", "Too many users"),
    (88, "ENOTSOCK", "Socket operation on non-socket"),
    (89, "EDESTADDRREQ", "Destination address required"),
    (90, "EMSGSIZE", "Message too long"),
    (91, "EPROTOTYPE", "Protocol wrong type for socket"),
    (92, "ENOPROTOOPT", "Protocol not available"),
    (93, "EPROTONOSUPPORT", "Protocol not supported"),
    (94, "ESOCKTNOSUPPORT", "Socket type not supported"),
    (95, "EOPNOTSUPP", "Operation not supported"),
    (96, "EPFNOSUPPORT", "Protocol family not supported"),
    (97, "EAFNOSUPPORT", "Address family not supported by protocol"),
    (98, "EADDRINUSE", "Address already in use"),
    (99, "EADDRNOTAVAIL", "Cannot assign requested address"),
    (100, "ENETDOWN", "Network is down"),
    (101, "ENETUNREACH", "Network is unreachable"),
    (102, "ENETRESET", "Network dropped connection on reset"),
    (103, "ECONNABORTED", "Software caused connection abort"),
    (104, "ECONNRESET", "Connection reset by peer"),
    (105, "ENOBUFS", "No buffer space available"),
    (106, "EISCONN", "Transport endpoint is already connected"),
    (107, "ENOTCONN", "Transport endpoint is not connected"),
    (108, "ESHUTDOWN", "Cannot send after transport endpoint shutdown"),
    (109, "ETOOMANYREFS", "Too many references: cannot splice"),
    (110, "ETIMEDOUT", "Connection timed out"),
    (111, "ECONNREFUSED", "Connection refused"),
    (112, "EHOSTDOWN", "Host is down"),
    (113, "EHOSTUNREACH", "No route to host"),
    (114, "EALREADY", "Operation already in progress"),
    (115, "EINPROGRESS", "Operation now in progress"),
    (116, "ESTALE", "Stale file handle"),
    (117, "EUCLEAN", "Structure needs cleaning"),
    (118, "ENOTNAM", "Not a XENIX named type file"),
    (119, "ENAVAIL", "No XENIX semaphores available"),
    (120, "EISNAM", "Is a named type file"),
    (121, "EREMOTEIO", "Remote I/O error"),
    (122, "EDQUOT", "Disk quota exceeded"),
    (123, "ENOMEDIUM", "No medium found"),
    (124, "EMEDIUMTYPE", "Wrong medium type"),
    (125, "ECANCELED", "Operation canceled"),
    (126, "ENOKEY", "Required key not available"),
    (127, "EKEYEXPIRED", "Key has expired"),
    (128, "EKEYREVOKED", "Key has been revoked"),
    (129, "EKEYREJECTED", "Key was rejected by service"),
    (130, "EOWNERDEAD", "Owner died"),
    (131, "ENOTRECOVERABLE", "State not recoverable"),
    (132, "ERFKILL", "Operation not possible due to RF-kill"),
    (133, "EHWPOISON", "Memory page has hardware error"),
];

/// Numbers for use inside the kernel (include/linux/errno.h). Drivers and file systems return them to programs
/// nevertheless, 524 most of all; strerror(3) has no messages for them.
const INTERNAL: [(i32, &str, &str); 19] = [
    (512, "ERESTARTSYS", "Interrupted, to be restarted"),
    (513, "ERESTARTNOINTR", "Interrupted, to be restarted"),
    (514, "ERESTARTNOHAND", "Interrupted, to be restarted"),
    (515, "ENOIOCTLCMD", "No such request of ioctl"),
    (516, "ERESTART_RESTARTBLOCK", "Interrupted, to be restarted"),
    (517, "EPROBE_DEFER", "The driver is not ready yet"),
    (518, "EOPENSTALE", "Stale file handle found by open"),
    (519, "ENOPARAM", "Parameter not supported"),
    (521, "EBADHANDLE", "Illegal NFS file handle"),
    (522, "ENOTSYNC", "Update synchronization mismatch"),
    (523, "EBADCOOKIE", "Stale cookie"),
    (524, "ENOTSUPP", "Operation not supported"),
    (525, "ETOOSMALL", "Buffer or request too small"),
    (526, "ESERVERFAULT", "Untranslatable error of the server"),
    (527, "EBADTYPE", "Type not supported by the server"),
    (528, "EJUKEBOX", "The server will be slow to answer"),
    (529, "EIOCBQUEUED", "Queued, completion will follow"),
    (530, "ERECALLCONFLICT", "Conflict with a recalled state"),
    (531, "ENOGRACE", "The NFS file lock was not reclaimed"),
];

impl Errno {
    /// EIO: the device is broken or gone.
    pub const IO: Errno = Errno(5);
    /// EFBIG: the file would be too large.
    pub const TOO_LARGE: Errno = Errno(27);
    /// EROFS: the file system is read-only.
    pub const READ_ONLY: Errno = Errno(30);
    /// EDQUOT: the quota is used up.
    pub const QUOTA: Errno = Errno(122);

    /// Returns advice for the user after a call that failed with this number, or `None` if there is none.
    pub fn hint(self) -> Option<&'static str> {
        Some(match self {
            // EIO, ENXIO, ENODEV, EUCLEAN
            Errno(5 | 6 | 19 | 117) => "dmesg shows the errors of the device",
            // ENOMEM
            Errno(12) => "check the memory limits: ulimit -v, and memory.max of this control group",
            // ENFILE
            Errno(23) => "raise the limit of open files of the machine: sysctl fs.file-max",
            // EMFILE
            Errno(24) => "raise the limit of open files: ulimit -n 1024",
            Errno::TOO_LARGE => "check ulimit -f and the file size limit of the file system",
            // ENOSPC
            Errno(28) => "free some space",
            Errno::READ_ONLY => "the kernel makes a file system read-only if its device fails; dmesg says why",
            Errno::QUOTA => "use a smaller --size, or raise the quota",
            _ => return None,
        })
    }
}

/// Returns the name of an error number, for example `EIO`, or `None` if Linux does not define the number.
pub fn errno_name(number: i32) -> Option<&'static str> {
    known(number).map(|(_, name, _)| *name)
}

fn known(number: i32) -> Option<&'static (i32, &'static str, &'static str)> {
    ALL.iter().chain(&INTERNAL).find(|(known, ..)| *known == number)
}

/// An error number. Displayed as its message and its name: `Input/output error (EIO)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Errno(pub i32);

impl fmt::Display for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match known(self.0) {
            Some((_, name, words)) => write!(f, "{words} ({name})"),
            None => write!(f, "error number {}, which Linux does not name", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::format;
    use std::io;
    use std::string::ToString;

    use super::*;

    #[test]
    fn every_error_number_has_its_name_and_system_message() {
        assert!(ALL.iter().chain(&INTERNAL).is_sorted_by_key(|(number, ..)| *number));
        for (number, name, words) in ALL {
            assert_eq!((errno_name(number), Errno(number).to_string()), (Some(name), format!("{words} ({name})")));
            // Other C libraries have their own messages.
            if cfg!(target_env = "gnu") {
                let system = io::Error::from_raw_os_error(number).to_string();
                assert_eq!(system, format!("{words} (os error {number})"));
            }
        }
        // The table is complete: the C library knows no other number.
        if cfg!(target_env = "gnu") {
            for number in (0..200).filter(|number| errno_name(*number).is_none()) {
                let system = io::Error::from_raw_os_error(number).to_string();
                assert!(number == 0 || system.starts_with("Unknown error"), "{system}");
            }
        }
        assert_eq!(Errno(524).to_string(), "Operation not supported (ENOTSUPP)");
        assert_eq!(Errno(4095).to_string(), "error number 4095, which Linux does not name");
    }
}
