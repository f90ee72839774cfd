//! The findings of a probe: each constant, or the reason why it is not measured.

use stats::probe::latency::Times;
use stats::probe::track::Order;
use stats::probe::{Measured, NotMeasured};

use super::hidden;
use super::latencies::Latencies;
use super::session::{Player, Session};

/// The constants of a device.
#[derive(Clone, Debug)]
pub struct Findings {
    /// Size of the device or file, in bytes.
    pub capacity: u64,
    /// Smallest unit of offsets and sizes, in bytes.
    pub alignment: u32,
    /// The source of the latencies.
    pub latency_times: Times,
    /// Reads.
    pub reads: Direction,
    /// Writes.
    pub writes: Direction,
    /// The bucket that counts requests.
    pub requests: Bucket,
    /// The bucket that counts bytes.
    pub bytes: Bucket,
    /// Nanoseconds of a flush with nothing to drain.
    pub flush_base: Measured,
    /// The source of `flush_base`.
    pub flush_times: Times,
    /// Bytes per second that a flush waits for.
    pub flush_drain: Measured,
    /// Bytes of the write cache.
    pub cache_size: Measured,
    /// Bytes per second that leave the write cache.
    pub cache_drain: Measured,
    /// Bytes of a page of a striped device.
    pub page: Measured,
    /// Channels of a striped device.
    pub channels: Measured,
    /// The constants of a rotating disk; `None` if it does not rotate.
    pub rotating: Option<Rotating>,
}

/// The requests that a bucket limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Reads; writes were not probed.
    Reads,
    /// Reads and writes.
    All,
    /// Reads, and perhaps writes: their rate is not measured, or is another one.
    Unclear,
}

/// Reads or writes.
#[derive(Clone, Debug)]
pub struct Direction {
    /// Nanoseconds of a request at depth 1, by size.
    pub latency: Vec<(u32, Measured)>,
    /// Least nanoseconds between requests.
    pub gate_request: Measured,
    /// Least nanoseconds per byte.
    pub gate_byte: Measured,
}

/// A token bucket.
#[derive(Clone, Copy, Debug)]
pub struct Bucket {
    /// Tokens per second.
    pub rate: Measured,
    /// Tokens of the full bucket.
    pub burst: Measured,
    /// Tokens that came back per second of rest.
    pub refill: Measured,
    /// The requests that it limits.
    pub scope: Scope,
}

/// The constants of a rotating disk.
#[derive(Clone, Debug)]
pub struct Rotating {
    /// Nanoseconds of a turn.
    pub turn: Measured,
    /// The zones, in the order of their places.
    pub zones: Vec<Zone>,
    /// Skews and heads, in the middle of the first zone that is measured.
    pub order: Order,
    /// Nanoseconds of a seek over these percents of the capacity.
    pub seeks: Vec<(u32, Measured)>,
}

/// Tracks with equal numbers of sectors.
#[derive(Clone, Copy, Debug)]
pub struct Zone {
    /// Bytes of the disk before the zone.
    pub begin: Measured,
    /// Sectors per track.
    pub sectors: Measured,
}

/// The reason for constants that the probe did not try to measure.
const NOT_TRIED: Measured = hidden("not tried");

/// The reason for the limits of writes on a device that is only read.
const ONLY_READ: Measured = hidden("a device is only read; name a directory on it");

/// The reason for constants that are not measured on a rotating disk.
const ROTATES: Measured = hidden("the time depends on the place: the disk rotates");

impl Bucket {
    pub(crate) const fn unknown(why: NotMeasured) -> Bucket {
        Bucket { rate: Err(why), burst: Err(why), refill: Err(why), scope: Scope::Reads }
    }
}

impl Findings {
    pub(crate) fn new<P: Player>(session: &Session<'_, P>, latencies: Latencies) -> Findings {
        let of_writes = if session.settings.writes { NOT_TRIED } else { ONLY_READ };
        let direction = |latency, untried| Direction { latency, gate_request: untried, gate_byte: untried };
        let bucket = Bucket::unknown(NotMeasured::Hidden("not tried"));
        Findings {
            capacity: session.player.capacity(),
            alignment: session.player.alignment(),
            latency_times: Times::OfProgram,
            reads: direction(latencies.reads, NOT_TRIED),
            writes: direction(latencies.writes, of_writes),
            requests: bucket,
            bytes: bucket,
            flush_base: of_writes,
            flush_times: Times::OfProgram,
            flush_drain: of_writes,
            cache_size: of_writes,
            cache_drain: of_writes,
            page: NOT_TRIED,
            channels: NOT_TRIED,
            rotating: None,
        }
    }

    /// Marks the device as a rotating disk.
    pub(crate) fn rotating(&mut self, rotating: Rotating) {
        for direction in [&mut self.reads, &mut self.writes] {
            direction.latency.iter_mut().for_each(|(_, latency)| *latency = ROTATES);
            (direction.gate_request, direction.gate_byte) = (ROTATES, ROTATES);
        }
        for bucket in [&mut self.requests, &mut self.bytes] {
            (bucket.rate, bucket.burst, bucket.refill) = (ROTATES, ROTATES, ROTATES);
        }
        (self.page, self.channels) = (ROTATES, ROTATES);
        for untried in [&mut self.flush_base, &mut self.flush_drain, &mut self.cache_size, &mut self.cache_drain] {
            *untried = ROTATES;
        }
        self.rotating = Some(rotating);
    }
}
