//! Takes over pipes that the parent process left open for this one.

use std::fs::File;
use std::io;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::os::unix::fs::FileTypeExt;

use rustix::io::{FdFlags, fcntl_setfd};

/// The variable in which `diskperf-mpi` passes the pipes to `diskperf`. The user's command does not get the variable,
/// because a `diskperf` in that command would take over the same pipes.
pub const PEERS_VARIABLE: &str = "DISKPERF_PEERS";

/// The first descriptor that is not standard input, output or error.
const FIRST: RawFd = 3;

/// Takes over the pipe with this descriptor number. Programs that this process starts do not inherit it. Returns an
/// error if there is no such pipe.
pub fn inherited_pipe(descriptor: RawFd) -> io::Result<File> {
    // The kernel lists the open descriptors. So a number without an open file fails here, before it is used.
    let kind = std::fs::metadata(format!("/proc/self/fd/{descriptor}"))?.file_type();
    if descriptor < FIRST || !kind.is_fifo() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    // SAFETY: the descriptor is open. Nothing else in this program uses it: the environment named it at the start, and
    // the caller takes each number once.
    let owned = unsafe { OwnedFd::from_raw_fd(descriptor) };
    fcntl_setfd(&owned, FdFlags::CLOEXEC)?;
    Ok(owned.into())
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::os::fd::IntoRawFd;

    use super::*;

    #[test]
    fn only_open_pipes_are_taken_over() {
        let (reader, mut writer) = io::pipe().expect("a pipe");
        let mut taken = inherited_pipe(reader.into_raw_fd()).expect("the pipe");
        writer.write_all(b"x").expect("written");
        drop(writer);
        let mut byte = [0];
        taken.read_exact(&mut byte).expect("a byte");
        assert_eq!(byte, *b"x");
        assert!(inherited_pipe(-1).is_err() && inherited_pipe(0).is_err() && inherited_pipe(1 << 20).is_err());
    }
}
