//! Figures of the running phase for another thread, which may show them meanwhile. Streams add to them only at the end
//! of an interval, by atomic additions: a stream neither waits nor allocates. The other thread takes snapshots.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use stats::{INTERVAL, Latencies};
use units::Nanos;

/// Bits of a latency that are distinguished below its highest one. Chosen: three digits of a time need a bucket of
/// less than 1 %.
const BITS: u32 = 7;

/// Buckets of each power of two.
const ROW: usize = 1 << BITS;

/// Buckets for all numbers of 64 bits: a row for the numbers below 128, and one for each further power of two.
const BUCKETS: usize = ROW * (u64::BITS - BITS + 1) as usize;

/// The value of `Live::began` before a measured stream has begun.
const NOT_YET: u64 = u64::MAX;

/// The finished intervals of all streams, added up since the program started.
#[derive(Debug)]
pub struct Live {
    /// Units of work, by latency.
    buckets: Box<[AtomicU64]>,
    /// Bytes moved.
    bytes: AtomicU64,
    /// Finished intervals: each stream has its own.
    intervals: AtomicU64,
    /// Streams that run now.
    streams: AtomicU64,
    /// The start of the time in `began`.
    created: Instant,
    /// Nanoseconds until the first measured stream began; `NOT_YET` before that.
    began: AtomicU64,
    /// True if the running phase is to end early. Its result counts nevertheless.
    enough: Arc<AtomicBool>,
}

impl Default for Live {
    fn default() -> Live {
        Live {
            buckets: (0..BUCKETS).map(|_| AtomicU64::new(0)).collect(),
            bytes: AtomicU64::new(0),
            intervals: AtomicU64::new(0),
            streams: AtomicU64::new(0),
            created: Instant::now(),
            began: AtomicU64::new(NOT_YET),
            enough: Arc::default(),
        }
    }
}

impl Live {
    /// The flag that ends the running phase early. The result of the phase counts nevertheless.
    pub fn enough(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.enough)
    }

    /// True if the running phase shall end.
    pub fn has_enough(&self) -> bool {
        self.enough.load(Ordering::Relaxed)
    }

    /// A stream begins. It has ended when the returned value is dropped.
    pub(crate) fn begin(&'static self) -> LiveStream {
        self.streams.fetch_add(1, Ordering::Relaxed);
        self.began.fetch_min(self.created.elapsed().as_nanos() as u64, Ordering::Relaxed);
        LiveStream(self)
    }

    /// True if anything was measured: a stream has begun.
    pub fn has_begun(&self) -> bool {
        self.began.load(Ordering::Relaxed) != NOT_YET
    }

    /// The time since the first measured stream began. Zero before that.
    pub fn measured_for(&self) -> Nanos {
        Nanos((self.created.elapsed().as_nanos() as u64).saturating_sub(self.began.load(Ordering::Relaxed)))
    }

    /// The figures now.
    pub fn snapshot(&self) -> Snapshot {
        let read = |number: &AtomicU64| number.load(Ordering::Relaxed);
        Snapshot {
            buckets: self.buckets.iter().map(read).collect(),
            bytes: read(&self.bytes),
            intervals: read(&self.intervals),
            streams: read(&self.streams),
        }
    }
}

/// A running stream.
pub(crate) struct LiveStream(&'static Live);

impl LiveStream {
    /// Adds a finished interval.
    pub(crate) fn add(&self, units: &Latencies, bytes: u64) {
        for (time, count) in units.filled() {
            self.0.buckets[bucket(time)].fetch_add(count, Ordering::Relaxed);
        }
        self.0.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.0.intervals.fetch_add(1, Ordering::Relaxed);
    }

    /// True if the running phase shall end.
    pub(crate) fn has_enough(&self) -> bool {
        self.0.has_enough()
    }
}

impl Drop for LiveStream {
    fn drop(&mut self) {
        self.0.streams.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The figures at one moment.
#[derive(Clone, Debug)]
pub struct Snapshot {
    buckets: Vec<u64>,
    bytes: u64,
    intervals: u64,
    streams: u64,
}

/// The figures of the intervals that finished between two snapshots.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Between {
    /// Units of work per second.
    pub per_second: f64,
    /// Bytes per second.
    pub bytes_per_second: f64,
    /// Median latency in nanoseconds. `None` if no unit was completed.
    pub p50: Option<u64>,
    /// 99th percentile of the latency in nanoseconds.
    pub p99: Option<u64>,
}

impl Snapshot {
    /// True if a stream runs.
    pub fn runs(&self) -> bool {
        self.streams > 0
    }

    /// The figures since the snapshot `before`, which was taken `ago` before this one. `None` if no interval finished
    /// between the two.
    pub fn since(&self, before: &Snapshot, ago: Duration) -> Option<Between> {
        let intervals = self.intervals.saturating_sub(before.intervals);
        let streams = self.streams.max(before.streams);
        if intervals == 0 || streams == 0 {
            return None;
        }
        let counts: Vec<u64> =
            self.buckets.iter().zip(&before.buckets).map(|(now, then)| now.saturating_sub(*then)).collect();
        let units: u64 = counts.iter().sum();
        let finished = intervals as f64 * INTERVAL.as_secs_f64() / streams as f64;
        // The finished intervals are the exact time, unless a stream stalls or has ended. Then it finishes no interval,
        // or several at once.
        let is_steady = (finished - ago.as_secs_f64()).abs() <= INTERVAL.as_secs_f64();
        let seconds = if is_steady { finished } else { ago.as_secs_f64() };
        Some(Between {
            per_second: units as f64 / seconds,
            bytes_per_second: self.bytes.saturating_sub(before.bytes) as f64 / seconds,
            p50: percentile(&counts, units, 50),
            p99: percentile(&counts, units, 99),
        })
    }
}

/// The bucket of a latency.
fn bucket(time: u64) -> usize {
    let row = (u64::BITS - (time | (ROW as u64 - 1)).leading_zeros()) - BITS;
    (time >> row.saturating_sub(1)) as usize + row.saturating_sub(1) as usize * ROW
}

/// The longest latency of a bucket.
fn longest(bucket: usize) -> u64 {
    let shift = (bucket / ROW).saturating_sub(1);
    let time = (bucket - shift * ROW) as u64;
    time << shift | ((1 << shift) - 1)
}

/// The longest latency of the bucket that contains the percentile. `None` if there is no unit.
fn percentile(counts: &[u64], units: u64, percent: u64) -> Option<u64> {
    let wanted = (units * percent).div_ceil(100).max(1);
    let mut seen = 0;
    counts.iter().enumerate().find_map(|(bucket, count)| {
        seen += count;
        (seen >= wanted).then(|| longest(bucket))
    })
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    fn latencies(times: &[u64]) -> Latencies {
        let mut all = Latencies::default();
        times.iter().for_each(|time| all.record(Nanos(*time)));
        all
    }

    #[test]
    fn a_latency_is_in_a_bucket_of_less_than_a_percent() {
        let times =
            (0..u64::BITS).flat_map(|bits| [0, 1, 5].map(|more| (1u64 << bits).saturating_add(more << bits >> 3)));
        for time in times.chain(0..200).chain([u64::MAX]) {
            let (place, end) = (bucket(time), longest(bucket(time)));
            assert!(place < BUCKETS && end >= time && (end - time) as f64 <= 0.008 * time as f64, "{time}");
            assert!(bucket(end) == place && end.checked_add(1).is_none_or(|next| bucket(next) == place + 1), "{time}");
        }
    }

    #[test]
    fn rates_are_of_finished_intervals_whatever_the_time_between_snapshots() {
        let live: &'static Live = Box::leak(Box::default());
        let before = live.snapshot();
        assert_eq!(before.since(&before, Duration::from_secs(1)), None);
        let streams = [live.begin(), live.begin()];
        // Two streams, each with four quarters of a second.
        for _ in 0..4 {
            streams.iter().for_each(|stream| stream.add(&latencies(&[1000; 25]), 25 * 512));
        }
        let now = live.snapshot();
        let figures = now.since(&before, Duration::from_millis(900)).expect("figures");
        assert_eq!((figures.per_second, figures.bytes_per_second), (200.0, 102_400.0));
        assert_eq!((figures.p50, figures.p99), (Some(1003), Some(1003)));
        // A quarter without a completed unit.
        streams[0].add(&latencies(&[]), 0);
        let stalled = live.snapshot().since(&now, Duration::from_millis(250)).expect("an interval");
        assert_eq!((stalled.per_second, stalled.p50, stalled.p99), (0.0, None, None));
        // One stream stalls for a second, while the other works.
        let now = live.snapshot();
        (0..4).for_each(|_| streams[0].add(&latencies(&[1000; 25]), 0));
        let one = live.snapshot().since(&now, Duration::from_secs(1)).expect("figures");
        assert_eq!(one.per_second, 100.0);
        drop(streams);
        assert!(now.runs() && !live.snapshot().runs());
    }

    #[test]
    fn the_measured_time_counts_from_the_first_stream() {
        let live: &'static Live = Box::leak(Box::default());
        thread::sleep(Duration::from_millis(2));
        assert_eq!((live.has_begun(), live.measured_for()), (false, Nanos::ZERO));
        drop(live.begin());
        let began = Instant::now();
        thread::sleep(Duration::from_millis(2));
        // A second stream does not change it.
        let _second = live.begin();
        let waited = began.elapsed().as_nanos() as u64;
        assert!(live.has_begun() && live.measured_for() >= Nanos(waited));
    }

    #[test]
    fn percentiles_are_exact_in_their_rank() {
        let mut counts = vec![0; BUCKETS];
        (counts[3], counts[7]) = (99, 1);
        assert_eq!([50, 99, 100].map(|percent| percentile(&counts, 100, percent)), [Some(3), Some(3), Some(7)]);
        assert_eq!(percentile(&[0; 4], 0, 50), None);
    }
}
