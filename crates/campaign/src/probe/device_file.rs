//! The findings of a probe as a device's file, for `predict` and the simulator.

use machines::{DeviceFile, Figure, MeasuredOn, Origin, Point};
use stats::probe::latency::Times;
use stats::probe::{Estimate, Measured, NotMeasured};
use units::Nanos;

use crate::error::CampaignError;

use super::findings::{Bucket, Direction, Findings, Scope};

/// How the probe computed the latencies, as words for the file.
const fn statistic(times: Times) -> &'static str {
    match times {
        Times::OfProgram => "diskperf probe, 20th percentile",
        Times::OfDevice => "diskperf probe, median in the block trace",
    }
}

/// How the probe computed the rates, as words for the file.
const LINE: &str = "diskperf probe, line through the last completions";

/// The origin of figures that need no statistic: they follow from the kind of probe.
const BY_DESIGN: &str = "diskperf probe";

/// Thousandths of a request, and picoseconds in a nanosecond.
const THOUSANDTHS: f64 = 1000.0;

/// Makes the file of a device. A constant that is not measured is `n.m.` with its reason.
pub fn device_file(
    name: &str,
    findings: &Findings,
    measured_on: Option<MeasuredOn>,
) -> Result<DeviceFile, CampaignError> {
    let latencies = findings.reads.latency.iter().chain(&findings.writes.latency);
    if latencies.into_iter().all(|(_, latency)| latency.is_err()) {
        return Err(CampaignError::NoLaw(name.to_owned()));
    }
    let mut figures = Vec::new();
    let mut add = |key: &str, figure: Figure| figures.push((key.to_owned(), figure));
    add("capacity", Figure::number(findings.capacity, Origin::measured(BY_DESIGN, 1)));
    add("alignment", Figure::number(findings.alignment.into(), Origin::measured(BY_DESIGN, 1)));
    for (of, direction) in [("read", &findings.reads), ("write", &findings.writes)] {
        let table = table(direction, statistic(findings.latency_times));
        let is_known = matches!(table, Figure::Table { .. });
        add(&format!("{of}_latency"), table);
        let gates = [("request", direction.gate_request, 1.0), ("byte", direction.gate_byte, THOUSANDTHS)];
        match (is_known, direction.gate_request.or(direction.gate_byte)) {
            (true, Ok(_)) => {
                gates.iter().for_each(|(inner, gate, factor)| {
                    add(&format!("{of}_gate.{inner}"), number(*gate, *factor, LINE));
                });
            }
            (_, gate) => add(&format!("{of}_gate"), unmeasured(gate.err())),
        }
    }
    match findings.flush_base {
        Ok(_) => {
            add("flush.base", number(findings.flush_base, 1.0, statistic(findings.flush_times)));
            add("flush.drain", number(findings.flush_drain, 1.0, LINE));
        }
        Err(why) => add("flush", unmeasured(Some(why))),
    }
    match (findings.cache_size, findings.cache_drain) {
        (Ok(_), Ok(_)) => {
            add("write_cache.size", number(findings.cache_size, 1.0, LINE));
            add("write_cache.drain", number(findings.cache_drain, 1.0, LINE));
        }
        (size, drain) => add("write_cache", unmeasured(size.and(drain).err())),
    }
    for (of, bucket, factor) in [("requests", &findings.requests, THOUSANDTHS), ("bytes", &findings.bytes, 1.0)] {
        add_bucket(&mut add, of, bucket, factor);
    }
    Ok(DeviceFile::compose(name, measured_on, figures)?)
}

fn add_bucket(add: &mut impl FnMut(&str, Figure), of: &str, bucket: &Bucket, factor: f64) {
    let key = |inner: &str| format!("bucket.{of}.{inner}");
    if let Some(why) = bucket.rate.and(bucket.burst).err() {
        add(&format!("bucket.{of}"), unmeasured(Some(why)));
        return;
    }
    let limits = match bucket.scope {
        Scope::Reads => "reads",
        Scope::All => "all",
        // A law with this bucket for reads alone would not limit writes at all.
        Scope::Unclear => {
            add(&format!("bucket.{of}"), Figure::unmeasured("it limits reads, and the limit of writes is not clear"));
            return;
        }
    };
    let word = |word: &str| Figure::Word { word: word.to_owned(), origin: Origin::inferred(BY_DESIGN) };
    add(&key("of"), word(of));
    add(&key("limits"), word(limits));
    add(&key("rate"), number(bucket.rate, factor, LINE));
    add(&key("burst"), number(bucket.burst, 1.0, LINE));
    if of == "requests" {
        add(&key("unit"), Figure::unmeasured("the sizes of the probe do not show it"));
        add(&key("counts"), word("requests"));
    }
}

/// The measured latencies. If none is measured, the reason of the first one.
fn table(direction: &Direction, statistic: &str) -> Figure {
    let nanos = |value: f64| Nanos(value.round() as u64);
    let point = |(bytes, latency): &(u32, Measured)| {
        let Estimate { value, low, high, .. } = latency.ok()?;
        Some(Point { bytes: *bytes, time: nanos(value), range: Some((nanos(low), nanos(high))) })
    };
    let points: Vec<Point> = direction.latency.iter().filter_map(point).collect();
    let samples = direction.latency.iter().filter_map(|(_, latency)| latency.ok()).map(|latency| latency.samples).min();
    match samples {
        Some(samples) => Figure::Table { points, origin: Origin::measured(statistic, samples.into()) },
        None => match direction.latency.first() {
            Some((_, latency)) => unmeasured(latency.err()),
            None => Figure::unmeasured("not probed"),
        },
    }
}

/// A number in the units of the file.
fn number(measured: Measured, factor: f64, from: &str) -> Figure {
    match measured {
        Ok(estimate) => {
            let Estimate { value, low, high, samples } = estimate.times(factor);
            let [value, low, high] = [value, low, high].map(|number| number.round().max(0.0) as u64);
            Figure::Number { value, range: Some((low, high)), origin: Origin::measured(from, samples.into()) }
        }
        Err(why) => unmeasured(Some(why)),
    }
}

fn unmeasured(why: Option<NotMeasured>) -> Figure {
    Figure::unmeasured(&why.map_or_else(|| "the latency is not measured".to_owned(), |why| why.to_string()))
}
