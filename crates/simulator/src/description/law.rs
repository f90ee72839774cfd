//! A device as a law: the time of a request follows from its kind, its size and the requests before it, not from its
//! place. `probe` measures laws, and `machines/device/` has some.
//!
//! A request passes these mechanisms in this order:
//!
//! ```text
//!   issued ─> buckets: a rate limit with credit ─> gate: least spacing ─> write cache: room ─> latency ─> complete
//! ```

use alloc::string::String;
use alloc::vec::Vec;

use units::Nanos;
use workload::TapeKind;

use super::Invalid;

/// The longest latency, flush or spacing of a device: an hour.
const LONGEST: Nanos = Nanos::from_secs(3_600);

/// The largest number of bytes, and of bytes per second: about an exabyte, a hundred times the largest volumes of
/// today.
const MOST_BYTES: u64 = 1 << 60;

/// The highest rate of a bucket, in thousandths of a token per second. For bytes, this is about a petabyte per second.
const MOST_MILLI_RATE: u64 = MOST_BYTES;

/// The gate's spacing may exceed the latency at depth 1 by this factor. Both are measured, and a device that does not
/// overlap requests has the same time for both. A guess.
pub const GATE_PER_LATENCY: u64 = 2;

/// The drain rates of the flush and of the cache may differ by this factor: they are two measurements of one thing. A
/// guess.
const DRAIN_PER_DRAIN: u64 = 2;

/// A device described by the times of its requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceLaw {
    /// The name: `AWS EBS gp3`.
    pub name: String,
    /// Size of the device.
    pub capacity_bytes: u64,
    /// Smallest unit of offsets and sizes.
    pub alignment_bytes: u32,
    /// Time of a read at depth 1. `None`: reads have no law.
    pub read_latency: Option<LatencyTable>,
    /// Time of a write at depth 1. `None`: writes have no law.
    pub write_latency: Option<LatencyTable>,
    /// Least spacing of reads. `None`: no least spacing.
    pub read_gate: Option<Gate>,
    /// Least spacing of writes. `None`: no least spacing.
    pub write_gate: Option<Gate>,
    /// Rate limits. A request waits for all of them.
    pub buckets: Vec<Bucket>,
    /// Time of a flush. `None`: flushes have no law.
    pub flush: Option<Flush>,
    /// The cache for writes. `None`: writes never wait for room.
    pub write_cache: Option<WriteCache>,
}

/// Times at depth 1, by size. Between two sizes the time is on the straight line through both, rounded down. Below the
/// first size it is the time of the first size: a straight line would continue to zero or below. Above the last size it
/// grows as between the last two sizes, and never shrinks. A table of one size has that time for every size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LatencyTable {
    /// The measured sizes, ascending.
    pub points: Vec<Latency>,
}

impl LatencyTable {
    /// The gate of a device that serves requests one after the other. `None` for an empty table.
    pub fn in_turn(&self) -> Option<Gate> {
        let (smallest, largest) = (self.points.first()?, self.points.last()?);
        let byte_picos = largest.time.0.saturating_mul(1000) / u64::from(largest.bytes.max(1));
        Some(Gate { request: smallest.time, byte_picos })
    }
}

/// The time of a request of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Latency {
    /// The size.
    pub bytes: u32,
    /// The time from issue to completion.
    pub time: Nanos,
}

/// The least spacing of requests, which limits their rate at any queue depth: `request`, or the sum over its bytes if
/// that is longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gate {
    /// Spacing of requests of any size.
    pub request: Nanos,
    /// Spacing per byte, in picoseconds.
    pub byte_picos: u64,
}

/// A token bucket. It is full when the device is switched on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// The name in settings: `requests` in `bucket.requests.rate`.
    pub name: String,
    /// The requests that it limits.
    pub limits: Limits,
    /// The unit of its tokens.
    pub tokens: Tokens,
    /// Thousandths of a token that it gains per second.
    pub milli_tokens_per_second: u64,
    /// Most tokens that it holds.
    pub burst_tokens: u64,
}

/// The requests that a bucket limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limits {
    /// Reads and writes together.
    All,
    /// Reads.
    Reads,
    /// Writes.
    Writes,
}

impl Limits {
    /// All choices with their names.
    pub const NAMES: [(&str, Limits); 3] = [("all", Limits::All), ("reads", Limits::Reads), ("writes", Limits::Writes)];
}

/// The unit of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tokens {
    /// A byte.
    Bytes,
    /// A request of up to `unit_bytes` bytes; a larger one costs more tokens. Zero: any size.
    Requests {
        /// The size that one token pays for.
        unit_bytes: u32,
        /// The unit that is counted as a request.
        counts: Counts,
    },
}

/// The unit that a bucket of requests counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counts {
    /// Requests, as the device gets them.
    Requests,
    /// The bios that the block layer merged into requests, as the limits of Linux do.
    Bios,
}

impl Counts {
    /// All choices with their names.
    pub const NAMES: [(&str, Counts); 2] = [("requests", Counts::Requests), ("bios", Counts::Bios)];
}

/// The time of a flush: `base`, plus the time to drain the data written before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flush {
    /// Time of a flush with nothing to drain.
    pub base: Nanos,
    /// Rate at which written data leave the cache, also between flushes. `None`: a flush drains nothing.
    pub drain_bytes_per_second: Option<u64>,
}

/// A cache for writes. Writes take the time of their table until it is full, and then wait for room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteCache {
    /// Its size.
    pub bytes: u64,
    /// Rate at which written data leave it.
    pub drain_bytes_per_second: u64,
}

impl DeviceLaw {
    /// Checks that the law is possible. Returns the first problem, with the name of the key in the device's file.
    pub fn check(&self) -> Result<(), Invalid> {
        let within = Invalid::unless_within;
        within("capacity", self.capacity_bytes, 1, MOST_BYTES, "the size of the device")?;
        within("alignment", self.alignment_bytes.into(), 1, 1 << 20, "512 or 4096 bytes")?;
        let hint = "a whole number of the smallest unit";
        if !self.capacity_bytes.is_multiple_of(self.alignment_bytes.into()) {
            return Err(Invalid::new("capacity", "is not a multiple of alignment", hint));
        }
        if self.read_latency.is_none() && self.write_latency.is_none() {
            let hint = "measure at least one of read_latency and write_latency";
            return Err(Invalid::new("read_latency", "neither reads nor writes have a law", hint));
        }
        if let Some(table) = &self.read_latency {
            table.check("read_latency")?;
        }
        if let Some(table) = &self.write_latency {
            table.check("write_latency")?;
        }
        if let Some(gate) = &self.read_gate {
            gate.check(self.read_latency.as_ref(), "read_gate", "read_gate.request", "read_gate.byte")?;
        }
        if let Some(gate) = &self.write_gate {
            gate.check(self.write_latency.as_ref(), "write_gate", "write_gate.request", "write_gate.byte")?;
        }
        for (index, bucket) in self.buckets.iter().enumerate() {
            bucket.check()?;
            if self.buckets[..index].iter().any(|other| other.name == bucket.name) {
                return Err(Invalid::new("bucket", "two buckets have the same name", "rename one of them"));
            }
        }
        self.check_cache()
    }

    fn check_cache(&self) -> Result<(), Invalid> {
        let within = Invalid::unless_within;
        if let Some(flush) = &self.flush {
            Invalid::unless_at_most("flush.base", flush.base, LONGEST, "a flush takes milliseconds")?;
            if let Some(rate) = flush.drain_bytes_per_second {
                within("flush.drain", rate, 1, MOST_BYTES, "the rate at which written data become durable")?;
            }
        }
        let Some(cache) = &self.write_cache else { return Ok(()) };
        within("write_cache.size", cache.bytes, 1, MOST_BYTES, "or write_cache without a size: none")?;
        within("write_cache.drain", cache.drain_bytes_per_second, 1, MOST_BYTES, "the rate once the cache is full")?;
        if self.write_latency.is_none() {
            let hint = "measure writes, too";
            return Err(Invalid::new("write_cache", "a write cache, but write_latency has no law", hint));
        }
        let own = cache.drain_bytes_per_second;
        let is_far =
            |other: u64| other > own.saturating_mul(DRAIN_PER_DRAIN) || own > other.saturating_mul(DRAIN_PER_DRAIN);
        match self.flush.and_then(|flush| flush.drain_bytes_per_second).filter(|other| is_far(*other)) {
            Some(other) => {
                let what = alloc::format!("{own} bytes/s contradict the {other} bytes/s of flush.drain");
                Err(Invalid::new("write_cache.drain", what, "both are the rate at which written data leave the cache"))
            }
            None => Ok(()),
        }
    }

    /// The latency table of that kind of request; `None` for flushes, and if it has no law.
    pub fn latency(&self, kind: TapeKind) -> Option<&LatencyTable> {
        match kind {
            TapeKind::Read => self.read_latency.as_ref(),
            TapeKind::Write => self.write_latency.as_ref(),
            TapeKind::Flush => None,
        }
    }

    /// The gate of that kind of request.
    pub fn gate(&self, kind: TapeKind) -> Option<&Gate> {
        match kind {
            TapeKind::Read => self.read_gate.as_ref(),
            TapeKind::Write => self.write_gate.as_ref(),
            TapeKind::Flush => None,
        }
    }

    /// True if requests of that kind have a law. Without one, they take no time of their own.
    pub fn has(&self, kind: TapeKind) -> bool {
        match kind {
            TapeKind::Flush => self.flush.is_some(),
            TapeKind::Read | TapeKind::Write => self.latency(kind).is_some(),
        }
    }
}

impl LatencyTable {
    fn check(&self, key: &'static str) -> Result<(), Invalid> {
        if self.points.is_empty() {
            return Err(Invalid::new(key, "has no size", "give at least one size and its time"));
        }
        for point in &self.points {
            if point.bytes == 0 {
                return Err(Invalid::new(key, "a request of 0 bytes", "sizes are 1 byte or more"));
            }
            Invalid::unless_at_most(key, point.time, LONGEST, "requests take milliseconds")?;
        }
        match self.points.windows(2).find(|pair| pair[0].bytes >= pair[1].bytes) {
            Some(pair) => {
                let what = alloc::format!("size {} is not larger than {}", pair[1].bytes, pair[0].bytes);
                Err(Invalid::new(key, what, "sort the sizes, each once"))
            }
            None => Ok(()),
        }
    }
}

impl Gate {
    /// Spacing of a request of that size, rounded down.
    pub fn spacing(&self, bytes: u32) -> Nanos {
        let of_bytes = u128::from(self.byte_picos) * u128::from(bytes) / 1000;
        self.request.max(Nanos(u64::try_from(of_bytes).unwrap_or(u64::MAX)))
    }

    fn check(
        &self,
        table: Option<&LatencyTable>,
        key: &'static str,
        request: &'static str,
        byte: &'static str,
    ) -> Result<(), Invalid> {
        Invalid::unless_at_most(request, self.request, LONGEST, "the time per request at depth")?;
        // A byte in a second.
        Invalid::unless_within(byte, self.byte_picos, 0, 1_000_000_000_000, "the time per byte at depth")?;
        let Some(table) = table else {
            return Err(Invalid::new(key, "a gate, but the latency has no law", "measure the latency, too"));
        };
        let is_slow = |point: &&Latency| self.spacing(point.bytes).0 > point.time.0.saturating_mul(GATE_PER_LATENCY);
        match table.points.iter().find(is_slow) {
            Some(Latency { bytes, time }) => {
                let spacing = self.spacing(*bytes);
                let what = alloc::format!("{spacing} per request of {bytes} bytes, but one alone takes {time}");
                Err(Invalid::new(key, what, "the time at depth is at most the time at depth 1"))
            }
            None => Ok(()),
        }
    }
}

impl Bucket {
    fn check(&self) -> Result<(), Invalid> {
        let within = Invalid::unless_within;
        within("bucket.rate", self.milli_tokens_per_second, 1, MOST_MILLI_RATE, "the rate without credit")?;
        within("bucket.burst", self.burst_tokens, 1, MOST_BYTES, "at least one request, or its bytes")
    }

    /// Number of tokens that a request costs.
    pub fn cost(&self, bytes: u32, bios: u16) -> u64 {
        match self.tokens {
            Tokens::Bytes => bytes.into(),
            Tokens::Requests { unit_bytes, counts } => {
                let pieces = if counts == Counts::Bios { u32::from(bios.max(1)) } else { 1 };
                let each = if unit_bytes == 0 { 1 } else { (bytes / pieces).div_ceil(unit_bytes).max(1) };
                u64::from(pieces) * u64::from(each)
            }
        }
    }
}
