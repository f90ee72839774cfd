//! Sets up the best ring that this kernel and this user allow.
//!
//! Policy; each step is taken only if the one before is refused:
//!   1. a single issuer with deferred task work, which runs when the task asks for it (Linux 6.1);
//!   2. cooperative task work, which interrupts the task as late as possible (5.19);
//!   3. a plain ring, which can wait with a timeout (5.11). Without that there is no ring.
//!
//! Files and buffers are registered if the kernel allows it, so that it need not look them up for each op. A refusal
//! is reported.

use std::fmt;
use std::io;
use std::sync::OnceLock;

use io_uring::IoUring;
use rustix::io::Errno;
use units::{Errno as Said, Nanos};

/// The maximum queue depth: IORING_MAX_ENTRIES (io_uring/io_uring.h of Linux).
pub const MOST_DEPTH: u32 = 32768;

/// The maximum memory of a ring in bytes: the kernel registers at most 1 GiB as one buffer.
pub const MOST_BYTES: u64 = 1 << 30;

/// Time after which an idle polling thread sleeps, in whole milliseconds. Guess: longer than a slow disk takes, so
/// that it sleeps only when the program has ended.
const PATIENCE: Nanos = Nanos::from_millis(100);

/// The reason why no ring can be set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoRing {
    /// The kernel does not support io_uring.
    Missing,
    /// This user may not use it, or no user may.
    Forbidden,
    /// It cannot wait with a timeout.
    TooOld,
    /// Another error, with its number.
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

/// A limitation of a ring, or work that it could not do by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Degradation {
    /// Its memory is not registered: the limit on locked memory is too low.
    LockedMemory,
    /// Its memory or its files are not registered for another reason.
    Registration(i32),
    /// The ring is plain (step 3): completions interrupt the program.
    Plain,
    /// Kernel workers did part of the work, which costs a context switch for each op.
    Workers,
    /// The work of kernel workers is not visible.
    UnseenWorkers,
}

impl fmt::Display for Degradation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Degradation::LockedMemory => f.write_str(
                "io_uring works without registered buffers: the limit on locked memory is too low (ulimit -l)",
            ),
            Degradation::Registration(number) => {
                let why = Said(*number);
                write!(f, "io_uring works without registered files or buffers: {why}")
            }
            Degradation::Plain => {
                f.write_str("completions interrupt the program: this kernel is older than Linux 5.19")
            }
            Degradation::Workers => f.write_str(
                "io_uring handed operations to kernel workers because this file system would have blocked; their CPU \
                 time is counted",
            ),
            Degradation::UnseenWorkers => f.write_str(
                "the CPU time of io_uring's kernel workers is not visible here (/proc/self/task) and not counted",
            ),
        }
    }
}

/// Returns why no ring can be set up here, or `None` if one can. Tested only once.
pub fn no_ring() -> Option<NoRing> {
    static TRIED: OnceLock<Option<NoRing>> = OnceLock::new();
    *TRIED.get_or_init(|| make(1, false).err())
}

/// Sets up a ring for `depth` ops, and returns whether it is a plain one. The steps do not apply to a polled ring: it
/// has a kernel thread that starts the ops it finds, and sleeps after it has found none for [`PATIENCE`].
pub(super) fn make(depth: u32, polled: bool) -> Result<(IoUring, bool), NoRing> {
    if polled {
        // Twice the depth, because an op may complete before its entry is free again: the polling thread frees
        // entries only after it has started all ops that it found.
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

/// Sets up a ring for `depth` requests of a tape.
pub(crate) fn ring(depth: u32) -> Result<IoUring, NoRing> {
    make(depth, false).map(|(ring, _)| ring)
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

/// Returns the ring, or the result of the next step if the kernel does not know the requested features.
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
    fn only_unknown_features_lead_to_the_next_fallback() {
        let refused = |number| Err(io::Error::from_raw_os_error(number));
        assert_eq!(older(refused(libc::EINVAL), || Ok(7)).ok(), Some(7));
        let forbidden = older::<u8>(refused(libc::EPERM), || panic!("another step")).map_err(|error| error.kind());
        assert_eq!(forbidden, Err(io::ErrorKind::PermissionDenied));
        assert_eq!(older(Ok(1), || panic!("another step")).ok(), Some(1));
    }
}
