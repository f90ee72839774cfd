//! The gate and the latency table: when a request begins, and how long it takes.

use units::Nanos;

use crate::description::{Latency, LatencyTable};
use crate::faults::{self, Fault};

/// The moment at which the next request may pass. Reads and writes pass the same gate, in the order of arrival.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Passage {
    free: Nanos,
}

impl Passage {
    /// Lets a request pass that arrived at that moment. The next one passes `spacing` later at the earliest.
    pub(super) fn pass(&mut self, at: Nanos, spacing: Nanos) -> Nanos {
        let begins = at.max(self.free);
        self.free = begins.saturating_add(spacing);
        begins
    }
}

/// Spacing of a request of that size after this gate.
pub(super) fn spacing(gate: &crate::description::Gate, bytes: u32) -> Nanos {
    let mut gate = *gate;
    if faults::is_planted(Fault::NoRequestGate) {
        gate.request = Nanos::ZERO;
    }
    if faults::is_planted(Fault::NoByteGate) {
        gate.byte_picos = 0;
    }
    gate.spacing(bytes)
}

/// Time of a request at depth 1, by the rule of [`LatencyTable`].
pub(super) fn latency(table: &LatencyTable, bytes: u32) -> Nanos {
    let points = &table.points;
    let Some((first, last)) = points.first().zip(points.last()) else { return Nanos::ZERO };
    if bytes <= first.bytes || faults::is_planted(Fault::OneLatency) {
        return first.time;
    }
    let above = points.partition_point(|point| point.bytes < bytes);
    match points.get(above) {
        Some(above_point) => between(points[above - 1], *above_point, bytes),
        None if points.len() == 1 => last.time,
        None => between(points[points.len() - 2], *last, bytes).max(last.time),
    }
}

/// The time on the straight line through two points, rounded down, and not below zero.
fn between(low: Latency, high: Latency, bytes: u32) -> Nanos {
    let (run, step) = (i128::from(high.bytes) - i128::from(low.bytes), i128::from(bytes) - i128::from(low.bytes));
    let rise = i128::from(high.time.0) - i128::from(low.time.0);
    let time = i128::from(low.time.0) + (rise * step).div_euclid(run);
    Nanos(u64::try_from(time.max(0)).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    fn table(points: &[(u32, u64)]) -> LatencyTable {
        let point = |&(bytes, nanos)| Latency { bytes, time: Nanos(nanos) };
        LatencyTable { points: points.iter().map(point).collect::<Vec<_>>() }
    }

    #[test]
    fn sizes_between_are_interpolated() {
        let table = table(&[(4096, 1000), (8192, 2000), (16384, 3000)]);
        let times = [4096, 6144, 8192, 12288, 16384].map(|bytes| latency(&table, bytes).0);
        assert_eq!(times, [1000, 1500, 2000, 2500, 3000]);
    }

    #[test]
    fn small_sizes_take_the_time_of_the_first() {
        let table = table(&[(4096, 1000), (8192, 9000)]);
        assert_eq!([1, 512, 4096].map(|bytes| latency(&table, bytes).0), [1000; 3]);
    }

    #[test]
    fn large_sizes_follow_the_last_slope_and_never_shrink() {
        assert_eq!(latency(&table(&[(4096, 1000), (8192, 2000)]), 16384), Nanos(4000));
        assert_eq!(latency(&table(&[(4096, 2000), (8192, 1000)]), 16384), Nanos(1000));
        assert_eq!(latency(&table(&[(4096, 2000)]), 16384), Nanos(2000));
    }

    #[test]
    fn requests_pass_in_order_a_spacing_apart() {
        let mut passage = Passage::default();
        let begins = [0, 0, 5, 100].map(|at| passage.pass(Nanos(at), Nanos(10)).0);
        assert_eq!(begins, [0, 10, 20, 100]);
    }
}
