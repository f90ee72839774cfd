//! Translates the kernel's error numbers into [`Reason`], and finds out why the kernel returned EINVAL.

use std::os::fd::{AsFd, BorrowedFd, RawFd};

use rustix::fs::{AtFlags, OFlags, StatxFlags};
use rustix::io::Errno;
use workload::{PositionedIo, Reason};

use crate::observe::mount;

/// Returns the reason for an error number, in the words that the simulator uses too.
#[cold]
pub(crate) fn reason(errno: Errno) -> Reason {
    match errno {
        Errno::NOENT => Reason::NotFound,
        Errno::EXIST => Reason::Exists,
        Errno::NOTEMPTY => Reason::NotEmpty,
        Errno::BADF => Reason::BadHandle,
        Errno::NOSPC => Reason::NoSpace,
        Errno::DQUOT => Reason::Quota,
        Errno::FBIG => Reason::TooLarge,
        Errno::ACCESS => Reason::Denied,
        Errno::PERM => Reason::NotPermitted,
        Errno::ROFS => Reason::ReadOnly,
        Errno::IO => Reason::Io,
        Errno::INVAL => Reason::Invalid,
        Errno::INTR => Reason::Signal,
        other => Reason::Errno(other.raw_os_error()),
    }
}

/// Returns the reason why opening a file with these flags failed. File systems without direct I/O return EINVAL for
/// O_DIRECT (open(2)).
#[cold]
pub(crate) fn of_open(errno: Errno, flags: OFlags) -> Reason {
    match reason(errno) {
        Reason::Invalid if flags.contains(OFlags::DIRECT) => Reason::NoDirect,
        reason => reason,
    }
}

/// Returns the reason why a read or write of `length` bytes failed, at `offset` or, if that is `None`, at the file
/// offset. The buffer's alignment is not checked: our buffers begin on a page, or on a block of the call's own size.
#[cold]
#[inline(never)]
pub(crate) fn of_transfer(errno: Errno, file: impl AsFd, offset: Option<u64>, length: u32) -> Reason {
    match reason(errno) {
        Reason::Invalid => {
            let offset = offset.or_else(|| rustix::fs::tell(&file).ok()).unwrap_or(0);
            invalid(file.as_fd(), offset, length)
        }
        reason => reason,
    }
}

/// Returns the reason why a read or write through io_uring failed. `file` is the descriptor that is registered with the
/// ring, or negative if there is none; then the cause of EINVAL stays unknown.
#[cold]
pub(crate) fn of_ring(reason: Reason, file: RawFd, io: PositionedIo) -> Reason {
    if reason != Reason::Invalid || file < 0 {
        return reason;
    }
    // SAFETY: a descriptor is registered with a ring as long as the program has it open.
    let file = unsafe { BorrowedFd::borrow_raw(file) };
    invalid(file, io.offset, io.length)
}

/// Returns [`Reason::Unaligned`] for direct I/O that is not aligned, else [`Reason::Invalid`].
fn invalid(file: BorrowedFd, offset: u64, length: u32) -> Reason {
    let is_aligned = || {
        let block = block(file);
        offset.is_multiple_of(block) && u64::from(length).is_multiple_of(block)
    };
    if is_direct(file) && !is_aligned() { Reason::Unaligned } else { Reason::Invalid }
}

fn is_direct(file: BorrowedFd) -> bool {
    rustix::fs::fcntl_getfl(file).is_ok_and(|flags| flags.contains(OFlags::DIRECT))
}

/// Alignment that is assumed if the kernel does not report one (before Linux 6.1, and on some file systems). No disk
/// has smaller blocks. A misaligned access to a device with larger blocks is not recognised.
const SECTOR: u64 = 512;

/// Returns the alignment of offsets and lengths that direct I/O on the file needs, in bytes.
fn block(file: BorrowedFd) -> u64 {
    let said = rustix::fs::statx(file, c"", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN).ok();
    let is_said =
        |statx: &rustix::fs::Statx| statx.stx_mask & StatxFlags::DIOALIGN.bits() != 0 && statx.stx_dio_offset_align > 0;
    if let Some(statx) = said.filter(is_said) {
        return statx.stx_dio_offset_align.into();
    }
    let block = rustix::fs::ioctl_blksszget(file).map_or_else(|_| logical_block(file), |bytes| Some(bytes.into()));
    block.unwrap_or(SECTOR)
}

/// Logical block size of the device under a regular file, in bytes, from /sys.
fn logical_block(file: BorrowedFd) -> Option<u64> {
    let device = mount::numbered(rustix::fs::fstat(file).ok()?.st_dev)?;
    device.logical_block_bytes().map(u64::from)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::io;

    use units::errno_name;

    use super::*;

    #[test]
    fn every_reason_contains_the_errno_name() {
        let named = (1..600).filter_map(|number| Some((number, errno_name(number)?)));
        let mut count = 0;
        for (number, name) in named {
            let said = reason(Errno::from_raw_os_error(number)).to_string();
            assert!(said.contains(&format!("({name})")), "{number}: {said}");
            count += 1;
        }
        assert_eq!(count, 150);
    }

    #[test]
    fn the_reason_for_einval_depends_on_the_request() {
        assert_eq!(of_open(Errno::INVAL, OFlags::RDONLY | OFlags::DIRECT), Reason::NoDirect);
        assert_eq!(of_open(Errno::INVAL, OFlags::RDONLY), Reason::Invalid);
        assert_eq!(of_open(Errno::IO, OFlags::RDONLY | OFlags::DIRECT), Reason::Io);
        // Without direct I/O, any offset and length is valid.
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        fs::write(&path, [0; 8192]).expect("a file");
        let file = File::open(&path).expect("a file");
        assert_eq!(of_transfer(Errno::INVAL, &file, Some(1), 3), Reason::Invalid);
        let flags = OFlags::RDONLY | OFlags::DIRECT | OFlags::CLOEXEC;
        let direct = match rustix::fs::open(&path, flags, rustix::fs::Mode::empty()) {
            Ok(direct) => direct,
            Err(errno) => return testkit::skip!("no direct I/O here: {}", io::Error::from(errno)),
        };
        assert_eq!(of_transfer(Errno::INVAL, &direct, Some(0), 4096), Reason::Invalid);
        assert_eq!(of_transfer(Errno::INVAL, &direct, Some(1), 4096), Reason::Unaligned);
        assert_eq!(of_transfer(Errno::INVAL, &direct, Some(0), 4095), Reason::Unaligned);
        assert_eq!(of_transfer(Errno::INVAL, &direct, None, 4096), Reason::Invalid);
        rustix::fs::seek(&direct, rustix::fs::SeekFrom::Start(7)).expect("it is moved");
        assert_eq!(of_transfer(Errno::INVAL, &direct, None, 4096), Reason::Unaligned);
    }
}
