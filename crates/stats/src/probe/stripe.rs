//! The page and the channels of a striped device: two small reads at once take longer if one channel serves both.

use super::estimate::{Estimate, Measured, NotMeasured};

/// The time of two reads at once, at this distance.
#[derive(Clone, Copy, Debug)]
pub struct Pair {
    /// Distance of their offsets, in bytes.
    pub distance: u64,
    /// Nanoseconds until both are done: a low percentile.
    pub time: f64,
    /// Number of such pairs.
    pub samples: u32,
}

/// The layout of a striped device.
#[derive(Clone, Copy, Debug)]
pub struct Stripes {
    /// Bytes of a page: neighbours within it share a channel.
    pub page: Measured,
    /// Number of channels.
    pub channels: Measured,
}

/// Reads of one channel take longer by at least this factor. Chosen: two reads one after the other take twice as long.
const LONGER: f64 = 1.4;

/// The times of one group may spread by this factor. Chosen.
const ALIKE: f64 = 1.15;

/// Finds the layout. The pairs are in the order of their distances, which begin with the smallest. The first read of
/// each pair begins a page.
pub fn stripes(pairs: &[Pair]) -> Stripes {
    let none = |why| Stripes { page: Err(NotMeasured::Hidden(why)), channels: Err(NotMeasured::Hidden(why)) };
    let [quick, slow] = [f64::min as fn(f64, f64) -> f64, f64::max]
        .map(|of| pairs.iter().map(|pair| pair.time).reduce(of).unwrap_or(f64::NAN));
    if slow.is_nan() || slow < LONGER * quick {
        return none("pairs at all distances take the same time");
    }
    let is_slow = |pair: &Pair| pair.time > (quick * slow).sqrt();
    let is_clear = |pair: &Pair| pair.time < ALIKE * quick || pair.time > slow / ALIKE;
    if !pairs.iter().all(is_clear) {
        return none("the times of pairs vary");
    }
    let Some(first) = pairs.iter().position(|pair| !is_slow(pair)) else {
        return none("pairs at all distances take the same time");
    };
    if first == 0 {
        return none("neighbours do not share a channel");
    }
    let exact = |value: f64, low: f64, high: f64, samples: u32| Estimate { value, low, high, samples };
    let samples = pairs.iter().map(|pair| pair.samples).min().unwrap_or(0);
    // The page ends behind the last slow distance, and not beyond the first quick one.
    let (last_slow, page) = (pairs[first - 1].distance as f64, pairs[first].distance as f64);
    let again = pairs[first..].iter().find(|pair| is_slow(pair)).map(|pair| pair.distance as f64 / page);
    let channels = match again {
        Some(count) if count.fract() == 0.0 => Ok(exact(count, count, count, samples)),
        Some(_) => Err(NotMeasured::Hidden("the distances do not fit the page")),
        None => Err(NotMeasured::Hidden("no distance returns to the first channel")),
    };
    Stripes { page: exact(page, last_slow, page, samples).checked(1.0), channels }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(page: u64, channels: u64) -> Vec<Pair> {
        let time = |distance: u64| if (distance / page).is_multiple_of(channels) { 200_000.0 } else { 100_000.0 };
        let distances = [1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32, 64, 128].map(|blocks| blocks * 4096);
        distances.map(|distance| Pair { distance, time: time(distance), samples: 20 }).to_vec()
    }

    #[test]
    fn page_and_channels_come_back() {
        let found = stripes(&pairs(16_384, 8));
        assert_eq!(found.page.map(|page| page.value), Ok(16_384.0));
        assert_eq!(found.channels.map(|channels| channels.value), Ok(8.0));
    }

    #[test]
    fn equal_times_have_no_stripes() {
        let found = stripes(&pairs(4096, 1));
        assert!(found.page.is_err() && found.channels.is_err());
        let mut varying = pairs(16_384, 8);
        varying[2].time = 150_000.0;
        assert!(stripes(&varying).page.is_err());
        assert!(stripes(&[]).page.is_err());
    }
}
