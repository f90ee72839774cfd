//! The speed of memory: copies from a large buffer to a small one, as the kernel copies cached data to a program.

use std::hint::black_box;
use std::time::Instant;

use units::Nanos;

/// The maximum size of the source buffer in bytes. Cached data may be larger. But this exceeds most processor caches,
/// and a program with limited memory can allocate it.
const MOST: u64 = 64 << 20;

/// The number of copies, and their time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Copied {
    pub(crate) copies: u64,
    pub(crate) elapsed: Nanos,
}

/// Copies `call` bytes at a time from a buffer of up to `bytes` bytes, for about this time. Returns `None` if a copy is
/// larger than the largest buffer.
pub(crate) fn copy_memory(call: u64, bytes: u64, time: Nanos) -> Option<Copied> {
    let call = usize::try_from(call).ok().filter(|call| *call > 0 && *call as u64 <= MOST)?;
    let room = usize::try_from(bytes.min(MOST)).ok()?.max(call) / call * call;
    // Not zero: the kernel maps untouched memory to one page of zeros.
    let source = vec![1_u8; room];
    let mut target = vec![0_u8; call];
    let mut copies = 0;
    let began = Instant::now();
    loop {
        for part in source.chunks_exact(call) {
            target.copy_from_slice(part);
            black_box(&mut target);
            copies += 1;
            // Read the clock only once per MiB, so that its cost is negligible.
            let is_due = (copies * call as u64) % CLOCK_BYTES < call as u64;
            if is_due && elapsed(began) >= time {
                return Some(Copied { copies, elapsed: elapsed(began) });
            }
        }
    }
}

/// Bytes between two readings of the clock.
const CLOCK_BYTES: u64 = 1 << 20;

fn elapsed(began: Instant) -> Nanos {
    Nanos(began.elapsed().as_nanos() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_copied_for_the_whole_time() {
        for (call, bytes) in [(1, 4096), (4096, 1 << 20), (3 << 20, 4 << 20), (8192, 1)] {
            let time = Nanos::from_millis(2);
            let Some(Copied { copies, elapsed }) = copy_memory(call, bytes, time) else { panic!("{call} {bytes}") };
            assert!(copies > 0 && elapsed >= time, "{copies} in {elapsed}");
        }
        assert!(copy_memory(0, 4096, Nanos::ZERO).is_none());
        assert!(copy_memory(MOST + 1, u64::MAX, Nanos::ZERO).is_none());
    }
}
