//! The findings of a probe as rows of a table.

use stats::probe::{Measured, Row};
use units::{Bytes, whole};

use super::findings::{Bucket, Direction, Findings, Rotating};

/// Nanoseconds to microseconds and milliseconds.
const MICROS: f64 = 1e-3;
const MILLIS: f64 = 1e-6;

/// Bytes per second to MB/s.
const MEGABYTES: f64 = 1e-6;

/// Bytes to MiB.
const MIB: f64 = 1.0 / 1_048_576.0;

/// All constants, in the order of the probe.
pub fn rows(findings: &Findings) -> Vec<Row> {
    let mut rows = Vec::new();
    if let Some(rotating) = &findings.rotating {
        of_disk(&mut rows, rotating);
        rows.push(Row::new("other constants", findings.reads.gate_request, MICROS, "us"));
        return rows;
    }
    direction(&mut rows, "read", &findings.reads);
    direction(&mut rows, "write", &findings.writes);
    bucket(&mut rows, "request bucket", &findings.requests, (1.0, "requests/s"), (1.0, "requests"));
    bucket(&mut rows, "byte bucket", &findings.bytes, (MEGABYTES, "MB/s"), (MIB, "MiB"));
    rows.push(Row::new("page", findings.page, 1.0 / 1024.0, "KiB"));
    rows.push(Row::new("channels", findings.channels, 1.0, ""));
    rows.push(Row::new("flush base", findings.flush_base, MICROS, "us"));
    rows.push(Row::new("flush drain", findings.flush_drain, MEGABYTES, "MB/s"));
    rows.push(Row::new("write cache size", findings.cache_size, MIB, "MiB"));
    rows.push(Row::new("write cache drain", findings.cache_drain, MEGABYTES, "MB/s"));
    rows
}

fn direction(rows: &mut Vec<Row>, name: &str, direction: &Direction) {
    // One reason for all sizes is one row.
    let reasons: Vec<_> = direction.latency.iter().map(|(_, latency)| latency.err()).collect();
    match reasons.first() {
        Some(Some(why)) if reasons.iter().all(|other| *other == Some(*why)) => {
            rows.push(Row::new(format!("{name} latency"), Err(*why), MICROS, "us"));
        }
        _ => rows.extend(direction.latency.iter().map(|(bytes, latency)| {
            Row::new(format!("{name} latency {}", Bytes(u64::from(*bytes))), *latency, MICROS, "us")
        })),
    }
    rows.push(Row::new(format!("{name} gate per request"), direction.gate_request, MICROS, "us"));
    rows.push(Row::new(format!("{name} gate per byte"), direction.gate_byte, 1.0, "ns"));
}

fn bucket(
    rows: &mut Vec<Row>,
    name: &str,
    bucket: &Bucket,
    (per_second, rate_unit): (f64, &'static str),
    (each, unit): (f64, &'static str),
) {
    rows.push(Row::new(format!("{name} rate"), bucket.rate, per_second, rate_unit));
    rows.push(Row::new(format!("{name} burst"), bucket.burst, each, unit));
    // The rate is the refill, unless it is measured by itself.
    if bucket.refill.is_ok() {
        rows.push(Row::new(format!("{name} refill"), bucket.refill, per_second, rate_unit));
    }
}

fn of_disk(rows: &mut Vec<Row>, rotating: &Rotating) {
    let rpm: Measured = rotating.turn.map(|turn| turn.reciprocal().times(60e9));
    rows.push(Row::new("rotation", rpm, 1.0, "turns/min"));
    rows.push(Row::new("turn", rotating.turn, MILLIS, "ms"));
    // The begin of the only zone is zero, unless it is not measured.
    if let [zone] = &rotating.zones[..]
        && (zone.begin.is_ok() || zone.sectors.is_err())
    {
        rows.push(Row::new("sectors per track", zone.sectors, 1.0, "sectors"));
    } else {
        for (number, zone) in (1..).zip(&rotating.zones) {
            rows.push(Row::new(format!("start of zone {number}"), zone.begin, MEGABYTES, "MB"));
            rows.push(Row::new(format!("sectors per track in zone {number}"), zone.sectors, 1.0, "sectors"));
        }
    }
    rows.push(Row::new("track skew", rotating.order.track_skew, 1.0, "sectors"));
    rows.push(Row::new("cylinder skew", rotating.order.cylinder_skew, 1.0, "sectors"));
    rows.push(Row::new("heads", rotating.order.heads, 1.0, ""));
    let name = |percent: &u32| format!("seek over {} % of the device", whole(u64::from(*percent)));
    rows.extend(rotating.seeks.iter().map(|(percent, seek)| Row::new(name(percent), *seek, MILLIS, "ms")));
}
