//! The monotonic clocks of the hosts, compared by messages.

use rustix::time::{ClockId, clock_gettime};

/// The time of this host's monotonic clock, in nanoseconds.
pub fn now() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// The clock of another host, compared with this one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offset {
    /// Nanoseconds to add to a moment of this clock.
    pub nanos: i64,
    /// The largest error of the offset: half of the shortest round trip.
    pub uncertainty: u64,
}

/// The offset that the quickest of these round trips shows: each has the time before, the other clock's time, and the
/// time after.
pub fn offset(round_trips: impl Iterator<Item = (u64, u64, u64)>) -> Offset {
    let quickest = round_trips.min_by_key(|(before, _, after)| after - before);
    quickest.map_or(Offset::default(), |(before, there, after)| {
        let middle = before + (after - before) / 2;
        Offset { nanos: there as i64 - middle as i64, uncertainty: (after - before).div_ceil(2) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quickest_round_trip_counts() {
        let slow = (1_000, 9_000, 3_000);
        assert_eq!(offset([slow, (5_000, 10_100, 5_101), slow].into_iter()), Offset { nanos: 5_050, uncertainty: 51 });
        assert_eq!(offset([(5_000, 1_000, 5_100)].into_iter()), Offset { nanos: -4_050, uncertainty: 50 });
    }
}
