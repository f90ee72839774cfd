//! The flush: a base time, and the time to drain the data that the device has accepted but not yet kept.
//!
//! A device with a write cache drains while it accepts data. So the time from the first write to the end of the flush
//! is a line over the written bytes. Its slope is the reciprocal of the drain rate.

use super::estimate::{Estimate, HALVES_DIFFER, Measured, NotMeasured, WIDEST, check_halves, check_samples, line};

/// Bytes that were written and flushed, with the times.
#[derive(Clone, Copy, Debug)]
pub struct Drained {
    /// The bytes.
    pub bytes: u64,
    /// Nanoseconds from the first completion to the end of the flush.
    pub total: f64,
    /// Nanoseconds of the flush alone.
    pub flush: f64,
}

/// Fewest writes with a flush.
const FEWEST: u32 = 6;

/// A flush must take this many times the base, so that the drain is seen. Chosen.
const SEEN: f64 = 2.0;

/// It must also take this share of the total time. Chosen: if a token bucket limits the writes, the total is also a
/// line over the bytes, but the flush drains nothing.
const SHARE: f64 = 0.1;

/// The largest distance of a point from the line, as a share of the total. Chosen: a cache that fills up adds more.
const STRAIGHT: f64 = 0.05;

/// Estimates the drain rate in bytes per second. `base` is the flush of a single small write, in nanoseconds. Each size
/// must occur equally often in both halves.
pub fn drain(points: &[Drained], base: f64) -> Measured {
    check_samples(points.len(), FEWEST)?;
    let (first, second) = points.split_at(points.len() / 2);
    let rate = |points: &[Drained]| {
        let quickest = quickest(points);
        let is_seen = |point: &Drained| point.flush > (SEEN * base).max(SHARE * point.total);
        let seen: Vec<Drained> = quickest.into_iter().filter(is_seen).collect();
        if seen.len() < 3 {
            return Err(NotMeasured::Hidden("flushes take hardly longer after more writes"));
        }
        let line = line(&seen.iter().map(|point| (point.bytes as f64, point.total)).collect::<Vec<_>>());
        let (start, slope) = line.ok_or(NotMeasured::Hidden("all writes have one size"))?;
        let is_near =
            |point: &Drained| (start + slope * point.bytes as f64 - point.total).abs() < STRAIGHT * point.total;
        if slope <= 0.0 || !seen.iter().all(is_near) {
            return Err(NotMeasured::Hidden("the time is not a line over the bytes"));
        }
        Ok(1e9 / slope)
    };
    let (first, second, value) = (rate(first)?, rate(second)?, rate(points)?);
    check_halves(first, second, HALVES_DIFFER)?;
    let (low, high) = (value.min(first).min(second), value.max(first).max(second));
    Estimate { value, low, high, samples: points.len() as u32 }.checked(WIDEST)
}

/// The quickest point of each size.
fn quickest(points: &[Drained]) -> Vec<Drained> {
    let mut sizes: Vec<u64> = points.iter().map(|point| point.bytes).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let of = |size: u64| points.iter().filter(move |point| point.bytes == size);
    sizes.iter().filter_map(|size| of(*size).min_by(|a, b| a.total.total_cmp(&b.total)).copied()).collect()
}

#[cfg(test)]
mod tests {
    use units::Prng;

    use super::*;

    fn points(noise: u64) -> Vec<Drained> {
        let mut chance = Prng::new(2);
        let sizes = [4u64, 8, 16, 32, 64].map(|mib| mib << 20);
        let point = |bytes: u64| {
            let late = if noise > 0 { chance.below(noise) as f64 } else { 0.0 };
            // 250 MB/s behind writes of 2 GB/s, and a base of 1.5 ms.
            let total = 1.5e6 + bytes as f64 * 4.0 + late;
            Drained { bytes, total, flush: total - bytes as f64 * 0.5 }
        };
        sizes.iter().chain(&sizes).chain(&sizes).chain(&sizes).copied().map(point).collect()
    }

    #[test]
    fn the_drain_rate_comes_back() {
        assert!((drain(&points(0), 1.5e6).expect("a line").value / 250e6 - 1.0).abs() < 1e-9);
        assert!((drain(&points(1_000_000), 1.5e6).expect("a line").value / 250e6 - 1.0).abs() < 0.01);
    }

    #[test]
    fn a_bucket_of_bytes_is_no_drain() {
        // 60 MB/s behind 6 MB at once, and flushes of three times the base.
        let limited: Vec<Drained> = (0..24)
            .map(|index| {
                let bytes = 8_000_000 * (1 + index % 6);
                Drained { bytes, total: (bytes - 6_000_000) as f64 / 0.06, flush: 1e5 }
            })
            .collect();
        assert!(matches!(drain(&limited, 35e3), Err(NotMeasured::Hidden(_))));
    }

    #[test]
    fn a_device_without_a_cache_has_no_drain() {
        let flat: Vec<Drained> =
            (0..24).map(|index| Drained { bytes: (index % 6) << 20, total: 1e6 * index as f64, flush: 1e5 }).collect();
        assert!(matches!(drain(&flat, 1e5), Err(NotMeasured::Hidden(_))));
    }
}
