//! Makes a ring, as well as this kernel and this user can have one.
//!
//! Policy, each step only where the one before is refused:
//!   1. one task issues, and work for it is done when it asks for that (Linux 6.1);
//!   2. work for it interrupts it as late as can be (5.19);
//!   3. a plain ring, which can wait for a limited time (5.11). Without that there is none.
//!
//! Files and buffers are registered where the kernel takes them, so that it need not look them up for each op; what
//! it does not take is told.

use std::fmt;
use std::io;
use std::sync::OnceLock;

use io_uring::IoUring;
use rustix::io::Errno;
use units::{Errno as Said, Nanos};

/// The most that can be under way at once: IORING_MAX_ENTRIES (io_uring/io_uring.h of Linux).
pub const MOST_DEPTH: u32 = 32768;

/// The most bytes of memory that a ring works on: what the kernel registers as one buffer, a GiB.
pub const MOST_BYTES: u64 = 1 << 30;

/// How long a polling thread looks for more before it sleeps, in whole milliseconds. Guess: longer than a slow disk
/// takes, so that it sleeps only when the program has ended.
const PATIENCE: Nanos = Nanos::from_millis(100);

/// Why there is no ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoRing {
    /// The kernel has none.
    Missing,
    /// This user may not, or nobody may.
    Forbidden,
    /// It cannot wait for a limited time.
    TooOld,
    /// Something else.
    Errno(i32),
}

impl fmt::Display for NoRing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoRing::Missing => f.write_str("this kernel has no io_uring"),
            NoRing::Forbidden => f.write_str("io_uring is forbidden here, by kernel.io_uring_disabled or by a sandbox"),
            NoRing::TooOld => f.write_str("the io_uring of this kernel is older than that of Linux 5.11"),
            NoRing::Errno(number) => write!(f, "cannot set up io_uring: {}", Said(*number)),
        }
    }
}

/// What a ring has to do without, or cannot do by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lack {
    /// Its memory is not registered: the limit on locked memory is too low.
    LockedMemory,
    /// Its memory or its files are not registered for another reason.
    Registration(i32),
    /// It is none of the first two kinds: completions interrupt the program.
    Plain,
    /// Kernel workers did part of the work, which costs a change of threads for each op.
    Workers,
    /// Whether they did cannot be seen.
    UnseenWorkers,
}

impl fmt::Display for Lack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Lack::LockedMemory => f.write_str(
                "io_uring works without registered buffers: the limit on locked memory is too low (ulimit -l)",
            ),
            Lack::Registration(number) => {
                let why = Said(*number);
                write!(f, "io_uring works without registered files or buffers: {why}")
            }
            Lack::Plain => f.write_str("completions interrupt the program: this kernel is older than Linux 5.19"),
            Lack::Workers => f.write_str(
                "io_uring handed operations to kernel workers because this file system would have blocked; their CPU \
                 time is counted",
            ),
            Lack::UnseenWorkers => f.write_str(
                "the CPU time of io_uring's kernel workers is not visible here (/proc/self/task) and not counted",
            ),
        }
    }
}

/// Why no ring can be had here; nothing where one can. Tried once.
pub fn no_ring() -> Option<NoRing> {
    static TRIED: OnceLock<Option<NoRing>> = OnceLock::new();
    *TRIED.get_or_init(|| make(1, false).err())
}

/// A ring for so many ops, and whether it is a plain one. One that is polled is of no other kind: its thread begins
/// what it finds, and sleeps when it has found nothing for [`PATIENCE`].
pub(super) fn make(depth: u32, polled: bool) -> Result<(IoUring, bool), NoRing> {
    if polled {
        // An op may be done before its entry is free again: that thread gives entries back when it has begun all it
        // found.
        let entries = depth.saturating_mul(2);
        let ring = IoUring::builder().setup_sqpoll(PATIENCE.0 as u32 / 1_000_000).build(entries);
        return usable(ring.map(|ring| (ring, false)));
    }
    // 1
    let ring = IoUring::builder().setup_single_issuer().setup_defer_taskrun().build(depth);
    // 2
    let ring = older(ring.map(|ring| (ring, false)), || {
        IoUring::builder().setup_coop_taskrun().build(depth).map(|ring| (ring, false))
    });
    // 3
    usable(older(ring, || IoUring::new(depth).map(|ring| (ring, true))))
}

fn usable(ring: io::Result<(IoUring, bool)>) -> Result<(IoUring, bool), NoRing> {
    match ring {
        Ok((ring, is_plain)) if ring.params().is_feature_ext_arg() => Ok((ring, is_plain)),
        Ok(_) => Err(NoRing::TooOld),
        Err(error) => Err(match Errno::from_io_error(&error) {
            Some(Errno::NOSYS) => NoRing::Missing,
            Some(Errno::PERM | Errno::ACCESS) => NoRing::Forbidden,
            _ => NoRing::Errno(error.raw_os_error().unwrap_or(libc::EIO)),
        }),
    }
}

/// What came out, or what comes of the next step where the kernel does not know what was asked for.
fn older<T>(made: io::Result<T>, next: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    match made {
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => next(),
        made => made,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_kernel_does_not_know_leads_to_the_next_step() {
        let refused = |number| Err(io::Error::from_raw_os_error(number));
        assert_eq!(older(refused(libc::EINVAL), || Ok(7)).ok(), Some(7));
        let forbidden = older::<u8>(refused(libc::EPERM), || panic!("another step")).map_err(|error| error.kind());
        assert_eq!(forbidden, Err(io::ErrorKind::PermissionDenied));
        assert_eq!(older(Ok(1), || panic!("another step")).ok(), Some(1));
    }
}
