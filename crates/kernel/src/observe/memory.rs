//! Checks for enough memory before a run creates anything. At that point an error loses no work. Files on a file system
//! in memory count, too: the kernel cannot evict them, and may kill a process to make room.

use rustix::process::{Resource, getrlimit};
use units::Bytes;

use crate::errors::Fault;
use crate::observe::counters::{Source, memory_allowed, memory_left};
use crate::observe::mount::{Place, keeps_in_memory};
use crate::sys::payload::RING_BYTES;

/// Most resident memory of the process while it measures, besides its buffers. A debug build used 3 to 8 MB for
/// `tlpi` and `quick`.
const HELD: u64 = 16 << 20;

/// Address space besides the resident memory and the buffers: thread stacks (2 MiB each), the area that the C library
/// reserves per thread (64 MiB, but it manages with less), and the database caches. `quick` and `tlpi` completed with
/// 32 MiB.
const ADDRESSES: u64 = 32 << 20;

/// Address space per program if several run at the same time, each on its own thread: its stack, and its recorded
/// times (a quarter of a megabyte per kind) in pages that the C library does not share between threads.
const ADDRESSES_EACH: u64 = 4 << 20;

/// The maximum size of the first thread's stack. `None` if it is not limited.
pub fn stack_limit() -> Option<Bytes> {
    getrlimit(Resource::Stack).current.map(Bytes)
}

/// Bytes that a run may still write in a place: the free space that its file system reports and, if that keeps files in
/// memory, at most the memory that is left. `None` if neither is known. Swap space does not count. Limits: for an
/// overlay on tmpfs and for devices in memory, only the free space counts. The run's own limit (`--memory`) is set
/// later.
pub fn free_on(place: &Place) -> Option<u64> {
    let is_in_memory = place.file_system.as_deref().is_some_and(keeps_in_memory);
    let memory = is_in_memory.then(|| memory_left(&Source::default())).flatten();
    [place.free_bytes, memory].into_iter().flatten().min()
}

/// Returns an error if there is not enough memory for `programs` programs with calls of up to `largest_call` bytes,
/// and `rings` bytes of io_uring memory.
///   1. The control groups must allow the memory that will be resident.
///   2. The kernel must grant addresses for all of it (`ulimit -v`, strict overcommit). They are requested and
///      released.
pub fn check_memory(programs: usize, largest_call: u32, rings: Bytes) -> Result<(), Fault> {
    // Per program: a payload ring with room for the largest call behind it, and a read buffer.
    let buffers = programs as u64 * (u64::from(RING_BYTES) + 2 * u64::from(largest_call)) + rings.0;
    // 1.
    let held = HELD + buffers;
    if memory_allowed(&Source::default()).is_some_and(|allowed| allowed < held) {
        return Err(Fault::Memory(Bytes(held)));
    }
    // 2.
    let addresses = ADDRESSES + programs as u64 * ADDRESSES_EACH + buffers;
    let refused = Fault::Memory(Bytes(addresses));
    let mut all: Vec<u8> = Vec::new();
    match usize::try_from(addresses) {
        Ok(addresses) if all.try_reserve_exact(addresses).is_ok() => Ok(()),
        _ => Err(refused),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn only_files_in_memory_are_limited_by_memory() {
        let here = Place::under(Path::new("/")).expect("a place");
        let free =
            |kind: &str, free_bytes| free_on(&Place { file_system: Some(kind.to_owned()), free_bytes, ..here.clone() });
        assert_eq!((free("ext4", Some(u64::MAX)), free("ext4", None)), (Some(u64::MAX), None));
        assert_eq!(free("tmpfs", Some(0)), Some(0));
        for free_bytes in [Some(u64::MAX), None] {
            assert!(free("tmpfs", free_bytes).is_some_and(|free| free < u64::MAX), "{free_bytes:?}");
        }
    }
}
