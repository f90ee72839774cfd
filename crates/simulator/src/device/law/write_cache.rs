//! Data that were written and are not durable yet: the room for them, and the time to drain them.

use units::Nanos;

use super::bucket::Level;
use crate::description::{Flush, WriteCache};
use crate::faults::{self, Fault};

/// Units per byte: a rate in bytes per second drains as many units per nanosecond.
const BYTE: u128 = 1_000_000_000;

/// State of the written data.
#[derive(Clone, Debug)]
pub(super) struct Written {
    /// Room in the cache; `None` if writes never wait for room.
    room: Option<Level>,
    /// The rate at which data leave, in units per nanosecond; zero if they leave at once.
    drain: u128,
    /// Data that have not left, in units, at the moment `at`.
    dirty: u128,
    at: Nanos,
}

impl Written {
    pub(super) fn new(cache: Option<&WriteCache>, flush: Option<&Flush>) -> Written {
        let own = cache.map(|cache| cache.drain_bytes_per_second);
        let drain = flush.and_then(|flush| flush.drain_bytes_per_second).or(own).unwrap_or(0);
        let room = |cache: &WriteCache| Level::full(u128::from(cache.bytes) * BYTE, cache.drain_bytes_per_second);
        Written { room: cache.map(room), drain: drain.into(), dirty: 0, at: Nanos::ZERO }
    }

    /// Returns the moment at which a write that arrived at `at` has room.
    pub(super) fn admit(&mut self, at: Nanos, bytes: u32) -> Nanos {
        let share = u128::from(bytes) * BYTE;
        let admitted = match &mut self.room {
            Some(room) if !faults::is_planted(Fault::EndlessWriteCache) => room.take(at, share),
            _ => at,
        };
        self.drain(admitted);
        if self.drain > 0 {
            self.dirty += share;
        }
        admitted
    }

    /// Returns the moment at which a flush that arrived at `at` is complete.
    pub(super) fn flush(&mut self, at: Nanos, flush: &Flush) -> Nanos {
        let base = if faults::is_planted(Fault::NoFlushBase) { Nanos::ZERO } else { flush.base };
        self.drain(at);
        let is_drained = self.drain == 0 || faults::is_planted(Fault::NothingDrained);
        // Data admitted later than `at` count as written before the flush.
        let wait = if is_drained { 0 } else { self.dirty.div_ceil(self.drain) };
        let drained = self.at.max(at).saturating_add(Nanos(u64::try_from(wait).unwrap_or(u64::MAX)));
        drained.saturating_add(base)
    }

    /// Drains until that moment.
    fn drain(&mut self, at: Nanos) {
        self.dirty = self.dirty.saturating_sub(u128::from(at.saturating_sub(self.at).0) * self.drain);
        self.at = self.at.max(at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MB: u32 = 1_000_000;

    fn cache(bytes: u64) -> WriteCache {
        WriteCache { bytes, drain_bytes_per_second: 1_000_000 }
    }

    fn flush(drain: Option<u64>) -> Flush {
        Flush { base: Nanos(7), drain_bytes_per_second: drain }
    }

    #[test]
    fn writes_wait_for_room_once_the_cache_is_full() {
        let mut written = Written::new(Some(&cache(2_000_000)), None);
        let admitted = [0; 4].map(|at| written.admit(Nanos(at), MB).0);
        assert_eq!(admitted, [0, 0, 1_000_000_000, 2_000_000_000]);
    }

    #[test]
    fn a_flush_waits_for_what_was_written() {
        let flush = flush(Some(1_000_000));
        let mut written = Written::new(None, Some(&flush));
        written.admit(Nanos(0), 3 * MB);
        assert_eq!(written.flush(Nanos(0), &flush), Nanos(3_000_000_007));
        // Data also leave between flushes.
        assert_eq!(written.flush(Nanos(2_000_000_000), &flush), Nanos(3_000_000_007));
        assert_eq!(written.flush(Nanos(4_000_000_000), &flush), Nanos(4_000_000_007));
    }

    #[test]
    fn a_flush_of_a_cache_drains_at_the_rate_of_the_cache() {
        let mut written = Written::new(Some(&cache(9_000_000)), Some(&flush(None)));
        written.admit(Nanos(0), MB);
        assert_eq!(written.flush(Nanos(0), &flush(None)), Nanos(1_000_000_007));
    }

    #[test]
    fn without_a_drain_a_flush_takes_its_base() {
        let mut written = Written::new(None, Some(&flush(None)));
        written.admit(Nanos(0), MB);
        assert_eq!(written.flush(Nanos(5), &flush(None)), Nanos(12));
    }
}
