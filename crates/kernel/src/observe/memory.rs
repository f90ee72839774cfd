//! Whether there is memory for what is to come: asked before anything is made, when nothing is lost by ending.

use rustix::process::{Resource, getrlimit};
use units::Bytes;

use crate::errors::Fault;
use crate::observe::counters::{Source, memory_allowed};
use crate::sys::payload::RING_BYTES;

/// What the program holds in memory beside its buffers, at most, while it measures: 3 to 8 MB were seen of `tlpi` and
/// `quick` in a build that is not optimised.
const HELD: u64 = 16 << 20;

/// What it takes of addresses beside them: stacks of its threads (2 MiB each), what the C library sets aside for a
/// thread (64 MiB, of which it makes do with less), the store's caches. With 32 MiB `quick` and `tlpi` came to their
/// end.
const ADDRESSES: u64 = 32 << 20;

/// What each program takes of addresses where several run at once, each on a thread of its own: its stack, and its
/// times (a quarter of a megabyte for each kind) in pages that the C library does not share between threads.
const ADDRESSES_EACH: u64 = 4 << 20;

/// How far the stack of the first thread may grow; nothing if it is not limited.
pub fn stack_limit() -> Option<Bytes> {
    getrlimit(Resource::Stack).current.map(Bytes)
}

/// Refuses where so many programs, with calls of that size and `rings` at once, would not have the memory that they
/// need.
///   1. No control group may allow less than is held;
///   2. the kernel must have addresses for all of it (`ulimit -v`, strict overcommit): they are asked for, and given
///      back.
pub fn check_memory(programs: usize, largest_call: u32, rings: Bytes) -> Result<(), Fault> {
    // A ring with room for the largest call behind it, and what is read into.
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
