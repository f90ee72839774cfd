//! Hints for results that could not be written.

use std::io;

use units::Errno;

/// What to try after results could not be written to a file.
pub fn of_output(error: &io::Error) -> Option<&'static str> {
    // By number in Linux (asm-generic/errno.h): EPERM and EACCES, EBUSY, ENOTDIR, ENAMETOOLONG, ELOOP.
    Some(match error.raw_os_error()? {
        1 | 13 => "name a file that you may write to, as in -o /tmp/results",
        16 => "name another file, as in -o /tmp/results",
        20 => "a part of this path is a file; use an existing folder, as in -o /tmp/results",
        36 => "use a shorter name: at most 255 bytes, and 4095 for the path",
        40 => "name the file itself; its symbolic links form a loop",
        number => return Errno(number).hint(),
    })
}
